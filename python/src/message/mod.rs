//! Messages: their types, their objects in Python, and their bytes.
//!
//! | file | |
//! |---|---|
//! | `sources` | definitions: where they are found |
//! | `class` | a message type: its fields, for the encoding and for Python |
//! | `python_class` | its class in Python |
//! | `object` | a message as an object, received or built |
//! | `methods`, `equal`, `text` | the methods of all message classes |
//! | `reader`, `value` | from received bytes to Python's values |
//! | `wrong`, `numbers`, `field`, `output` | from Python's values to bytes |
//! | `view` | numbers where they lie |
//! | `dlpack` | the same, for other libraries of arrays |
//! | `draft` | a message that is written where it will be published |
//!
//! For endpoints: [`class_of`] a Python class; [`Class::received`] makes the object of a message;
//! [`Class::outgoing`] the message of an object.

mod class;
mod dlpack;
mod draft;
mod equal;
mod error;
mod field;
mod methods;
mod module;
mod numbers;
mod object;
mod output;
mod python_class;
mod reader;
mod sources;
mod text;
mod value;
mod view;
mod wrong;

pub(crate) use class::Class;
pub(crate) use draft::{Draft, Publishing};
pub(crate) use error::{UndecodableError, unusable};
pub(crate) use module::{add_to, class_for, class_of, described, service_of};
pub(crate) use object::PyMessage;
pub(crate) use sources::Service;

use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use sinew::erased::{Message, MessageType};
use sinew::msg::EncodedDraft;
use std::sync::Arc;

impl Class {
    /// Makes the object of a received message. A message that has a value of Rust is encoded, the
    /// bytes of others stay where they are. No field is decoded.
    ///
    /// # Errors
    /// There is no memory; the value has no encoded form.
    pub(crate) fn received<'py>(
        self: &Arc<Self>,
        py: Python<'py>,
        message: Message,
    ) -> PyResult<Bound<'py, PyAny>> {
        if message.encoded().is_some() {
            return self.over_all(py, message);
        }
        let no_bytes = || PyTypeError::new_err(format!("this {} has no encoded form", self.name()));
        let mut encoded = vec![0; message.encoded_length().ok_or_else(no_bytes)?];
        message.encode_into(&mut encoded);
        let message = bytes_as_message(self.message_type().map_err(unusable)?, &encoded)?;
        self.over_all(py, message)
    }

    /// Makes the library's message of an object of this type: a reference to the received one if
    /// nothing in it changed; otherwise it is encoded into a draft of `draft`, which gets the length.
    ///
    /// # Errors
    /// The object is no message of this type; a value in it doesn't fit its field; there is no
    /// memory.
    pub(crate) fn outgoing(
        self: &Arc<Self>,
        object: &Bound<'_, PyAny>,
        draft: impl FnOnce(usize) -> Option<EncodedDraft>,
    ) -> PyResult<Message> {
        let (py, message) = (object.py(), self.message(object)?);
        if let Some(received) = message.untouched(py) {
            return Ok(received);
        }
        let length = message.encoded_length(py)?;
        let mut draft = draft(length).ok_or_else(|| no_memory(length))?;
        message.encode_into(py, draft.get_mut(..length).unwrap_or_default())?;
        Ok(draft.into())
    }

    /// As [`outgoing`](Self::outgoing), for a request or response of this library type.
    pub(crate) fn outgoing_as(
        self: &Arc<Self>,
        object: &Bound<'_, PyAny>,
        of: MessageType,
    ) -> PyResult<Message> {
        bytes_as_message(of, &self.message(object)?.to_bytes(object.py())?)
    }

    /// Returns the encoded form of a message with defaults.
    pub(crate) fn encoded_default(self: &Arc<Self>, py: Python<'_>) -> PyResult<Vec<u8>> {
        self.message(&self.python(py)?.bind(py).call0()?)?.to_bytes(py)
    }

    fn message<'a>(self: &Arc<Self>, object: &'a Bound<'_, PyAny>) -> PyResult<&'a PyMessage> {
        self.message_in(object).ok_or_else(|| {
            let found = match object.cast::<PyMessage>() {
                Ok(message) => message.get().class().name().to_owned(),
                Err(_) => object.get_type().name().map(|name| name.to_string()).unwrap_or_default(),
            };
            PyTypeError::new_err(format!("found a message of {found}, expected one of {}", self.name()))
        })
    }
}

fn bytes_as_message(of: MessageType, encoded: &[u8]) -> PyResult<Message> {
    Message::encoded_from(of, encoded).ok_or_else(|| no_memory(encoded.len()))
}

#[cold]
fn no_memory(length: usize) -> PyErr {
    PyMemoryError::new_err(format!("no memory for a message of {length} bytes"))
}
