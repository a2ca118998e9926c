//! Brings the drivers up, and up again if one of them is lost.

use sinew::error::CreateError;
use sinew::{LogLevel, Node};
use sinew_lifecycle::{OnLoss, Supervisor as Lifecycles, SupervisorError};
use std::thread::JoinHandle;

/// The thread that watches. It ends with the context.
pub struct Supervisor {
    _watching: JoinHandle<()>,
}

/// The node.
///
/// # Errors
/// [`CreateError`]
pub fn supervisor(node: &Node) -> Result<Supervisor, CreateError> {
    let drivers = Lifecycles::builder(node).manage("/wheels").manage("/lidar").build()?;
    let logger = node.logger();
    let watching = std::thread::spawn(move || match drivers.supervise(OnLoss::Restart) {
        Ok(()) | Err(SupervisorError::Shutdown) => {}
        Err(error) => sinew::log!(logger, LogLevel::Error, "{error}"),
    });
    Ok(Supervisor { _watching: watching })
}
