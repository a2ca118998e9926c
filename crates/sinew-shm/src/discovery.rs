//! Who is there: finding other participants, following their logs, and noticing their end.
//!
//! A participant's helper thread watches the directory for new control segments, and each peer's control segment for two things: its
//! owner touches it when something in it has changed, and the kernel reports it closed when the last mapping through which it was
//! written is gone, which is the owner's end. (All by inotify, so it works across users, PID namespaces and containers that share
//! the directory.) Where no inotify instance is to be had, it looks by itself every few milliseconds.
//!
//! What is found is compared with what was known, so it doesn't matter how often or how late somebody looks.
//!
//! # A peer's end
//!
//! Once the lock is free (or the peer says that it leaves), its connections as a reader are forgotten, its holds count no more, and its
//! connections as a writer are drained to the last message that was published. Its files are removed by whoever finds that
//! nobody alive still has something to read in them: each reader says in its own memory that it is done.

use crate::control::{
    DONE, EntityRecord, EventRingRecord, IncomingRecord, OutgoingRecord, Table, names_life, read_life,
    slot_of,
};
use crate::domain::Domain;
use crate::entity::{Entity, EntityKey};
use crate::error::{JoinError, SystemError};
use crate::incoming::Incoming;
use crate::participant::{Observer, Participant};
use crate::peer::{Changes, Peer};
use crate::port::Sink;
use crate::segment::{Kind, Life, file_name, parse_file_name, probe};
use crate::sync::{Arc, Ordering};
use crate::sys::{self, Heard, Watch};
use crate::towards::Towards;
use std::collections::{HashMap, HashSet};
use std::sync::Weak;
use std::thread::JoinHandle;
use std::time::Duration;

/// How often it looks where nobody tells.
const POLL: Duration = Duration::from_millis(2);

/// How long after a sign of death the lock is asked for again: the kernel reports before it lets go.
const SOON: Duration = Duration::from_micros(500);

/// How often it is looked whether a dead peer's files can go, while somebody still reads.
const REAP: Duration = Duration::from_millis(50);

/// How often it looks in any case, should a sign have been lost.
const FALLBACK: Duration = Duration::from_secs(2);

/// What a participant knows of the others.
pub(crate) struct Discovery {
    domain: Domain,
    peers: HashMap<u64, Known>,
    watch: Option<Watch>,
    by_watch: HashMap<i32, u64>,
    /// Files that are no segments of ours: not to be looked at again.
    refused: HashSet<u64>,
    /// The directory is to be read.
    is_stale: bool,
    /// Peers of whom there was a sign of death.
    suspects: HashSet<u64>,
    /// Dead ones whose files are still there.
    unburied: HashMap<u64, Arc<Peer>>,
}

struct Known {
    peer: Arc<Peer>,
    /// Of its log; `None`: all of it is new.
    position: Option<u64>,
    /// By slot.
    entities: HashMap<u32, EntityKey>,
    /// Event rings towards us, by slot: their lives.
    event_rings: HashMap<u32, u64>,
}

impl Discovery {
    pub(crate) fn new(domain: &Domain) -> Self {
        let watch = match Watch::new(domain.path()) {
            Ok(watch) => Some(watch),
            Err(error) => {
                log::info!("no inotify ({error}): looking for other participants every {POLL:?} instead");
                None
            }
        };
        Self {
            domain: domain.clone(),
            peers: HashMap::new(),
            watch,
            by_watch: HashMap::new(),
            refused: HashSet::new(),
            is_stale: true,
            suspects: HashSet::new(),
            unburied: HashMap::new(),
        }
    }

    /// Nobody is known any more.
    pub(crate) fn forget(&mut self) {
        self.peers.clear();
        self.unburied.clear();
        self.watch = None;
    }

    /// Reads what the operating system reports.
    fn hear(&mut self) {
        let Some(watch) = &self.watch else {
            self.is_stale = true;
            self.suspects.extend(self.peers.keys());
            return;
        };
        for heard in watch.read() {
            match heard {
                Heard::Directory => self.is_stale = true,
                Heard::Closed(watch) => self.suspects.extend(self.by_watch.get(&watch)),
                Heard::Changed => {}
                Heard::TooMuch => {
                    self.is_stale = true;
                    self.suspects.extend(self.peers.keys());
                }
            }
        }
    }

