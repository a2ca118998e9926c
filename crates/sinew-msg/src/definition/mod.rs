//! The ROS 2 interface language: what stands in `.msg`, `.srv` and `.action` files.
//!
//! [`Definition::parse`] reads one file. [`Definitions`] are those of several packages; resolved,
//! they are [`Interfaces`]: every type is known, also those that ROS 2 derives from services and
//! actions, and has its [description](crate::description) and its hash. Nothing here recurses, and
//! memory is bounded by the length of the texts.
//!
//! Read is what ROS 2 reads (`rosidl_adapter`, as of Jazzy;
//! <https://docs.ros.org/en/jazzy/Concepts/Basic/About-Interfaces.html>):
//!
//! | line | example |
//! |---|---|
//! | field | `float64 x` |
//! | with a default value | `float64 w 1.0`, `int8[3] steps [-1, 0, 1]`, `string name "arm"` |
//! | constant | `uint8 READY=2` |
//! | types | `bool`, `byte`, `char`, `int8` to `uint64`, `float32`, `float64`, `string`, `wstring`, `Name`, `package/Name` |
//! | bounds | `string<=10 a`, `int32[3] b`, `int32[] c`, `int32[<=3] d`, `string<=10[<=3] e` |
//! | comment | `# text`, the field's or constant's that it stands before or behind; the first ones are the section's |
//! | next section | `---` |
//!
//! It differs in corners. An array's strings have the same escapes as others (ROS 2 leaves them as
//! they are), and `\\` is one backslash (ROS 2 replaces escapes twice). What ROS 2 would read as
//! something that hardly anybody means, such as a string with a single quote, or with `#` inside
//! quotes, is an error; a default value with `=` in it is none.

mod derived;
mod describe;
mod error;
mod field_type;
mod interface;
mod model;
mod names;
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
pub use resolve::Interfaces;
pub use set::Definitions;

impl Definition {
    /// Reads the definition of `name`. `file` is what errors call the text.
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
    /// [`ParseError`] at the first thing that is wrong.
    pub fn parse(name: &TypeName, file: &str, text: impl AsRef<[u8]>) -> Result<Self, ParseError> {
        parser::parse(name, file, text.as_ref())
    }
}
