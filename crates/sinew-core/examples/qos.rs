//! Quality of service: a map for those who come later, commands that expire, a sensor that is
//! watched, and a mismatch that is reported.
//!
//!     cargo run -p sinew-core --example qos

use sinew::event::{IncompatibleQos, RequestedDeadlineMissed};
use sinew::prelude::*;

#[derive(Clone)]
struct Map(&'static str);
impl Message for Map {}

#[derive(Clone)]
struct Speed(f64);
impl Message for Speed {}

#[derive(Clone)]
struct Scan;
impl Message for Scan {}

const PERIOD: Duration = Duration::from_millis(20);

fn main() -> sinew::Result<()> {
    let context = Context::from_args()?;
    let executor = Executor::single();
    executor.add(&context)?;
    let robot = context.node("robot")?;
    let person = context.node("person")?;

    // Transient local: the publisher keeps its newest map, and who comes later gets it.
    let kept = QoS::default().keep_last(1).transient_local();
    let maps = robot.publisher::<Map>("map").qos(kept).create()?;
    maps.publish(Map("the hall"))?;
    let late = person.subscription::<Map>("map").qos(kept).create()?;
    println!("a late joiner gets the map of {}", late.take().map_or("nothing", |(map, _)| map.0));

    // Lifespan: a command that wasn't taken in time is worse than none.
    let commands = QoS::default().keep_last(1).lifespan(PERIOD);
    let speeds = person.publisher::<Speed>("speed").qos(commands).create()?;
    let wheels = robot.subscription::<Speed>("speed").qos(commands).create()?;
    speeds.publish(Speed(1.0))?;
    println!("at once: {:?}", wheels.take().map(|(speed, _)| speed.0));
    speeds.publish(Speed(2.0))?;
    executor.spin_once(2 * PERIOD)?; // nothing to run: it waits
    println!(
        "too late: {:?}, expired: {}",
        wheels.take().map(|(speed, _)| speed.0),
        wheels.statistics().expired
    );

    // Deadline: a sensor that falls silent is noticed, without a timer of one's own.
    let watched = QoS::sensor_data().deadline(PERIOD);
    let scans = robot.publisher::<Scan>("scan").qos(watched).create()?;
    let stop = executor.stop_handle();
    let _scans = person
        .subscription::<Scan>("scan")
        .qos(watched)
        .on_deadline_missed(move |missed: &RequestedDeadlineMissed| {
            println!("the scanner is silent, {} deadlines missed", missed.total);
            stop.stop();
        })
        .callback(|_: &Scan| println!("a scan"))?;
    scans.publish(Scan)?;
    executor.spin()?;

    // Both ends are notified of a QoS that can't be honoured; without a handler, the log has a
    // warning.
    let stop = executor.stop_handle();
    let _demanding = person
        .subscription::<Speed>("speed")
        .qos(QoS::default().transient_local())
        .on_incompatible_qos(move |event: &IncompatibleQos| {
            println!("no match: {event:?}");
            stop.stop();
        })
        .callback(|_: &Speed| {})?;
    executor.spin()?;
    Ok(())
}
