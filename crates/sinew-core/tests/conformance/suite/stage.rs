//! What runs the callbacks, over what the messages go, and the stage on which a scenario plays.

use super::support::outside::Onlooker;
use super::support::{Log, Number, PATIENCE, Pen, finishes};
use sinew::Publisher;
use sinew::error::{AddError, SpinError};
use sinew::executor::{Executable, FaultPolicy, StopHandle, WaitSet};
use sinew::prelude::*;
use sinew::time::VirtualClock;
use std::fmt;
use std::sync::Arc;
use std::thread;

/// How a runner differs from the default.
#[derive(Clone, Copy)]
pub(crate) struct Options {
    pub(crate) on_panic: FaultPolicy,
    pub(crate) on_error: FaultPolicy,
}

impl Default for Options {
    fn default() -> Self {
        Self { on_panic: FaultPolicy::Stop, on_error: FaultPolicy::Report }
    }
}

/// With what a scenario is played. Its parts are values, not types: so each scenario is compiled once.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) kind: Kind,
    pub(crate) path: &'static dyn Path,
}

impl Setting {
    /// How many callbacks a runner runs at once, at most.
    pub(crate) fn threads(&self) -> usize {
        match self.kind {
            Kind::Threads(threads) => threads,
            Kind::Set => 1,
        }
    }

    pub(crate) fn runner(&self) -> Runner {
        Runner::new(self.kind, Options::default())
    }
}

/// What kind of runner.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// An executor with so many threads; 0 for as many as there are cores.
    Threads(usize),
    /// A loop around a wait set.
    Set,
}

/// Runs callbacks.
pub(crate) enum Runner {
    Executor(Executor),
    Set(Set),
}

impl Runner {
    fn new(kind: Kind, Options { on_panic, on_error }: Options) -> Self {
        match kind {
            Kind::Threads(threads) => {
                let builder = Executor::builder().threads(threads);
                let executor = builder.on_panic(on_panic).on_error(on_error).build();
                Self::Executor(executor.expect("options that can be had"))
            }
            Kind::Set => {
                let set = WaitSet::builder().on_panic(on_panic).on_error(on_error).build();
                let stop = set.stop_handle();
                Self::Set(Set { set: set.into(), stop })
            }
        }
    }

    pub(crate) fn add(&self, what: &impl Executable) -> Result<(), AddError> {
        match self {
            Self::Executor(executor) => executor.add(what),
            Self::Set(set) => set.set.try_lock().expect("nobody spins it").add(what),
        }
    }

    /// Runs callbacks until it is stopped.
    pub(crate) fn spin(&self) -> Result<(), SpinError> {
        match self {
            Self::Executor(executor) => executor.spin(),
            Self::Set(set) => set.run(Duration::MAX),
        }
    }

    /// Runs callbacks, on this thread alone, until none is ready.
    pub(crate) fn settle(&self) -> Result<(), SpinError> {
        match self {
            Self::Executor(executor) => executor.spin_all(PATIENCE).map(drop),
            Self::Set(set) => set.run(Duration::ZERO),
        }
    }

    pub(crate) fn stop_handle(&self) -> StopHandle {
        match self {
            Self::Executor(executor) => executor.stop_handle(),
            Self::Set(set) => set.stop.clone(),
        }
    }

    /// For scenarios that are played with executors only.
    pub(crate) fn executor(&self) -> &Executor {
        let Self::Executor(executor) = self else { unreachable!("a scenario of executors") };
        executor
    }
}

/// A wait set, and what stops the loop around it.
pub(crate) struct Set {
    #[expect(clippy::disallowed_types, reason = "a test's own lock; nothing here is modelled")]
    set: std::sync::Mutex<WaitSet>,
    stop: StopHandle,
}

