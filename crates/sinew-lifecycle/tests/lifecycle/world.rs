//! Contexts of managed nodes and of their operators.

use sinew::prelude::*;
use std::thread::JoinHandle;

/// Timeout of waits that would otherwise hang.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Executors that spin until this is dropped.
pub(crate) struct World {
    /// The context of the managed nodes.
    pub(crate) robot: Context,
    /// The context of the operators.
    pub(crate) operator: Context,
    spinning: Vec<JoinHandle<()>>,
    _place: Option<tempfile::TempDir>,
}

impl World {
    pub(crate) fn in_process() -> Self {
        let context = Context::builder().shared_memory(false).domain(0).build().unwrap();
        Self::of(context.clone(), context, None)
    }

    pub(crate) fn shm() -> Self {
        let place = tempfile::tempdir_in("/dev/shm").unwrap();
        let context = || Context::builder().domain(3).directory(place.path()).build().unwrap();
        Self::of(context(), context(), Some(place))
    }

    fn of(robot: Context, operator: Context, place: Option<tempfile::TempDir>) -> Self {
        let spin = |context: &Context| {
            let executor = Executor::multi(2);
            executor.add(context).unwrap();
            let idle = context.node("_keeps_the_executor_up").unwrap();
            let timer = idle.timer(Duration::from_secs(1000)).callback(|| ()).unwrap();
            std::thread::spawn(move || {
                let _timer = timer;
                executor.spin().unwrap();
            })
        };
        let mut spinning = vec![spin(&robot)];
        if place.is_some() {
            spinning.push(spin(&operator));
        }
        Self { robot, operator, spinning, _place: place }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.robot.shutdown();
        self.operator.shutdown();
        for thread in self.spinning.drain(..) {
            assert!(thread.join().is_ok() || std::thread::panicking());
        }
    }
}

/// Waits, to check that something does not happen meanwhile, or before checking again.
pub(crate) fn pause(milliseconds: u64) {
    let mut never = std::future::pending::<()>();
    sinew::executor::wait_for(&mut never, Duration::from_millis(milliseconds));
}
