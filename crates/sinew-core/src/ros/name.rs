//! Names of nodes, namespaces, topics and services, by the rules of ROS 2.
//!
//! A name as the user writes it is *relative* (`image/raw`, in the node's namespace), *absolute*
//! (`/camera/image`) or *private* (`~` and `~/image`, under the node itself), and may contain the
//! substitutions `{node}`, `{ns}` and `{namespace}`. [`expand`] makes it *fully qualified*:
//! absolute, with nothing left to replace. Two entities talk on a topic when their fully qualified
//! names are equal, byte for byte.
//!
//! The rules are those of the design article "Topic and Service name mapping to DDS"
//! (design.ros2.org, `topic_and_service_names`) as `rcl` and `rmw` enforce them, so every name made
//! here is valid in ROS 2. Where the article and that code differ, we follow the code: repeated
//! underscores are allowed. In one place we accept more: in the root namespace `{ns}/image` is
//! `/image`, where `rcl` makes `//image` and then refuses it.

/// Longest node name in bytes (`RMW_NODE_NAME_MAX_NAME_LENGTH`).
const NODE_NAME_LIMIT: usize = 255;
/// Longest fully qualified topic or service name in bytes (`RMW_TOPIC_MAX_NAME_LENGTH`).
const TOPIC_NAME_LIMIT: usize = 247;
/// Longest namespace in bytes (`RMW_NAMESPACE_MAX_LENGTH`): it leaves room for the shortest topic,
/// `/x`.
const NAMESPACE_LIMIT: usize = TOPIC_NAME_LIMIT - 2;

/// The kind of name in a [`NameError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameKind {
    /// A node's own name, one token: `camera`.
    Node,
    /// The namespace of a node, always absolute: `/robot/left`, or `/` for the root.
    Namespace,
    /// The name of a topic.
    Topic,
    /// The name of a service.
    Service,
}

impl NameKind {
    /// Returns the characters allowed in a name of this kind, for error messages.
    fn alphabet(self) -> &'static str {
        match self {
            Self::Node => "ASCII letters, digits and `_` (the namespace is given separately)",
            Self::Namespace => "ASCII letters, digits, `_` and `/`",
            Self::Topic | Self::Service => {
                "ASCII letters, digits, `_`, `/`, a leading `~`, `{node}`, `{ns}` and `{namespace}`"
            }
        }
    }
}

impl std::fmt::Display for NameKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Node => "node name",
            Self::Namespace => "namespace",
            Self::Topic => "topic name",
            Self::Service => "service name",
        })
    }
}

/// The reason why a name is not a valid ROS 2 name.
///
/// Each variant has the whole name (`name`, with its `kind`) and the byte `position` in it, counted
/// from 0, where the first problem starts. The message says what would be right.
///
/// ```
/// use sinew::Arguments;
/// use sinew::error::{ArgumentError, NameError, RemapError};
///
/// let error = Arguments::parse(["camera", "--ros-args", "-r", "image:=left//image"]).unwrap_err();
/// let ArgumentError::Remap { error: RemapError::InvalidName { error, .. }, .. } = error else { panic!("{error}") };
/// assert!(matches!(error, NameError::EmptyToken { position: 5, .. }));
/// assert_eq!(
///     error.to_string(),
///     "topic name `left//image` is invalid at byte 5: a name has no empty token between slashes",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the fields that all variants share are described above")]
#[non_exhaustive]
pub enum NameError {
    /// The name has no characters.
    #[error("a {kind} is empty; it needs at least one character")]
    Empty { kind: NameKind },

    /// The name has to be absolute and doesn't start with a slash.
    #[error("{kind} `{}` is invalid at byte 0: it starts with a slash, as in `/robot`", .name.escape_debug())]
    NotAbsolute { kind: NameKind, name: String },

