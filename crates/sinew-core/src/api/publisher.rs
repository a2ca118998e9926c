//! Publishers.
//!
//! | file | what |
//! |---|---|
//! | `draft` | messages that are built in their encoded form, where they are published |
//! | `edit` | received messages that are changed in place, and passed on |

mod draft;
mod edit;

use super::erased::publisher::{self as erased, EncodedDraft, PublisherInner, PublisherStatistics};
use super::graph_view::Graph;
use super::handlers::Handlers;
use super::node::{AdaptQos, Advertised, NodeCore};
use crate::executor::group::{CallbackGroup, Group};
use crate::message::block::{Pool, RawMessage};
use crate::message::generic::SerializedMessage;
use crate::message::into_message::IntoMessage;
use crate::message::into_message::sealed::{Blocks, Erase, Erased};
use crate::message::type_support::TypeSupport;
use crate::message::work::CopyWork;
use crate::message::{Gid, Sample, Shared, Unique};
use crate::remote::shm::sender::ShmEndpoint;
use crate::ros::failure::{CreateError, PublishFailure};
use crate::ros::qos::QoS;
use crate::sys::sync::{Arc, next_serial};
use crate::topic::copy_plan::Ownership;
use crate::topic::publisher_core::{PublisherConfig, PublisherCore};
use crate::topic::recipients::Unpublished;
use crate::topic::strategy::Form;
pub use draft::Draft;
pub use edit::Edit;
use sinew_msg::loan::Built;
use sinew_msg::{DecodeError, Message};
use sinew_shm::EndpointKind;
use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

/// Maximum number of blocks in a publisher's pool, unless the builder sets another, or the
/// publisher keeps all of its messages.
const POOL_CAPACITY: usize = 64;

/// Bytes that limit the number of blocks of a publisher that keeps all of its messages.
const POOL_BYTES: usize = 1 << 18;

/// Returns the limit of a publisher's pool if its builder sets none. With `keep_all`, as many
/// messages as are kept may be in flight at once.
fn pool_capacity(table: &TypeSupport, qos: &QoS) -> usize {
    // Heap memory of a value stays with its block: a pool of such values would keep the memory of
    // the greatest burst.
    let kept = if qos.is_keep_all() && table.drop.is_none() { qos.capacity() } else { 0 };
    kept.min(POOL_BYTES / table.layout.size().max(1)).max(POOL_CAPACITY)
}

/// An entity that sends messages of type `T` to all subscriptions of its topic.
///
/// Made by [`Node::publisher`](crate::Node::publisher). Clones are the same publisher; it exists
/// until the last one is dropped. It may be used from any thread; publishing from several threads
/// at once keeps the order of the sequence numbers.
///
/// ```
/// use sinew::prelude::*;
/// #[derive(Clone, Default)]
/// struct Frame { pixels: Vec<u8> }
/// impl Message for Frame {}
///
/// let context = Context::new()?;
/// let camera = context.node("camera")?;
/// let frames = camera.publisher::<Frame>("frames").qos(QoS::sensor_data()).create()?;
/// let mut frame = frames.loan();         // from the publisher's pool
/// frame.pixels.resize(640 * 480 * 3, 0); // allocates once: the pool keeps it
/// frames.publish(frame)?;                // moved, not copied
/// # Ok::<(), sinew::Error>(())
/// ```
///
/// It has no `close`, so that no part of a program ends it while another part publishes.
#[must_use = "a publisher ends when its last handle is dropped, and `let _ = ..` drops it at once: name the variable (`let _publisher = ..`), or `detach()` it"]
pub struct Publisher<T: Message> {
    erased: erased::Publisher,
    of: PhantomData<fn(T)>,
}

impl<T: Message> Publisher<T> {
    /// Returns a message from the publisher's pool, to be filled and published: it holds the
    /// content of an earlier message, with all its capacity, or `T::default()`.
    ///
    /// When the last reference to the message is dropped, anywhere, it returns to the pool with its
    /// content. So a steady flow allocates nothing. If subscriptions of other processes match, and
    /// values of the type are [plain](sinew_msg::Plain), the message lies in shared memory, where
    /// they will read it; it then holds the content of any earlier message. Messages beyond the
    /// pool's limit (64, see [`PublisherBuilder::pool_capacity`]) are allocated one by one. Never
    /// blocks except for the pool's short lock.
    pub fn loan(&self) -> Unique<T>
    where
        T: Default,
    {
        let core = self.core();
        match core.loan_shared() {
            Some(message) => Unique::assume(message),
            None => Unique::assume(core.pool.loan::<T>()),
        }
    }

