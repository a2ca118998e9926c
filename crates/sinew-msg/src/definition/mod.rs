//! The ROS 2 interface language of `.msg`, `.srv` and `.action` files.
//!
//! [`Definition::parse`] reads one file. [`Definitions`] holds those of several packages. Resolving
//! them gives [`Interfaces`]: every type in them is known, including those that ROS 2 derives from
//! services and actions, and has its [description](crate::description) and its hash. Nothing here
//! recurses, and memory is bounded by the length of the texts.
//!
//! The accepted language is that of ROS 2 (`rosidl_adapter`, as of Jazzy;
//! <https://docs.ros.org/en/jazzy/Concepts/Basic/About-Interfaces.html>):
//!
//! | line | example |
//! |---|---|
//! | field | `float64 x` |
//! | with a default value | `float64 w 1.0`, `int8[3] steps [-1, 0, 1]`, `string name "arm"` |
//! | constant | `uint8 READY=2` |
//! | basic types | `bool`, `byte`, `char`, `int8` to `uint64`, `float32`, `float64` |
//! | other types | `string`, `wstring`, `Name`, `package/Name` |
//! | bounds | `string<=10 a`, `int32[3] b`, `int32[] c`, `int32[<=3] d`, `string<=10[<=3] e` |
//! | comment | `# text` |
//! | next section | `---` |
//!
//! A comment documents the field or constant before or after which it stands; the first comments
//! document the section.
//!
//! Some corner cases differ. Strings in arrays have the same escapes as other strings (ROS 2 leaves
//! them unchanged), and `\\` is one backslash (ROS 2 replaces escapes twice). Text that ROS 2 would
//! read in a way that is hardly ever meant, such as a string with a single quote, or with `#`
//! inside quotes, is an error; a default value that contains `=` is allowed.

mod derived;
mod describe;
mod error;
mod field_type;
mod interface;
mod model;
mod names;
mod packages;
mod parser;
mod piece;
mod resolve;
mod set;
mod values;

pub use error::{ParseError, Problem, ReadError, ResolveError};
pub use interface::{Interface, Role};
pub use model::{
    Constant, Content, Definition, ElementType, FieldDefinition, FieldType, Literal, Place, Primitive,
    Section, Shape,
};
pub use names::{Kind, NameError, TypeName};
pub use packages::Packages;
pub use resolve::Interfaces;
pub use set::Definitions;

impl Definition {
    /// Parses the definition of `name`. Errors refer to the text as `file`.
    ///
    /// ```
    /// use sinew_msg::definition::{Content, Definition};
    ///
    /// let name = "example_msgs/msg/Reading".parse()?;
    /// let definition = Definition::parse(&name, "Reading.msg", "float32 volts  # of the battery\nbool valid true")?;
    /// let Content::Message(message) = definition.content else { unreachable!() };
    /// assert_eq!(message.fields[0].documentation, "of the battery");
    ///
    /// let error = Definition::parse(&name, "Reading.msg", "float32 volts\nboolean valid").unwrap_err();
    /// assert_eq!(error.to_string(), "Reading.msg:2:1: found `boolean`, expected a type: perhaps `bool`");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ParseError`] for the first problem found.
    pub fn parse(name: &TypeName, file: &str, text: impl AsRef<[u8]>) -> Result<Self, ParseError> {
        parser::parse(name, file, text.as_ref())
    }
}
