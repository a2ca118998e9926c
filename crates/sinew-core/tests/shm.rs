//! Nodes of different participants: in these tests two contexts of one process, which meet in
//! shared memory only.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "other participants' threads are waited for in real time, with the test's own locks"
)]

mod support;

use sinew::error::DecodeError;
use sinew::event::LivelinessChanged;
use sinew::msg::{Encoding, Transport, TypeHash};
use sinew::prelude::*;
use sinew::qos::Liveliness;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A directory of its own, removed at the end.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir_in("/dev/shm").expect("shared memory"))
    }

    fn context(&self) -> Context {
        Context::builder().domain(3).directory(self.0.path()).build().expect("a context")
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Text(String);

impl Message for Text {
    const ENCODING: Option<&'static Encoding<Self>> = Some(&Encoding {
        name: "test_msgs/msg/Text",
        hash: TypeHash([9; 32]),
        description: None,
        size: |text| text.0.len(),
        encode: |text, encoded| encoded.copy_from_slice(text.0.as_bytes()),
        decode: |encoded| {
            let text = String::from_utf8(encoded.to_vec()).map_err(|_| DecodeError::Invalid {
                type_name: "test_msgs/msg/Text",
                field: "text",
                offset: 0,
                problem: "not UTF-8",
            })?;
            Ok(Text(text))
        },
        decode_into: |encoded, text| {
            *text = (Text::ENCODING.expect("above").decode)(encoded)?;
            Ok(())
        },
        plain: None,
        stamp: None,
    });
}

const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for what another thread does.
#[track_caller]
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begin = std::time::Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "{what}: it never is");
        std::thread::yield_now();
    }
}

/// Ends a spin, also when the test fails.
struct Stops(sinew::executor::StopHandle);

impl Drop for Stops {
    fn drop(&mut self) {
        self.0.stop();
    }
}

#[test]
fn a_message_taken_by_hand() -> sinew::Result<()> {
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let subscription = other.node("listener")?.subscription::<Text>("chatter").create()?;
    let publisher = one.node("talker")?.publisher::<Text>("chatter").create()?;
    assert_eq!(publisher.subscription_count(), 1, "it was there before");
    for length in [0, 3, 200, 1000, 1_000_000] {
        publisher.publish(Text("x".repeat(length)))?;
        let (text, info) = loop {
            if let Some(taken) = subscription.take() {
                break taken;
            }
            std::thread::yield_now();
        };
        assert_eq!(text.0.len(), length);
        assert_eq!(info.transport(), Transport::Shm);
        assert_eq!(info.publisher(), publisher.gid());
    }
    Ok(())
}

#[test]
fn a_subscription_that_comes_after_another_has_gone_gets_messages_by_hand() -> sinew::Result<()> {
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let listener = other.node("listener")?;
    let publisher = one.node("talker")?.publisher::<Text>("chatter").create()?;
    for round in 0..3 {
        let subscription = listener.subscription::<Text>("chatter").create()?;
        assert!(publisher.wait_for_subscribers(1, PATIENCE));
        for number in 0..3 {
            publisher.publish(Text(format!("{round} {number}")))?;
            let end = std::time::Instant::now() + PATIENCE;
            let text = loop {
                match subscription.take() {
                    Some((text, _)) => break text,
                    None if std::time::Instant::now() > end => panic!("{round} {number} doesn't come"),
                    None => std::thread::yield_now(),
                }
            };
            assert_eq!(text.0, format!("{round} {number}"));
        }
        drop(subscription);
        let end = std::time::Instant::now() + PATIENCE;
        while publisher.subscription_count() > 0 {
            assert!(std::time::Instant::now() < end, "it stays matched");
            std::thread::yield_now();
        }
    }
    Ok(())
}

#[test]
fn an_executor_receives() -> sinew::Result<()> {
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let count = Arc::new(AtomicU64::new(0));
    let (counted, done) = (count.clone(), other.clone());
    let publisher = one.node("talker")?.publisher::<Text>("chatter").create()?;
    let _subscription =
        other.node("listener")?.subscription::<Text>("chatter").callback(move |text: &Text| {
            assert_eq!(text.0, counted.load(Ordering::SeqCst).to_string());
            if counted.fetch_add(1, Ordering::SeqCst) == 999 {
                done.shutdown();
            }
        })?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    let listening = std::thread::spawn(move || sinew::spin(&other));
    for number in 0..1000 {
        publisher.publish(Text(number.to_string()))?;
        while count.load(Ordering::SeqCst) <= number {
            std::thread::yield_now();
        }
    }
    listening.join().expect("no panic")?;
    Ok(())
}

