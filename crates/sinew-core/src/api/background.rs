//! Entities that live as long as their node.

use super::node::NodeCore;
use crate::ros::failure::CreateError;
use crate::sys::sync::Arc;

/// A builder of an entity that gives no handle: the entity lives as long as its node. From
/// `background` of the builders of [subscriptions](crate::msg::SubscriptionBuilder::background),
/// [servers](crate::service::ServerBuilder::background),
/// [timers](crate::time::TimerBuilder::background) and [descriptor
/// sources](crate::event::DescriptorSourceBuilder::background).
///
/// The entity ends when the last [`Node`](crate::Node) handle of its node is dropped, or when the
/// context ends: with [`Context::shutdown`](crate::Context::shutdown), or with a spin after Ctrl-C.
/// It is dropped on the thread that does that, in the order of creation. Its callback ends then as
/// it does for a dropped handle: it does not start again, and one that runs on another thread
/// finishes. If the callback holds a handle to its own node, only the end of the context ends both.
///
/// | | the entity lives until | its node |
/// |---|---|---|
/// | `let _timer = ..callback(f)?;` | its last handle is dropped, or it is closed | is kept by it |
/// | `..background().callback(f)?;` | the last handle of its node is dropped | is not kept by it |
/// | `..callback(f)?.detach();` | the context ends | is kept until then |
///
/// ```
/// use sinew::prelude::*;
/// use sinew::time::VirtualClock;
/// let context = Context::builder().virtual_time(&VirtualClock::new()).build()?;
/// let node = context.node("blinker")?;
/// node.timer(Duration::from_secs(1)).background().callback(|| println!("blink"))?;
/// let executor = Executor::single();
/// executor.add(&context)?;
/// assert_eq!(executor.advance(Duration::from_secs(2))?, 2);
/// drop(node); // with its timer
/// assert_eq!(executor.advance(Duration::from_secs(2))?, 0);
/// # Ok::<(), sinew::Error>(())
/// ```
#[must_use = "nothing happens before `callback`"]
pub struct Background<Builder> {
    node: Arc<NodeCore>,
    builder: Builder,
}

impl<Builder> Background<Builder> {
    pub(super) fn new(node: &Arc<NodeCore>, builder: Builder) -> Self {
        Self { node: node.clone(), builder }
    }

    /// Makes the entity, and leaves it to the node.
    pub(super) fn make<Entity: Send + 'static>(
        self,
        make: impl FnOnce(Builder) -> Result<Entity, CreateError>,
    ) -> Result<(), CreateError> {
        let Self { node, builder } = self;
        node.keep(Box::new(make(builder)?))
    }
}
