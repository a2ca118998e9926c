//! The methods that nodes, for their default group, and groups share: builders of entities, posted
//! and spawned work.

use super::client::ClientBuilder;
use super::descriptor::DescriptorSourceBuilder;
use super::erased::Erased;
use super::erased::service as erased;
use super::guard::GuardConditionBuilder;
use super::node::{Node, NodeCore};
use super::parameter_client::ParameterClient;
use super::parameters::declare::UntypedParameter;
use super::parameters::structs::ParameterSet;
use super::publisher::PublisherBuilder;
use super::server::ServerBuilder;
use super::subscription::SubscriptionBuilder;
use super::timer::TimerBuilder;
use super::type_descriptions::{RegisteredType, register};
use super::work_queue::{JoinHandle, PostedClosure, WorkQueue, post, spawn};
use crate::executor::Executable;
use crate::executor::error::PostError;
use crate::executor::group::sealed::Core as _;
use crate::executor::group::{CallbackGroup, Group, ReentrantGroup};
use crate::message::Check;
use crate::message::generic::{GenericService, GenericType, SerializedMessage, check};
use crate::message::registered::MessageType;
use crate::parameters::spec::Parameters;
use crate::ros::failure::CreateError;
use crate::service::types::ServiceTypes;
use crate::sys::clock::{ClockKind, Time};
use crate::topic::shutdown::ShutdownHandler;
use sinew_msg::description::TypeDescription;
use sinew_msg::{Message, Service, TypeHash};
use std::os::fd::AsFd;
use std::time::Duration;

