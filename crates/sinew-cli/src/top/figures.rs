//! The displayed figures: sums over the endpoints of each topic and process, since the last look.

use std::collections::HashMap;

use serde::Serialize;
use sinew::graph::EndpointKind;
use sinew_shm::Peer;

use crate::gateways::{NetworkService, NetworkTopic, ObservedGateway};
use crate::graph::timers::ObservedTimer;
use crate::graph::{Change, Held, Taken, Track, dropped};
use crate::observed::{EndpointId, ObservedDomain, ObservedEndpoint, ObservedRecord};

/// The counters at the last look.
#[derive(Default)]
pub(super) struct Watched {
    at_ns: i64,
    tracks: HashMap<EndpointId, Track>,
    /// The calls of timers.
    calls: HashMap<EndpointId, u64>,
    gateways: HashMap<u64, ObservedGateway>,
}

/// All figures at one moment.
#[derive(Default, Serialize)]
pub(super) struct Figures {
    /// Time since the previous look.
    pub(super) seconds: f64,
    pub(super) processes: Vec<ProcessFigures>,
    pub(super) gateways: Vec<GatewayFigures>,
    pub(super) topics: Vec<Topic>,
    pub(super) timers: Vec<TimerFigures>,
}

/// A timer.
#[derive(Serialize)]
pub(super) struct TimerFigures {
    pub(super) node: String,
    pub(super) pid: u64,
    #[serde(flatten)]
    pub(super) timer: ObservedTimer,
    pub(super) calls_hz: f64,
}

/// A participant; for a gateway, all its participants and the program around them.
#[derive(Default, Serialize)]
pub(super) struct ProcessFigures {
    pub(super) pid: u64,
    pub(super) program: String,
    pub(super) nodes: usize,
    pub(super) publishers: usize,
    pub(super) subscriptions: usize,
    pub(super) servers: usize,
    pub(super) clients: usize,
    /// Messages per second.
    pub(super) published_hz: f64,
    /// Messages per second.
    pub(super) taken_hz: f64,
    pub(super) bytes_per_second: f64,
    /// As for a [`Topic`].
    pub(super) by_reference_hz: f64,
    /// Bytes of shared memory that its endpoints have for messages, in addition to their rings.
    pub(super) memory: u64,
    /// Since its endpoints were created.
    pub(super) dropped: u64,
    /// The long-running callbacks of its threads.
    pub(super) in_callbacks: Vec<Held>,
    /// Messages and requests that wait for it, including those that it hasn't fetched yet.
    pub(super) waiting: u64,
}

/// The gateway of a domain.
#[derive(Default, Serialize)]
pub(super) struct GatewayFigures {
    pub(super) pid: u64,
    pub(super) program: String,
    pub(super) session: String,
    /// Its links, for people.
    pub(super) connections: String,
    pub(super) topics: Vec<NetworkTopicFigures>,
    pub(super) services: Vec<NetworkServiceFigures>,
}

/// A gateway's figures for a topic.
#[derive(Default, Serialize)]
pub(super) struct NetworkTopicFigures {
    #[serde(flatten)]
    pub(super) totals: NetworkTopic,
    /// Messages per second.
    pub(super) received_hz: f64,
    pub(super) received_bytes_per_second: f64,
    /// Messages per second.
    pub(super) sent_hz: f64,
    pub(super) sent_bytes_per_second: f64,
}

/// A gateway's figures for a service.
#[derive(Default, Serialize)]
pub(super) struct NetworkServiceFigures {
    #[serde(flatten)]
    pub(super) totals: NetworkService,
    pub(super) calls_hz: f64,
}

impl GatewayFigures {
    /// `before`: its state at the last look. A new topic counts from the next look on.
    fn new(gateway: &ObservedGateway, before: Option<&ObservedGateway>, seconds: f64) -> Self {
        let more = |now: u64, then: Option<u64>| now.saturating_sub(then.unwrap_or(now)) as f64 / seconds;
        let topic = |now: &NetworkTopic| {
            let is_it = |then: &&NetworkTopic| (&then.name, &then.type_name) == (&now.name, &now.type_name);
            let then = before.and_then(|before| before.topics.iter().find(is_it));
            let of = |read: fn(&NetworkTopic) -> u64| more(read(now), then.map(read));
            NetworkTopicFigures {
                totals: now.clone(),
                received_hz: of(|topic| topic.received),
                received_bytes_per_second: of(|topic| topic.received_bytes),
                sent_hz: of(|topic| topic.sent),
                sent_bytes_per_second: of(|topic| topic.sent_bytes),
            }
        };
        let service = |now: &NetworkService| {
            let is_it = |then: &&NetworkService| (&then.name, &then.type_name) == (&now.name, &now.type_name);
            let then = before.and_then(|before| before.services.iter().find(is_it));
            let calls_hz = more(now.calls, then.map(|then| then.calls));
            NetworkServiceFigures { totals: now.clone(), calls_hz }
        };
        Self {
            pid: gateway.pid,
            program: gateway.program.clone(),
            session: gateway.session.clone(),
            connections: gateway.connections(),
            topics: gateway.topics.iter().map(topic).collect(),
            services: gateway.services.iter().map(service).collect(),
        }
    }
}

