//! Timers of nodes: their periods, their clocks, and their numbers of calls.

use serde_json::json;
use sinew::prelude::*;
use sinew::time::VirtualClock;

use crate::Base;

#[test]
fn timers_are_shown_with_period_and_clock() {
    let base = Base::new();
    let builder = Context::builder().directory(base.0.path()).domain(0);
    let context = builder.virtual_time(&VirtualClock::new()).build().unwrap();
    let node = context.node("controller").unwrap();
    let timer =
        |period, callback: fn()| node.timer(Duration::from_millis(period)).callback(callback).unwrap();
    let control = timer(10, || {});
    let gone = timer(20, || {});
    let watchdog = node.wall_timer(Duration::from_secs(5)).callback(|| {}).unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    executor.advance(Duration::from_millis(35)).unwrap();
    watchdog.cancel();
    drop(gone);
    let told = base.text(&["node", "info", "/controller"]);
    let expected = "  Timers:\n    10ms of steady time: 3 calls\n    5s of steady time: 0 calls, cancelled\n";
    assert!(told.ends_with(expected), "{told}");

    context.use_sim_time(true).unwrap();
    watchdog.reset();
    let told = base.text(&["node", "info", "/controller"]);
    let expected = "  Timers:\n    10ms of ROS time: 3 calls\n    5s of steady time: 0 calls\n";
    assert!(told.ends_with(expected), "{told}");

    let simulator = node.clock_publisher().paused().create().unwrap();
    simulator.publish().unwrap();
    simulator.step(Duration::from_millis(55)).unwrap();
    executor.spin_all(Duration::from_secs(60)).unwrap();
    let info = base.json(&["node", "info", "/controller"]);
    let shown = json!({
        "period_ns": 10_000_000, "clock": "ros", "follows_node": true, "calls": 4, "skipped": 5, "cancelled": false,
    });
    assert_eq!(info[0]["timers"][0], shown, "{info}");
    assert_eq!(info[0]["timers"][1]["clock"], "steady");

    let top = base.json(&["top", "--interval", "0.01"]);
    let row = &top["timers"][0];
    assert_eq!(
        (&row["node"], &row["period_ns"], &row["clock"]),
        (&json!("/controller"), &json!(10_000_000), &json!("ros"))
    );
    let told = base.text(&["top", "--interval", "0.01"]);
    let row = told.lines().find(|line| line.starts_with("/controller ") && line.contains("10ms")).unwrap();
    assert_eq!(
        row.split_whitespace().collect::<Vec<_>>(),
        ["/controller", "10ms", "ros", "0.00", "5"],
        "{told}"
    );

    control.close();
    drop(watchdog);
    drop(simulator);
    assert!(!base.text(&["node", "info", "/controller"]).contains("Timers:"));
}
