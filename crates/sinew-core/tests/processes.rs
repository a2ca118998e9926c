//! Nodes of different processes: each test starts itself once more in another role.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod support;

use parking_lot::Mutex;
use sinew::error::{CallFailure, PublishFailure};
use sinew::event::{LivelinessChanged, Matched, RequestedDeadlineMissed};
use sinew::prelude::*;
use sinew::qos::Liveliness;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use support::tasks::block_on;
use support::{Log, Number, Numbers, PATIENCE, finishes, numbers_in};

/// What the other process is to be; absent in the test itself.
const ROLE: &str = "SINEW_TEST_ROLE";

/// What the other process says begins so, among what the test harness says.
const SAID: &str = "said ";

const DEEP: QoS = QoS::new().keep_last(100_000);

/// Where the processes of a test meet.
struct Place(PathBuf);

impl Place {
    fn context(&self) -> Context {
        context_at(&self.0)
    }

    /// Starts this test once more, as something else.
    fn start(&self, test: &str, role: &str) -> Other {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env("SINEW_TEST_PLACE", &self.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Other { child, output }
    }

    /// Participants of whom there are files.
    fn owners(&self) -> BTreeSet<String> {
        let entries = std::fs::read_dir(self.0.join("3")).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().into_string().unwrap());
        names.filter_map(|name| Some(name.split('.').next()?.to_owned())).collect()
    }

    /// Once all have left, or another participant has noticed their end, nothing is left.
    fn assert_is_clean(&self) {
        let onlooker = self.context();
        let _node = onlooker.node("onlooker").unwrap();
        until("only what belongs to a living participant is left", || self.owners().len() == 1);
    }
}

fn context_at(place: &Path) -> Context {
    Context::builder().domain(3).directory(place).build().unwrap()
}

/// Plays the test's part, and looks whether anything is left of it.
#[track_caller]
fn play(part: impl FnOnce(&Place) -> sinew::Result<()> + Send + 'static) -> sinew::Result<()> {
    let directory = tempfile::tempdir_in("/dev/shm").expect("shared memory"); // removed even if the part never ends
    let place = Place(directory.path().to_owned());
    finishes(move || {
        part(&place)?;
        place.assert_is_clean();
        Ok(())
    })
}

#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    #[expect(clippy::disallowed_methods, reason = "only to fail instead of hanging")]
    let (now, end) = (std::time::Instant::now, std::time::Instant::now() + PATIENCE);
    while !is_so() {
        assert!(now() < end, "{what}: it never is");
        thread::yield_now();
    }
}

/// Another process, which is killed at the latest when this is dropped.
struct Other {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Other {
    /// The next thing it says, for which it waits; `None` when it has ended.
    fn next(&mut self) -> Option<String> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.output.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(said) = line.trim_end().strip_prefix(SAID) {
                return Some(said.to_owned());
            }
        }
    }

    #[track_caller]
    fn expect(&mut self, what: &str) {
        assert_eq!(self.next().as_deref(), Some(what));
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    /// Stops it, and waits until each of its threads has stopped.
    fn stop(&self) {
        self.signal("-STOP");
        let tasks = PathBuf::from(format!("/proc/{}/task", self.child.id()));
        until("it has stopped", || {
            std::fs::read_dir(&tasks).unwrap().all(|task| {
                // A thread that is gone meanwhile has no state.
                let state = std::fs::read_to_string(task.unwrap().path().join("stat")).unwrap_or_default();
                state.rsplit_once(") ").is_none_or(|(_, state)| state.starts_with('T'))
            })
        });
    }

    fn kill(&mut self) {
        self.child.kill().unwrap(); // SIGKILL
        self.child.wait().unwrap();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it has ended already
        let _ = self.child.wait();
    }
}

/// Waits for the end. (A thread that has received from a channel may have a wake-up left, so that
/// `park` returns once.)
fn until_killed() -> ! {
    loop {
        thread::park();
    }
}

/// Says something to the test that has started this process.
fn say(what: impl std::fmt::Display) {
    println!("\n{SAID}{what}");
}

/// If this is the other process: what it is to be, and a context for it. It ends when its parent
/// does.
fn role() -> Option<(String, Context)> {
    let role = std::env::var(ROLE).ok()?;
    thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0]); // returns when the parent ends
        std::process::exit(1)
    });
    Some((role, context_at(&PathBuf::from(std::env::var_os("SINEW_TEST_PLACE").unwrap()))))
}

/// Publishes numbers from `first` on, until it is killed.
fn publish_for_ever(context: &Context, qos: QoS) -> sinew::Result<()> {
    let publisher = context.node("talker")?.publisher::<Number>("numbers").qos(qos).create()?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    for number in 1.. {
        publisher.publish(Number(number))?;
    }
    Ok(())
}

