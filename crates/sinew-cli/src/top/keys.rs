//! The keys with a meaning.

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Quit,
    /// Sort by the next column.
    Sort,
    /// Sort by the previous column.
    SortBack,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
}

/// Parses typed bytes; keys without a meaning are left out.
pub(super) fn read(typed: &[u8]) -> impl Iterator<Item = Key> {
    let mut typed = typed.iter().copied();
    std::iter::from_fn(move || {
        loop {
            let key = match typed.next()? {
                0x1b => sequence(&mut typed),
                b'q' | b'Q' => Some(Key::Quit),
                b's' => Some(Key::Sort),
                b'S' => Some(Key::SortBack),
                b'k' => Some(Key::Up),
                b'j' => Some(Key::Down),
                _ => None,
            };
            if key.is_some() {
                return key;
            }
        }
    })
}

/// Parses a key of several bytes: `[` or `O` after ESC, and the bytes up to a letter or `~`
/// (ECMA-48, xterm).
fn sequence(typed: &mut impl Iterator<Item = u8>) -> Option<Key> {
    if !matches!(typed.next()?, b'[' | b'O') {
        return None;
    }
    // A number may follow, and after a `;` the modifier keys.
    let mut parameters = Vec::new();
    let last = loop {
        let byte = typed.next()?;
        if matches!(byte, 0x40..=0x7e) {
            break byte;
        }
        parameters.push(byte);
    };
    let number = parameters.split(|&byte| byte == b';').next().unwrap_or_default();
    Some(match (last, number) {
        (b'A', _) => Key::Up,
        (b'B', _) => Key::Down,
        (b'C', _) => Key::Sort,
        (b'D', _) => Key::SortBack,
        (b'H', _) | (b'~', b"1" | b"7") => Key::Home,
        (b'F', _) | (b'~', b"4" | b"8") => Key::End,
        (b'~', b"5") => Key::PageUp,
        (b'~', b"6") => Key::PageDown,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::Key::*;
    use super::read;

    #[test]
    fn letters_arrows_and_pages() {
        let typed = b"s\x1b[A\x1b[B\x1b[5~\x1b[6~\x1bOH\x1b[4~\x1b[C\x1b[1;5DSq";
        let keys = [Sort, Up, Down, PageUp, PageDown, Home, End, Sort, SortBack, SortBack, Quit];
        assert_eq!(read(typed).collect::<Vec<_>>(), keys);
    }

    #[test]
    fn what_means_nothing_is_left_out() {
        assert_eq!(read(b"x\x1bOP\x1b[15~\x1b").collect::<Vec<_>>(), []);
        assert_eq!(read(b"\x1b[1").collect::<Vec<_>>(), []);
    }
}