    /// Finds who is new in the directory, and files without an owner.
    fn read_directory(&mut self, own: u64) {
        self.is_stale = false;
        let Ok(entries) = std::fs::read_dir(self.domain.path()) else { return };
        let (mut with_control, mut others) = (HashSet::new(), HashSet::new());
        for entry in entries.flatten() {
            match entry.file_name().to_str().and_then(parse_file_name) {
                Some((id, true)) => with_control.insert(id),
                Some((id, false)) => others.insert(id),
                None => continue,
            };
        }
        for &id in &with_control {
            if id != own && !self.peers.contains_key(&id) && !self.refused.contains(&id) {
                self.meet(id);
            }
        }
        self.refused.retain(|id| with_control.contains(id));
        for id in others.difference(&with_control) {
            // The bells are linked before the control segment, and removed before it: an old one without is nobody's.
            let path = self.domain.path().join(file_name(Kind::Bells, *id, 0));
            let is_old = std::fs::metadata(&path)
                .and_then(|found| found.modified())
                .is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > Duration::from_secs(10)));
            if is_old {
                remove_files(&self.domain, *id);
            }
        }
    }

    fn meet(&mut self, id: u64) {
        // Watched before the lock is asked for: its end is either seen now or reported.
        let path = self.domain.path().join(file_name(Kind::Control, id, 0));
        let watch = self.watch.as_ref().and_then(|watch| watch.add(&path).ok());
        match Peer::open(self.domain.path(), id) {
            Ok(peer) => {
                if let Some(watch) = watch {
                    self.by_watch.insert(watch, id);
                }
                let peer = Arc::new(peer);
                self.peers.insert(
                    id,
                    Known { peer, position: None, entities: HashMap::new(), event_rings: HashMap::new() },
                );
                self.suspects.insert(id); // it may have died before it was watched
            }
            Err(error) => {
                if probe(self.domain.path(), id) == Life::Dead {
                    remove_files(&self.domain, id); // whatever it was
                } else {
                    log::warn!("a participant of {} is ignored: {error}", self.domain.path().display());
                    self.refused.insert(id);
                }
            }
        }
    }

    /// How long the helper thread may sleep.
    fn patience(&self) -> Duration {
        if !self.suspects.is_empty() {
            SOON
        } else if self.watch.is_none() {
            POLL
        } else if !self.unburied.is_empty() {
            REAP
        } else {
            FALLBACK
        }
    }
}

/// Removes a dead participant's files, the control segment last. Somebody else may be at it, too.
pub(crate) fn remove_files(domain: &Domain, id: u64) {
    let control = file_name(Kind::Control, id, 0);
    let Ok(entries) = std::fs::read_dir(domain.path()) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|name| parse_file_name(name) == Some((id, false)));
        if ours {
            let _ = std::fs::remove_file(entry.path()); // gone is gone
        }
    }
    let _ = std::fs::remove_file(domain.path().join(control)); // as above
}

impl Participant {
    /// Looks what is new, now, on this thread: who has joined or left, and what entities there are.
    ///
    /// Cheap when nothing has changed: one look at a word of each peer, and a system call.
    pub fn refresh(self: &Arc<Self>) {
        if self.check().is_err() {
            return;
        }
        let mut discovery = self.discovery.lock();
        self.look(&mut discovery);
    }

    fn look(self: &Arc<Self>, discovery: &mut Discovery) {
        let Some(observer) = self.observer.get().cloned() else { return };
        discovery.hear();
        if discovery.is_stale {
            discovery.read_directory(self.id());
        }
        let mut known: Vec<u64> = discovery.peers.keys().copied().collect();
        known.sort_unstable();
        for id in known {
            let Some(known) = discovery.peers.get_mut(&id) else { continue };
            self.follow(known, &*observer);
        }
        for id in std::mem::take(&mut discovery.suspects) {
            let Some(known) = discovery.peers.get(&id) else { continue };
            let life = probe(self.domain().path(), id);
            if life == Life::Alive && !known.peer.has_left() {
                continue;
            }
            if let Some(known) = discovery.peers.remove(&id) {
                discovery.by_watch.retain(|_, watched| *watched != id);
                self.bury(discovery, known, &*observer);
            }
        }
        let left: Vec<u64> =
            discovery.peers.iter().filter(|(_, known)| known.peer.has_left()).map(|(&id, _)| id).collect();
        for id in left {
            if let Some(known) = discovery.peers.remove(&id) {
                discovery.by_watch.retain(|_, watched| *watched != id);
                self.bury(discovery, known, &*observer);
            }
        }
        self.reap(discovery);
    }

