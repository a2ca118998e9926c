//! Which callback an executor runs next, and when it returns. (The design's section 7.)

mod support;

use proptest::prelude::*;
use sinew::prelude::*;
use sinew::{GuardCondition, Publisher, SpinError, TimerInfo};
use std::sync::{Arc, OnceLock, mpsc};
use std::task::{Poll, Waker};
use std::thread;
use support::{Gate, Log, Number, PATIENCE, Pen, Room, finishes, numbers_in, real_context};

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
/// Nanoseconds. Prime to each other, so that they are rarely due at the same time (their order would be anybody's).
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
                nodes[topic % 2]
                    .subscription(&name)
                    .qos(deep)
                    .in_group(group)
                    .callback(move |number: &Number| pen.write(Ran::Message { topic, number: number.0 }))?,
            );
            stage.publishers.push(stage.room.node.publisher(&name).create()?);
        }
        for guard in 0..GUARDS {
            let pen = stage.log.pen();
            let node = &nodes[guard % 2];
            let callback = move || pen.write(Ran::Guard(guard));
            stage.guards.push(node.guard_condition().in_group(&groups[guard]).callback(callback)?);
        }
        Ok(stage)
    }

    fn with_timers(mut self) -> sinew::Result<Self> {
        for period in PERIODS {
            let pen = self.log.pen();
            let timer = self.room.node.timer(Duration::from_nanos(period));
            self._timers.push(timer.callback(move |info: &TimerInfo| {
                let due = u64::try_from(info.due.nanoseconds()).expect("time began at 0");
                pen.write(Ran::Timer { due, skipped: info.skipped });
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

/// What has to run after these acts, in this order; `due` is when each timer is due next, and is moved on.
fn expected(acts: &[(u64, Act)], now: &mut u64, due: &mut [u64]) -> Vec<Ran> {
    let mut ran = Vec::new();
    for &(number, act) in acts {
        match act {
            Act::Publish(topic) => ran.push(Ran::Message { topic, number }),
            Act::Trigger(guard) if !ran.contains(&Ran::Guard(guard)) => ran.push(Ran::Guard(guard)),
            Act::Trigger(_) => {}
            Act::Pass(nanoseconds) => {
                *now += nanoseconds;
                // Due after all that was published before time passed, before all that comes at its new state.
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
fn real_time_keeps_the_order_of_publication_too() -> sinew::Result<()> {
    let context = real_context();
    let executor = Executor::single();
    executor.add(&context)?;
    let log = Log::new();
    let mut publishers = Vec::new();
    let mut readers = Vec::new();
    for (n, topic) in ["a", "b", "c", "d", "e", "f", "g"].into_iter().enumerate() {
        let node = context.node(&format!("node_{n}"))?;
        readers.push(listen(&node, topic, 1000, log.pen())?);
        publishers.push((topic, node.publisher::<Number>(topic).create()?));
    }
    let mut expected = Vec::new();
    for number in 0..1000 {
        let (topic, publisher) = &publishers[number * number % 31 % publishers.len()];
        publisher.publish(Number(number as u64))?;
        expected.push((*topic, number as u64));
    }
    assert_eq!(executor.spin_all(PATIENCE)?, 1000);
    assert_eq!(log.lines(), expected);
    Ok(())
}

#[test]
fn what_a_callback_publishes_comes_behind_what_waits_already() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let (b, c) = (room.node.publisher::<Number>("b").create()?, room.node.publisher::<Number>("c").create()?);
    let pen = log.pen();
    let _a = room.node.subscription("a").callback(move |number: &Number| {
        pen.write(("a", number.0));
        c.publish(Number(number.0))?;
        b.publish(Number(number.0))
    })?;
    let _b = listen(&room.node, "b", 10, log.pen())?;
    let _c = listen(&room.node, "c", 10, log.pen())?;
    let a = room.node.publisher("a").create()?;
    a.publish(Number(1))?;
    a.publish(Number(2))?;
    room.run();
    assert_eq!(log.lines(), [("a", 1), ("a", 2), ("c", 1), ("b", 1), ("c", 2), ("b", 2)]);
    Ok(())
}

#[test]
fn a_message_for_a_higher_priority_overtakes_what_waits() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let urgent = room.node.group(()).priority(10);
    let pen = log.pen();
    let _urgent = room
        .node
        .subscription("urgent")
        .in_group(&urgent)
        .callback(move |number: &Number| pen.write(("urgent", number.0)))?;
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
fn a_priority_may_be_changed_while_messages_wait() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let group = room.node.group(());
    let pen = log.pen();
    let _late = room
        .node
        .subscription("late")
        .in_group(&group)
        .callback(move |number: &Number| pen.write(("late", number.0)))?;
    let _early = listen(&room.node, "early", 10, log.pen())?;
    let (late, early) = (room.node.publisher("late").create()?, room.node.publisher("early").create()?);
    for priority in [0, 1, -1] {
        early.publish(Number(1))?;
        late.publish(Number(2))?;
        let _ = group.clone().priority(priority);
        room.run();
        let expected = if priority > 0 { [("late", 2), ("early", 1)] } else { [("early", 1), ("late", 2)] };
        assert_eq!(log.lines(), expected, "priority {priority}");
    }
    Ok(())
}

#[test]
fn a_fast_topic_of_depth_1_keeps_its_place_in_the_queue() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let _fast = listen(&room.node, "fast", 1, log.pen())?;
    let _slow = listen(&room.node, "slow", 10, log.pen())?;
    let (fast, slow) = (room.node.publisher("fast").create()?, room.node.publisher("slow").create()?);
    fast.publish(Number(1))?;
    slow.publish(Number(2))?;
    (3..=9).try_for_each(|number| fast.publish(Number(number)))?; // each would be the youngest of all
    room.run();
    assert_eq!(log.lines(), [("fast", 9), ("slow", 2)]);
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

#[test]
fn a_callback_that_feeds_itself_leaves_the_others_their_turn() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let echo = room.node.publisher::<Number>("echo").create()?;
    let again = echo.clone();
    let pen = log.pen();
    let _echo = room.node.subscription("echo").callback(move |number: &Number| {
        pen.write(("echo", number.0));
        if number.0 < 4 { again.publish(Number(number.0 + 1)) } else { Ok(()) }
    })?;
    let _other = listen(&room.node, "other", 10, log.pen())?;
    let other = room.node.publisher("other").create()?;
    echo.publish(Number(1))?;
    other.publish(Number(1))?;
    other.publish(Number(2))?;
    room.run();
    assert_eq!(log.lines(), [("echo", 1), ("other", 1), ("other", 2), ("echo", 2), ("echo", 3), ("echo", 4)]);
    Ok(())
}

#[test]
fn a_guard_condition_that_is_triggered_in_its_own_callback_runs_again_behind_what_waits() -> sinew::Result<()>
{
    let room = Room::new();
    let log = Log::new();
    let own = Arc::new(OnceLock::<GuardCondition>::new());
    let (again, pen, mut calls) = (own.clone(), log.pen(), 0);
    let guard = room.node.guard_condition().callback(move || {
        calls += 1;
        pen.write(("guard", calls));
        if calls < 3 {
            again.get().expect("it is made").trigger();
        }
    })?;
    let _reader = listen(&room.node, "numbers", 10, log.pen())?;
    guard.trigger();
    room.node.publisher("numbers").create()?.publish(Number(1))?;
    let _ = own.set(guard);
    assert_eq!(room.run(), 4);
    assert_eq!(log.lines(), [("guard", 1), ("numbers", 1), ("guard", 2), ("guard", 3)]);
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
    let guard = room.node.guard_condition().in_group(&urgent).callback(move || pen.write(0))?;
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
    room.clock.set(sinew::Time::from_nanoseconds(0));
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

#[test]
fn a_sleeping_executor_wakes_for_whatever_becomes_ready() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let executor = Executor::single();
    executor.add(&context)?;
    let stop = executor.stop_handle();
    let log = Log::new();
    let publisher = node.publisher("numbers").create()?;
    let spinning = thread::spawn(move || executor.spin());

    let pen = log.pen();
    let subscription = node.subscription("numbers").callback(move |_: &Number| pen.write("message"))?;
    publisher.publish(Number(1))?;
    assert_eq!(log.next(), "message");

    let pen = log.pen();
    let guard = node.guard_condition().callback(move || pen.write("guard"))?;
    guard.trigger();
    assert_eq!(log.next(), "guard");

    let pen = log.pen();
    let timer = node.timer(Duration::from_millis(1)).callback(move |timer: &TimerInfo| {
        timer.cancel();
        pen.write("timer");
    })?;
    assert_eq!(log.next(), "timer");
    timer.reset();
    assert_eq!(log.next(), "timer");

    let pen = log.pen();
    let _event = node.publisher::<Number>("numbers").on_matched(move || pen.write("event")).create()?;
    assert_eq!(log.next(), "event");

    let late = context.node("late")?;
    let pen = log.pen();
    let _later = late.timer(Duration::from_millis(1)).callback(move |timer: &TimerInfo| {
        timer.cancel();
        pen.write("later");
    })?;
    assert_eq!(log.next(), "later");
    drop(subscription);
    stop.stop();
    finishes(move || spinning.join().unwrap())?;
    Ok(())
}

#[test]
fn two_executors_on_two_threads_wake_each_other_and_lose_nothing() -> sinew::Result<()> {
    const ROUNDS: u64 = 2000;
    let context = real_context();
    let side = |name: &str, from: &str, to: &str| -> sinew::Result<_> {
        let node = context.node(name)?;
        let executor = Executor::single();
        executor.add(&node)?;
        let publisher = node.publisher::<Number>(to).create()?;
        let stop = executor.stop_handle();
        let subscription = node.subscription(from).callback(move |number: &Number| {
            if number.0 >= ROUNDS {
                stop.stop();
            }
            publisher.publish(Number(number.0 + 1))
        })?;
        Ok((executor, subscription))
    };
    let (ping, pong) = (side("ping", "left", "right")?, side("pong", "right", "left")?);
    context.node("start")?.publisher("left").create()?.publish(Number(1))?;
    finishes(move || {
        thread::scope(|scope| {
            scope.spawn(|| ping.0.spin().unwrap());
            pong.0.spin().unwrap();
        });
        let taken = ping.1.statistics().taken + pong.1.statistics().taken;
        assert_eq!(taken, ROUNDS + 1);
    });
    Ok(())
}

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

/// A future that is ready when somebody sends, and the sender, which gets the waker.
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
fn spin_until_is_woken_from_another_thread() -> sinew::Result<()> {
    let context = real_context();
    let executor = Executor::single();
    executor.add(&context)?;
    for _ in 0..50 {
        let (wakers, sender, future) = promise();
        let waking = thread::spawn(move || {
            let waker = wakers.recv().unwrap();
            sender.send("done").unwrap();
            waker.wake();
        });
        assert_eq!(executor.spin_until(future)?, "done");
        waking.join().unwrap();
    }
    Ok(())
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

#[test]
fn spin_until_says_so_if_it_was_stopped_before() -> sinew::Result<()> {
    let room = Room::new();
    room.executor.stop_handle().stop();
    assert_eq!(room.executor.spin_until(std::future::pending::<()>()), Err(SpinError::Stopped));
    let context = room.context.clone();
    let guard = room.node.guard_condition().callback(move || context.shutdown())?;
    guard.trigger();
    assert_eq!(room.executor.spin_until(std::future::pending::<()>()), Err(SpinError::Stopped));
    Ok(())
}

// ---- stopping ----

#[test]
fn a_spin_is_stopped_from_another_thread() -> sinew::Result<()> {
    for _ in 0..50 {
        let context = real_context();
        let executor = Executor::single();
        executor.add(&context)?;
        let stop = executor.stop_handle();
        let gate = Gate::new();
        let opener = gate.clone();
        let spinning = thread::spawn(move || {
            opener.open();
            executor.spin()
        });
        gate.wait();
        stop.stop(); // before it spins, before it sleeps, or while it sleeps
        finishes(move || spinning.join().unwrap())?;
    }
    Ok(())
}

#[test]
fn a_stop_that_comes_before_the_spin_is_not_lost_and_counts_once() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let pen = log.pen();
    let stop = room.executor.stop_handle();
    let guard = room.node.guard_condition().callback(move || {
        pen.write("ran");
        stop.stop();
    })?;
    guard.trigger();
    room.executor.stop_handle().stop();
    room.executor.spin()?;
    assert_eq!(log.lines().len(), 0, "it was stopped before");
    room.executor.spin()?; // runs the guard condition, which stops it
    assert_eq!(log.lines().len(), 1);
    Ok(())
}

#[test]
fn a_stop_from_a_callback_lets_that_one_finish_and_no_other_start() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let stop = room.executor.stop_handle();
    let pen = log.pen();
    let _subscription = room.node.subscription("numbers").callback(move |number: &Number| {
        if number.0 == 2 {
            stop.stop();
        }
        pen.write(number.0);
    })?;
    let publisher = room.node.publisher("numbers").create()?;
    (1..=4).try_for_each(|number| publisher.publish(Number(number)))?;
    room.executor.spin()?;
    assert_eq!(log.lines(), [1, 2]);
    room.run();
    assert_eq!(log.lines(), [3, 4], "what waits keeps waiting");
    Ok(())
}

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
