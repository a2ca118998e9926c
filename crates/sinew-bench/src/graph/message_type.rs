//! The message types of `irobot_interfaces_plugin`; only the length of their data matters here.

use std::fmt;

use serde::Deserialize;

/// Most bytes of a message: the amount that a publisher may allocate for a number in a file.
pub(super) const MOST_BYTES: usize = 1 << 30;

/// The name of a type, as in the file, and the length of its data.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
pub struct MessageType {
    name: String,
    fixed_size: Option<usize>,
}

impl MessageType {
    /// Returns the bytes of data in every message; `None` if the length may vary.
    pub fn fixed_size(&self) -> Option<usize> {
        self.fixed_size
    }
}

impl fmt::Display for MessageType {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.name)
    }
}

impl TryFrom<String> for MessageType {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let fixed_size = match data_of(&name) {
            Some(Data::Vector) => None,
            Some(Data::Bytes(bytes)) => Some(bytes),
            None => {
                return Err(format!(
                    "unknown message type `{name}`; known are stamped_vector, stamped_int64, stamped<N>_int32, \
                     stamped<N>_float32, stamped<N>b, stamped<N>kb and stamped<N>mb"
                ));
            }
        };
        Ok(Self { name, fixed_size })
    }
}

#[derive(Debug, PartialEq)]
enum Data {
    Vector,
    Bytes(usize),
}

/// Reads the length of the data from the name: `stamped9_float32` is nine numbers, `stamped250kb`
/// 256000 bytes. A leading package (`irobot_interfaces_plugin::`) is ignored, and `stamped` may be
/// missing, as in older files.
fn data_of(name: &str) -> Option<Data> {
    let name = name.rsplit("::").next()?;
    let rest = name.strip_prefix("stamped").unwrap_or(name);
    let rest = rest.strip_prefix('_').unwrap_or(rest);
    if rest == "vector" {
        return Some(Data::Vector);
    }
    let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let (count, unit) = rest.split_at(digits);
    let count = if count.is_empty() { None } else { Some(count.parse::<usize>().ok()?) };
    let (count, size) = match unit.trim_start_matches('_') {
        "int32" | "float32" => (count.unwrap_or(1), 4),
        "int64" | "float64" => (count.unwrap_or(1), 8),
        // The interfaces count 1024 bytes per kilobyte and 1000 kilobytes per megabyte.
        "b" => (count?, 1),
        "kb" => (count?, 1024),
        "mb" => (count?, 1_024_000),
        _ => return None,
    };
    count.checked_mul(size).filter(|&bytes| bytes <= MOST_BYTES).map(Data::Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_size() {
        let cases = [
            ("stamped9_float32", 36),
            ("stamped4_int32", 16),
            ("stamped_int64", 8),
            ("stamped12_float32", 48),
            ("stamped250kb", 256_000),
            ("stamped1kb", 1024),
            ("stamped100b", 100),
            ("stamped5mb", 5_120_000),
            ("irobot_interfaces_plugin::stamped3_float32", 12),
            ("9float32", 36),
        ];
        for (name, size) in cases {
            assert_eq!(data_of(name), Some(Data::Bytes(size)), "{name}");
        }
        assert_eq!(data_of("stamped_vector"), Some(Data::Vector));
    }

    #[test]
    fn other_names_are_unknown() {
        for name in [
            "",
            "stamped",
            "stamped_b",
            "stamped4_int33",
            "stamped99999999999999999999b",
            "stamped9999mb",
            "4",
        ] {
            assert_eq!(data_of(name), None, "{name}");
        }
    }
}
