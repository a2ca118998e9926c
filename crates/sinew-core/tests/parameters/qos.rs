//! A QoS that parameters change.

use super::integer;
use crate::support::Number;
use sinew::prelude::*;
use sinew::qos::{Durability, History, Liveliness, Policy, QosOverrides, QosPolicy, Reliability};

const EVERY: [QosPolicy; 8] = [
    QosPolicy::Deadline,
    QosPolicy::Depth,
    QosPolicy::Durability,
    QosPolicy::History,
    QosPolicy::Lifespan,
    QosPolicy::Liveliness,
    QosPolicy::LivelinessLeaseDuration,
    QosPolicy::Reliability,
];

fn with(parameters: &[&str]) -> Node {
    let options =
        parameters.iter().flat_map(|parameter| ["-p".to_owned(), format!("qos_overrides./{parameter}")]);
    let line = ["n".to_owned(), "--ros-args".to_owned()].into_iter().chain(options);
    Context::builder().arguments(line).shared_memory(false).domain(0).build().unwrap().node("n").unwrap()
}

#[test]
fn parameters_change_what_the_program_allows() -> sinew::Result<()> {
    let node = with(&[
        "t.publisher.depth:=3",
        "t.publisher.reliability:=best_effort",
        "t.publisher.durability:=transient_local", // isn't allowed
        "t.publisher_left.history:=keep_all",
        "t.subscription.depth:=5",
    ]);
    let plain = node.publisher::<Number>("t").create()?;
    assert_eq!(plain.qos(), QoS::default());
    let publisher = node.publisher::<Number>("t").qos_overrides(QosOverrides::default()).create()?;
    let qos = publisher.qos();
    assert_eq!((qos.history, qos.reliability), (History::KeepLast(3), Reliability::BestEffort));
    assert_eq!(qos.durability, Durability::Volatile);
    let left = node.publisher::<Number>("t").qos_overrides(QosOverrides::default().id("left")).create()?;
    assert_eq!(left.qos().history, History::KeepAll);
    let subscription = node.subscription::<Number>("t").qos_overrides(QosOverrides::default()).create()?;
    assert_eq!(subscription.qos().history, History::KeepLast(5));
    let names = node.list_parameters(&["qos_overrides"], 0);
    assert_eq!(names.len(), 9);
    assert!(names.iter().all(|name| node.describe_parameter(name).unwrap().read_only));
    assert_eq!(node.parameter_value("qos_overrides./t.publisher.depth"), Some(integer(3)));
    Ok(())
}

#[test]
fn endpoints_of_one_name_share_their_parameters() -> sinew::Result<()> {
    let node = with(&["t.publisher.depth:=3"]);
    let publisher =
        |qos: QoS| node.publisher::<Number>("t").qos(qos).qos_overrides(QosOverrides::default()).create();
    let first = publisher(QoS::new())?;
    let second = publisher(QoS::new().best_effort().keep_last(7))?;
    assert_eq!(second.qos(), first.qos(), "the first declared reliability with its own value");
    drop((first, second));
    assert_eq!(publisher(QoS::new())?.qos().history, History::KeepLast(3));
    Ok(())
}

#[test]
fn a_parameter_from_an_override_counts() -> sinew::Result<()> {
    let line = ["n", "--ros-args", "-p", "qos_overrides./t.publisher.depth:=3"];
    let context = Context::builder().arguments(line).shared_memory(false).domain(0).build()?;
    let node = context.node_builder("n").declare_overrides(true).create()?;
    let publisher = node.publisher::<Number>("t").qos_overrides(QosOverrides::default()).create()?;
    assert_eq!(publisher.qos().history, History::KeepLast(3));
    Ok(())
}

#[test]
fn each_policy_is_read_and_shown() -> sinew::Result<()> {
    let node = with(&[
        "t.publisher.deadline:=1000000",
        "t.publisher.lifespan:=2000000",
        "t.publisher.liveliness:=manual_by_topic",
        "t.publisher.liveliness_lease_duration:=3000000",
        "t.publisher.durability:=transient_local",
        "t.publisher.depth:=7",
    ]);
    let qos = node.publisher::<Number>("t").qos_overrides(QosOverrides::of(EVERY)).create()?.qos();
    let ms = |count| Some(Duration::from_millis(count));
    assert_eq!((qos.deadline, qos.lifespan, qos.lease), (ms(1), ms(2), ms(3)));
    assert_eq!((qos.liveliness, qos.durability), (Liveliness::ManualByTopic, Durability::TransientLocal));
    assert_eq!(qos.history, History::KeepLast(7));
    let other = node.publisher::<Number>("u").qos_overrides(QosOverrides::of(EVERY)).create()?;
    assert_eq!(other.qos(), QoS::default(), "what isn't given stays");
    assert_eq!(node.parameter_value("qos_overrides./u.publisher.deadline"), Some(integer(i64::MAX)));
    Ok(())
}

#[test]
fn parameters_leave_parts_to_the_other_ends() -> sinew::Result<()> {
    let node = with(&[
        "t.subscription.reliability:=best_available",
        "t.subscription.durability:=best_available",
        "t.subscription.liveliness:=automatic",
        "t.subscription.deadline:=9223372036854775806",
    ]);
    let sensor = QoS::sensor_data().deadline(Duration::from_millis(7));
    let _publisher = node.publisher::<Number>("t").qos(sensor).create()?;
    let given = QoS::new().best_available_for(Policy::Liveliness).best_available_for(Policy::Lease);
    let overrides = QosOverrides::of(EVERY.into_iter().filter(|policy| *policy != QosPolicy::Lifespan));
    let subscription = node.subscription::<Number>("t").qos(given).qos_overrides(overrides).create()?;
    assert_eq!(subscription.qos(), QoS::new().best_effort().deadline(Duration::from_millis(7)));
    let value = |name: &str| node.parameter_value(&format!("qos_overrides./t.subscription.{name}"));
    assert_eq!(value("durability"), Some("best_available".into()), "the parameter keeps the question");
    assert_eq!(value("liveliness_lease_duration"), Some(integer(i64::MAX - 1)), "the program's default");
    Ok(())
}

#[test]
fn an_invalid_qos_is_an_error() {
    for (parameter, problem) in [
        (
            "t.publisher.reliability:=sometimes",
            "\"sometimes\" is none of: reliable, best_effort, best_available",
        ),
        ("t.publisher.depth:=0", "0 is none of: a number from 1 on"),
        ("t.publisher.depth:=-1", "none of: a number from 1 on"),
        ("t.publisher.depth:=many", "it is of type integer, and \"many\" is of type string"),
        ("t.publisher.history:=1", "it is of type string, and 1 is of type integer"),
    ] {
        let node = with(&[parameter]);
        for attempt in 1..=2 {
            let created = node.publisher::<Number>("t").qos_overrides(QosOverrides::default()).create();
            let error = created.map(drop).unwrap_err().to_string();
            assert!(error.contains(problem), "{parameter}, attempt {attempt}: {error}");
        }
    }
}
