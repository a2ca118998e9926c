//! Messages from texts that leave times open.

use super::error::TextError;
use super::message::DynamicMessage;
use super::read::read_open;
use super::types::MessageType;
use super::value::{Scalar, Value};
use crate::tree::{self, Room, Tree};
use std::sync::Arc;

/// A message from a text in which `now` can stand for a `builtin_interfaces/Time` and `auto` for a
/// `std_msgs/Header`, as in `ros2 topic pub`. The program fills in the time when it is about to
/// send the message.
///
/// A header that is `auto` has an empty `frame_id`. For another frame, leave only the time open:
/// `{stamp: now, frame_id: map}`.
///
/// ```
/// # use sinew_msg::definition::{Definition, Definitions};
/// # use sinew_msg::dynamic::{MessageType, Template};
/// # use std::sync::Arc;
/// # let mut definitions = Definitions::new();
/// # let name = "example_msgs/msg/Reading".parse()?;
/// # definitions.add(Definition::parse(&name, "Reading.msg", "builtin_interfaces/Time at\nfloat64 volts")?)?;
/// # let time = "builtin_interfaces/msg/Time".parse()?;
/// # definitions.add(Definition::parse(&time, "Time.msg", "int32 sec\nuint32 nanosec")?)?;
/// # let reading = Arc::new(MessageType::of(&definitions.resolve()?, &name)?);
/// let mut template = Template::from_yaml(&reading, "{at: now, volts: 12}")?;
/// assert_eq!(template.at(5, 250).to_json(), r#"{"at":{"sec":5,"nanosec":250},"volts":12.0}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    message: DynamicMessage,
    /// The places of the times, as numbers of fields and elements.
    times: Vec<Vec<usize>>,
}

impl Template {
    /// Reads YAML; otherwise as [`DynamicMessage::from_yaml`].
    ///
    /// # Errors
    /// [`TextError`] if the text is not YAML or not a message of this type.
    pub fn from_yaml(message_type: &Arc<MessageType>, text: &str) -> Result<Self, TextError> {
        Self::of(message_type, tree::yaml(text, &mut Room::unlimited())?)
    }

    /// Reads JSON; otherwise as [`DynamicMessage::from_json`].
    ///
    /// # Errors
    /// [`TextError`] if the text is neither JSON nor YAML, or not a message of this type.
    pub fn from_json(message_type: &Arc<MessageType>, text: &str) -> Result<Self, TextError> {
        Self::of(message_type, tree::json(text, &mut Room::unlimited())?)
    }

    fn of(message_type: &Arc<MessageType>, tree: Tree) -> Result<Self, TextError> {
        let (message, times) = read_open(message_type, tree)?;
        Ok(Self { message, times })
    }

    /// Returns `true` if any time is left open.
    #[must_use]
    pub fn has_times(&self) -> bool {
        !self.times.is_empty()
    }

    /// Returns the message at this time, in seconds and nanoseconds since 1970.
    pub fn at(&mut self, seconds: i32, nanoseconds: u32) -> &DynamicMessage {
        let time = [Scalar::Signed(seconds.into()), Scalar::Unsigned(nanoseconds.into())].map(Value::Scalar);
        for place in &self.times {
            let mut values = self.message.fields_mut();
            for &number in place {
                let (Value::Structure(inside) | Value::Values(inside)) = &mut values[number] else {
                    unreachable!("a time lies in messages and lists of them");
                };
                values = inside;
            }
            values.clone_from_slice(&time);
        }
        &self.message
    }
}
