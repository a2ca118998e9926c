//! Discovery: finding other participants, following their logs, and noticing their end.
//!
//! A participant's helper thread watches the directory for new control segments, and each peer's
//! control segment for two things: its owner touches it when something in it has changed, and the
//! kernel reports it closed when the last writable mapping of it is gone, which is the owner's end.
//! (All by inotify, so it works across users, PID namespaces and containers that share the
//! directory.) If no inotify instance is available, the helper thread looks by itself every few
//! milliseconds.
//!
//! Findings are compared with the known state, so it doesn't matter how often or how late a
//! participant looks. [`death`] describes a peer's end.

mod death;
mod helper;

pub(crate) use helper::Helper;

use crate::bell::Doorbell;
use crate::control::{
    EndpointRecord, EventRingRecord, IncomingRecord, OutgoingRecord, Table, names_generation,
    read_generation, slot_of,
};
use crate::domain::Domain;
use crate::endpoint::{Endpoint, EndpointKey, EndpointKind};
use crate::error::SegmentProblem;
use crate::event_rx::{EventReceiver, EventReceivers};
use crate::event_tx::EventSender;
use crate::incoming::Incoming;
use crate::leftovers::remove_files;
use crate::local::Local;
use crate::logging::{later, tell_waiting};
use crate::outgoing::Outgoing;
use crate::peer::{Changes, Peer};
use crate::segment::{OwnerState, SegmentKind, doorbell_name, file_name, parse_file_name, probe};
use crate::sync::{Arc, Mutex, Ordering};
use crate::sys::{self, Heard, Watch};
use crate::taken::Sink;
use death::Unburied;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

/// Receives a participant's news of the others. Called by its helper thread, or by a thread of its
/// own process that [refreshes](crate::Participant::refresh) it; one call at a time, in the order
/// of the events at each peer.
///
/// The calls are made under a lock: none of them should wait for another thread, nor run or drop
/// anything of the user's, which could wait for one. Work that must be done without the lock
/// belongs in [`attend`](Self::attend).
pub trait Observer: Send + Sync + 'static {
    /// Runs `look`, which makes the calls below, on the same thread; no lock is held before and
    /// after it. Work that those calls leave behind can be done here afterwards.
    fn attend(&self, look: &mut dyn FnMut()) {
        look();
    }
    /// A peer has this entity now.
    fn appeared(&self, peer: &Arc<Peer>, key: EndpointKey, endpoint: &Endpoint);
    /// A peer no longer has this entity.
    fn vanished(&self, peer: &Arc<Peer>, key: EndpointKey);
    /// A peer's entity sends to this participant from now on; with `target`, to that entity of this
    /// participant alone. Returns the sink that reads the connection, if there is one.
    fn connected(&self, incoming: Incoming, target: Option<EndpointKey>) -> Option<Arc<dyn Sink>>;
    /// A peer has left or died. Its entities have vanished before.
    fn left(&self, peer: &Arc<Peer>);
    /// Called every few seconds in any case, without any lock: there may be room now for something
    /// that was refused before. Does nothing by default.
    fn retry(&self) {}
}

/// How often the helper thread looks if no notifications are available.
const POLL: Duration = Duration::from_millis(2);

/// How much less often for each peer: hundreds of participants that poll each other must not
/// overload the machine.
const POLL_PEER: Duration = Duration::from_micros(500);

/// Number of locks that are queried each time that it looks without a sign.
const SWEEP: usize = 16;

/// How long after a change of a directory's time a reading of the directory may miss something, in
/// nanoseconds: a second change may have the same time.
const COARSE: i64 = 20_000_000;

/// How long after a sign of death the lock is queried again, because the kernel reports the end
/// before it releases the lock. Each further pause is twice as long.
const SOON: Duration = Duration::from_micros(500);

/// The pause from which the sign counts as a false one.
const LATE: Duration = Duration::from_millis(100);

/// How often a dead peer's files are checked for removal while a participant still reads them.
const REAP: Duration = Duration::from_millis(50);

/// How often it looks at everything, in case a sign was lost.
const FALLBACK: Duration = Duration::from_secs(2);

