//! The demonstration in three languages: a camera in Rust in this process, a filter in C++ and a
//! viewer in C, each in a process of its own. They pass on images of 8 MB in shared memory; the
//! counters of all endpoints, which the other tools show as well, say how many were copied.
//!
//! The sources of filter and viewer are in the folder `demo` of this crate. They are compiled here,
//! with the shared library and the headers that are installed.

use std::collections::HashMap;
use std::io::{self, IsTerminal as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use sinew::{Context, Message as _, Node, Publisher, Timer};
use sinew_bench::clock::{nanoseconds, now_ns, sleep_until};
use sinew_bench::languages::{Language, Toolchain};
use sinew_bench::process::status;
use sinew_bench::run::{Collected, executor};
use sinew_build::CppGenerator;
use sinew_interfaces::DEFINITIONS;
use sinew_interfaces::sensor_msgs::msg::{Image, ImageLengths};
use sinew_shm::inspect::Snapshot;
use sinew_shm::{Counter, Domain, EndpointKind};

use super::watch::UNATTENDED;
use crate::cli::DemoOptions;
use crate::error::Error;
use crate::observed::EndpointId;
use crate::terminal;

/// Width and height of an image; its pixels are red, green and blue.
const SIZE: (u32, u32) = (1920, 1440);

/// Bytes of an image's pixels: 8.3 MB.
const BYTES: usize = SIZE.0 as usize * SIZE.1 as usize * 3;

/// The topics from the camera to the filter, and from there to the viewer.
const TOPICS: [&str; 2] = ["image", "negative"];

/// Time between two checks of the programs.
const LOOK: Duration = Duration::from_millis(20);

/// Time between two lines about the images so far.
const REPORT: Duration = Duration::from_secs(1);

/// Longest wait for programs: to see each other, to see the last images, to end.
const GRACE: Duration = Duration::from_secs(10);

/// Compiles the programs, and runs them until the time is over or Ctrl-C is pressed.
pub(super) fn run(options: &DemoOptions) -> Result<(), Error> {
    let toolchain = Toolchain::find(options.library.as_deref())?;
    say(&format!("compiling filter.cpp and viewer.c with {}", toolchain.library().display()))?;
    let [filter, viewer] = compile(&toolchain)?;

    let context = Context::new()?;
    let executor = executor(options.executor).build()?;
    executor.add(&context)?;
    let stop = executor.stop_handle();
    terminal::stop_on_signal(move || stop.stop(), None)?;
    let node = context.node("camera")?;
    let images = node.publisher::<Image>(TOPICS[0]).create()?;
    let programs =
        Collected::new(vec![Program::start("viewer", &viewer)?, Program::start("filter", &filter)?]);
    let counts = Collected::new(Counts::of(&context)?);

    let (watched, stop) = (programs.clone(), executor.stop_handle());
    let _watch = node.timer(LOOK).callback(move || {
        if !watched.with(|programs| programs.iter_mut().all(Program::is_running)) {
            stop.stop();
        }
    })?;
    let (count, seen) = (counts.clone(), images.clone());
    let _report = node.timer(REPORT).callback(move || {
        // As long as there are no images, the programs are starting.
        if seen.statistics().published > 0 { say(&count.with(Counts::line)) } else { Ok(()) }
    })?;
    let camera = camera(&node, &images, &counts, options.rate)?;
    let stop = executor.stop_handle();
    let time = options.seconds.or((!io::stdout().is_terminal()).then_some(UNATTENDED));
    let _end = time.map(|time| node.timer(time).callback(move || stop.stop())).transpose()?;
    say(
        "camera in Rust => image => filter in C++ => negative => viewer in C: three processes; Ctrl-C ends them",
    )?;
    let outcome = executor.spin();
    drop(camera);
    settle(&counts);
    let wrong = end(&programs)?;
    outcome?;
    say(&format!("in all {}", counts.with(|counts| counts.last_line())))?;
    say(&format!("images with wrong pixels at the viewer: {wrong}"))
}

fn say(line: &str) -> Result<(), Error> {
    writeln!(io::stdout(), "{line}").map_err(Error::Output)
}

/// Compiles the filter and the viewer.
fn compile(toolchain: &Toolchain) -> Result<[PathBuf; 2], Error> {
    toolchain.add("image.h", include_str!("../../demo/image.h"))?;
    // The headers of ROS 2's messages that the filter includes, from their definitions.
    let mut generator = CppGenerator::new();
    for name in ["builtin_interfaces/msg/Time", "std_msgs/msg/Header", "sensor_msgs/msg/Image"] {
        let text = DEFINITIONS.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text);
        generator = generator.definition(toolchain.add(&format!("interfaces/{name}.msg"), text)?);
    }
    for (path, text) in generator.texts()? {
        toolchain.add(&path, &text)?;
    }
    let hash = Image::ENCODING.map_or_else(String::new, |encoding| encoding.hash.to_string());
    let hash = format!("-DIMAGE_HASH=\"{hash}\"");
    Ok([
        toolchain.compile(Language::Cpp, "filter.cpp", include_str!("../../demo/filter.cpp"))?,
        toolchain.compile_with(Language::C, "viewer.c", include_str!("../../demo/viewer.c"), &[&hash])?,
    ])
}

