//! How a writer waits for readers that must get every message;
//! [`flow_control`](crate::connection::flow_control) has the protocol.

use crate::connection::flow_control::{self, Want};
use crate::platform::sys;
use crate::tables::bell::Bell;
use crate::tables::endpoint::EndpointKey;
use crate::writer::connection::{Connection, Laggard};
use crate::writer::message_writer::Writer;
use std::fmt;
use std::time::Duration;

impl Writer {
    /// Returns `true` if every reader that must get every message has room for one more. Readers
    /// that are gone count as having room.
    #[inline]
    pub fn has_room(&mut self) -> bool {
        let next = self.next;
        self.connections.iter_mut().all(|connection| connection.has_room(next))
    }

    /// Returns one of the readers that have no room for the next message.
    pub fn laggard(&self) -> Option<Laggard> {
        let behind = self.connections.iter().find(|connection| connection.lacks_room(self.next, Want::Any));
        let Connection { accepted, target, .. } = behind?;
        let cursor = self.next - accepted.cursor.lag(self.next);
        Some(Laggard { peer: accepted.peer.clone(), target: *target, cursor })
    }

    /// B1: returns `None` if there is room for the next message, and otherwise a handle to
    /// [wait](Waiting::sleep) for room. The caller then calls this again, even if
    /// [`has_room`](Self::has_room) returns `true`: a waiting writer waits until half of its
    /// readers' capacity is free, for at most half a millisecond, so that it doesn't wait for every
    /// single message. A thread that gives up has nothing to undo.
    #[inline]
    pub fn wait_for_room(&mut self) -> Option<Waiting> {
        if self.crowded.is_none() && self.has_room() { None } else { self.begin_to_wait() }
    }

    #[cold]
    fn begin_to_wait(&mut self) -> Option<Waiting> {
        let own = &self.endpoint.own;
        own.control().ok()?; // not in a forked child
        let bell = own.space_bell().ok()?;
        let now = sys::steady();
        let patience = flow_control::FAIR - (now - *self.crowded.get_or_insert(now));
        let want = if patience > 0 { Want::Half } else { Want::Any };
        let Self { connections, next, .. } = self;
        let full = connections.iter().filter(|connection| connection.lacks_room(*next, Want::Any));
        full.for_each(|connection| connection.accepted.look_for_reader()); // B3
        let bound = connections.iter().filter_map(|connection| {
            let wanted = flow_control::wanted(*next, connection.capacity?, want);
            Some((&connection.accepted.record.waiting, wanted))
        });
        let has_room = || !connections.iter().any(|connection| connection.lacks_room(*next, want));
        let seen = flow_control::begin_to_wait(&bell, bound, has_room);
        let Some(seen) = seen else {
            self.crowded = None;
            return None;
        };
        let at_most = u64::try_from(patience).ok().filter(|&patience| patience > 0);
        Some(Waiting { bell, seen, at_most: at_most.map(Duration::from_nanos) })
    }
}

impl Writer {
    /// Returns `None` if the readers that `counts` selects have read all messages before `number`,
    /// and otherwise a handle to [wait](Waiting::sleep) for that. `counts` is given the reader's
    /// participant, and for a connection that hands over retained messages its entity. Readers that
    /// are gone don't count.
    ///
    /// A reader's end ends the wait. Its progress does not, as it rings for room only: the caller
    /// limits the sleep, and asks again.
    pub fn wait_until_read(
        &mut self,
        number: u64,
        counts: impl Fn(u64, Option<EndpointKey>) -> bool,
    ) -> Option<Waiting> {
        self.endpoint.own.control().ok()?; // not in a forked child
        let waiting = Waiting::on(self.endpoint.own.space_bell().ok()?); // before the positions are read
        let handed_over = self.ending.iter().filter(|connection| connection.target.is_some());
        let mut is_behind = false;
        for Connection { accepted, target, .. } in self.connections.iter().chain(handed_over) {
            if counts(accepted.peer.id(), *target) && accepted.passed(false) < number {
                accepted.look_for_reader();
                is_behind |= accepted.passed(false) < number;
            }
        }
        is_behind.then_some(waiting)
    }
}

/// A wait for readers; see [`Writer::wait_for_room`] and [`Writer::wait_until_read`].
pub struct Waiting {
    bell: Bell,
    seen: u32,
    /// Time for which it is worth waiting for more than one place.
    at_most: Option<Duration>,
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waiting")
    }
}

impl Waiting {
    /// Waits on a bell that has not been rung yet when this is made.
    pub(crate) fn on(bell: Bell) -> Self {
        let seen = bell.rung();
        Self { bell, seen, at_most: None }
    }

    /// Sleeps until there may be room, or a reader is gone. May return early.
    pub fn sleep(&self, timeout: Option<Duration>) {
        self.bell.sleep(self.seen, timeout.into_iter().chain(self.at_most).min());
    }
}