#[test]
fn what_one_process_publishes_another_receives() -> sinew::Result<()> {
    if let Some((_, context)) = role() {
        let publisher = context.node("talker")?.publisher::<Number>("numbers").qos(DEEP).create()?;
        assert!(publisher.wait_for_subscribers(1, PATIENCE));
        for number in 0..10_000 {
            publisher.publish(Number(number))?;
        }
        say("published");
        assert!(publisher.wait_for_subscribers(2, PATIENCE)); // the sign that all has come
        return Ok(());
    }
    play(|place| {
        let context = place.context();
        let (node, log) = (context.node("listener")?, Log::new());
        let pen = log.pen();
        let _numbers = node.subscription("numbers").qos(DEEP).callback(move |n: &Number| pen.write(n.0))?;
        let executor = Executor::multi(2);
        executor.add(&context)?;
        let stop = executor.stop_handle();
        let spinning = thread::spawn(move || executor.spin());
        let mut other = place.start("what_one_process_publishes_another_receives", "talker");
        assert_eq!(log.wait_for(10_000), (0..10_000).collect::<Vec<_>>());
        other.expect("published");
        let _sign = node.subscription::<Number>("numbers").create()?;
        assert_eq!(other.next(), None);
        stop.stop();
        spinning.join().unwrap()?;
        Ok(())
    })
}

#[test]
fn a_publisher_that_is_killed_leaves_what_it_published() -> sinew::Result<()> {
    let reliable = QoS::default().keep_all().max_samples(50).max_blocking_time(PATIENCE);
    if let Some((_, context)) = role() {
        return publish_for_ever(&context, reliable);
    }
    play(move |place| {
        let context = place.context();
        let node = context.node("listener")?;
        let (matched, alive) = (Log::new(), Log::new());
        let (pen, changed) = (matched.pen(), alive.pen());
        let numbers = node
            .subscription::<Number>("numbers")
            .qos(reliable)
            .on_matched(move |event: &Matched| pen.write(event.current))
            .on_liveliness_changed(move |event: &LivelinessChanged| changed.write(event.alive))
            .create()?;
        let executor = Executor::single();
        executor.add(&context)?;
        for round in 1..=3 {
            let mut other = place.start("a_publisher_that_is_killed_leaves_what_it_published", "talker");
            let mut expected = 1;
            while expected < 500 * round {
                if let Some((number, _)) = numbers.take() {
                    assert_eq!(number.0, expected, "none is lost, none comes twice");
                    expected += 1;
                }
            }
            other.kill();
            until("its end is noticed", || numbers.publisher_count() == 0);
            executor.spin_some()?; // who sees that number finds the handlers ready
            assert_eq!((matched.lines().last(), alive.lines().last()), (Some(&0), Some(&0)));
            // Its files go when all that it published was read, be it by the helper thread.
            let mut left = Vec::new();
            until("nothing is left of it", || {
                left.extend(numbers_in(&numbers));
                place.owners().len() == 1
            });
            left.extend(numbers_in(&numbers));
            for number in left {
                assert_eq!(number, expected);
                expected += 1;
            }
        }
        Ok(())
    })
}

#[test]
fn a_subscription_that_is_killed_frees_who_waits_for_it() -> sinew::Result<()> {
    let patient = QoS::default().keep_all().max_samples(3).max_blocking_time(PATIENCE);
    if let Some((_, context)) = role() {
        let numbers = context.node("listener")?.subscription::<Number>("numbers").qos(patient).create()?;
        say("here");
        while numbers.statistics().taken < 10 {
            numbers.take();
        }
        say("full from now on");
        until_killed();
    }
    play(move |place| {
        let context = place.context();
        let numbers = context.node("talker")?.publisher::<Number>("numbers").qos(patient).create()?;
        for _ in 0..3 {
            let mut other = place.start("a_subscription_that_is_killed_frees_who_waits_for_it", "listener");
            other.expect("here");
            assert!(numbers.wait_for_subscribers(1, PATIENCE));
            (0..13).try_for_each(|number| numbers.publish(Number(number)))?;
            other.expect("full from now on");
            thread::scope(|scope| {
                let waiting = scope.spawn(|| numbers.publish(Number(13)).map_err(|error| error.failure()));
                other.kill();
                assert_eq!(waiting.join().unwrap(), Ok(()));
            });
            until("its end is noticed", || numbers.subscription_count() == 0);
        }
        Ok(())
    })
}

#[test]
fn a_late_process_gets_what_was_retained() -> sinew::Result<()> {
    let latched = QoS::default().keep_last(5).transient_local();
    if let Some((role, context)) = role() {
        let node = context.node("listener")?;
        let deep = latched.keep_last(10);
        let qos = if role == "late" { deep } else { deep.volatile() };
        let numbers = node.subscription::<Number>("numbers").qos(qos).create()?;
        say("here");
        for _ in 0..if role == "late" { 6 } else { 1 } {
            say(block_on(numbers.recv()).unwrap().0.0);
        }
        return Ok(());
    }
    play(move |place| {
        let context = place.context();
        let numbers = context.node("talker")?.publisher::<Number>("numbers").qos(latched).create()?;
        (1..=20).try_for_each(|number| numbers.publish(Number(number)))?;
        let mut others = ["late", "late", "volatile"]
            .map(|role| place.start("a_late_process_gets_what_was_retained", role));
        others.iter_mut().for_each(|other| other.expect("here"));
        assert!(numbers.wait_for_subscribers(3, PATIENCE));
        numbers.publish(Number(21))?;
        for other in &mut others[..2] {
            (16..=21).for_each(|number| other.expect(&number.to_string()));
        }
        others[2].expect("21");
        Ok(())
    })
}

