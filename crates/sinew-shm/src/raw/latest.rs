//! The reading end of topics and variables: the newest message of all writers.
//!
//! A message that is read from a ring is kept here until a newer one comes, so a value outlives its
//! connection. The newest message has the greatest (stamp, order) over all writers; a message that
//! arrives late is skipped.

use super::channel::Channel;
use super::declared::ChannelKind;
use super::error::ReadError;
use super::registry::Reading;
use super::retained::{Encoded, RetainedValue};
use super::value::{Origin, Value};
use crate::connection::incoming::Incoming;
use crate::error::{CapacityError, SegmentError};
use crate::participant::OwnEndpoint;
use crate::platform::logging::later;
use crate::platform::sync::{Arc, Mutex};
use crate::ring::Head;
use crate::tables::endpoint::EndpointKey;

/// The reading end of one handle of a topic or variable.
pub(super) struct LatestReader {
    channel: Arc<Channel>,
    endpoint: OwnEndpoint,
    state: Mutex<LatestState>,
}

#[derive(Default)]
struct LatestState {
    links: Vec<Incoming>,
    kept: RetainedValue,
    /// Whether the kept message hasn't been read yet.
    is_new: bool,
    scratch: Vec<u8>,
}

/// How often a writer's ring is read again because it had an even newer message.
const ROUNDS: usize = 4;

impl LatestReader {
    /// Joins: from now on, this has the newest message of all living writers.
    pub(super) fn join(channel: &Arc<Channel>) -> Result<Arc<Self>, CapacityError> {
        channel.add_reader(|channel, endpoint| Self { channel, endpoint, state: Mutex::default() })
    }

    /// Reads the newest message, if there is one; with `only_new`, only if it hasn't been read.
    pub(super) fn read<V: Value + ?Sized>(
        &self,
        only_new: bool,
        to: &mut V::Owned,
    ) -> Result<Option<Origin>, ReadError> {
        self.channel.space.participant.check()?;
        let mut state = self.state.lock();
        state.pull()?;
        if only_new && !state.is_new {
            return Ok(None);
        }
        state.is_new = false;
        let Some((origin, bytes)) = state.kept.get() else { return Ok(None) };
        if V::copy_from(bytes, to) {
            return Ok(Some(origin));
        }
        let (name, found) = (self.channel.declared.name.clone(), bytes.len());
        Err(ReadError::Size { name, found, expected: V::SIZE })
    }
}

impl LatestState {
    /// Takes newer messages from the connections.
    fn pull(&mut self) -> Result<(), SegmentError> {
        let Self { links, kept, is_new, scratch } = self;
        for link in links {
            for _ in 0..ROUNDS {
                if !link.is_ready() {
                    break;
                }
                link.skip_to_newest(1);
                let Some(message) = link.read(scratch)? else { break };
                if kept.is_before(&message.head) {
                    kept.take(&message.head, link.peer().id(), message.hold, scratch);
                    *is_new = true;
                }
            }
        }
        Ok(())
    }
}

impl LatestReader {
    /// Takes newer messages and removes connections that are over.
    fn look(&self) {
        let mut state = self.state.lock();
        if let Err(error) = state.pull() {
            crate::log_line!(
                log::Level::Warn,
                "a value of `{}` is passed over: {error}",
                self.channel.declared.name
            );
        }
        let LatestState { links, kept, is_new, .. } = &mut *state;
        let goes_with_its_writer = self.channel.declared.kind == ChannelKind::Variable;
        links.retain_mut(|link| {
            let is_over = link.is_over();
            let writer = link.peer().id();
            if is_over && goes_with_its_writer && kept.origin.is_some_and(|origin| origin.writer == writer) {
                kept.clear();
                *is_new = false;
            }
            !is_over
        });
    }
}

impl Reading for LatestReader {
    fn key(&self) -> EndpointKey {
        self.endpoint.key()
    }

    fn connected(&self, mut incoming: Incoming) {
        incoming.unbind();
        self.state.lock().links.push(incoming);
        if let Ok(bell) = self.channel.space.participant.space_bell() {
            bell.ring(); // `Channel::join` looks again
        }
    }

    fn changed(&self) {
        later(|| self.look());
    }

    fn is_connected(&self, peer: u64, source: EndpointKey) -> bool {
        let state = self.state.lock();
        state.links.iter().any(|link| link.peer().id() == peer && link.source() == source)
    }

    fn offer(&self, head: &Head, writer: u64, encoded: &Encoded<'_>) {
        let mut state = self.state.lock();
        if state.kept.is_before(head) {
            state.kept.copy(head, writer, encoded);
            state.is_new = true;
        }
    }

    fn has_room(&self, _: usize) -> bool {
        true
    }

    fn ended(&self, writer: u64) {
        let mut state = self.state.lock();
        if state.kept.origin.is_some_and(|origin| origin.writer == writer) {
            state.kept.clear();
            state.is_new = false;
        }
    }
}

impl Drop for LatestReader {
    fn drop(&mut self) {
        self.channel.space.registry.remove_reading(self.endpoint.key());
    }
}
