//! Handles that were given up: what lives on, and until when; and what is said to programs that
//! dropped what they needed. More in `conformance/nodes.rs`.
#![expect(clippy::disallowed_types, reason = "a log's lock")]

mod support;

use log::{Level, LevelFilter, Metadata, Record};
use sinew::erased::{MessageType, Request, ServiceTypes, Taken};
use sinew::error::{ErrorCode, HasCode, SpinError};
use sinew::executor::StopHandle;
use sinew::prelude::*;
use std::sync::{Arc, Mutex};
use std::thread;
use support::{Number, Numbers, Room, finishes, real_context};

/// What a callback captures as a whole.
struct Captured<T> {
    _held: Arc<()>,
    of: T,
}

impl<T> Captured<T> {
    fn of(&self) -> &T {
        &self.of // by a method, as a closure captures only those fields that it names
    }
}

/// Detaches one of each kind, all of which hold this. Their callbacks have captured other entities
/// of the node.
fn detach_all(node: &Node, held: &Arc<()>) -> sinew::Result<()> {
    let publisher = node.publisher::<Number>("numbers").create()?;
    let captured = Captured { _held: held.clone(), of: publisher.clone() };
    node.timer(Duration::from_millis(1)).callback(move || captured.of().publish(Number(1)))?.detach();
    let captured = Captured { _held: held.clone(), of: publisher.clone() };
    node.subscription("others").callback(move |n: &Number| captured.of().publish(n))?.detach();
    let captured = Captured { _held: held.clone(), of: node.client::<Numbers>("other").create()? };
    node.server::<Numbers>("double")
        .callback(move |n: &Number| {
            drop(captured.of().call_async(Number(n.0)));
            n.clone()
        })?
        .detach();
    let captured = held.clone();
    let client = node.client::<Numbers>("double").create()?;
    client.call_then(Number(1), move |_: sinew::service::CallResult<Numbers>| drop(captured.clone()))?;
    client.detach();
    let captured = Captured { _held: held.clone(), of: publisher };
    node.guard_condition().callback(move || captured.of().publish(Number(2)))?.detach();
    let captured = held.clone();
    node.publisher::<Number>("more").on_matched(move || drop(captured.clone())).create()?.detach();
    Ok(())
}

const KINDS: usize = 6;

#[test]
fn what_is_detached_goes_with_the_last_handle_to_its_context_and_its_nodes() -> sinew::Result<()> {
    let held = Arc::new(());
    let context = real_context();
    let (one, other) = (context.node("one")?, context.node("other")?);
    detach_all(&one, &held)?;
    let timer = other.timer(Duration::from_secs(1)).callback(|| ())?;
    drop(one);
    assert_eq!(Arc::strong_count(&held), 1 + KINDS, "its node goes on");
    drop(context);
    assert_eq!(Arc::strong_count(&held), 1 + KINDS, "a node is left");
    drop(other);
    assert_eq!(Arc::strong_count(&held), 1, "an entity that is left runs alone");
    let captured = held.clone();
    timer.detach(); // ends at once: nothing could end it later
    drop(captured);
    assert_eq!(Arc::strong_count(&held), 1);
    Ok(())
}

#[test]
fn what_is_detached_goes_with_a_shutdown_also_if_it_holds_its_context() -> sinew::Result<()> {
    let held = Arc::new(());
    let context = real_context();
    let node = context.node("node")?;
    detach_all(&node, &held)?;
    let captured = Captured { _held: held.clone(), of: (context.clone(), node.clone()) };
    node.timer(Duration::from_secs(1)).callback(move || captured.of().0.shutdown())?.detach();
    let late = node.timer(Duration::from_secs(1)).callback(|| ())?;
    drop(node);
    context.shutdown();
    assert_eq!(Arc::strong_count(&held), 1);
    late.detach();
    Ok(())
}

#[test]
fn a_detached_timer_may_shut_its_context_down() -> sinew::Result<()> {
    finishes(|| {
        let held = Arc::new(());
        let context = real_context();
        let captured = Captured { _held: held.clone(), of: context.clone() };
        let node = context.node("node")?;
        node.timer(Duration::from_millis(1)).callback(move || captured.of().shutdown())?.detach();
        drop(node);
        sinew::spin(&context)?;
        assert_eq!(Arc::strong_count(&held), 1, "it went after its callback");
        Ok(())
    })
}

// ---- in the background ----

