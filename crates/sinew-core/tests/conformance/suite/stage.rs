//! What runs the callbacks, over what the messages go, and the stage on which a scenario plays.

use super::support::outside::Onlooker;
use super::support::{Log, Number, PATIENCE, Pen, finishes};
use sinew::Publisher;
use sinew::error::{AddError, SpinError};
use sinew::executor::{Executable, FaultPolicy, StopHandle, WaitSet};
use sinew::prelude::*;
use sinew::time::VirtualClock;
use std::fmt;
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

/// Runs callbacks.
pub(crate) trait Runner: Sized + Send + Sync + 'static {
    /// How many callbacks it runs at once, at most.
    const THREADS: usize;

    fn with(options: Options) -> Self;

    fn new() -> Self {
        Self::with(Options::default())
    }

    fn add(&self, what: &impl Executable) -> Result<(), AddError>;

    /// Runs callbacks until it is stopped.
    fn spin(&self) -> Result<(), SpinError>;

    /// Runs callbacks, on this thread alone, until none is ready.
    fn settle(&self) -> Result<(), SpinError>;

    fn stop_handle(&self) -> StopHandle;
}

/// A runner that is an executor.
pub(crate) trait Executing: Runner {
    fn executor(&self) -> &Executor;
}

/// The single-threaded executor.
pub(crate) struct Single(Executor);

/// The multi-threaded one; 0 for as many threads as there are cores.
pub(crate) struct Multi<const N: usize>(Executor);

/// A loop around a wait set.
pub(crate) struct Set {
    #[expect(clippy::disallowed_types, reason = "a test's own lock; nothing here is modelled")]
    set: std::sync::Mutex<WaitSet>,
    stop: StopHandle,
}

macro_rules! executing {
    ([$($parameter:tt)*] $runner:ty, $threads:expr, $asked:expr) => {
        impl<$($parameter)*> Runner for $runner {
            const THREADS: usize = $threads;

            fn with(Options { on_panic, on_error }: Options) -> Self {
                let builder = Executor::builder().threads($asked);
                Self(builder.on_panic(on_panic).on_error(on_error).build().expect("options that can be had"))
            }

            fn add(&self, what: &impl Executable) -> Result<(), AddError> {
                self.0.add(what)
            }

            fn spin(&self) -> Result<(), SpinError> {
                self.0.spin()
            }

            fn settle(&self) -> Result<(), SpinError> {
                self.0.spin_all(PATIENCE).map(drop)
            }

            fn stop_handle(&self) -> StopHandle {
                self.0.stop_handle()
            }
        }

        impl<$($parameter)*> Executing for $runner {
            fn executor(&self) -> &Executor {
                &self.0
            }
        }
    };
}

executing!([] Single, 1, 1);
executing!([const N: usize] Multi<N>, N, N);

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

impl Runner for Set {
    const THREADS: usize = 1;

    fn with(Options { on_panic, on_error }: Options) -> Self {
        let set = WaitSet::builder().on_panic(on_panic).on_error(on_error).build();
        let stop = set.stop_handle();
        Self { set: set.into(), stop }
    }

    fn add(&self, what: &impl Executable) -> Result<(), AddError> {
        self.set.try_lock().expect("nobody spins it").add(what)
    }

    fn spin(&self) -> Result<(), SpinError> {
        self.run(Duration::MAX)
    }

    fn settle(&self) -> Result<(), SpinError> {
        self.run(Duration::ZERO)
    }

    fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }
}

/// The way from a publisher to a subscription: two contexts, which may be one.
pub(crate) trait Path {
    /// The contexts are two, and find out about each other's entities later than when these are
    /// made.
    const APART: bool;

    /// What publishers of the stage offer where a scenario doesn't care: the depth is also how much
    /// may be on its way.
    const OFFERED: QoS = QoS::new();

    /// A message takes a while to the other host, where it has another publisher; and what goes wrong
    /// there is told in words.
    const IS_NETWORK: bool = false;

    /// Where publishers are made, and where subscriptions are. In a scenario that is played.
    fn open(clock: Option<&VirtualClock>) -> (Context, Context);

    /// Returns once each side knows what the other one has, and what was published is there, or on
    /// its way by a thread that brings it in.
    fn find_out(sender: &Node, receiver: &Node);

    /// Looks from outside at the domain that was opened last, where the subscriptions are. Over
    /// shared memory only.
    fn onlooker() -> Onlooker {
        unreachable!("contexts without shared memory have no outside")
    }

    /// Plays a scenario, and fails if it hangs.
    #[track_caller]
    fn play(scenario: impl Fn() -> sinew::Result<()> + Send + Copy + 'static) -> sinew::Result<()> {
        finishes(scenario)
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
pub(crate) struct Stage<R> {
    clock: Option<VirtualClock>,
    is_apart: bool,
    is_network: bool,
    offered: QoS,
    find_out: fn(&Node, &Node),
    /// Where publishers are made.
    pub(crate) sending: Context,
    /// Where subscriptions are made.
    pub(crate) receiving: Context,
    pub(crate) sender: Node,
    pub(crate) receiver: Node,
    pub(crate) runner: R,
}

impl<R: Runner> Stage<R> {
    /// In virtual time.
    pub(crate) fn new<P: Path>() -> sinew::Result<Self> {
        Self::with::<P>(Options::default())
    }

    pub(crate) fn with<P: Path>(options: Options) -> sinew::Result<Self> {
        let stage = Self::make::<P>(Some(VirtualClock::new()), options)?;
        stage.serve_all()?;
        Ok(stage)
    }

    pub(crate) fn in_real_time<P: Path>() -> sinew::Result<Self> {
        let stage = Self::unserved::<P>()?;
        stage.serve_all()?;
        Ok(stage)
    }

    /// In real time; the runner serves nothing yet.
    pub(crate) fn unserved<P: Path>() -> sinew::Result<Self> {
        Self::make::<P>(None, Options::default())
    }

    fn make<P: Path>(clock: Option<VirtualClock>, options: Options) -> sinew::Result<Self> {
        let (sending, receiving) = P::open(clock.as_ref());
        let (sender, receiver) = (sending.node("sender")?, receiving.node("receiver")?);
        let (find_out, runner) = (P::find_out, R::with(options));
        Ok(Self {
            clock,
            is_apart: P::APART,
            is_network: P::IS_NETWORK,
            offered: P::OFFERED,
            find_out,
            sending,
            receiving,
            sender,
            receiver,
            runner,
        })
    }

    /// Has both contexts find out what there is now.
    pub(crate) fn find_out(&self) {
        (self.find_out)(&self.sender, &self.receiver);
    }

    /// What was published is now at the other host, if there is one. Elsewhere it is where it is.
    pub(crate) fn let_travel(&self) {
        if self.is_network {
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
        self.publisher_with(topic, self.offered)
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
        while self.is_apart && !expected.iter().all(is_there) && sinew::time::Time::steady() < end {
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
pub(crate) fn spinning<R: Runner, T>(
    runner: &R,
    work: impl FnOnce() -> sinew::Result<T>,
) -> sinew::Result<T> {
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