/// One publisher's process is stopped when the subscriptions come, so the other's messages are here
/// first.
#[test]
fn what_several_processes_retained_comes_in_the_order_of_its_publication() -> sinew::Result<()> {
    const TEST: &str = "what_several_processes_retained_comes_in_the_order_of_its_publication";
    const LATCHED: QoS = QoS::new().keep_last(5).transient_local();
    let publish = |context: &Context, number| -> sinew::Result<Publisher<Number>> {
        let publisher = context.node("talker")?.publisher::<Number>("numbers").qos(LATCHED).create()?;
        publisher.publish(Number(number))?;
        Ok(publisher)
    };
    if let Some((role, context)) = role() {
        let _publisher = publish(&context, role.parse().unwrap())?;
        say("here");
        return sinew::spin(&context);
    }
    play(move |place| {
        let mut first = place.start(TEST, "1");
        first.expect("here");
        let here = place.context();
        let second = publish(&here, 2)?;
        let mut third = place.start(TEST, "3");
        third.expect("here");

        let listener = place.context();
        let node = listener.node("listener")?;
        first.stop();
        let by_hand = node.subscription::<Number>("numbers").qos(LATCHED).create()?;
        let log = Log::new();
        let pen = log.pen();
        let callback = move |number: &Number| pen.write(number.0);
        let called = node.subscription::<Number>("numbers").qos(LATCHED).callback(callback)?;
        let executor = Executor::single();
        executor.add(&listener)?;
        until("two are there", || {
            executor.spin_some().unwrap();
            let are_there = |subscription: &Subscription<Number>| subscription.statistics().received == 2;
            are_there(&by_hand) && are_there(&called)
        });
        assert_eq!((by_hand.take().map(|(number, _)| number.0), log.lines()), (None, vec![]));
        second.publish(Number(4))?;
        first.signal("-CONT");
        until("all are there", || {
            executor.spin_some().unwrap();
            by_hand.statistics().received == 4 && called.statistics().taken == 4
        });
        assert_eq!((numbers_in(&by_hand), log.lines()), (vec![1, 2, 3, 4], vec![1, 2, 3, 4]));

        // One that dies without having answered is waited for no longer.
        third.stop();
        let late = node.subscription::<Number>("numbers").qos(LATCHED).create()?;
        until("the others' are there", || late.statistics().received == 3);
        third.kill();
        until("they are handed out", || late.take().is_some());
        Ok(())
    })
}

#[test]
fn messages_of_several_processes_run_in_the_order_of_their_publication() -> sinew::Result<()> {
    const EACH: u64 = 50;
    if let Some((role, context)) = role() {
        let node = context.node(&role)?;
        let publisher = node.publisher::<Number>(&role).qos(DEEP).create()?;
        assert!(publisher.wait_for_subscribers(1, PATIENCE));
        let turns = node.subscription::<Number>("turns").qos(DEEP.transient_local()).create()?;
        let mine = role.strip_prefix("talker_").unwrap().parse::<u64>().unwrap();
        let done = node.publisher::<Number>("done").qos(DEEP).create()?;
        assert!(done.wait_for_subscribers(1, PATIENCE));
        say("ready");
        loop {
            let turn = block_on(turns.recv()).unwrap().0.0;
            if turn % 2 == mine {
                publisher.publish(Number(turn))?;
                done.publish(Number(turn))?;
            }
            if turn + 1 == 2 * EACH {
                break;
            }
        }
        until_killed();
    }
    play(|place| {
        let context = place.context();
        let node = context.node("listener")?;
        let log = Log::new();
        let report = || {
            let pen = log.pen();
            move |number: &Number| pen.write(number.0)
        };
        let _even = node.subscription("talker_0").qos(DEEP).callback(report())?;
        let _odd = node.subscription("talker_1").qos(DEEP).callback(report())?;
        let done = node.subscription::<Number>("done").qos(DEEP).create()?;
        let turns = node.publisher::<Number>("turns").qos(DEEP.transient_local()).create()?;
        let test = "messages_of_several_processes_run_in_the_order_of_their_publication";
        let mut others = ["talker_0", "talker_1"].map(|role| place.start(test, role));
        others.iter_mut().for_each(|other| other.expect("ready"));
        for turn in 0..2 * EACH {
            turns.publish(Number(turn))?;
            assert_eq!(block_on(done.recv()).unwrap().0.0, turn);
        }
        let executor = Executor::single();
        executor.add(&context)?;
        executor.spin_all(PATIENCE)?; // it receives all of it at once, when it begins
        assert_eq!(log.lines(), (0..2 * EACH).collect::<Vec<_>>());
        Ok(())
    })
}

