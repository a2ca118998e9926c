//! Nodes, topics, services, actions, executors: the parts of a robot program, and the messages
//! between them.
//!
//! The words and rules are those of ROS 2. Nodes of one process pass messages to each other by
//! moving ownership; a message is copied only if one reader wants it for itself while others read
//! or keep it. Nodes of all processes of a host find each other by themselves; a [`gateway`]
//! connects hosts, and ROS 2. Types come from ROS 2's packages ([`interfaces`]), from your own
//! `.msg` and `.srv` files (`sinew_build`, in a build script), or from Rust (`#[derive(Message)]`).
//!
//! # The parts
//!
//! A program needs no other crate of the library. Each part beyond the core is a module, enabled by
//! the feature of the same name:
//!
//! | what | where | feature |
//! |---|---|---|
//! | nodes, topics, services, timers, QoS, executors, parameters, logging, time | here | |
//! | messages: [the trait](Message), forms, encodings, types known at run time | [`msg`] | `text` for YAML and JSON |
//! | ROS 2's interface packages | [`interfaces`] | one for each, as `sensor_msgs`; `all_interfaces` |
//! | goals with feedback, results and cancelling | `action` | `action` |
//! | managed nodes and their supervisor | `lifecycle` | `lifecycle` |
//! | the frames of a robot | `tf` | `tf` |
//! | synchronisers and a cache by time | `filters` | `filters` |
//! | several nodes in one process, loaded while it runs | `component` | `component` |
//! | launch files, as a library | `launch` | `launch` |
//! | bags: recorded messages in files | `bag` | `bag` (with C: zstd and LZ4); `bag_sqlite3` for old ones |
//! | other hosts and ROS 2's programs | [`gateway`] | `gateway` (with zenoh: some minutes to build) |
//! | a layer for the `tracing` crate | [`logging`] | `tracing` |
//!
//! The feature `parts` enables all modules but `bag` and the gateway. `Cargo.toml` of a program:
//!
//! ```toml
//! [dependencies]
//! sinew = { version = "0.1", features = ["action", "sensor_msgs"] } # before there is a release: path = "..", not version
//!
//! [build-dependencies] # only for interface definitions of your own
//! sinew-build = "0.1"
//! ```
//!
//! Keep the dependency's name `sinew`: derive macros and `sinew-build` generate paths that begin
//! with `::sinew`.
//!
//! # The shortest program
//!
//! ```
//! use sinew::prelude::*;
//!
//! struct Greeting(&'static str);
//! impl Message for Greeting {} // travels inside the process, whatever it contains
//!
//! fn main() -> sinew::Result<()> {
//!     let context = Context::from_args()?;
//!     let node = context.node("greeter")?;
//!     let greetings = node.publisher::<Greeting>("greetings").create()?;
//!     let _timer = node.timer(Duration::from_millis(10)).callback(move || greetings.publish(Greeting("hello")))?;
//!     let done = context.clone();
//!     let _subscription = node.subscription::<Greeting>("greetings").callback(move |greeting: &Greeting| {
//!         println!("{}", greeting.0);
//!         done.shutdown(); // left out, it runs until Ctrl-C
//!     })?;
//!     sinew::spin(&context)
//! }
//! ```
//!
//! A [`Node`] makes [publishers](Publisher), [subscriptions](Subscription), [servers](Server),
//! [clients](Client), [timers](Timer), [guard conditions](GuardCondition),
//! [descriptor sources](event::DescriptorSource) and [groups](Group). Each exists until it is
//! dropped: keep it in a named variable, as `_` alone drops it at once; make it in the
//! [background](Background), so that it lives as long as its node; or [`detach`](Timer::detach) it,
//! so that it lives until the context ends.
//!
//! # Who gets a copy
//!
//! A subscription's buffer *owns* its messages (`u`: the callback takes [`Unique<T>`], `Box<T>` or
//! `T`), *shares* them (`s`: the callback takes `&T` or [`Shared<T>`], or the subscription has no
//! callback), or holds them *by value* (`v`); see [`BufferType`]. In the table, `@1` is the
//! published message in its original place; `@2` and so on are copies. Publishing [`Unique<T>`],
//! `Box<T>` (adopted where it lies) or `T` (moved into the publisher's pool) follows the column
//! `Unique`. Publishing `&T` makes one copy in the pool and then does the same with that copy.
//!
//! | buffers | `Unique` published | `Shared` published |
//! |---|---|---|
//! | u | @1 | @2 |
//! | u u | @1 @2 | @2 @3 |
//! | s | @1 | @1 |
//! | s s | @1 @1 | @1 @1 |
//! | u s | @1 @2 | @2 @1 |
//! | u s s | @1 @2 @2 | @2 @1 @1 |
//! | u u s s | @1 @2 @3 @3 | @2 @3 @1 @1 |
//! | v | moved | @2 |
//! | v v | moved, @2 | @2 @3 |
//! | s v | @1 @2 | @1 @2 |
//! | u v | @1 @2 | @2 @3 |
//! | u s v | @1 @2 @3 | @2 @1 @3 |
//!
//! A transient-local publisher retains its messages, so everything it publishes follows the column
//! `Shared`. An owning callback on a buffer of type [`BufferType::Shared`] counts as `s` here; it
//! copies when it takes its message, and only if others still hold it.
//! [`PublisherStatistics::copies`] and [`SubscriptionStatistics::copies`] count the copies.
//!
//! # Forms of callbacks
//!
//! | of a | takes |
//! |---|---|
//! | subscription | `&T`, `Shared<T>`, `Unique<T>`, `Box<T>` or `T`; the last three need `T: Clone`. [`View<'_, T>`](View) or [`Sample<T>`](msg::Sample), if `T` was generated |
//! | timer | nothing or [`&TimerInfo`](time::TimerInfo) |
//! | guard condition | nothing or [`&Triggered`](event::Triggered) |
//! | [descriptor source](event::DescriptorSource) | nothing or [`&Readiness`](event::Readiness) |
//! | status handler (`on_matched` and the like) | nothing or the event, e.g. [`&Matched`](event::Matched) |
//! | server | `&Request`, `Unique<Request>`, `Box<Request>` or `Request`; to answer later, a [`Responder`] last |
//! | call ([`Client::call_then`]) | the [`CallResult`] |
//!
//! The group's state, `&mut S`, may come first. A last parameter may be
//! [`&MessageInfo`](MessageInfo) for a subscription and [`&RequestInfo`](service::RequestInfo) for
//! a server. A server returns its response or a `Result` of it; every other callback returns
//! nothing or a `Result`. A closure must name the types of its parameters.
//!
//! # Executors and groups
//!
//! Callbacks run in an [`Executor`], in the order in which their messages arrived (inside a
//! process: were published) and their timers were due; callbacks of groups with a higher
//! [priority](Group::priority) go first. [`Executor::single`] runs them one at a time on the thread
//! that spins it. [`Executor::multi`] runs them on several threads, where they *begin* in that
//! order. Several executors may serve different nodes or groups.
//!
//! Entities made by a node are in its default group; entities made by a group are in that group. A
//! [`Group`] runs one callback at a time, on whichever thread, and may own a state that its
//! callbacks get as `&mut S`. Callbacks of a [`ReentrantGroup`] run at the same time, also one
//! callback for several messages, and so must be `Fn + Send + Sync`. [`Group::post`] runs a closure
//! of the program once in a group, and [`Group::spawn`] a future, in order with its callbacks.
//!
//! A [`WaitSet`] only reports what is ready; the program takes or runs it. [`Executor::descriptor`]
//! fits an executor into the event loop of another library. The repository's
//! `docs/book/executors.md` explains which one to pick, and what happens when.
//!
//! # Services
//!
//! A [`Service`] names the types of a request and its response. A name has one [`Server`] and any
//! number of [`Client`]s, which may exist before it. Every accepted request is answered, or its
//! caller gets the reason for the failure ([`CallFailure`]).
//!
//! ```
//! use sinew::prelude::*;
//!
//! struct Operands(i64, i64);
//! impl Message for Operands {}
//! struct Sum(i64);
//! impl Message for Sum {}
//! struct Add;
//! impl Service for Add { type Request = Operands; type Response = Sum; }
//!
//! fn main() -> sinew::Result<()> {
//!     let context = Context::new()?;
//!     let adder = context.node("adder")?;
//!     let many = adder.reentrant_group(); // answers several requests at once, if there are threads for it
//!     let _server = many.server::<Add>("add").callback(|o: &Operands| Sum(o.0 + o.1))?;
//!
//!     let asker = context.node("asker")?;
//!     let add = asker.client::<Add>("add").create()?;
//!     let done = context.clone();
//!     let _timer = asker.timer(Duration::from_millis(1)).callback(move || -> sinew::Result<()> {
//!         let sum = add.call(Operands(40, 2), Duration::from_secs(1))?; // may run the server right here
//!         assert_eq!(sum.0, 42);
//!         done.shutdown();
//!         Ok(())
//!     })?;
//!
//!     let executor = Executor::multi(2);
//!     executor.add(&context)?;
//!     Ok(executor.spin()?)
//! }
//! ```
//!
//! # Between processes
//!
//! Nothing needs to be started: the contexts of one host, domain and user find each other in a
//! directory of memory files (see [`ContextBuilder::directory`]). Each [`Context`] is a participant
//! of its own, so two contexts of one process meet as two processes do. A type that is to leave its
//! process has an [encoding](Message::ENCODING), as from `#[derive(Message)]`; messages of other
//! types stay inside, and so do all messages of a context
//! [without shared memory](ContextBuilder::shared_memory).
//!
//! ```
//! use sinew::prelude::*;
//!
//! #[derive(Message, Clone, Copy, Default)]
//! #[message(name = "map/msg/Grid", plain)] // plain: written and read in place
//! #[repr(C)]
//! struct Grid { cells: [[f32; 32]; 32] }
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let directory = tempfile::tempdir_in("/dev/shm")?; // a program has no reason for one of its own
//!     let context = || Context::builder().directory(directory.path()).build();
//!     let (one, other) = (context()?, context()?); // here they stand for two processes
//!
//!     let viewer = other.node("viewer")?;
//!     let done = other.clone();
//!     let _looking = viewer.subscription::<Grid>("grid").callback(move |grid: &Grid, info: &MessageInfo| {
//!         assert_eq!((grid.cells[0][0], info.transport()), (1.0, sinew::msg::Transport::Shm));
//!         done.shutdown();
//!     })?;
//!
//!     let mapper = one.node("mapper")?;
//!     let grids = mapper.publisher::<Grid>("grid").create()?;
//!     assert!(grids.wait_for_subscribers(1, Duration::from_secs(10)));
//!     let mut grid = grids.loan(); // in shared memory (if it is large, as here): the viewer reads it where it lies
//!     grid.cells[0][0] = 1.0;
//!     grids.publish(grid)?;
//!     Ok(sinew::spin(&other)?)
//! }
//! ```
//!
//! A message is encoded once for all other processes, and only if one of them wants it; inside the
//! process it is handed over as usual, and first. Other processes map a writer's memory read-only.
//! When a process dies, its last messages are read to the end, its entities vanish, and calls to
//! its servers fail at once. QoS means the same inside and between processes, except that leases
//! are not watched between processes. While a callback waits for a call to another process, its own
//! executor cannot use its thread: if that process calls back, a second thread has to answer. The
//! repository's `docs/internals/decisions/0012-shared-memory.md` lists all limits.
//!
//! # Messages of ROS 2
//!
//! [`interfaces`] has ROS 2's common packages; `sinew_build` generates types from your own
//! definitions. Such types can be read and written in their encoded form, in place: a callback that
//! takes a [`View`] or a [`Sample`] reads a message from another process in that process's memory,
//! [`Publisher::draft`] lends memory that others will read, and [`Publisher::edit`] changes a
//! received message in place where possible. The repository's `docs/book/copy-free.md` says which
//! form costs what where. An [`Adapter`] puts a program's own type on a topic of ROS 2. In one
//! process a topic may have publishers and subscriptions of each kind: a subscription with another
//! Rust type than the publisher, for the same type of ROS 2, gets its messages by way of the
//! encoded form.
//!
//! # Parameters
//!
//! A parameter is a named, typed value of a node that other nodes may read and set: by ROS 2's
//! services, files and command lines. [`Node::parameter`] declares one and returns a handle that
//! reads it without a lock; [`parameters::Parameters`] makes a struct of them. A node without
//! parameters costs nothing for them until another node asks. The repository's
//! `docs/book/parameters.md` has more.
//!
//! # Quality of service
//!
//! A publisher offers a [`QoS`], a subscription requests one; they match if the publisher offers
//! everything the subscription requests. All of ROS 2's settings are honoured, and an entity's
//! `on_..` handlers are notified of its events: matched, incompatible, messages lost, deadlines
//! missed, liveliness lost or changed. The repository's `docs/book/qos.md` explains which settings
//! to pick, and what happens when.
//!
//! # Async
//!
//! [`Subscription::recv`] and [`stream`](Subscription::stream), [`Client::call_async`] and
//! [`async_callback`](service::ServerBuilder::async_callback) need no runtime and fit any: the
//! thread that publishes or answers wakes the task that polls them. [`Executor::spin_until`] waits
//! for a future while it runs callbacks. A future that waits for a message may be dropped at any
//! time without losing one; dropping a future that waits for an answer gives up its call.
//!
//! # Threads and blocking
//!
//! All handles may be used from any thread. The program's code runs here:
//!
//! | thread | runs | there is one |
//! |---|---|---|
//! | the one that spins an executor | callbacks, timers, handlers, futures of servers | always |
//! | `sinew-worker-1` and on | the same | while a multi-threaded executor spins |
//! | `sinew-timers` | nothing, or timers' callbacks | if [asked for](executor::ExecutorBuilder::timer_thread) |
//! | one that waits in [`Client::call`] | the callback of the server, if the executor [lets it](executor::ExecutorBuilder::caller_runs) | |
//! | one that sets ROS time, publishes `/clock` or brings it | handlers of [jumps](Context::on_time_jump) | always |
//! | one that publishes, triggers, calls or answers | filters, copies, listeners of [subscriptions](Subscription::set_listener), [pulled servers](service::PulledServer::set_listener), [clients](Client::set_listener) and [statuses](Publisher::set_status_listener), immediate callbacks of [servers](service::ServerBuilder::immediate_callback) and [calls](Client::call_then_immediately), wakers, callbacks for parameters | always |
//! | `sinew-logging` | listeners and filters of `/rosout` | after [`logging::init`] |
//! | `sinew-descriptors` | nothing | once there was a [`DescriptorSource`] |
//! | `sinew-signals` | nothing | if Ctrl-C is asked for, as by [`Context::from_args`] |
//! | `sinew-shm` | filters of messages from other processes, listeners, immediate callbacks, wakers | once a context has a node, unless it has no [shared memory](ContextBuilder::shared_memory) |
//! | `sinew-receiver` | the same | see below |
//! | `sinew-statuses` | listeners of statuses: missed deadlines, expired leases | once an endpoint [keeps](msg::SubscriptionBuilder::keep_statuses) statuses that need it |
//!
//! The thread `sinew-receiver` starts once a thread waits for another process without an executor.
//! It also runs listeners and immediate callbacks for messages and answers that another thread
//! brought in when that took a message or waited for an answer.
//!
//! | call | waits |
//! |---|---|
//! | [`Publisher::publish`] | only if publisher and subscription are both reliable and keep all, and the subscription is full: up to [`QoS::max_blocking_time`] |
//! | [`Client::call`] | for the answer, up to its timeout; in a callback of the server's executor, or if that [lets callers run it](executor::ExecutorBuilder::caller_runs), the server may run on this thread meanwhile |
//! | [`Client::wait_for_server`] | up to its timeout |
//! | `spin..` of an [`Executor`], [`WaitSet::wait`], [`Node::sleep_until`], [`Rate::sleep`] | as each says |
//! | `close` of a handle | until its callback, if that is running on another thread, has returned |
//! | everything else | never for long: locks are held briefly, and never while the program's code runs |
//!
//! A wait in `publish` or `call` that could never end fails at once with `WouldDeadlock`. Once
//! warm, publishing, taking, calling and answering allocate nothing beyond the message's own
//! `Clone` and the captures of callbacks for single calls.
//!
//! # Errors
//!
//! Each kind of operation has its own error type: [`ContextError`], [`CreateError`],
//! [`PublishError`], [`CallError`], [`ExecutorError`], [`AddError`], [`SpinError`]. [`Error`]
//! gathers them for `?`; a `main` that returns one prints its sentence, which says what to do. A
//! message that could not be published comes back in the [`PublishError`], a request that no server
//! took in the [`CallError`]. An error that a server's callback returns goes to its caller. An
//! error that another callback returns is reported with its causes and the entity's name, and the
//! executor goes on; a panic ends the spin, which returns it as an error. Both can be
//! [changed](executor::ExecutorBuilder::on_panic). A QoS that cannot be honoured is a
//! [`CreateError`], never ignored; endpoints that do not match are reported to their handlers, or
//! else in the log.
//!
//! # What Sinew says
//!
//! Sinew reports pairs that exchange nothing (their QoS or types don't match, in one process or
//! two), errors and panics of callbacks that no spin returns, leases that run out without a
//! handler, and problems of the machine or of other processes. Reports go to the logger that the
//! program has installed for the [`log`](https://docs.rs/log) crate, now or later. Without one,
//! each is a line on standard error, as in ROS 2:
//!
//! ```text
//! [WARN] [1700000000.123456789] [misuser]: no message of a publisher on /map is received, incompatible: durability (offers volatile, asked transient_local) with /server in process 4711 (map_server)
//! ```
//!
//! Sinew installs no logger itself. Each pair is reported once, in one line for each process. Of
//! repeated reports about one topic or entity, standard error gets five lines, then one every 10 s
//! with a count.
//!
//! The default level is warnings and errors. It is changed by `--ros-args --log-level info`,
//! `--log-level robot.camera:=debug` (for the node `/robot/camera`; `sinew` stands for everything
//! that concerns no node) or `SINEW_LOG=info,robot.camera:=debug`; the command line takes
//! precedence. Levels are `debug`, `info`, `warn`, `error` and `fatal`, at which Sinew is silent. A
//! program's own logger decides for itself.
//!
//! # Where to go on
//!
//! [`Publisher::publish`] and [`Publisher::loan`]; [`SubscriptionBuilder`]; [`QoS`]; [`Server`] and
//! [`Client`]; [`Executor`] and its ways to spin; [`VirtualClock`] for tests without real waiting;
//! [`Arguments`] for the settings that a command line may change. The repository's
//! `crates/sinew-core/examples` has programs with services and with async code; its
//! `docs/internals/architecture.md` shows how the parts work together.
//!
//! [`Adapter`]: msg::Adapter
//! [`AddError`]: error::AddError
//! [`BufferType`]: msg::BufferType
//! [`BufferType::Shared`]: msg::BufferType::Shared
//! [`CallError`]: error::CallError
//! [`CallFailure`]: error::CallFailure
//! [`CallResult`]: service::CallResult
//! [`ContextError`]: error::ContextError
//! [`CreateError`]: error::CreateError
//! [`DescriptorSource`]: event::DescriptorSource
//! [`ExecutorError`]: error::ExecutorError
//! [`PublishError`]: error::PublishError
//! [`Rate::sleep`]: time::Rate::sleep
//! [`PublisherStatistics::copies`]: msg::PublisherStatistics::copies
//! [`Sample`]: msg::Sample
//! [`SpinError`]: error::SpinError
//! [`SubscriptionBuilder`]: msg::SubscriptionBuilder
//! [`SubscriptionStatistics::copies`]: msg::SubscriptionStatistics::copies
//! [`VirtualClock`]: time::VirtualClock
//! [`WaitSet`]: executor::WaitSet
//! [`WaitSet::wait`]: executor::WaitSet::wait

