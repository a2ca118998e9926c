//! Contexts, nodes and groups.

use crate::failure::{Error, Result};
use crate::library::{Functions, Handle, front};
use crate::message::Message;
use crate::publisher::PublisherBuilder;
use crate::service::{ClientBuilder, ServerBuilder};
use crate::subscription::SubscriptionBuilder;
use crate::timer::{GuardBuilder, SimulatorBuilder, TimerBuilder};
use parking_lot::Mutex;
use real::Service;
use real::time::{ClockKind, Time};
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// A handle, which is freed with its last reference.
pub(crate) struct Owned {
    pub(crate) front: &'static Functions,
    pub(crate) handle: Handle,
    free: fn(&Functions, Handle),
}

impl Owned {
    /// Keeps what a function of C puts into its last parameter.
    pub(crate) fn make(
        front: &'static Functions,
        free: fn(&Functions, Handle),
        make: impl FnOnce(&mut Handle) -> i32,
    ) -> Result<Arc<Self>> {
        let mut handle = Handle::NULL;
        Error::check(front, make(&mut handle))?;
        Ok(Arc::new(Self { front, handle, free }))
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        (self.free)(self.front, self.handle);
    }
}

/// Nanoseconds, as C has them.
pub(crate) fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(-1) // for ever
}

pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text).expect("names without NUL")
}

#[derive(Clone)]
pub(crate) struct VirtualClock(Arc<Owned>);

impl VirtualClock {
    pub(crate) fn new() -> Self {
        let front = front();
        let made = Owned::make(front, Functions::clock_free, |clock| front.clock_new(clock));
        Self(made.expect("a clock"))
    }

    pub(crate) fn advance(&self, duration: Duration) {
        self.0.front.clock_advance(self.0.handle, nanoseconds(duration));
    }

    pub(crate) fn set(&self, time: Time) {
        self.0.front.clock_set(self.0.handle, time.nanoseconds());
    }
}

#[derive(Clone)]
pub(crate) struct Context(pub(crate) Arc<Owned>);

#[derive(Default)]
pub(crate) struct ContextBuilder {
    domain: u32,
    directory: Option<PathBuf>,
    clock: Option<VirtualClock>,
}

impl Context {
    pub(crate) fn builder() -> ContextBuilder {
        ContextBuilder::default()
    }

    pub(crate) fn node(&self, name: &str) -> Result<Node> {
        let (front, text) = (self.0.front, c_text(name));
        let made = Owned::make(front, Functions::node_free, |node| {
            front.node_new(self.0.handle, text.as_ptr(), node)
        })?;
        Ok(Node { handle: made, name: name.into(), context: self.clone() })
    }

    pub(crate) fn shutdown(&self) {
        self.0.front.context_shutdown(self.0.handle);
    }

    pub(crate) fn is_shutdown(&self) -> bool {
        !self.0.front.context_is_valid(self.0.handle)
    }

    pub(crate) fn set_ros_time(&self, time: Option<Time>) {
        match time {
            Some(time) => self.0.front.context_set_ros_time(self.0.handle, time.nanoseconds()),
            None => self.0.front.context_clear_ros_time(self.0.handle),
        }
    }

    pub(crate) fn use_sim_time(&self, wanted: bool) -> Result<()> {
        Error::check(self.0.front, self.0.front.context_use_sim_time(self.0.handle, wanted))
    }
}

impl ContextBuilder {
    /// It is there if there is a directory.
    pub(crate) fn shared_memory(self, wanted: bool) -> Self {
        assert!(!wanted);
        self
    }

    pub(crate) fn domain(self, domain: u32) -> Self {
        Self { domain, ..self }
    }

    pub(crate) fn directory(self, directory: impl AsRef<Path>) -> Self {
        Self { directory: Some(directory.as_ref().to_owned()), ..self }
    }

    pub(crate) fn virtual_time(self, clock: &VirtualClock) -> Self {
        Self { clock: Some(clock.clone()), ..self }
    }

    pub(crate) fn build(self) -> Result<Context> {
        let directory = self.directory.map(|path| c_text(path.to_str().expect("UTF-8")));
        let path = directory.as_ref().map_or(std::ptr::null(), |path| path.as_ptr());
        let clock = self.clock.as_ref().map_or(Handle::NULL, |clock| clock.0.handle);
        let front = front();
        Owned::make(front, Functions::context_free, |context| {
            front.context_new(self.domain, path, clock, context)
        })
        .map(Context)
    }
}

#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) handle: Arc<Owned>,
    name: Arc<str>,
    pub(crate) context: Context,
}