    /// Brings what is known of a peer up to date.
    fn follow(self: &Arc<Self>, known: &mut Known, observer: &dyn Observer) {
        let changes = match known.position {
            Some(position) if !known.peer.has_changed(position) => return,
            Some(position) => known.peer.changes(position),
            None => match known.peer.changes(0) {
                Changes::Some(_, head) | Changes::All(head) => Changes::All(head),
            },
        };
        match changes {
            Changes::Some(changes, head) => {
                known.position = Some(head);
                for (table, slot) in changes {
                    self.follow_record(known, table, slot, observer);
                }
            }
            Changes::All(head) => {
                known.position = Some(head);
                for table in
                    [Table::Entities, Table::Outgoing, Table::Incoming, Table::EventRings, Table::Tails]
                {
                    for slot in 0..known.peer.reserved(table) {
                        self.follow_record(known, table, slot, observer);
                    }
                }
            }
        }
    }

    fn follow_record(self: &Arc<Self>, known: &mut Known, table: Table, slot: u32, observer: &dyn Observer) {
        match table {
            Table::Entities => follow_entity(known, slot, observer),
            Table::Outgoing => self.follow_outgoing(known, slot, observer),
            Table::Incoming => self.follow_incoming(known, slot),
            Table::EventRings => self.follow_event_ring(known, slot),
            Table::Tails | Table::Peers => self.follow_tails(known),
            Table::Ports => self.follow_ports(known),
            Table::Holds => {}
        }
    }

    /// A connection of the peer's, perhaps to us.
    fn follow_outgoing(self: &Arc<Self>, known: &Known, slot: u32, observer: &dyn Observer) {
        let Some(record) = known.peer.record::<OutgoingRecord>(Table::Outgoing, slot) else { return };
        let life = record.life.load(Ordering::Acquire); // T3: pairs with T2
        let id = known.peer.id();
        let taken = self.incoming.lock().get(&id).and_then(|all| {
            let taken = all.get(slot as usize)?.as_ref()?;
            Some((taken.life, taken.sink.clone()))
        });
        match taken {
            Some((known_life, sink)) if known_life == life => {
                // Something about it changed: it has ended, perhaps.
                if let Some(sink) = sink {
                    sink.drain();
                }
                return;
            }
            Some((known_life, _)) => self.retire_incoming(id, slot, known_life),
            None => {}
        }
        if life.is_multiple_of(2) || record.peer.load(Ordering::Relaxed) != self.id() {
            return;
        }
        let target = record.target.load(Ordering::Relaxed); // checked by `take_up`
        let incoming = match Incoming::take_up(self, &known.peer, (slot, life), record) {
            Ok(Some(incoming)) => incoming,
            Ok(None) => return,
            Err(error) => {
                log::error!("a connection can't be taken up: {error}");
                return;
            }
        };
        let mut taken = incoming.taken(None);
        let place = |taken| {
            let mut all = self.incoming.lock();
            let all = all.entry(id).or_default();
            if all.len() <= slot as usize {
                all.resize_with(slot as usize + 1, || None);
            }
            all[slot as usize] = Some(taken);
        };
        let target = (target != 0).then(|| EntityKey::of(target));
        let sink: Option<Arc<dyn Sink>> = observer.connected(incoming, target);
        taken.sink.clone_from(&sink);
        place(taken);
        if let Some(sink) = sink {
            sink.drain();
        }
    }

    /// A connection is forgotten by its writer: so by us.
    pub(crate) fn retire_incoming(&self, peer: u64, slot: u32, life: u64) {
        let mut all = self.incoming.lock();
        let place = all.get_mut(&peer).and_then(|all| all.get_mut(slot as usize));
        let Some(place) = place else { return };
        if place.as_ref().is_none_or(|taken| taken.life != life) {
            return;
        }
        let taken = place.take();
        drop(all);
        if let (Some(taken), Ok(control)) = (taken, self.control()) {
            control.retire(Table::Incoming, taken.slot);
        }
    }

