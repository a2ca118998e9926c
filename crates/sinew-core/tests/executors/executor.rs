//! Which callback an executor runs next, and when it returns.

use crate::support;

use proptest::prelude::*;
use sinew::error::SpinError;
use sinew::prelude::*;
use sinew::time::TimerInfo;
use sinew::{GuardCondition, Publisher};
use std::sync::mpsc;
use std::task::{Poll, Waker};
use std::thread;
use support::{Log, Number, PATIENCE, Pen, Room, finishes, numbers_in, real_context};

// ---- order ----

/// Something that makes a callback ready, and the callback that runs for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    /// A message on a topic.
    Publish(usize),
    Trigger(usize),
    /// Time passes; the timers that become due by that are ready.
    Pass(u64),
}

/// What ran.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Ran {
    Message { topic: usize, number: u64 },
    Guard(usize),
    Timer { due: u64, skipped: u64 },
}

const TOPICS: usize = 5;
const GUARDS: usize = 3;
/// Nanoseconds. Prime to each other, so that they are rarely due at the same time (their order
/// would be any callback's).
const PERIODS: [u64; 2] = [1009, 7001];

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        6 => (0..TOPICS).prop_map(Act::Publish),
        2 => (0..GUARDS).prop_map(Act::Trigger),
        2 => (1..4000_u64).prop_map(Act::Pass),
    ];
    prop::collection::vec(act, 0..80)
}

/// A room full of entities, in several groups and nodes, that log what runs.
struct Stage {
    room: Room,
    log: Log<Ran>,
    publishers: Vec<Publisher<Number>>,
    guards: Vec<GuardCondition>,
    _readers: Vec<Subscription<Number>>,
    _timers: Vec<Timer>,
}

impl Stage {
    /// Entity number n is in a group of priority `priorities[n % priorities.len()]`.
    fn new(priorities: &[i32]) -> sinew::Result<Self> {
        let room = Room::new();
        let log = Log::new();
        let nodes = [room.context.node("one")?, room.context.node("two")?];
        let groups: Vec<_> =
            (0..TOPICS).map(|n| nodes[n % 2].group(()).priority(priorities[n % priorities.len()])).collect();
        let deep = QoS::default().keep_last(100);
        let mut stage = Self {
            publishers: Vec::new(),
            guards: Vec::new(),
            _readers: Vec::new(),
            _timers: Vec::new(),
            room,
            log,
        };
        for (topic, group) in groups.iter().enumerate() {
            let name = format!("topic_{topic}");
            let pen = stage.log.pen();
            stage._readers.push(
                group
                    .subscription(&name)
                    .qos(deep)
                    .callback(move |number: &Number| pen.write(Ran::Message { topic, number: number.0 }))?,
            );
            stage.publishers.push(stage.room.node.publisher(&name).create()?);
        }
        for (guard, group) in groups.iter().enumerate().take(GUARDS) {
            let pen = stage.log.pen();
            let callback = move || pen.write(Ran::Guard(guard));
            stage.guards.push(group.guard_condition().callback(callback)?);
        }
        Ok(stage)
    }

    fn with_timers(mut self) -> sinew::Result<Self> {
        for period in PERIODS {
            let pen = self.log.pen();
            let timer = self.room.node.timer(Duration::from_nanos(period));
            self._timers.push(timer.callback(move |info: &TimerInfo| {
                let due = u64::try_from(info.due().nanoseconds()).expect("time began at 0");
                pen.write(Ran::Timer { due, skipped: info.skipped() });
            })?);
        }
        Ok(self)
    }

    fn act(&self, number: u64, act: Act) -> sinew::Result<()> {
        match act {
            Act::Publish(topic) => self.publishers[topic].publish(Number(number))?,
            Act::Trigger(guard) => self.guards[guard].trigger(),
            Act::Pass(nanoseconds) => self.room.clock.advance(Duration::from_nanos(nanoseconds)),
        }
        Ok(())
    }
}

