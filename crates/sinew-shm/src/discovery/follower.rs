//! Following the other participants' changes.

use crate::connection::incoming::Incoming;
use crate::connection::outgoing::Outgoing;
use crate::discovery::known_peers::{Discovery, KnownPeer, RefusedPeer, SETTLING, Touched, nanoseconds};
use crate::discovery::observer::{Effects, Observer};
use crate::event::receiver::{EventReceiver, EventReceivers};
use crate::event::sender::EventSender;
use crate::own::incoming_entry::Sink;
use crate::own::own_state::OwnState;
use crate::peer::leftovers::remove_files;
use crate::peer::mapped_peer::Changes;
use crate::platform::logging::{later, write_waiting};
use crate::platform::sync::{Arc, Mutex, Ordering};
use crate::platform::sys::{self};
use crate::segment::owner_state::{OwnerState, probe};
use crate::tables::bell::Doorbell;
use crate::tables::control_segment::{
    EndpointRecord, EventRingRecord, IncomingRecord, OutgoingRecord, Table, names_generation,
    read_generation, slot_of,
};
use crate::tables::endpoint::{Endpoint, EndpointKey, EndpointKind};
use std::time::Duration;

thread_local! {
    /// Whether this thread is looking, and may be calling an observer.
    static LOOKING: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

struct Looking;

impl Looking {
    fn begin() -> Self {
        LOOKING.set(true);
        Self
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        LOOKING.set(false);
    }
}

/// Follows the other participants: on the helper thread, and on threads that refresh.
pub(crate) struct Follower {
    pub(super) own: Arc<OwnState>,
    pub(super) outgoing: Arc<Outgoing>,
    pub(crate) ports: EventReceivers,
    observer: Arc<dyn Observer>,
    pub(crate) discovery: Mutex<Discovery>,
}

impl Follower {
    pub(crate) fn new(
        own: &Arc<OwnState>,
        outgoing: &Arc<Outgoing>,
        observer: Arc<dyn Observer>,
    ) -> Arc<Self> {
        Arc::new(Self {
            own: own.clone(),
            outgoing: outgoing.clone(),
            ports: EventReceivers::default(),
            observer,
            discovery: Mutex::new(Discovery::new(&own.domain, own.id)),
        })
    }

    /// Looks for changes now, on this thread.
    pub(crate) fn refresh(&self) {
        // An observer that makes an entity during a call doesn't look again.
        if self.own.check().is_err() || LOOKING.get() {
            return;
        }
        self.look(true);
    }

    /// Looks at all known peers, or only at those that showed a sign. Returns the time until the
    /// helper thread's next look; `None`: until something happens.
    pub(super) fn look(&self, at_all: bool) -> Option<Duration> {
        let observer = &*self.observer;
        let mut effects = Effects { observer, sinks: Vec::new() };
        let (mut is_due, mut patience) = (false, None);
        let mut look = || {
            let _looking = Looking::begin();
            let mut discovery = self.discovery.lock();
            discovery.has_all_changed |= at_all;
            is_due = self.look_around(&mut discovery, &mut effects);
            patience = self.plan(&mut discovery, at_all);
        };
        later(|| observer.attend(&mut look));
        for sink in effects.sinks.drain(..) {
            observer.drain(sink);
        }
        if is_due {
            let again = [observer.retry(), self.own.memory.tidy_now_and_then(&self.own.readers)];
            write_waiting();
            let mut discovery = self.discovery.lock();
            if let Some(pause) = again.into_iter().flatten().min() {
                discovery.look_within(pause.max(SETTLING));
            }
            patience = self.plan(&mut discovery, at_all);
        }
        patience
    }

    /// Returns how long the helper thread may sleep; wakes it if another thread has found that it
    /// must look earlier.
    fn plan(&self, discovery: &mut Discovery, is_other_thread: bool) -> Option<Duration> {
        let patience = discovery.patience(self.own.has_request());
        let until = patience.map_or(i64::MAX, |patience| sys::steady().saturating_add(nanoseconds(patience)));
        if !is_other_thread {
            discovery.sleeps_until = until;
        } else if until < discovery.sleeps_until {
            discovery.sleeps_until = until;
            self.own.wake_helper();
        }
        patience
    }

    /// If a pause is over, lets each paused reader, and each writer whose reader could not be
    /// notified, continue. Returns the sinks to drain.
    fn go_on(&self) -> Vec<Arc<dyn Sink>> {
        if !self.own.ends_pause() {
            return Vec::new();
        }
        self.ports.each(EventReceiver::ring);
        self.outgoing.announce_paused();
        let all = self.own.incoming.lock();
        all.values().flatten().flatten().filter_map(|entry| entry.sink.clone()).collect()
    }

    /// Removes all peers because this participant has left.
    pub(crate) fn forget(&self) {
        let mut discovery = self.discovery.lock();
        self.clear_up(&discovery);
        discovery.forget();
    }

    /// Returns `true` if it was time to look at everything.
    fn look_around(&self, discovery: &mut Discovery, effects: &mut Effects<'_>) -> bool {
        let now = sys::steady();
        let is_due = discovery.take_reports(now);
        if is_due {
            self.own.take_request(); // before everything is looked at: a later one is another look's
        }
        if std::mem::take(&mut discovery.is_rung) {
            self.own.ring_all();
        }
        self.look_for_news(discovery, now);
        effects.sinks.extend(self.go_on());
        let mut changed = std::mem::take(&mut discovery.changed);
        if std::mem::take(&mut discovery.has_all_changed) {
            changed = discovery.peers.keys().copied().collect();
        }
        for &id in &changed {
            let Some(known) = discovery.peers.get_mut(&id) else { continue };
            let has_news = self.follow(known, effects);
            if known.is_incomplete {
                discovery.changed.insert(id); // again the next time
            }
            if has_news {
                discovery.look_within(SETTLING); // the observer may have to try something again
            }
        }
        for id in discovery.due(now) {
            let is_alive = match discovery.peers.get(&id) {
                Some(known) => known.peer.is_alive(),
                None => probe(self.own.domain.directory(), id) == OwnerState::Alive,
            };
            if is_alive {
                continue;
            }
            discovery.suspects.remove(&id);
            discovery.by_watch.retain(|_, watched| *watched != id);
            match discovery.refused.get(&id) {
                // The living participants of its version know whether they still read it. It is
                // queried again with all that are refused.
                Some(RefusedPeer::Version) if discovery.has_strangers() => {}
                // Other participants that can map it know. It is tried again with everything else
                // that can't be opened now.
                Some(RefusedPeer::Now) => {}
                Some(_) => {
                    discovery.refused.remove(&id);
                    remove_files(&self.own.domain, id);
                }
                None => {}
            }
            if let Some(known) = discovery.peers.remove(&id) {
                self.bury(discovery, known, effects);
            }
        }
        for id in changed {
            let has_left = discovery.peers.get(&id).is_some_and(|known| known.peer.has_left());
            if let Some(known) = has_left.then(|| discovery.peers.remove(&id)).flatten() {
                discovery.by_watch.retain(|_, watched| *watched != id);
                discovery.suspects.remove(&id);
                self.bury(discovery, known, effects);
            }
        }
        self.reap(discovery, effects);
        is_due
    }

    /// Meets new peers. If they can't find this participant because its control segment has lost
    /// its name, it meets none: if only one of two participants knew the other, it would send to,
    /// or wait for, a peer that never answers.
    fn look_for_news(&self, discovery: &mut Discovery, now: i64) {
        let is_stale = std::mem::take(&mut discovery.is_stale);
        let came = std::mem::take(&mut discovery.came);
        if !is_stale && came.is_empty() {
            return;
        }
        // After taking the news: if the name is there now, it was there for each peer that has
        // looked around since that peer came.
        if !self.own.has_name() {
            discovery.is_stale = true; // if the name comes back, it meets those that came meanwhile
            if !std::mem::replace(&mut discovery.is_nameless, true) {
                crate::log_line!(
                    log::Level::Warn,
                    "{} was removed while its participant lives: participants that know it continue with it, but no others can find it, nor \
                     open its new memory; restart the program, and exempt the directory from clean-up scripts",
                    self.own.control_path().display()
                );
            }
            return;
        }
        if is_stale {
            discovery.read_directory(now);
        }
        for (id, _) in came {
            discovery.meet(id, now);
        }
    }

    /// Brings the knowledge of a peer up to date. Returns `false` if it was.
    pub(super) fn follow(&self, known: &mut KnownPeer, effects: &mut Effects<'_>) -> bool {
        if std::mem::take(&mut known.is_incomplete) {
            known.position = None;
        }
        let changes = match known.position {
            Some(position) if !known.peer.has_changed(position) => return false,
            Some(position) => known.peer.changes(position),
            None => match known.peer.changes(0) {
                Changes::Some(_, head) | Changes::All(head) => Changes::All(head),
            },
        };
        let (Changes::Some(_, head) | Changes::All(head)) = changes;
        known.position = Some(head);
        match changes {
            Changes::Some(changes, _) => {
                for (table, slot) in changes {
                    self.follow_record(known, table, slot, effects);
                }
            }
            Changes::All(_) => {
                for table in [Table::Endpoints, Table::Outgoing, Table::Incoming, Table::EventRings] {
                    for slot in 0..known.peer.reserved(table) {
                        self.follow_record(known, table, slot, effects);
                    }
                }
                self.follow_tails(known);
                self.follow_ports(known);
            }
        }
        known.peer.is_followed(head);
        true
    }

    fn follow_record(&self, known: &mut KnownPeer, table: Table, slot: u32, effects: &mut Effects<'_>) {
        match table {
            Table::Endpoints => follow_endpoint(known, slot, effects),
            Table::Outgoing => self.follow_outgoing(known, slot, effects),
            Table::Incoming => self.follow_incoming(known, slot),
            Table::EventRings => self.follow_event_ring(known, slot),
            Table::Tails | Table::Peers => self.follow_tails(known),
            Table::Ports => self.follow_ports(known),
            Table::Holds | Table::Workers => {}
        }
    }

    /// Follows a connection of the peer's, which may be to us.
    pub(super) fn follow_outgoing(&self, known: &mut KnownPeer, slot: u32, effects: &mut Effects<'_>) {
        let Some(record) = known.peer.record::<OutgoingRecord>(Table::Outgoing, slot) else { return };
        let generation = record.generation.load(Ordering::Acquire); // T3: pairs with T2
        let id = known.peer.id();
        let entry = self.own.incoming.lock().get(&id).and_then(|all| {
            let entry = all.get(slot as usize)?.as_ref()?;
            Some((entry.generation, entry.sink.clone()))
        });
        if let Some((known_generation, sink)) = entry {
            effects.sinks.extend(sink);
            if known_generation == generation {
                return; // something about it changed: it may have ended
            }
            self.own.retire_incoming(id, slot, known_generation);
        }
        if generation.is_multiple_of(2) || record.peer.load(Ordering::Relaxed) != self.own.id {
            return;
        }
        let target = record.target.load(Ordering::Relaxed); // checked by `take_up`
        let incoming = match Incoming::take_up(&self.own, &known.peer, (slot, generation), record) {
            Ok(Some(incoming)) => incoming,
            Ok(None) => return,
            Err(error) => {
                crate::log_line!(log::Level::Error, "a connection can't be taken up: {error}");
                known.is_incomplete = true;
                return;
            }
        };
        let mut entry = incoming.entry(None);
        let place = |entry| {
            let mut all = self.own.incoming.lock();
            let all = all.entry(id).or_default();
            if all.len() <= slot as usize {
                all.resize_with(slot as usize + 1, || None);
            }
            all[slot as usize] = Some(entry);
        };
        let target = (target != 0).then(|| EndpointKey::of(target));
        // The log names records, which are read as they are now. If a record was reused, this entry
        // comes before the log's entry for the sending entity, but the observer must see that
        // entity first.
        let source = incoming.source();
        if known.endpoints.get(&source.slot) != Some(&source) {
            follow_endpoint(known, source.slot, effects);
        }
        entry.sink = effects.observer.connected(incoming, target);
        effects.sinks.extend(entry.sink.clone());
        place(entry);
    }

    /// Follows a peer's record of a connection that may be ours.
    fn follow_incoming(&self, known: &KnownPeer, slot: u32) {
        let Some(record) = known.peer.record::<IncomingRecord>(Table::Incoming, slot) else { return };
        let Some(outgoing) = record.answers(self.own.id) else { return };
        let Some(accepted) = self.outgoing.find(slot_of(outgoing)) else { return };
        if !names_generation(outgoing, accepted.reference) || accepted.peer.id() != known.peer.id() {
            return;
        }
        accepted.adopt(record); // B3
        if !sys::fence_all_threads() {
            accepted.set_unfenced();
        }
        accepted.announce();
        self.outgoing.check(&accepted);
    }

    /// Follows an event ring of the peer's, which may be towards us.
    fn follow_event_ring(&self, known: &mut KnownPeer, slot: u32) {
        let Some(record) = known.peer.record::<EventRingRecord>(Table::EventRings, slot) else { return };
        // Relaxed: T3 checks it.
        let found = read_generation(&record.generation, || {
            (record.peer.load(Ordering::Relaxed), record.port.load(Ordering::Relaxed))
        });
        let generation = found.map(|(generation, _)| generation);
        if generation.is_some() && known.event_rings.get(&slot) == generation.as_ref() {
            return;
        }
        known.event_rings.remove(&slot);
        let Some((generation, (peer, reference))) = found else { return };
        if peer != self.own.id {
            return;
        }
        let Some(port) = self.ports.find(reference) else { return };
        let entries = match self.own.event_entries(&known.peer, slot) {
            Ok(Some(entries)) => entries,
            Err(error) if error.may_pass() => {
                known.is_incomplete = true;
                self.own.pause();
                return;
            }
            Ok(None) | Err(_) => return,
        };
        let tail = self
            .own
            .slot_for(known.peer.id())
            .and_then(|(peer_slot, peer_generation)| port.peer_tail(peer_slot, peer_generation));
        match tail {
            Ok(tail) => {
                known.event_rings.insert(slot, generation);
                port.add_source(&known.peer, slot, entries, tail);
            }
            Err(error) => {
                crate::log_line!(log::Level::Error, "events of another participant can't be read: {error}");
                known.is_incomplete = true;
            }
        }
    }

    /// The peer may have places for the tails of our event rings.
    fn follow_tails(&self, known: &KnownPeer) {
        if self.outgoing.event_rings.adopt_tails(&self.own, known.peer.id()) {
            self.outgoing.announce_to(known.peer.id());
        }
    }

    /// Some of the peer's ports may be gone.
    fn follow_ports(&self, known: &KnownPeer) {
        let is_gone = |event_sender: &EventSender| !event_sender.is_current();
        self.outgoing.event_rings.retire(&self.own, known.peer.id(), is_gone);
    }
}

impl Doorbell for Follower {
    /// Rings the bells if another user has touched the doorbell, or may have touched it. All other
    /// reports wait for the helper thread's next look, which this triggers at once.
    fn check(&self) {
        if self.own.is_forked() {
            return; // the reports are for the parent to read
        }
        // The thread that holds the lock reads the reports.
        let Some(mut discovery) = self.discovery.try_lock() else { return };
        if discovery.read_watch(sys::steady()) {
            self.own.wake_helper();
        }
        let is_unwatched = matches!(discovery.doorbell, Touched::Unwatched);
        if std::mem::take(&mut discovery.is_rung) || is_unwatched {
            self.own.ring_all();
        }
    }
}

fn follow_endpoint(known: &mut KnownPeer, slot: u32, effects: &mut Effects<'_>) {
    let Some(record) = known.peer.record::<EndpointRecord>(Table::Endpoints, slot) else { return };
    let found = match Endpoint::load(&record, known.peer.file()) {
        Ok(found) => found,
        Err(error) => {
            crate::log_line!(log::Level::Warn, "an entity of another participant is ignored: {error}");
            None
        }
    };
    // A report is for tools: nothing here follows it.
    let found = found.filter(|(_, endpoint)| endpoint.kind != EndpointKind::Report);
    let key = found
        .as_ref()
        .map(|(generation, _)| EndpointKey::of(crate::tables::control_segment::reference(slot, *generation)));
    let before = known.endpoints.get(&slot).copied();
    if before == key {
        return;
    }
    if let Some(before) = before {
        known.endpoints.remove(&slot);
        effects.observer.vanished(&known.peer, before);
    }
    if let (Some(key), Some((_, endpoint))) = (key, found) {
        known.endpoints.insert(slot, key);
        effects.observer.appeared(&known.peer, key, &endpoint);
    }
}
