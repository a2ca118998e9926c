//! Logging to the console, a file and `/rosout`, as in ROS 2.
//!
//! A node logs with `sinew::info!(node, "..")`; libraries log with the `log` crate, which is the
//! front end of everything. After [`init`], one thread writes all lines, so that logging never
//! blocks:
//!
//! ```
//! use sinew::prelude::*;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     # let directory = tempfile::tempdir()?;
//!     # sinew::logging::builder().directory(directory.path()).init()?;
//!     # let quiet = || -> Result<(), sinew::logging::LoggingError> { return Ok(());
//!     sinew::logging::init()?;
//!     # Ok(()) }; quiet()?;
//!     let context = Context::new()?; // a program says `Context::from_args()`, for `--log-level` and so on
//!     let node = context.node("camera")?;
//!     sinew::warn!(node, "{} of {} pixels are dead", 3, 640 * 480);
//!     Ok(())
//! }
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `front` | takes lines; the thread that writes them |
//! | `queue` | the queue between them |
//! | `line` | a line, and its written format |
//! | `sinks` | the console and the file |
//! | `rosout` | the publishers of `/rosout` |
//! | `services` | levels, read and set by other processes |
//! | `target`, `logger` | the sources of lines |
//! | `macros`, `levels` | the logging macros |
//! | `tracing_layer` | the `tracing` crate, with the feature `tracing` |
//!
//! The levels of loggers are kept in `sinew_shm::logging`, since everything in Sinew uses them. The
//! repository's `docs/book/logging.md` is an introduction.

mod front;
mod levels;
mod line;
mod logger;
mod macros;
mod queue;
mod rosout;
mod services;
mod sinks;
mod target;
#[cfg(feature = "tracing")]
mod tracing_layer;

pub use crate::ros::failure::LoggingError;
pub use line::Place;
pub use logger::Logger;
#[doc(hidden)]
pub use macros::Said;
pub use services::LoggerServices;
pub use target::LogTarget;
#[doc(hidden)]
pub use target::{Sealed, Severity, hand_over, says};
#[cfg(feature = "tracing")]
pub use tracing_layer::TracingLayer;

use crate::api::node::{UNPUBLISHED, Unpublished};
use crate::sys::logging::set_front;
use crate::sys::sync::AtomicBool;
use front::{Front, Writer, flush_at_exit, flush_soon, say_of_sinew};
use line::Format;
use sinks::{Console, LogFile};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

/// Sends all log lines of this process where ROS 2's programs send theirs: to the console, into a
/// file and to `/rosout`. Short for [`builder`]`().init()`; see there.
///
/// # Errors
/// Returns [`LoggingError`].
pub fn init() -> Result<(), LoggingError> {
    builder().init()
}

/// Begins logging with settings other than those of [`init`].
pub fn builder() -> Builder {
    Builder { console: true, file: true, rosout: true, directory: None, file_name: None }
}

/// Waits until all earlier lines are written, at most for `timeout`; returns whether they are. The
/// end of the program and a panic do so by themselves, for a second.
pub fn flush(timeout: Duration) -> bool {
    front::installed().is_none_or(|front| front.flush(timeout))
}

/// Configures logging; from [`builder`].
#[derive(Debug, Clone)]
#[must_use = "nothing happens before `init`"]
pub struct Builder {
    console: bool,
    file: bool,
    rosout: bool,
    directory: Option<PathBuf>,
    file_name: Option<String>,
}

impl Builder {
    /// Sets whether lines go to the console. Default: yes, unless a context's command line has
    /// `--disable-stdout-logs`.
    pub fn console(mut self, wanted: bool) -> Self {
        self.console = wanted;
        self
    }

    /// Sets whether lines go into a file. Default: yes, unless a context's command line has
    /// `--disable-external-lib-logs`.
    pub fn file(mut self, wanted: bool) -> Self {
        self.file = wanted;
        self
    }

    /// Sets whether lines of nodes go to `/rosout`. Default: yes, unless their context's command
    /// line has `--disable-rosout-logs`.
    pub fn rosout(mut self, wanted: bool) -> Self {
        self.rosout = wanted;
        self
    }