/// How long files without a control segment are kept, in nanoseconds: they may belong to a
/// participant that a reading of the directory missed.
const ORPHANED: i64 = 10_000_000_000;

/// A participant's knowledge of the others.
pub(crate) struct Discovery {
    domain: Domain,
    peers: HashMap<u64, KnownPeer>,
    watch: Option<Watch>,
    by_watch: HashMap<i32, u64>,
    /// Participants that can't be mapped, and why.
    refused: HashMap<u64, RefusedPeer>,
    /// Whether the directory must be read.
    is_stale: bool,
    /// New control segments.
    came: Vec<(u64, bool)>,
    /// Peers with logs to read, unless all have.
    changed: BTreeSet<u64>,
    has_all_changed: bool,
    /// Whether the directory has changed, if no notifications are available.
    directory: Changing,
    /// Peers that showed a sign of death.
    suspects: HashMap<u64, Suspicion>,
    /// When it last looked without a sign, and the last peer that it then checked.
    swept: (i64, u64),
    /// Files without a control segment, and when each was first seen.
    orphans: HashMap<u64, i64>,
    /// Dead peers with remaining files.
    unburied: HashMap<u64, Unburied>,
    /// Whether our control segment's name was removed, and a warning was logged.
    is_nameless: bool,
    doorbell: Touched,
    /// Whether another user may have touched the doorbell.
    is_rung: bool,
}

/// The file that other users touch to ring our bells.
enum Touched {
    /// There are no other users.
    None,
    /// The file is watched; holds the watch.
    Watched(i32),
    /// The kernel doesn't report when the file is touched.
    Unwatched,
}

/// The reason why a peer's control segment isn't used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RefusedPeer {
    /// The segment can't be opened now, but perhaps later.
    Now,
    /// The segment has another version; the participants of that version know each other.
    Version,
    /// The segment is invalid, or from before the machine was last started.
    Ever,
}

impl RefusedPeer {
    fn of(problem: &SegmentProblem) -> Self {
        match problem {
            SegmentProblem::System(_) => Self::Now,
            SegmentProblem::Version { .. } => Self::Version,
            _ => Self::Ever,
        }
    }
}

/// A directory's modification time, which shows whether the directory must be read again.
#[derive(Default)]
struct Changing {
    time: Option<sys::FileTime>,
    /// When the time was first seen.
    seen: i64,
    /// When the directory was last read, at the latest.
    read: i64,
}

impl Changing {
    /// Whether something may have changed since the directory was read. A reading soon after a
    /// change may have missed another one; it doesn't become complete by being the last one for a
    /// long time. However late this is called, the time between change and reading counts.
    fn may_have_changed(&mut self, time: Option<sys::FileTime>, now: i64) -> bool {
        if time != self.time {
            (self.time, self.seen) = (time, now);
        }
        self.read - self.seen < COARSE
    }
}

/// A sign of a peer's death.
struct Suspicion {
    /// When the peer's lock must be queried.
    at: i64,
    /// The pause until the next query, if the peer is alive.
    pause: Duration,
}

struct KnownPeer {
    peer: Arc<Peer>,
    /// Whether the operating system reports the peer's end.
    is_watched: bool,
    /// The position in the peer's log; `None` if all of it is new.
    position: Option<u64>,
    /// There was no room for something, so everything of the peer is looked at again.
    is_incomplete: bool,
    /// The peer's entities by slot.
    endpoints: HashMap<u32, EndpointKey>,
    /// The peer's event rings towards us: their lives by slot.
    event_rings: HashMap<u32, u64>,
}

impl Discovery {
    /// For the participant with this id, whose files exist already.
    pub(crate) fn new(domain: &Domain, own: u64) -> Self {
        let watch = match Watch::new(&domain.directory().handle()) {
            Ok(watch) => Some(watch),
            Err(error) => {
                crate::tell!(
                    log::Level::Info,
                    "no inotify ({error}): looking for other participants every {POLL:?} instead"
                );
                None
            }
        };
        let doorbell = match &watch {
            _ if domain.touch_mode().is_none() => Touched::None,
            Some(watch) => watch
                .add(&domain.directory().handle().join(doorbell_name(own)))
                .map_or(Touched::Unwatched, Touched::Watched),
            None => Touched::Unwatched,
        };
        Self {
            doorbell,
            is_rung: true,
            domain: domain.clone(),
            peers: HashMap::new(),
            watch,
            by_watch: HashMap::new(),
            refused: HashMap::new(),
            is_stale: true,
            came: Vec::new(),
            changed: BTreeSet::new(),
            has_all_changed: true,
            directory: Changing::default(),
            suspects: HashMap::new(),
            swept: (sys::steady(), 0),
            orphans: HashMap::new(),
            unburied: HashMap::new(),
            is_nameless: false,
        }
    }

