//! Ctrl-C, in child processes: this test binary again, with a variable that says which part to
//! play.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod support;

use sinew::error::{CallFailure, PublishFailure, SpinError};
use sinew::prelude::*;
use sinew::signal::{self, Signals};
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::task::Poll;
use std::thread;
use support::{Log, Number, Numbers};

/// The part a child process plays.
const PART: &str = "SINEW_TEST_PART";

/// A child process that plays a part and says how far it is on its standard output.
struct Actor {
    process: Child,
    /// Its lines; `None` when it has ended.
    said: Log<Option<String>>,
}

impl Actor {
    fn start(part: &str) -> Self {
        let program = std::env::current_exe().expect("a test runs from a file");
        let mut process = Command::new(program)
            .args(["--exact", "plays_a_part_in_a_child_process", "--nocapture", "--test-threads=1"])
            .env(PART, part)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the test binary can be started");
        let said = Log::new();
        let (pen, output) = (said.pen(), process.stdout.take().expect("it is piped"));
        thread::spawn(move || {
            BufReader::new(output).lines().for_each(|line| pen.write(Some(line.expect("it speaks UTF-8"))));
            pen.write(None);
        });
        Self { process, said }
    }

    /// Waits until it has said so.
    #[track_caller]
    fn expect(&self, line: &str) {
        loop {
            let said = self.said.next().unwrap_or_else(|| panic!("it ended before it said {line:?}"));
            if said.contains(line) {
                return;
            }
        }
    }

    fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.process.id().to_string()]).status();
        assert!(status.expect("there is a `kill`").success());
    }

    #[track_caller]
    fn end(mut self) -> ExitStatus {
        while self.said.next().is_some() {}
        self.process.wait().expect("it is our child")
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        let _ = self.process.kill(); // it is gone already if all went well
    }
}

/// The actor says `at_work`, gets a signal, says `over` and ends as a program that succeeded; for
/// each of the signals.
fn ends_well(actor: &str, at_work: &str, signals: &[&str], over: &str) {
    for signal in signals {
        let actor = Actor::start(actor);
        actor.expect(at_work);
        actor.signal(signal);
        actor.expect(over);
        let status = actor.end();
        assert_eq!(status.code(), Some(0), "{signal}: {status}");
    }
}

/// The actor says `at_work`, and `told` after a first signal; the second signal ends it.
fn second_one_kills(actor: &str, at_work: &str, received: &str) {
    for (signal, number) in [("-INT", 2), ("-TERM", 15)] {
        let actor = Actor::start(actor);
        actor.expect(at_work);
        actor.signal("-INT");
        actor.expect(received);
        actor.signal(signal);
        let status = actor.end();
        assert_eq!(status.signal(), Some(number), "{status}");
    }
}

#[test]
fn ctrl_c_ends_the_spin_and_the_program_ends_as_it_likes() {
    ends_well("spin", "spinning", &["-INT", "-TERM"], "cleaned up");
}

#[test]
fn a_second_ctrl_c_ends_a_program_that_does_not_listen() {
    second_one_kills("ignore", "spinning", "shut down");
}

#[test]
fn ctrl_c_shuts_down_all_contexts_that_want_it_and_no_other() {
    ends_well("several", "spinning", &["-INT"], "cleaned up");
}

#[test]
fn ctrl_c_ends_whatever_waits() {
    ends_well("wait", "waiting", &["-INT", "-TERM"], "all have ended");
}

#[test]
fn a_spin_that_a_callback_blocks_ends_with_that_callback() {
    ends_well("busy", "spinning", &["-INT"], "cleaned up");
}

#[test]
fn a_second_ctrl_c_ends_a_program_that_the_first_one_has_stuck() {
    second_one_kills("stuck", "waiting", "stuck");
}

#[test]
fn two_signals_at_once_are_two() {
    for part in ["twice", "twice from two threads"] {
        let status = Actor::start(part).end();
        assert_eq!(status.signal(), Some(2), "{part}: {status}");
    }
}

#[test]
fn what_is_detached_ends_on_the_thread_that_spins() {
    let actor = Actor::start("detached");
    actor.expect("spinning");
    actor.signal("-INT");
    actor.expect("captured is dropped by main");
    actor.expect("cleaned up");
    let status = actor.end();
    assert_eq!(status.code(), Some(0), "{status}");
}

/// A thread that holds a node waits for a future that no executor runs any more.
#[test]
fn ctrl_c_ends_futures_of_a_program_with_an_event_loop_of_its_own() {
    ends_well("event loop", "looping", &["-INT"], "cleaned up");
}