/// What has to run after these acts, in this order; `due` is when each timer is due next, and is
/// moved on.
fn expected(acts: &[(u64, Act)], now: &mut u64, due: &mut [u64]) -> Vec<Ran> {
    let mut ran = Vec::new();
    for &(number, act) in acts {
        match act {
            Act::Publish(topic) => ran.push(Ran::Message { topic, number }),
            Act::Trigger(guard) if !ran.contains(&Ran::Guard(guard)) => ran.push(Ran::Guard(guard)),
            Act::Trigger(_) => {}
            Act::Pass(nanoseconds) => {
                *now += nanoseconds;
                // Due after all that was published before time passed, before all that comes at its
                // new state.
                let mut fired: Vec<_> = due.iter().copied().filter(|&due| due <= *now).collect();
                fired.sort_unstable();
                let once = |due: &u64| {
                    !ran.iter().any(|ran| matches!(ran, Ran::Timer { due: other, .. } if other == due))
                };
                let fired: Vec<_> = fired.into_iter().filter(once).collect();
                ran.extend(fired.into_iter().map(|due| Ran::Timer { due, skipped: 0 }));
            }
        }
    }
    // A timer runs once for all periods that have passed, and says how many it skipped.
    for (due, period) in due.iter_mut().zip(PERIODS) {
        if *due <= *now {
            let missed = (*now - *due) / period;
            let first = *due;
            for ran in &mut ran {
                if let Ran::Timer { due, skipped } = ran
                    && *due == first
                {
                    *skipped = missed;
                }
            }
            *due += (missed + 1) * period;
        }
    }
    ran
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn callbacks_run_in_the_order_in_which_their_messages_were_published(acts in acts()) {
        let stage = Stage::new(&[0]).unwrap();
        let acts: Vec<_> = (0..).zip(acts).collect();
        for &(number, act) in &acts {
            stage.act(number, act).unwrap();
        }
        stage.room.run();
        prop_assert_eq!(stage.log.lines(), expected(&acts, &mut 0, &mut []));
    }

    #[test]
    fn timers_run_among_messages_by_their_due_time(rounds in prop::collection::vec(acts(), 1..4)) {
        let stage = Stage::new(&[0]).unwrap().with_timers().unwrap();
        let (mut now, mut due, mut number) = (0, PERIODS, 0);
        for acts in rounds {
            let acts: Vec<_> = acts.into_iter().map(|act| { number += 1; (number, act) }).collect();
            for &(number, act) in &acts {
                stage.act(number, act).unwrap();
            }
            stage.room.run();
            prop_assert_eq!(stage.log.lines(), expected(&acts, &mut now, &mut due));
        }
    }

    #[test]
    fn higher_priorities_run_first_and_equal_ones_in_order(
        acts in acts(),
        priorities in prop::collection::vec(-2..3, 1..TOPICS),
    ) {
        let stage = Stage::new(&priorities).unwrap();
        let acts: Vec<_> = (0..).zip(acts).collect();
        for &(number, act) in &acts {
            stage.act(number, act).unwrap();
        }
        stage.room.run();
        let mut expected = expected(&acts, &mut 0, &mut []);
        expected.sort_by_key(|ran| match ran {
            Ran::Message { topic: n, .. } | Ran::Guard(n) => -priorities[n % priorities.len()],
            Ran::Timer { .. } => 0,
        });
        prop_assert_eq!(stage.log.lines(), expected);
    }
}

/// Logs what comes on a topic.
fn listen(
    node: &Node,
    topic: &'static str,
    depth: usize,
    pen: Pen<(&'static str, u64)>,
) -> sinew::Result<Subscription<Number>> {
    let qos = QoS::default().keep_last(depth);
    Ok(node.subscription(topic).qos(qos).callback(move |number: &Number| pen.write((topic, number.0)))?)
}

#[test]
fn a_message_for_a_higher_priority_overtakes_what_waits() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let urgent = room.node.group(()).priority(10);
    let pen = log.pen();
    let _urgent =
        urgent.subscription("urgent").callback(move |number: &Number| pen.write(("urgent", number.0)))?;
    let alarm = room.node.publisher::<Number>("urgent").create()?;
    let pen = log.pen();
    let _normal = room.node.subscription("normal").callback(move |number: &Number| {
        pen.write(("normal", number.0));
        if number.0 == 1 { alarm.publish(Number(1)) } else { Ok(()) }
    })?;
    let normal = room.node.publisher("normal").create()?;
    (1..=3).try_for_each(|number| normal.publish(Number(number)))?;
    room.run();
    assert_eq!(log.lines(), [("normal", 1), ("urgent", 1), ("normal", 2), ("normal", 3)]);
    Ok(())
}

