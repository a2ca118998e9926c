//! A control loop that nothing may delay: a group of its own, in an executor of its own, on a
//! thread with a realtime priority, a core of its own and memory that stays in RAM.
//!
//! Without the right to all that (`ulimit -r`, `ulimit -l`, or CAP_SYS_NICE and CAP_IPC_LOCK) it
//! says what is missing, and goes on without.
//!
//!     cargo run --release -p sinew-core --example realtime

use sinew::executor::Placement;
use sinew::prelude::*;
use std::thread;

#[derive(Clone)]
struct Torque(f64);
impl Message for Torque {}

const TICKS: usize = 2000;

/// What the loop owns: made before it runs, so that nothing is allocated in it.
struct Loop {
    angle: f64,
    late: Vec<Duration>,
}

fn main() -> sinew::Result<()> {
    let context = Context::from_args()?;
    let node = context.node("controller")?;
    let torques = node.publisher::<Torque>("torque").create()?;

    let control = node.group(Loop { angle: 1.0, late: Vec::with_capacity(TICKS) });
    let done = context.clone();
    let step = move |state: &mut Loop, info: &TimerInfo| -> sinew::Result<()> {
        state.late.push(info.actual() - info.due());
        state.angle *= 0.999;
        torques.publish(Torque(-2.0 * state.angle))?; // from a pool: nothing is allocated
        if state.late.len() == TICKS {
            state.late.sort_unstable();
            println!(
                "{TICKS} ticks, late by {:?} (median), {:?} (worst)",
                state.late[TICKS / 2],
                state.late[TICKS - 1]
            );
            done.shutdown();
        }
        Ok(())
    };
    let _control = control.timer(Duration::from_millis(1)).callback(step)?;

    // All else may take its time, on another thread.
    let mut largest = 0.0_f64;
    let log = context.node("log")?;
    let _log = log.subscription::<Torque>("torque").callback(move |torque: &Torque| {
        if torque.0.abs() > largest {
            largest = torque.0.abs();
            println!("the largest torque so far is {largest:.3}");
        }
    })?;

    let realtime = Executor::builder()
        .realtime_priority(80)
        .placement(Placement::Cores(vec![0]))
        .lock_memory()
        .build()?;
    realtime.add(&control)?; // before the context: its executor leaves this group alone
    let others = Executor::single();
    others.add(&context)?;
    thread::scope(|scope| {
        scope.spawn(|| others.spin());
        if let Err(error) = realtime.spin() {
            println!("no realtime here, so without: {error}");
            drop(realtime); // gives the group free
            let plain = Executor::single();
            plain.add(&control)?;
            plain.spin()?;
        }
        Ok(())
    })
}
