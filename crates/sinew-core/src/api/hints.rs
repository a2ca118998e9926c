//! Hints that a context logs after a while, once for each subject: subscriptions and clients
//! without a counterpart, nodes that share a name, options that have matched nothing.
//!
//! The thread that watches the neighbours runs a check when something may be due. It checks each
//! entity once, when the entity is old enough. It finds these entities by their serial numbers, so
//! it keeps no state for each entity, and does nothing while there is no new one.

use super::context::ContextCore;
use super::node::NodeCore;
use crate::ros::name::{fully_qualified, is_hidden};
use crate::ros::of_node::of_node;
use crate::ros::remap::ACTION;
use crate::ros::report::Report;
use crate::ros::similar::{alike, similar};
use crate::ros::unmatched::{NodeNames, Unmatched, missing_parameter};
use crate::sys::clock::Time;
use crate::sys::logging::{About, Level, log_line};
use crate::sys::sync::{Arc, Mutex, serial_to_come};
use crate::topic::graph::survey::{MOST, Offered, OneSided, Used};
use sinew_shm::transport::OwnEndpoint;
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::Weak;
use std::time::Duration;

/// Multiple of the patience after which options are checked if no executor serves the context: the
/// program may still be creating its nodes.
const WITHOUT_EXECUTOR: u32 = 6;

/// Maximum number of options that are reported: a wrong file may contain many.
const OPTIONS: usize = 20;

/// Maximum number of entities of a kind without a counterpart that one check reports one by one.
const ONE_SIDED: usize = 50;

/// Maximum number of names that one check compares to find similar ones.
const COMPARED: usize = 20_000;

/// The suffix of the service by which this check recognises an action.
const SEND_GOAL: &str = "/_action/send_goal";

/// Topics on which every node has an endpoint.
const OF_ALL: [&str; 2] = ["/rosout", "/parameter_events"];

/// Starts the context's hints with its first node, and silences those of this node if `is_wanted`
/// is false.
pub(super) fn begin(node: &Arc<NodeCore>, is_wanted: bool) {
    let NodeCore { context, full_name, .. } = &**node;
    if !is_wanted {
        context.hints.silence(full_name);
    }
    context.hints.speak_by(|| {
        let (context, said) = (Arc::downgrade(context), Mutex::new(Said::default()));
        move || look(&context.upgrade()?, &said)
    });
}

/// The progress of the checks.
#[derive(Default)]
struct Said {
    /// Pairs of a time and the serial number that was next at that time, the oldest first.
    marks: VecDeque<(Time, u64)>,
    /// Entities with a smaller number were checked.
    looked_at: u64,
    /// The time of the first check.
    began: Option<Time>,
    /// The time of the first check that found an executor.
    executed: Option<Time>,
    has_told_options: bool,
    /// The rules and parameters of nodes with a smaller number were checked.
    options_until: u64,
    /// The reports that tools can see now.
    reports: Vec<Reported>,
}

/// A report for tools, which they show until it is withdrawn.
struct Reported {
    unmatched: Unmatched,
    of: Option<Weak<NodeCore>>,
    _endpoint: OwnEndpoint,
}

impl Reported {
    /// Whether the option has matched by now, or its node is gone.
    fn is_over(&self) -> bool {
        !self.unmatched.still() || self.of.as_ref().is_some_and(|node| node.strong_count() == 0)
    }
}

impl Said {
    /// Returns the numbers of the entities that have become old enough since the last check.
    fn mature(&mut self, now: Time, patience: Duration) -> Range<u64> {
        let to_come = serial_to_come();
        if self.marks.back().is_none_or(|(_, last)| *last != to_come) {
            self.marks.push_back((now, to_come));
        }
        let from = self.looked_at;
        while let Some((_, number)) = self.marks.pop_front_if(|(at, _)| now - *at >= patience) {
            self.looked_at = number;
        }
        from..self.looked_at
    }

    /// Returns the options that are due for a check; for options of nodes, call it after
    /// [`mature`](Self::mature).
    fn options_due(&mut self, now: Time, patience: Duration, has_executor: bool) -> OptionsDue {
        let began = *self.began.get_or_insert(now);
        if has_executor {
            self.executed.get_or_insert(now);
        }
        let are_due = now - began >= patience.saturating_mul(WITHOUT_EXECUTOR)
            || self.executed.is_some_and(|executed| now - executed >= patience);
        if !are_due {
            return OptionsDue::default();
        }
        let from = std::mem::replace(&mut self.options_until, self.looked_at);
        let of_context = !std::mem::replace(&mut self.has_told_options, true);
        OptionsDue { of_context, of_nodes: from..self.looked_at }
    }

