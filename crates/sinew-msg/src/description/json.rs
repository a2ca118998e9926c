//! The text of a description that is hashed, and the hash.

use super::{FieldDescription, FieldTypeDescription, IndividualTypeDescription, TypeDescription};
use crate::hash::{Sha256, TypeHash};
use std::fmt::{self, Write};

impl TypeDescription {
    /// Returns the RIHS01 hash of the type: the SHA-256 of [`to_json`](Self::to_json). (REP 2016)
    ///
    /// ```
    /// use sinew_msg::description::{
    ///     FieldDescription, FieldTypeDescription, IndividualTypeDescription, TypeDescription, type_id,
    /// };
    ///
    /// let data = FieldDescription {
    ///     name: "data".to_owned(),
    ///     field_type: FieldTypeDescription { type_id: type_id::STRING, ..Default::default() },
    ///     ..Default::default()
    /// };
    /// let string = TypeDescription {
    ///     type_description: IndividualTypeDescription {
    ///         type_name: "std_msgs/msg/String".to_owned(),
    ///         fields: vec![data],
    ///     },
    ///     ..Default::default()
    /// };
    /// assert!(string.hash().to_string().starts_with("RIHS01_df668c740482bbd4"));
    /// ```
    #[must_use]
    pub fn hash(&self) -> TypeHash {
        TypeHash(Sha256::new().update(self.to_json().as_bytes()).finish())
    }

    /// Returns the text that is hashed: JSON in one line, with a space after each `,` and `:`, in
    /// ASCII, without default values.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = String::new();
        self.write_json(&mut text).expect("a `String` takes everything");
        text
    }

    fn write_json(&self, text: &mut String) -> fmt::Result {
        text.push_str("{\"type_description\": ");
        self.type_description.write_json(text)?;
        text.push_str(", \"referenced_type_descriptions\": [");
        separated(text, &self.referenced_type_descriptions, IndividualTypeDescription::write_json)?;
        text.push_str("]}");
        Ok(())
    }
}

impl IndividualTypeDescription {
    fn write_json(&self, text: &mut String) -> fmt::Result {
        text.push_str("{\"type_name\": ");
        write_text(text, &self.type_name)?;
        text.push_str(", \"fields\": [");
        separated(text, &self.fields, FieldDescription::write_json)?;
        text.push_str("]}");
        Ok(())
    }
}

impl FieldDescription {
    fn write_json(&self, text: &mut String) -> fmt::Result {
        let FieldTypeDescription { type_id, capacity, string_capacity, nested_type_name } = &self.field_type;
        text.push_str("{\"name\": ");
        write_text(text, &self.name)?;
        write!(text, ", \"type\": {{\"type_id\": {type_id}, \"capacity\": {capacity}, ")?;
        write!(text, "\"string_capacity\": {string_capacity}, \"nested_type_name\": ")?;
        write_text(text, nested_type_name)?;
        text.push_str("}}");
        Ok(())
    }
}

fn separated<T>(
    text: &mut String,
    items: &[T],
    write: impl Fn(&T, &mut String) -> fmt::Result,
) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        write(item, text)?;
    }
    Ok(())
}

/// Writes a JSON string in ASCII. (ROS 2 names need no escapes, but these names may come from any
/// program.)
fn write_text(text: &mut String, content: &str) -> fmt::Result {
    text.push('"');
    for character in content.chars() {
        match character {
            '"' | '\\' => {
                text.push('\\');
                text.push(character);
            }
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\x08' => text.push_str("\\b"),
            '\x0c' => text.push_str("\\f"),
            ' '..='~' => text.push(character),
            _ => {
                let mut units = [0; 2];
                character
                    .encode_utf16(&mut units)
                    .iter()
                    .try_for_each(|unit| write!(text, "\\u{unit:04x}"))?;
            }
        }
    }
    text.push('"');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hashed_text_is_ascii() {
        let type_name = "a\"\\/\n\t\u{7f}ö𝄞".to_owned();
        let fields = Vec::new();
        let type_description = IndividualTypeDescription { type_name, fields };
        let description = TypeDescription { type_description, ..Default::default() };
        // As Python's `json.dumps` writes it.
        let expected = r#"{"type_description": {"type_name": "a\"\\/\n\t\u007f\u00f6\ud834\udd1e", "fields": []}, "referenced_type_descriptions": []}"#;
        assert_eq!(description.to_json(), expected);
    }
}