impl Set {
    /// Runs what is first until the wait ends or finds nothing.
    fn run(&self, timeout: Duration) -> Result<(), SpinError> {
        let Ok(mut set) = self.set.try_lock() else { return Err(SpinError::Busy) };
        loop {
            let found = set.wait(timeout);
            match found.map(|mut ready| ready.next().map(|first| first.run())) {
                Ok(Some(outcome)) => drop(outcome?),
                Ok(None) | Err(SpinError::Stopped) => return Ok(()),
                Err(fault) => return Err(fault),
            }
        }
    }
}

/// A scenario with its setting.
pub(crate) type Play = Arc<dyn Fn() -> sinew::Result<()> + Send + Sync>;

/// The way from a publisher to a subscription: two contexts, which may be one.
pub(crate) trait Path: Sync {
    /// The contexts are two, and find out about each other's entities later than when these are
    /// made.
    fn is_apart(&self) -> bool;

    /// What publishers of the stage offer where a scenario doesn't care: the depth is also how much
    /// may be on its way.
    fn offered(&self) -> QoS {
        QoS::new()
    }

    /// A message takes a while to the other host, where it has another publisher; and what goes wrong
    /// there is told in words.
    fn is_network(&self) -> bool {
        false
    }

    /// Where publishers are made, and where subscriptions are. In a scenario that is played.
    fn open(&self, clock: Option<&VirtualClock>) -> (Context, Context);

    /// Returns once each side knows what the other one has, and what was published is there, or on
    /// its way by a thread that brings it in.
    fn find_out(&self, sender: &Node, receiver: &Node);

    /// Looks from outside at the domain that was opened last, where the subscriptions are. Over
    /// shared memory only.
    fn onlooker(&self) -> Onlooker {
        unreachable!("contexts without shared memory have no outside")
    }

    /// Plays the scenario of this name, and fails if it hangs.
    #[track_caller]
    fn play(&self, _name: &str, scenario: Play) -> sinew::Result<()> {
        finishes(move || scenario())
    }
}

/// Has both look at what there is in their domain. A request's way back takes three looks of one
/// side.
pub(crate) fn look(sender: &Node, receiver: &Node) {
    for _ in 0..3 {
        for node in [sender, receiver] {
            let _ = node.publisher::<Number>("nobody_listens").create(); // it looks; refused after a shutdown
        }
    }
}

/// A node that publishes, a node that subscribes, and a runner that serves both.
///
/// Over every path, whatever was made before a publisher or a subscription of the stage is made, or
/// before the runner runs, is known everywhere.
pub(crate) struct Stage {
    clock: Option<VirtualClock>,
    path: &'static dyn Path,
    /// Where publishers are made.
    pub(crate) sending: Context,
    /// Where subscriptions are made.
    pub(crate) receiving: Context,
    pub(crate) sender: Node,
    pub(crate) receiver: Node,
    pub(crate) runner: Runner,
}

impl Stage {
    /// In virtual time.
    pub(crate) fn new(setting: Setting) -> sinew::Result<Self> {
        Self::with(setting, Options::default())
    }

    pub(crate) fn with(setting: Setting, options: Options) -> sinew::Result<Self> {
        let stage = Self::make(setting, Some(VirtualClock::new()), options)?;
        stage.serve_all()?;
        Ok(stage)
    }

    pub(crate) fn in_real_time(setting: Setting) -> sinew::Result<Self> {
        let stage = Self::unserved(setting)?;
        stage.serve_all()?;
        Ok(stage)
    }

    /// In real time; the runner serves nothing yet.
    pub(crate) fn unserved(setting: Setting) -> sinew::Result<Self> {
        Self::make(setting, None, Options::default())
    }

    fn make(setting: Setting, clock: Option<VirtualClock>, options: Options) -> sinew::Result<Self> {
        let Setting { kind, path } = setting;
        let (sending, receiving) = path.open(clock.as_ref());
        let (sender, receiver) = (sending.node("sender")?, receiving.node("receiver")?);
        let runner = Runner::new(kind, options);
        Ok(Self { clock, path, sending, receiving, sender, receiver, runner })
    }

