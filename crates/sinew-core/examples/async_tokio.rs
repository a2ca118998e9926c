//! Messages in tokio: a task that waits for commands, and stops the robot when none comes for too
//! long.
//!
//! Sinew needs no part of the runtime: whatever wakes a task will do. Another thread spins the
//! executor.
//!
//!     cargo run --example async_tokio

use sinew::prelude::*;
use std::thread;

#[derive(Debug, Clone)]
struct Speed(f64);

impl Message for Speed {}

/// Passes commands on, and brakes when they stay away; until the context is shut down.
async fn drive(commands: Subscription<Speed>, wheels: Publisher<Speed>) -> sinew::Result<()> {
    let mut moving = false;
    loop {
        tokio::select! {
            // May lose the race at any time, and no command is lost.
            command = commands.recv_unique() => {
                let Some((mut command, _)) = command else { return Ok(()) };
                command.0 = command.0.clamp(-1.0, 1.0);
                moving = command.0 != 0.0;
                wheels.publish(command)?;
            }
            () = tokio::time::sleep(Duration::from_millis(100)), if moving => {
                moving = false;
                wheels.publish(Speed(0.0))?;
            }
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> sinew::Result<()> {
    let context = Context::from_args()?;
    let robot = context.node("robot")?;
    let wheels = robot.publisher("wheels").create()?;
    let driver = tokio::spawn(drive(robot.subscription("commands").create()?, wheels));

    // An operator who says less and less.
    let operator = context.node("operator")?;
    let commands = operator.publisher("commands").create()?;
    let mut tick = 0;
    let _timer = operator.timer(Duration::from_millis(20)).callback(move || {
        tick += 1;
        if tick <= 5 { commands.publish(Speed(0.4 * f64::from(tick))) } else { Ok(()) }
    })?;
    let turning = operator.subscription::<Speed>("wheels").create()?;

    let spinning = thread::spawn({
        let context = context.clone();
        move || sinew::spin(&context)
    });
    while let Some((speed, _)) = turning.recv().await {
        println!("wheels: {speed:?}");
        if speed.0 == 0.0 {
            context.shutdown(); // ends the driver's wait, this one and the spin
        }
    }
    driver.await.expect("the driver doesn't panic")?;
    spinning.join().expect("the executor doesn't panic")
}