/// The methods, written once. Nodes and groups have them as inherent methods, which need no import;
/// [`Maker`] has them for code that is generic over both.
macro_rules! makers {
    ($(#[$attribute:meta])* $vis:vis $group:ty) => {
        /// Returns the current ROS time, for the stamps of messages: the wall clock, unless it is
        /// [simulated](crate::Context::use_sim_time) or [set](crate::Context::set_ros_time). ROS 2:
        /// `now`. For other clocks: [`now_by`](Self::now_by).
        ///
        /// ```
        /// use sinew::prelude::*;
        /// use sinew_interfaces::builtin_interfaces::msg::Time;
        /// let node = Context::new()?.node("camera")?;
        /// let stamp: Time = node.now().to_msg(); // as headers have it
        /// assert!(sinew::time::Time::from(stamp) <= node.now());
        /// # Ok::<(), sinew::Error>(())
        /// ```
        $(#[$attribute])*
        $vis fn now(&self) -> Time {
            self.now_by(ClockKind::Ros)
        }

        /// Returns the current time of the given clock.
        $(#[$attribute])*
        $vis fn now_by(&self, kind: ClockKind) -> Time {
            Time::from_nanoseconds(self.callback_group().core().clock.now(kind))
        }

        /// Returns a builder for a publisher on a topic; its name may be absolute (`/frames`),
        /// relative to the namespace (`frames`) or private (`~/frames`). Its event handlers run in
        /// this group, or in the node's default group.
        $(#[$attribute])*
        $vis fn publisher<T: Message>(&self, topic: &str) -> PublisherBuilder<T, $group> {
            PublisherBuilder::new(self.callback_group(), topic)
        }

        /// Returns a builder for a subscription to a topic; names are as for
        /// [`publisher`](Self::publisher). Its callback and event handlers run in this group, or in
        /// the node's default group.
        $(#[$attribute])*
        $vis fn subscription<T: Message>(&self, topic: &str) -> SubscriptionBuilder<T, $group> {
            SubscriptionBuilder::new(self.callback_group(), topic)
        }

        /// Returns a builder for a server of a service; service names follow the rules of topic
        /// names. Its callback runs in this group, or in the node's default group. ROS 2:
        /// `create_service`.
        $(#[$attribute])*
        $vis fn server<S: Service>(&self, name: &str) -> ServerBuilder<S, $group> {
            ServerBuilder::new(self.callback_group(), name)
        }

        /// Returns a builder for a client of a service; service names follow the rules of topic
        /// names. Callbacks for its results run in this group, or in the node's default group.
        $(#[$attribute])*
        $vis fn client<S: Service>(&self, name: &str) -> ClientBuilder<S, $group> {
            ClientBuilder::new(self.callback_group(), name)
        }

        /// Returns a builder for a timer with the given period, by the node's clock: simulated time
        /// while that is used (or ROS time while it is [set](crate::Context::set_ros_time)), else
        /// steady time. The timer follows a change of `use_sim_time` while the program runs; the
        /// rest of the current period stays the same. By simulated time, it doesn't run before the
        /// first message on `/clock`. Its callback runs in this group, or in the node's default
        /// group. ROS 2: `create_timer`.
        ///
        /// ```
        /// use sinew::prelude::*;
        /// use sinew::time::Time;
        /// let context = Context::builder().shared_memory(false).use_sim_time(true).build()?;
        /// let node = context.node("controller")?;
        /// let control = node.timer(Duration::from_millis(10)).callback(|| println!("10 ms of the simulated world"))?;
        /// let _watchdog = node.wall_timer(Duration::from_secs(5)).callback(|| println!("5 s of ours"))?;
        /// let simulator = node.clock_publisher().paused().start(Time::from_nanoseconds(1_700_000_000_000_000_000)).create()?;
        /// simulator.publish()?; // simulated time begins
        /// assert_eq!(control.time_until_next(), Some(Duration::from_millis(10)));
        /// simulator.step(Duration::from_millis(7))?;
        /// assert_eq!(control.time_until_next(), Some(Duration::from_millis(3)));
        /// # Ok::<(), sinew::Error>(())
        /// ```
        $(#[$attribute])*
        $vis fn timer(&self, period: Duration) -> TimerBuilder<$group> {
            TimerBuilder::new(self.callback_group(), period)
        }

        /// Returns a builder for a timer by steady time, independent of the node's clock: to watch
        /// the real world, such as a connection. Otherwise as [`timer`](Self::timer). ROS 2:
        /// `create_wall_timer`.
        $(#[$attribute])*
        $vis fn wall_timer(&self, period: Duration) -> TimerBuilder<$group> {
            self.timer(period).clock(ClockKind::Steady)
        }

        /// Returns a builder for a guard condition. Its callback runs in this group, or in the
        /// node's default group.
        $(#[$attribute])*
        $vis fn guard_condition(&self) -> GuardConditionBuilder<$group> {
            GuardConditionBuilder::new(self.callback_group())
        }

        /// Returns a builder for a source that runs a callback when a file descriptor is ready; it
        /// takes a reference to any owner of one. Its callback runs in this group, or in the node's
        /// default group.
        $(#[$attribute])*
        $vis fn descriptor(&self, descriptor: &impl AsFd) -> DescriptorSourceBuilder<$group> {
            DescriptorSourceBuilder::new(self.callback_group(), descriptor)
        }

        /// Returns a builder that declares a parameter of the node. ROS 2: `declare_parameter`.
        ///
        /// The command line or a parameter file sets its value; otherwise it has the default. With
        /// its first parameter, a node gets the six parameter services and a publisher of changes,
        /// so `ros2 param`, `sinew param` and other nodes can reach its parameters.
        ///
        /// ```
        /// use sinew::prelude::*;
        /// let line = ["camera", "--ros-args", "-p", "rate:=60", "-p", "port:=/dev/video1"];
        /// let context = Context::builder().arguments(line).build()?;
        /// let node = context.node("camera")?;
        /// let rate = node.parameter("rate").default(30_u32).range(1..=120).create()?;
        /// let port = node.parameter("port").required::<String>().read_only().create()?;
        /// let mask = node.parameter("mask").optional::<Vec<i64>>().create()?;
        /// assert_eq!((rate.get(), port.get().as_str(), mask.get().as_ref()), (60, "/dev/video1", &None));
        /// # Ok::<(), sinew::Error>(())
        /// ```
        $(#[$attribute])*
        $vis fn parameter(&self, name: &str) -> UntypedParameter {
            UntypedParameter::new(NodeCore::of(self.callback_group().core()), name)
        }

        /// Declares the parameters of a struct: all of them, or none. Callbacks for
        /// [changes](ParameterSet::on_change) run in this group, or in the node's default group.
        ///
        /// # Errors
        /// As [`parameter`](Self::parameter)'s `create`; and the errors of the struct's `validate`.
        $(#[$attribute])*
        $vis fn parameters<T: Parameters>(&self) -> Result<ParameterSet<T, $group>, CreateError> {
            ParameterSet::declare(self.callback_group(), "")
        }

        /// As [`parameters`](Self::parameters), with a prefix before all names: with `left`, `gain`
        /// becomes `left.gain`. So a node can have the same struct twice.
        ///
        /// # Errors
        /// As [`parameters`](Self::parameters).
        $(#[$attribute])*
        $vis fn parameters_under<T: Parameters>(
            &self,
            prefix: &str,
        ) -> Result<ParameterSet<T, $group>, CreateError> {
            ParameterSet::declare(self.callback_group(), prefix)
        }

        /// Returns a client for the parameters of another node, given by its full name or by a name
        /// relative to the namespace of this node. Callbacks for [changes](ParameterClient::events)
        /// run in this group, or in the node's default group.
        ///
        /// This sends nothing, and the other node needn't exist yet. A node without parameters of
        /// its own serves the parameters that every node has, once another node has a client for
        /// them; the first request creates that client.
        $(#[$attribute])*
        $vis fn parameter_client(&self, node: &str) -> ParameterClient<$group> {
            ParameterClient::new(self.callback_group(), node)
        }

        /// Runs a closure once in this group, or in the node's default group, on a thread of its
        /// executor: after the work that is ready already, in order with the group's messages and
        /// timers. Any thread may call this, also in a callback. Allocates, and never blocks. ROS
        /// 2: `create_task` of rclpy's executor.
        ///
        /// The executor treats the closure as a callback: it handles a panic or an error in it as
        /// [`on_panic`](crate::executor::ExecutorBuilder::on_panic) and
        /// [`on_error`](crate::executor::ExecutorBuilder::on_error) say. Posted in a callback, it
        /// continues that callback's [chain](crate::msg::Lineage) of messages. While the group is
        /// paused or in no executor, the closure waits and keeps the group and its node alive. If
        /// the context ends first, by its shutdown or with the last handle of it and its nodes, the
        /// closure is dropped. A closure that holds a handle of its own node or context keeps that
        /// alive until the closure has run or [`Context::shutdown`](crate::Context::shutdown). The
        /// number of waiting closures is not limited.
        ///
        /// ```
        /// use sinew::prelude::*;
        /// let context = Context::new()?;
        /// let node = context.node("counter")?;
        /// let group = node.group(0_u64);
        /// std::thread::scope(|scope| {
        ///     for _ in 0..3 {
        ///         // No lock: it runs where the group's callbacks do.
        ///         scope.spawn(|| group.post(|count: &mut u64| *count += 1));
        ///     }
        /// });
        /// group.post(|count: &mut u64| assert_eq!(*count, 3))?;
        /// let executor = Executor::single();
        /// executor.add(&context)?;
        /// assert_eq!(executor.spin_some()?, 4);
        /// # Ok::<(), sinew::Error>(())
        /// ```
        ///
        /// # Errors
        /// [`PostError`]: the context is shut down. The closure was dropped.
        $(#[$attribute])*
        $vis fn post<Form, F>(&self, closure: F) -> Result<(), PostError>
        where
            F: PostedClosure<$group, Form>,
        {
            post(self.callback_group(), closure)
        }

        /// Runs a future in this group, or in the node's default group: it is polled on threads of
        /// the group's executor, and so never at the same time as a callback of an exclusive group.
        /// Between polls the group is free for its other callbacks. Each poll, at first and after a
        /// wake-up, waits in the executor's queue like a posted closure; the future continues the
        /// chain of the callback that spawns it. A panic ends the spin unless
        /// [`on_panic`](crate::executor::ExecutorBuilder::on_panic) says otherwise, even if the
        /// handle is awaited; the handle then yields
        /// [`JoinError::Panicked`](crate::error::JoinError::Panicked). A future can't access the
        /// group's state; it [posts](Self::post) a closure that does. Spawning allocates twice,
        /// polling allocates nothing.
        ///
        /// Dropping the handle cancels the future; [`JoinHandle::detach`] lets it continue.
        ///
        /// ```
        /// use sinew::prelude::*;
        /// let context = Context::new()?;
        /// # #[derive(Clone)] struct Number(u64); impl Message for Number {}
        /// let node = context.node("patient")?;
        /// let numbers = node.subscription::<Number>("numbers").create()?;
        /// let answer = node.spawn(async move {
        ///     let mut sum = 0;
        ///     while sum < 42 && let Some((number, _)) = numbers.recv().await {
        ///         sum += number.0;
        ///     }
        ///     sum
        /// })?;
        /// let publisher = node.publisher::<Number>("numbers").create()?;
        /// (0..2).try_for_each(|_| publisher.publish(Number(21)))?;
        /// let executor = Executor::single();
        /// executor.add(&context)?;
        /// assert_eq!(executor.spin_until(answer)??, 42);
        /// # Ok::<(), sinew::Error>(())
        /// ```
        ///
        /// # Errors
        /// [`PostError`]: the context is shut down. The future was dropped.
        $(#[$attribute])*
        $vis fn spawn<F>(&self, future: F) -> Result<JoinHandle<F::Output>, PostError>
        where
            F: Future<Output: Send> + Send + 'static,
        {
            let group = self.callback_group().core();
            spawn(group.work(), group, future)
        }

        /// Creates a separate queue for closures and futures of this group, or of the node's
        /// default group, with a name for errors and tools: "`name` of node /n". The queue ends
        /// with its last handle or the context's shutdown, as subscriptions do. For code that
        /// builds on Sinew.
        $(#[$attribute])*
        $vis fn work_queue(&self, name: &str) -> WorkQueue<$group> {
            WorkQueue::new(self.callback_group(), name)
        }

        /// Returns a builder for a publisher of a type that is known at run time only. It publishes
        /// [`SerializedMessage`]s by value, or
        /// [drafts](crate::Publisher::encoded_draft) of them.
        ///
        /// ```
        /// use sinew::msg::{GenericType, SerializedMessage, TypeHash};
        /// use sinew::prelude::*;
        /// let number = GenericType::new("some_msgs/msg/Number", TypeHash([7; 32]))?;
        /// let context = Context::new()?;
        /// let node = context.node("player")?;
        /// let publisher = node.generic_publisher("number", number).create()?;
        /// let subscription = node.generic_subscription("number", number).create()?;
        /// publisher.publish(SerializedMessage::new(vec![0, 1, 0, 0, 42]))?;
        /// let (message, _info) = subscription.take_sample().unwrap();
        /// assert_eq!(message.bytes(), [0, 1, 0, 0, 42]);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        $(#[$attribute])*
        $vis fn generic_publisher(
            &self,
            topic: &str,
            known: GenericType,
        ) -> PublisherBuilder<SerializedMessage, $group> {
            PublisherBuilder::of_type(self.callback_group(), topic, known.message())
        }

        /// Returns a builder for a subscription of a type that is known at run time only. It takes
        /// messages in their encoded form, in place
        /// ([`take_sample`](crate::Subscription::take_sample),
        /// [`recv_sample`](crate::Subscription::recv_sample)) or as copies.
        $(#[$attribute])*
        $vis fn generic_subscription(
            &self,
            topic: &str,
            known: GenericType,
        ) -> SubscriptionBuilder<SerializedMessage, $group> {
            SubscriptionBuilder::of_type(self.callback_group(), topic, known.message()).checked(Check(check))
        }

        /// Returns a builder for a server of a service that is known at run time only. It answers
        /// all clients of that name and hash, including those of its own context with Rust types.
        $(#[$attribute])*
        $vis fn generic_server(
            &self,
            service: &str,
            known: GenericType,
        ) -> ServerBuilder<GenericService, $group> {
            ServerBuilder::of_types(self.callback_group(), service, ServiceTypes::generic(known))
        }

        /// Returns a builder for a client of a service that is known at run time only. It reaches
        /// all servers of that name and hash.
        ///
        /// A server of its own context with Rust types gets the request decoded; if that fails, the
        /// call fails with
        /// [`CallFailure::Undecodable`](crate::service::failure::CallFailure::Undecodable) and
        /// returns the request.
        $(#[$attribute])*
        $vis fn generic_client(
            &self,
            service: &str,
            known: GenericType,
        ) -> ClientBuilder<GenericService, $group> {
            ClientBuilder::of_types(self.callback_group(), service, ServiceTypes::generic(known))
        }

        /// Returns a builder for a publisher of messages of any type, which needn't be a Rust type
        /// of the program: for bindings, bags and gateways. See [`erased`](mod@crate::erased).
        $(#[$attribute])*
        $vis fn erased_publisher(&self, topic: &str, of: MessageType) -> PublisherBuilder<Erased, $group> {
            PublisherBuilder::of_type(self.callback_group(), topic, of.table())
        }

        /// Returns a builder for a subscription to messages of any type, as
        /// [`erased_publisher`](Self::erased_publisher).
        $(#[$attribute])*
        $vis fn erased_subscription(
            &self,
            topic: &str,
            of: MessageType,
        ) -> SubscriptionBuilder<Erased, $group> {
            SubscriptionBuilder::of_message_type(self.callback_group(), topic, of)
        }

        /// Returns a builder for a server of a service of any types, as
        /// [`erased_publisher`](Self::erased_publisher).
        $(#[$attribute])*
        $vis fn erased_server(
            &self,
            service: &str,
            types: erased::ServiceTypes,
        ) -> ServerBuilder<Erased, $group> {
            ServerBuilder::of_types(self.callback_group(), service, types.inner())
        }

        /// Returns a builder for a client of a service of any types, as
        /// [`erased_publisher`](Self::erased_publisher).
        $(#[$attribute])*
        $vis fn erased_client(
            &self,
            service: &str,
            types: erased::ServiceTypes,
        ) -> ClientBuilder<Erased, $group> {
            ClientBuilder::of_types(self.callback_group(), service, types.inner())
        }

        /// Adds a type to those that the node [describes](crate::Node::type_description_service),
        /// without an endpoint of the type: for entities that consist of several endpoints, such as
        /// an action. The service calls `describe` when a program asks for the type; `None` means
        /// that there is no description. rcl: `rcl_node_type_cache_register_type`.
        ///
        /// ```
        /// use sinew::prelude::*;
        /// # let node = Context::builder().shared_memory(false).build()?.node("camera")?;
        /// # let (hash, describe) = (sinew::msg::TypeHash([7; 32]), || None);
        /// let registered = node.register_type(hash, describe);
        /// # drop(registered);
        /// # Ok::<(), sinew::Error>(())
        /// ```
        $(#[$attribute])*
        $vis fn register_type(
            &self,
            hash: TypeHash,
            describe: fn() -> Option<TypeDescription>,
        ) -> RegisteredType {
            register(&NodeCore::of(self.callback_group().core()), (hash, describe))
        }
    };
}

/// A [`Node`] (for its default group), a [`Group`] or a [`ReentrantGroup`], for code that makes
/// entities in any of them.
///
/// It has the methods that the three types share, from [`publisher`](crate::Node::publisher) to
/// [`spawn`](crate::Node::spawn). The types have them as inherent methods as well.
///
/// ```
/// use sinew::executor::Maker;
/// use sinew::prelude::*;
/// # struct Beat; impl Message for Beat {}
/// /// Publishes beats of any node or group.
/// fn heart(of: &impl Maker) -> sinew::Result<Publisher<Beat>> {
///     Ok(of.publisher("beats").create()?)
/// }
/// let node = Context::new()?.node("robot")?;
/// let (one, other) = (heart(&node)?, heart(&node.group(0))?);
/// assert_eq!(one.topic(), other.topic());
/// # Ok::<(), sinew::Error>(())
/// ```
pub trait Maker: Executable + Clone + Send + Sync + 'static {
    /// The group in which callbacks run.
    type Group: CallbackGroup;

    #[doc(hidden)]
    fn callback_group(&self) -> &Self::Group;

    /// For crates built on this one: as [`Context::on_shutdown`](crate::Context::on_shutdown).
    #[doc(hidden)]
    fn __on_shutdown(&self, callback: impl FnOnce() + Send + 'static) -> ShutdownHandler {
        NodeCore::of(self.callback_group().core()).context.session.on_shutdown(callback)
    }

    // The inherent methods are documented.
    makers!(
        #[doc(hidden)]
        Self::Group
    );
}

impl Maker for Node {
    type Group = Group;

    fn callback_group(&self) -> &Group {
        self.default_group()
    }
}

impl<State: Send + 'static> Maker for Group<State> {
    type Group = Self;

    fn callback_group(&self) -> &Self {
        self
    }
}

impl Maker for ReentrantGroup {
    type Group = Self;

    fn callback_group(&self) -> &Self {
        self
    }
}

impl Node {
    makers!(pub Group);
}

impl<State: Send + 'static> Group<State> {
    makers!(pub Self);
}

impl ReentrantGroup {
    makers!(pub Self);
}