    /// Returns the known entities of all peers, as they are now. One that is gone by now is left
    /// out, as is a record that can't be read.
    pub(crate) fn endpoints(&self) -> impl Iterator<Item = (&Arc<Peer>, Endpoint)> {
        let of = |known: &'_ KnownPeer| known.endpoints.values().copied().collect::<Vec<_>>();
        self.peers.values().flat_map(move |known| {
            let endpoint = |key| Some((&known.peer, known.peer.endpoint(key)?));
            of(known).into_iter().filter_map(endpoint)
        })
    }

    /// Forgets all peers.
    fn forget(&mut self) {
        self.peers.clear();
        self.unburied.clear();
        self.watch = None;
    }

    /// Whether some ends or arrivals of peers are not reported.
    fn polls(&self) -> bool {
        self.watch.is_none()
            || matches!(self.doorbell, Touched::Unwatched)
            || self.peers.values().any(|known| !known.is_watched)
    }

    /// Reads the operating system's reports. Returns `true` if it was time to look at everything.
    fn hear(&mut self, now: i64) -> bool {
        let is_due = now - self.swept.0 > nanoseconds(FALLBACK);
        if is_due {
            self.swept.0 = now;
            let refused_now = |why: &RefusedPeer| *why == RefusedPeer::Now;
            self.is_stale |= !self.orphans.is_empty() || self.refused.values().any(refused_now);
            self.refused.retain(|_, why| !refused_now(why));
            let refused: Vec<u64> = self.refused.keys().copied().collect();
            refused.into_iter().for_each(|id| self.suspect(id, now, LATE));
        }
        if is_due || self.polls() {
            self.has_all_changed = true;
            self.is_rung |= !matches!(self.doorbell, Touched::None);
            self.suspect_some(now);
            self.is_stale |= self.directory.may_have_changed(self.domain.directory().modified(), now);
        }
        self.read_watch(now);
        is_due
    }

    /// Returns `true` if there was a report.
    fn read_watch(&mut self, now: i64) -> bool {
        let Some(watch) = &self.watch else { return false };
        let mut any = false;
        for heard in watch.read() {
            any = true;
            match heard {
                Heard::Came(name) => {
                    self.came.extend(parse_file_name(&name).filter(|(_, is_control)| *is_control))
                }
                Heard::Closed(watch) => {
                    if let Some(&id) = self.by_watch.get(&watch) {
                        self.suspect(id, now, SOON);
                    }
                }
                Heard::Changed(watch) if matches!(self.doorbell, Touched::Watched(ours) if ours == watch) => {
                    self.is_rung = true;
                }
                Heard::Changed(watch) => self.changed.extend(self.by_watch.get(&watch)),
                Heard::TooMuch => {
                    self.is_rung = true;
                    self.is_stale = true;
                    self.has_all_changed = true;
                    self.suspect_all(now);
                }
            }
        }
        any
    }

    /// Has a peer's lock queried now, and again after this pause.
    fn suspect(&mut self, id: u64, now: i64, pause: Duration) {
        self.suspects.insert(id, Suspicion { at: now, pause });
    }

    /// Has the locks of some peers queried once. The peers take turns, so their total number
    /// doesn't matter.
    fn suspect_some(&mut self, now: i64) {
        let mut all: Vec<u64> = self.peers.keys().copied().collect();
        all.sort_unstable();
        let first = all.partition_point(|&id| id <= self.swept.1);
        for &id in all[first..].iter().chain(&all[..first]).take(SWEEP) {
            self.suspects.entry(id).or_insert(Suspicion { at: now, pause: LATE });
            self.swept.1 = id;
        }
    }

