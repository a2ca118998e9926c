//! Processes that are held up by a callback: their waiting messages, and the callback.

use serde_json::json;
use sinew::prelude::*;
use sinew_interfaces::std_msgs::msg::UInt64;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::{Base, PATIENCE, until};

/// A context of this process that other processes see as a separate participant.
fn context(base: &Base) -> Context {
    let arguments: [&str; 0] = [];
    Context::builder().arguments(arguments).interrupts(false).directory(base.0.path()).build().unwrap()
}

/// A subscription to /numbers, and a server, in an executor with a first callback that lasts until
/// it is released.
struct Held {
    let_go: SyncSender<()>,
    thread: Option<std::thread::JoinHandle<()>>,
    stop: sinew::executor::StopHandle,
}

impl Held {
    fn start(base: &Base) -> (Self, Receiver<()>) {
        let (begun, has_begun) = sync_channel(100);
        let (let_go, may_go) = sync_channel::<()>(1);
        let (ready, is_ready) = sync_channel(1);
        let path: PathBuf = base.0.path().to_owned();
        let thread = std::thread::spawn(move || {
            let arguments: [&str; 0] = [];
            let context =
                Context::builder().arguments(arguments).interrupts(false).directory(path).build().unwrap();
            let node = context.node("slow").unwrap();
            let mut first = true;
            let _numbers = node
                .subscription::<UInt64>("numbers")
                .callback(move |_: &UInt64| {
                    begun.send(()).unwrap();
                    if std::mem::take(&mut first) {
                        may_go.recv().unwrap();
                    }
                })
                .unwrap();
            let executor = Executor::single();
            executor.add(&context).unwrap();
            ready.send(executor.stop_handle()).unwrap();
            executor.spin().unwrap();
        });
        let stop = is_ready.recv().unwrap();
        (Self { let_go, thread: Some(thread), stop }, has_begun)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.let_go.try_send(()); // fails if it has gone
        self.stop.stop();
        let _ = self.thread.take().unwrap().join(); // a failed test reports itself
    }
}

/// Returns the numbers of the writer's messages that wait for the subscription to /numbers: unread,
/// and fetched.
fn waiting(base: &Base) -> [u64; 2] {
    let info = base.json(&["topic", "info", "/numbers"]);
    let end = &info["subscriptions"][0];
    [&end["unread"], &end["counters"]["waiting"]].map(|count| count.as_u64().unwrap())
}

#[test]
fn a_process_in_a_long_callback_is_seen_with_what_waits_for_it() {
    let base = Base::new();
    let (held, has_begun) = Held::start(&base);
    let writer = context(&base);
    let node = writer.node("writer").unwrap();
    let numbers = node.publisher::<UInt64>("numbers").create().unwrap();
    until(|| numbers.subscription_count(), |&matched| matched == 1);
    numbers.publish(UInt64 { data: 0 }).unwrap();
    has_begun.recv_timeout(PATIENCE).unwrap();
    // Until the writer knows the subscription's executor, another thread fetches its messages.
    let mut total = 0;
    let fetched = loop {
        total += 1;
        numbers.publish(UInt64 { data: total }).unwrap();
        let is_counted = |end: &[u64; 2]| end.iter().sum::<u64>() == total;
        if let [1, fetched] = until(|| waiting(&base), is_counted) {
            break fetched;
        }
    };
    for _ in 0..3 {
        total += 1;
        numbers.publish(UInt64 { data: total }).unwrap();
    }

    let info = until(
        || base.json(&["topic", "info", "/numbers"]),
        |info| info["subscriptions"][0]["in_callbacks"] != json!([]),
    );
    let end = &info["subscriptions"][0];
    assert_eq!(waiting(&base), [4, fetched], "{info}");
    assert_eq!(end["in_callbacks"][0]["callback"], "the callback of /numbers");
    assert_eq!(info["publishers"][0]["in_callbacks"], json!([]), "its process is another one");

    let pid = std::process::id();
    let told = base.text(&["topic", "info", "/numbers"]);
    let line = format!("{total} waiting for /slow: process {pid} (");
    assert!(told.contains(&line) && told.contains(" is in the callback of /numbers since "), "{told}");
    let told = base.text(&["topic", "info", "-v", "/numbers"]);
    assert!(told.contains("\n  Not fetched yet: 4\n"), "{told}");
    assert_eq!(told.matches("\nNow in the callback of /numbers since ").count(), 1, "{told}");
    let told = base.text(&["node", "info", "/slow"]);
    assert!(told.contains("\n  Now in the callback of /numbers since "), "{told}");
    assert!(told.contains(&format!("    /numbers: std_msgs/msg/UInt64 ({total} waiting)\n")), "{told}");
    let info = base.json(&["node", "info", "/slow"]);
    assert_eq!(info[0]["subscribers"][0]["waiting"], total);

    let top = base.json(&["top", "--interval", "0.05"]);
    assert_eq!(top["topics"][0]["queued"], total, "{top}");
    let told = base.text(&["top", "--interval", "0.05"]);
    assert!(told.contains(&format!("({pid}) is in the callback of /numbers since ")), "{told}");
    assert!(told.contains(&format!("; {total} waiting\n")), "{told}");

    let told = until(|| base.doctor(&[]), |told| told.contains("WRONG   callbacks"));
    assert!(told.contains("is in the callback of /numbers since "), "{told}");
    assert!(told.contains("work waits for 1 end of it"), "{told}");

    held.let_go.send(()).unwrap();
    for _ in 0..total {
        has_begun.recv_timeout(PATIENCE).unwrap();
    }
    let rests = |info: &serde_json::Value| {
        let end = &info["subscriptions"][0];
        end["unread"] == 0 && end["in_callbacks"] == json!([])
    };
    until(|| base.json(&["topic", "info", "/numbers"]), rests);
    assert!(base.doctor(&[]).contains("fine    callbacks"));
}