    /// Publishes a message: to every matching subscription before this returns.
    ///
    /// [`IntoMessage`] lists the forms in which the message may be given: e.g. as a `Unique<T>`, a
    /// `Shared<T>`, a `Box<T>` (adopted where it lies), a `T`, or a `&T` (one copy into the
    /// publisher's pool). The crate's [table](crate#who-gets-a-copy) shows which subscriptions get
    /// a copy. Once the pool is warm, only the message's own `Clone` allocates. Filters, `Clone`
    /// and `Drop` of messages run on this thread, under no lock.
    ///
    /// Blocks only if this publisher and a matching subscription are both reliable and keep_all and
    /// the subscription's history is full: then for [`QoS::max_blocking_time`] at most.
    ///
    /// # Errors
    /// The message comes back in the error, and no subscription got it; see [`PublishFailure`].
    #[inline]
    pub fn publish<M: IntoMessage<T>>(&self, message: M) -> Result<(), PublishError<T>> {
        let core = self.core();
        core.note();
        if message.value().is_some_and(|value| core.publish_value(value)) {
            return Ok(());
        }
        let form = if M::IS_SHARED { Ownership::Shared } else { Ownership::Unique };
        let Erased(message) = message.erase(self);
        let is_encoded = M::MAY_BE_ENCODED && message.is_encoded();
        let published = if is_encoded { Form::ENCODED } else { Form::of_value(form) };
        core.publish(message, published).map_err(|(message, reason)| self.failed(message, form, reason))
    }

    #[inline]
    pub(crate) fn core(&self) -> &Arc<PublisherCore> {
        &self.erased.core
    }

    #[cold]
    pub(super) fn failed(
        &self,
        message: RawMessage,
        form: Ownership,
        reason: Unpublished,
    ) -> PublishError<T> {
        let failure = self.erased.failure(reason);
        let message = match form {
            _ if message.is_encoded() => UnsentMessage::Encoded(Sample::assume(message)),
            Ownership::Unique => UnsentMessage::Unique(Unique::assume(message)),
            Ownership::Shared => UnsentMessage::Shared(Shared::assume(message)),
        };
        PublishError { failure, message }
    }

    /// Returns the topic's full name, after remapping.
    pub fn topic(&self) -> &str {
        self.erased.topic()
    }

    /// Returns the QoS that it offers.
    pub fn qos(&self) -> QoS {
        self.erased.qos()
    }

    /// Returns its identity, as in [`MessageInfo::publisher`](crate::MessageInfo::publisher).
    pub fn gid(&self) -> Gid {
        self.erased.gid()
    }

    /// Returns the number of subscriptions that match now. ROS 2: `get_subscription_count`.
    pub fn subscription_count(&self) -> usize {
        self.erased.subscription_count()
    }

    /// Waits until at least `count` subscriptions match, at most for `timeout` (of real time, also
    /// in virtual time), or until the context is shut down; returns whether they do. Not for
    /// callbacks: the thread does nothing else meanwhile.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// # #[derive(Clone)] struct Pose; impl Message for Pose {}
    /// let node = Context::new()?.node("tracker")?;
    /// let poses = node.publisher::<Pose>("poses").create()?;
    /// assert!(!poses.wait_for_subscribers(1, Duration::from_millis(1)));
    /// let _subscription = node.subscription::<Pose>("poses").create()?;
    /// assert!(poses.wait_for_subscribers(1, Duration::ZERO));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn wait_for_subscribers(&self, count: usize, timeout: Duration) -> bool {
        self.erased.wait_for_subscribers(count, timeout)
    }

    /// Waits until everything published before this call is acknowledged by all matching reliable
    /// subscriptions, at most for `timeout` (of real time, also in virtual time), or until the
    /// context is shut down; returns whether it is. ROS 2: `wait_for_all_acked`.
    ///
    /// | subscription | acknowledges a message |
    /// |---|---|
    /// | of this process | when it is published: it waits in the subscription's history |
    /// | of another process | when that process has read it out of shared memory: by its executor, its listener, or as it takes messages |
    /// | of another host | when the gateway of this host has read it; delivery on the network is not tracked |
    ///
    /// A message that gave way to newer ones before it was read counts as read. Subscriptions that
    /// end no longer count, nor do those of a process that is killed. Best-effort subscriptions
    /// never count, and a best-effort publisher does not wait. Not for callbacks: the thread does
    /// nothing else meanwhile.
    ///
    /// A reader in another process does not announce each message that it has read, since every
    /// announcement would cost it a fence. So this thread polls, every 50 µs at first and every 2
    /// ms later, and returns up to 2 ms late.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// # #[derive(Clone)] struct Pose; impl Message for Pose {}
    /// let node = Context::new()?.node("tracker")?;
    /// let poses = node.publisher::<Pose>("poses").create()?;
    /// let _subscription = node.subscription::<Pose>("poses").create()?;
    /// poses.publish(Pose)?;
    /// assert!(poses.wait_for_all_acked(Duration::from_secs(1))); // before the program ends, for example
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn wait_for_all_acked(&self, timeout: Duration) -> bool {
        self.erased.wait_for_all_acked(timeout)
    }

    /// Asserts that this publisher is alive, as publishing does: for one that is
    /// [manual by topic](crate::qos::Liveliness::ManualByTopic) and has nothing to publish within
    /// its [lease](QoS::lease). No effect on other publishers, which are alive anyway. It stays on
    /// this host: on other hosts, only messages are signs of life. Never blocks except for short
    /// locks.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::qos::Liveliness;
    /// # #[derive(Clone)] struct Stop; impl Message for Stop {}
    /// let context = Context::new()?;
    /// let watched = QoS::default().liveliness(Liveliness::ManualByTopic).lease(Duration::from_millis(200));
    /// let stop = context.node("button")?.publisher::<Stop>("stop").qos(watched).create()?;
    /// stop.assert_liveliness(); // not pressed, but there
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn assert_liveliness(&self) {
        self.erased.assert_liveliness();
    }

    /// Returns its counters.
    pub fn statistics(&self) -> PublisherStatistics {
        self.erased.statistics()
    }

    /// Keeps it until the context ends, with its handlers and the messages that it retains for late
    /// joiners; as [`Timer::detach`](crate::Timer::detach).
    pub fn detach(self) {
        self.erased.detach();
    }

    /// Returns the publisher without its type, for messages of any form.
    pub fn erased(&self) -> &erased::Publisher {
        &self.erased
    }
}

