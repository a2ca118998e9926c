//! Publishing and taking, once warm, allocate nothing.

mod support;

use sinew::erased::{MessageType, TypeTable};
use sinew::msg::BufferType;
use sinew::prelude::*;
use sinew::qos::Liveliness;
use sinew::time::VirtualClock;
use sinew::{Executor, Publisher, Unique};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use support::tasks::Task;
use support::{Number, Room, real_context, virtual_context};

/// The system's allocator, which counts what each thread allocates.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that ends has no counter any more, and nobody who asks.
    let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
}

// SAFETY: every call is passed on to the system's allocator as it is; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: passed on from the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: passed on from the caller; what is freed came from the same allocator.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: passed on from the caller; what grows came from the same allocator.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// How often this thread allocates in `rounds` of `work`, after as many to get warm: the least of
/// three times. What a thread does once in its life may come late on a busy machine, and only once:
/// notes for a prefetch after the first long absence, the place in which it waits for a lock.
fn allocations(rounds: u64, mut work: impl FnMut() -> sinew::Result<()>) -> u64 {
    let mut rounds = || {
        let before = ALLOCATIONS.get();
        (0..rounds).try_for_each(|_| work()).expect("nothing fails");
        ALLOCATIONS.get() - before
    };
    rounds();
    (0..3).map(|_| rounds()).min().expect("three times")
}

const BY_REFERENCE: &Number = &Number(2);

/// Publishes in every way that allocates nothing itself.
fn publish(publisher: &Publisher<Number>) -> sinew::Result<()> {
    publisher.publish(Number(1))?;
    publisher.publish(BY_REFERENCE)?;
    publisher.publish(publisher.loan())?;
    publisher.publish(publisher.loan().into_shared())?;
    Ok(())
}

#[test]
fn publishing_to_nobody_allocates_nothing() -> sinew::Result<()> {
    let room = Room::new();
    let publisher = room.node.publisher::<Number>("numbers").create()?;
    assert_eq!(allocations(20, || publish(&publisher)), 0);
    Ok(())
}

#[test]
fn publishing_and_taking_by_hand_allocates_nothing_whatever_the_buffers() -> sinew::Result<()> {
    let buffers = [BufferType::Shared, BufferType::Unique, BufferType::Value];
    for (first, second) in buffers.iter().flat_map(|first| buffers.iter().map(move |second| (first, second)))
    {
        for qos in [
            QoS::default(),
            QoS::default().best_effort().keep_last(2),
            QoS::default().transient_local(),
            QoS::default().keep_all().best_effort(),
            QoS::default().lifespan(Duration::from_secs(1)),
        ] {
            let room = Room::new();
            let reader = |buffer: BufferType| {
                room.node.subscription::<Number>("numbers").qos(qos).buffer(buffer).filter(|_| true).create()
            };
            let (one, two) = (reader(*first)?, reader(*second)?);
            let publisher = room.node.publisher::<Number>("numbers").qos(qos).create()?;
            let count = allocations(20, || {
                publish(&publisher)?;
                while one.take().is_some() {}
                while two.take_unique().is_some() {}
                Ok(())
            });
            assert_eq!(count, 0, "{first:?} and {second:?} with {qos:?}");
        }
    }
    Ok(())
}

/// A value of another language, in memory that it never frees.
static FOREIGN: AtomicU64 = AtomicU64::new(7);