struct Echo;

impl sinew::Service for Echo {
    type Request = Text;
    type Response = Text;
}

/// Whatever thread of an executor it was that waited for news, while it is in a callback another
/// one does.
#[test]
fn while_a_callback_waits_another_thread_receives() -> sinew::Result<()> {
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let node = other.node("listener")?;
    let (sender, received) = std::sync::mpsc::channel();
    let (begin, begun) = std::sync::mpsc::channel();
    let (end, ended) = std::sync::mpsc::channel();
    let received = std::sync::Mutex::new(received);
    let waiting = node.group(()).subscription::<Text>("first");
    let _waiting = waiting.callback(move |_: &mut (), text: &Text| {
        begin.send(()).expect("the test waits");
        let second =
            received.lock().expect("one waits").recv_timeout(PATIENCE).expect("the second one comes");
        assert_eq!((text.0.as_str(), second), ("first", "second".to_owned()));
        end.send(()).expect("the test waits");
    })?;
    let second = node.group(()).subscription::<Text>("second");
    let _second =
        second.callback(move |_: &mut (), text: &Text| sender.send(text.0.clone()).expect("one waits"))?;
    let talker = one.node("talker")?;
    let publish = |topic: &str| talker.publisher::<Text>(topic).create();
    let (first, second) = (publish("first")?, publish("second")?);
    let executor = Executor::multi(3);
    executor.add(&other)?;
    std::thread::scope(|scope| {
        let spinning = scope.spawn(|| executor.spin());
        for _ in 0..3 {
            std::thread::sleep(Duration::from_millis(1100)); // all rest, and nobody looks after the others
            first.publish(Text("first".to_owned()))?;
            begun.recv_timeout(PATIENCE).expect("it begins");
            second.publish(Text("second".to_owned()))?;
            ended.recv_timeout(PATIENCE).expect("it receives from the second one");
        }
        executor.stop_handle().stop();
        spinning.join().expect("no panic")?;
        Ok(())
    })
}

#[test]
fn a_service_answers_another_process() -> sinew::Result<()> {
    let place = Place::new();
    let (serving, asking) = (place.context(), place.context());
    let client = asking.node("asker")?.client::<Echo>("echo").create()?;
    let early = client.call_async(Text("before there is a server".to_owned()));
    let _server = serving.node("server")?.server::<Echo>("echo").callback(|text: &Text| {
        if text.0 == "no" { Err("not this".to_owned()) } else { Ok(Text(format!("<{}>", text.0))) }
    })?;
    let executor = Executor::single();
    executor.add(&serving)?;
    let stop = executor.stop_handle();
    let spinning = std::thread::spawn(move || executor.spin());
    assert!(client.wait_for_server(PATIENCE));
    for length in [0, 3, 500, 100_000] {
        let answer = client.call(Text("x".repeat(length)), PATIENCE)?;
        assert_eq!(answer.0.len(), length + 2);
    }
    let error = client.call(Text("no".to_owned()), PATIENCE).expect_err("it says no");
    assert!(
        matches!(error.failure(), sinew::error::CallFailure::Failed { message } if message == "not this")
    );
    let answered = Executor::single().spin_until(early)?.expect("it waited for the server");
    assert_eq!(answered.0, "<before there is a server>");
    let many: Vec<_> = (0..100).map(|number| client.call_async(Text(number.to_string()))).collect();
    for (number, call) in many.into_iter().enumerate() {
        let answer = Executor::single().spin_until(call)?.expect("an answer");
        assert_eq!(answer.0, format!("<{number}>"));
    }
    stop.stop();
    spinning.join().expect("no panic")?;
    Ok(())
}

#[test]
fn a_call_of_a_server_that_goes_fails_at_once() -> sinew::Result<()> {
    let place = Place::new();
    let (serving, asking) = (place.context(), place.context());
    let server = serving.node("server")?.server::<Echo>("echo").callback(|text: Text| text)?;
    let client = asking.node("asker")?.client::<Echo>("echo").create()?;
    assert!(client.wait_for_server(PATIENCE));
    let call = client.call_async(Text("nobody spins the server".to_owned()));
    drop(server);
    let failure = Executor::single().spin_until(call)?.expect_err("there is no server any more");
    assert_eq!(*failure.failure(), sinew::error::CallFailure::ServerGone);
    Ok(())
}

