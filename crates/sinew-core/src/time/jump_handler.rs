//! The program's handlers for jumps of ROS time.

use crate::api::context::{Context, ContextCore};
use crate::api::node::{Node, NodeCore};
use crate::executor::group::{Group, ReentrantGroup};
use crate::sys::jump::{FollowsTime, JumpThreshold, TimeJump};
use crate::sys::sync::{Arc, no_lock_is_held};
use std::fmt;

/// Keeps a handler for jumps of ROS time until this is dropped. From [`Context::on_time_jump`].
#[must_use = "dropping this removes the handler, and `let _ = ..` drops it at once: name the variable"]
pub struct JumpHandler(
    #[expect(dead_code, reason = "the session only knows it weakly")] Arc<dyn FollowsTime>,
);

struct Handler<F> {
    threshold: JumpThreshold,
    call: F,
}

impl<F: Fn(&TimeJump) + Send + Sync> FollowsTime for Handler<F> {
    fn jumped(&self, jump: &TimeJump) {
        if self.threshold.admits(jump) {
            no_lock_is_held();
            (self.call)(jump);
        }
    }
}

impl Context {
    /// Calls `handler` when ROS time jumps by at least `threshold`, or its source changes: when
    /// time that is [set](Self::set_ros_time) or [simulated](Self::use_sim_time) begins, ends, or
    /// jumps further than usual. ROS 2: `create_jump_callback`, the callback after the jump.
    ///
    /// The handler runs on the thread that sets the time, after the time is set; so it should be
    /// short, and several may run at once if several threads set the time. The new time is visible
    /// before the handlers run: a timer may run first. The handler is called until the returned
    /// value is dropped; if another thread drops it meanwhile, the handler may run once more.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::time::{JumpThreshold, Time};
    ///
    /// let context = Context::builder().shared_memory(false).build()?;
    /// let (send, jumps) = std::sync::mpsc::channel();
    /// context.set_ros_time(Some(Time::from_nanoseconds(1_000)));
    /// let _handler = context.on_time_jump(JumpThreshold::resets(), move |jump| {
    ///     let _ = send.send(jump.backward()); // discard data that was kept for later times
    /// });
    /// context.set_ros_time(Some(Time::from_nanoseconds(10))); // a replay starts again
    /// assert_eq!(jumps.try_recv(), Ok(Duration::from_nanos(990)));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn on_time_jump(
        &self,
        threshold: JumpThreshold,
        handler: impl Fn(&TimeJump) + Send + Sync + 'static,
    ) -> JumpHandler {
        watch(self.shared(), threshold, handler)
    }
}

impl Node {
    /// Calls `handler` when the time of the node's context jumps, like [`Context::on_time_jump`]:
    /// for code that is built on a node.
    pub fn on_time_jump(
        &self,
        threshold: JumpThreshold,
        handler: impl Fn(&TimeJump) + Send + Sync + 'static,
    ) -> JumpHandler {
        watch(self.context_shared(), threshold, handler)
    }
}

macro_rules! of_groups {
    ($([$($state:ident)?] $group:ty;)*) => {$(
        impl$(<$state: Send + 'static>)? $group {
            /// Calls `handler` when the time of the group's context jumps, like
            /// [`Context::on_time_jump`]: for code that is built on a group.
            pub fn on_time_jump(
                &self,
                threshold: JumpThreshold,
                handler: impl Fn(&TimeJump) + Send + Sync + 'static,
            ) -> JumpHandler {
                watch(&NodeCore::of(&self.core).context, threshold, handler)
            }
        }
    )*};
}

of_groups! {
    [State] Group<State>;
    [] ReentrantGroup;
}

fn watch(
    context: &ContextCore,
    threshold: JumpThreshold,
    call: impl Fn(&TimeJump) + Send + Sync + 'static,
) -> JumpHandler {
    let handler: Arc<dyn FollowsTime> = Arc::new(Handler { threshold, call });
    context.session.on_jump(Arc::downgrade(&handler));
    JumpHandler(handler)
}

impl fmt::Debug for JumpHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JumpHandler")
    }
}