#[test]
fn messages_of_any_type_allocate_nothing() -> sinew::Result<()> {
    unsafe fn clone(_: *const (), from: *const u8, place: *mut u8) {
        // SAFETY: a value, and a place for one.
        unsafe { from.copy_to_nonoverlapping(place, size_of::<u64>()) };
    }
    unsafe fn free(_: *const (), memory: *mut u8) {
        assert_eq!(memory.cast_const(), FOREIGN.as_ptr().cast_const().cast());
    }
    let mut table = TypeTable::new("counter", Layout::new::<u64>());
    table.clone = Some(clone);
    table.free = Some(free);
    // SAFETY: the functions do as they should.
    let counter = unsafe { MessageType::register(None, table) }.expect("a valid table");
    let room = Room::new();
    let owner = room.node.erased_subscription("counters", counter).owned().create_erased()?;
    let publisher = room.node.erased_publisher("counters", counter).create_erased()?;
    let called = room.node.erased_subscription("called", counter).callback_erased(|(): &mut (), _| {})?;
    let caller = room.node.erased_publisher("called", counter).create_erased()?;
    let foreign = NonNull::new(FOREIGN.as_ptr()).expect("a place").cast();
    let count = allocations(20, || {
        // SAFETY: nobody else owns it: it came back the last time.
        let adopted = unsafe { publisher.adopt(foreign) }.expect("it can be freed");
        publisher.publish(adopted).expect("nothing fails");
        let taken = owner.take().expect("it was published").0;
        assert_eq!(taken.into_adopted().ok(), Some(foreign));
        let place = caller.uninit();
        // SAFETY: a place for a value.
        unsafe { place.place().cast::<u64>().write(8) };
        // SAFETY: it is written.
        let message = unsafe { place.assume_init() };
        caller.publish(message.clone()).expect("nothing fails");
        drop(message);
        room.run();
        Ok(())
    });
    assert_eq!(count, 0);
    assert_eq!(called.statistics().taken, caller.statistics().published);
    Ok(())
}

#[test]
fn waking_tasks_and_notifying_listeners_allocates_nothing() -> sinew::Result<()> {
    let room = Room::new();
    let reader = || room.node.subscription::<Number>("numbers").create();
    let (awaited, listened, both) = (reader()?, reader()?, reader()?);
    listened.set_listener(|_| {});
    both.set_listener(|_| {});
    let publisher = room.node.publisher::<Number>("numbers").create()?;
    let alone = room.node.subscription::<Number>("alone").create()?;
    let to_one = room.node.publisher::<Number>("alone").create()?;
    let task = Task::new();
    let count = allocations(20, || {
        let (mut one, mut other, mut third) = (awaited.recv(), both.recv(), alone.recv());
        assert!(task.poll(&mut one).is_pending());
        assert!(task.poll(&mut other).is_pending());
        assert!(task.poll(&mut third).is_pending());
        to_one.publish(to_one.loan())?;
        publisher.publish(Number(1))?;
        publisher.publish(publisher.loan())?;
        assert_eq!(task.rings(), 3);
        assert!(task.poll(&mut one).is_ready());
        assert!(task.poll(&mut third).is_ready());
        drop(other);
        for reader in [&awaited, &listened, &both] {
            while reader.take().is_some() {}
        }
        Ok(())
    });
    assert_eq!(count, 0);
    Ok(())
}

#[test]
fn publishing_to_callbacks_and_running_them_allocates_nothing() -> sinew::Result<()> {
    for context in [virtual_context(&VirtualClock::new()), real_context()] {
        let node = context.node("node")?;
        let executor = Executor::single();
        executor.add(&context)?;
        let relayed = node.publisher::<Number>("relayed").create()?;
        let sum = node.group(0_u64);
        let numbers = || node.subscription::<Number>("numbers");
        let _readers = [
            numbers().callback(|_: &Number| {})?,
            numbers()
                .callback(|_: Shared<Number>, info: &MessageInfo| assert!(info.publication_sequence() > 0))?,
            numbers().callback(|_: Number| {})?,
            numbers().callback(move |number: Unique<Number>| relayed.publish(number))?,
            numbers().buffer(BufferType::Shared).callback(|_: Unique<Number>| {})?,
            sum.subscription::<Number>("numbers")
                .callback(|sum: &mut u64, number: &Number| *sum += number.0)?,
            node.subscription::<Number>("relayed").callback(|_: &Number| {})?,
        ];
        let publisher = node.publisher::<Number>("numbers").create()?;
        let count = allocations(20, || {
            publish(&publisher)?;
            executor.spin_all(support::PATIENCE)?;
            publish(&publisher)?;
            executor.spin_some()?;
            executor.spin_all(support::PATIENCE)?;
            Ok(())
        });
        assert_eq!(count, 0);
    }
    Ok(())
}

