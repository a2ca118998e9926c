//! Subscriptions to messages of any type.

use crate::api::callback::Called;
use crate::api::handlers::Handlers;
use crate::api::node::NodeCore;
use crate::api::timer::Timer;
use crate::executor::crew::scheduler::{TaskRef, ToSignal};
use crate::executor::group::{Group, GroupMember};
use crate::executor::group_core::{GroupCore, Membership};
use crate::executor::group_token::GroupToken;
use crate::executor::prefetch::{Hint, Part};
use crate::executor::task::{CallbackResult, Run, Task, TaskBase, TaskOutcome};
use crate::executor::wait_set::{self, Waitable};
use crate::executor::{AddError, Executor};
use crate::mailbox::history::Entry;
use crate::mailbox::waiters::{Listener, OnNews, WaiterId};
use crate::message::MessageInfo;
use crate::message::block::{Pool, RawMessage};
use crate::message::erased::{Message, Taken};
use crate::message::info::ChainScope;
use crate::message::registered::MessageType;
use crate::message::type_support::CloneInto;
use crate::message::work::CopyWork;
use crate::ros::qos::QoS;
use crate::sys::clock::Stamp;
use crate::sys::sync::{Arc, Mutex};
use crate::topic::copy_plan::Role;
use crate::topic::subscription_core::{self, SubscriptionConfig, SubscriptionCore};
use sinew_shm::Callback;
use sinew_shm::transport::OwnEndpoint;
use std::fmt;
use std::task::{Poll, Waker};
use std::time::Duration;

/// An entity that receives the messages of a topic, of one [`MessageType`].
///
/// Made by [`Node::erased_subscription`](crate::Node::erased_subscription). The documentation of
/// [`Subscription<T>`](crate::Subscription), a shell over this type, holds here as well.
#[must_use = "a subscription ends when its last handle is dropped, and `let _ = ..` drops it at once: name the variable (`let _subscription = ..`), or `detach()` it"]
#[derive(Clone)]
pub struct Subscription {
    /// For taking messages without going through `inner`.
    pub(in crate::api) core: Arc<SubscriptionCore>,
    pub(in crate::api) inner: Arc<SubscriptionInner>,
}

/// The part that is dropped with the last handle.
pub(in crate::api) struct SubscriptionInner {
    pub(in crate::api) core: Arc<SubscriptionCore>,
    pub(in crate::api) member: Option<(Arc<GroupCore>, Membership)>,
    /// `None` once it is closed.
    pub(in crate::api) open: Mutex<Option<OpenSubscription>>,
    pub(in crate::api) handlers: Handlers,
    pub(in crate::api) node: Arc<NodeCore>,
}

/// The part of a subscription that exists until it is closed.
pub(in crate::api) struct OpenSubscription {
    /// Its identity in other processes.
    pub(in crate::api) entity: Option<OwnEndpoint>,
    /// Its membership in a group of its own for a wait set, if it has no callback and a wait set
    /// has ever watched it.
    pub(in crate::api) watch: Option<(Arc<GroupCore>, Membership)>,
    /// The timer that publishes its statistics.
    pub(in crate::api) statistics: Option<Timer>,
}

impl Subscription {
    pub(in crate::api) fn of(inner: SubscriptionInner) -> Self {
        Self { core: inner.core.clone(), inner: Arc::new(inner) }
    }

    /// Returns the type of its messages. If it is [known](MessageType::known) by name and hash
    /// only, encoded messages of publishers of this process may have the publisher's type instead.
    pub fn message_type(&self) -> MessageType {
        let SubscriptionConfig { table, clone, .. } = self.core.wanted;
        MessageType::of_table_with(table, clone)
    }

    /// Takes the oldest message that has not been taken yet. A subscription that
    /// [owns](crate::msg::SubscriptionBuilder::owned) its messages returns the
    /// [only](Message::is_sole) reference; one that [accepts encoded
    /// messages](crate::msg::SubscriptionBuilder::accept_encoded) may return an encoded message;
    /// any other returns a value that others may be reading too. As
    /// [`Subscription::take`](crate::Subscription::take).
    pub fn take(&self) -> Option<(Message, MessageInfo)> {
        loop {
            let taken = self.taken(self.core.take()?);
            if taken.is_some() {
                return taken;
            }
        }
    }