/// How many threads of a process wait for answers in their own way at most: the 64 ports of a
/// participant.
const PORTS: usize = 64;

/// Runs `call` on so many threads, one after the other, which all stay until the last has run it.
fn on_threads<R: Send>(threads: usize, call: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let last = std::sync::Barrier::new(threads + 1);
    std::thread::scope(|scope| {
        let results = (0..threads).map(|thread| {
            let (sender, received) = std::sync::mpsc::channel();
            let (last, call) = (&last, &call);
            scope.spawn(move || {
                sender.send(call(thread)).expect("it is awaited");
                last.wait();
            });
            received.recv().expect("the call ends")
        });
        let results = results.collect();
        last.wait();
        results
    })
}

/// The first thread without a port waits for an answer after one that has a port, and that was
/// notified of answers until then.
#[test]
fn threads_for_which_there_is_no_port_get_their_answers() -> sinew::Result<()> {
    let place = Place::new();
    let (serving, asking) = (place.context(), place.context());
    let _server = serving.node("server")?.server::<Echo>("echo").callback(|text: Text| text)?;
    let spinning = spin_aside(&serving);
    let client = asking.node("asker")?.client::<Echo>("echo").create()?;
    assert!(client.wait_for_server(PATIENCE));
    let answers = on_threads(PORTS + 1, |thread| {
        let answer = client.call(Text(thread.to_string()), PATIENCE);
        answer.map(|answer| answer.0.clone()).map_err(|error| error.to_string())
    });
    let expected: Vec<_> = (0..PORTS + 1).map(|thread| Ok(thread.to_string())).collect();
    assert_eq!(answers, expected);
    serving.shutdown();
    spinning.join().expect("no panic")
}

/// Too large for a slot of the ring.
#[derive(Message, Debug, Clone, Copy, PartialEq)]
#[message(plain)]
#[repr(C)]
struct Scan {
    ranges: [u64; 1000],
}

impl Default for Scan {
    fn default() -> Self {
        Self { ranges: [0; 1000] }
    }
}

/// The rights of the mapping in which something lies, if that is one of a directory's files.
fn rights_at<T>(value: &T, directory: &std::path::Path) -> Option<String> {
    let address = support::address(value);
    let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux");
    let of_directory = maps.lines().filter(|line| line.contains(&*directory.to_string_lossy()));
    let around = |line: &&str| {
        let (from, to) = line.split_once(' ').and_then(|(range, _)| range.split_once('-')).expect("a range");
        let number = |digits| usize::from_str_radix(digits, 16).expect("an address");
        (number(from)..number(to)).contains(&address)
    };
    of_directory.clone().find(around).and_then(|line| line.split(' ').nth(1)).map(str::to_owned)
}

#[test]
fn a_plain_message_is_written_and_read_where_it_lies() -> sinew::Result<()> {
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let subscription =
        other.node("listener")?.subscription::<Scan>("scans").qos(QoS::default().keep_last(3)).create()?;
    let publisher =
        one.node("laser")?.publisher::<Scan>("scans").qos(QoS::default().keep_last(3)).create()?;
    let mut held = Vec::new();
    for n in 0..200 {
        let mut scan = publisher.loan();
        assert_eq!(rights_at(&*scan, place.0.path()).as_deref(), Some("rw-s"), "written where it will lie");
        scan.ranges = [n; 1000];
        publisher.publish(scan)?;
        let (scan, info) =
            std::iter::repeat_with(|| subscription.take()).find_map(|taken| taken).expect("it comes");
        assert_eq!(rights_at(&*scan, place.0.path()).as_deref(), Some("r--s"), "read there, and only read");
        assert_eq!(info.transport(), Transport::Shm);
        held.push(scan);
        if n % 2 == 1 {
            held.swap_remove(usize::try_from(n / 2).expect("it is small"));
        }
    }
    let mut kept: Vec<_> = held.iter().map(|scan| scan.ranges[0]).collect();
    assert!(held.iter().all(|scan| scan.ranges.iter().all(|range| *range == scan.ranges[0])), "none is torn");
    kept.sort_unstable();
    kept.dedup();
    assert_eq!(kept.len(), 100, "each is what it was, whatever came later");
    assert_eq!((publisher.statistics().copies, subscription.statistics().copies), (0, 0));
    Ok(())
}