impl<T: Message> Clone for Publisher<T> {
    fn clone(&self) -> Self {
        Self { erased: self.erased.clone(), of: PhantomData }
    }
}

impl<T: Message> fmt::Debug for Publisher<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.erased.fmt(f)
    }
}

impl<T: Message> Blocks<T> for Publisher<T> {
    #[inline]
    fn put(&self, value: T) -> Erased {
        Erased(self.core().pool.put(value))
    }

    fn adopt(&self, value: Box<T>) -> Erased {
        Erased(RawMessage::adopt(value))
    }

    fn count_copy(&self) {
        self.core().count(CopyWork::COPY);
    }
}

impl<T: Message + Built, V: Borrow<T>> Erase<T> for Draft<T, V> {
    const IS_SHARED: bool = true;
    const MAY_BE_ENCODED: bool = true;

    fn erase(self, _blocks: &impl Blocks<T>) -> Erased {
        Erased(Draft::erase(self))
    }
}

impl<T: Message + Built> Erase<T> for Edit<T> {
    const MAY_BE_ENCODED: bool = true;

    fn erase(self, _blocks: &impl Blocks<T>) -> Erased {
        Erased(Edit::erase(self))
    }
}

/// A message that was not published, and the reason. No subscription got it.
///
/// ```
/// use sinew::prelude::*;
/// use sinew::error::PublishFailure;
/// # #[derive(Debug, PartialEq)] struct Number(u8); impl Message for Number {}
/// let context = Context::new()?;
/// let numbers = context.node("counter")?.publisher::<Number>("numbers").create()?;
/// context.shutdown();
/// let error = numbers.publish(Number(7)).unwrap_err();
/// assert_eq!(error.failure(), PublishFailure::Shutdown);
/// assert_eq!(error.into_message().into_shared()?.0, 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PublishError<T: Message> {
    failure: PublishFailure,
    message: UnsentMessage<T>,
}

/// The message of a [`PublishError`], in the form in which it was published.
pub enum UnsentMessage<T: Message> {
    /// It was published by value, by box, by reference (then this is the copy) or as `Unique`.
    Unique(Unique<T>),
    /// It was published as `Shared`, or as a [`Sample`] that holds a value.
    Shared(Shared<T>),
    /// It was published as a [`Draft`], or as an [`Edit`] or [`Sample`] in encoded form.
    Encoded(Sample<T>),
}

impl<T: Message> UnsentMessage<T> {
    /// Returns a reference to the message, in whichever form it was published; it may be published
    /// again.
    pub fn into_sample(self) -> Sample<T> {
        match self {
            UnsentMessage::Unique(message) => message.into_shared().into(),
            UnsentMessage::Shared(message) => message.into(),
            UnsentMessage::Encoded(message) => message,
        }
    }

