//! The output format of `sinew topic echo`.

use std::fmt::Write as _;

use sinew::time::Time;
use sinew_msg::dynamic::{DynamicMessage, FieldPath};
use sinew_shm::Endpoint;
use sinew_shm::transport::Head;

use crate::cli::tools::EchoOptions;
use crate::harmless::{json, lines};
use sinew_bench::clock::now_ns;
use sinew_bench::units::time;

/// The source of the printed messages.
pub(super) struct Origin {
    pub(super) gid: [u8; 16],
    pub(super) publisher: Endpoint,
}

/// A message that was read.
pub(super) struct Read {
    pub(super) number: u64,
    pub(super) head: Head,
    /// Number of messages that were lost before it.
    pub(super) missed: u64,
    /// Length of its encoded form, in bytes.
    pub(super) length: usize,
    pub(super) content: Content,
}

/// The printed part of a message.
pub(super) enum Content {
    Fields(DynamicMessage),
    Bytes(Vec<u8>),
}

impl Read {
    /// Returns the wall time of its publication, and the time since, in nanoseconds.
    fn times(&self) -> (i64, i64) {
        let latency = now_ns().saturating_sub(self.head.stamp);
        (Time::wall().nanoseconds().saturating_sub(latency), latency)
    }
}

/// Formats a message as `ros2 topic echo` does; `None` if the field is an element that the message
/// message doesn't have.
pub(super) fn for_people(
    origin: &Origin,
    read: &Read,
    field: Option<&FieldPath>,
    options: &EchoOptions,
) -> Option<String> {
    let style = &options.style.style();
    let message = match &read.content {
        Content::Fields(message) => message,
        Content::Bytes(bytes) => return Some(bytes_for_people(origin, read, bytes)),
    };
    let text = match (field, options.csv) {
        (None, true) => message.to_csv(style),
        (None, false) => message.to_yaml(style),
        (Some(path), true) => message.part(path)?.to_csv(style),
        (Some(path), false) => message.part(path)?.to_yaml(style),
    };
    if options.csv {
        return Some(lines(&text));
    }
    let missed = if read.missed > 0 { format!("# lost before it: {}\n", read.missed) } else { String::new() };
    Some(format!("{missed}{text}---\n"))
}

fn bytes_for_people(origin: &Origin, read: &Read, bytes: &[u8]) -> String {
    let (stamp, latency) = read.times();
    let gid = origin.gid.map(|byte| format!("{byte:02x}")).join(".");
    let (seconds, nanoseconds) = (stamp.div_euclid(1_000_000_000), stamp.rem_euclid(1_000_000_000));
    let missed = if read.missed > 0 { format!("lost before it: {}\n", read.missed) } else { String::new() };
    let mut text = format!(
        "{missed}stamp: {seconds}.{nanoseconds:09}\npublisher: {gid} ({})\nsequence: {}\nlatency: {}\nlength: {}\n",
        origin.publisher.node,
        read.number,
        time(latency as f64),
        read.length,
    );
    dump(bytes, &mut text);
    let more = read.length - bytes.len();
    if more > 0 {
        let _ = writeln!(text, "... and {more} bytes more: --full shows them"); // can't fail
    }
    text + "---\n"
}

/// Formats a message as one line of JSON: in `message`, the fields in the order of the type; or in
/// `value`, the field; or in `bytes`, the encoded form. `None` if the field is an element that the
/// message doesn't have.
pub(super) fn for_programs(origin: &Origin, read: &Read, field: Option<&FieldPath>) -> Option<String> {
    let (stamp, latency) = read.times();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let about = serde_json::json!({
        "topic": origin.publisher.name, "type": origin.publisher.type_name, "stamp_ns": stamp,
        "publisher": hex(&origin.gid), "node": origin.publisher.node, "sequence": read.number,
        "lost_before": read.missed, "latency_ns": latency, "length": read.length,
    });
    let about = json(about.to_string());
    let about = about.strip_suffix('}').unwrap_or(&about);
    Some(match (&read.content, field) {
        (Content::Fields(message), None) => format!("{about},\"message\":{}}}\n", message.to_json()),
        (Content::Fields(message), Some(path)) => {
            format!("{about},\"value\":{}}}\n", message.part(path)?.to_json())
        }
        (Content::Bytes(bytes), _) => format!("{about},\"bytes\":\"{}\"}}\n", hex(bytes)),
    })
}

/// Writes lines of 16 bytes, in hexadecimal and, where they are printable, as ASCII letters.
fn dump(bytes: &[u8], text: &mut String) {
    for (line, bytes) in bytes.chunks(16).enumerate() {
        let half =
            |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
        let (first, second) = bytes.split_at(bytes.len().min(8));
        let letter = |&byte: &u8| if (b' '..=b'~').contains(&byte) { char::from(byte) } else { '.' };
        let letters: String = bytes.iter().map(letter).collect();
        // Writing to a string can't fail.
        let _ = writeln!(text, "{:08x}  {:23}  {:23}  |{letters}|", line * 16, half(first), half(second));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_dumped_as_hexdump_does() {
        let mut text = String::new();
        dump(b"\0\x01\0\0\x06\0\0\0Hello\0 a~\x7f\xff", &mut text);
        let expected = "\
00000000  00 01 00 00 06 00 00 00  48 65 6c 6c 6f 00 20 61  |........Hello. a|
00000010  7e 7f ff                                          |~..|
";
        assert_eq!(text, expected);
        text.clear();
        dump(&[], &mut text);
        assert_eq!(text, "");
    }
}
