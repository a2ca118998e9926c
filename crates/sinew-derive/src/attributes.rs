//! Parses `#[message(..)]` and `#[repr(..)]`.

use proc_macro2::Span;
use std::env;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, DeriveInput, Error, Ident, LitStr, Result};

/// The contents of `#[message(..)]` above a struct.
#[derive(Default)]
pub(crate) struct Attributes {
    name: Option<LitStr>,
    /// The word `plain`.
    pub(crate) plain: Option<Ident>,
}

impl Attributes {
    pub(crate) fn of(input: &DeriveInput) -> Result<Self> {
        let mut attributes = Self::default();
        for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("message")) {
            attribute.parse_nested_meta(|meta| attributes.take(&meta))?;
        }
        Ok(attributes)
    }

    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let word = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        match word.as_str() {
            "plain" if self.plain.is_none() => self.plain = meta.path.get_ident().cloned(),
            "name" if self.name.is_none() => {
                let name: LitStr = meta.value()?.parse()?;
                if !is_type_name(&name.value()) {
                    let problem = "a ROS 2 type name looks like \"package/msg/Type\": a package of lower-case \
                                   letters, digits and single underscores, `msg`, `srv` or `action`, and a type in \
                                   camel case";
                    return Err(Error::new(name.span(), problem));
                }
                self.name = Some(name);
            }
            "plain" | "name" => return Err(meta.error(format!("`{word}` is there twice; leave one out"))),
            _ => {
                return Err(meta.error(
                    "unknown attribute of a message; there are `name = \"package/msg/Type\"` and `plain`",
                ));
            }
        }
        Ok(())
    }

    /// Returns the ROS 2 name: the given one, or one made from package and struct.
    pub(crate) fn name(&self, structure: &str, span: Span) -> Result<String> {
        if let Some(name) = &self.name {
            return Ok(name.value());
        }
        // Without Cargo there is no package name.
        let package = env::var("CARGO_PKG_NAME").unwrap_or_default().replace('-', "_");
        let name = format!("{package}/msg/{structure}");
        if is_type_name(&name) {
            return Ok(name);
        }
        let problem = format!(
            "`{name}` can't be the ROS 2 name of this message; give it one with `#[message(name = \"package/msg/Type\")]`"
        );
        Err(Error::new(span, problem))
    }
}

/// Refuses `#[message(..)]` on fields, which have no attributes.
pub(crate) fn refuse_on_field(attributes: &[Attribute]) -> Result<()> {
    match attributes.iter().find(|attribute| attribute.path().is_ident("message")) {
        Some(attribute) => {
            Err(Error::new_spanned(attribute, "`#[message(..)]` stands above the struct; fields have none"))
        }
        None => Ok(()),
    }
}

/// Returns whether the struct is `repr(C)`, without any modifier.
pub(crate) fn is_repr_c(input: &DeriveInput) -> Result<bool> {
    let mut is_c = false;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("C") {
                return Err(meta.error("a plain message is `#[repr(C)]` and nothing else"));
            }
            is_c = true;
            Ok(())
        })?;
    }
    Ok(is_c)
}

/// Returns whether this is `package/msg/Type`, by ROS 2's rules for either name.
fn is_type_name(name: &str) -> bool {
    let mut parts = name.split('/');
    let (Some(package), Some(kind), Some(structure), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let lower = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    package.starts_with(|c: char| c.is_ascii_lowercase())
        && package.chars().all(lower)
        && !package.contains("__")
        && !package.ends_with('_')
        && ["msg", "srv", "action"].contains(&kind)
        && structure.starts_with(|c: char| c.is_ascii_uppercase())
        && structure.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') // AddTwoInts_Request
}

#[cfg(test)]
mod tests {
    use super::is_type_name;

    #[test]
    fn type_names() {
        for good in ["std_msgs/msg/String", "a1/msg/B", "example_interfaces/srv/AddTwoInts_Request"] {
            assert!(is_type_name(good), "{good}");
        }
        for bad in ["", "String", "std_msgs/String", "std_msgs/msg/string", "Std/msg/String", "1a/msg/B"] {
            assert!(!is_type_name(bad), "{bad}");
        }
        for bad in [
            "a/msg/B/C",
            "a/topic/B",
            "a/msg/",
            "/msg/B",
            "a-b/msg/C",
            "a/msg/Größe",
            "a__b/msg/C",
            "a_/msg/B",
        ] {
            assert!(!is_type_name(bad), "{bad}");
        }
    }
}
