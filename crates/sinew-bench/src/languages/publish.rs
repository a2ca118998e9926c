//! The cost of a publish: 64 bytes to a subscription of the process that keeps the newest ten and
//! never takes one. In Rust that is the function on which C's stands.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::Context;
use sinew::erased::MessageType;
use sinew::msg::{GenericType, TypeHash};

use super::program::{CHUNK, Measured, Program, side};
use super::toolchain::{Language, Toolchain};
use crate::bar::Bar;
use crate::{Error, Figures, Ground, Measuring, Sheet, Side, Work, nanoseconds};

/// Numbers of messages that are published to count instructions: the difference between two runs is
/// that of the messages.
const FEW_AND_MANY: [u64; 2] = [1000, 21_000];

/// Bytes of a message.
const SIZE: usize = 64;

/// A message: the header of the encoded form, and bytes.
const MESSAGE: [u8; SIZE] = {
    let mut bytes = [7; SIZE];
    (bytes[0], bytes[1], bytes[2], bytes[3]) = (0, 1, 0, 0);
    bytes
};

/// How long a process publishes.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
enum Extent {
    /// For this time, which is measured.
    Time(Duration),
    /// This many messages.
    Messages(u64),
}

/// The publishing process in Rust.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct RustPublish(Extent);

/// Measures its time, and counts its instructions.
pub(super) fn measure(toolchain: &Toolchain, ground: &Ground, sheet: &mut Sheet) -> Result<(), Error> {
    let source = include_str!("../../languages/publish.c");
    let program = toolchain.compile(Language::C, "publish.c", source)?;
    let counts = toolchain.programs().join("instructions");
    if !has_valgrind() {
        sheet.note("instructions aren't counted: valgrind isn't installed");
    }
    let settings = |language| side("publish", language, "bytes").with("size", SIZE);
    let rust = |extent| Program::Rust(RustPublish(extent));
    let c = |extent| {
        let (what, number) = match extent {
            Extent::Time(time) => ("time", nanoseconds(time).to_string()),
            Extent::Messages(count) => ("messages", count.to_string()),
        };
        Program::Compiled::<RustPublish>(&program, vec![what.to_owned(), number])
    };
    // Counted once: that doesn't depend on the machine's state.
    let counted = [count(&rust, &counts, ground)?, count(&c, &counts, ground)?];
    let bar = counted[0].map_or(Bar::new("rust_ratio", 1.05), |_| Bar::new("over_rust_instructions", 20.0));
    let rust_round = |time| round(&rust(Extent::Time(time)), counted[0], ground, time);
    let c_round = |time| round(&c(Extent::Time(time)), counted[1], ground, time);
    let sides = vec![
        Side::sinew(settings("Rust"), rust_round).of_rust(),
        Side::sinew(settings("C"), c_round).with_bar(Some(bar)),
    ];
    sheet.measure("languages: publish", sides)
}

fn round(
    program: &Program<'_, RustPublish>,
    instructions: Option<f64>,
    ground: &Ground,
    time: Duration,
) -> Result<Figures, Error> {
    let measured = ground.round(|directory| program.measure(directory, time))?;
    Ok(Figures { instructions, ..measured.figures(CHUNK) })
}

fn has_valgrind() -> bool {
    let asked = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

/// Counts the instructions of each message; `None` if that can't be done here.
fn count<'a>(
    program: &(impl Fn(Extent) -> Program<'a, RustPublish> + Sync),
    file: &Path,
    ground: &Ground,
) -> Result<Option<f64>, Error> {
    let of = |messages| {
        ground.round(|directory| {
            let command = program(Extent::Messages(messages)).command(directory)?;
            instructions(&command, file)
        })
    };
    let [few, many] = FEW_AND_MANY;
    let (Some(first), Some(second)) = (of(few)?, of(many)?) else { return Ok(None) };
    Ok(Some(second.saturating_sub(first) as f64 / (many - few) as f64))
}

/// Runs a command to its end, and returns the number of its instructions; `None` without valgrind.
fn instructions(command: &Command, file: &Path) -> Result<Option<u64>, Error> {
    let mut counting = Command::new("valgrind");
    counting.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    counting.arg(format!("--log-file={}", file.display()));
    counting.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => counting.env(name, value),
            None => counting.env_remove(name),
        };
    }
    let counted = counting.stdin(Stdio::null()).stdout(Stdio::null()).status();
    if !counted.is_ok_and(|status| status.success()) {
        return Ok(None);
    }
    let log = fs::read_to_string(file);
    let log = log.map_err(|source| Error::File { action: "read", path: file.to_owned(), source })?;
    Ok(total(&log))
}

/// Reads the total from valgrind's log.
fn total(log: &str) -> Option<u64> {
    let count = |line: &str| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [_, "I", "refs:", count] => count.replace(',', "").parse().ok(),
        _ => None,
    };
    log.lines().find_map(count)
}

impl Work for RustPublish {
    fn play(&self, measuring: Measuring) -> Result<(), Error> {
        measuring.tell(&self.run()?)
    }
}

impl RustPublish {
    /// As `languages/publish.c` in C.
    fn run(&self) -> sinew::Result<Measured> {
        let node = Context::builder().shared_memory(false).build()?.node("node")?;
        let known = MessageType::known(GenericType::new("some_msgs/msg/Bytes", TypeHash([7; 32]))?);
        let publisher = node.erased_publisher("bytes", known).create_erased()?;
        let _subscription = node.erased_subscription("bytes", known).create_erased()?;
        let publish = || -> sinew::Result<()> {
            let bytes = black_box(&MESSAGE[..]);
            let mut draft = publisher.draft(bytes.len()).expect("64 bytes of memory");
            draft.copy_from_slice(bytes);
            Ok(publisher.publish(draft)?)
        };
        match self.0 {
            Extent::Messages(count) => {
                (0..count).try_for_each(|_| publish())?;
                Ok(Measured::default())
            }
            Extent::Time(time) => Measured::repeating(time, publish),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_of_valgrind() {
        let log = "==7== Cachegrind, a profiler\n==7== \n==7== I   refs:      12,345,678\n";
        assert_eq!(total(log), Some(12_345_678));
        assert_eq!(total("==7== nothing"), None);
    }

    #[test]
    fn rust_publishes() {
        let measured = RustPublish(Extent::Messages(100)).run().unwrap();
        assert_eq!(measured.samples.recorded(), 0);
        let measured = RustPublish(Extent::Time(Duration::from_millis(2))).run().unwrap();
        assert!(measured.samples.recorded() > 0);
    }
}
