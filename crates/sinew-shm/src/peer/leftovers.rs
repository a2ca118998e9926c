//! The leftovers of a participant that is gone: its files, and the messages in them that others may
//! still read.

use crate::error::SegmentProblem;
use crate::peer::mapped_peer::Peer;
use crate::platform::failpoints::{self, Point};
use crate::platform::sync::{Arc, Ordering};
use crate::segment::directory::Directory;
use crate::segment::domain::Domain;
use crate::segment::header::{SegmentKind, file_name, parse_file_name};
use crate::segment::owner_state::{OwnerState, probe};
use crate::tables::control_segment::{
    DONE, IncomingRecord, OutgoingRecord, Table, read_generation, reference,
};
use std::collections::{HashMap, HashSet};

/// Removes a dead participant's files, the control segment last. Another process may do the same at
/// the same time.
pub(crate) fn remove_files(domain: &Domain, id: u64) {
    let directory = domain.directory();
    let Ok(names) = directory.names() else { return };
    for name in names.iter().filter(|name| parse_file_name(name) == Some((id, false))) {
        let _ = directory.remove(name); // it may be gone already
    }
    failpoints::at(Point::ReapedControl);
    let _ = directory.remove(&file_name(SegmentKind::Control, id, 0)); // as above
}

/// Whether a living participant still has something to read from this dead peer, as seen by a
/// process that reads nothing itself.
pub(crate) fn is_read_by_others(directory: &Arc<Directory>, dead: &Peer) -> bool {
    let mut all = unread(dead).into_iter();
    all.any(|(reader, unread)| peer_reads(directory, (reader, None), dead.id(), &unread, true))
}

/// The connections that a dead peer hasn't retired, by their readers.
pub(crate) fn unread(dead: &Peer) -> HashMap<u64, HashSet<u64>> {
    let mut readers: HashMap<u64, HashSet<u64>> = HashMap::new();
    let Some(records) = dead.records::<OutgoingRecord>(Table::Outgoing) else { return readers };
    for (slot, record) in (0u32..).zip(records.iter()) {
        let generation = record.generation.load(Ordering::Acquire); // T3; its writer is dead
        if generation % 2 == 1 {
            let connection = reference(slot, generation);
            readers.entry(record.peer.load(Ordering::Relaxed)).or_default().insert(connection);
        }
    }
    readers
}

/// Whether another participant, which may be known already, is alive and still has to read any of
/// these connections of a dead peer.
pub(crate) fn peer_reads(
    directory: &Arc<Directory>,
    (reader, known): (u64, Option<Arc<Peer>>),
    dead: u64,
    connections: &HashSet<u64>,
    is_early: bool,
) -> bool {
    let peer = match known {
        Some(peer) => peer,
        None if probe(directory, reader) != OwnerState::Alive => return false,
        None => match Peer::open(directory, reader) {
            Ok(peer) => Arc::new(peer),
            // It has another version, or is no segment: no reader of ours. But if it only can't be
            // opened now, it may be one.
            Err(error) => return matches!(error.problem, SegmentProblem::System(_)),
        },
    };
    if !peer.is_alive() {
        return false;
    }
    let Some(records) = peer.records::<IncomingRecord>(Table::Incoming) else { return true };
    let (mut taken, mut done) = (HashSet::new(), HashSet::new());
    for record in records.iter() {
        let read = || {
            let is_done = record.cursor.load(Ordering::Acquire) == DONE; // pairs with `Incoming::done`
            // Relaxed: T3 checks it.
            (record.peer.load(Ordering::Relaxed), record.outgoing.load(Ordering::Relaxed), is_done)
        };
        let Some((_, (writer, connection, is_done))) = read_generation(&record.generation, read) else {
            continue;
        };
        if writer != dead {
            continue;
        }
        if is_done {
            done.insert(connection)
        } else {
            taken.insert(connection)
        };
    }
    let reads = |connection| taken.contains(connection) || is_early && !done.contains(connection);
    connections.iter().any(reads) && !peer.has_left()
}
