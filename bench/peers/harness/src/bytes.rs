//! Whole messages for peers that carry bytes: every word of a message holds its number,
//! little-endian.

/// Bytes of a word.
const WORD: usize = size_of::<u64>();

/// Writes message `number` whole.
pub fn fill(bytes: &mut [u8], number: u64) {
    bytes.as_chunks_mut::<WORD>().0.fill(number.to_le_bytes());
}

/// Returns a message's number, after reading all of it; `None` unless it has a word and every word
/// holds it.
pub fn number_of(bytes: &[u8]) -> Option<u64> {
    let (words, rest) = bytes.as_chunks::<WORD>();
    let number = words.first().copied().map(u64::from_le_bytes)?;
    let differences =
        words.iter().fold(0, |differences, &word| differences | (u64::from_le_bytes(word) ^ number));
    (differences == 0 && rest.is_empty()).then_some(number)
}

/// Returns the first word, and reads nothing else.
pub fn first_word(bytes: &[u8]) -> Option<u64> {
    bytes.first_chunk::<WORD>().copied().map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_byte_is_noticed_wherever_it_is() {
        let mut bytes = [0; 32];
        fill(&mut bytes, 300);
        assert_eq!((number_of(&bytes), first_word(&bytes)), (Some(300), Some(300)));
        for place in [0, 8, 31] {
            let mut spoilt = bytes;
            spoilt[place] ^= 1;
            assert_eq!(number_of(&spoilt), None, "byte {place}");
        }
        assert_eq!((number_of(&bytes[..31]), number_of(&[]), first_word(&[1; 7])), (None, None, None));
    }
}
