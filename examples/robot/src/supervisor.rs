//! Brings the drivers up, and up again if one of them is lost.

use sinew::Node;
use sinew::error::CreateError;
use sinew::lifecycle::{OnLoss, StopHandle, Supervisor as Lifecycles, SupervisorError};

/// What ends the thread that watches: with it, or with the context.
pub struct Supervisor {
    watching: StopHandle,
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        // Not waited for: it may wait for an executor's thread, on which this is dropped.
        self.watching.stop();
    }
}

/// The node.
///
/// # Errors
/// [`CreateError`]
pub fn supervisor(node: &Node) -> Result<Supervisor, CreateError> {
    let drivers = Lifecycles::builder(node).manage("/wheels").manage("/lidar").build()?;
    let logger = node.logger();
    let watching = drivers.stop_handle();
    std::thread::spawn(move || match drivers.supervise(OnLoss::Restart) {
        Ok(()) | Err(SupervisorError::Shutdown) => {}
        Err(error) => sinew::error!(logger, "{error}"),
    });
    Ok(Supervisor { watching })
}