#[test]
fn a_fast_topic_of_depth_1_neither_starves_nor_is_starved() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let fast = room.node.publisher::<Number>("fast").create()?;
    let again = fast.clone();
    let pen = log.pen();
    let _slow = room.node.subscription("slow").callback(move |number: &Number| {
        pen.write(("slow", number.0));
        again.publish(Number(100 + number.0)) // overwrites the one that waits
    })?;
    let _fast = listen(&room.node, "fast", 1, log.pen())?;
    let slow = room.node.publisher("slow").create()?;
    (1..=3).try_for_each(|number| slow.publish(Number(number)))?;
    fast.publish(Number(0))?;
    (4..=6).try_for_each(|number| slow.publish(Number(number)))?;
    room.run();
    let expected = [
        ("slow", 1),
        ("slow", 2),
        ("slow", 3),
        ("fast", 103),
        ("slow", 4),
        ("slow", 5),
        ("slow", 6),
        ("fast", 106),
    ];
    assert_eq!(log.lines(), expected);
    Ok(())
}

// ---- spin_some, spin_all, spin_once ----

/// A subscription that publishes what it gets again, one greater, for ever.
fn echo(room: &Room) -> sinew::Result<(Publisher<Number>, Subscription<Number>)> {
    let publisher = room.node.publisher::<Number>("echo").create()?;
    let again = publisher.clone();
    let subscription = room
        .node
        .subscription("echo")
        .callback(move |number: &Number| again.publish(Number(number.0 + 1)))?;
    Ok((publisher, subscription))
}

#[test]
fn spin_some_runs_all_that_is_ready_on_entry_and_nothing_that_becomes_ready_meanwhile() -> sinew::Result<()> {
    let room = Room::new();
    let (publisher, subscription) = echo(&room)?;
    assert_eq!(room.executor.spin_some()?, 0);
    (1..=3).try_for_each(|number| publisher.publish(Number(number)))?;
    finishes(move || {
        for round in 1..=5 {
            assert_eq!(room.executor.spin_some(), Ok(3));
            assert_eq!(subscription.statistics().taken, 3 * round);
        }
    });
    Ok(())
}

#[test]
fn spin_some_does_not_run_a_higher_priority_that_became_ready_meanwhile_but_what_it_overtook()
-> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let urgent = room.node.group(()).priority(10);
    let pen = log.pen();
    let guard = urgent.guard_condition().callback(move || pen.write(0))?;
    let pen = log.pen();
    let _normal = room.node.subscription("normal").callback(move |number: &Number| {
        pen.write(number.0);
        guard.trigger();
    })?;
    let normal = room.node.publisher("normal").create()?;
    normal.publish(Number(1))?;
    normal.publish(Number(2))?;
    assert_eq!(room.executor.spin_some()?, 2);
    assert_eq!(log.lines(), [1, 2]);
    assert_eq!(room.executor.spin_some()?, 1);
    assert_eq!(log.lines(), [0]);
    Ok(())
}

#[test]
fn spin_some_does_not_run_a_timer_that_becomes_due_meanwhile() -> sinew::Result<()> {
    let room = Room::new();
    let clock = room.clock.clone();
    let _slow =
        room.node.subscription("slow").callback(move |_: &Number| clock.advance(Duration::from_secs(1)))?;
    let timer = room.node.timer(Duration::from_secs(1)).callback(|| {})?;
    room.node.publisher("slow").create()?.publish(Number(1))?;
    assert_eq!(room.executor.spin_some()?, 1);
    assert_eq!(timer.time_until_next(), Some(Duration::ZERO));
    assert_eq!(room.executor.spin_some()?, 1);
    Ok(())
}

