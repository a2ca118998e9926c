//! The publisher of a topic.

use sinew::error::{CreateError, PublishFailure};
use sinew::msg::{EncodedDraft, GenericType, Sample, SerializedMessage};
use sinew::qos::{Durability, History};
use sinew::{Duration, Node, Publisher, QoS};

/// Longest wait for readers between two looks whether the player is stopped.
pub(super) const SLICE: Duration = Duration::from_millis(100);

/// Maximum number of messages that wait for readers of a lossless player.
const MAX_WINDOW: usize = 64;

/// The publisher of a topic.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) publisher: Publisher<SerializedMessage>,
    pub(super) known: GenericType,
    /// The flow control of a lossless player.
    flow: Option<Flow>,
}

/// Flow control: no more messages are published before the readers have got them all than the
/// shortest history of a reader holds.
#[derive(Debug)]
struct Flow {
    node: Node,
    unread: usize,
    window: usize,
    /// The number of subscriptions for which the window was computed.
    subscriptions: usize,
}

impl Flow {
    /// Computes the window anew if there are other subscriptions.
    fn adapt(&mut self, publisher: &Publisher<SerializedMessage>) {
        let now = publisher.subscription_count();
        if now != self.subscriptions {
            let requested = self.node.graph().subscriptions(publisher.topic());
            let depths = requested.iter().map(|subscription| depth(&subscription.qos));
            self.window = depths.chain([depth(&publisher.qos()), MAX_WINDOW]).min().unwrap_or(1);
            self.subscriptions = now;
        }
    }
}

fn depth(qos: &QoS) -> usize {
    match qos.history {
        History::KeepLast(depth) => depth,
        History::KeepAll => usize::MAX,
    }
}

/// A message that lies where it will be published.
#[derive(Debug)]
pub(super) enum Prepared {
    Draft(EncodedDraft),
    /// There was no memory for a draft.
    Bytes(SerializedMessage),
}

impl Output {
    /// Makes the publisher. That of a lossless player is reliable and, unless it is latched, keeps
    /// all messages, so that it waits for readers that do so as well.
    pub(super) fn new(
        node: &Node,
        topic: &str,
        (known, qos): (GenericType, QoS),
        is_lossless: bool,
    ) -> Result<Self, CreateError> {
        let qos = match (is_lossless, qos.durability) {
            (false, _) => qos,
            (true, Durability::TransientLocal) => qos.reliable(),
            (true, _) => qos.reliable().keep_all().max_blocking_time(SLICE),
        };
        let publisher = node.generic_publisher(topic, known).qos(qos).create()?;
        let flow = is_lossless.then(|| Flow { node: node.clone(), unread: 0, window: 1, subscriptions: 0 });
        Ok(Self { publisher, known, flow })
    }

    /// Copies a message to where other processes will read it.
    pub(super) fn prepare(&self, bytes: &[u8]) -> Prepared {
        match self.publisher.encoded_draft(bytes.len()) {
            Some(mut draft) => {
                draft.copy_from_slice(bytes);
                Prepared::Draft(draft)
            }
            None => Prepared::Bytes(SerializedMessage::new(bytes.to_vec())),
        }
    }

    /// Publishes a message. In a lossless player, waits for room until `is_over` returns true, and
    /// then for the readers, if as many messages are unread as the shortest history holds.
    ///
    /// # Errors
    /// The reason why the message was not published.
    pub(super) fn publish(
        &mut self,
        message: Prepared,
        is_over: impl Fn() -> bool,
    ) -> Result<(), PublishFailure> {
        let Self { publisher, flow, .. } = self;
        let mut outcome = match message {
            Prepared::Draft(draft) => publisher.publish(draft),
            Prepared::Bytes(bytes) => publisher.publish(bytes),
        };
        let Some(flow) = flow else { return outcome.map_err(|error| error.failure()) };
        while let Err(error) = outcome {
            let failure = error.failure();
            let may_pass = matches!(failure, PublishFailure::Full { .. } | PublishFailure::NoSpace { .. });
            if !may_pass || is_over() {
                return Err(failure);
            }
            // Full has waited already; memory comes back when readers are done.
            publisher.wait_for_all_acked(SLICE);
            let again: Sample<SerializedMessage> = error.into_message().into_sample();
            outcome = publisher.publish(again);
        }
        flow.unread += 1;
        flow.adapt(publisher);
        if flow.unread >= flow.window {
            while !publisher.wait_for_all_acked(SLICE) {
                if is_over() {
                    break;
                }
            }
            flow.unread = 0;
        }
        Ok(())
    }
}