#[doc(inline)]
pub use sinew_core::*;

/// The items that most programs use, in one `use`: [`Client`], [`ClockKind`](time::ClockKind),
/// [`Context`], [`Duration`], [`Executor`], [`Group`], [`Message`] (trait and derive),
/// [`MessageInfo`], [`Node`], [`Publisher`], [`QoS`], [`Responder`], [`Server`], [`Service`],
/// [`Shared`], [`Subscription`], [`Timer`], [`TimerInfo`](time::TimerInfo), [`Unique`] and
/// [`View`].
pub mod prelude {
    #[doc(no_inline)]
    pub use sinew_core::prelude::*;
}

/// Messages: publishing, taking, keeping and encoding them; definitions and descriptions of types.
pub mod msg {
    #[doc(inline)]
    pub use sinew_core::msg::*;
    #[doc(inline)]
    pub use sinew_msg::{definition, description, dynamic};
}

/// Gateways to other hosts and to ROS 2: the origin of endpoints, the report for tools, and with
/// the feature `gateway` the gateway itself.
pub mod gateway {
    #[doc(inline)]
    pub use sinew_core::gateway::*;
    #[cfg(feature = "gateway")]
    #[doc(inline)]
    pub use sinew_zenoh::{
        Gateway, GatewayBuilder, GatewayError, Router, RouterError, config, gateway, look, router, rules,
        wire,
    };
}