#[test]
fn a_loan_that_is_dropped_or_kept_is_in_nobodys_way() -> sinew::Result<()> {
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let subscription = other.node("listener")?.subscription::<Scan>("scans").create()?;
    let publisher = one.node("laser")?.publisher::<Scan>("scans").create()?;
    let kept = publisher.loan();
    for n in 0..50 {
        drop(publisher.loan());
        let mut scan = publisher.loan();
        scan.ranges = [n; 1000];
        let scan = scan.into_shared();
        publisher.publish(scan.clone())?;
        publisher.publish(*scan)?; // a copy of it
        for _ in 0..2 {
            let taken = std::iter::repeat_with(|| subscription.take()).find_map(|taken| taken);
            assert_eq!(taken.expect("it comes").0.ranges, [n; 1000]);
        }
        assert_eq!(scan.ranges, [n; 1000]);
    }
    drop(publisher);
    drop(kept);
    Ok(())
}

#[test]
fn a_message_stays_as_it_is_when_its_context_is_gone() -> sinew::Result<()> {
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let qos = QoS::default().keep_last(1);
    let publisher = one.node("laser")?.publisher::<Scan>("scans").qos(qos).create()?;
    let publish = |n| {
        let mut scan = publisher.loan();
        scan.ranges = [n; 1000];
        publisher.publish(scan)
    };
    let node = other.node("listener")?;
    let subscription = node.subscription::<Scan>("scans").qos(qos).create()?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    publish(1)?;
    let begin = std::time::Instant::now();
    let (kept, _) = loop {
        assert!(begin.elapsed() < PATIENCE, "it comes");
        if let Some(taken) = subscription.take() {
            break taken;
        }
    };
    assert_eq!(rights_at(&*kept, place.0.path()).as_deref(), Some("r--s"), "read where it lies");
    drop((subscription, node, other));
    let begin = std::time::Instant::now();
    while publisher.subscription_count() > 0 {
        assert!(begin.elapsed() < PATIENCE, "the publisher notices it");
        std::thread::yield_now();
    }
    // Another reader comes, so that messages go the same way again.
    let another = place.context();
    let subscription = another.node("listener")?.subscription::<Scan>("scans").create()?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    for n in 2..50 {
        publish(n)?;
        let begin = std::time::Instant::now();
        let (taken, _) = loop {
            assert!(begin.elapsed() < PATIENCE, "it comes");
            if let Some(taken) = subscription.take() {
                break taken;
            }
        };
        assert_eq!(taken.ranges, [n; 1000]);
    }
    assert_eq!(kept.ranges, [1; 1000]);
    Ok(())
}

#[test]
fn a_task_that_takes_makes_room_for_a_publisher_of_another_process() -> sinew::Result<()> {
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let all = QoS::default().keep_all().max_samples(1);
    let subscription = other.node("listener")?.subscription::<Text>("chatter").qos(all).create()?;
    let patient = all.max_blocking_time(PATIENCE);
    let publisher = one.node("talker")?.publisher::<Text>("chatter").qos(patient).create()?;
    let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    for n in 0..10 {
        publisher.publish(Text(n.to_string()))?;
        let (text, _) = loop {
            let taken = std::pin::pin!(subscription.recv()).poll(&mut task);
            if let std::task::Poll::Ready(taken) = taken {
                break taken.expect("nobody shuts down");
            }
            std::thread::yield_now();
        };
        assert_eq!(text.0, n.to_string());
    }
    Ok(())
}

/// Spins a context's callbacks until it is shut down.
fn spin_aside(context: &Context) -> std::thread::JoinHandle<sinew::Result<()>> {
    let context = context.clone();
    std::thread::spawn(move || sinew::spin(&context))
}

#[test]
fn a_call_made_when_the_server_has_gone_waits_for_the_next() -> sinew::Result<()> {
    let place = Place::new();
    let (serving, asking) = (place.context(), place.context());
    let node = serving.node("server")?;
    let serve = || node.server::<Echo>("echo").callback(|text: Text| text);
    let client = asking.node("asker")?.client::<Echo>("echo").create()?;
    let mut server = serve()?;
    let spinning = spin_aside(&serving);
    assert!(client.wait_for_server(PATIENCE));
    for n in 0..30 {
        assert_eq!(client.call(Text(n.to_string()), PATIENCE)?.0, n.to_string());
        drop(server);
        assert!(!client.is_server_ready(), "it is seen at once that it is gone");
        let call = client.call_async(Text("after it".to_owned()));
        server = serve()?;
        assert_eq!(Executor::single().spin_until(call)?.expect("an answer").0, "after it");
    }
    serving.shutdown();
    spinning.join().expect("no panic")?;
    Ok(())
}

