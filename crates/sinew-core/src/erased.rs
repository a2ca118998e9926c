//! Endpoints for messages of any type, for bindings to other languages, bags and gateways.
pub use crate::message::erased::{Message, Taken, UninitMessage};
pub use crate::message::registered::{EncodingTable, MessageType, TypeError, TypeTable};
