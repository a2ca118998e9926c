//! Fills a buffer from `/tf` and `/tf_static`.

use crate::buffer::Buffer;
use crate::refusal::{Refusal, Refusals};
use sinew::__private::locks::{Lent, Mutex};
use sinew::error::CreateError;
use sinew::msg::Gid;
use sinew::time::{JumpHandler, JumpThreshold, Time};
use sinew::{Node, QoS, Subscription};
use sinew_interfaces::tf2_msgs::msg::TFMessage;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Fills a buffer from `/tf` and `/tf_static` as long as it lives. ROS 2:
/// `tf2_ros::TransformListener`.
///
/// The thread that delivers a message inserts its transforms: the publishing thread within a
/// process, otherwise the receiving thread. So the listener needs no executor and no thread of its
/// own, and a blocked callback, even one that waits for a transform, delays nothing. If several
/// threads deliver at once, one of them inserts the messages of all, in the order of their arrival;
/// a thread that publishes then may return a moment before its transforms are there. QoS: keep last
/// 100, reliable, and on `/tf_static` transient local, as in ROS 2.
///
/// Transforms that the buffer refuses are counted, see [`refusals`](Self::refusals), and logged by
/// the node, each kind at most once in 10 s per listener. When ROS time jumps back or changes its
/// source, the buffer is cleared, which is logged as well. The authority of a frame in the buffer
/// is the publisher's gid.
///
/// ```
/// use sinew::prelude::*;
/// use sinew_tf::{At, Buffer, StampedTransform, TransformBroadcaster, TransformListener};
/// let node = Context::new()?.node("planner")?;
/// let buffer = Buffer::new();
/// let _listener = TransformListener::new(&node, &buffer)?;
///
/// let broadcaster = TransformBroadcaster::new(&node)?;
/// broadcaster.send([StampedTransform::default().to_msg("map", "odom")]).unwrap();
/// assert!(buffer.lookup("map", "odom", At::Latest).is_ok());
/// # Ok::<(), sinew::Error>(())
/// ```
#[must_use = "the buffer is filled until this is dropped"]
pub struct TransformListener {
    moving: Subscription<TFMessage>,
    fixed: Subscription<TFMessage>,
    filler: Arc<Filler>,
    _jumps: JumpHandler,
}

impl TransformListener {
    /// Subscribes with this node.
    ///
    /// # Errors
    /// [`CreateError`] if the context is shut down, or one of the topics has another type.
    pub fn new(node: &Node, buffer: &Buffer) -> Result<Self, CreateError> {
        let qos = QoS::default().keep_last(100);
        let moving = node.subscription("/tf").qos(qos).create()?;
        let fixed = node.subscription("/tf_static").qos(qos.transient_local()).create()?;
        let filler = Arc::new(Filler {
            buffer: buffer.clone(),
            node: node.clone(),
            authorities: Mutex::default(),
            refusals: Mutex::default(),
        });
        listen(&moving, &filler, false);
        listen(&fixed, &filler, true);
        Ok(Self { moving, fixed, filler, _jumps: clear_on_jumps(node, buffer) })
    }

    /// Returns the transforms refused so far, by kind, in the order in which the kinds first
    /// occurred; empty if none was refused. Allocates.
    ///
    /// ```
    /// # use sinew::prelude::*;
    /// # use sinew_tf::{Buffer, InsertError, StampedTransform, TransformBroadcaster, TransformListener};
    /// # let node = Context::builder().shared_memory(false).build()?.node("planner")?;
    /// let listener = TransformListener::new(&node, &Buffer::new())?;
    /// let broadcaster = TransformBroadcaster::new(&node)?;
    /// broadcaster.send([StampedTransform::default().to_msg("map", "map")]).unwrap();
    /// let refusals = listener.refusals();
    /// assert!(matches!(refusals[0].error, InsertError::SelfTransform { .. }) && refusals[0].count == 1);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    #[must_use]
    pub fn refusals(&self) -> Vec<Refusal> {
        self.filler.refusals.lock().all()
    }
}

impl Drop for TransformListener {
    fn drop(&mut self) {
        // The listeners hold their subscriptions.
        self.moving.clear_listener();
        self.fixed.clear_listener();
    }
}

fn listen(subscription: &Subscription<TFMessage>, filler: &Arc<Filler>, is_static: bool) {
    let (taken, filler) = (subscription.clone(), filler.clone());
    // One thread at a time: otherwise a thread could insert a message that it took earlier over
    // what another thread has inserted meanwhile, and of static transforms the last one counts.
    let turn = Lent::new(());
    subscription.set_listener(move |_| {
        turn.serve(|()| {
            while let Some((message, info)) = taken.take() {
                filler.fill(&message, info.publisher(), is_static);
            }
        });
    });
}

fn clear_on_jumps(node: &Node, buffer: &Buffer) -> JumpHandler {
    let (buffer, logger) = (buffer.clone(), node.logger());
    node.on_time_jump(JumpThreshold::resets(), move |jump| {
        buffer.clear();
        sinew::warn!(
            logger,
            "time went from {} s to {} s; the transforms that were kept are forgotten",
            crate::insertion::seconds(&jump.before),
            crate::insertion::seconds(&jump.after)
        );
    })
}

struct Filler {
    buffer: Buffer,
    node: Node,
    authorities: Mutex<HashMap<Gid, Arc<str>>>,
    refusals: Mutex<Refusals>,
}

impl Filler {
    fn fill(&self, message: &TFMessage, publisher: Gid, is_static: bool) {
        let authority = self.authority(publisher);
        self.buffer.insert_all(&message.transforms, is_static, &authority, |error| {
            let told = self.refusals.lock().count(error, &authority, Time::steady());
            if let Some(refusal) = told {
                sinew::warn!(self.node, "{refusal}");
            }
        });
    }

    fn authority(&self, publisher: Gid) -> Arc<str> {
        let mut known = self.authorities.lock();
        if known.len() > MOST_AUTHORITIES {
            known.clear(); // publishers come and go
        }
        known.entry(publisher).or_insert_with(|| Arc::from(publisher.to_string())).clone()
    }
}

/// Maximum number of gid texts that are cached.
const MOST_AUTHORITIES: usize = 1000;

impl fmt::Debug for TransformListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransformListener").field("topic", &self.moving.topic()).finish_non_exhaustive()
    }
}
