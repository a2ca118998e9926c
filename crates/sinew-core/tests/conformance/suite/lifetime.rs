//! Guard conditions, and entities that come and go, also in callbacks.
#![expect(clippy::disallowed_types, reason = "slots that a callback empties; nothing here is modelled")]

use super::stage::{Setting, Stage};
use super::support::{Gate, Log, Number, Pen, all_numbers_in, wait_for};
use sinew::GuardCondition;
use sinew::event::Triggered;
use sinew::executor::StopHandle;
use sinew::prelude::*;
use sinew::time::TimerInfo;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread;

pub(crate) fn guard_conditions_count_their_triggers(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    let pen = log.pen();
    let guard = stage.receiver.guard_condition().callback(move |event: &Triggered| pen.write(event.count))?;
    (0..3).for_each(|_| guard.trigger());
    assert_eq!(stage.collect(&log, 1)?, [3]);
    guard.trigger();
    assert_eq!(stage.collect(&log, 1)?, [1]);
    let counted = stage.while_spinning(|| {
        thread::scope(|scope| {
            (0..2).for_each(|_| drop(scope.spawn(|| (0..100).for_each(|_| guard.trigger()))))
        });
        let mut counted = 0;
        while counted < 200 {
            counted += log.next();
        }
        Ok(counted)
    })?;
    assert_eq!(counted, 200);
    Ok(())
}

pub(crate) fn a_guard_condition_may_trigger_itself(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let (log, own) = (Log::new(), Arc::new(OnceLock::<GuardCondition>::new()));
    let (again, pen, mut calls) = (own.clone(), log.pen(), 0);
    let guard = stage.receiver.guard_condition().callback(move || {
        calls += 1;
        pen.write(100 + calls);
        if calls < 3 {
            again.get().expect("it is made").trigger();
        }
    })?;
    let _reader = stage.listen("numbers", QoS::default(), log.pen())?;
    guard.trigger();
    stage.publisher("numbers")?.publish(Number(1))?;
    assert!(own.set(guard).is_ok());
    assert_eq!(stage.collect(&log, 4)?, [101, 1, 102, 103], "behind what waits");
    Ok(())
}

pub(crate) fn a_sleeping_runner_wakes_for_whatever_becomes_ready(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    let report = |what: &'static str| {
        let pen = log.pen();
        move || pen.write(what)
    };
    let publisher = stage.publisher("numbers")?;
    stage.while_spinning(|| {
        let (callback, group) = (report("message"), stage.receiver.group(()));
        let callback = move |_: &Number| callback();
        let subscription = group.subscription("numbers").callback(callback)?;
        stage.find_out();
        publisher.publish(Number(1))?;
        assert_eq!(log.next(), "message");
        let guard = stage.receiver.guard_condition().callback(report("guard"))?;
        guard.trigger();
        assert_eq!(log.next(), "guard");
        let callback = report("timer");
        let timer = stage.receiver.timer(Duration::from_millis(1)).callback(move |timer: &TimerInfo| {
            timer.cancel();
            callback();
        })?;
        assert_eq!(log.next(), "timer");
        timer.reset();
        assert_eq!(log.next(), "timer");
        let events = stage.sender.publisher::<Number>("numbers").on_matched(report("event")).create()?;
        assert_eq!(log.next(), "event");
        drop((subscription, events));
        Ok(())
    })
}

/// A place from which a callback can drop an entity, be it its own.
struct Slot<T>(Arc<Mutex<Option<T>>>);

