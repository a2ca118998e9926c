//! `bench languages`: programs of C and C++ beside the same in Rust.
//!
//! Every side is a process of its own in a domain directory of its own, started anew for each round.
//! Those of C and C++ are compiled first, from the folder `languages` of this crate; those of Rust
//! are this program. All end with the same line, so the figures are computed in one place.

mod chain;
mod publish;
mod raw;
mod toolchain;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::options::{LanguagesCase, LanguagesOptions};
use crate::process::command;
use crate::{Error, Figures, Ground, Process, Samples, Settings, Sheet, Work};
pub(crate) use chain::RustChain;
pub(crate) use publish::RustPublish;
pub(crate) use raw::RustRaw;
pub use toolchain::{Language, Toolchain};

/// What all programs of C and C++ here include.
const SHARED: (&str, &str) = ("measuring.h", include_str!("../../languages/measuring.h"));

/// Environment variables by which a user's settings would reach the programs.
const OF_USERS: [&str; 3] = ["SINEW_DOMAIN_ID", "ROS_DOMAIN_ID", "LD_LIBRARY_PATH"];

/// Measures the selected cases.
pub(crate) fn measure(options: &LanguagesOptions, sheet: &mut Sheet) -> Result<(), Error> {
    let toolchain = Toolchain::find(options.library.as_deref())?;
    toolchain.add(SHARED.0, SHARED.1)?;
    sheet.note(&format!("C and C++ are measured with {}", toolchain.library().display()));
    let ground = Ground::default();
    let has = |case| options.cases.is_empty() || options.cases.contains(&case);
    if has(LanguagesCase::Chain) {
        chain::measure(options, &toolchain, &ground, sheet)?;
    }
    if has(LanguagesCase::Raw) {
        raw::measure(options, &toolchain, &ground, sheet)?;
    }
    if has(LanguagesCase::Publish) {
        publish::measure(&toolchain, &ground, sheet)?;
    }
    Ok(())
}

/// Returns the options that name a side: the case, its language and how it uses that.
fn side(case: &str, language: &str, how: &str) -> Settings {
    Settings::new().with("case", case).with("language", language).with("how", how)
}

/// The last line of a program.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Measured {
    /// Times in nanoseconds.
    samples: Samples,
    lost: u64,
}

impl Measured {
    /// Returns the figures of a round; each time is of this many operations.
    fn figures(&self, operations: u32) -> Figures {
        Figures::of(&self.samples, operations).faulty(self.lost, 0)
    }
}

/// A program with its arguments.
enum Program<'a, W> {
    /// This one, in a role.
    Rust(W),
    /// A compiled one.
    Compiled(&'a PathBuf, Vec<String>),
}

impl<W: Work> Program<'_, W> {
    fn command(&self, directory: &Path) -> Result<Command, Error> {
        let mut command = match self {
            Self::Rust(work) => command(work)?,
            Self::Compiled(program, arguments) => {
                let mut command = Command::new(program);
                command.args(arguments);
                command
            }
        };
        command.env("SINEW_DIR", directory);
        for name in OF_USERS {
            command.env_remove(name);
        }
        Ok(command)
    }

    /// Starts it, to measure for about `time`.
    fn start(&self, directory: &Path, time: Duration) -> Result<Process, Error> {
        let mut command = self.command(directory)?;
        Ok(Process::run("languages", command.stdin(Stdio::piped()))?.measuring_for(time))
    }

    /// Runs it to its end.
    fn measure(&self, directory: &Path, time: Duration) -> Result<Measured, Error> {
        self.start(directory, time)?.finish()
    }
}
