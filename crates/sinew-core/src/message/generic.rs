//! Messages and services of types that are known at run time only, by name and hash.

use super::type_support::TypeSupport;
use crate::sys::sync::Mutex;
use sinew_msg::description::TypeDescription;
use sinew_msg::{DecodeError, Encoding, Message, Service, ServiceType, TypeHash};
use std::collections::HashMap;
use std::sync::OnceLock;

/// Maximum number of types that a process may know by name and hash, so that a peer that names ever
/// new ones can't fill the memory.
pub(crate) const MOST_TYPES: usize = 4096;

/// Maximum length of a type name in bytes.
pub(crate) const LONGEST_NAME: usize = 512;

/// A message of any type in its CDR encoding: 4 bytes that identify the encoding, then the fields.
/// Corresponds to `rclcpp::SerializedMessage`.
///
/// The message type of publishers, subscriptions, clients and servers with a type that is known at
/// run time only: [`generic_publisher`](crate::Node::generic_publisher),
/// [`generic_subscription`](crate::Node::generic_subscription),
/// [`generic_client`](crate::Node::generic_client) and
/// [`generic_server`](crate::Node::generic_server). An ordinary `publisher::<SerializedMessage>`
/// publishes this Rust type itself, which stays in its process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SerializedMessage {
    bytes: Vec<u8>,
}

impl SerializedMessage {
    /// Creates a message from its encoded bytes, including the first 4.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    /// Returns the encoded bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the encoded bytes, by value.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl Message for SerializedMessage {
    /// The bytes are already encoded. As a type of its own it has no hash, so no other process
    /// takes it.
    const ENCODING: Option<&'static Encoding<Self>> = Some(&Encoding {
        name: "SerializedMessage",
        hash: TypeHash([0; 32]),
        description: None,
        size: |message| message.bytes.len(),
        encode: |message, encoded| encoded.copy_from_slice(&message.bytes),
        decode: |encoded| check(encoded).map(|()| Self { bytes: encoded.to_vec() }),
        decode_into: |encoded, message| {
            check(encoded)?;
            message.bytes.clear();
            message.bytes.extend_from_slice(encoded);
            Ok(())
        },
        plain: None,
        stamp: None,
    });
}

/// A service of any type: requests and responses are [`SerializedMessage`]s.
#[derive(Debug, Clone, Copy)]
pub enum GenericService {}

impl Service for GenericService {
    type Request = SerializedMessage;
    type Response = SerializedMessage;
}

/// The reason why a type can't be used by its name and hash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GenericTypeError {
    /// The name is not a type name.
    #[error(
        "`{name}` is not the name of a type: that is package/msg/Name (or srv, action), of at most {LONGEST_NAME} bytes"
    )]
    Name {
        /// The name as given, or its beginning.
        name: String,
    },
    /// The process knows too many types.
    #[error(
        "{name} can't be used: this process already knows {limit} types by name, the most that it may know"
    )]
    TooMany {
        /// The type.
        name: String,
        /// The limit.
        limit: usize,
    },
}

/// A type that is known by name and hash: a message, or a service.
///
/// It costs memory that is never freed, once for each name and hash in a process; at most 4096 of
/// them can exist.
#[derive(Clone, Copy)]
pub struct GenericType(&'static Tables);

/// The tables of a type, whether message or service.
struct Tables {
    service: ServiceType,
    message: TypeSupport,
    request: TypeSupport,
    response: TypeSupport,
    /// Description of the message or the service, once one was given.
    description: &'static OnceLock<TypeDescription>,
}

type KnownTypes = HashMap<(String, TypeHash), &'static Tables>;

fn known_types() -> &'static Mutex<KnownTypes> {
    static KNOWN: OnceLock<Mutex<KnownTypes>> = OnceLock::new();
    KNOWN.get_or_init(Mutex::default)
}