    /// Has the lock of each peer queried once.
    fn suspect_all(&mut self, now: i64) {
        for &id in self.peers.keys() {
            self.suspects.entry(id).or_insert(Suspicion { at: now, pause: LATE });
        }
    }

    /// The peers whose locks must be queried now.
    fn due(&mut self, now: i64) -> Vec<u64> {
        let mut due = Vec::new();
        self.suspects.retain(|&id, suspicion| {
            if suspicion.at > now {
                return true;
            }
            due.push(id);
            suspicion.at = now + nanoseconds(suspicion.pause);
            suspicion.pause *= 2;
            suspicion.pause < LATE
        });
        due.sort_unstable();
        due
    }

    /// Finds new participants in the directory, and files without an owner.
    fn read_directory(&mut self, own: u64, now: i64) {
        self.directory.read = now;
        let Ok(names) = self.domain.directory().names() else { return };
        let (mut with_control, mut others) = (HashSet::new(), HashSet::new());
        for name in names {
            match parse_file_name(&name) {
                Some((id, true)) => with_control.insert(id),
                Some((id, false)) => others.insert(id),
                None => continue,
            };
        }
        with_control.iter().for_each(|&id| self.meet(id, own, now));
        self.refused.retain(|id, _| with_control.contains(id));
        // The control segment is linked first and removed last: files without one belong to no
        // participant.
        self.orphans.retain(|id, _| others.contains(id) && !with_control.contains(id));
        for &id in others.difference(&with_control) {
            if self.peers.contains_key(&id) || self.unburied.contains_key(&id) {
                continue; // only its name was removed, which shows nothing
            }
            if now - *self.orphans.entry(id).or_insert(now) > ORPHANED {
                remove_files(&self.domain, id);
            }
        }
    }

    /// Maps a participant's control segment, if it is new.
    fn meet(&mut self, id: u64, own: u64, now: i64) {
        let is_known = self.peers.contains_key(&id) || self.unburied.contains_key(&id);
        if id == own || is_known || self.refused.contains_key(&id) {
            return;
        }
        // Watched before the lock is queried: its end is either seen now or reported.
        let (directory, name) = (self.domain.directory().clone(), file_name(SegmentKind::Control, id, 0));
        let watch = self.watch.as_ref().and_then(|watch| watch.add(&directory.handle().join(&name)).ok());
        if let Some(watch) = watch {
            self.by_watch.insert(watch, id);
        }
        match Peer::open(&directory, id) {
            Ok(peer) => {
                let known = KnownPeer {
                    peer: Arc::new(peer),
                    is_watched: watch.is_some(),
                    position: None,
                    is_incomplete: false,
                    endpoints: HashMap::new(),
                    event_rings: HashMap::new(),
                };
                self.peers.insert(id, known);
                self.changed.insert(id);
                self.suspect(id, now, LATE); // it may have died before it was watched
            }
            Err(error) => match (probe(&directory, id), RefusedPeer::of(&error.problem)) {
                (OwnerState::Gone, _) => {}
                // It can't be mapped now, so nothing is known of its readers either. Perhaps it can
                // later.
                (OwnerState::Dead, RefusedPeer::Now) => {
                    self.refused.insert(id, RefusedPeer::Now);
                }
                // Others of its version, some of which may still be unknown, may be reading its
                // messages.
                (OwnerState::Dead, RefusedPeer::Version) => {
                    self.refused.insert(id, RefusedPeer::Version);
                    self.suspect(id, now, LATE);
                }
                // No participant can ever read it.
                (OwnerState::Dead, RefusedPeer::Ever) => remove_files(&self.domain, id),
                (OwnerState::Alive, why) => {
                    crate::tell!(
                        log::Level::Warn,
                        "a participant of {} is ignored: {error}",
                        self.domain.path().display()
                    );
                    self.refused.insert(id, why);
                }
            },
        }
    }

    /// Whether participants of other versions live in this domain.
    fn has_strangers(&self) -> bool {
        let strangers = self.refused.iter().filter(|(_, why)| **why == RefusedPeer::Version);
        strangers.into_iter().any(|(&id, _)| probe(self.domain.directory(), id) == OwnerState::Alive)
    }

