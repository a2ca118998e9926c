//! Asynchronous servers and calls without any runtime: the executor polls the servers' futures, and
//! the caller's, too.
//!
//!     cargo run --example service_async

use sinew::error::CallError;
use sinew::prelude::*;

/// A place in the building.
#[derive(Debug)]
struct Place(&'static str);

impl Message for Place {}

/// How far it is, in metres.
#[derive(Debug)]
struct Distance(f64);

impl Message for Distance {}

/// From a place to a distance.
struct Measure;

impl Service for Measure {
    type Request = Place;
    type Response = Distance;
}

fn main() -> sinew::Result<()> {
    let context = Context::from_args()?;
    let map = context.node("map")?;
    let _along_corridors = map.server::<Measure>("corridors").callback(|place: &Place| match place.0 {
        "kitchen" => Ok(Distance(12.0)),
        "lift" => Ok(Distance(4.5)),
        place => Err(format!("there is no {place}")),
    })?;
    let _up_stairs = map.server::<Measure>("stairs").callback(|_: &Place| Distance(7.5))?;

    // Asks two others at once, and answers when both have. Several requests may be on their way.
    let planner = context.node("planner")?;
    let corridors = planner.client::<Measure>("corridors").create()?;
    let stairs = planner.client::<Measure>("stairs").create()?;
    let _plan = planner.server::<Measure>("plan").async_callback(move |place: Place| {
        let (along, up) = (corridors.call_async(Place(place.0)), stairs.call_async(place));
        async move { Ok::<_, CallError<Place>>(Distance(along.await?.0 + up.await?.0)) }
    })?;

    let robot = context.node("robot")?;
    let plan = robot.client::<Measure>("plan").create()?;
    let executor = Executor::single();
    executor.add(&context)?;
    let asked = executor.spin_until(async {
        for place in ["kitchen", "lift", "garden"] {
            match plan.call_async(Place(place)).await {
                Ok(distance) => println!("{place}: {} m", distance.0),
                Err(error) => println!("{place}: {error}"),
            }
        }
    });
    Ok(asked?)
}