#[test]
fn watching_deadlines_and_leases_allocates_nothing_kept_or_not() -> sinew::Result<()> {
    for limit in [Duration::from_secs(3600), Duration::from_nanos(1)] {
        let context = real_context();
        let node = context.node("node")?;
        let executor = Executor::single();
        executor.add(&context)?;
        let qos = QoS::default().deadline(limit).liveliness(Liveliness::ManualByTopic).lease(limit);
        let reader = || {
            let numbers = node.subscription::<Number>("numbers").qos(qos);
            numbers.on_deadline_missed(|| {}).on_liveliness_changed(|| {}).callback(|_: &Number| {})
        };
        let _readers = (reader()?, reader()?);
        let publisher = || {
            let numbers = node.publisher::<Number>("numbers").qos(qos);
            numbers.on_deadline_missed(|| {}).on_liveliness_lost(|| {}).create()
        };
        let (one, two) = (publisher()?, publisher()?);
        let count = allocations(20, || {
            publish(&one)?;
            two.assert_liveliness();
            (0..4).try_for_each(|_| executor.spin_some().map(drop))?;
            Ok(())
        });
        assert_eq!(count, 0, "{limit:?}");
    }
    Ok(())
}

#[test]
fn overwriting_and_refusing_allocate_nothing() -> sinew::Result<()> {
    let room = Room::new();
    let subscribe = |qos| room.node.subscription::<Number>("numbers").qos(qos).create();
    let _overwriting = subscribe(QoS::default().keep_last(2))?;
    let _refusing = subscribe(QoS::default().keep_all().max_samples(1))?;
    let publisher = room.node.publisher::<Number>("numbers").create()?;
    assert_eq!(allocations(20, || publish(&publisher)), 0);
    Ok(())
}

#[test]
fn reserving_places_allocates_nothing() -> sinew::Result<()> {
    let room = Room::new();
    let qos = QoS::default().keep_all().max_blocking_time(Duration::ZERO);
    let readers: Vec<_> = (0..3)
        .map(|_| room.node.subscription::<Number>("numbers").qos(qos).create())
        .collect::<Result<_, _>>()?;
    let publisher = room.node.publisher::<Number>("numbers").qos(qos).create()?;
    let count = allocations(20, || {
        publish(&publisher)?;
        readers.iter().for_each(|reader| while reader.take().is_some() {});
        Ok(())
    });
    assert_eq!(count, 0);
    Ok(())
}

#[test]
fn a_publish_that_finds_no_place_allocates_nothing() -> sinew::Result<()> {
    let room = Room::new();
    let qos = QoS::default().keep_all().max_samples(1).max_blocking_time(Duration::ZERO);
    let _full = room.node.subscription::<Number>("numbers").qos(qos).create()?;
    let publisher = room.node.publisher::<Number>("numbers").qos(qos).create()?;
    publisher.publish(Number(1))?;
    let count = allocations(20, || {
        assert!(publisher.publish(Number(2)).is_err());
        Ok(())
    });
    assert_eq!(count, 0);
    Ok(())
}

#[test]
fn timers_and_guard_conditions_allocate_nothing_when_they_run() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let executor = Executor::single();
    executor.add(&context)?;
    let _timer = node.timer(Duration::from_micros(10)).callback(|| {})?;
    let guard = node.guard_condition().callback(|| {})?;
    let count = allocations(20, || {
        guard.trigger();
        executor.spin_once(support::PATIENCE)?;
        executor.spin_once(support::PATIENCE)?;
        Ok(())
    });
    assert_eq!(count, 0);
    Ok(())
}

#[test]
fn a_message_that_is_published_here_and_dropped_there_allocates_nothing_on_either_side() -> sinew::Result<()>
{
    let context = real_context();
    let node = context.node("node")?;
    let there = node.subscription::<Number>("there").create()?;
    let here = node.publisher::<Number>("there").create()?;
    let back = node.subscription::<Number>("back").create()?;
    let again = node.publisher::<Number>("back").create()?;
    thread::scope(|scope| {
        scope.spawn(move || {
            let count = allocations(100, || {
                let message = loop {
                    match there.take() {
                        Some((message, _)) => break message,
                        None => thread::yield_now(),
                    }
                };
                again.publish(message)?;
                Ok(())
            });
            assert_eq!(count, 0);
        });
        let count = allocations(100, || {
            here.publish(here.loan())?;
            while back.take().is_none() {
                thread::yield_now();
            }
            Ok(())
        });
        assert_eq!(count, 0);
    });
    Ok(())
}