    /// How long the helper thread may sleep.
    fn patience(&self) -> Duration {
        let now = sys::steady();
        let mut patience = FALLBACK;
        for suspicion in self.suspects.values() {
            let left = u64::try_from(suspicion.at - now).unwrap_or(0);
            patience = patience.min(Duration::from_nanos(left));
        }
        if self.polls() {
            let peers = u32::try_from(self.peers.len()).unwrap_or(u32::MAX);
            patience = patience.min(POLL + POLL_PEER.saturating_mul(peers));
        }
        if !self.unburied.is_empty() {
            patience = patience.min(REAP);
        }
        patience
    }
}

fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

/// The effects of looking around, which happens under the lock of [`Discovery`].
struct Telling<'a> {
    observer: &'a dyn Observer,
    /// Sinks to drain once the lock is released, because readers run filters and listeners, and
    /// drop the user's values. Some are here only to be dropped then.
    sinks: Vec<Arc<dyn Sink>>,
}

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
    local: Arc<Local>,
    outgoing: Arc<Outgoing>,
    pub(crate) ports: EventReceivers,
    observer: Arc<dyn Observer>,
    pub(crate) discovery: Mutex<Discovery>,
}

impl Follower {
    pub(crate) fn new(
        local: &Arc<Local>,
        outgoing: &Arc<Outgoing>,
        observer: Arc<dyn Observer>,
    ) -> Arc<Self> {
        Arc::new(Self {
            local: local.clone(),
            outgoing: outgoing.clone(),
            ports: EventReceivers::default(),
            observer,
            discovery: Mutex::new(Discovery::new(&local.domain, local.id)),
        })
    }

    /// Looks for changes now, on this thread.
    pub(crate) fn refresh(&self) {
        // An observer that makes an entity during a call doesn't look again.
        if self.local.check().is_err() || LOOKING.get() {
            return;
        }
        self.look(true);
    }

    /// Looks at everything known, or only at the peers that showed a sign. Returns the time until
    /// the next look.
    fn look(&self, at_all: bool) -> Duration {
        let observer = &*self.observer;
        let mut telling = Telling { observer, sinks: Vec::new() };
        let (mut is_due, mut patience) = (false, FALLBACK);
        let mut look = || {
            let _looking = Looking::begin();
            let mut discovery = self.discovery.lock();
            discovery.has_all_changed |= at_all;
            is_due = self.look_around(&mut discovery, &mut telling);
            patience = discovery.patience();
        };
        later(|| observer.attend(&mut look));
        for sink in telling.sinks.drain(..) {
            sink.drain();
        }
        if is_due {
            observer.retry();
            self.local.memory.tidy_now_and_then();
            tell_waiting();
        }
        patience
    }

    /// If a pause is over, lets each paused reader continue. Returns the sinks to drain.
    fn go_on(&self) -> Vec<Arc<dyn Sink>> {
        if !self.local.ends_pause() {
            return Vec::new();
        }
        self.ports.each(EventReceiver::ring);
        let all = self.local.incoming.lock();
        all.values().flatten().flatten().filter_map(|taken| taken.sink.clone()).collect()
    }

    /// Removes all peers because this participant has left.
    pub(crate) fn forget(&self) {
        let mut discovery = self.discovery.lock();
        self.clear_up(&discovery);
        discovery.forget();
    }

