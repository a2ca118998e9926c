//! A type for people: its fields, and below each message, indented, that one's.

use std::fmt::Write as _;

use sinew_msg::definition::{Element, Interface, Interfaces, Kind, TypeName, Value};

/// The text; `None` if there is no such type. (Types don't contain themselves, so it ends.)
pub(super) fn show(interfaces: &Interfaces, name: &TypeName) -> Option<String> {
    let mut text = String::new();
    let parts: &[&str] = match name.kind() {
        Kind::Service if !name.base().contains('_') => &["_Request", "_Response"],
        Kind::Action if !name.base().contains('_') => &["_Goal", "_Result", "_Feedback"],
        _ => &[""],
    };
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            text.push_str("---\n");
        }
        let interface = interfaces.find(&format!("{name}{part}").parse().ok()?)?;
        interface_text(interfaces, interface, 0, &mut text);
    }
    Some(text)
}

fn interface_text(interfaces: &Interfaces, interface: &Interface, depth: usize, text: &mut String) {
    let indent = "\t".repeat(depth);
    // Below the first level, comments are more than anybody reads.
    let comment = |text: &mut String, documentation: &str| {
        for line in documentation.lines().filter(|_| depth == 0) {
            text.push_str(format!("# {line}").trim_end());
            text.push('\n');
        }
    };
    comment(text, &interface.documentation);
    for constant in &interface.constants {
        comment(text, &constant.documentation);
        let value = value_text(&constant.value);
        let _ = writeln!(text, "{indent}{} {}={value}", constant.element, constant.name); // takes everything
    }
    for field in &interface.fields {
        comment(text, &field.documentation);
        let default =
            field.default.as_ref().map_or_else(String::new, |value| format!(" {}", value_text(value)));
        let _ = writeln!(text, "{indent}{} {}{default}", field.field_type, field.name); // takes everything
        if let Element::Message(name) = &field.field_type.element
            && let Some(inside) = interfaces.find(name)
        {
            interface_text(interfaces, inside, depth + 1, text);
        }
    }
}

/// As it stands in a definition.
fn value_text(value: &Value) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) => format!("{value:?}"),
        Value::String(text) => format!("\"{}\"", text.escape_debug()),
        Value::Sequence(values) => {
            format!("[{}]", values.iter().map(value_text).collect::<Vec<_>>().join(", "))
        }
    }
}