#[test]
fn a_server_in_another_process_answers_and_its_death_fails_calls() -> sinew::Result<()> {
    const TEST: &str = "a_server_in_another_process_answers_and_its_death_fails_calls";
    if let Some((_, context)) = role() {
        let _server = context.node("server")?.server::<Numbers>("double").callback(|n: &Number| {
            if n.0 == 13 {
                say("asked for 13");
                until_killed();
            }
            Number(2 * n.0)
        })?;
        return sinew::spin(&context);
    }
    play(|place| {
        let context = place.context();
        let node = context.node("asker")?;
        let client = node.client::<Numbers>("double").create()?;
        for _ in 0..3 {
            let mut other = place.start(TEST, "server");
            assert!(client.wait_for_server(PATIENCE));
            for n in 20..100 {
                assert_eq!(client.call(Number(n), PATIENCE)?.0, 2 * n);
                assert_eq!(block_on(client.call_async(Number(n)))?.0, 2 * n);
            }
            let calls = thread::scope(|scope| {
                let blocked = scope.spawn(|| client.call(Number(13), PATIENCE).map(drop));
                other.expect("asked for 13");
                let waiting = client.call_async(Number(1));
                other.kill();
                [blocked.join().unwrap(), block_on(waiting).map(drop)]
            });
            for call in calls {
                assert_eq!(call.unwrap_err().failure(), &CallFailure::ServerGone);
            }
            until("its end is noticed", || !client.is_server_ready());
        }
        Ok(())
    })
}

#[test]
fn a_server_outlives_clients_that_are_killed() -> sinew::Result<()> {
    const TEST: &str = "a_server_outlives_clients_that_are_killed";
    if let Some((_, context)) = role() {
        let client = context.node("asker")?.client::<Numbers>("double").create()?;
        assert!(client.wait_for_server(PATIENCE));
        for n in 0.. {
            assert_eq!(client.call(Number(n), PATIENCE)?.0, 2 * n);
            if n == 100 {
                say("a hundred");
            }
            drop(client.call_async(Number(n)));
        }
    }
    play(|place| {
        let context = place.context();
        let node = context.node("server")?;
        let server = node.server::<Numbers>("double").callback(|n: &Number| Number(2 * n.0))?;
        let executor = Executor::multi(2);
        executor.add(&context)?;
        let stop = executor.stop_handle();
        let spinning = thread::spawn(move || executor.spin());
        for _ in 0..2 {
            let mut others = [(); 2].map(|()| place.start(TEST, "asker"));
            others.iter_mut().for_each(|other| other.expect("a hundred"));
            others[0].kill();
            let before = server.statistics().answered;
            until("the other one is still served", || server.statistics().answered > before + 100);
            others[1].kill();
        }
        let near = node.client::<Numbers>("double").create()?;
        assert_eq!(near.call(Number(1), PATIENCE)?.0, 2);
        stop.stop();
        spinning.join().unwrap()?;
        Ok(())
    })
}

#[test]
fn a_subscription_that_only_stops_is_waited_for() -> sinew::Result<()> {
    let hasty = QoS::default().keep_all().max_samples(3).max_blocking_time(Duration::from_millis(10));
    if let Some((_, context)) = role() {
        let numbers = context.node("listener")?.subscription::<Number>("numbers").qos(hasty).create()?;
        say("here");
        while numbers.statistics().taken < 3 {
            numbers.take();
        }
        say("took three");
        until_killed();
    }
    play(move |place| {
        let context = place.context();
        let numbers = context.node("talker")?.publisher::<Number>("numbers").qos(hasty).create()?;
        let mut other = place.start("a_subscription_that_only_stops_is_waited_for", "listener");
        other.expect("here");
        assert!(numbers.wait_for_subscribers(1, PATIENCE));
        (0..3).try_for_each(|number| numbers.publish(Number(number)))?;
        other.expect("took three");
        // The reader reports at once that it took them, or its helper thread does if that is
        // reading just then.
        for number in 3..6 {
            until("there is room", || numbers.publish(Number(number)).is_ok());
        }
        let error = numbers.publish(Number(6)).expect_err("nobody takes");
        assert!(matches!(error.failure(), PublishFailure::Full { .. }), "{error}");
        assert_eq!(error.into_message().into_shared().unwrap().0, 6);
        assert_eq!(numbers.subscription_count(), 1);
        Ok(())
    })
}

