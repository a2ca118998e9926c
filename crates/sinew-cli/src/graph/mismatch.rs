//! Pairs that share a topic or a service and exchange nothing, with the reason. The library
//! decides.

use std::fmt;

use serde_json::{Value, json};
use sinew::event::Mismatch;
use sinew::graph::EndpointKind;
use sinew_shm::Counter;

use super::list::TOPICS;
use super::one_sided::{self, OneSided};
use crate::cli::tools::CheckOptions;
use crate::error::Error;
use crate::observed::{Observed, ObservedDomain, ObservedEndpoint, process_of};
use crate::output::{print, print_json};

/// A publisher and a subscription, or a server and a client.
pub(crate) struct Pair<'a> {
    pub(super) sender: &'a ObservedEndpoint,
    pub(super) receiver: &'a ObservedEndpoint,
    pub(crate) mismatch: Mismatch,
}

/// Returns the pairs that can't talk, by topic or service.
pub(crate) fn pairs(snapshot: &ObservedDomain, kinds: [EndpointKind; 2]) -> Vec<Pair<'_>> {
    let ends = snapshot.ends(kinds);
    ends.values().flat_map(|ends| pairs_of(&ends.0)).collect()
}

/// Returns the pairs of one topic.
pub(super) fn pairs_of<'a>([senders, receivers]: &[Vec<&'a ObservedEndpoint>; 2]) -> Vec<Pair<'a>> {
    let pair = |(sender, receiver): (&'a ObservedEndpoint, &'a ObservedEndpoint)| {
        let mismatch = Mismatch::between(&sender.info, &receiver.info)?;
        // An endpoint with a partner in its own process keeps its messages there on purpose.
        let is_matched = [sender, receiver].iter().any(|end| end.counts().get(Counter::Matched) > 0);
        let stays = matches!(mismatch, Mismatch::StaysInside { .. });
        (!stays || !is_matched).then_some(Pair { sender, receiver, mismatch })
    };
    let both = |&sender| receivers.iter().map(move |&receiver| (sender, receiver));
    senders.iter().flat_map(both).filter_map(pair).collect()
}

/// Lists pairs of one topic that match only because one endpoint is of a program on the network
/// that ignores QoS, as rmw_zenoh does: a line for each.
pub(super) fn tolerated([senders, receivers]: &[Vec<&ObservedEndpoint>; 2]) -> String {
    let both = |&sender| receivers.iter().map(move |&receiver| (sender, receiver));
    let line = |(sender, receiver): (&ObservedEndpoint, &ObservedEndpoint)| {
        let why = Mismatch::tolerated(&sender.info, &receiver.info)?;
        let [sender, receiver] = [sender, receiver].map(|end| &end.info.node);
        Some(format!("{sender} and {receiver} match as rmw_zenoh's ends do, which look at no QoS: {why}\n"))
    };
    senders.iter().flat_map(both).filter_map(line).collect()
}

impl Pair<'_> {
    /// Returns the sentence for one of the two endpoints.
    pub(super) fn towards(&self, end: &ObservedEndpoint) -> Option<String> {
        let Self { sender, receiver, mismatch } = self;
        let other = match end.id() {
            id if id == sender.id() => receiver,
            id if id == receiver.id() => sender,
            _ => return None,
        };
        Some(format!("incompatible: {mismatch} with {}", other.info.node))
    }

    /// Returns advice.
    pub(crate) fn remedy(&self) -> String {
        let (sender, receiver) = (&self.sender.info.node, &self.receiver.info.node);
        match &self.mismatch {
            Mismatch::Qos(_) => format!("have {sender} offer as much, or {receiver} ask for no more"),
            Mismatch::StaysInside { .. } => "have the type derive Message with its fields".to_owned(),
            _ => format!(
                "give {sender} and {receiver} one type, or names of their own (-r {}:=..)",
                self.name()
            ),
        }
    }

    fn name(&self) -> &str {
        &self.sender.info.name
    }

    pub(super) fn json(&self) -> Value {
        let end = |end: &ObservedEndpoint| {
            let (pid, program) = process_of(&end.info.place);
            json!({"node": end.info.node, "pid": pid, "program": program})
        };
        json!({
            "name": self.name(), "sender": end(self.sender), "receiver": end(self.receiver),
            "reason": self.mismatch.to_string(),
        })
    }
}

impl fmt::Display for Pair<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = |end: &ObservedEndpoint| {
            let (pid, program) = process_of(&end.info.place);
            let place = match end.is_remote() {
                true => "on the network".to_owned(),
                false => format!("in process {pid} ({program})"),
            };
            format!("{} {place}", end.info.node)
        };
        let Self { sender, receiver, mismatch } = self;
        write!(f, "{}: {} is incompatible: {mismatch} with {}", self.name(), who(sender), who(receiver))
    }
}

/// Runs `sinew topic check`. Fails if there is such a pair. One-sided names are no failure: the
/// other side may come.
pub(super) fn check(options: &CheckOptions) -> Result<(), Error> {
    let mut observed = Observed::open(&options.place)?;
    let snapshot = observed.look()?;
    let topics = snapshot.topics();
    let chosen = |name: &&str| options.name.as_ref().is_none_or(|wanted| wanted == *name);
    if let Some(name) = &options.name
        && !topics.contains_key(name.as_str())
    {
        return Err(TOPICS.missing(&observed, topics.into_keys(), name));
    }
    let of_topics = topics.iter().filter(|(name, _)| chosen(name));
    let found: Vec<Pair<'_>> = of_topics.clone().flat_map(|(_, ends)| pairs_of(&ends.0)).collect();
    let mut one_sided = one_sided::find(&snapshot);
    if options.name.is_some() {
        one_sided.retain(|one| one.what == one_sided::Named::Topic && chosen(&one.name));
    }
    if options.json {
        let one_sided = one_sided.iter().map(OneSided::json);
        print_json(&found.iter().map(Pair::json).chain(one_sided).collect::<Vec<_>>())?;
    } else {
        let mut text: String = found.iter().map(|pair| format!("{pair}\n")).collect();
        if found.is_empty() {
            let count = of_topics.count();
            let s = if count == 1 { "" } else { "s" };
            text = format!("{count} topic{s}: every publisher matches every subscription\n");
        }
        let is_told = |one: &&OneSided<'_>| options.name.is_some() || !one.is_repeated();
        text.extend(one_sided.iter().filter(is_told).map(|one| format!("{one}\n")));
        print(&text)?;
    }
    match found.len() {
        0 => Ok(()),
        count => Err(Error::Apart { count }),
    }
}