/// A topic.
#[derive(Default, Serialize)]
pub(super) struct Topic {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) type_name: String,
    pub(super) publishers: usize,
    pub(super) subscriptions: usize,
    /// Whether its messages come to this host: a publisher or a subscription is here. Otherwise its
    /// figures mean nothing.
    pub(super) carried: bool,
    pub(super) rate_hz: f64,
    pub(super) bytes_per_second: f64,
    /// Messages per second of publishers with messages that all stay in their process, where they
    /// move by reference.
    pub(super) by_reference_hz: f64,
    /// Bytes of shared memory that its publishers have for messages, in addition to their rings.
    pub(super) memory: u64,
    /// Copies, encodings and decodings of messages per second.
    pub(super) copies_hz: f64,
    pub(super) encodings_hz: f64,
    pub(super) decodings_hz: f64,
    /// From publication to callback, for the messages since the last look.
    pub(super) mean_latency_ns: Option<f64>,
    pub(super) p99_below_ns: Option<u64>,
    /// Messages that wait for its subscriptions, including those that their processes haven't
    /// fetched yet.
    pub(super) queued: u64,
    /// Since its endpoints were created.
    pub(super) dropped: u64,
    /// Since the last look.
    pub(super) dropped_now: u64,
}

impl Watched {
    /// Returns the figures since the previous look.
    pub(super) fn look(&mut self, snapshot: &ObservedDomain) -> Figures {
        let since_ns = snapshot.at_ns - std::mem::replace(&mut self.at_ns, snapshot.at_ns);
        let seconds = (since_ns as f64 / 1e9).max(1e-9);
        let mut before = std::mem::take(&mut self.tracks);
        let mut seen = Vec::with_capacity(snapshot.endpoints.len());
        for end in &snapshot.endpoints {
            let counts = end.counts();
            // The window is a single look: only the change since the last one is needed.
            let track = before.remove(&end.id());
            let mut track = track.unwrap_or_else(|| Track::new(1, snapshot.at_ns, counts));
            track.look(snapshot.at_ns, counts);
            let seen_end = EndFigures {
                end,
                change: track.change(),
                memory: counts.memory,
                dropped: dropped(&counts),
                queued: snapshot.waiting(end).all(),
            };
            seen.push(seen_end);
            self.tracks.insert(end.id(), track);
        }
        let before = std::mem::take(&mut self.gateways);
        let gateway = |gateway: &ObservedGateway| {
            let before = before.get(&gateway.peer.id());
            GatewayFigures::new(gateway, before, seconds)
        };
        let now = ObservedGateway::all(snapshot);
        let gateways = now.iter().map(gateway).collect();
        let figures = Figures {
            seconds,
            processes: processes(snapshot, (&seen, &now), seconds),
            gateways,
            topics: topics(snapshot, &seen, seconds),
            timers: self.timers(snapshot, seconds),
        };
        self.gateways = now.into_iter().map(|now| (now.peer.id(), now)).collect();
        figures
    }
}

impl Watched {
    fn timers(&mut self, snapshot: &ObservedDomain, seconds: f64) -> Vec<TimerFigures> {
        let before = std::mem::take(&mut self.calls);
        let figures = |report: &ObservedRecord| {
            let timer = ObservedTimer::read(report)?;
            self.calls.insert(report.id(), timer.calls);
            let calls = timer.calls.saturating_sub(*before.get(&report.id()).unwrap_or(&timer.calls));
            Some(TimerFigures {
                node: report.record.node.clone(),
                pid: report.peer.pid(),
                timer,
                calls_hz: calls as f64 / seconds,
            })
        };
        snapshot.reports.iter().filter_map(figures).collect()
    }
}

/// An endpoint and its figures.
struct EndFigures<'a> {
    end: &'a ObservedEndpoint,
    change: Change,
    memory: u64,
    dropped: u64,
    queued: u64,
}