impl GenericType {
    /// Returns the type `package/msg/Name`, `package/srv/Name` .. with the hash of its description.
    ///
    /// ```
    /// use sinew::msg::{GenericType, TypeHash};
    /// let string = GenericType::new("std_msgs/msg/String", TypeHash([7; 32]))?;
    /// assert_eq!(string.name(), "std_msgs/msg/String");
    /// assert!(GenericType::new("String", TypeHash([7; 32])).is_err());
    /// # Ok::<(), sinew::error::GenericTypeError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`GenericTypeError`] if the name is not a type name, or there are too many types.
    pub fn new(name: &str, hash: TypeHash) -> Result<Self, GenericTypeError> {
        if !is_type_name(name) {
            let name = name.chars().take(80).collect();
            return Err(GenericTypeError::Name { name });
        }
        let mut known = known_types().lock();
        let key = (name.to_owned(), hash);
        if let Some(tables) = known.get(&key) {
            return Ok(Self(tables));
        }
        if known.len() >= MOST_TYPES {
            return Err(GenericTypeError::TooMany { name: name.to_owned(), limit: MOST_TYPES });
        }
        let keep = |name: String| -> &'static str { Box::leak(name.into_boxed_str()) };
        let unknown = || -> &'static OnceLock<TypeDescription> { Box::leak(Box::default()) };
        let (description, of_parts) = (unknown(), unknown()); // a service's messages are never given one
        let table = |name, description| TypeSupport::generic::<SerializedMessage>((name, hash), description);
        let name = keep(name.to_owned());
        let tables: &'static Tables = Box::leak(Box::new(Tables {
            service: ServiceType { name, hash },
            message: table(name, description),
            request: table(keep(format!("{name}_Request")), of_parts),
            response: table(keep(format!("{name}_Response")), of_parts),
            description,
        }));
        known.insert(key, tables);
        Ok(Self(tables))
    }

    /// Returns the type with this description, and with its name and hash. Tools can read the
    /// messages of its publishers, since they find the description; a service's description allows
    /// for [introspection](crate::erased::Server::configure_introspection).
    ///
    /// ```
    /// use sinew::msg::GenericType;
    /// use sinew_interfaces::std_msgs::msg::String;
    /// use sinew_msg::Message;
    /// let description = String::ENCODING.unwrap().description.unwrap().describe().unwrap();
    /// let string = GenericType::described(description)?;
    /// assert_eq!((string.name(), string.hash()), ("std_msgs/msg/String", String::ENCODING.unwrap().hash));
    /// # Ok::<(), sinew::error::GenericTypeError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn described(description: TypeDescription) -> Result<Self, GenericTypeError> {
        let known = Self::new(&description.type_description.type_name, description.hash())?;
        let _ = known.0.description.set(description); // a description with the same hash is the same
        Ok(known)
    }

    /// Returns the description that was given for a type with this name and hash.
    pub(crate) fn description_of(of: &ServiceType) -> Option<TypeDescription> {
        let tables = *known_types().lock().get(&(of.name.to_owned(), of.hash))?;
        tables.description.get().cloned()
    }

    /// Returns the ROS 2 type name.
    pub fn name(&self) -> &'static str {
        self.0.service.name
    }

    /// Returns the hash of its description.
    pub fn hash(&self) -> TypeHash {
        self.0.service.hash
    }

    pub(crate) fn message(self) -> &'static TypeSupport {
        &self.0.message
    }

    pub(crate) fn request(self) -> &'static TypeSupport {
        &self.0.request
    }

    pub(crate) fn response(self) -> &'static TypeSupport {
        &self.0.response
    }

    pub(crate) fn service(self) -> &'static ServiceType {
        &self.0.service
    }
}

impl std::fmt::Debug for GenericType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GenericType({} {})", self.name(), self.hash())
    }
}

pub(crate) fn is_type_name(name: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphabetic())
            && part.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    };
    let mut parts = name.split('/');
    let (package, kind, base) = (parts.next(), parts.next(), parts.next());
    name.len() <= LONGEST_NAME
        && parts.next().is_none()
        && [package, base].iter().all(|part| part.is_some_and(is_part))
        && matches!(kind, Some("msg" | "srv" | "action"))
}

/// Length of the shortest encoded message: only the 4 bytes that identify the encoding.
const HEADER: usize = 4;

/// Checks whether bytes may be an encoded message of any type; readers check the rest.
pub(crate) fn check(encoded: &[u8]) -> Result<(), DecodeError> {
    if encoded.len() >= HEADER {
        return Ok(());
    }
    Err(DecodeError::Truncated {
        type_name: "SerializedMessage",
        field: "representation header",
        length: encoded.len(),
        needed: HEADER,
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_known_once() {
        let one = GenericType::new("some_msgs/msg/Once", TypeHash([1; 32])).unwrap();
        let same = GenericType::new("some_msgs/msg/Once", TypeHash([1; 32])).unwrap();
        let other = GenericType::new("some_msgs/msg/Once", TypeHash([2; 32])).unwrap();
        assert!(one.message().is(same.message()));
        assert!(!one.message().is(other.message()));
        assert!(!one.message().exchanges_with(other.message()));
        assert!(!one.message().is(TypeSupport::of::<SerializedMessage>()));
        assert!(!TypeSupport::of::<SerializedMessage>().exchanges_with(one.message()));
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for name in ["", "String", "a/b", "a/msg/", "/msg/A", "a/msg/A/B", "a/idl/A", "a b/msg/A", "a/msg/7"]
        {
            assert!(
                matches!(GenericType::new(name, TypeHash([0; 32])), Err(GenericTypeError::Name { .. })),
                "{name}"
            );
        }
        let long = format!("a/msg/{}", "A".repeat(600));
        assert!(GenericType::new(&long, TypeHash([0; 32])).is_err());
        assert!(GenericType::new("a/action/Move_SendGoal", TypeHash([0; 32])).is_ok());
    }
}
