//! Names with ends on one side only: nobody publishes what a subscription waits for, or nobody
//! subscribes to what is published. Most often one of two names is mistyped.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde_json::{Value, json};
use sinew::names::alike;
use sinew_shm::EndpointKind;

use super::list::is_hidden;
use crate::observed::{Ends, ObservedDomain, ObservedEndpoint};

/// Names that are compared in all, at most, when some are looked for that may have been meant.
const COMPARED: usize = 200_000;

/// Nodes and names that are told of one, at most.
const TOLD: usize = 3;

/// Between the name of an action and those of its topics and services.
const ACTION: &str = "/_action/";

/// The service by which an action is known here, and the end of its type's name.
const SEND_GOAL: (&str, &str) = ("/_action/send_goal", "_SendGoal");

/// Topics of which each node may have an end.
const OF_ALL: [&str; 2] = ["/rosout", "/parameter_events"];

/// Services and topics that nodes have without being told to, below their names.
const OF_EACH: [&str; 15] = [
    "describe_parameters",
    "get_parameters",
    "get_parameter_types",
    "list_parameters",
    "set_parameters",
    "set_parameters_atomically",
    "get_type_description",
    "get_logger_levels",
    "set_logger_levels",
    "change_state",
    "get_state",
    "get_available_states",
    "get_available_transitions",
    "get_transition_graph",
    "transition_event",
];

/// What has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Named {
    Topic,
    Service,
    Action,
}

impl Named {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Topic => "topic",
            Self::Service => "service",
            Self::Action => "action",
        }
    }

    /// What an end is called, and what it does: of the side that offers, or of the other.
    fn words(self, is_offered: bool) -> (&'static str, [&'static str; 2]) {
        match (self, is_offered) {
            (Self::Topic, true) => ("publisher", ["published by", "publishes"]),
            (Self::Topic, false) => ("subscription", ["subscribed to by", "subscribes to"]),
            (_, true) => ("server", ["served by", "serves"]),
            (_, false) => ("client", ["called by", "calls"]),
        }
    }
}

/// A name with ends on one side only.
pub(crate) struct OneSided<'a> {
    pub(crate) what: Named,
    pub(crate) name: &'a str,
    /// The ends that there are.
    ends: Vec<&'a ObservedEndpoint>,
    /// They publish, or serve.
    pub(crate) is_offered: bool,
    /// Names like it, of its type, that have ends on the other side; the best first.
    pub(crate) similar: Vec<Similar<'a>>,
}

/// A name that resembles another one.
pub(crate) struct Similar<'a> {
    /// It has ends on the other side only: the two make one whole.
    fits: bool,
    /// How many letters differ.
    edits: usize,
    pub(crate) name: &'a str,
    /// A node that has an end there.
    node: &'a str,
}

impl OneSided<'_> {
    /// Whether it is most likely a mistake: something like it misses just this side, or is a
    /// misspelling of it.
    pub(crate) fn is_suspicious(&self) -> bool {
        self.similar.iter().any(|similar| similar.fits || similar.edits > 0)
    }

    /// What is missing: `publisher`.
    pub(crate) fn missing(&self) -> &'static str {
        self.what.words(!self.is_offered).0
    }

    /// What can be done.
    pub(crate) fn remedy(&self) -> String {
        let node = self.ends.first().map_or("", |end| end.entity.node.as_str());
        match self.similar.first() {
            Some(similar) => {
                let (name, other) = (self.name, similar.name);
                format!(
                    "if they are meant to meet, give {node} or {} the other's name (-r {name}:={other})",
                    similar.node
                )
            }
            None => format!(
                "start what {} it, or see {node} for its name",
                self.what.words(!self.is_offered).1[1]
            ),
        }
    }

    pub(crate) fn json(&self) -> Value {
        let end = self.ends.first().map(
            |end| json!({"node": end.entity.node, "pid": end.peer.pid(), "program": end.peer.program()}),
        );
        let (sender, receiver) = if self.is_offered { (end, None) } else { (None, end) };
        let similar: Vec<&str> = self.similar.iter().map(|similar| similar.name).collect();
        json!({
            "name": self.name, "kind": self.what.name(), "sender": sender, "receiver": receiver,
            "reason": format!("no {}", self.missing()), "similar": similar,
        })
    }
}

