//! The names of packages, types, fields and constants, by ROS 2's rules.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The full name of a type: `sensor_msgs/msg/Image`, `example_interfaces/srv/AddTwoInts_Request`.
///
/// Names are ordered as texts; ROS 2 orders the types in a description in the same way.
///
/// ```
/// use sinew_msg::definition::{Kind, TypeName};
///
/// let name: TypeName = "sensor_msgs/msg/Image".parse()?;
/// assert_eq!((name.package(), name.kind(), name.base()), ("sensor_msgs", Kind::Message, "Image"));
/// let request: TypeName = "example_interfaces/srv/AddTwoInts_Request".parse()?;
/// assert_eq!(request.original().base(), "AddTwoInts");
/// # Ok::<(), sinew_msg::definition::NameError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeName {
    text: Arc<str>,
    kind: Kind,
}

impl TypeName {
    /// Returns the name of a type of this package.
    ///
    /// # Errors
    /// [`NameError`] if ROS 2 doesn't allow the name of the package or of the type.
    pub fn new(package: &str, kind: Kind, base: &str) -> Result<Self, NameError> {
        let text = format!("{package}/{kind}/{base}");
        if is_package(package) && is_derived(base) {
            Ok(Self { text: text.into(), kind })
        } else {
            Err(NameError { text })
        }
    }

    /// Returns the name of a type that ROS 2 derives from this one, e.g. with `_Request`.
    pub(super) fn derived(&self, suffix: &str) -> Self {
        Self { text: format!("{}{suffix}", self.text).into(), kind: self.kind }
    }

    /// Returns the name of the definition from which ROS 2 derives this type, which is this name for a
    /// type that is defined itself: only derived types have underscores.
    #[must_use]
    pub fn original(&self) -> Self {
        match self.base().find('_') {
            Some(end) => {
                Self { text: self.text[..self.text.len() - self.base().len() + end].into(), kind: self.kind }
            }
            None => self.clone(),
        }
    }

    /// Returns the package, e.g. `sensor_msgs`.
    #[must_use]
    pub fn package(&self) -> &str {
        self.text.split('/').next().unwrap_or_default()
    }

    /// Returns the kind, which names the package's folder with the definition. A derived type has
    /// the kind of its original.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the name inside its package, e.g. `Image`.
    #[must_use]
    pub fn base(&self) -> &str {
        self.text.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the whole name, e.g. `sensor_msgs/msg/Image`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for TypeName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let mut parts = text.split('/');
        if let (Some(package), Some(kind), Some(base), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
            && let Some(kind) = Kind::from_name(kind)
        {
            return Self::new(package, kind, base);
        }
        Err(NameError { text: text.to_owned() })
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The text is not a valid type name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not the name of a ROS 2 type, such as \"package/msg/Type\": a package of lower-case letters, digits and \
     single underscores, then `msg`, `srv` or `action`, then a type in camel case"
)]
pub struct NameError {
    text: String,
}

/// The kind of a definition. The order is that of the words in a [`TypeName`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `.action`: a goal, a result, and feedback in between.
    Action,
    /// `.msg`: a message.
    Message,
    /// `.srv`: a request and a response.
    Service,
}

impl Kind {
    /// Returns the folder, extension and word in a [`TypeName`]: `msg`, `srv` or `action`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Message => "msg",
            Self::Service => "srv",
        }
    }

    /// Returns the kind with this folder, extension and word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Action, Self::Message, Self::Service].into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Returns whether a package or field can have this name: one that is valid on every platform and
/// in every language that ROS 2 generates code for.
pub(super) fn is_package(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && has_single_underscores(name)
}

/// See [`is_package`].
pub(super) fn is_field(name: &str) -> bool {
    is_package(name)
}

pub(super) fn is_constant(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        && has_single_underscores(name)
}

/// Returns whether a definition can have this type name; only derived types have underscores.
pub(super) fn is_defined(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(|c| c.is_ascii_alphanumeric())
}

fn is_derived(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn has_single_underscores(name: &str) -> bool {
    !name.contains("__") && !name.ends_with('_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_names() {
        for good in
            ["std_msgs/msg/String", "a1/msg/B", "a/srv/AddTwoInts_Request", "a/action/B_SendGoal_Event"]
        {
            assert_eq!(good.parse::<TypeName>().map(|name| name.to_string()), Ok(good.to_owned()));
        }
        for bad in
            ["", "String", "std_msgs/String", "std_msgs/msg/string", "Std/msg/String", "1a/msg/B", "a/msg"]
        {
            assert!(bad.parse::<TypeName>().is_err(), "{bad}");
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
            assert!(bad.parse::<TypeName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn names_are_ordered_as_texts() {
        let texts = ["a/action/Z", "a/msg/A", "a/msg/A1", "a/msg/A_B", "a/srv/A", "a0/msg/A", "a_b/action/A"];
        let names: Vec<TypeName> = texts.iter().map(|text| text.parse().unwrap()).collect();
        assert!(names.is_sorted() && texts.is_sorted());
    }

    #[test]
    fn names_of_fields_and_constants() {
        for good in ["x", "x_y", "x1_2", "type"] {
            assert!(is_field(good), "{good}");
        }
        for bad in ["", "X", "x__y", "x_", "_x", "1x", "x-y", "ä", "xY"] {
            assert!(!is_field(bad), "{bad}");
        }
        for good in ["X", "X_Y", "X1", "A_1_B"] {
            assert!(is_constant(good), "{good}");
        }
        for bad in ["", "x", "X__Y", "X_", "_X", "1X", "Xy", "Ä"] {
            assert!(!is_constant(bad), "{bad}");
        }
    }
}
