//! Callbacks for file descriptors that are ready.

use crate::support;

use sinew::error::CreateError;
use sinew::event::{DescriptorSource, Readiness};
use sinew::executor::FaultPolicy;
use sinew::prelude::*;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write, pipe};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use support::{Gate, Log, Number, PATIENCE, finishes, real_context};

/// A context in real time, a node and an executor.
struct Site {
    context: Context,
    node: Node,
    executor: Executor,
}

impl Site {
    fn new() -> sinew::Result<Self> {
        let context = real_context();
        let node = context.node("site")?;
        let executor = Executor::single();
        executor.add(&context)?;
        Ok(Self { context, node, executor })
    }

    /// Runs so many callbacks, for which it waits.
    #[track_caller]
    fn run(&self, callbacks: usize) {
        for n in 0..callbacks {
            let ran = self.executor.spin_once(PATIENCE).expect("no callback fails");
            assert!(ran, "{n} callbacks ran, but not {callbacks}");
        }
    }

    /// Runs what is ready when everything has been announced that the kernel knows of now; returns
    /// how many callbacks ran.
    fn run_rest(&self) -> u64 {
        settle();
        self.executor.spin_some().expect("no callback fails")
    }
}

/// Waits until all descriptors that are ready now have been announced: the kernel reports in order,
/// and this one last.
fn settle() {
    let context = real_context();
    let (reader, mut writer) = pipe().expect("two descriptors more");
    let node = context.node("settle").expect("a valid name");
    let executor = Executor::single();
    executor.add(&context).expect("nobody else serves it");
    let _source = node.descriptor(&reader).callback(|| ()).expect("a pipe can be watched");
    writer.write_all(b"!").expect("there is room");
    assert!(executor.spin_once(PATIENCE).expect("the callback does nothing"), "it has been announced");
}

fn streams() -> (UnixStream, Arc<UnixStream>) {
    let (far, near) = UnixStream::pair().expect("two descriptors more");
    near.set_nonblocking(true).expect("a socket can be");
    (far, Arc::new(near))
}

/// Reads at most so many bytes; none if there are none.
fn read_some(mut from: impl Read, most: usize) -> Vec<u8> {
    let mut bytes = vec![0; most];
    let length = from.read(&mut bytes).expect("there is something to read, or the end");
    bytes.truncate(length);
    bytes
}

#[test]
fn the_callback_runs_when_there_is_something_to_read() -> sinew::Result<()> {
    let site = Site::new()?;
    let log = Log::new();
    let pen = log.pen();
    let (reader, mut writer) = pipe().unwrap();
    let own = reader.try_clone().unwrap();
    let _source = site.node.descriptor(&reader).callback(move |ready: &Readiness| {
        pen.write((read_some(&own, 100), *ready));
    })?;
    assert_eq!(site.run_rest(), 0);
    for text in ["one", "two", "three"] {
        writer.write_all(text.as_bytes()).unwrap();
        site.run(1);
        let (bytes, ready) = log.next();
        assert_eq!(bytes, text.as_bytes());
        assert!(ready.readable && !ready.writable && !ready.closed && !ready.failed, "{ready:?}");
        assert_eq!(site.run_rest(), 0);
    }
    Ok(())
}

#[test]
fn a_sleeping_executor_is_woken() -> sinew::Result<()> {
    let site = Site::new()?;
    let (reader, mut writer) = pipe().unwrap();
    let done = site.context.clone();
    let _source = site.node.descriptor(&reader).callback(move || done.shutdown())?;
    finishes(move || {
        let spinning = thread::spawn(move || site.executor.spin());
        writer.write_all(b"!").unwrap();
        spinning.join().unwrap()
    })?;
    Ok(())
}

#[test]
fn unread_data_is_announced_again_but_only_after_the_callback() -> sinew::Result<()> {
    let site = Site::new()?;
    let log = Log::new();
    let pen = log.pen();
    let (reader, mut writer) = pipe().unwrap();
    let own = reader.try_clone().unwrap();
    let _source = site.node.descriptor(&reader).callback(move || pen.write(read_some(&own, 1)))?;
    writer.write_all(b"abcde").unwrap();
    assert_eq!(site.run_rest(), 1, "ready once, however much there is");
    site.run(4);
    assert_eq!(log.lines().concat(), b"abcde");
    assert_eq!(site.run_rest(), 0);
    Ok(())
}

