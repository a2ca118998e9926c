//! Names with endpoints on one side only: a subscription without a publisher, or the other way
//! round. Most often one of two names is mistyped.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use serde_json::{Value, json};
use sinew::graph::EndpointKind;
use sinew::names::{alike, is_hidden, of_node, similar};

use crate::observed::{Ends, ObservedDomain, ObservedEndpoint, process_of};

/// Most comparisons of names, in all, in the search for suggestions.
const COMPARED: usize = 200_000;

/// Most nodes and names that are listed for one name.
const TOLD: usize = 3;

/// Separates the name of an action from the rest of its topics' and services' names.
const ACTION: &str = "/_action/";

/// The service by which an action is recognized here, and the suffix of its type's name.
const SEND_GOAL: (&str, &str) = ("/_action/send_goal", "_SendGoal");

/// Topics that each node may have an endpoint of.
const OF_ALL: [&str; 2] = ["/rosout", "/parameter_events"];

/// A kind of name.
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

    /// Returns the noun of an endpoint, and its verbs: for the offering side, or for the other.
    fn words(self, is_offered: bool) -> (&'static str, [&'static str; 2]) {
        match (self, is_offered) {
            (Self::Topic, true) => ("publisher", ["published by", "publishes"]),
            (Self::Topic, false) => ("subscription", ["subscribed to by", "subscribes to"]),
            (_, true) => ("server", ["served by", "serves"]),
            (_, false) => ("client", ["called by", "calls"]),
        }
    }
}

/// A name with endpoints on one side only.
pub(crate) struct OneSided<'a> {
    pub(crate) what: Named,
    pub(crate) name: &'a str,
    /// The existing endpoints.
    ends: Vec<&'a ObservedEndpoint>,
    /// They are publishers or servers.
    pub(crate) is_offered: bool,
    /// Similar names of the same type with endpoints on the other side; the best first.
    pub(crate) similar: Vec<Similar<'a>>,
    /// The node, if the name belongs to something that every node has, and that is missing.
    of: Option<OfNode<'a>>,
}

/// A request to something that each node has. The node's name is what counts: under another name,
/// the service would be another node's.
struct OfNode<'a> {
    node: &'a str,
    /// The part behind the node's name: `get_parameters`.
    last: &'a str,
    /// A node of that name exists.
    is_there: bool,
    /// A node that may have been meant.
    near: Option<&'a str>,
    /// Number of further missing names of the node.
    more: usize,
    /// Another name of the node already reports it.
    is_repeated: bool,
}

/// A name that resembles another one.
pub(crate) struct Similar<'a> {
    /// It has endpoints on the other side only, so that both names together are complete.
    fits: bool,
    /// Number of different letters.
    edits: usize,
    pub(crate) name: &'a str,
    /// A node with an endpoint of that name.
    node: &'a str,
}

impl OneSided<'_> {
    /// Returns `true` if it is most likely a mistake: a similar name lacks just this side, or this
    /// name is a misspelling of it.
    pub(crate) fn is_suspicious(&self) -> bool {
        self.similar.iter().any(|similar| similar.fits || similar.edits > 0)
    }

    /// Returns `true` if another name already reports that the same node is missing.
    pub(crate) fn is_repeated(&self) -> bool {
        self.of.as_ref().is_some_and(|of| of.is_repeated)
    }

    /// Returns the missing kind of endpoint: `publisher`.
    pub(crate) fn missing(&self) -> &'static str {
        self.what.words(!self.is_offered).0
    }

    /// Returns advice.
    pub(crate) fn remedy(&self) -> String {
        let node = self.ends.first().map_or("", |end| end.info.node.as_str());
        if let Some(of) = &self.of {
            return match of.near {
                _ if of.is_there => {
                    format!("see {node} for which node it asks, or give {} a {}", of.node, of.last)
                }
                Some(near) => format!("if {near} is meant, tell {node} its name; else start {}", of.node),
                None => format!("start {}, or see {node} for which node it asks", of.node),
            };
        }
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
        let end = self.ends.first().map(|end| {
            let (pid, program) = process_of(&end.info.place);
            json!({"node": end.info.node, "pid": pid, "program": program})
        });
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
        let mut nodes: Vec<&str> = self.ends.iter().map(|end| end.info.node.as_str()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let action = if self.what == Named::Action { "action " } else { "" };
        let by = self.what.words(self.is_offered).1[0];
        let more = match &self.of {
            Some(of) if of.more > 0 && !of.is_repeated => format!(" (and {} more of {})", of.more, of.node),
            _ => String::new(),
        };
        write!(
            f,
            "{action}{}{more} has no {}: {by} {}",
            self.name,
            self.missing(),
            nodes[..nodes.len().min(TOLD)].join(", ")
        )?;
        if nodes.len() > TOLD {
            write!(f, " and {} more", nodes.len() - TOLD)?;
        }
        if let Some(OfNode { node, last, is_there, near, .. }) = &self.of {
            return match near {
                _ if *is_there => write!(f, "; {node} has no {last}"),
                Some(near) => write!(f, "; no node is called {node}; there is {near}"),
                None => write!(f, "; no node is called {node}"),
            };
        }
        let does = self.what.words(!self.is_offered).1[1];
        match self.similar.first() {
            Some(similar) => write!(f, "; {} {does} the same type as {}", similar.node, similar.name),
            None => Ok(()),
        }
    }
}

