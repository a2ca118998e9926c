//! The core of Sinew: nodes, topics, services, executors, and the messages between them.
//!
//! Programs name the crate `sinew`, which consists of this crate and those built on it; its first
//! page says what runs where, what waits, and what can fail. The library is called `sinew` here as
//! well, so that crates built on it read as programs do.
#![cfg_attr(loom, recursion_limit = "256")] // its locks have deeper types than the usual ones

// This crate exists for the path of a message from publisher to callback;
// docs/internals/architecture.md has the map.

#[macro_use]
mod sys; // first: its `thread_local!` is the crate's in a model

/// Items that programs find in `executor`.
macro_rules! executor_face {
    () => {
        pub use crate::api::makers::Maker;
        pub use crate::api::work_queue::{JoinHandle, PostedClosure, WorkQueue};
    };
}

/// Items that programs find in `event`. (Here, as `event` itself knows nothing of higher layers.)
macro_rules! event_face {
    () => {
        pub use crate::api::callback::{EventCallback, Outcome};
        pub use crate::api::descriptor::{DescriptorSource, DescriptorSourceBuilder, Readiness};
        pub use crate::api::guard::GuardConditionBuilder;
        pub use crate::api::statuses::StatusOf;
        pub use crate::ros::mismatch::Mismatch;
        pub use crate::topic::shutdown::ShutdownHandler;
    };
}

/// Items that programs find in `service`.
macro_rules! service_face {
    () => {
        pub use crate::api::call::PendingCall;
        pub use crate::api::client::ClientBuilder;
        pub use crate::api::client_core::{RequestId, ResponseInfo};
        pub use crate::api::pulled_server::{PulledServer, PulledServerBuilder};
        pub use crate::api::server::ServerBuilder;
        pub use crate::api::service_callback::{AsyncServiceCallback, ResultCallback, ServiceCallback};
        pub use crate::message::generic::GenericService;
        pub use sinew_msg::ServiceType;
    };
}

/// Items that programs find in `parameters`.
macro_rules! parameters_face {
    () => {
        pub use crate::api::node_builder::NodeBuilder;
        pub use crate::api::parameter_client::{ParameterCall, ParameterClient, ParameterNames};
        pub use crate::api::parameters::callbacks::ParameterCallback;
        pub use crate::api::parameters::declare::{Parameter, ParameterBuilder, Read, UntypedParameter};
        pub use crate::api::parameters::structs::{ParameterChanges, ParameterSet};
        pub use crate::ros::parameters::{ParameterFile, ParameterTextError};
        /// Turns a struct into a set of parameters, or an enum into the type of one; see the trait.
        pub use sinew_derive::Parameters;
        /// The message published on `/parameter_events` when parameters of a node change.
        pub use sinew_interfaces::rcl_interfaces::msg::ParameterEvent;
    };
}

mod api;
mod code;
pub mod event;
pub mod executor;
pub mod logging;
mod mailbox;
mod message;
pub mod names;
pub mod parameters;
mod remote;
mod ros;
pub mod service;
pub mod time;
mod topic;

#[cfg(test)]
mod testing;

/// Quality of service: what publishers offer and subscriptions request.
pub mod qos {
    pub use crate::api::qos_overrides::{QosOverrides, QosPolicy};
    pub use crate::ros::qos::{Durability, History, Incompatibility, Liveliness, Policy, Reliability};
}

/// Signals: which of them shut contexts down.
pub mod signal {
    pub use crate::sys::interrupt::{Signals, install, installed, uninstall};
}

/// For gateways to other hosts: the origin of endpoints, and the report for tools.
pub mod gateway {
    pub use crate::ros::origin::Origin;
    pub use crate::ros::report::{
        GatewayWord, LOCK_FILE, LinkWord, Report, ServiceWord, SessionWord, TopicWord,
    };
}

/// The meaning of the records that nodes and endpoints write into shared memory, for code that
/// reads or writes such records itself. It is no part of the interface: it changes with the layout.
///
/// The command looks from outside, where counters, callbacks and reports lie beside the graph, and
/// some of its verbs take part without a node. The gateway announces endpoints of other hosts, and
/// follows single events of this one, in their order. All others use [`graph`]. What belongs to a
/// public type is a hidden function of that type: `EndpointInfo::of_record`, `NodeInfo::of_record`,
/// `GraphReader::records`, `Origin::of`, `Report::of`, `Report::about`, `Mismatch::of_announced`.
#[doc(hidden)]
pub mod records {
    pub use crate::remote::shm::listing::{UnknownRecord, leaves_process};
    pub use crate::remote::shm::notes::NetworkNumbers;
    pub use crate::ros::report::{is_knock, knock};
    pub use crate::ros::timer_report::TimerReport;
}

/// The graph: which nodes, topics, services and endpoints there are, in this process, in the others
/// of the host, and on the network if there is a gateway; and its changes.
///
/// ```
/// use sinew::prelude::*;
/// # #[derive(Message)]
/// # struct Scan { ranges: Vec<f32> }
/// let node = Context::new()?.node("scanner")?;
/// let _scans = node.publisher::<Scan>("scan").create()?;
/// let graph = node.graph();
/// for publisher in graph.publishers("/scan") {
///     println!("{} publishes {} ({:?})", publisher.node, publisher.type_name, publisher.place);
/// }
/// assert_eq!(graph.publisher_count("/scan"), 1);
/// # Ok::<(), sinew::Error>(())
/// ```
pub mod graph {
    pub use crate::api::graph_reader::GraphReader;
    pub use crate::api::graph_snapshot::GraphSnapshot;
    pub use crate::api::graph_view::Graph;
    pub use crate::api::graph_watch::{Changed, GraphChanges, GraphListener};
    pub use crate::topic::endpoint_info::{EndpointInfo, EndpointKind, NameAndTypes, NodeInfo, Place};
}