#[test]
fn a_callback_that_does_not_read_runs_once_per_turn_of_the_executor() -> sinew::Result<()> {
    let site = Site::new()?;
    let log = Log::new();
    let (pen, other) = (log.pen(), log.pen());
    let (reader, mut writer) = pipe().unwrap();
    let _source = site.node.descriptor(&reader).callback(move || pen.write("idle"))?;
    let guard = site.node.guard_condition().callback(move || other.write("guard"))?;
    writer.write_all(b"!").unwrap();
    for _ in 0..5 {
        assert_eq!(site.run_rest(), 1);
        settle();
        settle(); // nothing adds up while nobody runs it
    }
    for _ in 0..5 {
        guard.trigger();
        assert_eq!(site.run_rest(), 2);
    }
    let lines = log.lines();
    assert_eq!(lines.iter().filter(|line| **line == "idle").count(), 10);
    assert_eq!(lines.iter().filter(|line| **line == "guard").count(), 5, "it keeps nobody from running");
    Ok(())
}

#[test]
fn what_is_ready_before_there_is_an_executor_waits_for_it() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("early")?;
    let (reader, mut writer) = pipe().unwrap();
    let own = reader.try_clone().unwrap();
    let source = node.descriptor(&reader).callback(move || drop(read_some(&own, 100)))?;
    writer.write_all(b"!").unwrap();
    settle();
    for _ in 0..2 {
        let executor = Executor::single();
        executor.add(&context)?;
        assert_eq!(executor.spin_some()?, 1);
        drop(executor);
        writer.write_all(b"!").unwrap();
        settle();
    }
    drop(source);
    let executor = Executor::single();
    executor.add(&context)?;
    assert_eq!(executor.spin_some()?, 0);
    Ok(())
}

/// A writer that sends what is left as there is room, and ends itself when all is sent.
struct Sending {
    stream: Arc<UnixStream>,
    left: Vec<u8>,
    source: Option<DescriptorSource>,
}

