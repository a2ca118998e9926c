//! Simulated time: ROS time follows `/clock`.
//!
//! ROS 2 has a subscription and a clock for each node. Here a context has one clock, since nodes of
//! one process that disagree about the time are a mistake; so a node that changes its parameter
//! `use_sim_time` changes it for its whole context. The subscription belongs to a hidden node, with
//! a name that begins with an underscore, and has a listener: ROS time is set on the thread that
//! brings the message, whether an executor spins or not.
//!
//! Several threads may change it at once, and a change runs code of the program: handlers of jumps,
//! callbacks for parameters. So no thread waits for another: it notes the value it wants, and the
//! thread that changes the time looks again ([`CoalescingLock`]). After each change the parameters
//! of all nodes are updated, each in a turn of its own, to the time that the context uses then.

use crate::api::context::{Context, ContextCore};
use crate::api::node::{NodeCore, NodeSettings};
use crate::api::parameters::node::update_sim_time;
use crate::api::subscription::{Subscription, SubscriptionBuilder};
use crate::executor::group::Group;
use crate::ros::failure::CreateError;
use crate::ros::origin::Origin;
use crate::ros::qos::QoS;
use crate::sys::coalescing_lock::CoalescingLock;
use crate::sys::logging::{Level, log_line};
use crate::sys::sync::{Arc, Ordering};
use crate::topic::session::Session;
use sinew_interfaces::rosgraph_msgs::msg::Clock;

/// The source of simulated time.
pub(super) const TOPIC: &str = "/clock";

/// The hidden node that subscribes to it.
const NODE: &str = "_sim_time";

impl Context {
    /// Sets whether ROS time follows the topic `/clock` from now on. Then it is 0 until the first
    /// message; [timers](crate::Node::timer), [`now`](crate::Node::now), and
    /// [rates](crate::time::Rate) and sleeps of [`ClockKind::Ros`](crate::time::ClockKind::Ros)
    /// follow it. With `false` the subscription is dropped, and ROS time is the wall clock again.
    /// Steady and system time, and with them deadlines, lifespans, leases and timeouts, never
    /// follow it.
    ///
    /// This applies to all nodes of the context, since they share its clocks. In ROS 2 it applies
    /// to each node: here the parameter `use_sim_time` of one node counts for all, and the
    /// parameters of the others are updated. It can also be set from the beginning:
    /// [`ContextBuilder::use_sim_time`](crate::ContextBuilder::use_sim_time), or
    /// `--ros-args -p use_sim_time:=true`.
    ///
    /// Never blocks: if another thread is changing it, that thread makes this change as well,
    /// perhaps after this method has returned. Handlers of jumps
    /// ([`on_time_jump`](Self::on_time_jump)) run on this thread, or, for jumps caused by `/clock`,
    /// on the thread that brings the message.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::time::Time;
    /// let context = Context::builder().shared_memory(false).build()?;
    /// let node = context.node("planner")?;
    /// context.use_sim_time(true)?;
    /// assert_eq!(node.now(), Time::from_nanoseconds(0));
    /// let simulator = node.clock_publisher().start(Time::from_nanoseconds(42)).paused().create()?;
    /// simulator.publish()?;
    /// assert_eq!(node.now(), Time::from_nanoseconds(42));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`CreateError`] if the context is shut down, or `/clock` can't be subscribed to;
    /// then ROS time is unchanged.
    pub fn use_sim_time(&self, wanted: bool) -> Result<(), CreateError> {
        self.shared().on_use_sim_time(wanted)
    }

    /// Returns `true` if ROS time follows `/clock`.
    pub fn uses_sim_time(&self) -> bool {
        self.shared().session.follows_clock()
    }
}

impl ContextCore {
    /// See [`Context::use_sim_time`]; also called for a node's parameter.
    pub(crate) fn on_use_sim_time(self: &Arc<Self>, wanted: bool) -> Result<(), CreateError> {
        self.wants_sim_time.store(wanted, Ordering::Relaxed); // the lock carries it
        let mut own = None;
        self.changing_sim_time.look(|_held| {
            let wanted = self.wants_sim_time.load(Ordering::Relaxed); // as above
            let outcome = self.change_sim_time(wanted);
            update_sim_time(self);
            if let (Some(_), Err(error)) = (&own, &outcome) {
                log_line!(Level::Warn, "use_sim_time was set to {wanted}, but {error}"); // by another thread
            }
            own.get_or_insert(outcome);
        });
        own.unwrap_or(Ok(()))
    }

    fn change_sim_time(self: &Arc<Self>, wanted: bool) -> Result<(), CreateError> {
        let session = &self.session;
        if session.follows_clock() == wanted {
            return Ok(());
        }
        if !wanted {
            session.set_ros_time(None, None);
            return Ok(());
        }
        let node = NodeCore::new(self, (NODE, "/"), Origin::Local, NodeSettings::default())?;
        let subscription =
            SubscriptionBuilder::new(&Group::new(node, ()), TOPIC).qos(QoS::clock()).create()?;
        let epoch = session.await_ros_time();
        let taking = CoalescingLock::new(());
        let follower = Arc::new(ClockFollower { subscription, session: session.clone(), epoch, taking });
        drop(session.follow_clock(Some(Box::new(follower.clone()))));
        let listener = Arc::downgrade(&follower); // weakly, else the subscription would keep itself alive
        follower.subscription.set_listener(move |_| {
            if let Some(follower) = listener.upgrade() {
                follower.follow();
            }
        });
        Ok(())
    }
}

/// Sets ROS time from `/clock`. The session and the follower keep each other alive until simulated
/// time or the context ends.
struct ClockFollower {
    subscription: Subscription<Clock>,
    session: Arc<Session>,
    /// The epoch of ROS time that the follower may set: after its end, a late message changes
    /// nothing.
    epoch: u64,
    /// One thread at a time takes messages and sets the time, so that it follows their order.
    taking: CoalescingLock<()>,
}

impl ClockFollower {
    fn follow(&self) {
        self.taking.look(|_held| {
            while let Some((message, _)) = self.subscription.take() {
                self.session.set_ros_time(Some(message.clock.into()), Some(self.epoch));
            }
        });
    }
}
