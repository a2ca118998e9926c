//! Liveliness tokens: one for each node and each of its endpoints. ROS 2's graph consists of them.
//!
//! `@ros2_lv/<domain>/<session>/<node id>/<id>/<kind>/<enclave>/<namespace>/<node>`, for an
//! endpoint followed by `/<name>/<type>/<hash>/<qos>`, and for one with buffers in its messages by
//! `/backends:..`.

use super::name::{self, demangled, mangled, shown};
use super::qos::{self, QosChunkError};
use sinew::QoS;
use sinew::msg::TypeHash;
use std::fmt::Write;

/// The first part of all tokens.
pub const ADMIN_SPACE: &str = "@ros2_lv";

/// The chunk of an endpoint that takes messages of publishers with buffers as ordinary messages
/// (Lyrical 0.10.5 and later).
pub const CPU_BACKEND: &str = "backends:cpu:";

/// Longest token that is read, in bytes.
const LONGEST: usize = 4096;

/// The kind of entity that a token announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TokenKind {
    /// A node.
    Node,
    /// A publisher.
    Publisher,
    /// A subscription.
    Subscription,
    /// A server of a service.
    Server,
    /// A client of a service.
    Client,
}

impl TokenKind {
    const ALL: [Self; 5] = [Self::Node, Self::Publisher, Self::Subscription, Self::Server, Self::Client];

    fn chunk(self) -> &'static str {
        match self {
            Self::Node => "NN",
            Self::Publisher => "MP",
            Self::Subscription => "MS",
            Self::Server => "SS",
            Self::Client => "SC",
        }
    }
}

/// The content of a token.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// The domain.
    pub domain: u32,
    /// The session, as zenoh writes its id.
    pub session: String,
    /// The node's number in its session.
    pub node_id: u64,
    /// The endpoint's number in its session; for a node, the node's number.
    pub id: u64,
    /// The kind of entity.
    pub kind: TokenKind,
    /// The security enclave, `/` if there is none.
    pub enclave: String,
    /// The node's namespace.
    pub namespace: String,
    /// The node's name.
    pub node: String,
    /// The details of an endpoint; `None` for a node.
    pub end: Option<TokenEnd>,
}

/// A token's details of a publisher, subscription, server or client.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenEnd {
    /// The full name of its topic or service.
    pub name: String,
    /// The ROS 2 type name; for a service, the service's type.
    pub type_name: String,
    /// The type's hash; `None` for Humble, which has none, so that nothing matches.
    pub hash: Option<TypeHash>,
    /// The QoS that it offers or requests.
    pub qos: QoS,
    /// The last chunk, for an endpoint with buffers in its messages.
    pub backends: Option<String>,
}

/// The reason why a text is not a valid token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// A chunk is missing.
    #[error("it has {chunks} parts between slashes, where {wanted} are expected")]
    Short {
        /// Number of chunks.
        chunks: usize,
        /// Least number of chunks.
        wanted: usize,
    },
    /// It is longer than any token.
    #[error("it has {length} bytes, more than the {LONGEST} that a token has at most")]
    Long {
        /// The length, in bytes.
        length: usize,
    },
    /// A chunk is invalid.
    #[error("its {chunk} is `{value}`, {expected}")]
    Chunk {
        /// The chunk's name.
        chunk: &'static str,
        /// Its text.
        value: String,
        /// The expected form.
        expected: &'static str,
    },
    /// The QoS is invalid.
    #[error(transparent)]
    Qos(#[from] QosChunkError),
}

/// Humble's tokens have this text instead of a hash.
const NO_HASH: &str = "TypeHashNotSupported";

/// Returns the session and the entity's number that a token's key names; empty and 0 if it is not a
/// token.
pub fn entity_of(key: &str) -> (&str, u64) {
    let mut parts = key.split('/').skip(2);
    let session = parts.next().unwrap_or_default();
    (session, parts.nth(1).and_then(|id| id.parse().ok()).unwrap_or_default())
}

impl Token {
    /// Returns the node's full name.
    pub fn full_node(&self) -> String {
        match self.namespace.as_str() {
            "/" => format!("/{}", self.node),
            namespace => format!("{namespace}/{}", self.node),
        }
    }