impl Sending {
    fn go_on(&mut self, ready: &Readiness) {
        assert!(ready.writable && !ready.readable, "{ready:?}");
        loop {
            match (&*self.stream).write(&self.left) {
                Ok(sent) => drop(self.left.drain(..sent)),
                Err(error) => return assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
            if self.left.is_empty() {
                self.source = None; // ends in its own callback
                return;
            }
        }
    }
}

#[test]
fn sources_for_writing_and_reading_carry_more_than_a_socket_holds() -> sinew::Result<()> {
    let site = Site::new()?;
    let (far, near) = streams();
    far.set_nonblocking(true).unwrap();
    let all: Vec<u8> = (0..3_000_000_u32).map(|n| n.to_le_bytes()[n as usize % 3]).collect();
    let sending = site.node.group(Sending { stream: near.clone(), left: all.clone(), source: None });
    let writer = sending.descriptor(&near).writable();
    let writer = writer.callback(|sending: &mut Sending, ready: &Readiness| sending.go_on(ready))?;
    // The source is given to the group whose callback ends it.
    let mut writer = Some(writer);
    let keeper = sending.guard_condition().callback(move |sending: &mut Sending| {
        sending.source = writer.take();
    })?;
    keeper.trigger();
    let received = site.node.group(Vec::new());
    let own = far.try_clone().unwrap();
    let length = all.len();
    let log = Log::new();
    let pen = log.pen();
    let stop = site.executor.stop_handle();
    let _reader = received.descriptor(&far).callback(move |received: &mut Vec<u8>| {
        received.append(&mut read_some(&own, 1 << 20));
        if received.len() == length {
            pen.write(std::mem::take(received));
            stop.stop();
        }
    })?;
    let site = finishes(move || site.executor.spin().map(|()| site))?;
    assert!(log.next() == all, "every byte, in order");
    assert_eq!(site.run_rest(), 0, "the writer has ended, though there is room");
    Ok(())
}

#[test]
fn a_hang_up_is_announced_until_all_is_read_and_then_no_more() -> sinew::Result<()> {
    let site = Site::new()?;
    let log = Log::new();
    let pen = log.pen();
    let (reader, mut writer) = pipe().unwrap();
    writer.write_all(b"end").unwrap();
    drop(writer);
    let own = reader.try_clone().unwrap();
    let _source = site.node.descriptor(&reader).callback(move |ready: &Readiness| {
        pen.write((read_some(&own, 1), ready.readable, ready.closed));
    })?;
    site.run(3);
    let expected = [b"e", b"n", b"d"].map(|byte| (byte.to_vec(), true, true));
    assert_eq!(log.lines(), expected);
    assert_eq!(site.run_rest(), 0);
    Ok(())
}

#[test]
fn a_hang_up_with_nothing_to_read_is_announced_once_even_if_ignored() -> sinew::Result<()> {
    let site = Site::new()?;
    let log = Log::new();
    let (of_pipe, of_stream, of_half) = (log.pen(), log.pen(), log.pen());
    let (reader, writer) = pipe().unwrap();
    let (far, near) = streams();
    let (half, other) = streams();
    let _sources = [
        site.node.descriptor(&reader).callback(move |ready: &Readiness| of_pipe.write(*ready))?,
        site.node.descriptor(&near).callback(move |ready: &Readiness| of_stream.write(*ready))?,
        site.node.descriptor(&other).callback(move |ready: &Readiness| of_half.write(*ready))?,
    ];
    drop(writer);
    assert_eq!(site.run_rest(), 1);
    drop(far);
    assert_eq!(site.run_rest(), 1);
    half.shutdown(Shutdown::Write).unwrap(); // may still read what is written to it
    assert_eq!(site.run_rest(), 1);
    let notified = log.lines();
    assert!(notified.iter().all(|ready| ready.closed), "{notified:?}");
    assert_eq!(notified.iter().map(|ready| ready.readable).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(site.run_rest(), 0);
    Ok(())
}

#[test]
fn of_many_each_gets_its_own() -> sinew::Result<()> {
    const SOURCES: usize = 100;
    let site = Site::new()?;
    let log = Log::new();
    let mut writers = Vec::new();
    let mut sources = Vec::new();
    for n in 0..SOURCES {
        let (reader, writer) = pipe().unwrap();
        let pen = log.pen();
        let source = site.node.descriptor(&reader.try_clone().unwrap());
        sources.push(source.callback(move || pen.write((n, read_some(&reader, 8))))?);
        writers.push(writer);
    }
    thread::scope(|scope| {
        let (even, odd): (Vec<_>, Vec<_>) = writers.iter_mut().enumerate().partition(|(n, _)| n % 2 == 0);
        for part in [even, odd] {
            scope.spawn(|| {
                part.into_iter().for_each(|(n, writer)| writer.write_all(&n.to_le_bytes()).unwrap())
            });
        }
        site.run(SOURCES);
    });
    let mut lines = log.lines();
    lines.sort_unstable();
    let expected: Vec<_> = (0..SOURCES).map(|n| (n, n.to_le_bytes().to_vec())).collect();
    assert_eq!(lines, expected);
    assert_eq!(site.run_rest(), 0);
    Ok(())
}

#[test]
fn callbacks_of_descriptors_and_messages_run_in_the_order_of_what_happened() -> sinew::Result<()> {
    let site = Site::new()?;
    let log = Log::new();
    let (of_pipe, of_topic) = (log.pen(), log.pen());
    let (reader, mut writer) = pipe().unwrap();
    let own = reader.try_clone().unwrap();
    let _source = site.node.descriptor(&reader).callback(move || {
        of_pipe.write(u64::from(read_some(&own, 1)[0]));
    })?;
    let _subscription = site
        .node
        .subscription("numbers")
        .qos(QoS::default().keep_last(10))
        .callback(move |number: &Number| of_topic.write(number.0))?;
    let publisher = site.node.publisher("numbers").create()?;
    publisher.publish(Number(1))?;
    assert_eq!(site.executor.spin_some()?, 1);
    writer.write_all(&[2]).unwrap();
    settle();
    publisher.publish(Number(3))?;
    assert_eq!(site.executor.spin_some()?, 2);
    assert_eq!(log.lines(), [1, 2, 3]);
    Ok(())
}

#[test]
fn a_dropped_source_runs_no_more_and_closes_its_descriptor_at_once() -> sinew::Result<()> {
    let site = Site::new()?;
    let (mut far, near) = streams();
    let source = site.node.descriptor(&near).callback(|| panic!("it is gone"))?;
    drop(near);
    far.write_all(b"!").unwrap();
    settle(); // it is ready, and announced
    drop(source);
    assert_eq!(far.write_all(b"!").unwrap_err().kind(), ErrorKind::BrokenPipe, "nobody has the other end");
    assert_eq!(site.executor.spin_some()?, 0);
    Ok(())
}

#[test]
fn sources_are_independent_of_each_other_and_of_the_original() -> sinew::Result<()> {
    let site = Site::new()?;
    let log = Log::new();
    let (reader, mut writer) = pipe().unwrap();
    let own = reader.try_clone().unwrap();
    let (first, second) = (log.pen(), log.pen());
    let gone = site.node.descriptor(&reader).callback(move || first.write(1))?;
    let _stays = site.node.descriptor(&reader).callback(move || {
        drop(read_some(&own, 1));
        second.write(2);
    })?;
    drop(reader);
    drop(gone);
    // Something else gets the numbers that are free now.
    let _others: Vec<File> = (0..3).map(|_| File::open("/dev/null").unwrap()).collect();
    writer.write_all(b"ab").unwrap();
    site.run(2);
    assert_eq!(log.lines(), [2, 2]);
    assert_eq!(site.run_rest(), 0);
    Ok(())
}

#[test]
fn a_source_may_end_in_its_own_callback() -> sinew::Result<()> {
    let site = Site::new()?;
    let slot = site.node.group(None::<DescriptorSource>);
    let (reader, mut writer) = pipe().unwrap();
    let dropped = Arc::new(());
    let kept = dropped.clone();
    let source = slot.descriptor(&reader).callback(move |slot: &mut Option<DescriptorSource>| {
        let _kept = &kept;
        slot.take().unwrap().close();
    })?;
    let mut source = Some(source);
    let keeper = slot.guard_condition().callback(move |slot: &mut Option<DescriptorSource>| {
        *slot = source.take();
    })?;
    keeper.trigger();
    site.run(1);
    writer.write_all(b"!").unwrap();
    site.run(1);
    assert_eq!(Arc::strong_count(&dropped), 1, "the callback went with its source");
    assert_eq!(site.run_rest(), 0);
    Ok(())
}

#[test]
fn close_waits_for_the_callback() -> sinew::Result<()> {
    let site = Site::new()?;
    let log = Log::new();
    let gate = Gate::new();
    let (pen, closed, inside) = (log.pen(), log.pen(), gate.clone());
    let (reader, mut writer) = pipe().unwrap();
    let mut taken = reader.try_clone().unwrap();
    let source = site.node.descriptor(&reader).callback(move || {
        taken.read_exact(&mut [0]).unwrap(); // it doesn't run again, however late it is closed
        pen.write("in");
        inside.wait();
        pen.write("out");
    })?;
    writer.write_all(b"!").unwrap();
    let stop = site.executor.stop_handle();
    let spinning = thread::spawn(move || site.executor.spin());
    assert_eq!(log.next(), "in");
    let closing = thread::spawn(move || {
        source.close();
        closed.write("closed");
    });
    assert_eq!(log.next_within(Duration::from_millis(20)), None);
    gate.open();
    assert_eq!((log.next(), log.next()), ("out", "closed"));
    closing.join().unwrap();
    stop.stop();
    spinning.join().unwrap()?;
    assert!(log.lines().is_empty());
    Ok(())
}

#[test]
fn after_a_panic_and_an_error_it_runs_again() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("faulty")?;
    let executor = Executor::builder().on_panic(FaultPolicy::Stop).on_error(FaultPolicy::Stop).build()?;
    executor.add(&context)?;
    let (reader, mut writer) = pipe().unwrap();
    let mut runs = 0;
    let _source = node.descriptor(&reader).callback(move || {
        runs += 1;
        assert_ne!(runs, 1, "unlucky");
        if runs == 2 { Err("out of sorts") } else { Ok(()) }
    })?;
    writer.write_all(b"!").unwrap();
    let name = "descriptor source of node /faulty";
    let panic = executor.spin_once(PATIENCE).unwrap_err().to_string();
    assert!(panic.contains(name) && panic.contains("unlucky"), "{panic}");
    let error = executor.spin_once(PATIENCE).unwrap_err().to_string();
    assert!(error.contains(name) && error.contains("out of sorts"), "{error}");
    assert!(executor.spin_once(PATIENCE)?);
    Ok(())
}

#[test]
fn reentrant_groups_have_sources_too() -> sinew::Result<()> {
    let site = Site::new()?;
    let group = site.node.reentrant_group();
    let (reader, mut writer) = pipe().unwrap();
    let own = reader.try_clone().unwrap();
    let _source = group.descriptor(&reader).callback(move |ready: &Readiness| {
        assert!(ready.readable);
        drop(read_some(&own, 1));
    })?;
    writer.write_all(b"ab").unwrap();
    site.run(2);
    assert_eq!(site.run_rest(), 0);
    Ok(())
}

#[test]
fn on_several_threads_a_source_still_runs_one_callback_at_a_time() -> sinew::Result<()> {
    const SOURCES: usize = 8;
    const BYTES: u8 = 200;
    let context = real_context();
    let node = context.node("busy")?;
    let group = node.reentrant_group();
    let log = Log::new();
    let mut sources = Vec::new();
    let mut writers = Vec::new();
    for n in 0..SOURCES {
        let (reader, writer) = pipe().unwrap();
        let pen = log.pen();
        let is_inside = AtomicBool::new(false);
        let source = group.descriptor(&reader.try_clone().unwrap()).callback(move || {
            assert!(!is_inside.swap(true, Ordering::Relaxed), "two at a time");
            pen.write((n, read_some(&reader, 3)));
            is_inside.store(false, Ordering::Relaxed);
        })?;
        sources.push(source);
        writers.push(writer);
    }
    let executor = Executor::multi(3);
    executor.add(&context)?;
    let stop = executor.stop_handle();
    let spinning = thread::spawn(move || executor.spin());
    for byte in 0..BYTES {
        writers.iter_mut().for_each(|writer| writer.write_all(&[byte]).unwrap());
    }
    let mut received = vec![Vec::new(); SOURCES];
    while received.iter().map(Vec::len).sum::<usize>() < SOURCES * usize::from(BYTES) {
        let (n, mut bytes) = log.next();
        received[n].append(&mut bytes);
    }
    stop.stop();
    finishes(move || spinning.join().unwrap())?;
    assert!(received.iter().all(|bytes| bytes.iter().copied().eq(0..BYTES)), "{received:?}");
    Ok(())
}

#[test]
fn what_can_not_be_waited_for_is_an_error_that_says_why() -> sinew::Result<()> {
    let site = Site::new()?;
    let dropped = Arc::new(());
    let source = |descriptor: &File| {
        let kept = dropped.clone();
        site.node.descriptor(descriptor).callback(move || drop(kept.clone())).map(drop).unwrap_err()
    };
    let name = "a descriptor source of node /site".to_owned();
    for path in [env!("CARGO_MANIFEST_PATH"), env!("CARGO_MANIFEST_DIR")] {
        let error = source(&File::open(path).unwrap());
        assert_eq!(error, CreateError::AlwaysReady { name: name.clone() });
        assert!(error.to_string().contains("regular file"), "{error}");
    }
    let nothing = OpenOptions::new().read(true).custom_flags(libc::O_PATH).open("/").unwrap();
    let error = source(&nothing);
    assert!(matches!(&error, CreateError::System { call: "epoll_ctl", .. }), "{error}");
    assert!(error.to_string().contains("open for reading or writing"), "{error}");
    assert_eq!(Arc::strong_count(&dropped), 1, "nothing is left of them");

    site.context.shutdown();
    let (reader, _writer) = pipe().unwrap();
    let error = site.node.descriptor(&reader.as_fd()).callback(|| ()).unwrap_err();
    assert!(matches!(error, CreateError::Shutdown { .. }), "{error}");
    Ok(())
}