#[test]
fn a_call_made_when_one_of_two_servers_has_gone_goes_to_the_other() -> sinew::Result<()> {
    let place = Place::new();
    let (first, second, asking) = (place.context(), place.context(), place.context());
    let client = asking.node("asker")?.client::<Echo>("echo").create()?;
    let spinning = [spin_aside(&first), spin_aside(&second)];
    for n in 0..20 {
        let mut servers = Vec::new();
        for context in [&first, &second] {
            let name = format!("{n}");
            let answer = move |_: &Text| Text(name.clone());
            servers.push(context.node("server")?.server::<Echo>("echo").callback(answer)?);
        }
        assert!(client.wait_for_server(PATIENCE));
        for server in servers {
            let answer = client.call(Text("who?".to_owned()), PATIENCE)?;
            assert_eq!(answer.0, n.to_string());
            drop(server);
        }
    }
    first.shutdown();
    second.shutdown();
    for thread in spinning {
        thread.join().expect("no panic")?;
    }
    Ok(())
}

#[test]
fn a_call_to_a_server_here_lends_its_thread_though_there_was_one_elsewhere() -> sinew::Result<()> {
    let place = Place::new();
    let (serving, asking) = (place.context(), place.context());
    let _away =
        serving.node("server")?.server::<Echo>("echo").callback(|_: &Text| Text("away".to_owned()))?;
    let spinning = spin_aside(&serving);
    let node = asking.node("asker")?;
    let client = node.client::<Echo>("echo").create()?;
    assert!(client.wait_for_server(PATIENCE));
    assert_eq!(client.call(Text::default(), PATIENCE)?.0, "away");
    let _here = node.server::<Echo>("echo").callback(|_: &Text| Text("here".to_owned()))?;
    let (group, done) = (node.group(()), asking.clone());
    let _timer = group.timer(Duration::from_millis(1)).callback(move || {
        let answer = client.call(Text::default(), PATIENCE);
        done.shutdown();
        assert_eq!(answer.expect("an answer of the server in the same executor").0, "here");
    })?;
    sinew::spin(&asking)?;
    serving.shutdown();
    spinning.join().expect("no panic")?;
    Ok(())
}

#[test]
fn a_subscription_that_is_dropped_goes_at_once() -> sinew::Result<()> {
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let publisher = one.node("talker")?.publisher::<Text>("chatter").create()?;
    let captured = Arc::new(());
    let kept = captured.clone();
    let wants = move |_: &Text| Arc::strong_count(&kept) > 0;
    let subscription = other.node("listener")?.subscription::<Text>("chatter").filter(wants).create()?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    publisher.publish(Text::default())?;
    std::iter::repeat_with(|| subscription.take()).find_map(|taken| taken).expect("it comes");
    drop(subscription);
    assert_eq!(Arc::strong_count(&captured), 1, "nobody has its filter any more");
    Ok(())
}

/// Also not its handler for liveliness, which has the listener's whole context.
#[test]
fn a_subscription_that_is_dropped_leaves_nothing_with_a_publisher_elsewhere() -> sinew::Result<()> {
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let manual = QoS::default().liveliness(Liveliness::ManualByTopic).lease(PATIENCE);
    let publisher = one.node("talker")?.publisher::<Text>("chatter").qos(manual).create()?;
    let node = other.node("listener")?;
    let captured = Arc::new(());
    for _ in 0..3 {
        let kept = captured.clone();
        let changed = move |_: &LivelinessChanged| assert!(Arc::strong_count(&kept) > 0);
        let subscription =
            node.subscription::<Text>("chatter").qos(manual).on_liveliness_changed(changed).create()?;
        assert!(publisher.wait_for_subscribers(1, PATIENCE));
        assert_eq!(subscription.publisher_count(), 1);
        drop(subscription);
    }
    wait_until("nobody has its handler any more", || Arc::strong_count(&captured) == 1);
    drop((node, other));
    let graph = one.graph()?;
    wait_until("the listener's participant leaves", || graph.nodes().len() == 1);
    Ok(())
}