/// Makes one of each kind in the background, all of which hold this; the last one in a group.
fn leave_to_the_node(node: &Node, held: &Arc<()>) -> sinew::Result<()> {
    let captured = held.clone();
    node.timer(Duration::from_secs(1)).background().callback(move || drop(captured.clone()))?;
    let captured = held.clone();
    node.subscription("numbers").background().callback(move |_: &Number| drop(captured.clone()))?;
    let captured = held.clone();
    let answer = move |n: Number| {
        drop(captured.clone());
        n
    };
    node.server::<Numbers>("here").background().callback(answer.clone())?;
    node.server::<Numbers>("at_once").background().immediate_callback(answer.clone())?;
    node.server::<Numbers>("later").background().async_callback(move |n: Number| {
        let answer = answer(n);
        async move { answer }
    })?;
    let captured = held.clone();
    let number = MessageType::of::<Number>();
    node.erased_subscription("numbers", number)
        .background()
        .callback_erased(move |(): &mut (), _: Taken| drop(captured.clone()))?;
    let captured = held.clone();
    let numbers = ServiceTypes::of::<Numbers>();
    let answer = move |request: Request| {
        drop(captured.clone());
        request.fail("it is a test");
    };
    let again = answer.clone();
    node.erased_server("here_erased", numbers)
        .background()
        .callback_erased(move |(): &mut (), request: Request| answer(request))?;
    node.erased_server("at_once_erased", numbers).background().immediate_callback_erased(again.clone())?;
    let group = node.reentrant_group();
    group.erased_server("in_parallel", numbers).background().callback_erased(again)?;
    let captured = held.clone();
    group
        .erased_subscription("numbers", number)
        .background()
        .callback_erased(move |_: Taken| drop(captured.clone()))?;
    let captured = held.clone();
    let (end, _other) = std::os::unix::net::UnixStream::pair().expect("there are descriptors");
    node.descriptor(&end).background().callback(move || drop(captured.clone()))?;
    let captured = held.clone();
    let group = node.group(0);
    group.timer(Duration::from_secs(1)).background().callback(move |n: &mut u32| {
        drop(captured.clone());
        *n += 1;
    })?;
    Ok(())
}

const IN_BACKGROUND: usize = 12;

#[test]
fn what_is_in_the_background_ends_with_the_last_handle_of_its_node() -> sinew::Result<()> {
    let held = Arc::new(());
    let context = real_context();
    let (node, other) = (context.node("node")?, context.node("other")?);
    leave_to_the_node(&node, &held)?;
    let executor = Executor::single();
    executor.add(&context)?;
    other.publisher("numbers").create()?.publish(Number(1))?;
    assert!(executor.spin_some()? >= 1, "it runs");
    let again = node.clone();
    drop(node);
    assert_eq!(Arc::strong_count(&held), 1 + IN_BACKGROUND, "a handle is left");
    let (group, timer) = (again.group(()), again.timer(Duration::from_secs(1)).callback(|| ())?);
    drop(again);
    assert_eq!(Arc::strong_count(&held), 1, "groups and other entities keep the node, but not these");
    drop(timer);
    let refused = group.timer(Duration::from_secs(1)).background().callback(|| ()).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::Closed, "{refused}");
    assert!(refused.to_string().contains("/node: its last handle was dropped"), "{refused}");
    Ok(())
}

#[test]
fn what_is_in_the_background_ends_with_a_shutdown_also_if_it_holds_its_node() -> sinew::Result<()> {
    let held = Arc::new(());
    let context = real_context();
    let node = context.node("node")?;
    leave_to_the_node(&node, &held)?;
    let captured = Captured { _held: held.clone(), of: node.clone() };
    node.timer(Duration::from_secs(1))
        .background()
        .callback(move || assert!(captured.of().now().nanoseconds() > 0))?;
    drop(node);
    assert_eq!(Arc::strong_count(&held), 2 + IN_BACKGROUND, "it keeps its node");
    context.shutdown();
    assert_eq!(Arc::strong_count(&held), 1);
    Ok(())
}

/// Also if what another callback has captured panics when it is dropped.
#[test]
fn a_callback_in_the_background_may_drop_the_last_handle_of_its_node() -> sinew::Result<()> {
    struct Fragile;
    impl Drop for Fragile {
        fn drop(&mut self) {
            panic!("on purpose");
        }
    }
    finishes(|| {
        let held = Arc::new(());
        let context = real_context();
        let node = context.node("node")?;
        let fragile = Captured { _held: held.clone(), of: Fragile };
        node.timer(Duration::from_secs(1))
            .background()
            .callback(move || assert_eq!(size_of_val(fragile.of()), 0))?;
        let (captured, done) = (held.clone(), context.clone());
        let last = Arc::new(Mutex::new(None));
        let its = last.clone();
        node.timer(Duration::from_millis(1)).background().callback(move || {
            drop(captured.clone());
            drop(its.lock().unwrap().take());
            done.shutdown();
        })?;
        leave_to_the_node(&node, &held)?;
        *last.lock().unwrap() = Some(node);
        sinew::spin(&context)?;
        assert_eq!(Arc::strong_count(&held), 1);
        Ok(())
    })
}

// ---- nothing to run ----