impl<T> Slot<T> {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(None)))
    }

    fn put(&self, entity: T) {
        *self.0.lock().unwrap() = Some(entity);
    }

    fn take(&self) -> Option<T> {
        self.0.lock().unwrap().take()
    }
}

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// Says so when it is dropped: part of a callback, to see when that goes.
struct Captured(Pen<&'static str>);

impl Drop for Captured {
    fn drop(&mut self) {
        self.0.write("callback dropped");
    }
}

pub(crate) fn entities_may_be_dropped_and_closed_in_their_own_callbacks(
    setting: Setting,
) -> sinew::Result<()> {
    /// What a callback does that ends its own entity.
    fn end_it<T>(slot: &Slot<T>, end: fn(T), log: &Log<&'static str>) -> impl FnMut() + Send + use<T>
    where
        T: Send + 'static,
    {
        let (slot, captured) = (slot.clone(), Captured(log.pen()));
        move || {
            captured.0.write("begins");
            slot.take().into_iter().for_each(end);
            captured.0.write("ends");
        }
    }
    type End = (fn(Subscription<Number>), fn(Timer), fn(GuardCondition));
    let ends: [End; 2] = [(drop, drop, drop), (Subscription::close, Timer::close, GuardCondition::close)];
    for (end_subscription, end_timer, end_guard) in ends {
        let stage = Stage::new(setting)?;
        let (log, once) = (Log::new(), ["begins", "ends", "callback dropped"]);
        let slot = Slot::new();
        let mut end = end_it(&slot, end_subscription, &log);
        slot.put(stage.receiver.subscription("numbers").callback(move |_: &Number| end())?);
        let publisher = stage.publisher("numbers")?;
        publisher.publish(Number(1))?;
        publisher.publish(Number(2))?;
        assert_eq!(stage.collect(&log, 3)?, once);
        assert_eq!(publisher.subscription_count(), 0);

        let slot = Slot::new();
        let end = end_it(&slot, end_timer, &log);
        slot.put(stage.receiver.timer(Duration::from_millis(1)).callback(end)?);
        stage.pass(1);
        assert_eq!(stage.collect(&log, 3)?, once);
        stage.pass(1);
        assert_eq!(stage.collect(&log, 0)?, [""; 0]);

        let slot = Slot::new();
        let guard = stage.receiver.guard_condition().callback(end_it(&slot, end_guard, &log))?;
        guard.trigger();
        slot.put(guard);
        assert_eq!(stage.collect(&log, 3)?, once);
    }
    Ok(())
}

pub(crate) fn what_an_earlier_callback_drops_does_not_run(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let (log, slot) = (Log::new(), Slot::new());
    let (victims, pen) = (slot.clone(), log.pen());
    let killer = stage.receiver.guard_condition().callback(move || {
        drop(victims.take());
        pen.write(());
    })?;
    killer.trigger();
    let guard = stage.receiver.guard_condition().callback(|| panic!("it was dropped"))?;
    guard.trigger();
    let reader = stage.receiver.subscription("numbers").callback(|_: &Number| panic!("it was dropped"))?;
    stage.publisher("numbers")?.publish(Number(1))?;
    let timer = stage.receiver.timer(Duration::from_millis(1)).callback(|| panic!("it was dropped"))?;
    stage.pass(1);
    slot.put((guard, reader, timer));
    assert_eq!(stage.collect(&log, 1)?, [()]);
    Ok(())
}

pub(crate) fn entities_may_be_made_in_callbacks(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let log = Log::new();
    let (context, pen) = (stage.receiving.clone(), log.pen());
    let mut made = Vec::new();
    let _spawner = stage.receiver.subscription("spawn").callback(move |number: &Number| {
        let node = context.node(&format!("node_{}", number.0))?;
        let (reader, timed, number) = (pen.clone(), pen.clone(), number.0);
        let callback = move |message: &Number| reader.write((number, message.0));
        let subscription = node.subscription("numbers").callback(callback)?;
        let timer = node.timer(Duration::from_millis(1)).callback(move |timer: &TimerInfo| {
            timed.write((number, 0));
            timer.cancel();
        })?;
        let publisher = node.publisher("numbers").create()?;
        publisher.publish(Number(10 * number))?;
        made.push((subscription, timer, publisher));
        Ok::<_, sinew::Error>(())
    })?;
    let spawn = stage.publisher("spawn")?;
    spawn.publish(Number(1))?;
    spawn.publish(Number(2))?;
    let mut lines = stage.collect(&log, 3)?;
    stage.pass(1);
    lines.extend(stage.collect(&log, 2)?);
    lines.sort_unstable();
    assert_eq!(lines, [(1, 0), (1, 10), (1, 20), (2, 0), (2, 20)]);
    Ok(())
}

pub(crate) fn entities_come_and_go_while_others_publish(setting: Setting) -> sinew::Result<()> {
    // On a network each is many messages of gateways.
    let rounds = if setting.path.is_network() { 20 } else { 100 };
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    let deep = QoS::default().keep_last(10_000);
    let steady = stage.receiver.subscription::<Number>("numbers").qos(deep).create()?;
    let publish = |number| {
        let publisher = stage.publisher("numbers")?;
        publisher.publish(Number(number))?;
        Ok::<_, sinew::Error>(publisher.publish(Number(number))?)
    };
    let come_and_go = |round| {
        let (pen, group) = (log.pen(), stage.receiver.group(round));
        let callback = move |round: &mut u64, _: sinew::Unique<Number>| pen.write(*round);
        let subscription = group.subscription("numbers").callback(callback)?;
        let timer = stage.receiver.timer(Duration::from_micros(10)).callback(|| {})?;
        let guard = stage.receiver.guard_condition().callback(|| {})?;
        guard.trigger();
        if round % 2 == 0 {
            subscription.close();
            timer.close();
        }
        Ok(())
    };
    stage.while_spinning(|| {
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..rounds).try_for_each(publish).unwrap());
            }
            (0..rounds).try_for_each(come_and_go)
        })
    })?;
    // A thread that was notified of the end of the last publisher may be bringing in what that one
    // published.
    assert_eq!(all_numbers_in(&steady, 4 * rounds).len() as u64, 4 * rounds, "who stayed got everything");
    if setting.threads() == 1 {
        let rounds = log.lines();
        assert!(rounds.is_sorted(), "no callback of a closed one ran behind a later one: {rounds:?}");
    }
    Ok(())
}