    /// Sets the directory of the file. Default: `$ROS_LOG_DIR`, otherwise `$ROS_HOME/log`,
    /// otherwise `~/.ros/log`.
    pub fn directory(mut self, path: impl Into<PathBuf>) -> Self {
        self.directory = Some(path.into());
        self
    }

    /// Sets the beginning of the file's name: `<this>_<process>_<milliseconds since 1970>.log`.
    /// Default: `--log-file-name` of a context's command line, otherwise the program's name.
    pub fn file_name(mut self, prefix: impl Into<String>) -> Self {
        self.file_name = Some(prefix.into());
        self
    }

    /// Starts logging: sets the logger of the `log` crate and starts the thread `sinew-logging`.
    ///
    /// From then on logging a line costs the caller some 100 ns, never blocks, and allocates only
    /// the text. At most 4096 lines, or 16 MB of text, may wait; more are dropped, and their number
    /// is logged. `RCUTILS_CONSOLE_OUTPUT_FORMAT`, `RCUTILS_COLORIZED_OUTPUT`,
    /// `RCUTILS_LOGGING_USE_STDOUT` and `RCUTILS_LOGGING_BUFFERED_STREAM` (0: each line is written
    /// by itself; otherwise lines are written in batches) are those of ROS 2. Loggers have the
    /// level `info` unless `--log-level` of a context, `SINEW_LOG` or a service sets another.
    ///
    /// It applies to the whole process, forever: call it in a program's `main`, not in libraries.
    ///
    /// # Errors
    /// Returns [`LoggingError`]; then nothing has changed, except after [`LoggingError::System`].
    pub fn init(self) -> Result<(), LoggingError> {
        let to_stdout = switch("RCUTILS_LOGGING_USE_STDOUT")?.unwrap_or(false);
        let color = switch("RCUTILS_COLORIZED_OUTPUT")?;
        let one_by_one = switch("RCUTILS_LOGGING_BUFFERED_STREAM")? == Some(false);
        let format = std::env::var_os("RCUTILS_CONSOLE_OUTPUT_FORMAT").unwrap_or_default();
        let format = match format.to_string_lossy() {
            empty if empty.is_empty() => Format::parse(Format::USUAL),
            format => Format::parse(&format),
        };
        if front::installed().is_some() {
            return Err(LoggingError::Taken);
        }
        let front = Front::make().map_err(LoggingError::System)?;
        log::set_logger(front).map_err(|_| LoggingError::Taken)?;
        set_front(say_of_sinew);
        let are_there = || front::installed().is_some_and(Front::is_behind);
        let is_stuck = AtomicBool::new(false);
        let publish_as =
            |stand_in, timeout| front::installed().is_none_or(|front| front.flush_for(stand_in, timeout));
        let _ = UNPUBLISHED.set(Unpublished { are_there, publish_as, is_stuck }); // logging begins once
        let writer = Writer {
            format,
            console: self.console.then(|| Console::new(to_stdout, color, one_by_one)),
            file: self.file.then(|| LogFile::new(self.directory, self.file_name)),
            rosout: self.rosout,
        };
        let thread = thread::Builder::new().name("sinew-logging".to_owned());
        thread.spawn(|| writer.run(front)).map_err(LoggingError::System)?;
        // SAFETY: the function takes no arguments, returns, and doesn't unwind: it waits, with
        // atomics and the kernel's help, for a thread that lives until the process is gone.
        unsafe { libc::atexit(flush_at_exit) };
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            flush_soon(); // earlier lines come first, and are written even if it aborts
            before(panic);
        }));
        Ok(())
    }
}

/// Reads a variable that is 0 or 1, or not set.
fn switch(variable: &'static str) -> Result<Option<bool>, LoggingError> {
    let value = std::env::var_os(variable).unwrap_or_default();
    match &*value.to_string_lossy() {
        "" => Ok(None),
        "0" => Ok(Some(false)),
        "1" => Ok(Some(true)),
        value => Err(LoggingError::Environment { variable, value: value.to_owned() }),
    }
}
