//! The definition of a topic's type, as a bag carries it.

use sinew_msg::definition::{Content, Definition, Definitions, ElementType, Interfaces, Kind, TypeName};
use sinew_msg::description::TypeDescription;
use sinew_msg::dynamic::MessageType;
use std::fmt::Write as _;
use std::sync::Arc;

/// Length of the line of `=` that separates the definitions in a text.
const SEPARATOR: usize = 80;

/// The definition of a type, with those of all types in it.
///
/// ```
/// use sinew_bag::Schema;
/// use sinew_interfaces::std_msgs::msg::Header;
/// use sinew_msg::Message;
///
/// let description = Header::ENCODING.unwrap().description.unwrap().describe().unwrap();
/// let schema = Schema::of(&description);
/// assert!(schema.text.starts_with("builtin_interfaces/Time stamp\nstring frame_id\n\n====="));
/// assert!(schema.text.ends_with("MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"));
/// assert_eq!(schema.message_type("std_msgs/msg/Header").unwrap().name(), "std_msgs/msg/Header");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// The form of the text: `ros2msg`, `ros2idl`, or rosbag2's `unknown` for a service's events.
    /// Empty if there is no text.
    pub encoding: String,
    /// For `ros2msg` the definition itself, and for each type in it a line of 80 `=`, a line such
    /// as `MSG: std_msgs/Header`, and its definition.
    pub text: String,
}

impl Schema {
    /// Writes the definition of a described type. Constants, default values and comments are not in
    /// a description, so they are missing from the text, too.
    #[must_use]
    pub fn of(description: &TypeDescription) -> Self {
        let TypeDescription { type_description: root, referenced_type_descriptions: referenced } =
            description;
        let service = root.type_name.strip_suffix("_Event").filter(|name| name.contains("/srv/"));
        let part = |suffix: &str| {
            let name = format!("{}{suffix}", service?);
            referenced.iter().find(|one| one.type_name == name)
        };
        let (encoding, mut text) = match (service, part("_Request"), part("_Response")) {
            (Some(name), Some(request), Some(response)) => {
                let (request, response) = (request.to_definition(), response.to_definition());
                ("unknown", section("SRV", name, &format!("{request}---\n{response}")))
            }
            _ => ("ros2msg", root.to_definition()),
        };
        for one in referenced.iter().filter(|one| encoding == "ros2msg" || one.type_name.contains("/msg/")) {
            let _ = write!(
                text,
                "\n{}",
                section("MSG", &one.type_name.replacen("/msg/", "/", 1), &one.to_definition())
            );
        }
        Self { encoding: encoding.to_owned(), text }
    }

    /// Joins the texts of definition files, comments and all: that of `type_name` and those of all
    /// types in it, which `find` returns by their full names. Returns `None` if a text is missing
    /// or wrong.
    ///
    /// ```
    /// use sinew_bag::Schema;
    /// use sinew_interfaces::DEFINITIONS;
    ///
    /// let find = |name: &str| DEFINITIONS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
    /// let schema = Schema::from_texts("std_msgs/msg/Header", find).unwrap();
    /// assert!(schema.text.contains("\nMSG: builtin_interfaces/Time\n"));
    /// ```
    pub fn from_texts<T: AsRef<str>>(type_name: &str, find: impl Fn(&str) -> Option<T>) -> Option<Self> {
        let root: TypeName = type_name.parse().ok().filter(|name: &TypeName| name.kind() == Kind::Message)?;
        let mut text = find(type_name)?.as_ref().to_owned();
        let (mut known, mut next) = (vec![root], 0);
        while next < known.len() {
            let name = known[next].clone();
            let found = find(name.as_str())?;
            let one = found.as_ref();
            if next > 0 {
                let _ = write!(text, "\n{}", section("MSG", &name.as_str().replacen("/msg/", "/", 1), one));
            }
            for inside in types_in(&Definition::parse(&name, name.as_str(), one).ok()?) {
                if !known.contains(inside) {
                    known.push(inside.clone());
                }
            }
            next += 1;
        }
        Some(Self { encoding: "ros2msg".to_owned(), text })
    }

    /// Returns the definition of a service's events, of which this is the definition.
    #[cfg(feature = "sqlite3")]
    pub(crate) fn of_events(self, service: &str) -> Self {
        Self { encoding: "unknown".to_owned(), text: section("SRV", service, &self.text) }
    }

    /// Makes the type for [`DynamicMessage`](sinew_msg::dynamic::DynamicMessage).
    ///
    /// # Errors
    /// The problem as a sentence, if the text is in another form, or wrong, or lacks a type.
    pub fn message_type(&self, type_name: &str) -> Result<Arc<MessageType>, String> {
        let (interfaces, root) = self.interfaces(type_name)?;
        MessageType::of(&interfaces, &root).map(Arc::new).map_err(|error| error.to_string())
    }

    /// Describes the type, as its publishers do for tools.
    ///
    /// # Errors
    /// As [`message_type`](Self::message_type).
    pub fn description(&self, type_name: &str) -> Result<TypeDescription, String> {
        let (interfaces, root) = self.interfaces(type_name)?;
        interfaces.description(&root).ok_or_else(|| "its definition is missing".to_owned())
    }

