//! The domain and the names that a command looks at.

use std::path::PathBuf;

use clap::Args;
use sinew::error::{ArgumentError, RemapError};

/// Selects the domain.
#[derive(Args, Clone, Debug)]
pub(crate) struct Where {
    /// The domain [default: $SINEW_DOMAIN_ID, else $ROS_DOMAIN_ID, else 0].
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    domain: Option<u32>,

    /// The directory of the domains [default: $SINEW_DIR, else /dev/shm/sinew-<uid>].
    #[arg(long, value_name = "PATH")]
    pub(crate) dir: Option<PathBuf>,
}

impl Where {
    /// Reads the options from the words of a line, as far as they are valid.
    pub(crate) fn in_words(words: &[String]) -> Self {
        let value = |option: &str| {
            let at = words.iter().position(|word| word == option);
            let joined = || words.iter().find_map(|word| word.strip_prefix(option)?.strip_prefix('='));
            at.and_then(|at| words.get(at + 1)).map(String::as_str).or_else(joined)
        };
        Self {
            domain: value("--domain").and_then(|n| n.parse().ok()),
            dir: value("--dir").map(PathBuf::from),
        }
    }

    /// Returns the number on the command line, if there is one.
    pub(crate) fn given_domain(&self) -> Option<u32> {
        self.domain
    }

    /// Returns the domain's number.
    pub(crate) fn domain(&self) -> Result<u32, String> {
        if let Some(domain) = self.domain {
            return Ok(domain);
        }
        for variable in ["SINEW_DOMAIN_ID", "ROS_DOMAIN_ID"] {
            let Some(value) = std::env::var_os(variable).filter(|value| !value.is_empty()) else { continue };
            let number = value.to_str().and_then(|value| value.trim().parse().ok());
            return number.ok_or_else(|| {
                format!("{variable} is {value:?}, which is no domain: set it to a number, or use --domain")
            });
        }
        Ok(0)
    }
}

/// Parses a full name: as in `ros2`, the leading slash may be left out.
pub(super) fn name(text: &str) -> Result<String, String> {
    match text.trim_start_matches('/') {
        "" => Err("must be a name, such as /chatter".to_owned()),
        rest => Ok(format!("/{rest}")),
    }
}

/// Parses the name of a topic, by ROS 2's rules.
pub(super) fn topic(text: &str) -> Result<String, String> {
    let name = name(text)?;
    remap(&format!("topic:={name}")).map(|()| name)
}

/// Parses the name of a node, by ROS 2's rules.
pub(super) fn node(text: &str) -> Result<String, String> {
    let node = text.strip_prefix('/').unwrap_or(text);
    remap(&format!("__node:={node}")).map(|()| format!("/{node}"))
}

/// Checks that a node's arguments could contain this rule.
fn remap(rule: &str) -> Result<(), String> {
    match sinew::Arguments::parse(["sinew", "--ros-args", "-r", rule]) {
        Ok(_) => Ok(()),
        Err(ArgumentError::Remap { error: RemapError::InvalidName { error, .. }, .. }) => {
            Err(error.to_string())
        }
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_where() {
        let place = |line: &str| Where::in_words(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let first = place("sinew topic echo --domain 7 --dir=/x /a");
        assert_eq!((first.domain, first.dir), (Some(7), Some(PathBuf::from("/x"))));
        let second = place("sinew topic --dir /y --domain=x --domain");
        assert_eq!((second.domain, second.dir), (None, Some(PathBuf::from("/y"))));
    }

    #[test]
    fn names_begin_with_a_slash() {
        assert_eq!((name("chatter"), name("/a/b")), (Ok("/chatter".into()), Ok("/a/b".into())));
        assert!(name("").is_err() && name("/").is_err());
    }

    #[test]
    fn names_are_ros_2_s() {
        assert_eq!(
            (topic("a/b"), node("arm"), node("/arm")),
            (Ok("/a/b".into()), Ok("/arm".into()), Ok("/arm".into()))
        );
        for (wrong, problem) in
            [("a b", "' ' is not allowed"), ("1a", "starts with a letter"), ("a//b", "no empty token")]
        {
            assert!(topic(wrong).unwrap_err().contains(problem), "{wrong}");
        }
        assert!(node("a/b").is_err() && node("").is_err());
    }
}
