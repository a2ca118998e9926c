//! Reads descriptions from other programs.

use super::{FieldDescription, FieldTypeDescription, IndividualTypeDescription, TypeDescription};
use crate::tree::{Room, Tree, json};

impl TypeDescription {
    /// Parses untrusted text with the keys that [`to_json`](Self::to_json) writes; returns `None`
    /// if one is missing or has a value of another kind. Other keys are ignored, the first counts
    /// if a key is repeated, and YAML with these keys is read as well as JSON. Compare the
    /// [`hash`](Self::hash) to check that the result describes the expected type.
    ///
    /// ```
    /// use sinew_msg::description::TypeDescription;
    ///
    /// let description = TypeDescription::default();
    /// assert_eq!(TypeDescription::from_json(&description.to_json()), Some(description));
    /// assert_eq!(TypeDescription::from_json("{}"), None);
    /// ```
    #[must_use]
    pub fn from_json(text: &str) -> Option<Self> {
        let tree = json(text, &mut Room::unlimited()).ok()?;
        let referenced = list(inside(&tree, "referenced_type_descriptions")?)?;
        Some(Self {
            type_description: individual(inside(&tree, "type_description")?)?,
            referenced_type_descriptions: referenced.iter().map(individual).collect::<Option<_>>()?,
        })
    }
}

fn individual(tree: &Tree) -> Option<IndividualTypeDescription> {
    let fields = list(inside(tree, "fields")?)?.iter().map(field).collect::<Option<_>>()?;
    Some(IndividualTypeDescription { type_name: text(tree, "type_name")?, fields })
}

fn field(tree: &Tree) -> Option<FieldDescription> {
    let of = inside(tree, "type")?;
    let field_type = FieldTypeDescription {
        type_id: number(of, "type_id")?.try_into().ok()?,
        capacity: number(of, "capacity")?,
        string_capacity: number(of, "string_capacity")?,
        nested_type_name: text(of, "nested_type_name")?,
    };
    Some(FieldDescription { name: text(tree, "name")?, field_type, default_value: String::new() })
}

fn inside<'a>(tree: &'a Tree, key: &str) -> Option<&'a Tree> {
    let Tree::Mapping(fields) = tree else { return None };
    fields.iter().find(|(name, _)| name == key).map(|(_, tree)| tree)
}

fn list(tree: &Tree) -> Option<&[Tree]> {
    let Tree::Sequence(items) = tree else { return None };
    Some(items)
}

fn number(tree: &Tree, key: &str) -> Option<u64> {
    let Tree::Plain(digits) = inside(tree, key)? else { return None };
    digits.parse().ok()
}

fn text(tree: &Tree, key: &str) -> Option<String> {
    let Tree::Quoted(text) = inside(tree, key)? else { return None };
    Some(text.clone())
}