    /// Reads the definitions in the text; also returns the type's name.
    fn interfaces(&self, type_name: &str) -> Result<(Interfaces, TypeName), String> {
        if self.encoding.is_empty() {
            return Err("the bag has no definition of it".to_owned());
        }
        if !matches!(self.encoding.as_str(), "ros2msg" | "unknown") {
            return Err(format!("its definition is in the form `{}`, which is not read", self.encoding));
        }
        let root: TypeName = type_name.parse().map_err(|error| format!("{error}"))?;
        let mut definitions = Definitions::new();
        for (header, text) in sections(&self.text) {
            let name = match header {
                Some(header) => header_name(header)?,
                // The events of a service have no text of their own.
                None if text.trim().is_empty() && self.encoding == "unknown" => continue,
                None => root.clone(),
            };
            if definitions.iter().any(|known| known.name == name) {
                continue; // some writers repeat them
            }
            let definition =
                Definition::parse(&name, name.as_str(), text).map_err(|error| error.to_string())?;
            definitions.add(definition).map_err(|error| error.to_string())?;
        }
        let interfaces = definitions.resolve().map_err(|error| error.to_string())?;
        Ok((interfaces, root))
    }
}

/// Returns the types of a message's fields.
fn types_in(definition: &Definition) -> impl Iterator<Item = &TypeName> {
    let fields = match &definition.content {
        Content::Message(section) => section.fields.as_slice(),
        _ => &[],
    };
    fields.iter().filter_map(|field| match &field.field_type.element {
        ElementType::Message(name) => Some(name),
        _ => None,
    })
}

fn section(kind: &str, name: &str, text: &str) -> String {
    format!("{}\n{kind}: {name}\n{text}", "=".repeat(SEPARATOR))
}

/// Splits a text at its lines of `=`: the first part has no header, the others a line each.
fn sections(text: &str) -> Vec<(Option<&str>, String)> {
    let mut sections = vec![(None, String::new())];
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.len() >= SEPARATOR && line.bytes().all(|byte| byte == b'=') {
            sections.push((Some(lines.next().unwrap_or_default()), String::new()));
        } else if let Some((_, text)) = sections.last_mut() {
            text.push_str(line);
            text.push('\n');
        }
    }
    sections
}

/// Reads a header such as `MSG: std_msgs/Header` or `SRV: std_srvs/srv/Empty`.
fn header_name(header: &str) -> Result<TypeName, String> {
    let wrong = || format!("`{header}` is no header of a definition");
    let (kind, name) = header.split_once(": ").ok_or_else(wrong)?;
    let kind = match kind {
        "MSG" => "msg",
        "SRV" => "srv",
        "ACTION" => "action",
        _ => return Err(wrong()),
    };
    let name = name.trim();
    let full = if name.matches('/').count() == 1 {
        name.replace('/', &format!("/{kind}/"))
    } else {
        name.to_owned()
    };
    full.parse().map_err(|error| format!("{error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_interfaces::DEFINITIONS;
    use sinew_msg::Message;
    use sinew_msg::dynamic::DynamicMessage;

    #[test]
    fn all_known_messages_survive_in_both_ways() {
        let find = |name: &str| DEFINITIONS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
        for (name, _) in DEFINITIONS.iter().filter(|(name, _)| name.contains("/msg/")) {
            let joined = Schema::from_texts(name, find).unwrap();
            let of_texts = joined.message_type(name).unwrap();
            assert_eq!(of_texts.name(), *name);
        }
    }

    #[test]
    fn a_description_is_enough_to_decode() {
        use sinew_interfaces::sensor_msgs::msg::PointCloud2;
        let encoding = PointCloud2::ENCODING.unwrap();
        let schema = Schema::of(&encoding.description.unwrap().describe().unwrap());
        let made = schema.message_type(encoding.name).unwrap();
        let cloud = PointCloud2 { width: 7, data: vec![1, 2], ..PointCloud2::default() };
        let mut bytes = vec![0; (encoding.size)(&cloud)];
        (encoding.encode)(&cloud, &mut bytes);
        let message = DynamicMessage::decode(&made, &bytes).unwrap();
        assert!(message.to_json().contains("\"width\":7"), "{}", message.to_json());
    }

    #[test]
    fn events_of_a_service_are_made_from_its_definition() {
        let text = section("SRV", "example_interfaces/srv/AddTwoInts", "int64 a\nint64 b\n---\nint64 sum\n");
        let schema = Schema { encoding: "unknown".to_owned(), text };
        let name = "example_interfaces/srv/AddTwoInts_Event";
        assert_eq!(schema.message_type(name).unwrap().name(), name);
    }

    #[test]
    fn other_forms_and_wrong_texts_say_why() {
        let schema =
            |encoding: &str, text: &str| Schema { encoding: encoding.to_owned(), text: text.to_owned() };
        for (schema, problem) in [
            (schema("ros2idl", "module a {};"), "`ros2idl`"),
            (schema("", ""), "no definition"),
            (schema("ros2msg", "a/Missing b\n"), "a/msg/Missing"),
            (schema("ros2msg", &format!("{}\nWHAT: a/B\n", "=".repeat(80))), "`WHAT: a/B`"),
        ] {
            let error = schema.message_type("a/msg/A").unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }
}
