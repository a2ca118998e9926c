//! Topics and variables without nodes, between two processes that poll, each on a core of its own.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew_shm::raw::{Topic, Variable};

use super::program::{CHUNK, Measured, Program, side};
use super::toolchain::{Language, Toolchain};
use crate::bar::Bar;
use crate::options::LanguagesOptions;
use crate::{Error, Figures, Ground, Measuring, Sheet, Side, Work, machine, nanoseconds};

/// The part of a process.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
enum Role {
    /// Writes to one topic and reads the answer from another one.
    Ping,
    /// Answers.
    Pong,
    /// Writes a variable.
    Write,
    /// Reads it.
    Read,
}

impl Role {
    /// Returns its name for the program in C.
    fn name(self) -> &'static str {
        match self {
            Self::Ping => "ping",
            Self::Pong => "pong",
            Self::Write => "write",
            Self::Read => "read",
        }
    }
}

/// The measured work, and the roles of the measured process and of the other one.
const WORK: [(&str, Role, Role); 3] = [
    ("topic there and back", Role::Ping, Role::Pong),
    ("variable written", Role::Write, Role::Read),
    ("variable read", Role::Read, Role::Write),
];

/// A process in Rust.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct RustRaw {
    role: Role,
    size: u32,
    core: usize,
    /// The measuring time; without one the process plays its role until it is ended.
    time: Option<Duration>,
}

/// Measures all work with each size.
pub(super) fn measure(
    options: &LanguagesOptions,
    toolchain: &Toolchain,
    ground: &Ground,
    sheet: &mut Sheet,
) -> Result<(), Error> {
    let program = toolchain.compile(Language::C, "raw.c", include_str!("../../languages/raw.c"))?;
    let Some(cores) = machine::two_cores()? else {
        sheet.note(&format!("languages: raw: {}", Error::OneCore));
        return Ok(());
    };
    for (what, role, other) in WORK {
        for &size in &options.size {
            let settings = |language, how| side(what, language, how).with("size", size);
            let rust = move |time| {
                let part = |role, core, time| Program::Rust(RustRaw { role, size, core, time });
                round([part(role, cores.0, Some(time)), part(other, cores.1, None)], ground, time)
            };
            let mut sides = vec![Side::sinew(settings("Rust", "handles"), rust).of_rust()];
            for how in ["handles", "names"] {
                let program = &program;
                let c = move |time| {
                    let part = |role, core, time| in_c(program, how, RustRaw { role, size, core, time });
                    round([part(role, cores.0, Some(time)), part(other, cores.1, None)], ground, time)
                };
                let bar = (how == "handles").then(|| Bar::new("rust_ratio", 1.05));
                sides.push(Side::sinew(settings("C", how), c).with_bar(bar));
            }
            sheet.measure(&format!("languages: {what}, {size} B"), sides)?;
        }
    }
    Ok(())
}

/// Returns the same part for the program in C.
fn in_c<'a>(program: &'a PathBuf, how: &str, part: RustRaw) -> Program<'a, RustRaw> {
    let time = part.time.map_or(0, nanoseconds);
    let numbers = [i64::from(part.size), time].map(|number| number.to_string());
    let [size, time] = numbers;
    let arguments = vec![part.role.name().to_owned(), size, time, part.core.to_string(), how.to_owned()];
    Program::Compiled(program, arguments)
}

fn round(
    [measured, other]: [Program<'_, RustRaw>; 2],
    ground: &Ground,
    time: Duration,
) -> Result<Figures, Error> {
    Ok(measured.measure_beside(&other, ground, time)?.figures(CHUNK))
}

impl Work for RustRaw {
    fn play(&self, measuring: Measuring) -> Result<(), Error> {
        let bytes = vec![0_u8; self.size as usize];
        let mut read = bytes.clone();
        let topic = |name| Topic::<[u8]>::open(name).map_err(Error::measured);
        match self.role {
            Role::Ping => {
                let (there, mut back) = (topic("there")?, topic("back")?);
                self.repeat(measuring, || {
                    there.write(&bytes)?;
                    while back.read_into(&mut read)?.is_none() {}
                    Ok(())
                })
            }
            Role::Pong => {
                let (mut there, back) = (topic("there")?, topic("back")?);
                self.repeat(measuring, || {
                    while there.read_into(&mut read)?.is_none() {}
                    Ok(back.write(&bytes)?)
                })
            }
            Role::Write => {
                let master = Variable::<[u8]>::master("value", &bytes).map_err(Error::measured)?;
                self.repeat(measuring, || Ok(master.write(&bytes)?))
            }
            Role::Read => {
                let mut value = Variable::<[u8]>::open("value").map_err(Error::measured)?;
                self.repeat(measuring, || {
                    while value.read_into(&mut read)?.is_none() {}
                    Ok(())
                })
            }
        }
    }
}

impl RustRaw {
    /// Repeats the operation, as `languages/raw.c` in C, and sends the measuring process the times.
    fn repeat(
        &self,
        measuring: Measuring,
        mut operation: impl FnMut() -> Result<(), Box<dyn std::error::Error + Send + Sync>>,
    ) -> Result<(), Error> {
        machine::pin_to(self.core)?;
        let Some(time) = self.time else {
            measuring.tell(&())?;
            loop {
                operation().map_err(Error::Measured)?;
            }
        };
        measuring.tell(&Measured::repeating(time, operation).map_err(Error::Measured)?)
    }
}
