//! Shows a type: the lines of its definition, and below each field of a message type, indented, the
//! definition of that type.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sinew_msg::definition::{Content, Definition, ElementType, Interfaces, Kind, TypeName};
use sinew_msg::description::{IndividualTypeDescription, PLACEHOLDER, TypeDescription};
use sinew_msg::dynamic::{MAX_DEPTH, TypeError};

use crate::error::TypesError;

/// The comments and empty lines that are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Comments {
    None,
    /// Comments of the type itself.
    Own,
    /// Also those of nested types.
    All,
}

/// Limit, in bytes, of the text for a type and its nested types: types that contain others twice at
/// each level soon fill the memory.
const LONGEST: usize = 1 << 20;

fn check_length(name: &str, shown: &str) -> Result<(), TypesError> {
    match shown.len() > LONGEST {
        true => Err(TypesError::TooLong { name: name.to_owned(), most: LONGEST }),
        false => Ok(()),
    }
}

/// Returns the definition of a type with those of nested types, as they are written. Fails if the
/// text is longer than [`LONGEST`], or types are nested deeper than [`MAX_DEPTH`]; no more than
/// that is ever built.
pub(super) fn written(
    interfaces: &Interfaces,
    (name, text): (&TypeName, &str),
    comments: Comments,
    text_of: &impl Fn(&TypeName) -> Result<Option<String>, TypesError>,
) -> Result<String, TypesError> {
    written_at(1, interfaces, (name, text), comments, text_of)
}

/// Returns the same for the type at this depth, counted from 1.
fn written_at(
    depth: usize,
    interfaces: &Interfaces,
    (name, text): (&TypeName, &str),
    comments: Comments,
    text_of: &impl Fn(&TypeName) -> Result<Option<String>, TypesError>,
) -> Result<String, TypesError> {
    if depth > MAX_DEPTH {
        return Err(TypeError::TooDeep { name: name.to_string(), limit: MAX_DEPTH }.into());
    }
    let definition = interfaces.definitions().find(|definition| definition.name == *name);
    let messages = definition.map(messages).unwrap_or_default();
    let mut shown = String::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = match (comments, line.split_once('#')) {
            (Comments::None, Some((before, _))) => before.trim_end(), // up to the first
            _ => line.trim_end(),
        };
        if !line.is_empty() || comments != Comments::None {
            shown.push_str(line);
            shown.push('\n');
        }
        let Some(inside) = messages.get(&number) else { continue };
        let below = if comments == Comments::All { Comments::All } else { Comments::None };
        let text = match text_of(inside)? {
            Some(text) => written_at(depth + 1, interfaces, (inside, &text), below, text_of)?,
            None => {
                interfaces.description(inside).map(|found| described(&found)).transpose()?.unwrap_or_default()
            }
        };
        indent(&text, &mut shown);
        check_length(name.as_str(), &shown)?;
    }
    Ok(shown)
}

/// Returns the message types of a definition's fields, by line number from 1.
fn messages(definition: &Definition) -> BTreeMap<usize, &TypeName> {
    let sections = match &definition.content {
        Content::Message(message) => vec![message],
        Content::Service { request, response } => vec![request, response],
        Content::Action { goal, result, feedback } => vec![goal, result, feedback],
    };
    let fields = sections.into_iter().flat_map(|section| &section.fields);
    let messages = fields.filter_map(|field| match &field.field_type.element {
        ElementType::Message(name) => Some((field.place.line, name)),
        _ => None,
    });
    messages.collect()
}

fn indent(text: &str, shown: &mut String) {
    for line in text.lines() {
        if !line.is_empty() {
            shown.push('\t');
            shown.push_str(line);
        }
        shown.push('\n');
    }
}

/// Formats a type with only a description, and a line that says so.
pub(super) fn described_alone(
    description: &TypeDescription,
    comments: Comments,
) -> Result<String, TypesError> {
    let told = "# From a type description, which has no constants, default values or comments.\n";
    let fields = described(description)?;
    Ok(if comments == Comments::None { fields } else { format!("{told}{fields}") })
}

/// Formats the fields of a type. Fails if the text is longer than [`LONGEST`].
fn described(description: &TypeDescription) -> Result<String, TypesError> {
    let TypeDescription { type_description: itself, referenced_type_descriptions: others } = description;
    let by_name: BTreeMap<&str, _> = others.iter().map(|other| (other.type_name.as_str(), other)).collect();
    let is_service = itself.type_name.parse::<TypeName>().is_ok_and(|name| name.kind() == Kind::Service);
    let part = |suffix: &str| by_name.get(format!("{}{suffix}", itself.type_name).as_str()).copied();
    let mut text = String::new();
    match (part("_Request"), part("_Response")) {
        (Some(request), Some(response)) if is_service => {
            fields(request, &by_name, 0, &mut text)?;
            text.push_str("---\n");
            fields(response, &by_name, 0, &mut text)?;
        }
        _ => fields(itself, &by_name, 0, &mut text)?,
    }
    Ok(text)
}

/// Adds the lines of a type's fields. (The type was checked not to contain itself.)
fn fields(
    one: &IndividualTypeDescription,
    by_name: &BTreeMap<&str, &IndividualTypeDescription>,
    depth: usize,
    text: &mut String,
) -> Result<(), TypesError> {
    for field in one.fields.iter().filter(|field| field.name != PLACEHOLDER) {
        let indent = "\t".repeat(depth);
        // Can't fail.
        let _ = writeln!(text, "{indent}{} {}", field.field_type, field.name);
        check_length(&one.type_name, text)?; // also ends the recursion if the depth wasn't checked
        if let Some(inside) = by_name.get(field.field_type.nested_type_name.as_str()) {
            fields(inside, by_name, depth + 1, text)?;
        }
    }
    Ok(())
}