#[test]
fn processes_that_call_each_other_in_their_callbacks_get_an_error() -> sinew::Result<()> {
    const HASTE: Duration = Duration::from_millis(50);
    if let Some((_, context)) = role() {
        let node = context.node("b")?;
        let back = node.client::<Numbers>("/a").create()?;
        let _server = node.server::<Numbers>("/b").callback(move |n: &Number| match n.0 {
            0 => Ok(Number(0)),
            _ => back.call(Number(1), HASTE).map(|n| Number(n.0)),
        })?;
        return sinew::spin(&context);
    }
    play(|place| {
        let context = place.context();
        let (node, log) = (context.node("a")?, Log::new());
        let _server = node.server::<Numbers>("/a").callback(|n: Number| n)?;
        let client = node.client::<Numbers>("/b").create()?;
        let _other = place.start("processes_that_call_each_other_in_their_callbacks_get_an_error", "b");
        assert!(client.wait_for_server(PATIENCE));
        let (pen, timer_s, done) = (log.pen(), client.clone(), context.clone());
        let mut numbers = [1, 0, 1, 0].into_iter();
        let _timer = node.timer(Duration::from_millis(1)).callback(move || match numbers.next() {
            Some(n) => pen.write(timer_s.call(Number(n), PATIENCE).map(|n| n.0).map_err(|e| e.to_string())),
            None => done.shutdown(),
        })?;
        sinew::spin(&context)?; // the only thread, which waits in the timer's callback
        let lines = log.wait_for(4);
        for (line, is_circle) in lines.iter().zip([true, false, true, false]) {
            match line {
                Ok(n) => assert!(!is_circle && *n == 0, "nobody could answer {n}"),
                Err(error) => {
                    assert!(is_circle, "{error}");
                    assert!(
                        error.contains("/a") && error.contains("waiting for the caller in turn"),
                        "{error}"
                    );
                }
            }
        }
        Ok(())
    })
}

/// A server with requests that are taken by hand, and a client of the other process: either is
/// killed while a request is in hand.
#[test]
fn a_process_that_is_killed_over_a_request_in_hand_is_noticed() -> sinew::Result<()> {
    const TEST: &str = "a_process_that_is_killed_over_a_request_in_hand_is_noticed";
    if let Some((role, context)) = role() {
        let node = context.node("other")?;
        if role == "client" {
            let client = node.client::<Numbers>("/n").create()?;
            assert!(client.wait_for_server(PATIENCE));
            let _call = client.call_async(Number(1));
            until_killed();
        }
        let server = node.server::<Numbers>("/n").create()?;
        let (bell, news) = std::sync::mpsc::channel();
        server.set_listener(move |count| bell.send(count).unwrap());
        say("here");
        news.recv().unwrap();
        let _taken = server.take_request().unwrap();
        say("taken");
        until_killed();
    }
    play(|place| {
        let context = place.context();
        let node = context.node("here")?;
        let server = node.server::<Numbers>("/n").max_requests(1).create()?;
        for _ in 0..3 {
            let mut other = place.start(TEST, "client");
            let mut taken = None;
            until("its request is here", || {
                taken = server.take_request();
                taken.is_some()
            });
            let (number, info) = taken.unwrap();
            other.kill();
            // No client is left to read it, and the place is free for the next one.
            let _ = server.respond(&info.key(), number);
            assert_eq!(server.statistics().in_hand, 0);
        }
        server.close();
        let client = node.client::<Numbers>("/n").create()?;
        let mut other = place.start(TEST, "server");
        other.expect("here");
        assert!(client.wait_for_server(PATIENCE));
        let call = client.call_async(Number(1));
        other.expect("taken");
        other.kill();
        assert_eq!(block_on(call).unwrap_err().failure(), &CallFailure::ServerGone);
        Ok(())
    })
}

/// A client with responses that are taken by hand, and servers of other processes: one answers, and
/// is killed over the next request.
#[test]
fn the_end_of_a_process_is_a_response_to_take() -> sinew::Result<()> {
    const TEST: &str = "the_end_of_a_process_is_a_response_to_take";
    if let Some((_, context)) = role() {
        let server = context.node("other")?.server::<Numbers>("/n").create()?;
        let (bell, news) = std::sync::mpsc::channel();
        server.set_listener(move |count| bell.send(count).unwrap());
        say("here");
        for _ in 0..2 {
            news.recv().unwrap();
        }
        let (first, info) = server.take_request().unwrap();
        server.respond(&info.key(), first).unwrap();
        let _second = server.take_request().unwrap();
        say("taken");
        until_killed();
    }
    play(|place| {
        let context = place.context();
        let client = context.node("here")?.client::<Numbers>("/n").max_responses(2).create()?;
        let (bell, news) = std::sync::mpsc::channel();
        client.set_listener(move |count| bell.send(count).unwrap());
        for number in 0..3 {
            let mut other = place.start(TEST, "server");
            other.expect("here");
            assert!(client.wait_for_server(PATIENCE));
            let (first, second) = (client.send(Number(number))?, client.send(Number(number))?);
            other.expect("taken");
            assert_eq!(news.recv_timeout(PATIENCE).unwrap(), 1);
            let (response, info) = client.take_response().unwrap();
            assert_eq!((info.id(), response?.0), (first, number));
            assert!(info.source_time() <= info.reception_time());
            assert!(client.take_response().is_none());
            other.kill();
            assert_eq!(news.recv_timeout(PATIENCE).unwrap(), 1);
            let (response, info) = client.take_response().unwrap();
            assert_eq!((info.id(), response.unwrap_err().failure()), (second, &CallFailure::ServerGone));
            until("the server is gone", || !client.is_server_ready());
        }
        Ok(())
    })
}

