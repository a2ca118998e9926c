//! A peer's end.
//!
//! Once the peer's lock is free (or the peer has announced that it leaves), its connections as a
//! reader are removed, and its connections as a writer are drained to the last published message.
//! Its holds stop counting when the lock is free; those of a peer that has left count until it
//! declares that it has none (see [`hazards`](crate::hazards)). The participant that finds that no
//! living one still has something to read in its files removes them: each reader records in its own
//! memory that it is done.

use crate::discovery::follower::Follower;
use crate::discovery::known_peers::{Discovery, KnownPeer, Unburied};
use crate::discovery::observer::Effects;
use crate::own::incoming_entry::Party;
use crate::peer::leftovers::{peer_reads, remove_files, unread};
use crate::peer::mapped_peer::Peer;
use crate::platform::sync::{Arc, Ordering};
use crate::platform::sys;
use crate::tables::control_segment::{DONE, IncomingRecord, Table, slot_of};
use std::collections::{HashMap, HashSet};

impl Follower {
    /// Handles a peer's end.
    pub(super) fn bury(&self, discovery: &mut Discovery, mut known: KnownPeer, effects: &mut Effects<'_>) {
        let id = known.peer.id();
        // Follows its last changes. Reads all records, not its log: it may have died after writing
        // a record and before the log's entry.
        known.position = None;
        self.follow(&mut known, effects);
        known.peer.set_gone(); // before the lists are cleared: see `Peer::is_gone`
        // As a reader: no writer waits for it. The messages that it still holds are left alone.
        self.release(&known.peer);
        let endpoints: Vec<_> = known.endpoints.drain().collect();
        for (_, key) in endpoints {
            effects.observer.vanished(&known.peer, key);
        }
        self.outgoing.retire(id);
        // Last: the rings' memory is reused, and the connections wrote there until now.
        let event_rings = &self.outgoing.event_rings;
        event_rings.retire(&self.own, id, |_| true);
        event_rings.free(&self.own, id);
        if let Ok(bell) = self.own.space_bell() {
            bell.ring(); // a writer that waits for it checks again
        }
        // As a writer: its messages are read to the end.
        let all = self.own.incoming.lock();
        let entries = all.get(&id).into_iter().flatten().flatten();
        effects.sinks.extend(entries.filter_map(|entry| entry.sink.clone()));
        drop(all);
        self.ports.each(|port| port.remove_sources(id));
        effects.observer.left(&known.peer);
        discovery.unburied.insert(id, Unburied { known, since: sys::steady() });
    }

    /// Q4: stops counting the holds of a peer that is gone, if it has none. Returns `true` if so;
    /// the peer's holds are not checked again then.
    fn release(&self, peer: &Peer) -> bool {
        if !peer.holds_nothing() {
            if peer.is_alive() {
                return false;
            }
            peer.set_dead(); // before the list is cleared: see `Outgoing::accept`
        }
        self.own.readers.remove(peer.id());
        true
    }

    /// Removes the files of dead peers that no participant reads any more, and our records about
    /// them.
    pub(super) fn reap(&self, discovery: &mut Discovery, effects: &mut Effects<'_>) {
        let now = sys::steady();
        let Discovery { unburied, peers, .. } = discovery;
        unburied.retain(|&id, unburied| {
            let is_early = unburied.is_early(now);
            if unburied.known.is_incomplete && is_early {
                self.take_up_rest(&mut unburied.known, effects);
            }
            if !self.release(&unburied.known.peer) {
                return true; // its lock is queried again
            }
            let dead = &unburied.known.peer;
            let has_name = dead.has_name();
            let is_read = if has_name {
                unburied.known.is_incomplete && is_early || self.is_read(dead, peers, is_early)
            } else {
                // The process that removed the name has taken care of the other readers, or ignored
                // them.
                unread(dead).get(&self.own.id).is_some_and(|unread| self.reads(id, unread))
            };
            if is_read {
                return true;
            }
            if has_name {
                remove_files(&self.own.domain, id);
            }
            let entries = self.own.incoming.lock().remove(&id);
            for entry in entries.into_iter().flatten().flatten() {
                self.own.end_lease(&entry.lease, Party::Helper);
                effects.sinks.extend(entry.sink);
            }
            self.own.forget_slot_for(id);
            false
        });
    }

    /// Called when this participant has left. It may have been the last reader of participants that
    /// left before; no other participant would remove their files.
    ///
    /// If two participants leave at once, one sees the state of the other, because both pass a
    /// fence in between: Q2 and Q3.
    pub(super) fn clear_up(&self, discovery: &Discovery) {
        let left = discovery.peers.values().map(|known| &known.peer).filter(|peer| peer.has_left());
        let directory = self.own.domain.directory();
        for peer in discovery.unburied.values().map(|unburied| &unburied.known.peer).chain(left) {
            let is_over = peer.holds_nothing() || !peer.is_alive();
            let is_read = || {
                unread(peer).iter().any(|(&reader, unread)| {
                    peer_reads(directory, (reader, known(&discovery.peers, reader)), peer.id(), unread, true)
                })
            };
            if is_over && !is_read() {
                remove_files(&self.own.domain, peer.id());
            }
        }
    }

    /// Takes up the connections of a peer that is gone, for which there was no room before.
    fn take_up_rest(&self, known: &mut KnownPeer, effects: &mut Effects<'_>) {
        known.is_incomplete = false;
        for slot in 0..known.peer.reserved(Table::Outgoing) {
            self.follow_outgoing(known, slot, effects);
        }
    }

    /// Whether a living participant still has something to read from this dead peer. With
    /// `is_early`, this includes participants that haven't taken their connections up, because they
    /// may be slow to notice.
    fn is_read(&self, dead: &Peer, peers: &HashMap<u64, KnownPeer>, is_early: bool) -> bool {
        let directory = self.own.domain.directory();
        unread(dead).iter().any(|(&reader, unread)| {
            if reader == self.own.id {
                return self.reads(dead.id(), unread);
            }
            peer_reads(directory, (reader, known(peers, reader)), dead.id(), unread, is_early)
        })
    }

    /// Whether this participant still has to read any of these connections of a dead peer.
    fn reads(&self, dead: u64, connections: &HashSet<u64>) -> bool {
        let control = self.own.control().ok();
        let all = self.own.incoming.lock();
        let Some(entries) = all.get(&dead) else { return false };
        connections.iter().any(|&connection| {
            let entry = entries.get(slot_of(connection) as usize).and_then(Option::as_ref);
            let record = entry.zip(control).and_then(|(entry, control)| {
                control.record::<IncomingRecord>(Table::Incoming, entry.lease.slot).ok()
            });
            // Connections that weren't taken up at the peer's end won't be. Relaxed: our own.
            record.is_some_and(|record| record.cursor.load(Ordering::Relaxed) != DONE)
        })
    }
}

/// A participant that is already known.
fn known(peers: &HashMap<u64, KnownPeer>, id: u64) -> Option<Arc<Peer>> {
    peers.get(&id).map(|known| known.peer.clone())
}