    /// As [`into_sample`](Self::into_sample), but returns a value, which is decoded if it was
    /// published in encoded form.
    ///
    /// # Errors
    /// As [`Sample::into_shared`].
    pub fn into_shared(self) -> Result<Shared<T>, DecodeError> {
        self.into_sample().into_shared()
    }
}

impl<T: Message> PublishError<T> {
    /// Returns the reason why it was not published.
    pub fn failure(&self) -> PublishFailure {
        self.failure
    }

    /// Returns the message.
    pub fn into_message(self) -> UnsentMessage<T> {
        self.message
    }
}

impl<T: Message> fmt::Debug for PublishError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            return crate::sys::says::say(self, f);
        }
        f.debug_struct("PublishError").field("failure", &self.failure).finish_non_exhaustive()
    }
}

impl<T: Message> fmt::Display for PublishError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.failure.fmt(f)
    }
}

impl<T: Message> std::error::Error for PublishError<T> {}

/// Makes a [`Publisher`]; from [`Node::publisher`](crate::Node::publisher).
#[must_use = "nothing is published before `create`"]
pub struct PublisherBuilder<T, G = Group> {
    node: Arc<NodeCore>,
    topic: String,
    qos: QoS,
    adapt_qos: Option<AdaptQos>,
    pool: Option<usize>,
    table: &'static TypeSupport,
    group: G,
    handlers: Handlers,
    of: PhantomData<fn(T)>,
}

impl<T: Message, G: CallbackGroup> PublisherBuilder<T, G> {
    pub(crate) fn new(group: &G, topic: &str) -> Self {
        Self::of_type(group, topic, TypeSupport::of::<T>())
    }
}

impl<T, G: CallbackGroup> PublisherBuilder<T, G> {
    pub(in crate::api) fn of_type(group: &G, topic: &str, table: &'static TypeSupport) -> Self {
        let handlers = Handlers::new(format!("publisher on {topic}"));
        Self {
            node: NodeCore::of(group.core()),
            topic: topic.to_owned(),
            qos: QoS::default(),
            adapt_qos: None,
            pool: None,
            table,
            group: group.clone(),
            handlers,
            of: PhantomData,
        }
    }

    /// Sets the QoS that it offers; the default is [`QoS::default`]. Policies that are
    /// [best available](QoS::best_available) are chosen when the publisher is made.
    pub fn qos(mut self, qos: QoS) -> Self {
        self.qos = qos;
        self
    }

    /// Sets a change of its QoS, made when the publisher is made.
    pub(super) fn adapt_qos(mut self, adapt: AdaptQos) -> Self {
        self.adapt_qos = Some(adapt);
        self
    }

    /// Sets the maximum number of messages in its pool (0: none). Each further message is allocated
    /// on its own. Default: 64; with [`keep_all`](QoS::keep_all), for types without heap memory (no
    /// `Vec`, no `String`), the number of messages that it keeps, as far as they fit into 256 KB.
    pub fn pool_capacity(mut self, messages: usize) -> Self {
        self.pool = Some(messages);
        self
    }

    super::handlers::handler_methods!(erased::Publisher);