    /// Converts a message to the form in which this subscription hands messages out.
    pub(in crate::api) fn taken(&self, entry: Entry) -> Option<(Message, MessageInfo)> {
        let wanted = &self.core.wanted;
        let (message, info) = match (wanted.role, wanted.clone) {
            _ if wanted.check.is_some() => self.in_place(entry),
            (Role::Owner | Role::Value, Some(clone)) => self.owned(entry, clone)?,
            _ => self.value(entry)?,
        };
        Some((Message::of(message), info))
    }

    /// As [`Subscription::set_listener`](crate::Subscription::set_listener).
    pub fn set_listener(&self, listener: impl Fn(u64) + Send + Sync + 'static) {
        self.inner.listen(Box::new(listener));
    }

    /// As [`Subscription::clear_listener`](crate::Subscription::clear_listener).
    pub fn clear_listener(&self) {
        self.core.set_listener(None);
    }

    /// As [`Subscription::bring_in`](crate::Subscription::bring_in).
    pub fn bring_in(&self, timeout: Duration) -> bool {
        // A publisher's first message may be in a connection that the helper thread has not seen.
        if let Some(transport) = self.inner.node.context.transport() {
            transport.refresh();
        }
        self.core.bring_in(timeout)
    }

    /// Returns the topic's full name, after remapping.
    pub fn topic(&self) -> &str {
        &self.core.wanted.topic
    }

    /// Returns the QoS that it requests.
    pub fn qos(&self) -> QoS {
        self.core.wanted.qos
    }

    /// Returns the number of publishers that match now.
    pub fn publisher_count(&self) -> usize {
        self.core.match_listeners.matched_now()
    }

    /// As [`Subscription::wait_for_publishers`](crate::Subscription::wait_for_publishers).
    pub fn wait_for_publishers(&self, count: usize, timeout: Duration) -> bool {
        let context = &self.inner.node.context;
        let enough = || self.core.match_listeners.matched_now() >= count;
        context.graph.wait_until(enough, || context.session.has_ended(), timeout)
    }

    /// Returns its counters.
    pub fn statistics(&self) -> SubscriptionStatistics {
        let (counts, work, waiting) = self.core.counts();
        SubscriptionStatistics {
            received: counts.received,
            taken: counts.taken,
            waiting: waiting as u64,
            overwritten: counts.overwritten,
            missed: counts.missed,
            refused: counts.refused,
            expired: counts.expired,
            copies: work.copies,
            decodings: work.decodings,
            views: work.encoded,
        }
    }

    /// As [`Subscription::close`](crate::Subscription::close).
    pub fn close(self) {
        self.inner.leave(true);
    }

    /// Returns `true` if it was [closed](Self::close).
    pub fn is_closed(&self) -> bool {
        self.inner.open.lock().is_none()
    }

    /// Keeps it until the context ends; as [`Subscription::detach`](crate::Subscription::detach).
    pub fn detach(self) {
        let session = self.inner.node.context.session.clone();
        session.detach(self);
    }

    /// Converts a taken message to a value. `None`: its encoded form has no valid value.
    #[inline]
    pub(in crate::api) fn value(&self, entry: Entry) -> Option<(RawMessage, MessageInfo)> {
        self.core.collect(&entry.message, &entry.publication);
        let info = self.core.info(entry.publication, entry.reception);
        Some((self.decoded(entry.message)?, info))
    }

    /// Converts a taken message to a value of the caller's own.
    pub(in crate::api) fn owned(&self, entry: Entry, clone: CloneInto) -> Option<(RawMessage, MessageInfo)> {
        let (message, info) = self.value(entry)?;
        let (message, work) = owned(message, clone, &self.core.wanted.pool);
        self.core.count(work);
        Some((message, info))
    }

    /// Returns a taken message as it lies.
    pub(in crate::api) fn in_place(&self, entry: Entry) -> (RawMessage, MessageInfo) {
        self.core.collect(&entry.message, &entry.publication);
        let info = self.core.info(entry.publication, entry.reception);
        self.core.count(CopyWork::of_form(&entry.message));
        (entry.message, info)
    }

    #[inline]
    fn decoded(&self, message: RawMessage) -> Option<RawMessage> {
        if message.is_encoded() { self.decode(&message) } else { Some(message) }
    }

