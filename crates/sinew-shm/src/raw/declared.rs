//! The declaration of a name, and its encoding as an endpoint.

use super::error::OpenError;
use super::value::Value;
use crate::tables::endpoint::{Endpoint, EndpointKind};
use std::fmt;

/// The kind of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChannelKind {
    Topic = 1,
    Queue = 2,
    Variable = 3,
}

/// The role of a process that an entity announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The process has the name open. A claim.
    Name = 1,
    /// A handle of the process reads.
    Reader = 2,
    /// The process writes.
    Writer = 3,
    /// The process is the only writer. A claim.
    Master = 4,
}

/// The meaning of a name, which all processes of a domain agree on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) kind: ChannelKind,
    pub(super) type_name: String,
    /// Size in bytes of a value, or of an element.
    pub(super) size: u64,
    /// Whether values may have different lengths.
    pub(super) is_slice: bool,
}

impl fmt::Display for Declared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            ChannelKind::Topic => "topic",
            ChannelKind::Queue => "queue",
            ChannelKind::Variable => "variable",
        };
        let of = if self.is_slice { "elements of " } else { "" };
        write!(f, "a {kind} of `{}` ({of}{} bytes)", self.type_name, self.size)
    }
}

/// The longest type name that is compared, in bytes; longer ones are cut.
const LONGEST_TYPE: usize = 255;

impl Declared {
    pub(super) fn new<V: Value + ?Sized>(kind: ChannelKind, name: &str) -> Result<Self, OpenError> {
        if name.is_empty() || name.len() > 255 {
            return Err(OpenError::Name { name: name.to_owned(), length: name.len() });
        }
        let mut type_name = V::type_name();
        type_name.truncate(type_name.floor_char_boundary(LONGEST_TYPE));
        Ok(Self { name: name.to_owned(), kind, type_name, size: V::SIZE as u64, is_slice: V::IS_SLICE })
    }

    /// The endpoint that announces the declaration. Byte 0 of the QoS is the kind, byte 1 the role,
    /// byte 2 whether it is a slice; bytes 8 to 15 are the size.
    pub(super) fn endpoint(&self, role: Role, number: u64) -> Endpoint {
        let mut qos = [0; 64];
        (qos[0], qos[1], qos[2]) = (self.kind as u8, role as u8, u8::from(self.is_slice));
        qos[8..16].copy_from_slice(&self.size.to_le_bytes());
        Endpoint {
            kind: EndpointKind::Raw,
            number,
            node: String::new(),
            name: self.name.clone(),
            type_name: self.type_name.clone(),
            hash: [0; 32],
            qos,
        }
    }

    /// Decodes an announced endpoint; `None` if it doesn't belong to the raw layer.
    pub(super) fn parse(endpoint: &Endpoint) -> Option<(Self, Role)> {
        if endpoint.kind != EndpointKind::Raw {
            return None;
        }
        let kinds = [ChannelKind::Topic, ChannelKind::Queue, ChannelKind::Variable];
        let roles = [Role::Name, Role::Reader, Role::Writer, Role::Master];
        let kind = kinds.into_iter().find(|&kind| kind as u8 == endpoint.qos[0])?;
        let role = roles.into_iter().find(|&role| role as u8 == endpoint.qos[1])?;
        let size = u64::from_le_bytes(*endpoint.qos[8..].first_chunk()?);
        let (name, type_name) = (endpoint.name.clone(), endpoint.type_name.clone());
        Some((Self { name, kind, type_name, size, is_slice: endpoint.qos[2] != 0 }, role))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_what_is_understood() {
        let declared = Declared::new::<[u16; 3]>(ChannelKind::Variable, "pose").unwrap();
        for role in [Role::Name, Role::Reader, Role::Writer, Role::Master] {
            assert_eq!(Declared::parse(&declared.endpoint(role, 9)), Some((declared.clone(), role)));
        }
        let mut endpoint = declared.endpoint(Role::Name, 9);
        endpoint.qos[0] = 77;
        assert_eq!(Declared::parse(&endpoint), None);
        assert_eq!(declared.to_string(), "a variable of `[u16; 3]` (6 bytes)");
        assert_eq!(
            Declared::new::<[u8]>(ChannelKind::Queue, "q").unwrap().to_string(),
            "a queue of `[u8]` (elements of 1 bytes)"
        );
    }

    #[test]
    fn names_have_1_to_255_bytes() {
        assert!(matches!(
            Declared::new::<u8>(ChannelKind::Topic, ""),
            Err(OpenError::Name { length: 0, .. })
        ));
        assert!(Declared::new::<u8>(ChannelKind::Topic, &"x".repeat(255)).is_ok());
        let error = Declared::new::<u8>(ChannelKind::Topic, &"x".repeat(256)).unwrap_err();
        assert!(error.to_string().contains("256 bytes"), "{error}");
    }
}
