//! The `on_..` handlers that a publisher's and a subscription's builder collect.

use super::context::ContextCore;
use crate::event::condition::{AttachedCondition, Status, StatusCondition};
use crate::event::deadline::{Deadline, DeadlineMissed};
use crate::event::deadline_timer::{AttachedTimer, DeadlineTimer};
use crate::event::liveliness::{LeaseListener, LivelinessLease, LivelinessListener};
use crate::event::match_listeners::MatchListeners;
use crate::event::status::{
    IncompatibleQos, IncompatibleType, LivelinessChanged, LivelinessLost, Matched, MessageLost,
    OfferedDeadlineMissed, RequestedDeadlineMissed,
};
use crate::executor::group_core::GroupCore;
use crate::ros::qos::QoS;
use crate::sys::clock::Clock;
use crate::sys::sync::Arc;
use crate::topic::publisher_core::WatchedPromises;
use crate::topic::subscription_core::SubscriptionListeners;

/// Handlers for events of one entity, as members of its group.
pub struct Handlers {
    /// The entity that has them: "publisher on frames".
    pub(crate) entity: String,
    pub(crate) matched: Option<AttachedCondition<Matched>>,
    pub(crate) incompatible_qos: Option<AttachedCondition<IncompatibleQos>>,
    pub(crate) incompatible_type: Option<AttachedCondition<IncompatibleType>>,
    pub(crate) lost: Option<AttachedCondition<MessageLost>>,
    pub(crate) offered_deadline: Option<AttachedCondition<OfferedDeadlineMissed>>,
    pub(crate) requested_deadline: Option<AttachedCondition<RequestedDeadlineMissed>>,
    pub(crate) liveliness_lost: Option<AttachedCondition<LivelinessLost>>,
    pub(crate) liveliness_changed: Option<AttachedCondition<LivelinessChanged>>,
    /// Checks for the last four events.
    timer: Option<AttachedTimer>,
    /// Whether the events without a handler are kept for the program.
    pub(crate) keeps: bool,
}

impl Handlers {
    pub(crate) fn new(entity: String) -> Self {
        Self {
            entity,
            matched: None,
            incompatible_qos: None,
            incompatible_type: None,
            lost: None,
            offered_deadline: None,
            requested_deadline: None,
            liveliness_lost: None,
            liveliness_changed: None,
            timer: None,
            keeps: false,
        }
    }

    /// If the program asked for it, keeps the publisher's statuses that have no handler. If a kept
    /// status depends on a time limit, starts the timer that checks it.
    pub(crate) fn keep_of_publisher(&mut self, qos: &QoS, context: &ContextCore) {
        if self.keeps {
            let clock = &context.session.clock;
            keep(&mut self.offered_deadline, clock);
            keep(&mut self.liveliness_lost, clock);
            self.keep_matches(clock);
        }
        let keeps_timed = is_kept(self.offered_deadline.as_ref()) || is_kept(self.liveliness_lost.as_ref());
        let is_timed = qos.deadline_nanoseconds().or(qos.manual_lease_nanoseconds()).is_some();
        if is_timed && (self.keeps || keeps_timed) {
            self.watch_on_thread(context);
        }
    }

    /// As [`keep_of_publisher`](Self::keep_of_publisher), for a subscription.
    pub(crate) fn keep_of_subscription(&mut self, context: &ContextCore) {
        if self.keeps {
            let clock = &context.session.clock;
            keep(&mut self.lost, clock);
            keep(&mut self.requested_deadline, clock);
            keep(&mut self.liveliness_changed, clock);
            self.keep_matches(clock);
        }
        let keeps_timed =
            is_kept(self.requested_deadline.as_ref()) || is_kept(self.liveliness_changed.as_ref());
        if self.keeps || keeps_timed {
            self.watch_on_thread(context);
        }
    }

    fn keep_matches(&mut self, clock: &Clock) {
        keep(&mut self.matched, clock);
        keep(&mut self.incompatible_qos, clock);
        keep(&mut self.incompatible_type, clock);
    }

    /// Lets the status thread check time limits. Without that thread, an executor that serves the
    /// group checks them.
    fn watch_on_thread(&mut self, context: &ContextCore) {
        self.timer = context.status_thread().map(|thread| AttachedTimer::on_thread(&thread));
    }