    /// What a peer says about a connection of ours.
    fn follow_incoming(self: &Arc<Self>, known: &Known, slot: u32) {
        let Some(record) = known.peer.record::<IncomingRecord>(Table::Incoming, slot) else { return };
        // Relaxed: T3 checks it. All of it belongs to one life, so the cursor isn't an earlier one's either.
        let read = || (record.peer.load(Ordering::Relaxed), record.outgoing.load(Ordering::Relaxed));
        let Some((_, (peer, outgoing))) = read_life(&record.life, read) else { return };
        if peer != self.id() {
            return;
        }
        let accepted = self.outgoing.lock().get(&slot_of(outgoing)).cloned();
        let Some(accepted) = accepted else { return };
        if !names_life(outgoing, accepted.reference) || accepted.peer.id() != known.peer.id() {
            return;
        }
        accepted.adopt(record);
        sys::fence_all_threads(); // see `Accepted::has_listener`
        accepted.announce();
        self.check_outgoing(&accepted);
    }

    /// Forgets a connection that is ended and read.
    pub(crate) fn check_outgoing(&self, accepted: &crate::writer::Accepted) {
        if accepted.is_ended() && accepted.is_done() {
            let ours = self.outgoing.lock().remove(&accepted.slot);
            if let Some(ours) = ours {
                ours.retire();
            }
        }
    }

    /// An event ring of the peer's, perhaps to us.
    fn follow_event_ring(self: &Arc<Self>, known: &mut Known, slot: u32) {
        let Some(record) = known.peer.record::<EventRingRecord>(Table::EventRings, slot) else { return };
        // Relaxed: T3 checks it.
        let found = read_life(&record.life, || {
            (record.peer.load(Ordering::Relaxed), record.port.load(Ordering::Relaxed))
        });
        let life = found.map(|(life, _)| life);
        if life.is_some() && known.event_rings.get(&slot) == life.as_ref() {
            return;
        }
        known.event_rings.remove(&slot);
        let Some((life, (peer, reference))) = found else { return };
        if peer != self.id() {
            return;
        }
        let Some(port) = self.port(reference) else { return };
        let Some(entries) = self.event_entries(&known.peer, slot) else { return };
        let tail = self
            .slot_for(known.peer.id())
            .and_then(|(peer_slot, peer_life)| port.peer_tail(peer_slot, peer_life));
        match tail {
            Ok(tail) => {
                known.event_rings.insert(slot, life);
                port.add_source(&known.peer, slot, entries, tail);
            }
            Err(error) => log::error!("events of another participant can't be read: {error}"),
        }
    }

    /// The peer has places for the tails of our event rings, perhaps.
    fn follow_tails(self: &Arc<Self>, known: &Known) {
        let towards: Vec<_> = self.towards.lock().clone();
        let ours = towards.iter().filter(|towards| towards.peer.id() == known.peer.id());
        let mut news = false;
        for towards in ours {
            news |= towards.adopt_tail(self.id());
        }
        if news {
            let outgoing: Vec<_> = self.outgoing.lock().values().cloned().collect();
            let towards_it = outgoing.iter().filter(|accepted| accepted.peer.id() == known.peer.id());
            towards_it.for_each(|accepted| accepted.announce());
        }
    }

    /// Some of the peer's ports are gone, perhaps.
    fn follow_ports(self: &Arc<Self>, known: &Known) {
        self.drop_towards(|towards| towards.peer.id() == known.peer.id() && !towards.is_current(), false);
    }

    fn drop_towards(&self, is_gone: impl Fn(&Towards) -> bool, reader_is_gone: bool) {
        let mut gone = Vec::new();
        self.towards.lock().retain(|towards| {
            let goes = is_gone(towards);
            if goes {
                gone.push(towards.clone());
            }
            !goes
        });
        gone.iter().for_each(|towards| towards.retire(self, reader_is_gone));
    }

