//! Making subscriptions: their settings, filters and callbacks.

use super::{BufferType, Subscription};
use crate::api::background::Background;
use crate::api::callback::{Called, Outcome, SubscriptionCallback};
use crate::api::erased::Erased;
use crate::api::erased::subscription::{
    self as erased, Calls, ErasedCall, OpenSubscription, SubscriptionInner, SubscriptionTask, task_base,
};
use crate::api::graph_view::Graph;
use crate::api::handlers::Handlers;
use crate::api::introspection::topic_statistics::TopicStatistics;
use crate::api::node::{AdaptQos, Advertised, NodeCore};
use crate::executor::group::{CallbackGroup, Group, ReentrantGroup};
use crate::executor::group_core::GroupCore;
use crate::executor::group_token::GroupToken;
use crate::executor::prefetch::Hint;
use crate::executor::task::{CallbackResult, Task};
use crate::mailbox::waiters::OnNews;
use crate::message::block::{Pool, RawMessage};
use crate::message::erased::{MessageRef, Taken};
use crate::message::generic::check;
use crate::message::incoming::Incoming;
use crate::message::registered::MessageType;
use crate::message::type_support::{CloneInto, TypeSupport, clone_into};
use crate::message::{Check, MessageInfo};
use crate::ros::failure::CreateError;
use crate::ros::qos::QoS;
use crate::sys::sync::{Arc, Mutex, next_serial};
use crate::topic::copy_plan::Role;
use crate::topic::statistics_collector::StatisticsCollector;
use crate::topic::subscription_core::{Filter, SubscriptionConfig, SubscriptionCore};
use sinew_msg::Message;
use sinew_msg::cdr::Structure;
use sinew_msg::view::Viewed;
use sinew_shm::EndpointKind;
use std::marker::PhantomData;
use std::mem;

/// Maximum number of blocks in a subscription's pool, which holds messages kept by value and late
/// copies.
const POOL_CAPACITY: usize = 64;

/// Makes a [`Subscription`]; from [`Node::subscription`](crate::Node::subscription).
#[must_use = "nothing is received before `callback` or `create`"]
pub struct SubscriptionBuilder<T, G = Group> {
    node: Arc<NodeCore>,
    topic: String,
    qos: QoS,
    adapt_qos: Option<AdaptQos>,
    buffer: BufferType,
    clone: Option<CloneInto>,
    filter: Option<Filter>,
    ignore_own: bool,
    check: Option<Check>,
    table: &'static TypeSupport,
    statistics: Option<TopicStatistics>,
    listener: Option<OnNews>,
    hints: Vec<Hint>,
    group: G,
    handlers: Handlers,
    of: PhantomData<fn() -> T>,
}

impl<T: Message, G: CallbackGroup> SubscriptionBuilder<T, G> {
    pub(crate) fn new(group: &G, topic: &str) -> Self {
        Self::of_type(group, topic, TypeSupport::of::<T>())
    }
}

impl<T, G: CallbackGroup> SubscriptionBuilder<T, G> {
    pub(in crate::api) fn of_type(group: &G, topic: &str, table: &'static TypeSupport) -> Self {
        Self {
            node: NodeCore::of(group.core()),
            topic: topic.to_owned(),
            qos: QoS::default(),
            adapt_qos: None,
            buffer: BufferType::CallbackDefault,
            clone: None,
            filter: None,
            ignore_own: false,
            check: None,
            table,
            statistics: None,
            listener: None,
            hints: Vec::new(),
            group: group.clone(),
            handlers: Handlers::new(format!("subscription to {topic}")),
            of: PhantomData,
        }
    }

    /// Makes it take messages in their encoded form, if they exist in it and the check accepts
    /// them.
    pub(in crate::api) fn checked(mut self, check: Check) -> Self {
        self.check = Some(check);
        self
    }