fn processes(
    snapshot: &ObservedDomain,
    (seen, gateways): (&[EndFigures<'_>], &[ObservedGateway]),
    seconds: f64,
) -> Vec<ProcessFigures> {
    let new = |peer: &Peer| {
        let in_callbacks = snapshot.held(peer);
        ProcessFigures { pid: peer.pid(), program: peer.program(), in_callbacks, ..ProcessFigures::default() }
    };
    let mut all = Vec::<ProcessFigures>::new();
    let mut at = HashMap::<u64, usize>::new();
    for peer in &snapshot.processes {
        // A gateway is several participants of one process.
        let gateway = gateways.iter().find(|gateway| gateway.is_of(peer));
        let beside = gateway.and_then(|gateway| all.iter().position(|one| one.pid == gateway.pid));
        at.insert(peer.id(), beside.unwrap_or(all.len()));
        match (beside.and_then(|index| all.get_mut(index)), new(peer)) {
            (Some(process), more) => process.in_callbacks.extend(more.in_callbacks),
            (None, process) => all.push(process),
        }
    }
    for gateway in gateways {
        // A gateway in a process of its own has no other endpoints.
        let of_it = |end: &&EndFigures<'_>| gateway.is_of(&end.end.peer);
        if seen.iter().filter(of_it).all(|end| end.end.is_remote())
            && let Some(process) = all.iter_mut().find(|process| process.pid == gateway.pid)
        {
            "gateway".clone_into(&mut process.program);
        }
    }
    for EndFigures { end, change, memory, dropped, queued } in seen {
        let Some(process) = at.get(&end.peer.id()).and_then(|&index| all.get_mut(index)) else {
            continue;
        };
        process.memory = process.memory.wrapping_add(*memory);
        process.dropped = process.dropped.wrapping_add(*dropped);
        process.waiting = process.waiting.wrapping_add(*queued);
        match end.info.kind {
            EndpointKind::Server => process.servers += 1,
            EndpointKind::Client => process.clients += 1,
            EndpointKind::Publisher => {
                process.publishers += 1;
                process.published_hz += change.messages as f64 / seconds;
                process.bytes_per_second += change.bytes as f64 / seconds;
                process.by_reference_hz += change.by_reference as f64 / seconds;
            }
            EndpointKind::Subscription => {
                process.subscriptions += 1;
                process.taken_hz += change.taken as f64 / seconds;
            }
            _ => {}
        }
    }
    let process = |peer: &Peer| at.get(&peer.id()).copied();
    for node in &snapshot.nodes {
        if let Some(process) = process(&node.peer).and_then(|index| all.get_mut(index)) {
            process.nodes += 1;
        }
    }
    for other in &snapshot.others {
        if let Some(process) = process(&other.peer).and_then(|index| all.get_mut(index)) {
            let counts = other.counts();
            process.memory = process.memory.wrapping_add(counts.memory);
            process.dropped = process.dropped.wrapping_add(self::dropped(&counts));
        }
    }
    all
}

fn topics(snapshot: &ObservedDomain, seen: &[EndFigures<'_>], seconds: f64) -> Vec<Topic> {
    let mut ends = std::collections::BTreeMap::<&str, Vec<&EndFigures<'_>>>::new();
    for one in seen {
        if matches!(one.end.info.kind, EndpointKind::Publisher | EndpointKind::Subscription) {
            ends.entry(&one.end.info.name).or_default().push(one);
        }
    }
    let taken = Taken::of(snapshot);
    let topic = |(name, ends): (&str, Vec<&EndFigures<'_>>)| {
        let mut topic = Topic { name: name.to_owned(), ..Topic::default() };
        let mut latencies = crate::graph::Latencies::default();
        let mut publishers =
            ends.iter().map(|one| one.end).filter(|end| end.info.kind == EndpointKind::Publisher).peekable();
        topic.carried = publishers.peek().is_none() || publishers.any(|end| taken.is_carried(end));
        for EndFigures { end, change, memory, dropped, queued } in ends {
            if topic.type_name.is_empty() {
                topic.type_name.clone_from(&end.info.type_name);
            }
            let [copies, encodings, decodings] = change.work.map(|count| count as f64 / seconds);
            topic.copies_hz += copies;
            topic.encodings_hz += encodings;
            topic.decodings_hz += decodings;
            topic.memory = topic.memory.wrapping_add(*memory);
            topic.dropped = topic.dropped.wrapping_add(*dropped);
            topic.dropped_now = topic.dropped_now.wrapping_add(change.dropped);
            if end.info.kind == EndpointKind::Publisher {
                topic.publishers += 1;
                topic.rate_hz += change.messages as f64 / seconds;
                topic.by_reference_hz += change.by_reference as f64 / seconds;
                topic.bytes_per_second += change.bytes as f64 / seconds;
            } else {
                topic.subscriptions += 1;
                topic.queued = topic.queued.wrapping_add(*queued);
                latencies.add(&change.latencies);
            }
        }
        (topic.mean_latency_ns, topic.p99_below_ns) = (latencies.mean(), latencies.below(99));
        topic
    };
    ends.into_iter().map(topic).collect()
}