    /// Returns `true` if it was time to look at everything.
    fn look_around(&self, discovery: &mut Discovery, telling: &mut Telling<'_>) -> bool {
        let now = sys::steady();
        let is_due = discovery.hear(now);
        if std::mem::take(&mut discovery.is_rung) {
            self.local.ring_all();
        }
        self.look_for_news(discovery, now);
        telling.sinks.extend(self.go_on());
        let mut changed = std::mem::take(&mut discovery.changed);
        if std::mem::take(&mut discovery.has_all_changed) {
            changed = discovery.peers.keys().copied().collect();
        }
        for &id in &changed {
            let Some(known) = discovery.peers.get_mut(&id) else { continue };
            self.follow(known, telling);
            if known.is_incomplete {
                discovery.changed.insert(id); // again the next time
            }
        }
        for id in discovery.due(now) {
            let is_alive = match discovery.peers.get(&id) {
                Some(known) => known.peer.is_alive(),
                None => probe(self.local.domain.directory(), id) == OwnerState::Alive,
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
                    remove_files(&self.local.domain, id);
                }
                None => {}
            }
            if let Some(known) = discovery.peers.remove(&id) {
                self.bury(discovery, known, telling);
            }
        }
        for id in changed {
            let has_left = discovery.peers.get(&id).is_some_and(|known| known.peer.has_left());
            if let Some(known) = has_left.then(|| discovery.peers.remove(&id)).flatten() {
                discovery.by_watch.retain(|_, watched| *watched != id);
                self.bury(discovery, known, telling);
            }
        }
        self.reap(discovery, telling);
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
        if !self.local.has_name() {
            if !std::mem::replace(&mut discovery.is_nameless, true) {
                crate::tell!(
                    log::Level::Warn,
                    "{} was removed while its participant lives: those who know it go on with it, but nobody else can find it, nor \
                     open anything new of it; restart the program, and exempt the directory from whatever cleans up",
                    self.local.control_path().display()
                );
            }
            return;
        }
        if is_stale {
            discovery.read_directory(self.local.id, now);
        }
        for (id, _) in came {
            discovery.meet(id, self.local.id, now);
        }
    }

    /// Brings the knowledge of a peer up to date.
    fn follow(&self, known: &mut KnownPeer, telling: &mut Telling<'_>) {
        if std::mem::take(&mut known.is_incomplete) {
            known.position = None;
        }
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
                    self.follow_record(known, table, slot, telling);
                }
            }
            Changes::All(head) => {
                known.position = Some(head);
                for table in [Table::Endpoints, Table::Outgoing, Table::Incoming, Table::EventRings] {
                    for slot in 0..known.peer.reserved(table) {
                        self.follow_record(known, table, slot, telling);
                    }
                }
                self.follow_tails(known);
                self.follow_ports(known);
            }
        }
    }

    fn follow_record(&self, known: &mut KnownPeer, table: Table, slot: u32, telling: &mut Telling<'_>) {
        match table {
            Table::Endpoints => follow_endpoint(known, slot, telling),
            Table::Outgoing => self.follow_outgoing(known, slot, telling),
            Table::Incoming => self.follow_incoming(known, slot),
            Table::EventRings => self.follow_event_ring(known, slot),
            Table::Tails | Table::Peers => self.follow_tails(known),
            Table::Ports => self.follow_ports(known),
            Table::Holds | Table::Workers => {}
        }
    }

    /// Follows a connection of the peer's, which may be to us.
    fn follow_outgoing(&self, known: &mut KnownPeer, slot: u32, telling: &mut Telling<'_>) {
        let Some(record) = known.peer.record::<OutgoingRecord>(Table::Outgoing, slot) else { return };
        let generation = record.generation.load(Ordering::Acquire); // T3: pairs with T2
        let id = known.peer.id();
        let taken = self.local.incoming.lock().get(&id).and_then(|all| {
            let taken = all.get(slot as usize)?.as_ref()?;
            Some((taken.generation, taken.sink.clone()))
        });
        if let Some((known_generation, sink)) = taken {
            telling.sinks.extend(sink);
            if known_generation == generation {
                return; // something about it changed: it may have ended
            }
            self.local.retire_incoming(id, slot, known_generation);
        }
        if generation.is_multiple_of(2) || record.peer.load(Ordering::Relaxed) != self.local.id {
            return;
        }
        let target = record.target.load(Ordering::Relaxed); // checked by `take_up`
        let incoming = match Incoming::take_up(&self.local, &known.peer, (slot, generation), record) {
            Ok(Some(incoming)) => incoming,
            Ok(None) => return,
            Err(error) => {
                crate::tell!(log::Level::Error, "a connection can't be taken up: {error}");
                known.is_incomplete = true;
                return;
            }
        };
        let mut taken = incoming.taken(None);
        let place = |taken| {
            let mut all = self.local.incoming.lock();
            let all = all.entry(id).or_default();
            if all.len() <= slot as usize {
                all.resize_with(slot as usize + 1, || None);
            }
            all[slot as usize] = Some(taken);
        };
        let target = (target != 0).then(|| EndpointKey::of(target));
        // The log names records, which are read as they are now. If a record was reused, this entry
        // comes before the log's entry for the sending entity, but the observer must see that
        // entity first.
        let source = incoming.source();
        if known.endpoints.get(&source.slot) != Some(&source) {
            follow_endpoint(known, source.slot, telling);
        }
        taken.sink = telling.observer.connected(incoming, target);
        telling.sinks.extend(taken.sink.clone());
        place(taken);
    }

    /// Follows a peer's record of a connection that may be ours.
    fn follow_incoming(&self, known: &KnownPeer, slot: u32) {
        let Some(record) = known.peer.record::<IncomingRecord>(Table::Incoming, slot) else { return };
        let Some(outgoing) = record.answers(self.local.id) else { return };
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
        if peer != self.local.id {
            return;
        }
        let Some(port) = self.ports.find(reference) else { return };
        let entries = match self.local.event_entries(&known.peer, slot) {
            Ok(Some(entries)) => entries,
            Err(error) if error.may_pass() => {
                known.is_incomplete = true;
                self.local.pause();
                return;
            }
            Ok(None) | Err(_) => return,
        };
        let tail = self
            .local
            .slot_for(known.peer.id())
            .and_then(|(peer_slot, peer_generation)| port.peer_tail(peer_slot, peer_generation));
        match tail {
            Ok(tail) => {
                known.event_rings.insert(slot, generation);
                port.add_source(&known.peer, slot, entries, tail);
            }
            Err(error) => {
                crate::tell!(log::Level::Error, "events of another participant can't be read: {error}");
                known.is_incomplete = true;
            }
        }
    }

    /// The peer may have places for the tails of our event rings.
    fn follow_tails(&self, known: &KnownPeer) {
        if self.outgoing.event_rings.adopt_tails(&self.local, known.peer.id()) {
            self.outgoing.announce_to(known.peer.id());
        }
    }

    /// Some of the peer's ports may be gone.
    fn follow_ports(&self, known: &KnownPeer) {
        let is_gone = |event_sender: &EventSender| {
            event_sender.peer.id() == known.peer.id() && !event_sender.is_current()
        };
        self.outgoing.event_rings.retire(&self.local, is_gone);
    }
}