    /// Sets the QoS that it requests; the default is [`QoS::default`]. Policies that are
    /// [best available](QoS::best_available) are chosen when the subscription is made.
    pub fn qos(mut self, qos: QoS) -> Self {
        self.qos = qos;
        self
    }

    /// Sets a change of its QoS, made when the subscription is made.
    pub(in crate::api) fn adapt_qos(mut self, adapt: AdaptQos) -> Self {
        self.adapt_qos = Some(adapt);
        self
    }

    /// Sets how its buffer holds messages; by default as the callback takes them.
    pub fn buffer(mut self, buffer: BufferType) -> Self
    where
        T: Clone,
    {
        self.buffer = buffer;
        self.clone = Some(clone_into::<T>());
        self
    }

    /// Sets a listener that is called for each message that arrives, from the first one on;
    /// [`Subscription::set_listener`] replaces it. It is called first for the messages that
    /// publishers retain for late joiners, on this thread, before the handle is returned.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// # struct Number(u64); impl Message for Number {}
    /// # let context = Context::new()?;
    /// # let node = context.node("reader")?;
    /// let (bell, news) = std::sync::mpsc::channel();
    /// let numbers =
    ///     node.subscription::<Number>("numbers").listener(move |count| drop(bell.send(count))).create()?;
    /// node.publisher::<Number>("numbers").create()?.publish(Number(7))?;
    /// assert_eq!(news.recv().unwrap(), 1);
    /// assert_eq!(numbers.take().unwrap().0.0, 7);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn listener(mut self, listener: impl Fn(u64) + Send + Sync + 'static) -> Self {
        self.listener = Some(Box::new(listener));
        self
    }

    /// Makes it live as long as its node, without a handle; see [`Background`].
    ///
    /// ```
    /// use sinew::prelude::*;
    /// # #[derive(Clone)] struct Scan; impl Message for Scan {}
    /// let context = Context::new()?;
    /// let node = context.node("mapper")?;
    /// node.subscription::<Scan>("scan").background().callback(|_: &Scan| println!("a scan"))?;
    /// node.publisher::<Scan>("scan").create()?.publish(Scan)?;
    /// let executor = Executor::single();
    /// executor.add(&context)?;
    /// assert_eq!(executor.spin_some()?, 1);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn background(self) -> Background<Self> {
        Background::new(&self.node.clone(), self)
    }

    /// Ignores messages of publishers of its own node.
    pub fn ignore_own_publications(mut self) -> Self {
        self.ignore_own = true;
        self
    }

    /// Reads messages of other processes in place: [`Subscription::take_sample`] and
    /// [`recv_sample`](Subscription::recv_sample) return the encoded form in its publisher's
    /// memory, of any size, without a copy. A message taken as a value is decoded then. For a
    /// subscription without a callback: one with a callback that takes a [`View`](crate::View) or a
    /// [`Sample`](crate::msg::Sample) does so anyway. No effect together with a
    /// [`filter`](Self::filter) or an owning buffer, which both need values, nor on a plain type,
    /// which has the same form as a value.
    pub fn read_in_place(mut self) -> Self
    where
        T: Structure + Viewed,
    {
        self.check = Some(Check::of::<T>());
        self
    }

    /// Publishes, each second and on `/statistics`, the age of its messages when they are taken,
    /// and the period between them: `statistics_msgs/msg/MetricsMessage`, as `rclcpp` does.
    ///
    /// | `metrics_source` | milliseconds |
    /// |---|---|
    /// | `message_age` | from the stamp of its header until it is taken |
    /// | `message_period` | from one taken message to the next |
    ///
    /// Without a header, or with one that a [`View`](crate::View) doesn't begin with, the age
    /// counts from the publication. A stamp of 0 is not counted.
    ///
    /// A message counts as taken when its callback begins, or by [`take`](Subscription::take). A
    /// window without messages is published as well: its count is 0, and the other values are NaN.
    /// The executor of the subscription's group publishes; a subscription without statistics costs
    /// nothing.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::introspection::TopicStatistics;
    /// use sinew::time::VirtualClock;
    /// use sinew_interfaces::statistics_msgs::msg::MetricsMessage;
    /// # struct Pose; impl Message for Pose {}
    /// let context = Context::builder().virtual_time(&VirtualClock::new()).build()?;
    /// let node = context.node("tracker")?;
    /// let _poses = node
    ///     .subscription::<Pose>("poses")
    ///     .topic_statistics(TopicStatistics::default())
    ///     .callback(|_: &Pose| {})?;
    /// let statistics = node.subscription::<MetricsMessage>("/statistics").create()?;
    /// let publisher = node.publisher::<Pose>("poses").create()?;
    /// let executor = Executor::single();
    /// executor.add(&context)?;
    /// for _ in 0..10 {
    ///     publisher.publish(Pose)?;
    ///     executor.advance(Duration::from_millis(100))?;
    /// }
    /// let _age = statistics.take().unwrap();
    /// let (period, _) = statistics.take().unwrap();
    /// assert_eq!((period.metrics_source.as_str(), period.statistics[0].data), ("message_period", 100.0));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    ///
    /// Making the subscription fails for a period of zero, or a topic with an invalid name.
    pub fn topic_statistics(mut self, statistics: TopicStatistics) -> Self {
        self.statistics = Some(statistics);
        self
    }

    crate::api::handlers::handler_methods!(erased::Subscription);

    /// Sets a handler that the executor runs when messages were lost: they gave way to newer ones,
    /// or found the history full.
    pub fn on_message_lost<Form>(
        mut self,
        callback: impl crate::api::callback::EventCallback<crate::event::status::MessageLost, G, Form>,
    ) -> Self {
        let what = format!("message lost event of {}", self.handlers.entity);
        self.handlers.lost = Some(crate::event::condition::AttachedCondition::new(
            crate::event::condition::StatusCondition::new(&self.group, what, callback),
        ));
        self
    }

    /// Sets a handler that the executor runs when no message has come for longer than the
    /// [deadline](QoS::deadline) that the subscription requests, and again after each further
    /// period (several at once if it is late). The first message, of any publisher, starts the
    /// count, even one that is dropped because the history is full; the count goes on after the
    /// last publisher is gone. Never called without a deadline.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::event::RequestedDeadlineMissed;
    /// use sinew::time::VirtualClock;
    /// # #[derive(Clone)] struct Pose; impl Message for Pose {}
    /// let context = Context::builder().virtual_time(&VirtualClock::new()).build()?;
    /// let node = context.node("tracker")?;
    /// let tenth = QoS::default().deadline(Duration::from_millis(100));
    /// let _poses = node
    ///     .subscription::<Pose>("poses")
    ///     .qos(tenth)
    ///     .on_deadline_missed(|event: &RequestedDeadlineMissed| println!("{} missed", event.total_change))
    ///     .callback(|_: &Pose| {})?;
    /// let publisher = node.publisher::<Pose>("poses").qos(tenth).create()?;
    /// let executor = Executor::single();
    /// executor.add(&context)?;
    /// publisher.publish(Pose)?;
    /// assert_eq!(executor.advance(Duration::from_millis(250))?, 1 + 2); // the message, and two periods without one
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn on_deadline_missed<Form>(
        mut self,
        callback: impl crate::api::callback::EventCallback<crate::event::status::RequestedDeadlineMissed, G, Form>,
    ) -> Self {
        let what = format!("deadline missed event of {}", self.handlers.entity);
        let source = crate::event::condition::StatusCondition::new(&self.group, what, callback);
        self.handlers.requested_deadline = Some(crate::event::condition::AttachedCondition::new(source));
        self
    }

    /// Sets a handler that the executor runs when a matching publisher came or went, its lease
    /// expired, or it became alive again: an automatic publisher is alive while it exists, a
    /// [manual](crate::qos::Liveliness::ManualByTopic) one if it has published or asserted its
    /// liveliness within the lease that it offers.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::event::LivelinessChanged;
    /// use sinew::qos::Liveliness;
    /// use sinew::time::VirtualClock;
    /// # #[derive(Clone)] struct Pose; impl Message for Pose {}
    /// let context = Context::builder().virtual_time(&VirtualClock::new()).build()?;
    /// let node = context.node("tracker")?;
    /// let qos = QoS::default().liveliness(Liveliness::ManualByTopic).lease(Duration::from_millis(100));
    /// let _poses = node
    ///     .subscription::<Pose>("poses")
    ///     .qos(qos)
    ///     .on_liveliness_changed(|event: &LivelinessChanged| println!("{} of them live", event.alive))
    ///     .callback(|_: &Pose| {})?;
    /// let publisher = node.publisher::<Pose>("poses").qos(qos).create()?;
    /// let executor = Executor::single();
    /// executor.add(&context)?;
    /// assert_eq!(executor.advance(Duration::from_millis(100))?, 1); // it came
    /// assert_eq!(executor.advance(Duration::from_millis(100))?, 1); // it expired
    /// publisher.assert_liveliness();
    /// assert_eq!(executor.spin_some()?, 1); // it lives
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn on_liveliness_changed<Form>(
        mut self,
        callback: impl crate::api::callback::EventCallback<crate::event::status::LivelinessChanged, G, Form>,
    ) -> Self {
        let what = format!("liveliness changed event of {}", self.handlers.entity);
        let source = crate::event::condition::StatusCondition::new(&self.group, what, callback);
        self.handlers.liveliness_changed = Some(crate::event::condition::AttachedCondition::new(source));
        self
    }

    /// Makes the subscription, without its type and without a callback: for messages in any form,
    /// to be [taken](erased::Subscription::take).
    ///
    /// # Errors
    /// As `create`.
    pub fn create_erased(self) -> Result<erased::Subscription, CreateError> {
        self.make(false).map(erased::Subscription::of)
    }

    /// Makes the subscription with a callback for messages of any type.
    fn call_erased(
        mut self,
        call: impl Fn(&mut GroupToken, Taken<'_>) -> CallbackResult + Send + Sync + 'static,
    ) -> Result<erased::Subscription, CreateError> {
        let owns = matches!(self.buffer, BufferType::Unique | BufferType::Value);
        let owner = self.clone.filter(|_| owns);
        let group = self.group.core().clone();
        let hints = mem::take(&mut self.hints);
        let mut inner = self.make(false)?;
        inner.attach(&group, ErasedCall { owner, call }, hints);
        Ok(erased::Subscription::of(inner))
    }

    fn make(mut self, callback_owns: bool) -> Result<SubscriptionInner, CreateError> {
        let topic = self.node.place(&self.topic, &self.qos)?;
        if let Some(adapt) = self.adapt_qos.take() {
            self.qos = adapt(&self.node, &topic, self.qos)?;
        }
        if self.qos.is_undecided() {
            self.qos = self.qos.requested_from(&Graph::of_context(&self.node.context).offered_on(&topic));
        }
        let role = match self.buffer {
            BufferType::CallbackDefault if callback_owns => Role::Owner,
            BufferType::CallbackDefault | BufferType::Shared => Role::Sharer,
            BufferType::Unique => Role::Owner,
            BufferType::Value => Role::Value,
        };
        let table = self.table;
        if role != Role::Sharer && self.clone.is_none() {
            return Err(CreateError::NoClone { topic, type_name: table.name().to_owned() });
        }
        let is_open = role == Role::Sharer && self.filter.is_none() && !table.is_plain();
        let context = &self.node.context;
        self.handlers.keep_of_subscription(context);
        let match_listeners = self.handlers.match_listeners();
        let listeners = self.handlers.listeners(&self.qos, self.group.core());
        let clock = context.session.clock.clone();
        let collector = self.statistics.as_ref().map(|_| StatisticsCollector::new(clock.clone()));
        let core = context.graph.add_subscription(&topic, |topic| {
            let wanted = SubscriptionConfig {
                topic,
                node: self.node.full_name.clone(),
                node_number: self.node.number,
                number: next_serial(),
                origin: self.node.origin,
                table,
                qos: self.qos,
                role,
                clone: self.clone,
                filter: self.filter,
                check: self.check.filter(|_| is_open),
                ignore_own: self.ignore_own,
                pool: Pool::of_table(table, POOL_CAPACITY),
                participant: context.session.participant,
            };
            SubscriptionCore::new(wanted, match_listeners, listeners, (clock, collector.clone()))
        });
        let known =
            Advertised { number: core.wanted.number, name: &topic, table: core.wanted.table, qos: self.qos };
        let entity = match self.node.advertise(EndpointKind::Subscription, &known, Some(&core)) {
            Ok(entity) => entity,
            Err(error) => {
                context.graph.remove_subscription(&core);
                return Err(error);
            }
        };
        if let Some(entity) = &entity {
            core.is_counted(entity.counters());
        }
        // It exists already: if its filter panics while it joins, dropping `inner` removes it
        // again.
        let inner = SubscriptionInner {
            core,
            member: None,
            open: Mutex::new(Some(OpenSubscription { entity, watch: None, statistics: None })),
            handlers: self.handlers,
            node: self.node.clone(),
        };
        if let (Some(statistics), Some(collector)) = (self.statistics, collector) {
            let published = statistics.publish(&self.group, &self.node.name, collector)?;
            if let Some(open) = &mut *inner.open.lock() {
                open.statistics = Some(published);
            }
        }
        inner.node.context.graph.join(&inner.core);
        if let Some(listener) = self.listener {
            inner.listen(listener);
        }
        Ok(inner)
    }
}

