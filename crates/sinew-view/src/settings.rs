//! The settings of a server: its choice of names, and the permissions of viewers.

use crate::playback::Playback;
use sinew::msg::TypeHash;
use sinew::names::is_hidden;
use sinew_bag::Schema;
use sinew_msg::description::TypeDescription;
use std::path::PathBuf;

/// A type, as a source of definitions knows it.
#[derive(Debug, Clone)]
pub struct TypeDefinition {
    /// Its description.
    pub description: TypeDescription,
    /// The text that viewers get: with constants and comments, which a description doesn't have.
    /// `None`: it is made from the description.
    pub schema: Option<Schema>,
}

/// A source of definitions: of the type of this name, with this hash if one is given.
pub(crate) type FindType = dyn Fn(&str, Option<TypeHash>) -> Option<TypeDefinition> + Send + Sync;

/// Permissions of viewers besides looking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Allowed {
    pub(crate) publish: bool,
    pub(crate) services: bool,
    pub(crate) parameters: bool,
    pub(crate) playback: bool,
}

pub(crate) struct Settings {
    pub(crate) name: String,
    /// See [`shows_topic`](Self::shows_topic), for services likewise.
    pub(crate) topics: Filter,
    pub(crate) services: Filter,
    /// Of the names `/node.parameter`.
    pub(crate) parameters: Filter,
    pub(crate) has_hidden: bool,
    pub(crate) allowed: Allowed,
    pub(crate) token: Option<String>,
    /// Origins of web pages that may connect; empty: all.
    pub(crate) origins: Vec<String>,
    pub(crate) max_clients: usize,
    /// The longest message of a client, in bytes.
    pub(crate) max_frame: usize,
    /// Messages of a topic that wait for a client.
    pub(crate) depth: usize,
    /// Shortest time between two messages of a topic, in nanoseconds.
    pub(crate) min_period: i64,
    /// The largest width of compressed images, in pixels; `None`: there are none.
    pub(crate) image_width: Option<u16>,
    /// Their quality, from 1 to 100.
    pub(crate) image_quality: u8,
    pub(crate) use_sim_time: bool,
    /// The bags that are played.
    pub(crate) playback: Option<Playback>,
    /// Directories below which packages have files for viewers.
    pub(crate) assets: Vec<PathBuf>,
    pub(crate) find_type: Box<FindType>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: "sinew".to_owned(),
            topics: Filter::default(),
            services: Filter::default(),
            parameters: Filter::default(),
            has_hidden: false,
            allowed: Allowed::default(),
            token: None,
            origins: Vec::new(),
            max_clients: 32,
            max_frame: 16 << 20,
            depth: 10,
            min_period: 0,
            image_width: None,
            image_quality: 80,
            use_sim_time: false,
            playback: None,
            assets: Vec::new(),
            find_type: Box::new(|_, _| None),
        }
    }
}

impl Settings {
    pub(crate) fn shows_topic(&self, name: &str) -> bool {
        self.shows(&self.topics, name)
    }

    pub(crate) fn shows_service(&self, name: &str) -> bool {
        self.shows(&self.services, name)
    }

    fn shows(&self, filter: &Filter, name: &str) -> bool {
        filter.passes(name) && (self.has_hidden || !is_hidden(name))
    }
}

/// Patterns of names: those that are shown, all if there are none; and those that are not.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    pub(crate) shown: Vec<String>,
    pub(crate) excluded: Vec<String>,
}

impl Filter {
    pub(crate) fn passes(&self, name: &str) -> bool {
        let fits = |pattern: &String| matches(pattern.as_bytes(), name.as_bytes());
        (self.shown.is_empty() || self.shown.iter().any(fits)) && !self.excluded.iter().any(fits)
    }
}

/// Whether a name fits a pattern: `*` stands for a part of a word, `**` for any number of words,
/// also none.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match pattern {
        [] => name.is_empty(),
        b"/**" => name.first().is_none_or(|&first| first == b'/'),
        [b'*', b'*', rest @ ..] => (0..=name.len()).any(|skipped| matches(rest, &name[skipped..])),
        [b'*', rest @ ..] => {
            let word = name.iter().position(|&byte| byte == b'/').unwrap_or(name.len());
            (0..=word).any(|skipped| matches(rest, &name[skipped..]))
        }
        [byte, rest @ ..] => name.first() == Some(byte) && matches(rest, &name[1..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_words() {
        for (pattern, name, fits) in [
            ("/scan", "/scan", true),
            ("/scan", "/scans", false),
            ("/cam*", "/camera", true),
            ("/cam*", "/camera/image", false),
            ("/*/image", "/left/image", true),
            ("/*/image", "/a/b/image", false),
            ("/**/image", "/a/b/image", true),
            ("/camera/**", "/camera", true),
            ("/camera/**", "/camera/a/b", true),
            ("/camera/**", "/cameras", false),
            ("/arm.*", "/arm.gain", true),
            ("**", "/a/b", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn excluded_names_are_excluded_even_if_shown() {
        let filter =
            Filter { shown: vec!["/camera/**".to_owned()], excluded: vec!["/camera/raw".to_owned()] };
        assert!(filter.passes("/camera/image") && !filter.passes("/camera/raw") && !filter.passes("/scan"));
        assert!(Filter::default().passes("/any"));
    }
}
