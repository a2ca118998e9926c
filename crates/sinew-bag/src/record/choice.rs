//! The topics that are recorded: a pure function of their names and types, with the rules of
//! rosbag2's `record`.

use regex_lite::Regex;
use std::collections::BTreeSet;

/// The part of a name below which the topics of an action are.
const ACTION: &str = "/_action/";
/// The end of the name of a service's events.
const EVENTS: &str = "/_service_event";

/// The topics, services and actions that are wanted.
#[derive(Debug, Clone, Default)]
pub(super) struct Choice {
    pub(super) topics: Names,
    pub(super) services: Names,
    pub(super) actions: Names,
    /// Types of topics that are wanted, too.
    pub(super) types: BTreeSet<String>,
    pub(super) excluded_types: BTreeSet<String>,
    /// Names of topics, services and actions that are wanted, too.
    pub(super) pattern: Option<Regex>,
    pub(super) excluded_pattern: Option<Regex>,
    /// Hidden topics are wanted, also those that aren't named.
    pub(super) has_hidden: bool,
}

/// Names of one kind.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    pub(super) has_all: bool,
    pub(super) named: BTreeSet<String>,
    pub(super) excluded: BTreeSet<String>,
}

impl Choice {
    /// Returns whether nothing is selected.
    pub(super) fn is_empty(&self) -> bool {
        let kinds = [&self.topics, &self.services, &self.actions];
        self.types.is_empty()
            && self.pattern.is_none()
            && kinds.iter().all(|names| !names.has_all && names.named.is_empty())
    }

    /// Returns whether the topic is named itself, or its service or action.
    pub(super) fn names(&self, topic: &str) -> bool {
        let (names, name, _) = self.kind(topic);
        names.named.contains(name) || self.topics.named.contains(topic)
    }

    /// Returns whether a topic with publishers of this type is recorded.
    pub(super) fn takes(&self, topic: &str, type_name: &str) -> bool {
        let (names, name, is_topic) = self.kind(topic);
        let is_found = |pattern: &Option<Regex>| pattern.as_ref().is_some_and(|it| it.is_match(name));
        if names.excluded.contains(name)
            || self.topics.excluded.contains(topic)
            || is_found(&self.excluded_pattern)
        {
            return false;
        }
        if self.names(topic) {
            return true;
        }
        if is_topic && self.excluded_types.contains(type_name) {
            return false;
        }
        let is_wanted =
            names.has_all || is_found(&self.pattern) || (is_topic && self.types.contains(type_name));
        is_wanted && (!is_topic || self.has_hidden || !is_hidden(topic))
    }

    /// Returns the kind that a topic belongs to, the name that counts there, and whether that is
    /// the topic's own.
    fn kind<'a>(&self, topic: &'a str) -> (&Names, &'a str, bool) {
        if let Some((action, _)) = topic.split_once(ACTION) {
            return (&self.actions, action, false);
        }
        match topic.strip_suffix(EVENTS) {
            Some(service) => (&self.services, service, false),
            None => (&self.topics, topic, true),
        }
    }
}

fn is_hidden(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with('_'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::compiled;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn taken(choice: &Choice) -> Vec<&'static str> {
        let all = [
            ("/scan", "sensor_msgs/msg/LaserScan"),
            ("/left/scan", "sensor_msgs/msg/LaserScan"),
            ("/left/image", "sensor_msgs/msg/Image"),
            ("/_hidden", "std_msgs/msg/String"),
            ("/add/_service_event", "example_interfaces/srv/AddTwoInts_Event"),
            ("/turn/_action/feedback", "example_interfaces/action/Fibonacci_FeedbackMessage"),
            ("/turn/_action/status", "action_msgs/msg/GoalStatusArray"),
            ("/turn/_action/send_goal/_service_event", "example_interfaces/action/Fibonacci_SendGoal_Event"),
        ];
        all.into_iter().filter(|(name, kind)| choice.takes(name, kind)).map(|(name, _)| name).collect()
    }

    #[test]
    fn topics_are_chosen_by_name_type_and_pattern() {
        let mut choice = Choice::default();
        assert!(choice.is_empty() && taken(&choice).is_empty());
        choice.topics.named = set(&["/scan"]);
        assert_eq!(taken(&choice), ["/scan"]);
        choice.types = set(&["sensor_msgs/msg/Image"]);
        assert_eq!(taken(&choice), ["/scan", "/left/image"]);
        choice.pattern = Some(compiled("^/left/s").unwrap());
        assert_eq!(taken(&choice), ["/scan", "/left/scan", "/left/image"]);
        choice.excluded_types = set(&["sensor_msgs/msg/LaserScan"]);
        assert_eq!(taken(&choice), ["/scan", "/left/image"]); // that name was asked for
        choice.excluded_pattern = Some(compiled("scan").unwrap());
        assert_eq!(taken(&choice), ["/left/image"]);
        assert!(compiled("(").is_err());
    }

    #[test]
    fn hidden_topics_are_asked_for() {
        let mut choice = Choice::default();
        choice.topics.has_all = true;
        assert_eq!(taken(&choice), ["/scan", "/left/scan", "/left/image"]);
        choice.topics.excluded = set(&["/scan"]);
        choice.topics.named = set(&["/_hidden"]);
        assert_eq!(taken(&choice), ["/left/scan", "/left/image", "/_hidden"]);
        choice.topics.named.clear();
        choice.has_hidden = true;
        assert_eq!(taken(&choice), ["/left/scan", "/left/image", "/_hidden"]);
    }

    #[test]
    fn services_and_actions_are_kinds_of_their_own() {
        let mut choice = Choice::default();
        choice.services.named = set(&["/add"]);
        assert_eq!(taken(&choice), ["/add/_service_event"]);
        choice.services.named.clear();
        choice.actions.has_all = true;
        let of_action =
            ["/turn/_action/feedback", "/turn/_action/status", "/turn/_action/send_goal/_service_event"];
        assert_eq!(taken(&choice), of_action);
        choice.actions.excluded = set(&["/turn"]);
        assert!(taken(&choice).is_empty());
        choice = Choice { pattern: Some(compiled("^/turn$").unwrap()), ..Choice::default() };
        assert_eq!(taken(&choice), of_action);
    }
}
