//! Type hashes, and the SHA-256 that computes them. It also runs in constants: the hash of a type
//! needs the types of its fields, and only the compiler knows those of a struct.

use std::fmt;
use std::str::FromStr;

/// The hash of a type: equal types have equal hashes, and different types have different ones (as
/// far as SHA-256 can promise).
///
/// It is the SHA-256 of the type's [description](crate::description), the same as in ROS 2 (RIHS01,
/// REP 2016). This also holds for a struct with [`derive(Message)`](macro@crate::Message) that has
/// the name, the fields and the types of a ROS 2 message.
///
/// ```
/// let hash = sinew_msg::TypeHash([0xab; 32]);
/// assert!(hash.to_string().starts_with("RIHS01_abab"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeHash(
    /// The digest.
    pub [u8; 32],
);

impl TypeHash {
    /// Parses the displayed form of a hash, for constants in generated code.
    ///
    /// Panics (in a constant: a compile error) unless the text is `RIHS01_` and 64 hexadecimal
    /// digits.
    #[must_use]
    pub const fn from_rihs01(text: &str) -> Self {
        const fn digit(byte: u8) -> u8 {
            match byte {
                b'0'..=b'9' => byte - b'0',
                b'a'..=b'f' => byte - b'a' + 10,
                _ => panic!("a hash has hexadecimal digits in lower case"),
            }
        }
        let Some((b"RIHS01_", digits)) = text.as_bytes().split_first_chunk() else {
            panic!("a hash begins with `RIHS01_`");
        };
        assert!(digits.len() == 64, "a hash has 64 digits");
        let mut hash = [0; 32];
        let mut next = 0;
        while next < 32 {
            hash[next] = digit(digits[2 * next]) << 4 | digit(digits[2 * next + 1]);
            next += 1;
        }
        Self(hash)
    }

    /// Returns the beginning of the hash for display: enough to see that two hashes differ.
    ///
    /// ```
    /// assert_eq!(sinew_msg::TypeHash([0xab; 32]).short().to_string(), "RIHS01_abababab..");
    /// ```
    #[must_use]
    pub fn short(&self) -> impl fmt::Display + use<> {
        let [first, second, third, fourth, ..] = self.0;
        fmt::from_fn(move |f| write!(f, "RIHS01_{first:02x}{second:02x}{third:02x}{fourth:02x}.."))
    }
}

/// The text is not a RIHS01 hash, which is `RIHS01_` and 64 hexadecimal digits in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no type hash: it is `RIHS01_` and 64 hexadecimal digits in lower case")]
pub struct ParseTypeHashError;

impl FromStr for TypeHash {
    type Err = ParseTypeHashError;

    /// Parses the form that [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Self, ParseTypeHashError> {
        let digits = text.strip_prefix("RIHS01_").map(str::as_bytes).filter(|digits| digits.len() == 64);
        let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        match digits {
            Some(digits) if digits.iter().all(is_digit) => Ok(Self::from_rihs01(text)),
            _ => Err(ParseTypeHashError),
        }
    }
}

impl fmt::Display for TypeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RIHS01_")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for TypeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// SHA-256 (FIPS 180-4) for constants: made for short texts, not tuned for run time.
///
/// The compiler interprets this code, and function calls cost it most. Hence no functions where
/// operators suffice, and sums in 64 bits, which don't overflow.
pub(crate) struct Sha256 {
    state: [u32; 8],
    /// The bytes of the current block so far, four to a word.
    words: [u32; 16],
    /// Total number of bytes so far.
    length: u64,
}

impl Sha256 {
    pub(crate) const fn new() -> Self {
        Self { state: START, words: [0; 16], length: 0 }
    }

    pub(crate) const fn update(mut self, bytes: &[u8]) -> Self {
        let mut at = (self.length % 64) as usize;
        let mut next = 0; // a constant function has no iterators
        while next < bytes.len() {
            self.words[at / 4] = self.words[at / 4] << 8 | bytes[next] as u32;
            next += 1;
            at += 1;
            if at == 64 {
                compress(&mut self.state, &self.words);
                at = 0;
            }
        }
        self.length += bytes.len() as u64;
        self
    }

