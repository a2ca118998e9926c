//! The demonstration in three languages: a camera in Rust, a filter in C++ and a viewer in C, which
//! pass on images of 8 MB. First each runs in a process of its own, then all run in one; the counters
//! of all endpoints, which the other tools show as well, say how many images were copied.
//!
//! The nodes are components, the same in both. `sinew-container` has the camera; the sources of filter
//! and viewer are in the folder `demo` of this crate. They are compiled here, with the shared library
//! and the headers that are installed.

mod built;
mod counts;
mod program;

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sinew::parameters::ParameterClient;
use sinew::{Context, Node};
use sinew_bench::clock::{nanoseconds, now_ns, sleep_until};
use sinew_bench::languages::Toolchain;

use self::built::{Built, PARTS, Part};
use self::counts::Counts;
use self::program::{GRACE, LOOK, Program};
use super::watch::UNATTENDED;
use crate::cli::DemoOptions;
use crate::error::Error;
use crate::terminal;

/// Time between two lines about the images so far.
const REPORT: Duration = Duration::from_secs(1);

/// Compiles the nodes, and runs them in three processes and in one, each until the time is over.
/// Ctrl-C ends both.
pub(super) fn run(options: &DemoOptions) -> Result<(), Error> {
    let toolchain = Toolchain::find(options.library.as_deref())?;
    say(&format!("compiling filter.cpp and viewer.c with {}", toolchain.library().display()))?;
    let built = Built::compile(&toolchain)?;
    let is_interrupted = Arc::new(AtomicBool::new(false));
    let interrupted = is_interrupted.clone();
    // Relaxed: nothing else depends on the flag.
    terminal::stop_on_signal(move || interrupted.store(true, Ordering::Relaxed), None)?;
    let images = "camera in Rust => image => filter in C++ => negative => viewer in C";
    let [viewer, filter, camera] = PARTS;
    let places: [(&str, &[&[Part]]); 2] =
        [("three processes", &[&[viewer], &[filter], &[camera]]), ("one process", &[&PARTS])];
    for (place, processes) in places {
        if is_interrupted.load(Ordering::Relaxed) {
            break;
        }
        say(&format!("{images}: {place}; Ctrl-C ends"))?;
        let mut programs = Vec::new();
        for parts in processes {
            let nodes: Vec<_> = parts.iter().map(|part| part.name).collect();
            programs.push(Program::start(nodes.join(", "), &mut built.command(parts, options.rate))?);
        }
        let time = options.seconds.unwrap_or(UNATTENDED);
        let wrong = Showing::begin(programs, &is_interrupted)?.show(time)?;
        say(&format!("images with wrong pixels at the viewer: {wrong}"))?;
    }
    Ok(())
}

fn say(line: &str) -> Result<(), Error> {
    writeln!(io::stdout(), "{line}").map_err(Error::Output)
}

/// The nodes, wherever they run, and this process, which looks at them.
struct Showing<'a> {
    programs: Vec<Program>,
    counts: Counts,
    camera: ParameterClient,
    _node: Node,
    is_interrupted: &'a AtomicBool,
}

impl<'a> Showing<'a> {
    fn begin(programs: Vec<Program>, is_interrupted: &'a AtomicBool) -> Result<Self, Error> {
        let context = Context::new()?;
        let node = context.node("demo")?;
        let (counts, camera) = (Counts::of(&context)?, node.parameter_client("/camera"));
        Ok(Self { programs, counts, camera, _node: node, is_interrupted })
    }

    /// Has the camera make images for some time. Returns the viewer's last word.
    fn show(mut self, time: Duration) -> Result<String, Error> {
        // Before that, its images would go nowhere.
        self.wait(GRACE, |showing| Ok(showing.is_over() || showing.counts.are_matched()))?;
        self.turn_camera(true)?;
        let mut next = now_ns() + nanoseconds(REPORT);
        self.wait(time, |showing| {
            if now_ns() >= next {
                next += nanoseconds(REPORT);
                say(&showing.counts.line())?;
            }
            Ok(showing.is_over())
        })?;
        self.turn_camera(false)?;
        self.wait(GRACE, |showing| Ok(showing.counts.have_arrived()))?;
        let mut word = String::new();
        for program in self.programs.drain(..) {
            word += &program.end()?;
        }
        say(&format!("in all {}", self.counts.last_line()))?;
        Ok(word.trim().to_owned())
    }

    /// Whether Ctrl-C was pressed.
    fn is_over(&self) -> bool {
        self.is_interrupted.load(Ordering::Relaxed)
    }

    fn turn_camera(&self, is_on: bool) -> Result<(), Error> {
        let set = self.camera.set_one("running", is_on).wait(GRACE);
        Ok(set.map_err(sinew::Error::from)?)
    }

    /// Waits until it is so, but no longer than a time. Fails if a program ends meanwhile.
    fn wait(
        &mut self,
        time: Duration,
        mut is_so: impl FnMut(&mut Self) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let until = now_ns() + nanoseconds(time);
        while !is_so(self)? && now_ns() < until {
            self.programs.iter_mut().try_for_each(Program::check)?;
            sleep_until(now_ns() + nanoseconds(LOOK));
        }
        Ok(())
    }
}