    /// Returns the time until something may be due; `None`: not before an entity comes or goes.
    /// Options that match, and executors that come, are no entities, so these are looked for.
    fn next(&self, now: Time, patience: Duration) -> Option<Duration> {
        if !self.reports.is_empty() || (!self.has_told_options && self.executed.is_none()) {
            return Some(Duration::ZERO);
        }
        let options = self.executed.filter(|_| !self.has_told_options);
        let since = options.into_iter().chain(self.marks.front().map(|(at, _)| *at)).min()?;
        Some(patience.saturating_sub(now - since))
    }
}

/// The options that are due for a check.
#[derive(Default)]
struct OptionsDue {
    /// Whether the options of the command line are due.
    of_context: bool,
    /// The numbers of the nodes with due options, as set by the program.
    of_nodes: Range<u64>,
}

/// A line to log.
struct Line {
    level: Level,
    /// The full name of the node it is about.
    node: Option<Arc<str>>,
    text: String,
}

/// Returns the time after which to look again even if no entity comes or goes.
fn look(context: &Arc<ContextCore>, said: &Mutex<Said>) -> Option<Duration> {
    let patience = context.hints.after.filter(|_| !context.session.has_ended())?;
    let now = Time::steady();
    for Line { level, node, text } in lines(context, said, now) {
        // Each line is its own subject, so that none is suppressed as a repetition.
        let about = About { node: node.as_deref().unwrap_or_default(), subject: &text };
        log_line!(level; about, "{text}");
    }
    said.lock().next(now, patience)
}

fn lines(context: &Arc<ContextCore>, said: &Mutex<Said>, now: Time) -> Vec<Line> {
    let Some(patience) = context.hints.after else { return Vec::new() };
    let has_executor = context.session.has_executor();
    let (mature, due, over) = {
        let mut said = said.lock();
        let over: Vec<_> = said.reports.extract_if(.., |report| report.is_over()).collect();
        (said.mature(now, patience), said.options_due(now, patience, has_executor), over)
    };
    drop(over); // changes what other processes see: outside the lock
    let mut lines = Vec::new();
    if !mature.is_empty() {
        lines.extend(one_sided(context, &mature, patience));
        lines.extend(twins(context, &mature));
    }
    if due.of_context || !due.of_nodes.is_empty() {
        let (texts, reports) = options(context, &due);
        lines.extend(texts);
        said.lock().reports.extend(reports);
    }
    lines
}

fn one_sided(context: &Arc<ContextCore>, mature: &Range<u64>, patience: Duration) -> Vec<Line> {
    let is_reported = |one: &OneSided| {
        // Simulated time has a hidden node of its own.
        let is_shown = !is_hidden(&one.node) || &*one.name == "/clock";
        is_shown && !OF_ALL.contains(&&*one.name) && !context.hints.is_silent(&one.node)
    };
    let mut topics = context.graph.unpublished(mature);
    topics.retain(|one| is_reported(one) && !is_hidden(&one.name));
    let mut services = context.services.unserved(mature);
    // One of the three clients of an action is enough.
    services.retain(|one| is_reported(one) && (!is_hidden(&one.name) || one.name.ends_with(SEND_GOAL)));
    let types = |all: &[OneSided]| all.iter().map(|one| one.type_name.clone()).collect::<BTreeSet<_>>();
    let of_topics = ["subscription", "publisher", "publishes"];
    let of_services = ["client", "server", "serves"];
    let is_of_node = |one: &mut OneSided| of_node(&one.name, &one.type_name).is_some();
    let mut of_nodes: Vec<_> = services.extract_if(.., is_of_node).map(|one| (one, of_services)).collect();
    of_nodes.extend(topics.extract_if(.., is_of_node).map(|one| (one, of_topics)));
    let mut lines = Vec::new();
    if !topics.is_empty() {
        let offered = context.graph.published(&types(&topics));
        lines.extend(missing(&topics, &offered, patience, of_topics));
    }
    if !of_nodes.is_empty() {
        lines.extend(missing_nodes(context, &of_nodes, patience));
    }
    if !services.is_empty() {
        let offered = context.services.served(&types(&services));
        lines.extend(missing(&services, &offered, patience, of_services));
    }
    lines
}