    #[cold]
    fn decode(&self, encoded: &RawMessage) -> Option<RawMessage> {
        let value = encoded.decoded(&self.core.wanted.pool);
        let value = value.inspect_err(|error| self.core.cannot_decode(error)).ok()?;
        self.core.count(CopyWork::DECODING);
        Some(value)
    }

    pub(crate) fn poll_take(&self, waiter: &mut WaiterId, task: &Waker) -> Poll<Option<Entry>> {
        self.core.poll_take(waiter, task, &self.inner.node.context.session.ended)
    }

    pub(crate) fn stop_waiting(&self, waiter: &mut WaiterId) {
        self.core.stop_waiting(waiter);
    }

    /// Makes a wait set watch its messages.
    pub(crate) fn watch(&self, executor: &Executor) -> Result<(), AddError> {
        let what = || format!("the subscription to {}", self.topic());
        if self.inner.member.is_some() {
            return Err(AddError::HasCallback { what: what() });
        }
        let group = {
            let mut open = self.inner.open.lock();
            let Some(open) = &mut *open else { return Err(AddError::Closed { what: what() }) };
            let (group, _) = open.watch.get_or_insert_with(|| {
                let group = Group::new(self.inner.node.clone(), ()).core;
                let watched = WaitSetTask { core: self.core.clone() };
                let membership = group.join(Task::new(task_base(&group, &self.core, Vec::new()), watched));
                (group, membership)
            });
            group.clone()
        };
        executor.serve_group(&group, what)
    }
}

impl wait_set::sealed::Sealed for Subscription {}

impl Waitable for Subscription {
    fn subject(&self) -> usize {
        Arc::as_ptr(&self.core).addr()
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("topic", &self.topic())
            .field("qos", &self.qos())
            .finish_non_exhaustive()
    }
}

impl SubscriptionInner {
    /// Sets its listener, and notifies it of the messages that wait.
    pub(in crate::api) fn listen(&self, listener: OnNews) {
        let SubscriptionConfig { topic, node, .. } = &self.core.wanted;
        let entity = format!("subscription to {topic} of node {node}");
        self.core.set_listener(Some(Listener::boxed(entity, listener)));
    }

    fn leave(&self, wait: bool) {
        let Some(OpenSubscription { entity, watch, statistics }) = self.open.lock().take() else { return };
        drop(statistics);
        let context = &self.node.context;
        context.graph.remove_subscription(&self.core);
        if let (Some(entity), Some(transport)) = (&entity, context.transport()) {
            transport.forget(entity.key());
        }
        self.core.close();
        for (group, membership) in self.member.iter().chain(&watch) {
            group.deregister(*membership, wait);
        }
        self.handlers.deregister(wait);
        drop(entity); // other processes learn that it is gone
    }
}

impl Drop for SubscriptionInner {
    fn drop(&mut self) {
        self.leave(false);
    }
}

/// A subscription's counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SubscriptionStatistics {
    /// Messages that entered the history.
    pub received: u64,
    /// Messages that were taken out of it, by the callback or by hand.
    pub taken: u64,
    /// Messages that wait in it now.
    pub waiting: u64,
    /// Messages that gave way to newer ones (keep_last), here or at their publisher.
    pub overwritten: u64,
    /// Messages that were lost before they reached this host: on the network, or because there was
    /// no room for them where they were published. They do not count as received.
    pub missed: u64,
    /// Messages that found the history full (keep_all without back-pressure).
    pub refused: u64,
    /// Messages dropped at the end of their lifespan.
    pub expired: u64,
    /// Copies made for it: of values that others held when they were taken; and of the bytes of
    /// encoded messages of other processes, if too many are in use to read another one in place.
    pub copies: u64,
    /// Values decoded from messages of other processes; viewed messages and plain values are not
    /// decoded. A value that several subscriptions of the process share counts for one of them.
    pub decodings: u64,
    /// Encoded messages that were handed out to be read in place: by a [`View`](crate::View) or
    /// [`Sample`](crate::msg::Sample). (Values are not counted: reading them in place saves
    /// nothing.)
    pub views: u64,
}

/// Calls a subscription's callback with a message.
pub(in crate::api) trait Calls: Send + Sync + 'static {
    fn call(
        &self,
        token: &mut GroupToken,
        message: RawMessage,
        pool: &Arc<Pool>,
        about: &dyn Fn() -> MessageInfo,
    ) -> Called;
}