#[test]
fn waiting_for_what_is_ready_allocates_nothing() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let mut set = sinew::executor::WaitSet::new();
    set.add(&context)?;
    let taken = node.subscription::<Number>("numbers").create()?;
    set.add_subscription(&taken)?;
    let _called = node.subscription::<Number>("numbers").callback(|_: &Number| {})?;
    let _timer = node.timer(Duration::from_micros(10)).callback(|| {})?;
    let publisher = node.publisher::<Number>("numbers").create()?;
    let count = allocations(20, || {
        publish(&publisher)?;
        while let Some(ready) = set.wait(Duration::from_micros(50))?.next() {
            if !ready.run()? {
                while taken.take().is_some() {}
                break;
            }
        }
        Ok(())
    });
    assert_eq!(count, 0);
    Ok(())
}

/// A box that is published is adopted: only the user's own allocation is made.
#[test]
fn publishing_a_box_allocates_the_box_alone() -> sinew::Result<()> {
    let room = Room::new();
    let publisher = room.node.publisher::<Number>("numbers").create()?;
    let _reader = room.node.subscription::<Number>("numbers").callback(|_: Box<Number>| {})?;
    let count = allocations(20, || {
        publisher.publish(Box::new(Number(1)))?;
        assert_eq!(room.run(), 1);
        Ok(())
    });
    assert_eq!(count, 20);
    Ok(())
}

/// Also if each goes to another thread: its control block comes back by way of the process.
#[test]
fn boxes_that_go_to_another_thread_allocate_only_themselves() -> sinew::Result<()> {
    let room = Room::new();
    let publisher = room.node.publisher::<Number>("numbers").create()?;
    let reader = room.node.subscription::<Number>("numbers").create()?;
    let (go, rounds) = mpsc::channel::<()>();
    let (done, taken) = mpsc::channel::<()>();
    let thread = thread::spawn(move || {
        for () in rounds {
            while let Some((number, _)) = reader.take() {
                assert_eq!(number.0, 1);
            }
            done.send(()).expect("the test waits");
        }
    });
    let count = allocations(100, || {
        for _ in 0..5 {
            publisher.publish(Box::new(Number(1)))?;
        }
        go.send(()).expect("the thread waits");
        taken.recv().expect("the thread answers");
        Ok(())
    });
    // The channel allocates, too: a block for many messages.
    assert!((500..550).contains(&count), "{count} for 500 boxes");
    drop(go);
    thread.join().expect("it takes boxes only");
    Ok(())
}

/// What a loan has reserved comes back with it, through a chain of callbacks that pass it on.
#[test]
fn a_loan_that_is_relayed_brings_back_what_it_has_reserved() -> sinew::Result<()> {
    #[derive(Default, Clone)]
    struct Text(String);
    impl Message for Text {}

    const HOPS: usize = 5;
    let room = Room::new();
    let topic = |hop: usize| format!("hop_{hop}");
    let mut relays = Vec::new();
    for hop in 0..HOPS {
        let onward = room.node.publisher::<Text>(&topic(hop + 1)).create()?;
        let relay = move |mut text: Unique<Text>| {
            text.0.push('.');
            onward.publish(text)
        };
        relays.push(room.node.subscription::<Text>(&topic(hop)).callback(relay)?);
    }
    let first = room.node.publisher::<Text>(&topic(0)).create()?;
    let last = room.node.subscription::<Text>(&topic(HOPS)).create()?;
    let count = allocations(100, || {
        let mut text = first.loan();
        text.0.clear();
        text.0.extend(std::iter::repeat_n('x', 1000));
        first.publish(text)?;
        assert_eq!(room.run(), HOPS as u64);
        assert_eq!(last.take_unique().map(|(text, _)| text.0.len()), Some(1000 + HOPS));
        Ok(())
    });
    assert_eq!(count, 0);
    Ok(())
}

#[test]
fn messages_that_expire_allocate_nothing() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let qos = QoS::default().keep_last(4).lifespan(Duration::from_nanos(1));
    let publisher = node.publisher::<Number>("numbers").qos(qos).create()?;
    let reader = node.subscription::<Number>("numbers").create()?;
    let count = allocations(20, || {
        publish(&publisher)?;
        assert!(reader.take().is_none());
        Ok(())
    });
    assert_eq!(count, 0);
    Ok(())
}