    /// Two slashes stand side by side.
    #[error(
        "{kind} `{}` is invalid at byte {position}: a name has no empty token between slashes",
        .name.escape_debug()
    )]
    EmptyToken { kind: NameKind, name: String, position: usize },

    /// The name ends with a slash. Only the root namespace, `/`, does.
    #[error(
        "{kind} `{}` is invalid at byte {position}: a name does not end with a slash",
        .name.escape_debug()
    )]
    TrailingSlash { kind: NameKind, name: String, position: usize },

    /// A token, i.e. a part between slashes, starts with a digit.
    #[error(
        "{kind} `{}` is invalid at byte {position}: a token starts with a letter or `_`, not with a digit",
        .name.escape_debug()
    )]
    LeadingDigit { kind: NameKind, name: String, position: usize },

    /// A character that no name of this kind contains.
    #[error(
        "{kind} `{}` is invalid at byte {position}: {character:?} is not allowed; a {kind} is made of {}",
        .name.escape_debug(), .kind.alphabet()
    )]
    ForbiddenCharacter { kind: NameKind, name: String, position: usize, character: char },

    /// A `~` that isn't the first token.
    #[error(
        "{kind} `{}` is invalid at byte {position}: `~` is only allowed as the whole first token, as in `~/image`",
        .name.escape_debug()
    )]
    MisplacedTilde { kind: NameKind, name: String, position: usize },

    /// A `{` without its `}` in the same token, or the other way round, or one substitution inside
    /// another.
    #[error(
        "{kind} `{}` is invalid at byte {position}: this brace has no partner in its token; \
         a substitution is written like `{{node}}`",
        .name.escape_debug()
    )]
    UnbalancedBrace { kind: NameKind, name: String, position: usize },

    /// Braces around anything but `node`, `ns` or `namespace`.
    #[error(
        "{kind} `{}` is invalid at byte {position}: this substitution is unknown; \
         the known ones are `{{node}}`, `{{ns}}` and `{{namespace}}`",
        .name.escape_debug()
    )]
    UnknownSubstitution { kind: NameKind, name: String, position: usize },

    /// The name has more bytes than ROS 2 allows.
    #[error("{kind} `{name}` is too long: it has {} bytes, the limit is {limit}", .name.len())]
    TooLong { kind: NameKind, name: String, limit: usize },

    /// The name is well written, but its expansion in this node's namespace is invalid.
    #[error("{kind} `{name}` can't be used here, as it expands to an invalid name: {problem}")]
    Expanded {
        /// Its kind.
        kind: NameKind,
        /// The name as written.
        name: String,
        /// The problem of the expanded name; the position is one in that name.
        problem: Box<NameError>,
    },
}

impl NameError {
    /// Returns the kind of the name.
    pub fn kind(&self) -> NameKind {
        match self {
            Self::Empty { kind }
            | Self::NotAbsolute { kind, .. }
            | Self::EmptyToken { kind, .. }
            | Self::TrailingSlash { kind, .. }
            | Self::LeadingDigit { kind, .. }
            | Self::ForbiddenCharacter { kind, .. }
            | Self::MisplacedTilde { kind, .. }
            | Self::UnbalancedBrace { kind, .. }
            | Self::UnknownSubstitution { kind, .. }
            | Self::TooLong { kind, .. }
            | Self::Expanded { kind, .. } => *kind,
        }
    }

    /// Returns the name, as it was given.
    pub fn name(&self) -> &str {
        match self {
            Self::Empty { .. } => "",
            Self::NotAbsolute { name, .. }
            | Self::EmptyToken { name, .. }
            | Self::TrailingSlash { name, .. }
            | Self::LeadingDigit { name, .. }
            | Self::ForbiddenCharacter { name, .. }
            | Self::MisplacedTilde { name, .. }
            | Self::UnbalancedBrace { name, .. }
            | Self::UnknownSubstitution { name, .. }
            | Self::TooLong { name, .. }
            | Self::Expanded { name, .. } => name,
        }
    }

    /// Returns the byte at which the first problem starts, counted from 0: in the name, or in what
    /// it expands to.
    pub fn position(&self) -> usize {
        match self {
            Self::Empty { .. } | Self::NotAbsolute { .. } => 0,
            Self::EmptyToken { position, .. }
            | Self::TrailingSlash { position, .. }
            | Self::LeadingDigit { position, .. }
            | Self::ForbiddenCharacter { position, .. }
            | Self::MisplacedTilde { position, .. }
            | Self::UnbalancedBrace { position, .. }
            | Self::UnknownSubstitution { position, .. } => *position,
            Self::TooLong { limit, .. } => *limit,
            Self::Expanded { problem, .. } => problem.position(),
        }
    }
}

/// Checks the name of a node: one token of at most 255 bytes.
pub(crate) fn validate_node_name(name: &str) -> Result<(), NameError> {
    let scan = Scan { kind: NameKind::Node, name, substitutions: false };
    if name.is_empty() {
        return Err(NameError::Empty { kind: scan.kind });
    }
    scan.token(0, name)?;
    scan.length(NODE_NAME_LIMIT)
}