#[test]
fn a_context_in_virtual_time_meets_others_only_on_request() -> sinew::Result<()> {
    const CHILD: &str = "SINEW_TEST_IN_VIRTUAL_TIME";
    if std::env::var_os(CHILD).is_none() {
        let place = Place::new(); // the usual directory of a process of its own
        let program = std::env::current_exe().expect("this test");
        let test = ["--exact", "a_context_in_virtual_time_meets_others_only_on_request"];
        let mut child = std::process::Command::new(program);
        let child = child.args(test).env(CHILD, "1").env("SINEW_DIR", place.0.path());
        assert!(child.status().expect("it starts").success());
        return Ok(());
    }
    let clock = sinew::time::VirtualClock::new();
    let real = Context::builder().domain(3).build()?;
    let _subscription = real.node("listener")?.subscription::<Text>("chatter").create()?;
    let virtual_time = || Context::builder().domain(3).virtual_time(&clock);
    let directory = std::env::var_os("SINEW_DIR").expect("set above");
    for (context, meets) in [
        (virtual_time(), 0),
        (virtual_time().shared_memory(true), 1),
        (virtual_time().directory(&directory), 1),
        (virtual_time().directory(&directory).shared_memory(false), 0),
    ] {
        let publisher = context.build()?.node("talker")?.publisher::<Text>("chatter").create()?;
        assert_eq!(publisher.subscription_count(), meets);
    }
    Ok(())
}

/// After a short callback an executor doesn't look at once for what other processes have sent, but
/// before it runs what was published since the last look.
#[test]
fn what_is_published_first_runs_first_wherever_it_comes_from() -> sinew::Result<()> {
    const LAST: u64 = 300;
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let far = one.node("far")?.publisher::<Text>("far").create()?;
    let node = other.node("near")?;
    let near = node.publisher::<Text>("near").create()?;
    let tick = node.publisher::<Text>("tick").create()?;
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (saw_far, saw_near) = (seen.clone(), seen.clone());
    let executor = Executor::single();
    let over = executor.stop_handle();
    let _far = node.subscription::<Text>("far").callback(move |text: &Text| {
        saw_far.lock().expect("nobody panics").push(format!("far {}", text.0));
    })?;
    let next = tick.clone();
    let _near = node.subscription::<Text>("near").callback(move |text: &Text| {
        saw_near.lock().expect("nobody panics").push(format!("near {}", text.0));
        let number: u64 = text.0.parse().expect("a number");
        if number == LAST {
            over.stop();
        }
        drop(next.publish(Text((number + 1).to_string())));
    })?;
    executor.add(&other)?;
    assert!(far.wait_for_subscribers(1, PATIENCE));
    // The first messages come through the other participant's helper thread, which also introduces
    // the executor's port to the publisher's: from then on each is there as soon as it is
    // published.
    let mut at_once = 0;
    while at_once < 20 {
        far.publish(Text("warm".to_owned()))?;
        at_once = if executor.spin_once(Duration::ZERO)? { at_once + 1 } else { 0 };
        while executor.spin_some()? > 0 {}
    }
    seen.lock().expect("no thread panics").clear();
    let _ticks = node.subscription::<Text>("tick").callback(move |text: &Text| {
        far.publish(text.clone()).expect("it has room"); // first by another participant
        near.publish(text.clone()).expect("it has room");
    })?;
    tick.publish(Text("0".to_owned()))?;
    executor.spin()?;
    let expected: Vec<_> = (0..=LAST).flat_map(|n| [format!("far {n}"), format!("near {n}")]).collect();
    assert_eq!(*seen.lock().expect("nobody panics"), expected);
    Ok(())
}

/// How often a thread of this process has slept.
fn sleeps_of(thread: &std::path::Path) -> u64 {
    let status = std::fs::read_to_string(thread.join("status")).expect("the thread runs");
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count.expect("the kernel counts").trim().parse().expect("a number")
}

