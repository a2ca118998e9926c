//! Runs a plan: one thread that waits for signals, output, deadlines and the offers of nodes, and
//! carries out the steps of the [supervisor](crate::supervisor).

mod child;
mod error;
mod family;
mod keeper;
mod lines;
mod logs;
mod offers;
mod options;
mod output;
mod report;
mod runner;
mod screen;
mod signals;
mod stat;
mod usage;
mod view;

pub use error::RunError;
pub use keeper::keep;
pub use lines::harmless;
pub use options::RunOptions;
pub use runner::run;
pub use signals::is_ignored;