/// Returns the data of a subscription's task.
pub(in crate::api) fn task_base(
    group: &GroupCore,
    core: &Arc<SubscriptionCore>,
    hints: Vec<Hint>,
) -> TaskBase {
    let mut hot = vec![Part::value(core, subscription_core::LINES), Part::Code(subscription_core::code)];
    hot.extend(hints.into_iter().map(Part::Hint));
    TaskBase::new(group.node.clone(), format!("subscription to {}", core.wanted.topic))
        .subject(core)
        .callback(core.key().map(Callback::Of))
        .uses(hot)
}

/// A subscription as its executor sees it: everything a call needs in one place.
pub(in crate::api) struct SubscriptionTask<C> {
    pub(in crate::api) core: Arc<SubscriptionCore>,
    pub(in crate::api) callback: C,
}

impl<C: Calls> SubscriptionTask<C> {
    /// Names its code, which may lie in a library that is unloaded.
    pub(in crate::api) fn code() -> [Hint; 2] {
        let run: fn(&Self, &mut GroupToken) -> TaskOutcome = Self::run;
        [Hint::new(run as *const (), 512), Hint::new(C::call as *const (), 512)]
    }
}

impl<C: Calls> Run for SubscriptionTask<C> {
    fn run(&self, token: &mut GroupToken) -> TaskOutcome {
        let Some((entry, next)) = self.core.take_for(token) else { return TaskOutcome::NOTHING };
        self.core.collect(&entry.message, &entry.publication);
        let _chain = ChainScope::enter(Some(entry.publication.lineage));
        let about = || self.core.info(entry.publication, entry.reception); // read where it lies
        let called = self.callback.call(token, entry.message, &self.core.wanted.pool, &about);
        self.core.count(called.work);
        TaskOutcome { result: called.result, next, called: true }
    }

    fn pending(&self) -> Option<Stamp> {
        self.core.pending()
    }

    fn clear_ready(&self) -> bool {
        self.core.clear_ready()
    }
}

impl<C: Calls> GroupMember for SubscriptionTask<C> {
    fn attach(&self, task_ref: Option<TaskRef>) -> ToSignal {
        self.core.attach(task_ref)
    }

    fn attached(&self) {
        self.core.retune();
    }

    fn discard(&self) {
        self.core.discard();
    }
}

/// A callback for messages of any type: it opens its own cell, and its group's state, with the
/// token.
pub(in crate::api) struct ErasedCall<F> {
    /// The way to make a message of its own, if it owns its messages.
    pub(in crate::api) owner: Option<CloneInto>,
    pub(in crate::api) call: F,
}

impl<F> Calls for ErasedCall<F>
where
    F: Fn(&mut GroupToken, Taken<'_>) -> CallbackResult + Send + Sync + 'static,
{
    fn call(
        &self,
        token: &mut GroupToken,
        message: RawMessage,
        pool: &Arc<Pool>,
        about: &dyn Fn() -> MessageInfo,
    ) -> Called {
        let mut work = CopyWork::of_form(&message);
        let mut message = message;
        if let Some(clone) = self.owner {
            (message, work) = owned(message, clone, pool);
        }
        Called { result: (self.call)(token, Taken::new(message, about)), work }
    }
}

/// Returns a message that its reader holds alone, and the work: a copy if there is another
/// reference.
fn owned(message: RawMessage, clone: CloneInto, pool: &Arc<Pool>) -> (RawMessage, CopyWork) {
    if message.is_ownable() {
        return (message, CopyWork::NONE);
    }
    // SAFETY: the function and the pool are for the subscription's type, which is that of the
    // values that reach it.
    (unsafe { message.duplicate(clone, pool) }, CopyWork::COPY)
}

/// A subscription without a callback, as a wait set sees it.
struct WaitSetTask {
    core: Arc<SubscriptionCore>,
}

impl Run for WaitSetTask {
    fn run(&self, _token: &mut GroupToken) -> TaskOutcome {
        TaskOutcome { next: self.core.pending(), ..TaskOutcome::NOTHING } // it stays ready
    }

    fn pending(&self) -> Option<Stamp> {
        self.core.pending()
    }

    fn clear_ready(&self) -> bool {
        self.core.clear_ready()
    }
}

impl GroupMember for WaitSetTask {
    fn attach(&self, task_ref: Option<TaskRef>) -> ToSignal {
        self.core.attach(task_ref)
    }

    fn attached(&self) {
        self.core.retune();
    }
}