    /// Returns the token's key.
    pub fn to_key(&self) -> String {
        let Self { domain, session, node_id, id, kind, enclave, namespace, node, end } = self;
        let [enclave, namespace, node] = [enclave, namespace, node].map(|name| mangled(name));
        let mut key = format!(
            "{ADMIN_SPACE}/{domain}/{session}/{node_id}/{id}/{}/{enclave}/{namespace}/{node}",
            kind.chunk()
        );
        if let Some(TokenEnd { name, type_name, hash, qos, backends }) = end {
            let dds = name::to_dds(type_name).unwrap_or_else(|| type_name.clone());
            let hash = hash.map_or_else(|| NO_HASH.to_owned(), |hash| hash.to_string());
            let (name, dds, qos) = (mangled(name), mangled(&dds), qos::to_chunk(qos));
            // Writing to a `String` can't fail.
            let _ = write!(key, "/{name}/{dds}/{hash}/{qos}");
            if let Some(backends) = backends {
                let _ = write!(key, "/{backends}");
            }
        }
        key
    }

    /// Parses a token's key.
    ///
    /// ```
    /// use sinew_zenoh::wire::token::{Token, TokenKind};
    /// let token = Token::parse("@ros2_lv/2/aac3178e146ba6f1fc6e6a4085e77f21/0/0/NN/%/%/listener")?;
    /// assert_eq!((token.domain, token.kind, token.node.as_str()), (2, TokenKind::Node, "listener"));
    /// # Ok::<(), sinew_zenoh::wire::token::TokenError>(())
    /// ```
    ///
    /// # Errors
    /// [`TokenError`]
    pub fn parse(key: &str) -> Result<Self, TokenError> {
        if key.len() > LONGEST {
            return Err(TokenError::Long { length: key.len() });
        }
        let chunks: Vec<_> = key.split('/').collect();
        let [space, domain, session, node_id, id, kind, enclave, namespace, node, ref rest @ ..] = chunks[..]
        else {
            return Err(TokenError::Short { chunks: chunks.len(), wanted: 9 });
        };
        let wrong = |chunk, value: &str, expected| TokenError::Chunk { chunk, value: shown(value), expected };
        let number = |chunk, value: &str| {
            name::number::<u64>(value).ok_or_else(|| wrong(chunk, value, "not a number"))
        };
        if space != ADMIN_SPACE {
            return Err(wrong("beginning", space, "not @ros2_lv"));
        }
        let known = TokenKind::ALL.into_iter().find(|known| known.chunk() == kind);
        let kind = known.ok_or_else(|| wrong("kind", kind, "not one of NN, MP, MS, SS and SC"))?;
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if session.is_empty() || session.len() > 32 || !session.bytes().all(is_digit) {
            return Err(wrong("session", session, "not 1 to 32 hexadecimal digits"));
        }
        let [enclave, namespace, node_name] = [enclave, namespace, node].map(demangled);
        if !enclave.chars().all(|character| character.is_ascii_graphic()) {
            return Err(wrong("enclave", &enclave, "not the path of one"));
        }
        if !name::is_namespace(&namespace) {
            return Err(wrong("namespace", &namespace, "not a namespace"));
        }
        if node_name.contains('/') || !name::is_full_name(&format!("/{node_name}")) {
            return Err(wrong("node", &node_name, "not a node's name"));
        }
        Ok(Self {
            domain: name::number(domain).ok_or_else(|| wrong("domain", domain, "not a number"))?,
            session: session.to_owned(),
            node_id: number("node id", node_id)?,
            id: number("id", id)?,
            kind,
            enclave,
            namespace,
            node: node_name,
            end: if kind == TokenKind::Node { None } else { Some(TokenEnd::parse(rest)?) },
        })
    }
}