#[test]
fn a_spin_of_nothing_says_so() -> sinew::Result<()> {
    finishes(|| {
        let left = Executor::single(); // by all that was added
        let context = real_context();
        left.add(&context)?;
        left.add(&context.node("gone")?)?;
        drop(context);
        thread::scope(|scope| {
            for executor in [Executor::single(), Executor::multi(2), left] {
                scope.spawn(move || {
                    assert_eq!(executor.spin_some(), Ok(0));
                    assert_eq!(executor.spin_all(Duration::from_secs(1)), Ok(0));
                    assert_eq!(executor.spin_once(Duration::from_millis(1)), Ok(false));
                    assert_eq!(executor.spin_until(async { 7 }), Ok(7));
                    assert_eq!(executor.spin(), Err(SpinError::Nothing));
                });
            }
        });
        let text = SpinError::Nothing.to_string();
        assert!(text.starts_with("there is nothing to spin: nothing was added to the executor"), "{text}");
        // A wait set that could wait for ever.
        let mut set = sinew::executor::WaitSet::new();
        assert_eq!(set.wait(Duration::MAX).err(), Some(SpinError::Nothing));
        assert_eq!(set.wait(Duration::from_millis(1)).map(|found| found.len()), Ok(0));
        Ok(())
    })
}

/// Spins until it is stopped, which is at once.
fn spin_once(executor: &Executor, stop: &StopHandle) -> sinew::Result<()> {
    stop.stop();
    Ok(executor.spin()?)
}

#[test]
fn a_spin_of_what_has_nothing_yet_is_no_mistake() -> sinew::Result<()> {
    finishes(|| {
        let executor = Executor::single();
        let stop = executor.stop_handle();
        spin_once(&executor, &stop)?; // stopped before it could find out
        let context = real_context();
        executor.add(&context)?;
        let node = context.node("later")?;
        let (ends, spinning) = (stop.clone(), executor);
        thread::scope(|scope| {
            let spin = scope.spawn(move || spinning.spin());
            let timer = node.timer(Duration::from_millis(1)).callback(move || ends.stop());
            let result = spin.join().expect("no panic");
            drop(timer);
            result
        })?;
        // One node is left, without a context.
        let executor = Executor::single();
        let node = real_context().node("alone")?;
        executor.add(&node)?;
        spin_once(&executor, &executor.stop_handle())
    })
}

// ---- what the log says ----

/// Keeps the warnings of all tests here.
struct Warnings(Mutex<Vec<String>>);

static WARNINGS: Warnings = Warnings(Mutex::new(Vec::new()));

impl log::Log for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= Level::Warn
    }

    fn log(&self, record: &Record<'_>) {
        self.0.lock().expect("no panic").push(record.args().to_string());
    }

    fn flush(&self) {}
}

impl Warnings {
    /// How often this node was said to have nothing to run.
    fn of(&self, node: &str) -> usize {
        let said = self.0.lock().expect("no panic");
        said.iter().filter(|text| text.starts_with(&format!("/{node}: there is nothing to run."))).count()
    }
}

#[test]
fn nodes_that_have_nothing_to_run_are_named_once() -> sinew::Result<()> {
    log::set_logger(&WARNINGS).expect("the only logger here");
    log::set_max_level(LevelFilter::Warn);
    let room = Room::new();
    let node = |name: &str| room.context.node(name);
    let _empty = node("empty")?;
    let _of_the_network = room.context.node_of(sinew::gateway::Origin::Network, "/", "elsewhere")?;
    let dropped = node("dropped")?;
    let _ = dropped.timer(Duration::from_secs(1)).callback(|| ())?;
    let dropped_beside = node("dropped_beside")?;
    let _publisher = dropped_beside.publisher::<Number>("numbers").create()?;
    let _ = dropped_beside.subscription("numbers").callback(|_: &Number| ())?;
    let publishes = node("publishes")?;
    let _numbers = publishes.publisher::<Number>("numbers").create()?;
    let takes = node("takes")?;
    let _taken = takes.subscription::<Number>("numbers").create()?;
    let runs = node("runs")?;
    let _timer = runs.group(()).timer(Duration::from_secs(1)).callback(|| ())?;
    let detaches = node("detaches")?;
    detaches.timer(Duration::from_secs(1)).callback(|| ())?.detach();
    for _ in 0..2 {
        spin_once(&room.executor, &room.executor.stop_handle())?;
    }
    let said = ["empty", "dropped", "dropped_beside"].map(|name| WARNINGS.of(name));
    assert_eq!(said, [1, 1, 1], "once each");
    let unsaid = ["publishes", "takes", "runs", "detaches", "elsewhere"].map(|name| WARNINGS.of(name));
    assert_eq!((unsaid, WARNINGS.of("room")), ([0; 5], 1));
    Ok(())
}