/// The thread that waits for the answer and the one that notices the end of the server both read
/// answers: neither fails a call whose answer the other has read.
#[test]
fn an_answer_of_a_server_that_ends_at_once_arrives() -> sinew::Result<()> {
    const TEST: &str = "an_answer_of_a_server_that_ends_at_once_arrives";
    const ROUNDS: u64 = 100;
    if let Some((_, context)) = role() {
        let node = context.node("other")?;
        for round in 0..ROUNDS {
            let server = node.server::<Numbers>(&format!("/n{round}")).create()?;
            let (bell, news) = mpsc::channel();
            server.set_listener(move |count| bell.send(count).unwrap());
            say(round);
            news.recv().unwrap();
            let (number, info) = server.take_request().unwrap();
            server.respond(&info.key(), number).unwrap();
            server.close();
        }
        return Ok(());
    }
    play(|place| {
        let context = place.context();
        let node = context.node("here")?;
        for _ in 0..3 {
            let mut other = place.start(TEST, "server");
            for round in 0..ROUNDS {
                other.expect(&round.to_string());
                let client = node.client::<Numbers>(&format!("/n{round}")).create()?;
                assert!(client.wait_for_server(PATIENCE));
                let answer = client.call(Number(round), PATIENCE);
                assert_eq!(answer.map(|number| number.0).map_err(|error| error.to_string()), Ok(round));
            }
        }
        Ok(())
    })
}

#[test]
fn messages_of_a_publisher_that_left_at_once_arrive() -> sinew::Result<()> {
    if let Some((_, context)) = role() {
        let listener = context.node("listener")?;
        let (done, mut count) = (context.clone(), 0);
        let _numbers = listener.subscription("numbers").qos(DEEP).callback(move |number: &Number| {
            say(number.0);
            count += 1;
            if count == 6 {
                done.shutdown();
            }
        })?;
        say("ready");
        return sinew::spin(&context);
    }
    play(|place| {
        let mut other = place.start("messages_of_a_publisher_that_left_at_once_arrive", "listener");
        other.expect("ready");
        other.stop();
        let lasting = place.context();
        for (context, first) in [(&lasting, 1), (&place.context(), 4)] {
            let publisher = context.node("talker")?.publisher::<Number>("numbers").qos(DEEP).create()?;
            assert!(publisher.wait_for_subscribers(1, PATIENCE));
            (first..first + 3).try_for_each(|number| publisher.publish(Number(number)))?;
        }
        other.signal("-CONT");
        let arrived: BTreeSet<_> = (0..6).map(|_| other.next().unwrap()).collect();
        assert_eq!(arrived.into_iter().collect::<Vec<_>>(), ["1", "2", "3", "4", "5", "6"]);
        assert_eq!(other.next(), None);
        Ok(())
    })
}

/// The thread through which the subscription's context learns of others is held up, as on a busy
/// machine.
#[test]
fn what_was_retained_for_a_subscription_reaches_it_though_the_publisher_has_gone() -> sinew::Result<()> {
    play(|place| {
        let latched = QoS::new().transient_local().keep_last(5);
        let (talking, listening) = (place.context(), place.context());
        let publisher = talking.node("talker")?.publisher::<Number>("numbers").qos(latched).create()?;
        (0..3).try_for_each(|number| publisher.publish(Number(number)))?;
        let node = listening.node("listener")?;
        let ((held, is_held), (release, released)) = (mpsc::channel(), mpsc::channel::<()>());
        let released = Mutex::new(released);
        let listener = listening.graph()?.on_change(move || {
            if thread::current().name() == Some("sinew-shm") {
                let _ = held.send(());
                let _ = released.lock().recv(); // until it is let go on
            }
        });
        let _newcomer = place.context().node("newcomer")?;
        is_held.recv_timeout(PATIENCE).unwrap();
        let numbers = node.subscription::<Number>("numbers").qos(latched).create()?;
        assert!(publisher.wait_for_subscribers(1, PATIENCE));
        drop(publisher);
        // More changes than the log of changes holds: the listener reads the tables as they are.
        for _ in 0..1_100 {
            talking.node("talker")?;
        }
        drop(listener);
        drop(release);
        for number in 0..3 {
            until("it was retained", || numbers.take().is_some_and(|(got, _)| got.0 == number));
        }
        Ok(())
    })
}