/// Errors, one type for each kind of operation; [`Error`] gathers them.
pub mod error {
    pub use crate::api::parameter_client::ParameterClientError;
    pub use crate::api::publisher::{PublishError, UnsentMessage};
    pub use crate::code::{ErrorCode, HasCode};
    pub use crate::executor::error::{
        AddError, CallbackError, ExecutorError, JoinError, PostError, SpinError,
    };
    pub use crate::executor::threads::ThreadError;
    pub use crate::message::generic::GenericTypeError;
    pub use crate::parameters::error::ParameterError;
    pub use crate::ros::arguments::ArgumentError;
    pub use crate::ros::failure::{ContextError, CreateError, PublishFailure, SharedMemoryError};
    pub use crate::ros::name::{NameError, NameKind};
    pub use crate::ros::qos::QosError;
    pub use crate::ros::remap::RemapError;
    pub use crate::service::error::{AnswerError, AnswerFailure, CallError, RespondError};
    pub use crate::service::failure::CallFailure;
    pub use sinew_msg::{DecodeError, ParseTypeHashError};
}

/// Information about a running node for ROS 2's tools: the types it uses, statistics of its topics,
/// and the requests and responses of its services.
pub mod introspection {
    pub use crate::api::introspection::service_events::ServiceIntrospection;
    pub use crate::api::introspection::topic_statistics::TopicStatistics;
    pub use crate::api::type_descriptions::{RegisteredType, TypeDescriptionService};
    pub use sinew_msg::description::TypeDescription;
}

pub mod erased;

/// Messages: publishing, taking, keeping and encoding them.
pub mod msg {
    pub use crate::api::callback::SubscriptionCallback;
    pub use crate::api::erased::publisher::{EncodedDraft, PublisherStatistics};
    pub use crate::api::erased::subscription::SubscriptionStatistics;
    pub use crate::api::publisher::{Draft, Edit, PublisherBuilder};
    pub use crate::api::receive::{Messages, Recv, RecvSample, RecvUnique};
    pub use crate::api::subscription::{BufferType, SubscriptionBuilder};
    pub use crate::message::generic::{GenericType, SerializedMessage};
    pub use crate::message::into_message::{IntoMessage, IntoUnique};
    pub use crate::message::{ChainGuard, Gid, Lineage, Sample, SourceInfo, Transport};
    pub use sinew_msg::{
        Action, Adapted, Adapter, Encoding, Plain, PlainProof, Stamped, TimeMessage, TypeHash, cdr, loan,
        view,
    };
}

/// Items for generated code and for crates built on this one only: they change as those do.
#[doc(hidden)]
pub mod __private {
    pub use crate::api::callback::InAnyGroup;
    pub use crate::message::Check;
    pub use crate::parameters::descriptor::ParameterDescriptor;
    pub use crate::parameters::field::{ChoiceCell, ChoiceField, ParameterField, choice, constrain_choice};
    pub use crate::parameters::spec::{
        Declarations, DefaultOf, Field, NoElements, OrStandard, Parameters, Spec, Values, join,
    };
    pub use crate::parameters::value::{ParameterType, ParameterValue};
    pub use crate::sys::panics::panic_text;
    pub use crate::sys::says::say;
    pub use sinew_msg::__private::*;
    /// Locks and threads for crates built on this one; they keep to its lock rule.
    pub use sinew_shm::{locks, threads};
}

pub use api::background::Background;
pub use api::client::Client;
pub use api::context::{Context, ContextBuilder};
pub use api::error::{Error, Result};
pub use api::guard::GuardCondition;
pub use api::node::Node;
pub use api::publisher::Publisher;
pub use api::server::Server;
pub use api::subscription::Subscription;
pub use api::timer::Timer;
pub use executor::front::executor::Executor;
pub use executor::group::{Group, ReentrantGroup};
pub use message::{MessageInfo, Shared, Unique, View};
pub use ros::arguments::Arguments;
pub use ros::qos::QoS;
pub use service::responder::Responder;
/// ```
/// use sinew::prelude::*;
///
/// #[derive(Message, Clone, Copy)]
/// #[message(name = "geometry_msgs/msg/Point", plain)]
/// #[repr(C)]
/// struct Point {
///     x: f64,
///     y: f64,
///     z: f64,
/// }
///
/// #[derive(Message)]
/// struct Path {
///     frame: String,
///     points: Vec<Point>,
/// }
///
/// assert_eq!(Point::ENCODING.unwrap().name, "geometry_msgs/msg/Point");
/// assert!(Path::ENCODING.is_some());
/// ```
pub use sinew_derive::MessageOfSinew as Message;
pub use sinew_msg::message::Message;
pub use sinew_msg::{Service, include_interfaces};
pub use std::time::Duration;
pub use sys::log_level::LogLevel;

/// Serves a whole context on this thread: [`Executor::single`], [`Executor::add`] and
/// [`Executor::spin`] in one.
///
/// # Errors
/// The errors of [`Executor::add`] and [`Executor::spin`].
pub fn spin(context: &Context) -> Result<()> {
    let executor = Executor::single();
    executor.add(context)?;
    Ok(executor.spin()?)
}

/// The items that most programs use.
pub mod prelude {
    pub use crate::time::{ClockKind, TimerInfo};
    pub use crate::{
        Client, Context, Duration, Executor, Group, Message, MessageInfo, Node, Publisher, QoS, Responder,
        Server, Service, Shared, Subscription, Timer, Unique, View,
    };
}
