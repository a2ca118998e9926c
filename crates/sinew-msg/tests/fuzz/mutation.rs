//! Mutations of valid inputs.

/// splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014)
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// At least 0 and less than `end`; 0 if that is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap().max(1);
        usize::try_from(self.next() % end).unwrap()
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// Maximum length in bytes: longer inputs find nothing new, and take longer.
const LONGEST: usize = 3000;

/// Mutates an input in a few places. `other` is a second input of its kind. `words` are the words
/// of such inputs; if there are none, numbers are inserted.
pub(crate) fn mutate(random: &mut Random, input: &mut Vec<u8>, other: &[u8], words: &[&str]) {
    for _ in 0..=random.below(4) {
        let at = random.below(input.len() + 1);
        let until = (at + random.below(9)).min(input.len());
        match random.below(9) {
            0 | 1 if at < input.len() => input[at] ^= 1 << random.below(8),
            2 if at < input.len() => input[at] = random.next().to_le_bytes()[0],
            3 => input.truncate(at),
            4 => {
                let piece = input[at..until].to_vec();
                input.splice(at..at, piece);
            }
            5 => {
                let begin = random.below(other.len());
                let end = begin + random.below(other.len() + 1 - begin);
                input.splice(at..until, other[begin..end].iter().copied());
            }
            6 => drop(input.drain(at..until)),
            _ if words.is_empty() => set_length(random, input, at),
            _ => {
                let until = if random.below(2) == 0 { at } else { until };
                input.splice(at..until, random.pick(words).bytes());
            }
        }
    }
    input.truncate(LONGEST);
}

/// Replaces a possible length by another one, in either byte order, and perhaps adds bytes to
/// match.
fn set_length(random: &mut Random, input: &mut Vec<u8>, at: usize) {
    let at = at / 4 * 4;
    let length = match random.below(6) {
        0 => random.below(4),
        1 => input.len().saturating_sub(at + 4) / [1, 2, 4, 8][random.below(4)],
        2 => usize::try_from(u32::MAX).unwrap() >> random.below(32),
        3 => input.len(),
        _ => random.below(40),
    };
    let number = u32::try_from(length).unwrap_or(u32::MAX);
    let bytes = if random.below(2) == 0 { number.to_le_bytes() } else { number.to_be_bytes() };
    let until = (at + 4).min(input.len());
    input.splice(at..until, bytes);
    if random.below(2) == 0 {
        input.splice(at + 4..at + 4, vec![0; length.min(100)]);
    }
}