/// Calls of every kind whose callbacks capture nothing, with servers of every kind.
#[test]
fn calls_and_answers_allocate_nothing() -> sinew::Result<()> {
    use sinew::Responder;
    use sinew::service::CallResult;
    use support::Numbers;

    for context in [virtual_context(&VirtualClock::new()), real_context()] {
        let node = context.node("node")?;
        let executor = Executor::single();
        executor.add(&context)?;
        let client = |name: &str| node.client::<Numbers>(name).create();
        let inner = client("inner")?;
        let (later, also_later) = (inner.clone(), inner.clone());
        let group = node.group(());
        let _servers = [
            group.server("inner").callback(|n: Unique<Number>| n)?,
            node.server("blocking").callback(move |n: Unique<Number>| inner.call(n, support::PATIENCE))?,
            node.server("async").async_callback(move |n: Unique<Number>| later.call_async(n))?,
            node.server("responding")
                .callback(|n: &Number, responder: Responder<Numbers>| responder.respond(Number(n.0)))?,
            node.server("nested").async_callback(move |n: Unique<Number>| {
                let inner = also_later.clone();
                async move { inner.call_async(inner.call_async(n).await?).await }
            })?,
        ];
        let clients = ["inner", "blocking", "async", "responding", "nested"]
            .map(|name| client(name).expect("a valid name"));
        let count = allocations(20, || {
            for client in &clients {
                let mut request = client.loan();
                request.0 = 7;
                let call = client.call_async(request);
                client.call_then(Number(1), |result: CallResult<Numbers>| result.map(drop))?;
                drop(client.call_async(Number(2)));
                let mut call = std::pin::pin!(call);
                let mut task = std::task::Context::from_waker(std::task::Waker::noop());
                assert!(call.as_mut().poll(&mut task).is_pending());
                executor.spin_all(support::PATIENCE)?;
                let std::task::Poll::Ready(answer) = call.as_mut().poll(&mut task) else {
                    panic!("no answer")
                };
                assert_eq!(answer?.0, 7);
            }
            Ok(())
        });
        assert_eq!(count, 0);
    }
    Ok(())
}

thread_local! {
    /// Whether this thread calls.
    static CALLS: Cell<bool> = const { Cell::new(false) };
}

/// Whether a thread of this process sleeps.
fn is_asleep(thread: &Path) -> bool {
    let status = std::fs::read_to_string(thread.join("stat")).expect("a thread that lives");
    // The program's name, in parentheses, may hold anything.
    status.rsplit(')').next().is_some_and(|status| status.trim_start().starts_with('S'))
}

/// The file in which the kernel describes the calling thread.
fn this_thread() -> PathBuf {
    Path::new("/proc").join(std::fs::read_link("/proc/thread-self").expect("/proc"))
}

/// Both ways to be answered, each made sure of: by the other thread while this one sleeps, and on
/// this thread while the other one rests.
#[test]
fn a_call_from_outside_allocates_nothing() -> sinew::Result<()> {
    const EACH: usize = 100;
    let context = real_context();
    let node = context.node("node")?;
    let _server = node.server::<support::Numbers>("n").callback(|mut n: Unique<Number>| {
        n.0 = u64::from(CALLS.get());
        n
    })?;
    let client = node.client::<support::Numbers>("n").create()?;
    let executor = Executor::builder().caller_runs(true).build().expect("options that go together");
    executor.add(&context)?;
    CALLS.set(true);
    // Whether the answer came of this thread, and what it allocated meanwhile.
    let call = || -> sinew::Result<(bool, u64)> {
        let before = ALLOCATIONS.get();
        let answer = client.call(Number(1), support::PATIENCE)?;
        Ok((answer.0 == 1, ALLOCATIONS.get() - before))
    };
    let asleep = served_while_asleep(&executor, || (0..EACH).map(|_| call()).collect::<Result<Vec<_>, _>>())?;
    // But for one: a thread's first wait for a lock needs a place to wait in.
    let allocate_nothing =
        |calls: &[(bool, u64)]| calls[EACH / 10..].iter().filter(|&&(_, count)| count > 0).count() <= 1;
    assert!(asleep.iter().all(|(ran_here, _)| !ran_here) && allocate_nothing(&asleep), "{asleep:?}");

    let (say, receive) = mpsc::channel();
    let stop = executor.stop_handle();
    let at_rest = thread::scope(|scope| {
        scope.spawn(|| {
            say.send(this_thread()).expect("it arrives");
            executor.spin()
        });
        let there = receive.recv().expect("it says where it is");
        let mut calls = Vec::new();
        while calls.iter().filter(|(ran_here, _)| *ran_here).count() < EACH {
            // Once both are warm, it is away before each call for so long that it fetches what it
            // has noted.
            let away = if calls.len() > EACH / 10 { Duration::from_micros(300) } else { Duration::ZERO };
            let begin = sinew::time::Time::steady();
            while !is_asleep(&there) || sinew::time::Time::steady() - begin < away {
                thread::yield_now();
            }
            match call() {
                Ok(call) => calls.push(call),
                Err(_) => break,
            }
        }
        stop.stop();
        calls
    });
    assert!(at_rest.len() >= EACH && allocate_nothing(&at_rest), "{at_rest:?}");
    Ok(())
}