#[test]
fn only_the_chosen_signal_shuts_down() {
    ends_well("interrupted", "spinning", &["-INT"], "shut down by SIGINT");
    let actor = Actor::start("interrupted");
    actor.expect("spinning");
    actor.signal("-TERM");
    assert_eq!(actor.end().signal(), Some(15), "its default effect");
}

#[test]
fn without_handlers_signals_have_their_effect_of_before() {
    let actor = Actor::start("uninstalled");
    actor.expect("waiting");
    actor.signal("-TERM");
    assert_eq!(actor.end().signal(), Some(15));
    let actor = Actor::start("uninstalled with an own handler");
    actor.expect("waiting");
    actor.signal("-TERM");
    actor.expect("own handler");
    assert_eq!(actor.end().code(), Some(0));
    ends_well("installed again", "spinning", &["-INT", "-TERM"], "cleaned up");
}

/// Blocks the thread that wakes it.
struct Blocking;

impl std::task::Wake for Blocking {
    fn wake(self: std::sync::Arc<Self>) {
        println!("stuck");
        loop {
            thread::park();
        }
    }
}

/// Says on which thread it is dropped.
struct Captured(thread::ThreadId);

impl Drop for Captured {
    fn drop(&mut self) {
        let by = if thread::current().id() == self.0 { "main" } else { "another thread" };
        println!("captured is dropped by {by}");
    }
}

/// What waits for ever, and whether it ends as it should.
type Wait<'a> = (&'static str, Box<dyn FnOnce() -> bool + Send + 'a>);

const LONG: Duration = Duration::from_secs(3600);

/// Something to wait for, here or in another process as far as this one is concerned. It never
/// comes.
struct Never {
    context: Context,
    /// Has a timer that is due in an hour.
    served: (Node, sinew::Timer),
    here: Client<Numbers>,
    away: Client<Numbers>,
    nowhere: Client<Numbers>,
    numbers: Subscription<Number>,
    full: Publisher<Number>,
    _others: (Context, Subscription<Number>, [Server<Numbers>; 2]),
}

impl Never {
    fn new(place: &support::Place) -> sinew::Result<Self> {
        let context = Context::builder().domain(3).directory(place.0.path()).interrupts(true).build()?;
        let node = context.node("node")?;
        let others = place.context();
        let other = others.node("other")?;
        let deaf = |node: &Node, name| node.server::<Numbers>(name).callback(|n: &Number| n.clone());
        let lossless = QoS::default().keep_all().max_samples(1).max_blocking_time(LONG);
        let never_taken = other.subscription::<Number>("full").qos(lossless).create()?;
        let full = node.publisher::<Number>("full").qos(lossless).create()?;
        assert!(full.wait_for_subscribers(1, support::PATIENCE));
        let deaf = [deaf(&other, "away")?, deaf(&node, "here")?];
        let client = |name: &str| node.client::<Numbers>(name).create();
        let away = client("away")?;
        assert!(away.wait_for_server(support::PATIENCE));
        let served = context.node("served")?;
        let timer = served.timer(LONG).callback(|| ())?;
        Ok(Self {
            here: client("here")?,
            away,
            nowhere: client("nowhere")?,
            numbers: node.subscription::<Number>("numbers").create()?,
            full,
            served: (served, timer),
            context,
            _others: (others, never_taken, deaf),
        })
    }

    fn spins(&self) -> Vec<Wait<'_>> {
        let serving = |executor: Executor| {
            let group = self.served.0.group(());
            executor.add(&group).unwrap();
            (executor, group)
        };
        let (until, several, once) =
            (serving(Executor::single()), serving(Executor::multi(3)), serving(Executor::single()));
        vec![
            (
                "spin_until",
                Box::new(move || until.0.spin_until(std::future::pending::<()>()) == Err(SpinError::Stopped)),
            ),
            ("a spin of several threads", Box::new(move || several.0.spin() == Ok(()))),
            ("spin_once", Box::new(move || once.0.spin_once(LONG) == Ok(false))),
            (
                "a wait set",
                Box::new(|| {
                    let mut set = sinew::executor::WaitSet::new();
                    set.add(&self.served.0).unwrap();
                    set.wait(Duration::MAX).err() == Some(SpinError::Stopped)
                }),
            ),
            (
                "a spin for a message, of nothing else",
                Box::new(|| Executor::single().spin_until(self.numbers.recv()).unwrap().is_none()),
            ),
        ]
    }

    fn calls(&self) -> Vec<Wait<'_>> {
        fn call(client: &Client<Numbers>) -> bool {
            client.call(Number(1), LONG).unwrap_err().failure() == &CallFailure::Shutdown
        }
        vec![
            ("a call here", Box::new(|| call(&self.here))),
            ("a call of another process", Box::new(|| call(&self.away))),
            ("a call without a server", Box::new(|| call(&self.nowhere))),
            (
                "an awaited call",
                Box::new(|| {
                    let call = block_on_for_ever(self.nowhere.call_async(Number(1)));
                    call.unwrap_err().failure() == &CallFailure::Shutdown
                }),
            ),
            ("wait_for_server", Box::new(|| !self.nowhere.wait_for_server(LONG))),
        ]
    }

    fn messages(&self) -> Vec<Wait<'_>> {
        vec![
            ("an awaited message", Box::new(|| block_on_for_ever(self.numbers.recv()).is_none())),
            ("wait_for_subscribers", Box::new(|| !self.full.wait_for_subscribers(2, LONG))),
            (
                "a publisher that waits for room",
                Box::new(|| {
                    let failed = (0..100).find_map(|n| self.full.publish(Number(n)).err());
                    failed.map(|error| error.failure()) == Some(PublishFailure::Shutdown)
                }),
            ),
        ]
    }
}