    /// Sets a handler that the executor runs when the publisher has been silent for longer than the
    /// [deadline](QoS::deadline) that it offers, and again after each further period (several at
    /// once if it is late). The first message starts the count. Never called without a deadline.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::event::OfferedDeadlineMissed;
    /// use sinew::time::VirtualClock;
    /// # #[derive(Clone)] struct Scan; impl Message for Scan {}
    /// let context = Context::builder().virtual_time(&VirtualClock::new()).build()?;
    /// let node = context.node("laser")?;
    /// let scans = node
    ///     .publisher::<Scan>("scans")
    ///     .qos(QoS::sensor_data().deadline(Duration::from_millis(100)))
    ///     .on_deadline_missed(|event: &OfferedDeadlineMissed| println!("{} missed", event.total_change))
    ///     .create()?;
    /// let executor = Executor::single();
    /// executor.add(&context)?;
    /// scans.publish(Scan)?;
    /// assert_eq!(executor.advance(Duration::from_millis(250))?, 2);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn on_deadline_missed<Ownership>(
        mut self,
        callback: impl super::callback::EventCallback<crate::event::status::OfferedDeadlineMissed, G, Ownership>,
    ) -> Self {
        let what = format!("deadline missed event of {}", self.handlers.entity);
        let source = crate::event::condition::StatusCondition::new(&self.group, what, callback);
        self.handlers.offered_deadline = Some(crate::event::condition::AttachedCondition::new(source));
        self
    }

    /// Sets a handler that the executor runs when a publisher with
    /// [manual liveliness](crate::qos::Liveliness::ManualByTopic) has neither published nor
    /// [asserted its liveliness](Publisher::assert_liveliness) for longer than its
    /// [lease](QoS::lease), which begins when it is created. Never called for other publishers, or
    /// without a lease.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::qos::Liveliness;
    /// use sinew::time::VirtualClock;
    /// # #[derive(Clone)] struct Stop; impl Message for Stop {}
    /// let context = Context::builder().virtual_time(&VirtualClock::new()).build()?;
    /// let node = context.node("button")?;
    /// let stop = node
    ///     .publisher::<Stop>("stop")
    ///     .qos(QoS::default().liveliness(Liveliness::ManualByTopic).lease(Duration::from_millis(100)))
    ///     .on_liveliness_lost(|| println!("the button's program hangs"))
    ///     .create()?;
    /// let executor = Executor::single();
    /// executor.add(&context)?;
    /// assert_eq!(executor.advance(Duration::from_millis(500))?, 1);
    /// stop.assert_liveliness();
    /// assert_eq!(executor.advance(Duration::from_millis(100))?, 0);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn on_liveliness_lost<Ownership>(
        mut self,
        callback: impl super::callback::EventCallback<crate::event::status::LivelinessLost, G, Ownership>,
    ) -> Self {
        let what = format!("liveliness lost event of {}", self.handlers.entity);
        let source = crate::event::condition::StatusCondition::new(&self.group, what, callback);
        self.handlers.liveliness_lost = Some(crate::event::condition::AttachedCondition::new(source));
        self
    }

    /// Makes the publisher, without its type: for messages of any form. When this returns, it has
    /// matched the existing subscriptions.
    ///
    /// # Errors
    /// As `create`.
    pub fn create_erased(mut self) -> Result<erased::Publisher, CreateError> {
        let topic = self.node.place(&self.topic, &self.qos)?;
        if let Some(adapt) = self.adapt_qos.take() {
            self.qos = adapt(&self.node, &topic, self.qos)?;
        }
        let context = self.node.context.clone();
        if self.qos.is_undecided() {
            self.qos = self.qos.offered_to(&Graph::of_context(&context).requested_on(&topic));
        }
        self.handlers.keep_of_publisher(&self.qos, &context);
        let match_listeners = self.handlers.match_listeners();
        let (node, shared_topic) = (self.node.full_name.clone(), Arc::from(topic.as_str()));
        let pool = self.pool.unwrap_or_else(|| pool_capacity(self.table, &self.qos));
        let promised = self.handlers.promised(&self.qos, self.group.core(), (&node, &shared_topic));
        let offered = PublisherConfig {
            number: next_serial(),
            topic: shared_topic,
            node,
            node_number: self.node.number,
            qos: self.qos,
            origin: self.node.origin,
            table: self.table,
            pool: Pool::of_table(self.table, pool),
            session: context.session.clone(),
            promised,
        };
        let entity = self.node.advertise(
            EndpointKind::Publisher,
            &Advertised { number: offered.number, name: &topic, table: offered.table, qos: self.qos },
            None,
        )?;
        let endpoint = entity.map(|entity| ShmEndpoint::boxed(entity, offered.qos, offered.table));
        let core =
            context.graph.add_publisher(&topic, offered, match_listeners, endpoint.into_iter().collect());
        Ok(erased::Publisher::of(PublisherInner { core, handlers: self.handlers, node: self.node }))
    }
}

impl<T: Message, G: CallbackGroup> PublisherBuilder<T, G> {
    /// Makes the publisher. When this returns, it has matched the existing subscriptions.
    ///
    /// # Errors
    /// [`CreateError`]: the topic's name or the QoS is invalid, or the context is shut down.
    pub fn create(self) -> Result<Publisher<T>, CreateError> {
        Ok(Publisher { erased: self.create_erased()?, of: PhantomData })
    }
}

impl Erase<SerializedMessage> for EncodedDraft {
    const IS_SHARED: bool = true;
    const MAY_BE_ENCODED: bool = true;

    fn erase(self, _blocks: &impl Blocks<SerializedMessage>) -> Erased {
        Erased(self.0)
    }
}

impl Publisher<SerializedMessage> {
    /// Reserves memory for a message of `length` encoded bytes: where other processes will read it,
    /// if they have a matching subscription. The memory contains old content.
    ///
    /// Returns `None` if there is no memory for it. Never blocks except for short locks; once warm,
    /// allocates nothing.
    pub fn encoded_draft(&self, length: usize) -> Option<EncodedDraft> {
        self.core().encoded_of(length).map(EncodedDraft)
    }
}