impl fmt::Display for OneSided<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut nodes: Vec<&str> = self.ends.iter().map(|end| end.entity.node.as_str()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let action = if self.what == Named::Action { "action " } else { "" };
        let by = self.what.words(self.is_offered).1[0];
        write!(
            f,
            "{action}{} has no {}: {by} {}",
            self.name,
            self.missing(),
            nodes[..nodes.len().min(TOLD)].join(", ")
        )?;
        if nodes.len() > TOLD {
            write!(f, " and {} more", nodes.len() - TOLD)?;
        }
        let does = self.what.words(!self.is_offered).1[1];
        match self.similar.first() {
            Some(similar) => write!(f, "; {} {does} the same type as {}", similar.node, similar.name),
            None => Ok(()),
        }
    }
}

/// All of a domain, the most suspicious first. Of what is offered and not used, only topics, and what
/// is suspicious: most services are there for when they are needed.
pub(crate) fn find(snapshot: &ObservedDomain) -> Vec<OneSided<'_>> {
    let mut all = Vec::new();
    let mut left = COMPARED;
    for what in [Named::Topic, Named::Service, Named::Action] {
        let ends = named(snapshot, what);
        let (mut by_type, mut found) = (HashMap::<_, [Vec<Similar<'_>>; 2]>::new(), Vec::new());
        for (&name, Ends([offering, asking])) in &ends {
            let fits = offering.is_empty() != asking.is_empty();
            for (side, ends) in [offering, asking].into_iter().enumerate() {
                if let Some(end) = ends.first() {
                    let node = end.entity.node.as_str();
                    let names = by_type.entry(type_of(what, end)).or_default();
                    names[side].push(Similar { fits, edits: 0, name, node });
                }
            }
            let ends = if offering.is_empty() { asking } else { offering };
            let is_offered = !offering.is_empty();
            if fits && is_told(name, ends, is_offered) {
                found.push(OneSided { what, name, ends: ends.clone(), is_offered, similar: Vec::new() });
            }
        }
        for one in &mut found {
            let type_name = one.ends.first().map_or("", |end| type_of(what, end));
            let others = by_type.get(type_name).map_or(&[][..], |sides| &sides[usize::from(one.is_offered)]);
            let compared = others.len().min(left);
            left -= compared;
            let near = others[..compared].iter().filter_map(|other| {
                let Similar { fits, name, node, .. } = *other;
                Some(Similar { fits, edits: alike(one.name, name)?, name, node })
            });
            one.similar = near.collect();
            one.similar.sort_by_key(|similar| (Reverse(similar.fits), similar.edits, similar.name));
            one.similar.truncate(TOLD);
        }
        found.retain(|one| what == Named::Topic || !one.is_offered || one.is_suspicious());
        all.extend(found);
    }
    all.sort_by_key(|one| (Reverse(one.is_suspicious()), one.is_offered, one.what, one.name));
    all
}

/// Who shares a name. Actions are known by the service that takes their goals.
fn named(snapshot: &ObservedDomain, what: Named) -> BTreeMap<&str, Ends<'_>> {
    use EndpointKind::{Client, Publisher, Server, Subscription};
    let ends = snapshot.ends(if what == Named::Topic { [Publisher, Subscription] } else { [Server, Client] });
    let is_of_action = |name: &str| name.contains(ACTION);
    let named = ends.into_iter().filter_map(|(name, ends)| match what {
        Named::Action => Some((name.strip_suffix(SEND_GOAL.0)?, ends)),
        _ => (!is_of_action(name)).then_some((name, ends)),
    });
    named.filter(|(name, _)| !is_hidden(name)).collect()
}

fn type_of(what: Named, end: &ObservedEndpoint) -> &str {
    let name = end.entity.type_name.as_str();
    if what == Named::Action { name.strip_suffix(SEND_GOAL.1).unwrap_or(name) } else { name }
}

/// What tools have for themselves, and what every node has, is nobody's mistake.
fn is_told(name: &str, ends: &[&ObservedEndpoint], is_offered: bool) -> bool {
    let is_own = |end: &&ObservedEndpoint| {
        let below = name.strip_prefix(&*end.entity.node).and_then(|rest| rest.strip_prefix('/'));
        is_offered && below.is_some_and(|rest| OF_EACH.contains(&rest))
    };
    !OF_ALL.contains(&name) && !ends.iter().all(|end| is_hidden(&end.entity.node) || is_own(end))
}