/// Waits in every way there is, each on a thread of its own, until a signal comes.
fn wait_in_all_ways() -> sinew::Result<()> {
    let place = support::Place::new();
    let never = Never::new(&place)?;
    let begun = Log::new();
    thread::scope(|scope| {
        let ways = [never.spins(), never.calls(), never.messages()].into_iter().flatten();
        let waits: Vec<_> = ways
            .map(|(what, wait)| {
                let pen = begun.pen();
                let begin = move || {
                    pen.write(());
                    wait()
                };
                (what, scope.spawn(begin))
            })
            .collect();
        begun.wait_for(waits.len() as u64);
        println!("waiting");
        for (what, wait) in waits {
            assert!(wait.join().unwrap(), "{what}");
            println!("ended: {what}");
        }
    });
    assert!(never.context.is_shutdown());
    println!("all have ended");
    Ok(())
}

/// Waits on this thread, without the support's patience.
fn block_on_for_ever<F: Future>(future: F) -> F::Output {
    struct Unpark(thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = std::sync::Arc::new(Unpark(thread::current())).into();
    let mut future = std::pin::pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}

fn interruptible() -> sinew::Result<Context> {
    Ok(Context::builder().shared_memory(false).domain(0).interrupts(true).build()?)
}

/// Its callback notices the shutdown, and takes its time.
fn be_busy() -> sinew::Result<()> {
    let context = interruptible()?;
    let node = context.node("node")?;
    let seen = context.clone();
    let busy = node.guard_condition().callback(move || {
        println!("spinning");
        while !seen.is_shutdown() {
            thread::yield_now();
        }
    })?;
    busy.trigger();
    let executor = Executor::multi(2);
    executor.add(&context)?;
    executor.spin()?;
    println!("cleaned up");
    Ok(())
}

/// Leaves SIGTERM alone.
fn interrupt_only() -> sinew::Result<()> {
    let context = Context::builder().shared_memory(false).domain(0).interrupts(true);
    let context = context.signals(Some(Signals::Interrupt)).build()?;
    let before = context.clone();
    let _handler = context.on_pre_shutdown(move || assert!(!before.is_shutdown()));
    let node = context.node("node")?;
    let started = node.guard_condition().callback(|| println!("spinning"))?;
    started.trigger();
    assert_eq!(signal::installed(), Some(Signals::Interrupt));
    assert!(!signal::install(Signals::All).unwrap(), "there are handlers");
    sinew::spin(&context)?;
    println!("shut down by {}", context.shutdown_reason().unwrap());
    Ok(())
}

/// Has handlers for a while.
fn uninstall(has_own_handler: bool) -> sinew::Result<()> {
    let raised = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    if has_own_handler {
        signal_hook::flag::register(signal_hook::consts::SIGTERM, raised.clone()).unwrap();
    }
    let context = interruptible()?;
    assert!(signal::uninstall());
    assert!(!signal::uninstall(), "there are none");
    println!("waiting");
    while !raised.load(std::sync::atomic::Ordering::Relaxed) {
        thread::yield_now();
    }
    assert!(!context.is_shutdown());
    println!("own handler");
    Ok(())
}

/// The program installs the handlers itself, after the context.
fn install_again() -> sinew::Result<()> {
    let builder = Context::builder().shared_memory(false).domain(0).interrupts(true);
    let context = builder.signals(None).build()?;
    assert_eq!(signal::installed(), None);
    for _ in 0..3 {
        assert!(signal::install(Signals::All).unwrap());
        assert!(signal::uninstall());
    }
    assert!(signal::install(Signals::All).unwrap());
    let node = context.node("node")?;
    let started = node.guard_condition().callback(|| println!("spinning"))?;
    started.trigger();
    sinew::spin(&context)?;
    println!("cleaned up");
    Ok(())
}

/// A shutdown never returns here.
fn get_stuck() -> sinew::Result<()> {
    let context = interruptible()?;
    let node = context.node("node")?;
    let numbers = node.subscription::<Number>("numbers").create()?;
    let mut future = std::pin::pin!(numbers.recv());
    let waker = std::sync::Arc::new(Blocking).into();
    assert!(future.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_pending());
    println!("waiting");
    loop {
        thread::park();
    }
}

/// Its callback has `signal` signal this process, and blocks.
fn signal_and_block(signal: fn()) -> sinew::Result<()> {
    let context = interruptible()?;
    let node = context.node("node")?;
    let blocked = node.guard_condition().callback(move || {
        signal();
        loop {
            thread::park();
        }
    })?;
    blocked.trigger();
    sinew::spin(&context)
}

/// SIGINT to this thread, which has been handled when this returns.
fn interrupt() {
    signal_hook::low_level::raise(signal_hook::consts::SIGINT).unwrap();
}

/// Spins a little at a time, as an event loop of another library has it.
fn loop_and_join() -> sinew::Result<()> {
    let context = interruptible()?;
    let node = context.node("node")?;
    let future = node.spawn(std::future::pending::<()>())?;
    let waiting = thread::spawn(move || {
        let _node = node;
        support::tasks::block_on(future)
    });
    let executor = Executor::single();
    executor.add(&context)?;
    println!("looping");
    while !context.is_shutdown() {
        executor.spin_once(Duration::from_millis(1))?;
    }
    executor.spin_some()?; // it may have been shut down since the last one
    assert!(waiting.join().unwrap().is_err());
    println!("cleaned up");
    Ok(())
}

/// What it has detached holds its context.
fn detach_and_spin() -> sinew::Result<()> {
    let context = interruptible()?;
    let node = context.node("node")?;
    let captured = (Captured(thread::current().id()), context.clone());
    let started = node.guard_condition().callback(move || {
        let _all = &captured;
        println!("spinning");
    })?;
    started.trigger();
    started.detach();
    sinew::spin(&context)?;
    println!("cleaned up");
    Ok(())
}

/// What a child process does. In the test run itself there is no part to play.
#[test]
fn plays_a_part_in_a_child_process() -> sinew::Result<()> {
    match std::env::var(PART).as_deref() {
        Ok("spin") => {
            let context = interruptible()?;
            let node = context.node("node")?;
            let started = node.guard_condition().callback(|| println!("spinning"))?;
            started.trigger();
            sinew::spin(&context)?;
            assert!(context.is_shutdown());
            println!("cleaned up");
        }
        Ok("ignore") => {
            let context = interruptible()?;
            let node = context.node("node")?;
            let seen = context.clone();
            let stuck = node.guard_condition().callback(move || {
                println!("spinning");
                while !seen.is_shutdown() {
                    thread::yield_now();
                }
                println!("shut down");
                loop {
                    thread::park();
                }
            })?;
            stuck.trigger();
            sinew::spin(&context)?;
        }
        Ok("several") => {
            let (one, two, other) = (interruptible()?, interruptible()?, support::real_context());
            let node = one.node("node")?;
            let started = node.guard_condition().callback(|| println!("spinning"))?;
            started.trigger();
            let executor = Executor::single();
            executor.add(&two)?;
            sinew::spin(&one)?;
            executor.spin()?; // returns at once, or once its context has been notified as well
            assert!(two.is_shutdown() && !other.is_shutdown());
            println!("cleaned up");
        }
        Ok("wait") => wait_in_all_ways()?,
        Ok("busy") => be_busy()?,
        Ok("interrupted") => interrupt_only()?,
        Ok("uninstalled") => uninstall(false)?,
        Ok("uninstalled with an own handler") => uninstall(true)?,
        Ok("installed again") => install_again()?,
        Ok("stuck") => get_stuck()?,
        Ok("twice") => signal_and_block(|| {
            interrupt();
            interrupt();
        })?,
        Ok("twice from two threads") => signal_and_block(|| {
            let together = std::sync::Barrier::new(2);
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        together.wait();
                        interrupt();
                    });
                }
            });
        })?,
        Ok("event loop") => loop_and_join()?,
        Ok("detached") => detach_and_spin()?,
        Ok(part) => panic!("no such part: {part}"),
        Err(_) => {}
    }
    Ok(())
}