/// An executor with contexts of two directories receives from both, and sleeps while nothing comes.
#[test]
fn an_executor_of_two_directories_sleeps() -> sinew::Result<()> {
    let places = [Place::new(), Place::new()];
    let contexts = [places[0].context(), places[1].context()];
    let arrived = Arc::new(AtomicU64::new(0));
    let subscribe = |context: &Context| -> sinew::Result<Subscription<Text>> {
        let arrived = arrived.clone();
        let callback = move |_: &Text| {
            arrived.fetch_add(1, Ordering::Relaxed);
        };
        Ok(context.node("listener")?.subscription::<Text>("chatter").callback(callback)?)
    };
    let _subscriptions = [subscribe(&contexts[0])?, subscribe(&contexts[1])?];
    for threads in [1, 2] {
        let executor = Executor::multi(threads);
        contexts.iter().try_for_each(|context| executor.add(context))?;
        let stop = executor.stop_handle();
        let talker = |place: &Place| -> sinew::Result<Publisher<Text>> {
            Ok(place.context().node("talker")?.publisher::<Text>("chatter").create()?)
        };
        let talkers = [talker(&places[0])?, talker(&places[1])?];
        let (sender, received) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let spinning = scope.spawn(move || {
                let own = std::fs::read_link("/proc/thread-self").expect("Linux");
                sender.send(std::path::Path::new("/proc").join(own)).expect("it is awaited");
                executor.spin()
            });
            let spinner = received.recv().expect("it begins");
            for talker in talkers.iter().cycle().take(20) {
                assert!(talker.wait_for_subscribers(1, PATIENCE));
                let before = arrived.load(Ordering::Relaxed);
                talker.publish(Text("hello".to_owned())).expect("there is room");
                while arrived.load(Ordering::Relaxed) == before {
                    std::thread::yield_now();
                }
            }
            // The monitor of several threads looks for a second.
            std::thread::sleep(Duration::from_millis(if threads == 1 { 20 } else { 1500 }));
            let mut slept = Vec::new();
            // On a busy machine the monitor may be late to rest.
            while slept.last().is_none_or(|&last| last >= 20) {
                assert!(slept.len() < 20, "it wakes for nothing: {slept:?}");
                let before = sleeps_of(&spinner);
                std::thread::sleep(Duration::from_millis(300));
                slept.push(sleeps_of(&spinner) - before);
            }
            stop.stop();
            spinning.join().expect("no panic").expect("no callback fails");
        });
    }
    Ok(())
}

/// A context of another directory comes while the executor sleeps at the bell of one that is gone.
#[test]
fn an_executor_receives_for_a_context_that_comes_after_another_has_gone() -> sinew::Result<()> {
    let (place, other) = (Place::new(), Place::new());
    let arrived = Arc::new(AtomicU64::new(0));
    let executor = Executor::single();
    let stop = executor.stop_handle();
    let gone = place.context();
    executor.add(&gone)?;
    let subscribe = |context: &Context| -> sinew::Result<Subscription<Text>> {
        let arrived = arrived.clone();
        let callback = move |_: &Text| {
            arrived.fetch_add(1, Ordering::Relaxed);
        };
        Ok(context.node("listener")?.subscription::<Text>("chatter").callback(callback)?)
    };
    let say = |place: &Place| -> sinew::Result<()> {
        let talker = place.context().node("talker")?.publisher::<Text>("chatter").create()?;
        assert!(talker.wait_for_subscribers(1, PATIENCE));
        for _ in 0..3 {
            let before = arrived.load(Ordering::Relaxed);
            talker.publish(Text("hello".to_owned()))?;
            while arrived.load(Ordering::Relaxed) == before {
                std::thread::yield_now();
            }
            std::thread::sleep(Duration::from_millis(20)); // so that it sleeps
        }
        Ok(())
    };
    let first = subscribe(&gone)?;
    std::thread::scope(|scope| {
        let spinning = scope.spawn(|| executor.spin());
        say(&place)?;
        first.close();
        drop(gone);
        let elsewhere = other.context();
        executor.add(&elsewhere)?;
        let _second = subscribe(&elsewhere)?;
        say(&other)?;
        stop.stop();
        spinning.join().expect("no panic").map_err(Into::into)
    })
}

/// The context at whose bell an executor sleeps goes first: it still receives from the others, also
/// participants that come later.
#[test]
fn an_executor_still_receives_after_the_context_of_its_bell_has_gone() -> sinew::Result<()> {
    let place = Place::new();
    let arrived = Arc::new(AtomicU64::new(0));
    let executor = Executor::single();
    let stop = executor.stop_handle();
    let (first, second) = (place.context(), place.context());
    let subscribe = |context: &Context, topic: &str| -> sinew::Result<Subscription<Text>> {
        let arrived = arrived.clone();
        let callback = move |_: &Text| {
            arrived.fetch_add(1, Ordering::Relaxed);
        };
        Ok(context.node("listener")?.subscription::<Text>(topic).callback(callback)?)
    };
    for context in [&first, &second] {
        executor.add(context)?;
    }
    let gone = subscribe(&first, "first")?;
    let _stays = subscribe(&second, "second")?;
    let _server = second.node("server")?.server::<Echo>("echo").callback(|text: Text| text)?;
    let ask = || -> sinew::Result<()> {
        let client = place.context().node("asker")?.client::<Echo>("echo").create()?;
        assert!(client.wait_for_server(PATIENCE));
        for _ in 0..3 {
            assert_eq!(client.call(Text("hello".to_owned()), PATIENCE)?.0, "hello");
            std::thread::sleep(Duration::from_millis(20)); // so that it sleeps
        }
        Ok(())
    };
    let say = |topic: &str| -> sinew::Result<()> {
        let talker = place.context().node("talker")?.publisher::<Text>(topic).create()?;
        assert!(talker.wait_for_subscribers(1, PATIENCE));
        for _ in 0..3 {
            let before = arrived.load(Ordering::Relaxed);
            talker.publish(Text("hello".to_owned()))?;
            wait_until("it arrives", || arrived.load(Ordering::Relaxed) > before);
            std::thread::sleep(Duration::from_millis(20)); // so that it sleeps
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let stops = Stops(stop);
        let spinning = scope.spawn(|| executor.spin());
        say("first")?;
        say("second")?;
        ask()?;
        gone.close();
        drop(first);
        say("second")?;
        ask()?;
        drop(stops);
        spinning.join().expect("no panic").map_err(Into::into)
    })
}