/// Starts the camera. Its images go nowhere until the filter sees the camera, and the viewer sees the
/// filter: it makes none until then.
fn camera(
    node: &Node,
    images: &Publisher<Image>,
    counts: &Collected<Counts>,
    rate: f64,
) -> Result<Timer, Error> {
    let (images, counts) = (images.clone(), counts.clone());
    let encoding = "rgb8".to_owned();
    let small = Image { width: SIZE.0, height: SIZE.1, step: SIZE.0 * 3, encoding, ..Image::default() };
    let (mut colour, mut are_matched) = (0_u8, false);
    let shutter = node.timer(Duration::from_secs_f64(1.0 / rate));
    Ok(shutter.callback(move || -> Result<(), Error> {
        are_matched = are_matched || counts.with(Counts::are_matched);
        if !are_matched {
            return Ok(());
        }
        let mut image = images.draft(&small, ImageLengths { data: BYTES })?;
        image.parts().data.fill(colour);
        colour = colour.wrapping_add(1);
        let published = images.publish(image);
        Ok(published.map_err(sinew::Error::from)?)
    })?)
}

/// Waits until the viewer has seen the images that are still on their way, if none was lost.
fn settle(counts: &Collected<Counts>) {
    let until = now_ns() + nanoseconds(GRACE);
    while now_ns() < until && !counts.with(Counts::have_arrived) {
        sleep_until(now_ns() + nanoseconds(LOOK));
    }
}

/// Ends the programs, and returns the viewer's last word. Fails if one of them ended by itself.
fn end(programs: &Collected<Vec<Program>>) -> Result<String, Error> {
    programs.with(|programs| {
        for Program { node, child } in programs.iter_mut() {
            if let Some(status) = status(child)? {
                return Err(Error::ProgramEnded { node, status: status.to_string() });
            }
        }
        let mut word = String::new();
        for program in programs.iter_mut() {
            let status = program.end()?;
            if !status.success() {
                return Err(Error::ProgramEnded { node: program.node, status: status.to_string() });
            }
            if let Some(said) = &mut program.child.stdout {
                let read = io::Read::read_to_string(said, &mut word);
                read.map_err(|source| Error::System { call: "reading the viewer's output", source })?;
            }
        }
        Ok(word.trim().to_owned())
    })
}

/// A program in C or C++. It is killed if it is still running when this is dropped.
struct Program {
    node: &'static str,
    child: Child,
}

impl Program {
    /// Starts it, out of reach of the terminal's Ctrl-C: it is ended after the last image. The kernel
    /// ends it with the calling thread.
    fn start(node: &'static str, program: &Path) -> Result<Self, Error> {
        let mut command = Command::new(program);
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
        let call = "starting a program of the demo";
        Ok(Self { node, child: command.spawn().map_err(|source| Error::System { call, source })? })
    }

    /// Returns `true` if it hasn't ended. If that can't be found out, the wait for its end fails.
    fn is_running(&mut self) -> bool {
        matches!(status(&mut self.child), Ok(None))
    }