    /// Has both contexts find out what there is now.
    pub(crate) fn find_out(&self) {
        self.path.find_out(&self.sender, &self.receiver);
    }

    /// What was published is now at the other host, if there is one. Elsewhere it is where it is.
    pub(crate) fn let_travel(&self) {
        if self.path.is_network() {
            self.find_out();
        }
    }

    fn serve_all(&self) -> Result<(), AddError> {
        // First where the timers are: an executor follows the ROS time of the first context that it
        // serves.
        self.runner.add(&self.receiving)?;
        self.runner.add(&self.sending)
    }

    /// Lets virtual time pass, and runs nothing.
    pub(crate) fn pass(&self, milliseconds: u64) {
        self.clock().advance(Duration::from_millis(milliseconds));
    }

    pub(crate) fn clock(&self) -> &VirtualClock {
        self.clock.as_ref().expect("a stage in virtual time")
    }

    pub(crate) fn publisher(&self, topic: &str) -> sinew::Result<Publisher<Number>> {
        self.publisher_with(topic, self.path.offered())
    }

    pub(crate) fn publisher_with(&self, topic: &str, qos: QoS) -> sinew::Result<Publisher<Number>> {
        let publisher = self.sender.publisher(topic).qos(qos).create()?;
        self.find_out();
        Ok(publisher)
    }

    /// Reports the numbers that come on a topic, in the receiver's default group.
    pub(crate) fn listen(&self, topic: &str, qos: QoS, pen: Pen<u64>) -> sinew::Result<Subscription<Number>> {
        let callback = move |number: &Number| pen.write(number.0);
        let subscription = self.receiver.subscription(topic).qos(qos).callback(callback)?;
        self.find_out();
        Ok(subscription)
    }

    /// Waits until so many messages came. What was published before other processes knew which
    /// executor hears it is brought in by a thread of its own, beside the executor and so in no
    /// order with what it runs meanwhile. What the executor hears itself comes when it runs: so
    /// this waits for a moment only.
    #[expect(clippy::disallowed_methods, reason = "it waits for a thread that tells no one when it is done")]
    pub(crate) fn let_arrive(&self, expected: &[(&Subscription<Number>, u64)]) {
        let end = sinew::time::Time::steady() + Duration::from_millis(100);
        let is_there =
            |(reader, count): &(&Subscription<Number>, u64)| reader.statistics().received >= *count;
        while self.path.is_apart() && !expected.iter().all(is_there) && sinew::time::Time::steady() < end {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Runs callbacks, on this thread alone, until none is ready.
    pub(crate) fn settle(&self) -> Result<(), SpinError> {
        self.find_out();
        self.runner.settle()
    }

    /// Spins on a thread of its own while `work` is done, and stops then.
    pub(crate) fn while_spinning<T>(&self, work: impl FnOnce() -> sinew::Result<T>) -> sinew::Result<T> {
        self.find_out();
        spinning(&self.runner, work)
    }

    /// Spins until so many lines were reported, and then runs what else is ready. Returns all that
    /// was reported.
    pub(crate) fn collect<T: fmt::Debug>(&self, log: &Log<T>, lines: usize) -> sinew::Result<Vec<T>> {
        let mut lines = self.while_spinning(|| Ok(log.wait_for(lines as u64)))?;
        self.settle()?;
        lines.extend(log.lines());
        Ok(lines)
    }
}

/// Has a runner spin on a thread of its own while `work` is done, and stops it then.
pub(crate) fn spinning<T>(runner: &Runner, work: impl FnOnce() -> sinew::Result<T>) -> sinew::Result<T> {
    /// Also if the work panics: its thread waits for the other one.
    struct Stopping(StopHandle);
    impl Drop for Stopping {
        fn drop(&mut self) {
            self.0.stop();
        }
    }
    thread::scope(|scope| {
        let spinning = scope.spawn(|| runner.spin());
        let stopping = Stopping(runner.stop_handle());
        let result = work();
        drop(stopping);
        spinning.join().unwrap()?;
        result
    })
}