/// Waits until the thread with this `stat` sleeps, which is more than to be held up by others.
fn until_asleep(stat: &Path) {
    let mut times = 0;
    wait_for("the thread sleeps", || {
        let stat = std::fs::read_to_string(stat).unwrap_or_default(); // empty once it has ended
        let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
        times = if matches!(state, Some('S') | None) { times + 1 } else { 0 };
        (times == 100).then_some(())
    });
}

/// An entity whose callback waits at a gate, on a runner that spins in another thread.
struct Busy {
    log: Log<&'static str>,
    leave: Gate,
    stop: StopHandle,
    thread: thread::JoinHandle<()>,
}

impl Busy {
    /// `make` makes something ready whose callback calls what it is given.
    fn start<T>(
        setting: Setting,
        make: impl FnOnce(&Stage, Box<dyn Fn() + Send>) -> sinew::Result<T>,
    ) -> sinew::Result<(Self, T)> {
        let stage = Stage::in_real_time(setting)?;
        let (log, leave) = (Log::new(), Gate::new());
        let (pen, waiter) = (log.pen(), leave.clone());
        let work = Box::new(move || {
            pen.write("begins");
            waiter.wait();
            pen.write("ends");
        });
        let entity = make(&stage, work)?;
        let stop = stage.runner.stop_handle();
        let thread = thread::spawn(move || {
            let stage = stage; // with its contexts: a wait set has something to wait for
            stage.runner.spin().unwrap();
        });
        assert_eq!(log.next(), "begins");
        Ok((Self { log, leave, stop, thread }, entity))
    }

    /// Closes the entity on a thread of its own, opens the gate, and checks the order.
    fn check_close<T: Send + 'static>((this, entity): (Self, T), close: fn(T)) {
        let pen = this.log.pen();
        let (tell, told) = mpsc::channel();
        let closing = thread::spawn(move || {
            tell.send(std::fs::read_link("/proc/thread-self").unwrap()).unwrap();
            pen.write("closing");
            close(entity);
            pen.write("closed");
        });
        let task = told.recv().unwrap();
        assert_eq!(this.log.next(), "closing");
        until_asleep(&Path::new("/proc").join(task).join("stat"));
        // Time enough to be wrong in: a thread that waits for the gate waits, however long this is.
        assert_eq!(this.log.next_within(Duration::from_millis(5)), None, "it didn't wait");
        this.leave.open();
        assert_eq!([this.log.next(), this.log.next()], ["ends", "closed"]);
        closing.join().unwrap();
        this.end();
    }

    /// Drops the entity while its callback waits for the gate.
    fn check_drop<T>((this, entity): (Self, T)) {
        drop(entity);
        this.leave.open();
        assert_eq!(this.log.next(), "ends");
        this.end();
    }

    fn end(self) {
        self.stop.stop();
        self.thread.join().unwrap();
        assert_eq!(self.log.lines(), [""; 0], "nothing has run since");
    }
}