    /// The event ring towards a peer's port, made if there is none. `None` if the port is gone.
    pub(crate) fn towards(
        &self,
        peer: &Arc<Peer>,
        port: u64,
    ) -> Result<Option<Arc<Towards>>, crate::error::CapacityError> {
        let mut all = self.towards.lock();
        let found = all.iter().find(|towards| towards.port == port && towards.peer.id() == peer.id());
        if let Some(found) = found {
            return Ok(Some(found.clone()));
        }
        let made = Towards::create(self, peer, port)?;
        all.extend(made.clone());
        Ok(made)
    }

    /// A bell that a peer names: its own, another peer's of the same process, or even ours.
    pub(crate) fn find_bell(&self, peer: &Peer, owner: u64, index: u64) -> Option<crate::events::Bell> {
        let found = if owner == peer.id() {
            peer.bell(index).map_err(|error| error.to_string())
        } else if owner == self.id() {
            self.bell(index).map_err(|error| error.to_string())
        } else {
            let other = Peer::open(self.domain().path(), owner);
            other.and_then(|other| other.bell(index)).map_err(|error| error.to_string())
        };
        found.map_err(|error| log::warn!("a port of {peer:?} can't be rung: {error}")).ok()
    }

    /// Whether a peer has left, or died.
    pub(crate) fn is_gone(&self, peer: u64) -> bool {
        self.gone.lock().contains(&peer)
    }

    /// A peer's end.
    fn bury(self: &Arc<Self>, discovery: &mut Discovery, mut known: Known, observer: &dyn Observer) {
        let id = known.peer.id();
        self.follow(&mut known, observer); // its last words
        self.gone.lock().insert(id);
        // As a reader: its holds count no more, nobody waits for it.
        self.accepted.lock().retain(|peer| peer.id() != id);
        let entities: Vec<_> = known.entities.drain().collect();
        for (_, key) in entities {
            observer.vanished(&known.peer, key);
        }
        self.drop_towards(|towards| towards.peer.id() == id, true);
        let outgoing: Vec<_> = {
            let mut all = self.outgoing.lock();
            let slots: Vec<u32> =
                all.iter().filter(|(_, accepted)| accepted.peer.id() == id).map(|(&slot, _)| slot).collect();
            slots.iter().filter_map(|slot| all.remove(slot)).collect()
        };
        outgoing.iter().for_each(|accepted| accepted.retire());
        if let Ok(bell) = self.space_bell() {
            bell.ring(); // whoever waits for it looks again
        }
        // As a writer: what it published is read to the end.
        let sinks: Vec<_> = {
            let all = self.incoming.lock();
            let taken = all.get(&id).into_iter().flatten().flatten();
            taken.filter_map(|taken| taken.sink.clone()).collect()
        };
        sinks.iter().for_each(|sink| sink.drain());
        self.each_port(|port| port.remove_sources(id));
        observer.left(&known.peer);
        discovery.unburied.insert(id, known.peer);
    }

    /// Removes the files of dead peers that nobody reads any more, and forgets what we said about them.
    fn reap(&self, discovery: &mut Discovery) {
        let directory = self.domain().path();
        discovery.unburied.retain(|&id, peer| {
            if probe(directory, id) != Life::Gone {
                if self.is_read(peer) {
                    return true;
                }
                remove_files(self.domain(), id);
            }
            let taken = self.incoming.lock().remove(&id);
            if let Ok(control) = self.control() {
                for taken in taken.into_iter().flatten().flatten() {
                    control.retire(Table::Incoming, taken.slot);
                }
            }
            self.forget_slot_for(id);
            self.gone.lock().remove(&id);
            false
        });
    }

    /// Whether somebody alive still has something to read from this dead peer.
    fn is_read(&self, dead: &Peer) -> bool {
        let Some(records) = dead.records::<OutgoingRecord>(Table::Outgoing) else { return false };
        let mut readers: HashMap<u64, HashSet<u64>> = HashMap::new();
        for (slot, record) in (0u32..).zip(records.iter()) {
            let life = record.life.load(Ordering::Acquire); // T3; nobody writes any more
            if life % 2 == 1 {
                let reference = crate::control::reference(slot, life);
                readers.entry(record.peer.load(Ordering::Relaxed)).or_default().insert(reference);
            }
        }
        readers.iter().any(|(&reader, unread)| self.reads(reader, dead.id(), unread))
    }

