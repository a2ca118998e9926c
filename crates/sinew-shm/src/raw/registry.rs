//! A process's knowledge of the names of its domain: its own and those of other processes.
//!
//! Lock order: the participant's discovery (held by the thread that calls the observer); then one
//! of these: a space's names followed by this registry, or a channel's sending end, which may be
//! followed by a reading end; the participant's tables last. No thread refreshes the participant
//! while it holds one of them.

use super::declared::{Declared, Role};
use super::retained::Encoded;
use crate::connection::incoming::Incoming;
use crate::discovery::observer::Observer;
use crate::error::CapacityError;
use crate::own::incoming_entry::Sink;
use crate::peer::mapped_peer::Peer;
use crate::platform::sync::{Arc, Mutex};
use crate::ring::Head;
use crate::tables::endpoint::{Endpoint, EndpointKey};
use std::collections::HashMap;
use std::sync::Weak;
use std::time::Duration;

/// A reading end in this process.
pub(super) trait Reading: Send + Sync {
    /// The reading end's entity.
    fn key(&self) -> EndpointKey;
    /// Adds a connection: another process writes to this reading end from now on.
    fn connected(&self, incoming: Incoming);
    /// Called when a connection may have ended, or its writer may be gone.
    fn changed(&self);
    /// Whether this writer is connected.
    fn is_connected(&self, peer: u64, source: EndpointKey) -> bool;
    /// Delivers a message that its own process has written.
    fn offer(&self, head: &Head, writer: u64, encoded: &Encoded<'_>);
    /// Whether its own process may write.
    fn has_room(&self, capacity: usize) -> bool;
    /// Notes that its own process writes no more, and that the last value is gone.
    fn ended(&self, writer: u64);
}

/// The sending end of a name that is open in this process.
pub(super) trait Writing: Send + Sync {
    /// The kind, type and size of the name.
    fn declared(&self) -> &Declared;
    /// Connects a reader of another process that has appeared.
    fn connect(&self, peer: &Arc<Peer>, key: EndpointKey);
    /// Disconnects a reader of another process that is gone.
    fn disconnect(&self, peer: u64, key: EndpointKey);
    /// Connects readers for which there was no room before. Returns `true` if there still is none.
    fn connect_again(&self) -> bool;
}

/// Passes the helper thread's findings on to a reading end, while that exists.
struct Nudge(Weak<dyn Reading>);

impl Sink for Nudge {
    fn drain(&self) {
        if let Some(reading) = self.0.upgrade() {
            reading.changed();
        }
    }
}

/// An entity of another process.
#[derive(Clone)]
pub(super) struct Other {
    pub(super) peer: Arc<Peer>,
    pub(super) key: EndpointKey,
    pub(super) declared: Declared,
    pub(super) role: Role,
}

#[derive(Default)]
pub(super) struct Registry(Mutex<KnownNames>);

#[derive(Default)]
struct KnownNames {
    /// By name.
    others: HashMap<String, Vec<Other>>,
    /// The name of each entity in `others`.
    names: HashMap<(u64, EndpointKey), String>,
    /// The names that are open here.
    channels: HashMap<String, Weak<dyn Writing>>,
    readings: HashMap<EndpointKey, Weak<dyn Reading>>,
}

impl Registry {
    /// The channel of this name, for the helper thread, which doesn't keep it open.
    fn channel(&self, name: &str) -> Option<Arc<dyn Writing>> {
        self.0.lock().channels.get(name)?.upgrade()
    }

    pub(super) fn add_channel<W: Writing + 'static>(&self, name: String, channel: Arc<W>) {
        let weak: Weak<W> = Arc::downgrade(&channel);
        self.0.lock().channels.insert(name, weak);
    }

    /// Removes a channel that was closed.
    pub(super) fn remove_channel(&self, name: &str) {
        self.0.lock().channels.remove(name);
    }

    /// Adds a reading end. `make` advertises its entity; no writer is connected to it before it is
    /// registered.
    pub(super) fn add_reading<R: Reading + 'static>(
        &self,
        make: impl FnOnce() -> Result<Arc<R>, CapacityError>,
    ) -> Result<Arc<R>, CapacityError> {
        let mut known = self.0.lock();
        let reading = make()?;
        let weak: Weak<R> = Arc::downgrade(&reading);
        known.readings.insert(reading.key(), weak);
        Ok(reading)
    }

    pub(super) fn remove_reading(&self, key: EndpointKey) {
        self.0.lock().readings.remove(&key);
    }

    /// The entities of other processes that have this role for a name.
    pub(super) fn others(&self, name: &str, role: Role) -> Vec<Other> {
        let known = self.0.lock();
        let others = known.others.get(name).into_iter().flatten();
        others.filter(|other| other.role == role).cloned().collect()
    }
}

impl Observer for Registry {
    fn appeared(&self, peer: &Arc<Peer>, key: EndpointKey, endpoint: &Endpoint) {
        let Some((declared, role)) = Declared::parse(endpoint) else { return };
        let name = declared.name.clone();
        let other = Other { peer: peer.clone(), key, declared, role };
        let mut known = self.0.lock();
        known.names.insert((peer.id(), key), name.clone());
        known.others.entry(name.clone()).or_default().push(other.clone());
        drop(known);
        if role == Role::Reader
            && let Some(channel) = self.channel(&name)
            && *channel.declared() == other.declared
        {
            channel.connect(peer, key);
        }
    }

    fn vanished(&self, peer: &Arc<Peer>, key: EndpointKey) {
        let mut known = self.0.lock();
        let Some(name) = known.names.remove(&(peer.id(), key)) else { return };
        let mut role = None;
        if let Some(others) = known.others.get_mut(&name) {
            let place = others.iter().position(|other| other.peer.id() == peer.id() && other.key == key);
            role = place.map(|place| others.swap_remove(place).role);
            if others.is_empty() {
                known.others.remove(&name);
            }
        }
        drop(known);
        if role == Some(Role::Reader)
            && let Some(channel) = self.channel(&name)
        {
            channel.disconnect(peer.id(), key);
        }
    }

    fn connected(&self, incoming: Incoming, target: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
        let reading = self.0.lock().readings.get(&target?)?.upgrade();
        let reading = reading?;
        reading.connected(incoming);
        Some(Arc::new(Nudge(Arc::downgrade(&reading))))
    }

    fn left(&self, _: &Arc<Peer>) {}

    fn retry(&self) -> Option<Duration> {
        let known = self.0.lock();
        let channels: Vec<_> = known.channels.values().filter_map(Weak::upgrade).collect();
        drop(known);
        let lacking = channels.iter().filter(|channel| channel.connect_again()).count();
        (lacking > 0).then_some(Duration::ZERO)
    }
}