#[doc(inline)]
pub use sinew_interfaces as interfaces;

#[cfg(feature = "action")]
#[doc(inline)]
pub use sinew_action as action;
#[cfg(feature = "bag")]
#[doc(inline)]
pub use sinew_bag as bag;
#[cfg(feature = "component")]
#[doc(inline)]
pub use sinew_component as component;
#[cfg(feature = "filters")]
#[doc(inline)]
pub use sinew_filters as filters;
#[cfg(feature = "launch")]
#[doc(inline)]
pub use sinew_launch as launch;
#[cfg(feature = "lifecycle")]
#[doc(inline)]
pub use sinew_lifecycle as lifecycle;
#[cfg(feature = "tf")]
#[doc(inline)]
pub use sinew_tf as tf;

/// Compiles the programs in the README and the book.
#[cfg(doctest)]
mod pages {
    macro_rules! page {
        ($($name:ident: $path:literal,)*) => {
            $(#[doc = include_str!(concat!("../../../", $path))] struct $name;)*
        };
    }
    page! {
        Readme: "README.md",
        Actions: "docs/book/actions.md",
        Bags: "docs/book/bags.md",
        Bindings: "docs/book/bindings.md",
        BetweenProcesses: "docs/book/between-processes.md",
        CopyFree: "docs/book/copy-free.md",
        DeterministicTests: "docs/book/deterministic-tests.md",
        Executors: "docs/book/executors.md",
        Filters: "docs/book/filters.md",
        FirstSteps: "docs/book/first-steps.md",
        GraphPage: "docs/book/graph.md",
        Introspection: "docs/book/introspection.md",
        Launch: "docs/book/launch.md",
        Lifecycle: "docs/book/lifecycle.md",
        Logging: "docs/book/logging.md",
        OtherMachines: "docs/book/other-machines.md",
        OwnMessages: "docs/book/messages.md",
        Parameters: "docs/book/parameters.md",
        Qos: "docs/book/qos.md",
        Rmw: "docs/book/rmw.md",
        Ros2: "docs/book/ros2.md",
        RosMessages: "docs/book/ros2-messages.md",
        Tf: "docs/book/tf.md",
        Time: "docs/book/time.md",
        Tour: "docs/book/tour.md",
    }
}
