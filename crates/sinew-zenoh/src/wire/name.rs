//! Names of types and topics.

use std::fmt::Write;
use std::str::FromStr;

/// The kinds of interfaces: the second part of a type's name.
const KINDS: [&str; 3] = ["msg", "srv", "action"];

/// Returns the DDS form of a ROS 2 type name: `std_msgs/msg/String` is
/// `std_msgs::msg::dds_::String_`. Returns `None` if it is not a type name.
///
/// ```
/// use sinew_zenoh::wire::name::{to_dds, from_dds};
/// assert_eq!(to_dds("std_msgs/msg/String").as_deref(), Some("std_msgs::msg::dds_::String_"));
/// assert_eq!(from_dds("std_msgs::msg::dds_::String_").as_deref(), Some("std_msgs/msg/String"));
/// assert_eq!(to_dds("String"), None);
/// ```
pub fn to_dds(type_name: &str) -> Option<String> {
    let [package, kind, base] = parts(type_name.split('/'))?;
    is_type((package, kind, base)).then(|| format!("{package}::{kind}::dds_::{base}_"))
}

/// Returns the ROS 2 name for a type's DDS name; see [`to_dds`].
pub fn from_dds(dds: &str) -> Option<String> {
    let [package, kind, marker, base] = parts(dds.split("::"))?;
    let base = base.strip_suffix('_').filter(|_| marker == "dds_")?;
    is_type((package, kind, base)).then(|| format!("{package}/{kind}/{base}"))
}

fn parts<'a, const N: usize>(mut all: impl Iterator<Item = &'a str>) -> Option<[&'a str; N]> {
    let mut parts = [""; N];
    for part in &mut parts {
        *part = all.next()?;
    }
    all.next().is_none().then_some(parts)
}

fn is_type((package, kind, base): (&str, &str, &str)) -> bool {
    is_word(package) && KINDS.contains(&kind) && is_word(base)
}

fn is_word(part: &str) -> bool {
    part.starts_with(|first: char| first.is_ascii_alphabetic())
        && part.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

/// Longest name of a topic, a service or a node, in bytes.
const LONGEST: usize = 1024;

/// Returns `true` if a text is the full name of a topic, a service or a node: words of letters,
/// digits and underscores, each after a slash.
pub fn is_full_name(name: &str) -> bool {
    name.len() <= LONGEST
        && name.strip_prefix('/').is_some_and(|rest| {
            rest.split('/').all(|word| {
                !word.is_empty()
                    && !word.starts_with(|first: char| first.is_ascii_digit())
                    && word.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
            })
        })
}

/// Returns `true` if a text is a namespace: `/`, or a full name.
pub fn is_namespace(name: &str) -> bool {
    name == "/" || is_full_name(name)
}

/// Replaces the slashes of a name by percent signs, as in tokens.
pub(super) fn mangled(name: &str) -> String {
    name.replace('/', "%")
}

pub(super) fn demangled(chunk: &str) -> String {
    chunk.replace('%', "/")
}

/// Parses a number of decimal digits only, so that writing it yields the same text.
pub(super) fn number<N: FromStr>(text: &str) -> Option<N> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Shortens a text of the network for display, and removes characters that control a terminal.
pub(crate) fn shown(text: &str) -> String {
    const SHOWN: usize = 120;
    let mut shown = String::new();
    for character in text.chars().take(SHOWN) {
        match sinew_msg::is_unseen(character) {
            true => drop(write!(shown, "{}", character.escape_default())),
            false => shown.push(character),
        }
    }
    if text.chars().nth(SHOWN).is_some() {
        shown.push_str("..");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn types_of_all_kinds() {
        for (ros, dds) in [
            ("std_msgs/msg/String", "std_msgs::msg::dds_::String_"),
            ("example_interfaces/srv/AddTwoInts", "example_interfaces::srv::dds_::AddTwoInts_"),
            ("a/action/Move_SendGoal", "a::action::dds_::Move_SendGoal_"),
        ] {
            assert_eq!(to_dds(ros).as_deref(), Some(dds));
            assert_eq!(from_dds(dds).as_deref(), Some(ros));
        }
        for wrong in ["", "a", "a/b/C", "a/msg/C/D", "/msg/C", "a/msg/", "a/msg/9", "ä/msg/C"] {
            assert_eq!(to_dds(wrong), None, "{wrong}");
        }
        for wrong in ["", "a::msg::C_", "a::msg::dds_::C", "a::msg::dds_::_", "a::msg::dds_::C_::D_"] {
            assert_eq!(from_dds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn full_names() {
        for name in ["/a", "/a/b_c/D9", "/_hidden", "/chatter"] {
            assert!(is_full_name(name), "{name}");
        }
        for name in ["", "/", "a", "/a/", "//a", "/9", "/a b", "/a/~", "/{node}", "/a*", "/ä", "/a%b"] {
            assert!(!is_full_name(name), "{name}");
        }
        assert!(is_namespace("/") && is_namespace("/a") && !is_namespace(""));
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text: String) {
            let _ = (to_dds(&text), is_full_name(&text), shown(&text));
            if let Some(ros) = from_dds(&text) {
                prop_assert_eq!(to_dds(&ros), Some(text));
            }
        }
    }
}