/// Runs `work`, while another thread spins the executor for a moment whenever this thread sleeps.
fn served_while_asleep<R>(executor: &Executor, work: impl FnOnce() -> R) -> R {
    let (here, done) = (this_thread(), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                if is_asleep(&here) {
                    executor.spin_some().expect("no callback fails");
                }
                thread::yield_now();
            }
        });
        let result = work();
        done.store(true, Ordering::SeqCst);
        result
    })
}

/// The same inside a callback, whose thread has a turn and spins an executor: others may wait for
/// it.
#[test]
fn a_callback_that_sleeps_until_it_is_answered_allocates_nothing() -> sinew::Result<()> {
    let context = real_context();
    let (asks, serves) = (context.node("asks")?, context.node("serves")?);
    let _server = serves.server::<support::Numbers>("/n").callback(|n: Unique<Number>| n)?;
    let client = asks.client::<support::Numbers>("/n").create()?;
    let ask = asks.guard_condition().callback(move || client.call(Number(1), support::PATIENCE).map(drop))?;
    let (executor, other) = (Executor::single(), Executor::single());
    executor.add(&asks)?;
    other.add(&serves)?;
    let count = served_while_asleep(&other, || {
        allocations(50, || {
            ask.trigger();
            assert_eq!(executor.spin_some()?, 1);
            Ok(())
        })
    });
    assert_eq!(count, 0);
    Ok(())
}

// ---- between processes ----

/// Two contexts that meet in shared memory only, and their directory.
fn apart() -> (tempfile::TempDir, Context, Context) {
    let directory = tempfile::tempdir_in("/dev/shm").expect("shared memory");
    let context = || Context::builder().domain(0).directory(directory.path()).build().expect("no arguments");
    let (one, other) = (context(), context());
    (directory, one, other)
}

#[test]
fn publishing_and_taking_between_processes_allocates_nothing() -> sinew::Result<()> {
    for qos in [
        QoS::default(),
        QoS::default().best_effort().keep_last(2),
        QoS::default().transient_local(),
        QoS::default().keep_all().max_samples(8),
        QoS::default().lifespan(Duration::from_secs(1)),
    ] {
        for buffer in [BufferType::Shared, BufferType::Unique, BufferType::Value] {
            let (_directory, one, other) = apart();
            let reader =
                other.node("reader")?.subscription::<Number>("numbers").qos(qos).buffer(buffer).create()?;
            let publisher = one.node("writer")?.publisher::<Number>("numbers").qos(qos).create()?;
            publisher.publish(Number(0))?;
            while reader.take().is_none() {
                thread::yield_now(); // until it knows the publisher
            }
            let came = || reader.statistics().taken + reader.statistics().overwritten;
            let published = || publisher.statistics().published;
            let take_all = || {
                while reader.take().is_some() {}
                // Another thread may have been bringing in the last ones when they were asked for.
                for _ in 0..100_000 {
                    if came() >= published() {
                        break;
                    }
                    if reader.take().is_none() {
                        thread::yield_now();
                    }
                }
            };
            let count = allocations(200, || {
                publish(&publisher)?;
                take_all();
                Ok(())
            });
            assert_eq!(count, 0, "{buffer:?} with {qos:?}");
            assert_eq!(came(), published(), "{buffer:?} with {qos:?}");
        }
    }
    Ok(())
}

/// Takes by hand until so many messages were taken in all.
fn take_all(reader: &sinew::Subscription<Number>, published: u64) {
    while reader.statistics().taken < published {
        if reader.take().is_none() {
            thread::yield_now(); // another thread may be bringing it in
        }
    }
}