    /// Whether a participant lives and is not done with all these connections of a dead peer.
    fn reads(&self, reader: u64, dead: u64, connections: &HashSet<u64>) -> bool {
        if reader == self.id() {
            let control = self.control().ok();
            let all = self.incoming.lock();
            let Some(taken) = all.get(&dead) else { return true };
            return connections.iter().any(|&connection| {
                let taken = taken.get(slot_of(connection) as usize).and_then(Option::as_ref);
                let record = taken.zip(control).and_then(|(taken, control)| {
                    control.record::<IncomingRecord>(Table::Incoming, taken.slot).ok()
                });
                record.is_none_or(|record| record.cursor.load(Ordering::Relaxed) != DONE) // our own
            });
        }
        if probe(self.domain().path(), reader) != Life::Alive {
            return false;
        }
        let Ok(peer) = Peer::open(self.domain().path(), reader) else { return false };
        let Some(records) = peer.records::<IncomingRecord>(Table::Incoming) else { return true };
        let done: HashSet<u64> = records
            .iter()
            .filter_map(|record| {
                read_life(&record.life, || {
                    let is_done = record.cursor.load(Ordering::Acquire) == DONE; // pairs with `Incoming::done`
                    let ours = is_done && record.peer.load(Ordering::Relaxed) == dead;
                    ours.then(|| record.outgoing.load(Ordering::Relaxed)) // Relaxed: T3 checks it
                })?
                .1
            })
            .collect();
        !connections.is_subset(&done) && !peer.has_left()
    }
}

fn follow_entity(known: &mut Known, slot: u32, observer: &dyn Observer) {
    let Some(record) = known.peer.record::<EntityRecord>(Table::Entities, slot) else { return };
    let found = match Entity::load(&record, known.peer.file()) {
        Ok(found) => found,
        Err(error) => {
            log::warn!("an entity of another participant is ignored: {error}");
            None
        }
    };
    let key = found.as_ref().map(|(life, _)| EntityKey::of(crate::control::reference(slot, *life)));
    let before = known.entities.get(&slot).copied();
    if before == key {
        return;
    }
    if let Some(before) = before {
        known.entities.remove(&slot);
        observer.vanished(&known.peer, before);
    }
    if let (Some(key), Some((_, entity))) = (key, found) {
        known.entities.insert(slot, key);
        observer.appeared(&known.peer, key, &entity);
    }
}

/// The thread that follows the others.
pub(crate) struct Helper {
    wake: Arc<sys::Wake>,
    thread: Option<JoinHandle<()>>,
}

impl Helper {
    pub(crate) fn start(participant: &Arc<Participant>) -> Result<Self, JoinError> {
        let path = participant.domain().path();
        let wake = Arc::new(sys::Wake::new().map_err(SystemError::io("eventfd", path))?);
        let watch = participant.discovery.lock().watch.as_ref().and_then(Watch::descriptor);
        let (theirs, whose) = (wake.clone(), Arc::downgrade(participant));
        let thread = std::thread::Builder::new()
            .name("sinew-shm".to_owned())
            .stack_size(256 << 10)
            .spawn(move || help(&whose, &theirs, watch.as_ref()))
            .map_err(SystemError::io("starting a thread", path))?;
        Ok(Self { wake, thread: Some(thread) })
    }

    /// Ends it, and waits until it has ended, unless this is it.
    pub(crate) fn stop(mut self) {
        self.wake.wake();
        let Some(thread) = self.thread.take() else { return };
        if thread.thread().id() != std::thread::current().id() {
            let _ = thread.join(); // it doesn't panic; if it did, it said so
        }
    }
}

fn help(whose: &Weak<Participant>, wake: &sys::Wake, watch: Option<&rustix::fd::OwnedFd>) {
    sys::small_timer_slack();
    loop {
        let patience = {
            let Some(participant) = whose.upgrade() else { return };
            if participant.check().is_err() {
                return;
            }
            let mut discovery = participant.discovery.lock();
            participant.look(&mut discovery);
            discovery.patience()
        };
        sys::wait_for(wake, watch, patience);
    }
}
