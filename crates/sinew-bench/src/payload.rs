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

/// Lists the messages, with their numbers of words, behind the arguments of a macro.
macro_rules! with_payloads {
    ($then:ident! $arguments:tt) => {
        $crate::payload::$then! { $arguments
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
    };
}

macro_rules! define {
    (() $($name:ident: $words:literal,)*) => {
        $(
            #[derive(Clone, Copy, Message)]
            #[message(plain)]
            #[repr(C)]
            pub(crate) struct $name {
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
    };
}

/// Calls a function that is generic over the message, for messages of a size in bytes. The function
/// returns a result with the crate's error; a size that isn't available is one.
macro_rules! for_size {
    ($size:expr, $function:ident $arguments:tt) => {
        $crate::payload::with_payloads!(call!($size, $function, $arguments))
    };
}

macro_rules! call {
    (($size:expr, $function:ident, $arguments:tt) $($name:ident: $words:literal,)*) => {
        match $size / size_of::<u64>() {
            $($words => $function::<$crate::payload::$name> $arguments,)*
            _ => Err($crate::error::Error::NotOurPeer),
        }
    };
}

pub(crate) use {call, define, for_size, with_payloads};

with_payloads!(define!());

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    /// Fills a message and spoils its last word.
    fn spoil<P: Payload>() -> Result<(usize, Option<u64>, Option<u64>), Error> {
        let mut payload = P::default();
        payload.words_mut().fill(7);
        let whole = payload.whole();
        if let Some(last) = payload.words_mut().last_mut() {
            *last = 8;
        }
        Ok((size_of::<P>(), whole, payload.whole()))
    }

    #[test]
    fn there_is_a_message_of_every_size_and_it_notices_a_wrong_word() {
        for &size in SIZES.iter().filter(|&&size| size <= 1 << 16) {
            assert_eq!(for_size!(size, spoil()).unwrap(), (size, Some(7), None));
        }
        assert!(for_size!(48, spoil()).is_err());
    }
}
