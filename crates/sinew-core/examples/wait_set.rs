//! A wait set: the program looks at several inputs at once, and decides itself what to take.
//!
//!     cargo run -p sinew-core --example wait_set

use sinew::executor::WaitSet;
use sinew::prelude::*;

#[derive(Clone)]
struct Scan(u32);
impl Message for Scan {}

#[derive(Clone)]
struct Pose(u32);
impl Message for Pose {}

fn main() -> sinew::Result<()> {
    let context = Context::from_args()?;
    let node = context.node("localizer")?;
    let scans = node.subscription::<Scan>("scan").create()?;
    let poses = node.subscription::<Pose>("pose").create()?;

    // Its timers run when this program says so, too.
    let (scan, pose) = (node.publisher::<Scan>("scan").create()?, node.publisher::<Pose>("pose").create()?);
    let mut count = 0;
    let sensors = node.timer(Duration::from_millis(20)).callback(move || -> sinew::Result<()> {
        count += 1;
        scan.publish(Scan(count))?;
        if count % 3 == 0 {
            pose.publish(Pose(count))?;
        }
        Ok(())
    })?;

    let mut set = WaitSet::new();
    set.add(&node)?;
    set.add_subscription(&scans)?;
    set.add_subscription(&poses)?;
    let mut last = None;
    for _ in 0..40 {
        let mut has_pose = false;
        for ready in set.wait(Duration::from_secs(1))? {
            if ready.is(&sensors) {
                ready.run()?;
            }
            has_pose |= ready.is(&poses);
        }
        // The newest scan is all that counts, and it waits until there is a pose for it.
        while let Some((scan, _)) = scans.take() {
            last = Some(scan.0);
        }
        if has_pose && let Some((pose, _)) = poses.take() {
            println!("pose {} belongs to scan {last:?}", pose.0);
        }
    }
    Ok(())
}