/// Checks a namespace: `/`, or an absolute name of at most 245 bytes.
pub(crate) fn validate_namespace(namespace: &str) -> Result<(), NameError> {
    if namespace == "/" {
        return Ok(());
    }
    let scan = Scan { kind: NameKind::Namespace, name: namespace, substitutions: false };
    scan.absolute()?;
    scan.length(NAMESPACE_LIMIT)
}

/// Checks the name of a topic or a service as the user writes it. Its length is known, and checked,
/// only when it is expanded.
pub(crate) fn validate_name(kind: NameKind, topic: &str) -> Result<(), NameError> {
    let scan = Scan { kind, name: topic, substitutions: true };
    match topic.as_bytes() {
        [] => Err(NameError::Empty { kind: scan.kind }),
        [b'~'] => Ok(()),
        [b'~', b'/', ..] => scan.tokens(2),
        [b'~', ..] => Err(NameError::MisplacedTilde { kind: scan.kind, name: topic.into(), position: 0 }),
        [b'/', ..] => scan.tokens(1),
        _ => scan.tokens(0),
    }
}

/// Returns the fully qualified name of a topic or a service (`kind` says which) that `node` in
/// `namespace` calls `topic`.
///
/// `node` and `namespace` have been validated. The result is absolute, without substitutions, and
/// at most 247 bytes long; expanding it again changes nothing.
pub(crate) fn expand(kind: NameKind, topic: &str, node: &str, namespace: &str) -> Result<String, NameError> {
    validate_name(kind, topic)?;
    let replaced = substitute(topic, node, namespace);
    let name = if let Some(private) = replaced.strip_prefix('~') {
        fully_qualified(node, namespace) + private
    } else if replaced.starts_with('/') {
        replaced
    } else {
        fully_qualified(&replaced, namespace)
    };

    // Substitutions and the namespace can still make a name too long or, as in `/{ns}`, put two
    // slashes together.
    let scan = Scan { kind, name: &name, substitutions: false };
    match scan.absolute().and_then(|()| scan.length(TOPIC_NAME_LIMIT)) {
        Ok(()) => Ok(name),
        Err(problem) if name == topic => Err(problem),
        Err(problem) => Err(NameError::Expanded { kind, name: topic.into(), problem: Box::new(problem) }),
    }
}

/// Returns the absolute name of `node` in `namespace`: `/robot/camera`, or `/camera` in the root
/// namespace.
pub(crate) fn fully_qualified(node: &str, namespace: &str) -> String {
    format!("{}/{node}", namespace.strip_suffix('/').unwrap_or(namespace))
}

/// Replaces the substitutions in `topic`, which has been validated.
fn substitute(topic: &str, node: &str, namespace: &str) -> String {
    let mut replaced = String::with_capacity(topic.len() + node.len() + namespace.len());
    let mut rest = topic;
    while let Some((before, (substitution, after))) =
        rest.split_once('{').and_then(|(before, tail)| Some((before, tail.split_once('}')?)))
    {
        replaced.push_str(before);
        replaced.push_str(match substitution {
            "node" => node,
            // The following slash is the root's own.
            _ if namespace == "/" && after.starts_with('/') => "",
            _ => namespace,
        });
        rest = after;
    }
    replaced + rest
}

/// A name under examination. Every method finds the leftmost problem of its part.
#[derive(Clone, Copy)]
struct Scan<'a> {
    kind: NameKind,
    name: &'a str,
    /// Whether braces are allowed in the name: only before it is expanded.
    substitutions: bool,
}