#[test]
fn publishing_to_several_that_must_get_everything_allocates_nothing() -> sinew::Result<()> {
    let qos = QoS::default().keep_all().max_samples(8).max_blocking_time(Duration::from_secs(20));
    let (_directory, one, other) = apart();
    let here = one.node("writer")?;
    let publisher = here.publisher::<Number>("numbers").qos(qos).create()?;
    let there = other.node("reader")?;
    let reader = |node: &sinew::Node| node.subscription::<Number>("numbers").qos(qos).create();
    let readers = [reader(&here)?, reader(&here)?, reader(&there)?, reader(&there)?];
    assert!(publisher.wait_for_subscribers(4, Duration::from_secs(20)));
    let count = allocations(200, || {
        publish(&publisher)?;
        let published = publisher.statistics().published;
        readers.iter().for_each(|reader| take_all(reader, published));
        Ok(())
    });
    assert_eq!(count, 0);
    Ok(())
}

#[test]
fn a_flood_that_is_taken_later_allocates_no_more_than_is_kept() -> sinew::Result<()> {
    const KEPT: usize = 512;
    let qos = QoS::default().keep_all().max_samples(KEPT).max_blocking_time(Duration::from_secs(20));
    let (_directory, one, other) = apart();
    let publisher = one.node("writer")?.publisher::<Number>("numbers").qos(qos).create()?;
    let reader = other.node("reader")?.subscription::<Number>("numbers").qos(qos);
    let reader = reader.buffer(BufferType::Unique).create()?;
    assert!(publisher.wait_for_subscribers(1, Duration::from_secs(20)));
    let count = allocations(20, || {
        (0..100).try_for_each(|_| publish(&publisher))?;
        let published = publisher.statistics().published;
        take_all(&reader, published);
        Ok(())
    });
    // A look takes one message or brings in all that came, as the threads' pace has it: a block for
    // each of those that were never so many at once before. The pool keeps them.
    assert!(count <= KEPT as u64, "{count} allocations for 8000 messages");
    Ok(())
}

#[test]
fn drafts_and_views_allocate_nothing() -> sinew::Result<()> {
    use sinew_interfaces::sensor_msgs::msg::{Image, ImageLengths};

    for length in [10, 1000, 300_000] {
        let mut small = Image { encoding: "mono8".to_owned(), ..Image::default() };
        small.header.frame_id = "camera".to_owned();
        let draft = |publisher: &Publisher<Image>| {
            let mut draft =
                publisher.draft(&small, ImageLengths { data: length }).expect("it is short enough");
            draft.parts().data[length - 1] ^= 1;
            publisher.publish(draft).map_err(sinew::Error::from)
        };
        let (_directory, one, other) = apart();
        let viewer = other.node("viewer")?.subscription::<Image>("image").read_in_place().create()?;
        let publisher = one.node("camera")?.publisher::<Image>("image").create()?;
        assert!(publisher.wait_for_subscribers(1, support::PATIENCE));
        let look = || {
            let sample = loop {
                match viewer.take_sample() {
                    Some((sample, _)) => break sample,
                    None => thread::yield_now(),
                }
            };
            assert!(sample.is_encoded());
            assert_eq!(sample.view().expect("an image").data.len(), length);
        };
        let count = allocations(200, || {
            draft(&publisher)?;
            look();
            Ok(())
        });
        assert_eq!(count, 0, "{length} bytes, seen outside");

        let near = one.node("near")?;
        let views = near.subscription::<Image>("image").read_in_place().create()?;
        let count = allocations(200, || {
            draft(&publisher)?;
            assert!(views.take_sample().is_some_and(|(sample, _)| sample.is_encoded()));
            look();
            Ok(())
        });
        assert_eq!(count, 0, "{length} bytes, seen here and outside");

        let values = near.subscription::<Image>("image").create()?;
        let count = allocations(200, || {
            draft(&publisher)?;
            assert!(values.take().is_some_and(|(image, _)| image.data.len() == length));
            assert!(views.take_sample().is_some_and(|(sample, _)| !sample.is_encoded()));
            look();
            Ok(())
        });
        assert_eq!(count, 0, "{length} bytes, decoded here and seen outside");
    }
    Ok(())
}