/// Lines for entities without a counterpart. `words`: the entity's kind, the missing kind, and that
/// kind's verb.
fn missing(all: &[OneSided], offered: &[Offered], patience: Duration, words: [&str; 3]) -> Vec<Line> {
    let [end, other, does] = words;
    let compared = COMPARED / all.len().max(1);
    let line = |OneSided { node, name, type_name }: &OneSided| {
        let (action, name) = shown(name);
        let is_candidate = |offered: &&Offered| {
            offered.type_name == *type_name
                && !is_hidden(shown(&offered.name).1)
                && of_node(&offered.name, type_name).is_none()
        };
        let candidates = offered.iter().filter(is_candidate);
        let near = candidates
            .take(compared)
            .filter_map(|offered| Some((alike(name, shown(&offered.name).1)?, &offered.name, offered)));
        let nearest = near.min_by_key(|(edits, name, _)| (*edits, *name));
        let instead = nearest.map_or_else(String::new, |(_, name, offered)| {
            format!("; {} {does} the same type as {}", offered.node, shown(name).1)
        });
        let text =
            format!("no {other} of {action}{name} yet, {patience:?} after this {end} was made{instead}");
        Line { level: Level::Info, node: Some(node.clone()), text }
    };
    let mut lines: Vec<_> = all.iter().take(ONE_SIDED).map(line).collect();
    if let Some(left) = all.len().checked_sub(ONE_SIDED).filter(|left| *left > 0) {
        let text = format!("{left} more {end}s have no {other}; `sinew topic check` lists them");
        lines.push(Line { level: Level::Info, node: None, text });
    }
    lines
}

/// Lines for clients of the services that each node has. A program that creates one creates several
/// for the same node, so the line reports that node as missing: a similar service name would belong
/// to another node. `words` as for [`missing`].
fn missing_nodes(context: &Arc<ContextCore>, all: &[(OneSided, [&str; 3])], patience: Duration) -> Vec<Line> {
    let here = NodeCore::all_of(context);
    let elsewhere = context.transport().map(|transport| transport.node_names(MOST)).unwrap_or_default();
    let known: BTreeSet<&str> =
        here.iter().map(|node| &*node.full_name).chain(elsewhere.iter().map(String::as_str)).collect();
    let mut reported = BTreeSet::new();
    let mut lines = Vec::new();
    for (OneSided { node, name, type_name }, [end, other, _]) in all {
        let Some((wanted, service)) = of_node(name, type_name) else { continue };
        if !reported.insert((node, wanted)) || lines.len() == ONE_SIDED {
            continue;
        }
        let why = match known.contains(wanted) {
            true => format!("node {wanted} has no {service}"),
            false => match similar(wanted, known.iter().copied().filter(|name| !is_hidden(name))).first() {
                Some(near) => format!("no node is called {wanted}; there is {near}"),
                None => format!("no node is called {wanted}"),
            },
        };
        let text = format!("no {other} of {name} yet, {patience:?} after this {end} was made: {why}");
        lines.push(Line { level: Level::Info, node: Some(node.clone()), text });
    }
    lines
}

/// Returns the name to show: for an action, the name of the action.
fn shown(name: &str) -> (&'static str, &str) {
    name.split_once(ACTION).map_or(("", name), |(action, _)| ("action ", action))
}

/// Lines for nodes that share a name.
fn twins(context: &Arc<ContextCore>, mature: &Range<u64>) -> Vec<Line> {
    let all = NodeCore::all_of(context);
    let is_reported = |node: &&Arc<NodeCore>| {
        let is_new = mature.contains(&node.number) && !node.stands_in && !is_hidden(&node.full_name);
        is_new && !context.hints.is_silent(&node.full_name)
    };
    let new: Vec<_> = all.iter().filter(is_reported).collect();
    let names: BTreeSet<&str> = new.iter().map(|node| &*node.full_name).collect();
    let elsewhere = match context.transport() {
        Some(transport) if !names.is_empty() => transport.nodes_called(&names),
        _ => Vec::new(),
    };
    let (mut reported, mut lines) = (BTreeSet::new(), Vec::new());
    for node in new {
        let name = &node.full_name;
        let is_older = |other: &Arc<NodeCore>| {
            other.full_name == *name && other.number < node.number && !other.stands_in
        };
        let place = match elsewhere.iter().find(|(_, known)| **known == **name) {
            Some((peer, _)) => format!("process {} ({})", peer.pid(), peer.program()),
            None if all.iter().any(is_older) => "this process".to_owned(),
            None => continue,
        };
        if reported.insert(name.clone()) {
            let text = format!(
                "another node is called {name} as well, in {place}: requests for one of them may reach the other; give one \
                 another name (-r __node:=..) or namespace (-r __ns:=..)"
            );
            lines.push(Line { level: Level::Warn, node: Some(name.clone()), text });
        }
    }
    lines
}