#[test]
fn spin_some_runs_what_waits_also_if_virtual_time_went_back() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let _reader = listen(&room.node, "numbers", 10, log.pen())?;
    let publisher = room.node.publisher("numbers").create()?;
    room.clock.advance(Duration::from_secs(10));
    publisher.publish(Number(1))?;
    room.clock.set(sinew::time::Time::from_nanoseconds(0));
    room.executor.spin_some()?;
    assert_eq!(log.lines(), [("numbers", 1)]);
    Ok(())
}

#[test]
fn only_callbacks_that_ran_are_counted() -> sinew::Result<()> {
    let room = Room::new();
    let qos = QoS::default().lifespan(Duration::from_millis(10));
    let subscription = room.node.subscription("numbers").callback(|_: &Number| {})?;
    let publisher = room.node.publisher("numbers").qos(qos).create()?;
    publisher.publish(Number(1))?;
    assert_eq!(numbers_in(&subscription), [1], "taken by hand");
    assert_eq!(room.executor.spin_some()?, 0);
    publisher.publish(Number(2))?;
    room.clock.advance(Duration::from_millis(10));
    assert!(!room.executor.spin_once(Duration::ZERO)?, "it has expired");
    Ok(())
}

#[test]
fn spin_all_goes_on_until_nothing_is_ready_or_its_time_is_over() -> sinew::Result<()> {
    let room = Room::new();
    let countdown = room.node.publisher::<Number>("countdown").create()?;
    let again = countdown.clone();
    let subscription =
        room.node.subscription("countdown").callback(move |number: &Number| match number.0 {
            0 => Ok(()),
            left => again.publish(Number(left - 1)),
        })?;
    countdown.publish(Number(9))?;
    assert_eq!(room.executor.spin_all(PATIENCE)?, 10);
    countdown.publish(Number(9))?;
    assert_eq!(room.executor.spin_all(Duration::ZERO)?, 1, "it looks at the time between callbacks");
    assert_eq!(room.executor.spin_all(PATIENCE)?, 9);
    drop(subscription);

    let (publisher, _endless) = echo(&room)?;
    publisher.publish(Number(0))?;
    assert!(room.executor.spin_all(Duration::from_millis(1))? > 0);
    Ok(())
}

/// What is left when the time is over runs in the next spin, also what would have run past the
/// ready queue.
#[test]
fn spin_all_leaves_nothing_behind_when_its_time_is_over() -> sinew::Result<()> {
    const TIME: Duration = Duration::from_millis(5);
    let context = real_context();
    let node = context.node("node")?;
    let executor = Executor::single();
    executor.add(&context)?;
    let both = node.publisher::<Number>("both").create()?;
    let is_slow = |number: &Number| number.0 >= 100; // those before are known to be short
    let _both: Vec<_> = (0..2)
        .map(|_| {
            node.subscription::<Number>("both").callback(move |number: &Number| {
                if is_slow(number) {
                    thread::park_timeout(TIME); // the second one's turn comes when the time is over
                }
            })
        })
        .collect::<Result<_, _>>()?;
    let _first =
        node.subscription::<Number>("first").callback(move |number: &Number| both.publish(number.clone()))?;
    let first = node.publisher::<Number>("first").create()?;
    for number in 0..110 {
        first.publish(Number(number))?;
        let time = if number < 100 { PATIENCE } else { TIME };
        let ran: u64 = (0..4).map(|_| executor.spin_all(time)).sum::<Result<_, _>>()?;
        assert_eq!(ran, 3);
    }
    Ok(())
}

#[test]
fn spin_once_runs_one_callback() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let _reader = listen(&room.node, "numbers", 10, log.pen())?;
    let publisher = room.node.publisher("numbers").create()?;
    publisher.publish(Number(1))?;
    publisher.publish(Number(2))?;
    assert!(room.executor.spin_once(Duration::ZERO)?);
    assert_eq!(log.lines(), [("numbers", 1)]);
    assert!(room.executor.spin_once(PATIENCE)?);
    assert_eq!(log.lines(), [("numbers", 2)]);
    assert!(!room.executor.spin_once(Duration::ZERO)?);
    Ok(())
}