impl Doorbell for Follower {
    /// Rings the bells if another user has touched the doorbell, or may have. All other reports
    /// wait for the helper thread's next look, which this triggers at once.
    fn hear(&self) {
        if self.local.is_forked() {
            return; // the reports are for the parent to read
        }
        // The thread that holds the lock reads the reports.
        let Some(mut discovery) = self.discovery.try_lock() else { return };
        if discovery.read_watch(sys::steady()) {
            self.local.wake_helper();
        }
        let is_unwatched = matches!(discovery.doorbell, Touched::Unwatched);
        if std::mem::take(&mut discovery.is_rung) || is_unwatched {
            self.local.ring_all();
        }
    }
}

fn follow_endpoint(known: &mut KnownPeer, slot: u32, telling: &mut Telling<'_>) {
    let Some(record) = known.peer.record::<EndpointRecord>(Table::Endpoints, slot) else { return };
    let found = match Endpoint::load(&record, known.peer.file()) {
        Ok(found) => found,
        Err(error) => {
            crate::tell!(log::Level::Warn, "an entity of another participant is ignored: {error}");
            None
        }
    };
    // A report is for tools: nothing here follows it.
    let found = found.filter(|(_, endpoint)| endpoint.kind != EndpointKind::Report);
    let key =
        found.as_ref().map(|(generation, _)| EndpointKey::of(crate::control::reference(slot, *generation)));
    let before = known.endpoints.get(&slot).copied();
    if before == key {
        return;
    }
    if let Some(before) = before {
        known.endpoints.remove(&slot);
        telling.observer.vanished(&known.peer, before);
    }
    if let (Some(key), Some((_, endpoint))) = (key, found) {
        known.endpoints.insert(slot, key);
        telling.observer.appeared(&known.peer, key, &endpoint);
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