impl Scan<'_> {
    fn absolute(self) -> Result<(), NameError> {
        let Self { kind, name, .. } = self;
        match name.as_bytes() {
            [] => Err(NameError::Empty { kind }),
            [b'/', ..] => self.tokens(1),
            _ => Err(NameError::NotAbsolute { kind, name: name.into() }),
        }
    }

    fn length(self, limit: usize) -> Result<(), NameError> {
        if self.name.len() > limit {
            return Err(NameError::TooLong { kind: self.kind, name: self.name.into(), limit });
        }
        Ok(())
    }

    /// Checks the tokens between slashes from byte `position` to the end.
    fn tokens(self, mut position: usize) -> Result<(), NameError> {
        let Self { kind, name, .. } = self;
        for token in name[position..].split('/') {
            if token.is_empty() {
                let name = name.to_owned();
                return Err(if position == name.len() {
                    NameError::TrailingSlash { kind, name, position: position - 1 }
                } else {
                    NameError::EmptyToken { kind, name, position }
                });
            }
            self.token(position, token)?;
            position += token.len() + 1;
        }
        Ok(())
    }

    /// Checks one token, not empty, that starts at byte `start` of the name.
    fn token(self, start: usize, token: &str) -> Result<(), NameError> {
        let Self { kind, name, substitutions } = self;
        let mut open: Option<usize> = None; // the open `{`, as an index in the token
        for (at, character) in token.char_indices() {
            let position = start + at;
            match character {
                '0'..='9' if at == 0 => {
                    return Err(NameError::LeadingDigit { kind, name: name.into(), position });
                }
                'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => {}
                '{' if substitutions && open.is_none() => open = Some(at),
                '}' if substitutions && let Some(brace) = open.take() => {
                    if !matches!(&token[brace + 1..at], "node" | "ns" | "namespace") {
                        let position = start + brace;
                        return Err(NameError::UnknownSubstitution { kind, name: name.into(), position });
                    }
                }
                '{' | '}' if substitutions => {
                    return Err(NameError::UnbalancedBrace { kind, name: name.into(), position });
                }
                '~' if substitutions => {
                    return Err(NameError::MisplacedTilde { kind, name: name.into(), position });
                }
                _ => {
                    let name = name.into();
                    return Err(NameError::ForbiddenCharacter { kind, name, position, character });
                }
            }
        }
        match open {
            Some(brace) => {
                Err(NameError::UnbalancedBrace { kind, name: name.into(), position: start + brace })
            }
            None => Ok(()),
        }
    }
}

