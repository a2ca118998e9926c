//! `wstring`: text in UTF-16.

use super::decoder::{Decoder, Fault};
use super::encoder::Encoder;
use super::field::Field;
use super::header::aligned;
use crate::description::{ConstFieldType, type_id};
use std::fmt;
use std::string::FromUtf16Error;

/// Text in UTF-16, as in ROS 2's `wstring`: the units are not checked. Each unit is encoded in 4
/// bytes.
///
/// ```
/// use sinew_msg::cdr::WString;
///
/// let text = WString::from("naïve 😀");
/// assert_eq!(text.units.len(), 8);
/// assert_eq!(text.to_text()?, "naïve 😀");
/// # Ok::<(), std::string::FromUtf16Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct WString {
    /// The units, without a NUL at the end.
    pub units: Vec<u16>,
}

impl WString {
    /// Converts the text to UTF-8. Allocates.
    ///
    /// # Errors
    /// If a surrogate is unpaired.
    pub fn to_text(&self) -> Result<String, FromUtf16Error> {
        String::from_utf16(&self.units)
    }
}

impl From<&str> for WString {
    fn from(text: &str) -> Self {
        Self { units: text.encode_utf16().collect() }
    }
}

/// Displays unpaired surrogates as U+FFFD.
impl fmt::Display for WString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        char::decode_utf16(self.units.iter().copied())
            .try_for_each(|unit| write!(f, "{}", unit.unwrap_or(char::REPLACEMENT_CHARACTER)))
    }
}

impl fmt::Debug for WString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf16_lossy(&self.units))
    }
}

impl Field for WString {
    const TYPE: ConstFieldType = ConstFieldType::basic(type_id::WSTRING);
    const ALIGNMENT: usize = 4;
    const LEAST: usize = 4;

    fn end(&self, at: usize) -> usize {
        aligned(at, 4) + 4 + 4 * self.units.len()
    }

    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.write_length(self.units.len());
        self.units.iter().for_each(|unit| encoder.write(&u32::from(*unit).to_le_bytes()));
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, Fault> {
        let mut text = Self::default();
        text.decode_into(decoder)?;
        Ok(text)
    }

    fn decode_into(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Fault> {
        let count = decoder.count(4)?;
        self.units.clear();
        self.units.reserve_exact(count); // half of their encoded length
        for _ in 0..count {
            let unit = u16::try_from(u32::decode(decoder)?).map_err(|_| {
                decoder.invalid(decoder.position() - 4, "a unit of a wstring has 16 bits that count")
            })?;
            self.units.push(unit);
        }
        Ok(())
    }
}