impl<T: Message, G: CallbackGroup> SubscriptionBuilder<T, G> {
    /// Lets only messages pass for which the filter returns `true`. It is called before anything is
    /// copied or queued, and should be quick: it runs on the publisher's thread, or, for a
    /// publisher in another process, on any thread of this process that runs an executor, takes, or
    /// makes an entity of this context, or on one of the context's own threads. The library holds
    /// no lock meanwhile; the filter must not wait for a lock of the program that such a thread may
    /// hold. If it panics, so does the publish; a message of another process is lost for the
    /// subscriptions here that take it in the same way, and that is reported.
    pub fn filter(mut self, filter: impl Fn(&T) -> bool + Send + Sync + 'static) -> Self {
        self.filter = Some(Box::new(move |message: &RawMessage| {
            // SAFETY: the filter is called for messages of the type that the endpoints agreed on
            // when they matched, which is `T`, and the reference keeps the message alive.
            filter(unsafe { message.value().cast::<T>().as_ref() })
        }));
        self
    }

    /// Makes the subscription, with a callback that the executor runs for each message; see
    /// [`SubscriptionCallback`] for its forms. When this returns, it has matched the existing
    /// publishers, and has the messages that they retain for late joiners.
    ///
    /// # Errors
    /// [`CreateError`]: the topic's name or the QoS is invalid, or the context is shut down.
    pub fn callback<Form, F>(mut self, callback: F) -> Result<Subscription<T>, CreateError>
    where
        F: SubscriptionCallback<T, G, Form>,
        Form: 'static,
    {
        let owner = F::OWNS;
        self.check = F::VIEWS;
        self.clone = self.clone.or(owner.map(|owner| owner.0));
        let group = self.group.clone();
        let mut inner = self.make(owner.is_some())?;
        let call =
            TypedCall::<T, G, Form, F> { cell: callback.cell(&group), group: group.clone(), of: PhantomData };
        inner.attach(group.core(), call, Vec::new());
        Ok(Subscription { erased: erased::Subscription::of(inner), of: PhantomData })
    }

