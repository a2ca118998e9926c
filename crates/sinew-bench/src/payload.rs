//! Plain messages of every measured size, written and read in place in shared memory.

use sinew::{Message, QoS};

/// For small messages at up to 1000 Hz: even a long pause of the machine loses none.
pub(crate) const PATIENT: QoS = QoS::new().keep_last(1000);

/// Number of messages after which a publisher of the default depth (10) allocates no new memory:
/// the first ones are written into untouched memory, where each page costs a fault.
pub const WARM_AFTER: u64 = 24;

/// Returns the number of messages of this size that may wait in a flood that loses none: few large
/// ones, or many small ones.
pub fn flood_depth(size: usize) -> usize {
    const WAITING_BYTES: usize = 16 << 20;
    (WAITING_BYTES / size.max(1)).clamp(8, 1024)
}

/// A plain message of a certain size.
pub(crate) trait Payload: Message + Default + Copy {
    /// Returns all words of the message. The first one is the message's number.
    fn words(&self) -> &[u64];

    /// Returns the same words for writing.
    fn words_mut(&mut self) -> &mut [u64];

    /// Returns the message's number.
    fn number(&self) -> u64 {
        self.words()[0]
    }

    /// Sets the number, and touches nothing else.
    fn set_number(&mut self, number: u64) {
        self.words_mut()[0] = number;
    }

    /// See [`whole`].
    fn whole(&self) -> Option<u64> {
        whole(self.words())
    }
}

/// Returns the message's number, if every word holds it. Reads all of them: without an early exit,
/// so that the loop reads several at a time.
pub fn whole(words: &[u64]) -> Option<u64> {
    let number = words[0];
    let differences = words.iter().fold(0, |differences, word| differences | (word ^ number));
    (differences == 0).then_some(number)
}

/// Work that is the same for messages of all sizes.
pub(crate) trait ForPayload {
    type Output;

    fn with<P: Payload>(self) -> Self::Output;
}

macro_rules! payloads {
    ($($name:ident: $words:literal,)*) => {
        $(
            #[derive(Clone, Copy, Message)]
            #[message(plain)]
            #[repr(C)]
            struct $name {
                words: [u64; $words],
            }

            impl Default for $name {
                fn default() -> Self {
                    Self { words: [0; $words] }
                }
            }

            impl Payload for $name {
                fn words(&self) -> &[u64] {
                    &self.words
                }

                fn words_mut(&mut self) -> &mut [u64] {
                    &mut self.words
                }
            }
        )*

        /// The available sizes, in bytes.
        pub const SIZES: &[usize] = &[$($words * size_of::<u64>()),*];

        /// Does the work for messages of that size; `None` if the size isn't available.
        pub(crate) fn of_size<W: ForPayload>(size: usize, work: W) -> Option<W::Output> {
            $(
                if size == size_of::<$name>() {
                    return Some(work.with::<$name>());
                }
            )*
            None
        }
    };
}

payloads! {
    Payload40: 5,
    Payload64: 8,
    Payload200: 25,
    Payload256: 32,
    Payload1K: 128,
    Payload4K: 512,
    Payload16K: 2048,
    Payload64K: 8192,
    Payload256K: 32768,
    Payload1M: 131072,
    Payload8M: 1048576,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fills a message and spoils its last word.
    struct Spoil;

    impl ForPayload for Spoil {
        type Output = (usize, Option<u64>, Option<u64>);

        fn with<P: Payload>(self) -> Self::Output {
            let mut payload = P::default();
            payload.words_mut().fill(7);
            let whole = payload.whole();
            if let Some(last) = payload.words_mut().last_mut() {
                *last = 8;
            }
            (size_of::<P>(), whole, payload.whole())
        }
    }

    #[test]
    fn there_is_a_message_of_every_size_and_it_notices_a_wrong_word() {
        for &size in SIZES.iter().filter(|&&size| size <= 1 << 16) {
            assert_eq!(of_size(size, Spoil), Some((size, Some(7), None)));
        }
        assert_eq!(of_size(48, Spoil), None);
    }
}