/// Returns `true` if a part of a name begins with `_`: such names are for tools, and are shown only
/// on request.
/// (<https://design.ros2.org/articles/topic_and_service_names.html#hidden-topic-or-service-names>)
///
/// ```
/// use sinew::names::is_hidden;
/// assert!(is_hidden("/fibonacci/_action/status") && is_hidden("/_tool"));
/// assert!(!is_hidden("/left_arm/joint_states"));
/// ```
#[must_use]
pub fn is_hidden(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with('_'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_hidden_part_hides_all() {
        assert!(is_hidden("/_tool") && is_hidden("/a/_feedback/b"));
        assert!(!is_hidden("/a_b/c_") && !is_hidden("/"));
    }

    fn expand(topic: &str, node: &str, namespace: &str) -> Result<String, NameError> {
        super::expand(NameKind::Topic, topic, node, namespace)
    }

    fn validate_topic_name(topic: &str) -> Result<(), NameError> {
        validate_name(NameKind::Topic, topic)
    }

    #[test]
    fn names_expand_like_in_ros() {
        for (topic, node, namespace, expected) in [
            ("image", "camera", "/", "/image"),
            ("image", "camera", "/robot", "/robot/image"),
            ("image/raw", "camera", "/robot/left", "/robot/left/image/raw"),
            ("/image", "camera", "/robot", "/image"),
            ("~", "camera", "/", "/camera"),
            ("~", "camera", "/robot", "/robot/camera"),
            ("~/image", "camera", "/", "/camera/image"),
            ("~/image", "camera", "/robot", "/robot/camera/image"),
            ("{node}", "camera", "/robot", "/robot/camera"),
            ("/{node}/image", "camera", "/robot", "/camera/image"),
            ("~/{node}_image", "camera", "/robot", "/robot/camera/camera_image"),
            ("{ns}/image", "camera", "/robot", "/robot/image"),
            ("{namespace}/image", "camera", "/robot", "/robot/image"),
            ("{ns}/image", "camera", "/", "/image"),
            ("/all{ns}/{node}", "camera", "/robot", "/all/robot/camera"),
            ("/all{ns}/{node}", "camera", "/", "/all/camera"),
            ("_hidden/two__underscores_", "camera", "/", "/_hidden/two__underscores_"),
            ("A1", "camera", "/", "/A1"),
        ] {
            assert_eq!(expand(topic, node, namespace).as_deref(), Ok(expected), "{topic} in {namespace}");
        }
    }

    #[test]
    fn a_problem_in_a_topic_name_is_located() {
        for (topic, message) in [
            ("", "a topic name is empty; it needs at least one character"),
            ("/", "`/` is invalid at byte 0: a name does not end"),
            ("foo/", "`foo/` is invalid at byte 3: a name does not end"),
            ("~/", "`~/` is invalid at byte 1: a name does not end"),
            ("//", "`//` is invalid at byte 1: a name has no empty token"),
            ("/foo//bar", "`/foo//bar` is invalid at byte 5: a name has no empty token between slashes"),
            ("~//bar", "at byte 2: a name has no empty token"),
            ("1st", "at byte 0: a token starts with a letter or `_`"),
            ("/foo/2nd", "at byte 5: a token starts with"),
            ("~foo", "at byte 0: `~` is only allowed as the whole first token"),
            ("~~", "at byte 0: `~` is only"),
            ("/~/foo", "at byte 1: `~` is only"),
            ("foo/b~r", "at byte 5: `~` is only"),
            ("foo bar", "at byte 3: ' ' is not allowed; a topic name is made of ASCII letters, digits"),
            ("foo-bar", "at byte 3: '-' is not"),
            ("foo/bår/", "at byte 5: 'å' is not"),
            ("foo\n", r"topic name `foo\n` is invalid at byte 3: '\n' is not"),
            ("foo/{node", "at byte 4: this brace has no partner"),
            ("foo/{no/de}", "at byte 4: this brace"),
            ("foo/node}", "at byte 8: this brace"),
            ("{{node}}", "at byte 1: this brace"),
            ("{node}{ns}}", "at byte 10: this brace"),
            ("foo/{}", "at byte 4: this substitution is unknown; the known ones are `{node}`, `{ns}` and"),
            ("{name}", "at byte 0: this substitution"),
        ] {
            let error = expand(topic, "camera", "/").expect_err(topic);
            assert!(error.to_string().contains(message), "{topic}: {error}");
        }
    }

    #[test]
    fn a_service_s_name_is_called_so() {
        for (name, message) in [
            (
                "add two",
                "service name `add two` is invalid at byte 3: ' ' is not allowed; a service name is made of",
            ),
            (
                "/all/{ns}",
                "service name `/all/{ns}` can't be used here, as it expands to an invalid name: service name",
            ),
        ] {
            let error =
                super::expand(NameKind::Service, name, "camera", "/robot").expect_err(name).to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[test]
    fn expanding_can_make_a_name_invalid() {
        let error = expand("/all/{ns}", "camera", "/robot").unwrap_err();
        let problem =
            NameError::EmptyToken { kind: NameKind::Topic, name: "/all//robot".into(), position: 5 };
        assert_eq!(
            error,
            NameError::Expanded {
                kind: NameKind::Topic,
                name: "/all/{ns}".into(),
                problem: Box::new(problem)
            }
        );
        assert_eq!(
            error.to_string(),
            "topic name `/all/{ns}` can't be used here, as it expands to an invalid name: topic name \
             `/all//robot` is invalid at byte 5: a name has no empty token between slashes",
        );

        let error = expand("{ns}1", "camera", "/").unwrap_err().to_string();
        assert!(error.contains("`/1` is invalid at byte 1: a token starts with"), "{error}");
    }

    #[test]
    fn a_name_has_the_length_limit_of_ros() {
        let of = |bytes: usize| "x".repeat(bytes);
        let absolute = |bytes: usize| format!("/{}", of(bytes - 1));

        assert_eq!(validate_node_name(&of(255)), Ok(()));
        let error = validate_node_name(&of(256)).unwrap_err();
        assert_eq!(error, NameError::TooLong { kind: NameKind::Node, name: of(256), limit: 255 });
        assert!(error.to_string().ends_with("is too long: it has 256 bytes, the limit is 255"), "{error}");

        assert_eq!(validate_namespace(&absolute(245)), Ok(()));
        let error = validate_namespace(&absolute(246)).unwrap_err();
        let (kind, name) = (NameKind::Namespace, absolute(246));
        assert_eq!(error, NameError::TooLong { kind, name, limit: 245 });

        let kind = NameKind::Topic;
        assert_eq!(expand(&absolute(247), "camera", "/"), Ok(absolute(247)));
        let error = expand(&absolute(248), "camera", "/").unwrap_err();
        assert_eq!(error, NameError::TooLong { kind, name: absolute(248), limit: 247 });
        let error = expand("xyz", "camera", &absolute(244)).unwrap_err();
        let problem = NameError::TooLong { kind, name: absolute(244) + "/xyz", limit: 247 };
        assert_eq!(error, NameError::Expanded { kind, name: "xyz".into(), problem: Box::new(problem) });
    }

    #[test]
    fn a_node_name_is_one_token() {
        for name in ["camera", "_camera", "Camera_2", "a__b"] {
            assert_eq!(validate_node_name(name), Ok(()), "{name}");
        }
        for (name, message) in [
            ("", "a node name is empty"),
            ("2nd", "node name `2nd` is invalid at byte 0: a token starts with"),
            (
                "/camera",
                "at byte 0: '/' is not allowed; a node name is made of ASCII letters, digits and `_`",
            ),
            ("left/camera", "at byte 4: '/' is not"),
            ("~", "at byte 0: '~' is not"),
            ("{node}", "at byte 0: '{' is not"),
            ("cam\u{e9}ra", "at byte 3: 'é' is not"),
        ] {
            let error = validate_node_name(name).expect_err(name);
            assert!(error.to_string().contains(message), "{name}: {error}");
        }
    }

    #[test]
    fn a_namespace_is_absolute() {
        for namespace in ["/", "/robot", "/robot/left", "/_a/b__c"] {
            assert_eq!(validate_namespace(namespace), Ok(()), "{namespace}");
        }
        for (namespace, message) in [
            ("", "a namespace is empty"),
            ("robot", "namespace `robot` is invalid at byte 0: it starts with a slash, as in `/robot`"),
            ("~", "it starts with a slash"),
            ("//", "at byte 1: a name has no empty token"),
            ("/robot/", "at byte 6: a name does not end with a slash"),
            ("/robot//left", "at byte 7: a name has no empty"),
            ("/robot/2", "at byte 7: a token starts"),
            ("/robot/{node}", "at byte 7: '{' is not allowed; a namespace is made of"),
        ] {
            let error = validate_namespace(namespace).expect_err(namespace);
            assert!(error.to_string().contains(message), "{namespace}: {error}");
        }
    }

    #[test]
    fn a_node_is_named_within_its_namespace() {
        assert_eq!(fully_qualified("camera", "/"), "/camera");
        assert_eq!(fully_qualified("camera", "/robot/left"), "/robot/left/camera");
    }

    /// Strings that are often names, and almost names otherwise.
    fn nearly_a_name() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            8 => "[a-c_]{1,2}",
            6 => Just("/".to_owned()),
            1 => "\\{(node|ns|namespace)\\}",
            1 => "[0-9~{}é -]",
        ];
        prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
    }

    fn valid_namespace() -> impl Strategy<Value = String> {
        prop_oneof!["/", "(/[a-c_][a-c0-9_]{0,100}){1,2}"]
    }

    proptest! {
        #[test]
        fn no_string_makes_a_check_panic([name, node, namespace] in any::<[String; 3]>()) {
            let _ = validate_node_name(&name);
            let _ = validate_namespace(&name);
            let _ = expand(&name, &node, &namespace);
        }

        #[test]
        fn an_expanded_name_is_fully_qualified(
            topic in prop_oneof!["~?/?([a-c_]{1,40}/){0,5}[a-c_{}]{1,8}", nearly_a_name()],
            node in "[a-c_][a-c0-9_]{0,20}",
            namespace in valid_namespace(),
        ) {
            prop_assert_eq!(validate_namespace(&namespace), Ok(()));
            if let Ok(name) = expand(&topic, &node, &namespace) {
                prop_assert!(name.starts_with('/') && name.len() <= TOPIC_NAME_LIMIT);
                prop_assert!(!name.contains(['~', '{', '}']) && !name.contains("//"), "{}", name);
                prop_assert_eq!(expand(&name, &node, &namespace), Ok(name.clone()));
                prop_assert_eq!(expand(&name, "another", "/place"), Ok(name));
            }
        }

        /// The part before the position of a problem is the beginning of some valid name.
        #[test]
        fn the_position_is_that_of_the_first_problem(topic in nearly_a_name()) {
            let (NameError::EmptyToken { position, .. }
            | NameError::LeadingDigit { position, .. }
            | NameError::ForbiddenCharacter { position, .. }) =
                (match validate_topic_name(&topic) { Err(error) => error, Ok(()) => return Ok(()) })
            else {
                return Ok(());
            };
            let valid = &topic[..position];
            let continued = match valid.rfind('{') {
                Some(brace) if !valid[brace..].contains('}') => format!("{}x", &valid[..brace]),
                _ => format!("{valid}x"),
            };
            let continued = if continued == "~x" { "~".to_owned() } else { continued };
            prop_assert_eq!(validate_topic_name(&continued), Ok(()), "{} of {}", position, topic);
        }
    }
}