    pub(crate) fn match_listeners(&self) -> MatchListeners {
        MatchListeners::new(
            source(self.matched.as_ref()),
            source(self.incompatible_qos.as_ref()),
            source(self.incompatible_type.as_ref()),
        )
    }

    /// Returns the deadline and the lease that a publisher of this node and topic, with this QoS,
    /// has to watch.
    pub(crate) fn promised(
        &mut self,
        qos: &QoS,
        group: &Arc<GroupCore>,
        (node, topic): (&Arc<str>, &Arc<str>),
    ) -> WatchedPromises {
        let deadline = qos.deadline_nanoseconds().zip(source(self.offered_deadline.as_ref()));
        let deadline = deadline.map(|(period, source)| self.deadline(period, source, group));
        let lease = qos.manual_lease_nanoseconds().map(|lease| {
            let handler = source(self.liveliness_lost.as_ref());
            let (timer, node, topic) = (self.timer(group), node.clone(), topic.clone());
            LivelinessLease::new(lease, group.clock.clone(), LeaseListener { handler, timer, node, topic })
        });
        WatchedPromises { deadline, lease }
    }

    /// Returns the listeners for the events of a subscription with this QoS.
    pub(crate) fn listeners(&mut self, qos: &QoS, group: &Arc<GroupCore>) -> SubscriptionListeners {
        let deadline = qos.deadline_nanoseconds().zip(source(self.requested_deadline.as_ref()));
        let deadline = deadline.map(|(period, source)| self.deadline(period, source, group));
        let changed = source(self.liveliness_changed.as_ref());
        let liveliness = changed.map(|changed| LivelinessListener { changed, timer: self.timer(group) });
        SubscriptionListeners { lost: source(self.lost.as_ref()), deadline, liveliness }
    }

    fn deadline<E: DeadlineMissed>(
        &mut self,
        period: i64,
        source: Arc<StatusCondition<E>>,
        group: &Arc<GroupCore>,
    ) -> Arc<Deadline<E>> {
        Deadline::new(period, group.clock.clone(), source, self.timer(group))
    }

    fn timer(&mut self, group: &Arc<GroupCore>) -> Arc<DeadlineTimer> {
        self.timer.get_or_insert_with(|| AttachedTimer::new(group, &self.entity)).timer().clone()
    }

    /// Removes the handlers from their group.
    pub(crate) fn deregister(&self, wait: bool) {
        fn part<E: Status>(joined: Option<&AttachedCondition<E>>, wait: bool) {
            if let Some(joined) = joined {
                joined.deregister(wait);
            }
        }
        part(self.matched.as_ref(), wait);
        part(self.incompatible_qos.as_ref(), wait);
        part(self.incompatible_type.as_ref(), wait);
        part(self.lost.as_ref(), wait);
        part(self.offered_deadline.as_ref(), wait);
        part(self.requested_deadline.as_ref(), wait);
        part(self.liveliness_lost.as_ref(), wait);
        part(self.liveliness_changed.as_ref(), wait);
        if let Some(timer) = &self.timer {
            timer.deregister(wait);
        }
    }
}

fn keep<E: Status>(place: &mut Option<AttachedCondition<E>>, clock: &Clock) {
    place.get_or_insert_with(|| AttachedCondition::kept(clock));
}

/// Whether this status is kept for the program.
fn is_kept<E: Status>(joined: Option<&AttachedCondition<E>>) -> bool {
    joined.is_some_and(|joined| joined.source().is_kept())
}

fn source<E: Status>(joined: Option<&AttachedCondition<E>>) -> Option<Arc<StatusCondition<E>>> {
    joined.map(|joined| joined.source().clone())
}