#[test]
fn spin_once_waits_for_a_callback_but_not_longer_than_it_may() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let executor = Executor::single();
    executor.add(&context)?;
    assert!(!executor.spin_once(Duration::from_millis(1))?);
    let _reader = node.subscription("numbers").callback(|_: &Number| {})?;
    let publisher = node.publisher("numbers").create()?;
    thread::scope(|scope| {
        scope.spawn(|| publisher.publish(Number(1)).unwrap());
        assert!(executor.spin_once(PATIENCE).unwrap());
    });
    Ok(())
}

#[test]
fn an_executor_that_serves_nothing_has_nothing_to_run() -> sinew::Result<()> {
    let executor = Executor::single();
    assert_eq!(executor.spin_some()?, 0);
    assert_eq!(executor.spin_all(PATIENCE)?, 0);
    assert!(!executor.spin_once(Duration::from_millis(1))?);
    assert_eq!(executor.advance(Duration::from_secs(1)), Err(SpinError::NotVirtual));
    Ok(())
}

// ---- waking ----

// ---- spin_until ----

#[test]
fn spin_until_returns_what_the_future_is_ready_with() -> sinew::Result<()> {
    let room = Room::new();
    let (publisher, _endless) = echo(&room)?;
    publisher.publish(Number(1))?;
    let local = 42;
    assert_eq!(room.executor.spin_until(async { local })?, 42, "it may borrow, and be ready at once");
    Ok(())
}

/// A future that is ready when a value is sent, and the sender, which gets the waker.
fn promise<T>() -> (mpsc::Receiver<Waker>, mpsc::Sender<T>, impl Future<Output = T>) {
    let (waker, wakers) = mpsc::channel();
    let (sender, receiver) = mpsc::channel();
    let future = std::future::poll_fn(move |context| match receiver.try_recv() {
        Ok(value) => Poll::Ready(value),
        Err(_) => {
            let _ = waker.send(context.waker().clone()); // nobody listens any more once it has been woken
            Poll::Pending
        }
    });
    (wakers, sender, future)
}

#[test]
fn spin_until_is_woken_from_a_callback_and_runs_callbacks_until_then() -> sinew::Result<()> {
    let room = Room::new();
    let (wakers, sender, future) = promise();
    let publisher = room.node.publisher::<Number>("numbers").create()?;
    let again = publisher.clone();
    let subscription = room.node.subscription("numbers").callback(move |number: &Number| {
        if number.0 == 5 {
            sender.send("five").unwrap();
            wakers.try_iter().for_each(Waker::wake);
        }
        again.publish(Number(number.0 + 1))
    })?;
    publisher.publish(Number(1))?;
    assert_eq!(room.executor.spin_until(future)?, "five");
    assert_eq!(subscription.statistics().taken, 5, "and not one more");
    Ok(())
}

// ---- stopping ----

#[test]
fn a_stop_ends_the_spin_some_that_runs_and_not_all_that_follow() -> sinew::Result<()> {
    let room = Room::new();
    let stop = room.executor.stop_handle();
    let subscription = room.node.subscription("numbers").callback(move |number: &Number| {
        if number.0 == 1 {
            stop.stop();
        }
    })?;
    let publisher = room.node.publisher("numbers").create()?;
    (1..=3).try_for_each(|number| publisher.publish(Number(number)))?;
    assert_eq!(room.executor.spin_some()?, 1);
    room.executor.spin_some()?;
    assert_eq!(subscription.statistics().taken, 3);
    Ok(())
}

#[test]
fn an_executor_has_the_requested_threads_or_one_for_each_core() {
    assert_eq!(Executor::single().threads(), 1);
    assert_eq!([1, 2, 61, 1000].map(|threads| Executor::multi(threads).threads()), [1, 2, 61, 61]);
    let cores = thread::available_parallelism().map_or(1, usize::from).min(61);
    assert_eq!(Executor::multi(0).threads(), cores);
}
