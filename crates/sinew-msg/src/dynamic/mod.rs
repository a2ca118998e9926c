//! Messages of types that are known only at run time.
//!
//! A [`MessageType`] is made from a [description](crate::description), which a program gets from
//! definition files or from another program. It decodes bytes to a [`DynamicMessage`]: a tree of
//! [`Value`]s that can be compared, printed and encoded again. With the feature `text`, a message
//! can also be read from YAML or JSON, as `ros2 topic pub` takes it.
//!
//! No encoded message, description or text is trusted here. Memory use is proportional to the
//! length of the input and to the size of the type's smallest value, whatever lengths the input
//! claims; recursion ends at [`MAX_DEPTH`].
//!
//! ```
//! use sinew_msg::definition::{Definition, Definitions};
//! use sinew_msg::dynamic::{DynamicMessage, MessageType};
//! use std::sync::Arc;
//!
//! let mut definitions = Definitions::new();
//! let name = "example_msgs/msg/Reading".parse()?;
//! definitions.add(Definition::parse(&name, "Reading.msg", "string sensor\nfloat32[] volts")?)?;
//! let reading = Arc::new(MessageType::of(&definitions.resolve()?, &name)?);
//!
//! let encoded = [0, 1, 0, 0, 2, 0, 0, 0, b'a', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0x80, 0x3f];
//! let message = DynamicMessage::decode(&reading, &encoded)?;
//! assert_eq!(message.to_yaml(&Default::default()), "sensor: a\nvolts:\n- 1.0\n");
//! assert_eq!(message.to_json(), r#"{"sensor":"a","volts":[1.0]}"#);
//! assert_eq!(message.encode(), encoded);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod csv;
mod decode;
mod encode;
mod error;
mod json;
mod message;
mod part;
#[cfg(feature = "text")]
mod read;
#[cfg(feature = "text")]
mod template;
mod types;
mod value;
mod words;
mod yaml;

#[cfg(feature = "text")]
pub use error::TextError;
pub use error::{DynamicDecodeError, PathError, TypeError};
pub use message::DynamicMessage;
pub use part::{FieldPath, Part};
#[cfg(feature = "text")]
pub use template::Template;
pub use types::{MAX_DEPTH, MessageType};
pub use value::{Scalar, Scalars, Value};
pub use yaml::Style;