    /// Asks it to end, then kills it.
    fn end(&mut self) -> Result<ExitStatus, Error> {
        for signal in [Signal::TERM, Signal::KILL] {
            // Fails only if it has ended, which the next look shows.
            let _ = kill_process(Pid::from_child(&self.child), signal);
            let until = now_ns() + nanoseconds(GRACE);
            while now_ns() < until {
                if let Some(status) = status(&mut self.child)? {
                    return Ok(status);
                }
                sleep_until(now_ns() + nanoseconds(LOOK));
            }
        }
        self.child.wait().map_err(|source| Error::System { call: "waitpid", source })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Both fail only if it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The counters of the ends of both topics in all processes, as any tool sees them. An end that has
/// gone keeps its last known counts.
struct Counts {
    census: Snapshot,
    ends: HashMap<EndpointId, End>,
}

/// An end of a topic.
#[derive(Clone, Copy)]
struct End {
    /// The place of its topic in [`TOPICS`].
    topic: usize,
    publishes: bool,
    matched: u64,
    /// Messages that were published, or taken.
    images: u64,
    copies: u64,
    encodings: u64,
    decodings: u64,
    lost: u64,
}

impl Counts {
    fn of(context: &Context) -> Result<Self, Error> {
        let domain = Domain::open(None, context.domain())?;
        Ok(Self { census: Snapshot::take(&domain)?, ends: HashMap::new() })
    }

    /// Reads the counters again.
    fn look(&mut self) {
        // If the directory can't be read any more, the known participants count.
        let _ = self.census.refresh();
        for peer in self.census.peers() {
            for (key, entity) in peer.endpoints() {
                let publishes = entity.kind == EndpointKind::Publisher;
                let name = entity.name.trim_start_matches('/');
                let topic = TOPICS.iter().position(|topic| *topic == name);
                let is_end = publishes || entity.kind == EndpointKind::Subscription;
                let (Some(topic), true, Some(counts)) = (topic, is_end, peer.counts(key)) else { continue };
                let of = |counter| counts.get(counter);
                let end = End {
                    topic,
                    publishes,
                    matched: of(Counter::Matched),
                    images: of(if publishes { Counter::Messages } else { Counter::Taken }),
                    copies: of(Counter::Copies),
                    encodings: of(Counter::Encodings),
                    decodings: of(Counter::Decodings),
                    lost: of(Counter::Overwritten) + of(Counter::Missed),
                };
                self.ends.insert((peer.id(), key), end);
            }
        }
    }

    /// Returns the images that one end of a topic published or took; if there are several, all.
    fn images(&self, topic: usize, publishes: bool) -> u64 {
        let ends = self.ends.values().filter(|end| end.topic == topic && end.publishes == publishes);
        ends.map(|end| end.images).sum()
    }

    /// Returns `true` if both topics have a publisher that has found a subscription.
    fn are_matched(&mut self) -> bool {
        self.look();
        let has =
            |topic| self.ends.values().any(|end| end.topic == topic && end.publishes && end.matched > 0);
        has(0) && has(1)
    }

    fn lost(&self) -> u64 {
        self.ends.values().map(|end| end.lost).sum()
    }

    /// Returns `true` if the viewer has all images that were not lost.
    fn have_arrived(&mut self) -> bool {
        self.look();
        self.images(1, false) + self.lost() >= self.images(0, true)
    }

    /// Reads the counters, and describes them.
    fn line(&mut self) -> String {
        self.look();
        self.last_line()
    }

    fn last_line(&self) -> String {
        let sum = |of: fn(&End) -> u64| self.ends.values().map(of).sum::<u64>();
        let (copies, encodings, decodings) =
            (sum(|end| end.copies), sum(|end| end.encodings), sum(|end| end.decodings));
        format!(
            "{} images of {:.1} MB from the camera, {} filtered, {} viewed: {copies} copies, {encodings} encodings, \
             {decodings} decodings, {} lost",
            self.images(0, true),
            BYTES as f64 / 1e6,
            self.images(1, true),
            self.images(1, false),
            self.lost(),
        )
    }
}
