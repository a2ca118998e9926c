//! The keys of `sinew bag play`.

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Quit,
    Pause,
    /// Plays the next message.
    Next,
    Faster,
    Slower,
    /// Goes to the beginning.
    Begin,
    /// Goes forward, or back, by this many seconds.
    Seek(i64),
}

/// The bytes that terminals send (ECMA-48, xterm).
const KEYS: [(&[u8], Key); 16] = [
    (b"q", Key::Quit),
    (b"Q", Key::Quit),
    (b" ", Key::Pause),
    (b"\x1b[C", Key::Next),
    (b"\x1bOC", Key::Next),
    (b"\x1b[A", Key::Faster),
    (b"\x1bOA", Key::Faster),
    (b"\x1b[B", Key::Slower),
    (b"\x1bOB", Key::Slower),
    (b"\x1b[D", Key::Seek(-5)),
    (b"\x1bOD", Key::Seek(-5)),
    (b"\x1b[5~", Key::Seek(-30)),
    (b"\x1b[6~", Key::Seek(30)),
    (b"\x1b[H", Key::Begin),
    (b"\x1bOH", Key::Begin),
    (b"\x1b[1~", Key::Begin),
];

/// Parses typed bytes; what means nothing is left out.
pub(super) fn read(mut typed: &[u8]) -> impl Iterator<Item = Key> {
    std::iter::from_fn(move || {
        while !typed.is_empty() {
            match KEYS.iter().find(|(bytes, _)| typed.starts_with(bytes)) {
                Some((bytes, key)) => {
                    typed = &typed[bytes.len()..];
                    return Some(*key);
                }
                None => typed = &typed[1..],
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::Key::*;
    use super::read;

    #[test]
    fn keys_are_read_one_after_the_other() {
        let typed = b" \x1b[C\x1b[A\x1bOB\x1b[Dx\x1b[5~\x1b[6~\x1b[1~\x1b[15q";
        let keys = [Pause, Next, Faster, Slower, Seek(-5), Seek(-30), Seek(30), Begin, Quit];
        assert_eq!(read(typed).collect::<Vec<_>>(), keys);
    }
}
