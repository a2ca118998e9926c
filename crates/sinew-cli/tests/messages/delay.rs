//! `topic delay`: the age of stamps.

use serde_json::Value;
use sinew::prelude::*;
use sinew::time::Time;
use sinew_interfaces::sensor_msgs::msg::Temperature;
use sinew_interfaces::std_msgs::msg::Header;

use crate::{Base, Text, good, pause};

/// The header isn't the first field, and follows a field of variable length.
#[derive(Message, Clone, Default)]
#[message(name = "robot_msgs/msg/Late")]
struct Late {
    name: String,
    header: Header,
}

/// Returns a header with a stamp of that age.
fn header(age: Duration) -> Header {
    let stamp = Time::from_nanoseconds(Time::wall().nanoseconds() - i64::try_from(age.as_nanos()).unwrap());
    Header { stamp: stamp.to_msg(), frame_id: "map".to_owned() }
}

/// Returns a report with messages, in JSON, while `publish` is called repeatedly.
fn report(base: &Base, options: &[&str], is_there: impl Fn() -> bool, publish: impl Fn()) -> Value {
    let line = ["topic", "delay", "--interval", "0.5", "--count", "2", "--json"];
    loop {
        let mut child = base.start(&[&line, options].concat());
        while child.try_wait().unwrap().is_none() {
            if is_there() {
                publish();
            }
            pause();
        }
        let told = good(&child.wait_with_output().unwrap());
        let told: Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
        // On a busy machine nothing may have arrived by then.
        if told["messages"] != 0 || told["unstamped"] != 0 {
            return told;
        }
    }
}

#[test]
fn the_age_of_stamps_is_told() {
    let base = Base::new();
    let context = base.context();
    let node = context.node("thermometer").unwrap();
    let first = node.publisher::<Temperature>("first").create().unwrap();
    let age = Duration::from_secs(100);
    let publish = || drop(first.publish(Temperature { header: header(age), ..Default::default() }));
    let told = report(&base, &["first"], || first.subscription_count() > 0, publish);
    let between = |value: &Value| {
        let ns = value.as_f64().unwrap();
        assert!((100e9..160e9).contains(&ns), "{told}");
    };
    assert!(told["messages"].as_u64().unwrap() > 0 && told["unstamped"] == 0, "{told}");
    ["average_delay_ns", "min_ns", "max_ns"].iter().for_each(|name| between(&told[*name]));

    let late = node.publisher::<Late>("late").create().unwrap();
    let publish = || drop(late.publish(Late { name: "abc".to_owned(), header: header(age) }));
    let told = report(&base, &["late"], || late.subscription_count() > 0, publish);
    between(&told["average_delay_ns"]);
}

#[test]
fn simulated_time_is_that_of_the_clock() {
    let base = Base::new();
    let context = base.context();
    let node = context.node("simulator").unwrap();
    let clock =
        node.clock_publisher().start(Time::from_nanoseconds(100_000_000_000)).paused().create().unwrap();
    let readings = node.publisher::<Temperature>("readings").create().unwrap();
    let stamp = Time::from_nanoseconds(99_500_000_000).to_msg();
    let publish = || {
        clock.publish().unwrap();
        let header = Header { stamp, frame_id: String::new() };
        drop(readings.publish(Temperature { header, ..Default::default() }));
    };
    let told = report(&base, &["readings", "--use-sim-time"], || readings.subscription_count() > 0, publish);
    // Until the first message on `/clock`, time is 0, and stamps lie in the future.
    assert_eq!(told["max_ns"], 500_000_000, "{told}");
}

#[test]
fn what_has_no_stamp_is_told() {
    let base = Base::new();
    let context = base.context();
    let node = context.node("talker").unwrap();
    let _chatter = node.publisher::<Text>("chatter").create().unwrap();
    let said = base.failure(&["topic", "delay", "chatter", "--count", "1"]);
    assert!(
        said.starts_with(
            "sinew: the messages of /chatter don't say how old they are: std_msgs/msg/String has no"
        ) && said.contains("`sinew topic latency /chatter`"),
        "{said}"
    );
    let said = base.failure(&["topic", "delay", "chattre"]);
    assert_eq!(said, "sinew: no topic is called /chattre in domain 0; did you mean /chatter?\n");

    let unset = node.publisher::<Temperature>("unset").create().unwrap();
    let publish = || drop(unset.publish(Temperature::default()));
    let told = report(&base, &["unset"], || unset.subscription_count() > 0, publish);
    assert!(told["messages"] == 0 && told["unstamped"].as_u64().unwrap() > 0, "{told}");
    assert!(told["average_delay_ns"].is_null(), "{told}");
}