    /// Makes the subscription without a callback, for messages to be [taken](Subscription::take).
    ///
    /// # Errors
    /// As [`callback`](Self::callback).
    pub fn create(self) -> Result<Subscription<T>, CreateError> {
        Ok(Subscription { erased: self.create_erased()?, of: PhantomData })
    }
}

impl<T: Message, G: CallbackGroup> Background<SubscriptionBuilder<T, G>> {
    /// Makes the subscription, as [`SubscriptionBuilder::callback`].
    ///
    /// # Errors
    /// As [`SubscriptionBuilder::callback`]; or the last handle of the node was dropped.
    pub fn callback<Form, F>(self, callback: F) -> Result<(), CreateError>
    where
        F: SubscriptionCallback<T, G, Form>,
        Form: 'static,
    {
        self.make(|builder| builder.callback(callback))
    }
}

impl<T, S: Send + 'static> Background<SubscriptionBuilder<T, Group<S>>> {
    /// Makes the subscription, as [`SubscriptionBuilder::callback_erased`].
    ///
    /// # Errors
    /// As [`SubscriptionBuilder::callback`]; or the last handle of the node was dropped.
    pub fn callback_erased<R: Outcome>(
        self,
        callback: impl FnMut(&mut S, Taken<'_>) -> R + Send + 'static,
    ) -> Result<(), CreateError> {
        self.make(|builder| builder.callback_erased(callback))
    }
}

