//! A service: what a robot carries changes, and a node asks before it puts more on it.
//!
//! Shows the three ways to call, a server with state, and one that answers later.
//!
//!     cargo run --example service

use sinew::Responder;
use sinew::prelude::*;
use sinew::service::CallResult;
use std::thread;

/// Asks for room for so many kilograms.
struct Load {
    kilograms: f64,
}

impl Message for Load {}

/// What is loaded with that.
struct Loaded {
    kilograms: f64,
}

impl Message for Loaded {}

/// Names the pair.
struct LoadRobot;

impl Service for LoadRobot {
    type Request = Load;
    type Response = Loaded;
}

const LIMIT: f64 = 50.0;
const SECOND: Duration = Duration::from_secs(1);

fn main() -> sinew::Result<()> {
    let context = Context::from_args()?;

    // The server: its group owns what it needs to know, so no lock is needed. An error is the
    // caller's to hear.
    let robot = context.node("robot")?;
    let cargo = robot.group(0.0);
    let _load = cargo.server::<LoadRobot>("load").callback(|cargo: &mut f64, request: &Load| {
        if *cargo + request.kilograms > LIMIT {
            return Err(format!("{} kg and {} kg are too much", *cargo, request.kilograms));
        }
        *cargo += request.kilograms;
        Ok(Loaded { kilograms: *cargo })
    })?;

    // A server that answers later, here from another thread: the crane needs its time.
    let crane = context.node("crane")?;
    let load = crane.client::<LoadRobot>("load").create()?;
    let _lift = crane.server::<LoadRobot>("lift").callback(
        move |request: Unique<Load>, responder: Responder<LoadRobot>| {
            let load = load.clone();
            thread::spawn(move || match load.call(request, SECOND) {
                Ok(loaded) => responder.respond(loaded),
                Err(error) => responder.fail(error),
            });
        },
    )?;

    let spinning = thread::spawn({
        let context = context.clone();
        move || sinew::spin(&context)
    });

    // A caller that waits.
    let person = context.node("person")?;
    let load = person.client::<LoadRobot>("load").create()?;
    println!("loaded: {} kg", load.call(Load { kilograms: 20.0 }, SECOND)?.kilograms);

    // A caller that is called back, by the executor of its node.
    let lift = person.client::<LoadRobot>("lift").create()?;
    let (done, is_done) = std::sync::mpsc::channel::<()>();
    for kilograms in [25.0, 10.0] {
        let done = done.clone();
        lift.call_then(Load { kilograms }, move |result: CallResult<LoadRobot>| {
            match result {
                Ok(loaded) => println!("lifted: {} kg", loaded.kilograms),
                Err(error) => println!("not lifted: {error}"),
            }
            drop(done);
        })?;
    }
    drop(done);
    is_done.iter().for_each(drop);

    // A service that nobody offers.
    let nobody = person.client::<LoadRobot>("laod").create()?;
    if let Err(error) = nobody.call(Load { kilograms: 1.0 }, Duration::from_millis(10)) {
        println!("{error}");
    }

    context.shutdown();
    spinning.join().unwrap_or(Ok(()))
}
