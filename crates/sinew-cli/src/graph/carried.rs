//! Topics of the network without a subscription on this host: a gateway brings none of their
//! messages here, so their counters stand still even while messages are published there.
//!
//! `hz` and `bw` subscribe for as long as they watch. Commands that only read memory report that
//! nothing comes.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use sinew::QoS;
use sinew::graph::{EndpointInfo, EndpointKind};
use sinew_bench::clock::{now_ns, sleep_until};
use sinew_bench::run::Collected;
use sinew_shm::transport::{Incoming, Observer, OwnEndpoint, Participant, Sink};
use sinew_shm::{Domain, Endpoint, EndpointKey, EndpointKind as RecordKind, Peer};

use crate::cli::tools::WatchOptions;
use crate::error::Error;
use crate::observed::{Observed, ObservedDomain, ObservedEndpoint};
use crate::output::says;
use crate::terminal;

/// Shown in place of a number that would claim that nothing is published.
pub(crate) const NOT_CARRIED: &str = "not carried: no subscription here";

/// A topic's name, its type, and the hash of that.
type Type<'a> = (&'a str, &'a str, [u8; 32]);

/// The topics that subscriptions of this host take.
pub(crate) struct Taken<'a>(HashSet<Type<'a>>);

impl<'a> Taken<'a> {
    pub(crate) fn of(snapshot: &'a ObservedDomain) -> Self {
        Self::but_for(snapshot, None)
    }

    /// As `of`, without the subscriptions of a participant.
    fn but_for(snapshot: &'a ObservedDomain, participant: Option<u64>) -> Self {
        let counts = |end: &&ObservedEndpoint| !end.is_remote() && participant != Some(end.peer.id());
        let subscriptions = snapshot.of(EndpointKind::Subscription).filter(counts);
        Self(subscriptions.map(|end| what(&end.info)).collect())
    }

    /// Returns `true` if a publisher's messages come to this host: it is of this host, or a local
    /// subscription takes them.
    pub(crate) fn is_carried(&self, publisher: &ObservedEndpoint) -> bool {
        !publisher.is_remote() || self.0.contains(&what(&publisher.info))
    }
}

fn what(end: &EndpointInfo) -> Type<'_> {
    (&end.name, &end.type_name, end.type_hash.map_or([0; 32], |hash| hash.0))
}

/// Subscriptions that make a gateway bring a topic's messages here. The stand-ins of remote
/// publishers count the messages, which are then dropped.
pub(super) struct Subscribing {
    topic: String,
    /// `Some` once there is something to subscribe to.
    joined: Option<Joined>,
}

struct Joined {
    participant: Arc<Participant>,
    sources: Collected<Vec<Arc<Source>>>,
    /// Types by their names and hashes.
    types: HashSet<(String, [u8; 32])>,
    subscriptions: Vec<OwnEndpoint>,
    /// Receives the first signal.
    stops: Receiver<()>,
    buffer: Vec<u8>,
}

/// Messages from a publisher.
struct Source(Collected<Incoming>);

impl Sink for Source {
    // It is read whenever a report is due.
    fn drain(&self) {}
}

/// Takes the connections that publishers open.
struct Connections(Collected<Vec<Arc<Source>>>);

impl Observer for Connections {
    fn appeared(&self, _: &Arc<Peer>, _: EndpointKey, _: &Endpoint) {}

    fn vanished(&self, _: &Arc<Peer>, _: EndpointKey) {}

    fn connected(&self, mut incoming: Incoming, _: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
        incoming.unbind();
        let source = Arc::new(Source(Collected::new(incoming)));
        self.0.with(|sources| sources.push(Arc::clone(&source)));
        Some(source)
    }

    fn left(&self, _: &Arc<Peer>) {}
}

impl Subscribing {
    pub(super) fn new(topic: &str) -> Self {
        Self { topic: topic.to_owned(), joined: None }
    }

    /// Subscribes to remote publishers without another subscription on this host. Drops the
    /// messages that have come.
    pub(super) fn look(
        &mut self,
        options: &WatchOptions,
        observed: &Observed,
        snapshot: &ObservedDomain,
    ) -> Result<(), Error> {
        let own = self.joined.as_ref().map(|joined| joined.participant.id());
        let is_of_it = |end: &&ObservedEndpoint| end.info.name == self.topic && end.is_remote();
        let publishers = snapshot.of(EndpointKind::Publisher).filter(is_of_it);
        let taken = Taken::but_for(snapshot, own);
        let untaken: Vec<_> = publishers.filter(|end| !taken.is_carried(end)).collect();
        if self.joined.is_none() && !untaken.is_empty() {
            let name = &self.topic;
            says(&format!(
                "{name} is of the network, and has no subscription here: this command subscribes while it watches"
            ));
            self.joined = Some(Joined::new(options, observed)?);
        }
        let Some(joined) = &mut self.joined else { return Ok(()) };
        untaken.iter().try_for_each(|end| joined.subscribe(what(&end.info)))?;
        joined.drop_messages();
        Ok(())
    }

    /// Waits until that time. Returns `false` if it has to end: a signal ends it, if it has
    /// subscribed.
    pub(super) fn wait(&self, until_ns: i64) -> bool {
        let Some(joined) = &self.joined else {
            sleep_until(until_ns);
            return true;
        };
        let left = u64::try_from(until_ns - now_ns()).unwrap_or(0);
        joined.stops.recv_timeout(Duration::from_nanos(left)).is_err()
    }
}

impl Drop for Subscribing {
    fn drop(&mut self) {
        let Some(joined) = &mut self.joined else { return };
        joined.subscriptions.clear();
        joined.sources.with(Vec::clear);
        joined.participant.leave();
    }
}

impl Joined {
    fn new(options: &WatchOptions, observed: &Observed) -> Result<Self, Error> {
        let domain = Domain::open(options.info.place.dir.as_deref(), observed.domain())?;
        let sources = Collected::new(Vec::new());
        let participant = Participant::join(&domain, Arc::new(Connections(sources.clone())))?;
        let (told, stops) = mpsc::channel();
        let stop = move || {
            let _ = told.send(()); // it is ending already
        };
        terminal::stop_on_signal(stop, None)?;
        let (types, subscriptions) = (HashSet::new(), Vec::new());
        Ok(Self { participant, sources, types, subscriptions, stops, buffer: Vec::new() })
    }

    /// Subscribes to the new messages of such a publisher, with any QoS that it offers; not to
    /// retained ones.
    fn subscribe(&mut self, (topic, type_name, hash): Type<'_>) -> Result<(), Error> {
        if !self.types.insert((type_name.to_owned(), hash)) {
            return Ok(());
        }
        let subscription = Endpoint {
            kind: RecordKind::Subscription,
            number: self.types.len() as u64,
            node: format!("/_sinew_watch_{}", std::process::id()),
            name: topic.to_owned(),
            type_name: type_name.to_owned(),
            hash,
            qos: QoS::new().best_effort().keep_last(1).to_bytes(true),
        };
        self.subscriptions.push(self.participant.advertise(&subscription, None)?);
        Ok(())
    }

    fn drop_messages(&mut self) {
        let buffer = &mut self.buffer;
        self.sources.with(|sources| {
            sources.retain(|source| {
                source.0.with(|incoming| {
                    // Invalid messages are dropped as well.
                    while !matches!(incoming.read(buffer), Ok(None)) {}
                    let is_over = incoming.is_over();
                    if is_over {
                        incoming.done();
                    }
                    !is_over
                })
            });
        });
    }
}