#[test]
fn no_more_waits_than_is_kept() {
    let base = Base::new();
    let reader = context(&base);
    let node = reader.node("reader").unwrap();
    let [last, all] = [QoS::default().keep_last(3), QoS::default().keep_last(100)]
        .map(|qos| node.subscription::<UInt64>("numbers").qos(qos).create().unwrap());
    let writer = context(&base);
    let numbers = writer.node("writer").unwrap().publisher::<UInt64>("numbers").create().unwrap();
    until(|| numbers.subscription_count(), |&matched| matched == 2);
    // From the first message on, only the threads that take messages look.
    numbers.publish(UInt64 { data: 99 }).unwrap();
    until(|| last.take().is_some(), |&took| took);
    until(|| all.take().is_some(), |&took| took);
    for data in 0..50 {
        numbers.publish(UInt64 { data }).unwrap();
    }
    let unread = || {
        let info = base.json(&["topic", "info", "/numbers"]);
        let mut unread: Vec<_> =
            [0, 1].map(|end| info["subscriptions"][end]["unread"].as_u64().unwrap()).into();
        unread.sort_unstable();
        unread
    };
    assert_eq!(unread(), [3, 50]);
    assert!(all.take().is_some());
    assert_eq!(unread(), [0, 0], "who takes fetches all");
    drop(last);
}

#[test]
fn a_timers_callback_is_told_by_its_node() {
    let base = Base::new();
    let context = context(&base);
    let node = context.node("busy").unwrap();
    let (begun, has_begun) = sync_channel(1);
    let (let_go, may_go) = sync_channel::<()>(1);
    let _timer = node
        .timer(Duration::from_millis(1))
        .callback(move |info: &sinew::time::TimerInfo| {
            info.cancel();
            begun.send(()).unwrap();
            may_go.recv().unwrap();
        })
        .unwrap();
    let executor = Executor::multi(2);
    executor.add(&context).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| executor.spin().unwrap());
        has_begun.recv_timeout(PATIENCE).unwrap();
        let told = until(|| base.text(&["node", "info", "/busy"]), |told| told.contains("  Now in "));
        assert!(told.contains("  Now in the callback of a timer of /busy since "), "{told}");
        // No message waits for it, so it is only advice.
        let told = until(|| base.doctor(&[]), |told| !told.contains("fine    callbacks"));
        let advice = told.lines().find(|line| line.starts_with("advice  callbacks")).unwrap();
        assert!(advice.contains(" is in the callback of a timer of /busy since "), "{told}");
        assert!(!told.contains("WRONG   callbacks"), "{told}");
        let_go.send(()).unwrap();
        until(|| base.text(&["node", "info", "/busy"]), |told| !told.contains("Now in"));
        executor.stop_handle().stop();
    });
}

#[test]
fn a_process_that_fetches_nothing_is_told_though_it_is_in_no_callback() {
    let base = Base::new();
    let reader = context(&base); // without an executor
    let node = reader.node("idle").unwrap();
    let numbers = node.subscription::<UInt64>("numbers").create().unwrap();
    let writer = context(&base);
    let publisher = writer.node("writer").unwrap().publisher::<UInt64>("numbers").create().unwrap();
    until(|| publisher.subscription_count(), |&matched| matched == 1);
    // From the first message on, only the thread that takes messages looks.
    publisher.publish(UInt64 { data: 0 }).unwrap();
    until(|| numbers.take().is_some(), |&took| took);
    let plain = || base.text(&["topic", "info", "/numbers"]);
    assert!(!plain().contains("waiting"), "{}", plain());
    assert!(base.doctor(&[]).contains("fine    callbacks"));
    for data in 1..=3 {
        publisher.publish(UInt64 { data }).unwrap();
    }
    let pid = std::process::id();
    let told = plain();
    assert!(told.contains(&format!("3 waiting for /idle: process {pid} (")), "{told}");
    assert!(told.ends_with(") has yet to fetch that\n"), "{told}");
    let told = base.doctor(&[]);
    let advice = told.lines().find(|line| line.starts_with("advice  callbacks")).unwrap();
    assert!(advice.contains("       3 messages wait for "), "{told}");
    assert!(advice.ends_with(&format!(" ({pid}), which takes none")), "{told}");
    while numbers.take().is_some() {}
    assert!(!plain().contains("waiting"), "{}", plain());
    assert!(base.doctor(&[]).contains("fine    callbacks"));
}