impl<T> Background<SubscriptionBuilder<T, ReentrantGroup>> {
    /// As in a [`Group`], but several threads may call it at once, and there is no state.
    ///
    /// # Errors
    /// As [`SubscriptionBuilder::callback`]; or the last handle of the node was dropped.
    pub fn callback_erased<R: Outcome>(
        self,
        callback: impl Fn(Taken<'_>) -> R + Send + Sync + 'static,
    ) -> Result<(), CreateError> {
        self.make(|builder| builder.callback_erased(callback))
    }
}

impl<T, S: Send + 'static> SubscriptionBuilder<T, Group<S>> {
    /// Makes the subscription, without its type, with a callback that the executor runs for each
    /// message: it gets the group's state, and the message as
    /// [`take`](erased::Subscription::take) returns it.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::erased::{MessageType, Taken};
    /// # #[derive(Clone)] struct Number(u64); impl Message for Number {}
    /// let context = Context::new()?;
    /// let node = context.node("binding")?;
    /// let sum = node.group(0_u64);
    /// let number = MessageType::of_clone::<Number>();
    /// let _numbers = sum.erased_subscription("numbers", number).owned().callback_erased(
    ///     |sum: &mut u64, taken: Taken| *sum += taken.message.into_unique::<Number>().unwrap().0,
    /// )?;
    /// node.publisher::<Number>("numbers").create()?.publish(Number(7))?;
    /// let executor = Executor::single();
    /// executor.add(&context)?;
    /// assert_eq!(executor.spin_some()?, 1);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As `create`.
    pub fn callback_erased<R: Outcome>(
        self,
        callback: impl FnMut(&mut S, Taken<'_>) -> R + Send + 'static,
    ) -> Result<erased::Subscription, CreateError> {
        let state = self.group.state.clone();
        let cell = self.group.number.callback(callback);
        self.call_erased(move |token: &mut GroupToken, taken: Taken<'_>| {
            let callback = cell.open(&mut token.callbacks);
            callback(state.open(&mut token.state), taken).into_result()
        })
    }
}