/// Where an entity is made: the node, and a group of it unless it is the node's own.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) node: Node,
    pub(crate) group: Option<Arc<Owned>>,
}

impl Place {
    pub(crate) fn front(&self) -> &'static Functions {
        self.node.handle.front
    }

    pub(crate) fn node(&self) -> Handle {
        self.node.handle.handle
    }

    pub(crate) fn group(&self) -> Handle {
        self.group.as_ref().map_or(Handle::NULL, |group| group.handle)
    }
}

/// A mutually exclusive group with its state.
pub(crate) struct Group<S = ()> {
    pub(crate) place: Place,
    state: Arc<Mutex<S>>,
}

impl<S> Clone for Group<S> {
    fn clone(&self) -> Self {
        Self { place: self.place.clone(), state: self.state.clone() }
    }
}

#[derive(Clone)]
pub(crate) struct ReentrantGroup {
    pub(crate) place: Place,
}

/// Makes a builder of an entity in each place where there are some.
macro_rules! makers {
    ([$($parameter:ident)?] $maker:ty => $group:ty, |$self:ident| $make:expr) => {
        impl<$($parameter)?> $maker {
            pub(crate) fn subscription<T: Message>(&self, topic: &str) -> SubscriptionBuilder<T, $group> {
                let $self = self;
                SubscriptionBuilder::new($make, topic)
            }

            pub(crate) fn timer(&self, period: Duration) -> TimerBuilder<$group> {
                let $self = self;
                TimerBuilder::new($make, period, None)
            }

            pub(crate) fn wall_timer(&self, period: Duration) -> TimerBuilder<$group> {
                let $self = self;
                TimerBuilder::new($make, period, Some(ClockKind::Steady))
            }

            pub(crate) fn guard_condition(&self) -> GuardBuilder<$group> {
                let $self = self;
                GuardBuilder::new($make)
            }

            pub(crate) fn server<V: Service>(&self, name: &str) -> ServerBuilder<V, $group> {
                let $self = self;
                ServerBuilder::new($make, name)
            }

            pub(crate) fn client<V: Service>(&self, name: &str) -> ClientBuilder<V, $group> {
                let $self = self;
                ClientBuilder::new($make, name)
            }
        }
    };
}

makers!([] Node => Group, |node| node.own());
makers!([S] Group<S> => Self, |group| group.clone());
makers!([] ReentrantGroup => Self, |group| group.clone());

impl Node {
    fn own(&self) -> Group {
        Group { place: Place { node: self.clone(), group: None }, state: Arc::default() }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn publisher<T: Message>(&self, topic: &str) -> PublisherBuilder<T> {
        PublisherBuilder::new(self.clone(), topic)
    }

    pub(crate) fn clock_publisher(&self) -> SimulatorBuilder {
        SimulatorBuilder::new(self.clone())
    }

    fn make_group(&self, reentrant: bool) -> Place {
        let front = self.handle.front;
        let made = Owned::make(front, Functions::group_free, |group| {
            front.group_new(self.handle.handle, reentrant, group)
        });
        Place { node: self.clone(), group: Some(made.expect("a group more")) }
    }

    pub(crate) fn group<S>(&self, state: S) -> Group<S> {
        Group { place: self.make_group(false), state: Arc::new(Mutex::new(state)) }
    }

    pub(crate) fn reentrant_group(&self) -> ReentrantGroup {
        ReentrantGroup { place: self.make_group(true) }
    }
}

impl<S> Group<S> {
    pub(crate) fn state(&self) -> Arc<Mutex<S>> {
        self.state.clone()
    }

    pub(crate) fn priority(self, priority: i32) -> Self {
        self.place.front().group_set_priority(self.place.group(), priority);
        self
    }

    pub(crate) fn pause_handle(&self) -> PauseHandle {
        PauseHandle(Arc::downgrade(self.place.group.as_ref().expect("a group of its own")))
    }
}

/// Pauses a group, if there is one.
pub(crate) struct PauseHandle(Weak<Owned>);

impl PauseHandle {
    pub(crate) fn pause(&self) {
        self.0.upgrade().inspect(|group| group.front.group_pause(group.handle));
    }

    pub(crate) fn resume(&self) {
        self.0.upgrade().inspect(|group| group.front.group_resume(group.handle));
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.0.strong_count() == 0
    }
}

/// A kind of groups.
pub(crate) trait Placed {
    fn place(&self) -> &Place;
}

impl<S> Placed for Group<S> {
    fn place(&self) -> &Place {
        &self.place
    }
}

impl Placed for ReentrantGroup {
    fn place(&self) -> &Place {
        &self.place
    }
}
