//! Patterns for full names of nodes: `*` stands for one part and `**` for any number of them, as
//! `rclcpp` matches them.

use std::fmt;

/// A pattern for the names of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodePattern(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Name(String),
    One,
    Any,
}

impl NodePattern {
    /// Matches all nodes.
    pub(crate) fn all() -> Self {
        Self(vec![Part::Any])
    }

    /// Reads `/robot/*/camera`, with or without the first `/`. The error is the reason.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let part = |part: &str| match part {
            "" => Err("there is an empty part between slashes".to_owned()),
            "*" => Ok(Part::One),
            "**" => Ok(Part::Any),
            _ if part.contains('*') => {
                Err(format!("`{part}` has `*` beside other characters; a part is a name, `*` or `**`"))
            }
            _ if part.starts_with(|c: char| c.is_ascii_digit()) => {
                Err(format!("`{part}` begins with a digit"))
            }
            _ if part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') => {
                Ok(Part::Name(part.to_owned()))
            }
            _ => Err(format!(
                "`{}` has a character other than ASCII letters, digits and `_`",
                part.escape_debug()
            )),
        };
        let parts = text.strip_prefix('/').unwrap_or(text).split('/').map(part);
        parts.collect::<Result<_, _>>().map(Self)
    }

    /// Returns `true` if it matches every name.
    pub(crate) fn is_all(&self) -> bool {
        self.0 == [Part::Any]
    }

    /// Returns `true` if it matches the node with this full name.
    pub(crate) fn matches(&self, node: &str) -> bool {
        let names: Vec<&str> = node.split('/').skip(1).collect();
        // `reached[n]`: the parts so far match the first n names. Every pattern takes at most its
        // number of parts times the number of names.
        let mut reached = vec![false; names.len() + 1];
        reached[0] = true;
        for part in &self.0 {
            let before = reached.clone();
            for n in 0..reached.len() {
                let came = |fits: bool| n > 0 && fits && before[n - 1];
                reached[n] = match part {
                    Part::Any => before[n] || (n > 0 && reached[n - 1]),
                    Part::One => came(true),
                    Part::Name(name) => came(n > 0 && names[n - 1] == name),
                };
            }
        }
        reached[names.len()]
    }
}

/// With the first `/`.
impl fmt::Display for NodePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Name(name) => write!(f, "/{name}"),
            Part::One => f.write_str("/*"),
            Part::Any => f.write_str("/**"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wildcards_stand_for_parts() {
        for (pattern, nodes, others) in [
            ("/**", "/a /a/b /a/b/c", ""),
            ("**", "/a /a/b", ""),
            ("/*", "/a /b", "/a/b"),
            ("*", "/a", "/a/b"),
            ("/a/b", "/a/b", "/a /b /a/b/c /x/a/b"),
            ("a/b", "/a/b", "/b"),
            ("/a/**", "/a /a/b /a/b/c", "/b /b/a"),
            ("/a/*", "/a/b", "/a /a/b/c"),
            ("/*/cam", "/x/cam", "/cam /x/y/cam"),
            ("/**/cam", "/cam /x/cam /x/y/cam", "/x /cam/x"),
            ("/foo/**/cam", "/foo/cam /foo/x/cam /foo/x/y/cam", "/cam /x/foo/cam"),
            ("/**/x/**/cam", "/x/cam /a/x/b/c/cam", "/cam /a/cam"),
        ] {
            let parsed = NodePattern::parse(pattern).unwrap();
            assert_eq!(parsed.to_string().trim_start_matches('/'), pattern.trim_start_matches('/'));
            for node in nodes.split_whitespace() {
                assert!(parsed.matches(node), "{pattern} {node}");
            }
            for node in others.split_whitespace() {
                assert!(!parsed.matches(node), "{pattern} {node}");
            }
        }
    }

    #[test]
    fn an_invalid_pattern_is_an_error() {
        for (pattern, problem) in [
            ("", "an empty part"),
            ("/", "an empty part"),
            ("a//b", "an empty part"),
            ("/a/", "an empty part"),
            ("a*", "beside other characters"),
            ("/***", "beside other characters"),
            ("1a", "begins with a digit"),
            ("a b", "other than ASCII"),
        ] {
            let error = NodePattern::parse(pattern).unwrap_err();
            assert!(error.contains(problem), "{pattern}: {error}");
        }
    }

    /// Tries every number of names for each `**`.
    fn oracle(parts: &[&str], names: &[&str]) -> bool {
        match (parts.split_first(), names.split_first()) {
            (None, None) => true,
            (Some((&"**", rest)), _) => (0..=names.len()).any(|n| oracle(rest, &names[n..])),
            (Some((&"*", rest)), Some((_, after))) => oracle(rest, after),
            (Some((part, rest)), Some((name, after))) => part == name && oracle(rest, after),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn patterns_match_as_their_definition_says(
            parts in prop::collection::vec(prop::sample::select(vec!["a", "b", "*", "**"]), 1..6),
            names in prop::collection::vec(prop::sample::select(vec!["a", "b"]), 1..6),
        ) {
            let pattern = NodePattern::parse(&parts.join("/")).unwrap();
            let node = format!("/{}", names.join("/"));
            prop_assert_eq!(pattern.matches(&node), oracle(&parts, &names));
        }
    }
}