impl TokenEnd {
    fn parse(chunks: &[&str]) -> Result<Self, TokenError> {
        let [name, dds, hash, qos, rest @ ..] = chunks else {
            return Err(TokenError::Short { chunks: 9 + chunks.len(), wanted: 13 });
        };
        let wrong = |chunk, value: &str, expected| TokenError::Chunk { chunk, value: shown(value), expected };
        let (name, dds) = (demangled(name), demangled(dds));
        if !name::is_full_name(&name) {
            return Err(wrong("name", &name, "not the full name of a topic or a service"));
        }
        let type_name =
            name::from_dds(&dds).ok_or_else(|| wrong("type", &dds, "not a type's name in DDS"))?;
        let parsed = hash.parse().ok();
        if parsed.is_none() && *hash != NO_HASH {
            return Err(wrong("hash", hash, "not RIHS01_ and 64 hexadecimal digits"));
        }
        let is_backends = |chunk: &&&str| {
            chunk.starts_with("backends:") && chunk.bytes().all(|byte| byte.is_ascii_graphic())
        };
        let backends = rest.first().filter(is_backends);
        Ok(Self {
            name,
            type_name,
            hash: parsed,
            qos: qos::parse_chunk(qos)?,
            backends: backends.map(|chunk| (*chunk).to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STRING: &str = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";

    fn talker() -> Token {
        Token {
            domain: 2,
            session: "8b20917502ee955ac4476e0266340d5c".to_owned(),
            node_id: 0,
            id: 10,
            kind: TokenKind::Publisher,
            enclave: "/".to_owned(),
            namespace: "/".to_owned(),
            node: "talker".to_owned(),
            end: Some(TokenEnd {
                name: "/chatter".to_owned(),
                type_name: "std_msgs/msg/String".to_owned(),
                hash: STRING.parse().ok(),
                qos: QoS::new().keep_last(7),
                backends: None,
            }),
        }
    }

    #[test]
    fn as_the_design_document_has_them() {
        let key = format!(
            "@ros2_lv/2/8b20917502ee955ac4476e0266340d5c/0/10/MP/%/%/talker/%chatter/std_msgs::msg::dds_::String_/{STRING}/::,7:,:,:,,"
        );
        assert_eq!(talker().to_key(), key);
        assert_eq!(Token::parse(&key), Ok(talker()));

        let node = "@ros2_lv/2/aac3178e146ba6f1fc6e6a4085e77f21/0/0/NN/%/%/listener";
        let listener = Token::parse(node).unwrap();
        assert_eq!((listener.full_node().as_str(), listener.end.as_ref()), ("/listener", None));
        assert_eq!(listener.to_key(), node);
    }

    #[test]
    fn a_namespace_and_buffers() {
        let mut token = talker();
        token.namespace = "/robot1/arm".to_owned();
        token.end.as_mut().unwrap().backends = Some(CPU_BACKEND.to_owned());
        let key = token.to_key();
        assert!(
            key.contains("/%robot1%arm/talker/%chatter/") && key.ends_with("/::,7:,:,:,,/backends:cpu:"),
            "{key}"
        );
        assert_eq!(token.full_node(), "/robot1/arm/talker");
        assert_eq!(Token::parse(&key), Ok(token));
        // Later releases may append chunks.
        assert!(Token::parse(&format!("{key}/more/and/more")).is_ok());
    }

    #[test]
    fn humble_has_no_hash() {
        let key = talker().to_key().replace(STRING, NO_HASH);
        let token = Token::parse(&key).unwrap();
        assert_eq!(token.end.as_ref().unwrap().hash, None);
        assert_eq!(token.to_key(), key);
    }

    #[test]
    fn what_is_none_is_refused() {
        let key = talker().to_key();
        for (from, to, chunk) in [
            ("@ros2_lv", "@ros3", "beginning"),
            ("/2/", "/x/", "domain"),
            ("/2/", "/-1/", "domain"),
            ("/2/", "/+2/", "domain"),
            ("8b20", "8B20", "session"),
            ("/0/10/", "/0/+10/", "id"),
            ("/%/%/talker", "/\u{7}/%/talker", "enclave"),
            ("/0/10/", "/x/10/", "node id"),
            ("/0/10/", "/0//", "id"),
            ("/MP/", "/XX/", "kind"),
            ("/%/talker", "/%%/talker", "namespace"),
            ("/talker", "/tal ker", "node"),
            ("/talker", "/", "node"),
            ("%chatter", "chatter", "name"),
            ("%chatter", "%", "name"),
            ("%chatter", "%{node}", "name"),
            ("std_msgs::msg::dds_::String_", "String", "type"),
            ("RIHS01_df", "RIHS01_DF", "hash"),
        ] {
            let error = Token::parse(&key.replacen(from, to, 1)).unwrap_err();
            assert!(
                matches!(error, TokenError::Chunk { chunk: found, .. } if found == chunk),
                "{to}: {error}"
            );
        }
        assert_eq!(Token::parse(""), Err(TokenError::Short { chunks: 1, wanted: 9 }));
        let end = key.rsplit_once('/').unwrap().0;
        assert_eq!(Token::parse(end), Err(TokenError::Short { chunks: 12, wanted: 13 }));
        assert!(matches!(Token::parse(&key.replace("::,7:", "::,x:")), Err(TokenError::Qos(_))));
        assert_eq!(Token::parse(&"x".repeat(5000)), Err(TokenError::Long { length: 5000 }));
    }

    proptest! {
        #[test]
        fn any_text_is_understood_or_refused(text: String, chunks in proptest::collection::vec("[@a-zA-Z0-9_%:,.*]{0,12}", 0..16)) {
            let _ = (Token::parse(&text), Token::parse(&chunks.join("/")));
        }

        #[test]
        fn a_broken_token_is_understood_or_refused(at in 0usize..200, character: char) {
            let mut key: Vec<char> = talker().to_key().chars().collect();
            if let Some(place) = key.get_mut(at) {
                *place = character;
            }
            let _ = Token::parse(&key.into_iter().collect::<String>());
        }
    }
}