/// Finds all one-sided names of a domain, the most suspicious first. Of names that are offered and
/// not used, only topics and suspicious names: most services exist for occasional use.
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
                    let node = end.info.node.as_str();
                    let names = by_type.entry(type_of(what, end)).or_default();
                    names[side].push(Similar { fits, edits: 0, name, node });
                }
            }
            let ends = if offering.is_empty() { asking } else { offering };
            let is_offered = !offering.is_empty();
            if fits && is_told(name, ends, is_offered) {
                let (ends, similar) = (ends.clone(), Vec::new());
                found.push(OneSided { what, name, ends, is_offered, similar, of: None });
            }
        }
        for one in &mut found {
            let type_name = one.ends.first().map_or("", |end| type_of(what, end));
            let others = by_type.get(type_name).map_or(&[][..], |sides| &sides[usize::from(one.is_offered)]);
            let compared = others.len().min(left);
            left -= compared;
            let near = others[..compared].iter().filter_map(|other| {
                let Similar { fits, name, node, .. } = *other;
                Some(Similar { fits, edits: edits([one.name, name], type_name)?, name, node })
            });
            one.similar = near.collect();
            one.similar.sort_by_key(|similar| (Reverse(similar.fits), similar.edits, similar.name));
            one.similar.truncate(TOLD);
        }
        found.retain(|one| what == Named::Topic || !one.is_offered || one.is_suspicious());
        all.extend(found);
    }
    all.sort_by_key(|one| (Reverse(one.is_suspicious()), one.is_offered, one.what, one.name));
    find_nodes(&mut all, snapshot, left);
    all
}

/// Returns the number of differing letters between two names, if they are similar. Names that every
/// node has end alike, so there the nodes' names are compared.
fn edits([one, other]: [&str; 2], type_name: &str) -> Option<usize> {
    match (of_node(one, type_name), of_node(other, type_name)) {
        (Some((node, last)), Some((its, end))) if last == end => alike(node, its),
        (None, None) => alike(one, other),
        _ => None,
    }
}

/// Finds missing nodes, for names that every node has. The first service of a node reports all its
/// names, or the first topic if no service is requested.
fn find_nodes<'a>(all: &mut [OneSided<'a>], snapshot: &'a ObservedDomain, mut left: usize) {
    let mut nodes: BTreeSet<&str> = snapshot.nodes.iter().map(|node| node.info.name.as_str()).collect();
    nodes.extend(snapshot.endpoints.iter().map(|end| end.info.node.as_str()));
    let mut first = HashMap::<&str, usize>::new();
    let (services, topics): (Vec<_>, Vec<_>) =
        (0..all.len()).partition(|&index| all[index].what == Named::Service);
    for index in services.into_iter().chain(topics) {
        let one = &all[index];
        let type_name = one.ends.first().map_or("", |end| type_of(one.what, end));
        let Some((node, last)) = of_node(one.name, type_name).filter(|_| !one.is_offered) else { continue };
        let is_there = nodes.contains(node);
        let told = first.get(node).copied();
        let near = match one.similar.first().and_then(|similar| of_node(similar.name, type_name)) {
            Some((near, _)) => Some(near),
            None if is_there || told.is_some() => None,
            None => {
                let compared = nodes.len().min(left);
                left -= compared;
                let shown = nodes.iter().copied().take(compared).filter(|name| !is_hidden(name));
                similar(node, shown).first().copied()
            }
        };
        all[index].of = Some(OfNode { node, last, is_there, near, more: 0, is_repeated: told.is_some() });
        match told {
            None => _ = first.insert(node, index),
            Some(first) => {
                let ends = all[index].ends.clone();
                all[first].ends.extend(ends);
                if let Some(of) = &mut all[first].of {
                    of.more += 1;
                    of.near = of.near.or(near);
                }
            }
        }
    }
}

/// Groups endpoints by name. Actions are represented by the service that accepts their goals.
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
    let name = end.info.type_name.as_str();
    if what == Named::Action { name.strip_suffix(SEND_GOAL.1).unwrap_or(name) } else { name }
}

/// Returns `true` if a one-sided name is worth a report: endpoints that tools make for themselves,
/// and those that every node has, are no mistakes.
fn is_told(name: &str, ends: &[&ObservedEndpoint], is_offered: bool) -> bool {
    let is_own = |end: &&ObservedEndpoint| is_offered && of_node(name, &end.info.type_name).is_some();
    !OF_ALL.contains(&name) && !ends.iter().all(|end| is_hidden(&end.info.node) || is_own(end))
}