impl<T> SubscriptionBuilder<T, ReentrantGroup> {
    /// As in a [`Group`], but several threads may call it at once, and there is no state.
    ///
    /// # Errors
    /// As `create`.
    pub fn callback_erased<R: Outcome>(
        self,
        callback: impl Fn(Taken<'_>) -> R + Send + Sync + 'static,
    ) -> Result<erased::Subscription, CreateError> {
        self.call_erased(move |_: &mut GroupToken, taken: Taken<'_>| callback(taken).into_result())
    }
}

impl<G: CallbackGroup> SubscriptionBuilder<Erased, G> {
    /// Sets a [type](MessageType).
    pub(in crate::api) fn of_message_type(group: &G, topic: &str, of: MessageType) -> Self {
        let mut builder = Self::of_type(group, topic, of.table());
        builder.clone = of.cloner();
        // Messages of a type that is known by name and hash only are bytes in any case.
        builder.check = of.table().is_generic().then_some(Check(check));
        builder
    }

    /// Makes its messages its own: each is the [only](crate::erased::Message::is_sole) reference. A
    /// copy is made only if another subscription gets the message as well. For a type that [can be
    /// copied](MessageType::can_clone).
    pub fn owned(mut self) -> Self {
        self.buffer = BufferType::Unique;
        self
    }

    /// Makes it take messages in their [encoded](crate::erased::Message::is_encoded) form, in place
    /// and unchecked, if they exist in it: those of other processes, of publishers of the type in
    /// another language, and drafts. No effect together with a filter or [`owned`](Self::owned),
    /// which both need values, nor on a plain type.
    pub fn accept_encoded(mut self) -> Self {
        self.check = Some(Check(check));
        self
    }

    /// Names memory or code that the callback touches each time: a thread that wakes fetches it
    /// together with the subscription's own.
    pub fn prefetch(mut self, hint: Hint) -> Self {
        self.hints.push(hint);
        self
    }

    /// As [`filter`](SubscriptionBuilder::filter), for messages of any type. The filter can't keep
    /// the message: another subscription may get it as its own.
    ///
    /// ```
    /// # use sinew::prelude::*;
    /// use sinew::erased::{MessageRef, MessageType};
    /// # struct Number(u64); impl Message for Number {}
    /// # let context = Context::new()?;
    /// # let node = context.node("binding")?;
    /// let is_large = |message: MessageRef<'_>| message.value_of::<Number>().is_some_and(|n| n.0 > 9);
    /// let number = MessageType::of::<Number>();
    /// let large = node.erased_subscription("numbers", number).filter_erased(is_large).create_erased()?;
    /// node.publisher::<Number>("numbers").create()?.publish(Number(7))?;
    /// assert!(large.take().is_none());
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn filter_erased(mut self, filter: impl Fn(MessageRef<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.filter = Some(Box::new(move |message: &RawMessage| filter(MessageRef::of(message))));
        self
    }
}

impl SubscriptionInner {
    /// Attaches the callback to its group.
    fn attach<C: Calls>(&mut self, group: &Arc<GroupCore>, callback: C, mut hints: Vec<Hint>) {
        let work = SubscriptionTask { core: self.core.clone(), callback };
        hints.extend(SubscriptionTask::<C>::code());
        let base = task_base(group, &self.core, hints);
        let membership = group.join(Task::new(base, work));
        self.member = Some((group.clone(), membership));
    }
}

/// A callback in one of the [forms](SubscriptionCallback) for a `T`.
struct TypedCall<T: Message, G, Form, F: SubscriptionCallback<T, G, Form>> {
    cell: F::Cell,
    group: G,
    of: PhantomData<fn(T) -> Form>,
}

impl<T, G, Form, F> Calls for TypedCall<T, G, Form, F>
where
    T: Message,
    G: CallbackGroup,
    Form: 'static,
    F: SubscriptionCallback<T, G, Form>,
{
    #[inline]
    fn call(
        &self,
        token: &mut GroupToken,
        message: RawMessage,
        pool: &Arc<Pool>,
        about: &dyn Fn() -> MessageInfo,
    ) -> Called {
        F::call(&self.cell, &self.group, token, Incoming::new(message, pool), about)
    }
}