#[test]
fn callbacks_for_messages_of_other_processes_allocate_nothing() -> sinew::Result<()> {
    let (_directory, one, other) = apart();
    let received = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let count = received.clone();
    let node = other.node("reader")?;
    let _reader = node.subscription::<Number>("numbers").callback(move |_: &Number| {
        count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    })?;
    let received = || received.load(std::sync::atomic::Ordering::Relaxed);
    let executor = Executor::single();
    executor.add(&other)?;
    let publisher = one.node("writer")?.publisher::<Number>("numbers").create()?;
    // Until each knows the other: then the next look finds what was published.
    let (mut published, mut at_once) = (0, 0);
    while at_once < 20 {
        publisher.publish(Number(0))?;
        published += 1;
        executor.spin_all(support::PATIENCE)?;
        at_once = if received() == published { at_once + 1 } else { 0 };
        while received() < published {
            executor.spin_some()?;
        }
    }
    let count = allocations(200, || {
        publish(&publisher)?;
        published += 4;
        executor.spin_all(support::PATIENCE)?;
        Ok(())
    });
    assert_eq!((count, received()), (0, published));
    Ok(())
}

#[test]
fn calls_between_processes_allocate_nothing_where_they_are_made() -> sinew::Result<()> {
    let (_directory, asking, serving) = apart();
    let node = serving.node("server")?;
    let _server = node.server::<support::Numbers>("n").callback(|n: Unique<Number>| n)?;
    let executor = Executor::single();
    executor.add(&serving)?;
    let stop = executor.stop_handle();
    let spinning = thread::spawn(move || {
        let before = ALLOCATIONS.get();
        executor.spin().map(|()| ALLOCATIONS.get() - before)
    });
    let client = asking.node("asker")?.client::<support::Numbers>("n").create()?;
    assert!(client.wait_for_server(support::PATIENCE));
    let call = || {
        assert_eq!(client.call(client.loan(), support::PATIENCE)?.0, 0);
        Ok(())
    };
    assert_eq!(allocations(1000, call), 0);
    stop.stop();
    let served = spinning.join().expect("no panic")?;
    assert!(served < 500, "{served} allocations for 2000 calls: only until it is warm");
    Ok(())
}

#[test]
fn reading_parameters_allocates_nothing() -> sinew::Result<()> {
    #[derive(sinew::parameters::Parameters)]
    struct Gains {
        p: f64,
        name: String,
    }
    let context = real_context();
    let node = context.node("node")?;
    let (number, truth) =
        (node.parameter("n").default(1).create()?, node.parameter("b").default(true).create()?);
    let text = node.parameter("t").default("text".to_owned()).create()?;
    let gains = node.parameters::<Gains>()?;
    let read = || {
        let now = gains.get();
        assert!(
            truth.get() && number.get() == 1 && text.get().len() == 4 && now.p == 0.0 && now.name.is_empty()
        );
        Ok(())
    };
    assert_eq!(allocations(20, read), 0);
    Ok(())
}

#[test]
fn publishing_to_other_types_of_the_program_allocates_nothing() -> sinew::Result<()> {
    #[derive(Clone, Default, Message)]
    #[message(name = "test/msg/Pair")]
    struct Pair {
        one: u32,
        two: u64,
    }
    /// The same, as another part of the program has it.
    #[derive(Clone, Default, Message)]
    #[message(name = "test/msg/Pair")]
    struct Couple {
        one: u32,
        two: u64,
    }

    let context = real_context();
    let node = context.node("both")?;
    let publisher = node.publisher::<Pair>("pairs").create()?;
    let pairs = node.subscription::<Pair>("pairs").create()?;
    let couples = [BufferType::Shared, BufferType::Unique, BufferType::Value]
        .map(|buffer| node.subscription::<Couple>("pairs").buffer(buffer).filter(|_| true).create());
    let count = allocations(50, || {
        publisher.publish(Pair { one: 1, two: 2 })?;
        assert_eq!(pairs.take().expect("it was published").0.two, 2);
        for couple in &couples {
            let (couple, _) = couple.as_ref().expect("it was made").take().expect("it was published");
            assert_eq!((couple.one, couple.two), (1, 2));
        }
        Ok(())
    });
    assert_eq!(count, 0);
    Ok(())
}