/// The last state is looked at, and the sum of the changes: a process that a busy machine gives no
/// time for a whole lease lapses rightly, and lives again.
#[test]
fn a_publisher_lapses_when_its_process_is_stopped_and_is_gone_when_it_is_killed() -> sinew::Result<()> {
    const TEST: &str = "a_publisher_lapses_when_its_process_is_stopped_and_is_gone_when_it_is_killed";
    let automatic = QoS::default().lease(Duration::from_millis(300));
    let manual = automatic.liveliness(Liveliness::ManualByTopic);
    let qos_of = move |role: &str| if role == "is automatic" { automatic } else { manual };
    if let Some((role, context)) = role() {
        let node = context.node("talker")?;
        let publisher = node.publisher::<Number>("numbers").qos(qos_of(&role)).create()?;
        let _sign = node.timer(Duration::from_millis(5)).callback(move || match &*role {
            "asserts" => publisher.assert_liveliness(),
            "publishes" => publisher.publish(Number(1)).unwrap(),
            _ => {} // a manual one gave the only sign when it was made
        })?;
        say("here");
        return sinew::spin(&context);
    }
    play(move |place| {
        let context = place.context();
        let node = context.node("listener")?;
        let executor = Executor::single();
        executor.add(&context)?;
        let subscribe = |role: &str| {
            let log = Log::new();
            let pen = log.pen();
            let subscription = node
                .subscription::<Number>("numbers")
                .qos(qos_of(role))
                .on_liveliness_changed(move |event: &LivelinessChanged| {
                    pen.write((event.alive, event.not_alive, event.alive_change, event.not_alive_change));
                })
                .create();
            subscription.map(|subscription| (subscription, log))
        };
        let becomes = |log: &Log<(usize, usize, isize, isize)>, alive, not_alive| {
            until("the publishers are in that state", || {
                executor.spin_some().unwrap();
                log.lines().last().is_some_and(|line| (line.0, line.1) == (alive, not_alive))
            });
        };
        for role in ["asserts", "publishes", "is automatic"] {
            let (_subscription, log) = subscribe(role)?;
            let mut other = place.start(TEST, role);
            other.expect("here");
            becomes(&log, 1, 0);
            other.stop();
            becomes(&log, 0, 1);
            other.signal("-CONT");
            becomes(&log, 1, 0);
            other.stop();
            becomes(&log, 0, 1);
            other.kill();
            becomes(&log, 0, 0);
            let sums = log.lines().iter().fold((0, 0), |sums, line| (sums.0 + line.2, sums.1 + line.3));
            assert_eq!(sums, (0, 0));
        }
        // Also who comes after it has lapsed finds it so.
        let mut silent = place.start(TEST, "is silent");
        silent.expect("here");
        for _ in 0..2 {
            let (_subscription, log) = subscribe("is silent")?;
            becomes(&log, 0, 1);
        }
        silent.kill();
        Ok(())
    })
}

/// The other process reads only on request.
#[test]
fn a_publisher_waits_until_all_is_read_or_its_reader_is_gone() -> sinew::Result<()> {
    const TEST: &str = "a_publisher_waits_until_all_is_read_or_its_reader_is_gone";
    const SOON: Duration = Duration::from_millis(20);
    if let Some((role, context)) = role() {
        let node = context.node("reader")?;
        let qos = if role == "best effort" { DEEP.best_effort() } else { DEEP };
        let numbers = node.subscription::<Number>("numbers").qos(qos).create()?;
        let go = node.subscription::<Number>("go").create()?;
        say("here");
        while let Some((count, _)) = block_on(go.recv()) {
            for _ in 0..count.0 {
                until("the next one", || numbers.take().is_some());
            }
            say("taken");
        }
        return Ok(());
    }
    play(|place| {
        let context = place.context();
        let node = context.node("talker")?;
        let publisher = node.publisher::<Number>("numbers").qos(DEEP).create()?;
        let go = node.publisher::<Number>("go").create()?;
        let publish = |count: u64| (0..count).try_for_each(|number| publisher.publish(Number(number)));
        publish(3)?;
        assert!(publisher.wait_for_all_acked(PATIENCE), "nobody is there");

        let mut lazy = place.start(TEST, "best effort");
        lazy.expect("here");
        assert!(publisher.wait_for_subscribers(1, PATIENCE));
        publish(3)?;
        assert!(publisher.wait_for_all_acked(PATIENCE), "it is not asked for");

        let mut other = place.start(TEST, "reliable");
        other.expect("here");
        assert!(publisher.wait_for_subscribers(2, PATIENCE) && go.wait_for_subscribers(2, PATIENCE));
        assert!(publisher.wait_for_all_acked(PATIENCE), "it came later");
        // The thread that takes up a connection reads what is there, without a take. It has done so
        // once a message was taken.
        publish(1)?;
        go.publish(Number(1))?;
        other.expect("taken");
        assert!(publisher.wait_for_all_acked(PATIENCE));
        publish(3)?;
        assert!(!publisher.wait_for_all_acked(SOON) && !publisher.wait_for_all_acked(Duration::ZERO));
        go.publish(Number(2))?;
        other.expect("taken");
        assert!(!publisher.wait_for_all_acked(SOON), "one is left");
        thread::scope(|scope| {
            let waiting = scope.spawn(|| publisher.wait_for_all_acked(PATIENCE));
            go.publish(Number(1)).unwrap();
            assert!(waiting.join().unwrap());
        });
        other.expect("taken");
        let unread = node.publisher::<Number>("numbers").qos(DEEP.best_effort()).create()?;
        unread.publish(Number(1))?;
        assert!(unread.wait_for_all_acked(PATIENCE));

        publish(3)?;
        assert!(!publisher.wait_for_all_acked(SOON));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| publisher.wait_for_all_acked(PATIENCE));
            other.kill();
            assert!(waiting.join().unwrap(), "nobody is left to read it");
        });

        until("its end is known", || publisher.subscription_count() == 1);
        let mut last = place.start(TEST, "reliable");
        last.expect("here");
        assert!(publisher.wait_for_subscribers(2, PATIENCE) && go.wait_for_subscribers(2, PATIENCE));
        publish(1)?; // as above
        go.publish(Number(1))?;
        last.expect("taken");
        publish(1)?;
        let waiting = thread::spawn({
            let publisher = publisher.clone();
            move || publisher.wait_for_all_acked(PATIENCE)
        });
        context.shutdown();
        assert!(!waiting.join().unwrap(), "the context is shut down");
        last.kill();
        lazy.kill();
        Ok(())
    })
}