    pub(crate) const fn finish(self) -> [u8; 32] {
        const PADDING: [u8; 64] = {
            let mut padding = [0; 64];
            padding[0] = 0x80;
            padding
        };
        let bits = (self.length * 8).to_be_bytes();
        // At least one byte, and up to the last 8 bytes of a block.
        let missing = 64 - ((self.length + 8) % 64) as usize;
        let padded = self.update(PADDING.split_at(missing).0).update(&bits);
        let mut digest = [0; 32];
        let mut next = 0;
        while next < 32 {
            digest[next] = padded.state[next / 4].to_be_bytes()[next % 4];
            next += 1;
        }
        digest
    }
}

/// Multiplying a word by this repeats it in both halves, so that a right shift rotates the lower
/// half.
const TWICE: u64 = 0x1_0000_0001;

/// The state after one more block (section 6.2.2).
#[expect(
    clippy::cast_possible_truncation,
    reason = "words are summed up modulo 2^32, and rotated in twice their width"
)]
const fn compress(state: &mut [u32; 8], block: &[u32; 16]) {
    let mut words = [0; 64];
    let mut t = 0;
    while t < 16 {
        words[t] = block[t];
        t += 1;
    }
    while t < 64 {
        let (x, y) = (words[t - 15], words[t - 2]);
        let (xx, yy) = (x as u64 * TWICE, y as u64 * TWICE);
        let low = (xx >> 7 ^ xx >> 18) as u32 ^ x >> 3;
        let high = (yy >> 17 ^ yy >> 19) as u32 ^ y >> 10;
        words[t] = (high as u64 + words[t - 7] as u64 + low as u64 + words[t - 16] as u64) as u32;
        t += 1;
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    let mut t = 0;
    while t < 64 {
        let ee = e as u64 * TWICE;
        let sum = (ee >> 6 ^ ee >> 11 ^ ee >> 25) as u32;
        let choice = (e & f) ^ (!e & g);
        let first = h as u64 + sum as u64 + choice as u64 + ROUNDS[t] as u64 + words[t] as u64;
        let aa = a as u64 * TWICE;
        let sum = (aa >> 2 ^ aa >> 13 ^ aa >> 22) as u32;
        let majority = (a & b) ^ (a & c) ^ (b & c);
        h = g;
        g = f;
        f = e;
        e = (d as u64 + first) as u32;
        d = c;
        c = b;
        b = a;
        a = (first + sum as u64 + majority as u64) as u32;
        t += 1;
    }
    let added = [a, b, c, d, e, f, g, h];
    let mut i = 0;
    while i < 8 {
        state[i] = (state[i] as u64 + added[i] as u64) as u32;
        i += 1;
    }
}

/// The fractions of the square roots of the first 8 primes (section 5.3.3).
#[rustfmt::skip]
const START: [u32; 8] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
];

/// The fractions of the cube roots of the first 64 primes (section 4.2.2).
#[rustfmt::skip]
const ROUNDS: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(text: &str) -> String {
        Sha256::new().update(text.as_bytes()).finish().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn a_hash_is_read_as_it_is_written() {
        let hash = TypeHash([0x9a; 32]);
        assert_eq!(hash.to_string().parse(), Ok(hash));
        let digits = "9a".repeat(32);
        for text in
            ["", "RIHS01_", "RIHS01_9a", &digits, &format!("RIHS02_{digits}"), &format!("RIHS01_{digits}0")]
        {
            assert_eq!(text.parse::<TypeHash>(), Err(ParseTypeHashError), "{text}");
        }
        assert!(format!("RIHS01_{}", digits.to_uppercase()).parse::<TypeHash>().is_err());
        assert!(format!("RIHS01_{}ä", "9a".repeat(31)).parse::<TypeHash>().is_err());
    }

    #[test]
    fn sha256_of_known_texts() {
        assert_eq!(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(
            digest(&"a".repeat(55)),
            "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"
        );
        assert_eq!(
            digest(&"a".repeat(56)),
            "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"
        );
        assert_eq!(
            digest(&"a".repeat(64)),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"
        );
        assert_eq!(
            digest(&"abcdefgh".repeat(100)),
            "031c26a12b30994fd078ee37d8474b1aee45cd49dbc28dde3a60f84dd7a5f040"
        );
    }
}