/// A subscription with three messages, for the first of which its callback runs.
fn busy_subscription(setting: Setting) -> sinew::Result<(Busy, Subscription<Number>)> {
    Busy::start(setting, |stage, work| {
        let subscription = stage.receiver.subscription("numbers").callback(move |_: &Number| work())?;
        let publisher = stage.publisher("numbers")?;
        (1..=3).try_for_each(|number| publisher.publish(Number(number)))?;
        Ok(subscription)
    })
}

fn busy_guard(setting: Setting) -> sinew::Result<(Busy, GuardCondition)> {
    Busy::start(setting, |stage, work| {
        let guard = stage.receiver.guard_condition().callback(work)?;
        guard.trigger();
        Ok(guard)
    })
}

fn busy_timer(setting: Setting) -> sinew::Result<(Busy, Timer)> {
    Busy::start(setting, |stage, work| {
        let timer = stage.receiver.timer(Duration::from_micros(100));
        Ok(timer.callback(move |timer: &TimerInfo| {
            timer.cancel();
            work();
        })?)
    })
}

/// A subscription one of whose event handlers runs.
fn busy_handler(setting: Setting) -> sinew::Result<(Busy, Subscription<Number>)> {
    Busy::start(setting, |stage, work| {
        let subscription = stage.receiver.subscription("numbers").on_matched(work).create()?;
        drop(stage.publisher("numbers")?);
        Ok(subscription)
    })
}

pub(crate) fn close_waits_for_a_callback_that_runs(setting: Setting) -> sinew::Result<()> {
    Busy::check_close(busy_subscription(setting)?, Subscription::close);
    Busy::check_close(busy_guard(setting)?, GuardCondition::close);
    Busy::check_close(busy_timer(setting)?, Timer::close);
    Busy::check_close(busy_handler(setting)?, Subscription::close);
    Ok(())
}

pub(crate) fn drop_does_not_wait_but_nothing_starts_after_it(setting: Setting) -> sinew::Result<()> {
    Busy::check_drop(busy_subscription(setting)?);
    Busy::check_drop(busy_guard(setting)?);
    Busy::check_drop(busy_timer(setting)?);
    Busy::check_drop(busy_handler(setting)?);
    Ok(())
}

pub(crate) fn close_of_something_idle_returns_at_once(setting: Setting) -> sinew::Result<()> {
    let (busy, (_guard, idle)) = Busy::start(setting, |stage, work| {
        let node = &stage.receiver; // whose group the busy one is in, too
        let guard = node.guard_condition().callback(work)?;
        guard.trigger();
        let timer = node.timer(Duration::from_secs(1)).callback(|| {})?;
        let called = node.subscription("numbers").callback(|_: &Number| {})?;
        let taken = node.subscription::<Number>("numbers").create()?;
        Ok((guard, (node.guard_condition().callback(|| {})?, timer, called, taken)))
    })?;
    let (guard, timer, called, taken) = idle;
    guard.close();
    timer.close();
    called.close();
    taken.close();
    busy.leave.open();
    assert_eq!(busy.log.next(), "ends");
    busy.end();
    Ok(())
}

pub(crate) fn nothing_is_left_behind(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let (log, held) = (Log::new(), Arc::new(()));
    {
        let node = stage.receiving.node("node")?;
        let reentrant = node.reentrant_group();
        let (captured, pen) = (held.clone(), log.pen());
        let guard = reentrant.guard_condition().callback(move || {
            drop(captured.clone());
            pen.write(());
        })?;
        guard.trigger();
        assert_eq!(stage.collect(&log, 1)?, [()]);
        let captured = held.clone();
        let _timer = node.timer(Duration::from_secs(1)).callback(move || drop(captured.clone()))?;
        let captured = held.clone();
        let _reader = node.subscription("numbers").callback(move |_: &Number| drop(captured.clone()))?;
        assert_eq!(Arc::strong_count(&held), 4);
    }
    assert_eq!(Arc::strong_count(&held), 1);
    Ok(())
}