/// The builder methods that publishers and subscriptions share.
macro_rules! handler_methods {
    ($end:ty) => {
        /// Keeps the statuses that have no handler: the program [takes](crate::event::StatusOf)
        /// them by `take_status`, or sets a listener by `set_status_listener`. No executor has to
        /// run. For bindings and event loops of other libraries.
        ///
        /// The thread `sinew-statuses`, one for each context, notices missed deadlines and expired
        /// leases. No warnings are logged for kept statuses, as the program reads them.
        ///
        /// ```
        /// use sinew::prelude::*;
        /// use sinew::event::Matched;
        /// # struct Number(u64); impl Message for Number {}
        /// let node = Context::new()?.node("binding")?;
        /// let numbers = node.publisher::<Number>("numbers").keep_statuses().create()?;
        /// let _reader = node.subscription::<Number>("numbers").create()?;
        /// let matched: Matched = numbers.take_status().expect("it is kept");
        /// assert_eq!((matched.total, matched.total_change), (1, 1));
        /// let matched: Matched = numbers.take_status().expect("it is kept");
        /// assert_eq!((matched.total, matched.total_change), (1, 0));
        /// # Ok::<(), sinew::Error>(())
        /// ```
        pub fn keep_statuses(mut self) -> Self {
            self.handlers.keeps = true;
            self
        }

        /// Sets a listener for changes of a status `E`, and [keeps](Self::keep_statuses) that
        /// status for the program to take. From the first change on, the thread that causes or
        /// notices a change calls the listener with 1. `set_status_listener` of the endpoint
        /// replaces the listener; its documentation says what a listener may do. A status has one
        /// handler or one listener: the last one that is set.
        ///
        /// ```
        /// use sinew::prelude::*;
        /// use sinew::event::Matched;
        /// # struct Number(u64); impl Message for Number {}
        /// let node = Context::new()?.node("binding")?;
        /// let (bell, changes) = std::sync::mpsc::channel();
        /// let numbers = node
        ///     .publisher::<Number>("numbers")
        ///     .status_listener::<Matched>(move |count| drop(bell.send(count)))
        ///     .create()?;
        /// let _reader = node.subscription::<Number>("numbers").create()?;
        /// assert_eq!(changes.recv().unwrap(), 1);
        /// let matched: Matched = numbers.take_status().expect("it is kept");
        /// assert_eq!(matched.total_change, 1);
        /// # Ok::<(), sinew::Error>(())
        /// ```
        pub fn status_listener<E: crate::event::StatusOf<$end>>(
            mut self,
            listener: impl Fn(u64) + Send + Sync + 'static,
        ) -> Self {
            self.handlers.listen::<$end, E>(&self.node.full_name, &self.group.core().clock, listener);
            self
        }

        /// Sets a handler that the executor runs when a matching endpoint appeared or went away. It
        /// takes nothing, `&Matched`, or the group's state and `&Matched`.
        pub fn on_matched<Form>(
            mut self,
            callback: impl crate::api::callback::EventCallback<crate::event::status::Matched, G, Form>,
        ) -> Self {
            let what = format!("matched event of {}", self.handlers.entity);
            let source = crate::event::condition::StatusCondition::new(&self.group, what, callback);
            self.handlers.matched = Some(crate::event::condition::AttachedCondition::new(source));
            self
        }

        /// Sets a handler that the executor runs when the topic has an endpoint with an
        /// incompatible QoS. Without a handler, a [warning](crate#what-sinew-says) is logged once
        /// for the pair.
        pub fn on_incompatible_qos<Form>(
            mut self,
            callback: impl crate::api::callback::EventCallback<crate::event::status::IncompatibleQos, G, Form>,
        ) -> Self {
            let what = format!("incompatible QoS event of {}", self.handlers.entity);
            let source = crate::event::condition::StatusCondition::new(&self.group, what, callback);
            self.handlers.incompatible_qos = Some(crate::event::condition::AttachedCondition::new(source));
            self
        }

        /// Sets a handler that the executor runs when the topic has an endpoint with another type.
        /// Without a handler, a [warning](crate#what-sinew-says) is logged once for the pair.
        pub fn on_incompatible_type<Form>(
            mut self,
            callback: impl crate::api::callback::EventCallback<crate::event::status::IncompatibleType, G, Form>,
        ) -> Self {
            let what = format!("incompatible type event of {}", self.handlers.entity);
            let source = crate::event::condition::StatusCondition::new(&self.group, what, callback);
            self.handlers.incompatible_type = Some(crate::event::condition::AttachedCondition::new(source));
            self
        }
    };
}
pub(crate) use handler_methods;