/// Lines for rules and parameters that have matched nothing, and the reports about them for tools.
fn options(context: &Arc<ContextCore>, due: &OptionsDue) -> (Vec<Line>, Vec<Reported>) {
    let mut nodes = NodeCore::all_of(context);
    nodes.retain(|node| !node.stands_in && !is_hidden(&node.full_name));
    let is_asked = |node: &NodeCore| {
        let has_own = node.own_rules.is_some() || !node.parameter_options.overrides.is_empty();
        has_own && due.of_nodes.contains(&node.number) && !context.hints.is_silent(&node.full_name)
    };
    let of_context = due.of_context && context.arguments.has_rules();
    if !of_context && !nodes.iter().any(|node| is_asked(node)) {
        return (Vec::new(), Vec::new());
    }
    let names = names_of(context, &nodes);
    let of_line = if of_context { context.arguments.unmatched(&names) } else { Vec::new() };
    let mut all: Vec<_> = of_line.into_iter().map(|one| (one, None)).collect();
    for (node, its) in nodes.iter().zip(&names).filter(|(node, _)| is_asked(node)) {
        let its = std::slice::from_ref(its);
        let own = node
            .own_rules
            .iter()
            .flat_map(|rules| rules.unmatched_beside(context.arguments.remap_rules(), its));
        all.extend(own.chain(unused_overrides(node, its)).map(|one| (one, Some(node))));
    }
    let left = all.len().saturating_sub(OPTIONS);
    all.truncate(OPTIONS);
    let line = |(one, node): &(Unmatched, Option<&Arc<NodeCore>>)| {
        let level = if one.is_likely_wrong { Level::Warn } else { Level::Info };
        Line { level, node: node.map(|node| node.full_name.clone()), text: one.text.clone() }
    };
    let mut lines: Vec<_> = all.iter().map(line).collect();
    if left > 0 {
        let text = format!("{left} more rules and parameters have matched nothing so far");
        lines.push(Line { level: Level::Warn, node: None, text });
    }
    let participant = context.transport().and_then(|transport| transport.participant());
    let report = |(unmatched, node): (Unmatched, Option<&Arc<NodeCore>>)| {
        // Without a mark, no check could see when the report is over.
        let participant = participant.filter(|_| !unmatched.marks.is_empty())?;
        let endpoint = participant.advertise(&Report::Unmatched.about("", &unmatched.text), None);
        // Without room for the report, only the log has it.
        Some(Reported { unmatched, of: node.map(Arc::downgrade), _endpoint: endpoint.ok()? })
    };
    let likely = all.into_iter().filter(|(one, _)| one.is_likely_wrong);
    let reports = likely.filter_map(report).collect();
    (lines, reports)
}

/// Parameters that the program has set for a node, and that the node hasn't declared.
fn unused_overrides(node: &NodeCore, names: &[NodeNames]) -> Vec<Unmatched> {
    let overrides = &node.parameter_options.overrides;
    let declared = |name: &str| names.iter().any(|node| node.parameters.iter().any(|known| known == name));
    let unused = overrides.iter().filter(|one| !declared(&one.name));
    let its: Vec<_> = names.iter().collect();
    unused
        .map(|one| Unmatched {
            text: format!(
                "a parameter given to this node has set nothing so far: {}",
                missing_parameter(&one.name, &its)
            ),
            is_likely_wrong: true,
            marks: Vec::new(),
        })
        .collect()
}

fn names_of(context: &ContextCore, nodes: &[Arc<NodeCore>]) -> Vec<NodeNames> {
    let (topics, services) = (context.graph.users(), context.services.users());
    // Rules are not meant for hidden names, nor for the endpoints that every node has, its own or
    // those of other nodes.
    let is_of_program = |used: &&Used| {
        !OF_ALL.contains(&&*used.name)
            && !is_hidden(shown(&used.name).1)
            && of_node(&used.name, &used.type_name).is_none()
    };
    let of = |users: &[Used], node: &NodeCore| {
        let its = users.iter().filter(|used| used.node == node.full_name);
        its.filter(is_of_program).map(|used| used.name.clone()).collect()
    };
    let parameters =
        |node: &NodeCore| node.parameters.get().map(|table| table.list(&[""; 0], 0).0).unwrap_or_default();
    let names = |node: &Arc<NodeCore>| NodeNames {
        full_name: fully_qualified(&node.name, &node.namespace).into(),
        name: node.name.clone(),
        namespace: node.namespace.clone(),
        topics: of(&topics, node),
        services: of(&services, node),
        parameters: parameters(node),
    };
    nodes.iter().map(names).collect()
}

#[cfg(all(test, not(loom)))]
mod tests;