/// Two versions of one type.
mod versions {
    pub(crate) mod old {
        #[derive(sinew::Message)]
        #[message(name = "wheels_msgs/msg/Wheel")]
        pub(crate) struct Wheel {
            pub(crate) velocity: f32,
        }
    }

    pub(crate) mod new {
        #[derive(sinew::Message)]
        #[message(name = "wheels_msgs/msg/Wheel")]
        pub(crate) struct Wheel {
            pub(crate) velocity: f64,
            pub(crate) slips: bool,
        }
    }
}

#[test]
fn ends_with_two_versions_of_a_type_are_notified_how_they_differ() -> sinew::Result<()> {
    use sinew::event::IncompatibleType;
    use std::sync::{Arc, Mutex};
    let place = Place::new();
    let (here, there) = (place.context(), place.context());
    let why = "type (wheels_msgs/msg/Wheel: `velocity` is float64 at the publisher, float32 at the \
               subscription; `slips` is missing at the subscription)";
    for (context, place) in [(&here, "/old".to_owned()), (&there, "/old in process ".to_owned())] {
        let old = here.node("old")?.subscription::<versions::old::Wheel>("wheel").create()?;
        let reasons = Arc::new(Mutex::new(Vec::new()));
        let received = reasons.clone();
        let node = context.node("new")?;
        let _new = node
            .publisher::<versions::new::Wheel>("wheel")
            .on_incompatible_type(move |event: &IncompatibleType| {
                received.lock().unwrap().push(event.last_reason.clone());
            })
            .create()?;
        let executor = Executor::single();
        executor.add(context)?;
        wait_until("it is notified", || {
            executor.spin_some().unwrap();
            !reasons.lock().unwrap().is_empty()
        });
        let reasons = reasons.lock().unwrap();
        assert!(reasons[0].starts_with(&format!("{why} with {place}")), "{reasons:?}");
        drop(old);
    }
    Ok(())
}

/// A directory of the domain that keeps others out is warned of. That is said with nothing locked:
/// the program's logger may make nodes.
#[test]
fn what_is_wrong_with_the_domain_is_said_with_no_lock_held() -> sinew::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    let place = Place::new();
    std::fs::set_permissions(place.0.path(), std::fs::Permissions::from_mode(0o770)).expect("it is ours");
    std::fs::DirBuilder::new().mode(0o700).create(place.0.path().join("3")).expect("it is ours");
    let context = place.context();
    let node = context.node("joins")?;
    assert_eq!(node.name(), "joins");
    Ok(())
}

/// More of them than the stack of the thread that learns of it has room for, if each were forgotten
/// inside the one before.
#[test]
fn a_publisher_with_many_subscriptions_goes() -> sinew::Result<()> {
    let place = Place::new();
    let (here, there) = (place.context(), place.context());
    let publisher = there.node("talker")?.publisher::<Text>("texts").create()?;
    let node = here.node("listener")?;
    let all: Vec<_> = (0..1000)
        .map(|_| node.subscription::<Text>("texts").qos(QoS::new().keep_last(1)).create())
        .collect::<Result<_, _>>()?;
    support::wait_for("they match", || (publisher.subscription_count() == 1000).then_some(()));
    publisher.publish(Text("to all".to_owned()))?;
    drop(publisher);
    support::wait_for("it is gone", || all.iter().all(|texts| texts.publisher_count() == 0).then_some(()));
    assert!(all.iter().all(|texts| texts.take().is_some_and(|(text, _)| text.0 == "to all")));
    Ok(())
}