/// Nothing runs in the process that listens.
#[test]
fn statuses_show_what_becomes_of_another_process() -> sinew::Result<()> {
    const TEST: &str = "statuses_show_what_becomes_of_another_process";
    let lease = QoS::default().liveliness(Liveliness::ManualByTopic).lease(Duration::from_millis(300));
    let qos = lease.deadline(Duration::from_millis(100));
    if let Some((_, context)) = role() {
        let node = context.node("talker")?;
        let publisher = node.publisher::<Number>("numbers").qos(qos).create()?;
        let _numbers = node.timer(Duration::from_millis(5)).callback(move || publisher.publish(Number(1)))?;
        say("here");
        return sinew::spin(&context);
    }
    play(move |place| {
        let context = place.context();
        let numbers =
            context.node("listener")?.subscription::<Number>("numbers").qos(qos).keep_statuses().create()?;
        let (bell, news) = std::sync::mpsc::channel();
        let (of_deadline, of_liveliness) = (bell.clone(), bell);
        assert!(
            numbers.set_status_listener::<RequestedDeadlineMissed>(move |_| of_deadline.send(()).unwrap())
        );
        assert!(numbers.set_status_listener::<LivelinessChanged>(move |_| of_liveliness.send(()).unwrap()));
        let becomes = |alive, not_alive| loop {
            let event: LivelinessChanged = numbers.status().unwrap();
            if (event.alive, event.not_alive) == (alive, not_alive) {
                break;
            }
            news.recv_timeout(PATIENCE).unwrap();
        };
        let mut other = place.start(TEST, "talker");
        other.expect("here");
        becomes(1, 0);
        until("its first message is here", || numbers.take().is_some());
        other.stop();
        becomes(0, 1);
        let missed: RequestedDeadlineMissed = numbers.take_status().unwrap();
        assert!(missed.total_change > 0);
        other.signal("-CONT");
        becomes(1, 0);
        other.kill();
        becomes(0, 0);
        while numbers.status::<RequestedDeadlineMissed>().unwrap().total_change < 3 {
            news.recv_timeout(PATIENCE).unwrap();
        }
        numbers.clear_status_listener::<RequestedDeadlineMissed>();
        numbers.clear_status_listener::<LivelinessChanged>();
        assert_eq!(numbers.status::<Matched>().map(|event| (event.total, event.current)), Some((1, 0)));
        Ok(())
    })
}

#[test]
fn deadlines_are_missed_when_the_publisher_s_process_is_stopped_or_killed() -> sinew::Result<()> {
    const TEST: &str = "deadlines_are_missed_when_the_publisher_s_process_is_stopped_or_killed";
    let often = QoS::default().deadline(Duration::from_millis(100));
    if let Some((_, context)) = role() {
        let node = context.node("talker")?;
        let publisher = node.publisher::<Number>("numbers").qos(often).create()?;
        let _numbers = node.timer(Duration::from_millis(5)).callback(move || publisher.publish(Number(1)))?;
        return sinew::spin(&context);
    }
    play(move |place| {
        let context = place.context();
        let log = Log::new();
        let pen = log.pen();
        let numbers = context
            .node("listener")?
            .subscription::<Number>("numbers")
            .qos(often)
            .on_deadline_missed(move |event: &RequestedDeadlineMissed| pen.write(event.total))
            .create()?;
        let executor = Executor::single();
        executor.add(&context)?;
        let misses = |more: u64| {
            let before = log.lines().last().copied().unwrap_or(0);
            until("more are missed", || {
                executor.spin_some().unwrap();
                log.lines().last().is_some_and(|total| *total >= before + more)
            });
        };
        let mut other = place.start(TEST, "talker");
        until("it publishes", || numbers.statistics().received > 0);
        other.stop();
        misses(2);
        other.kill();
        misses(2);
        Ok(())
    })
}
