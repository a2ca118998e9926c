//! Python beside Rust, and beside other libraries with a package for Python.

use std::path::PathBuf;
use std::time::Duration;

use super::interpreter::Interpreter;
use super::program::{CHUNK, Program, side};
use super::talk::{Role, RustTalk};
use crate::bar::Bar;
use crate::{Error, Figures, Ground, Samples, Sheet, Side, machine, nanoseconds, now_ns};

const MEASURING: &str = include_str!("../../languages/python/measuring.py");
const START: &str = include_str!("../../languages/python/start.py");

/// Libraries with a program that plays the roles: the module, which may be missing, and the program.
const LIBRARIES: [(&str, &str); 4] = [
    ("sinew", include_str!("../../languages/python/with_sinew.py")),
    ("iceoryx2", include_str!("../../languages/python/with_iceoryx2.py")),
    ("zenoh", include_str!("../../languages/python/with_zenoh.py")),
    ("rclpy", include_str!("../../languages/python/with_rclpy.py")),
];

/// What two processes do: one is measured.
struct Exchange {
    what: &'static str,
    /// Roles of the measured process and of the other one, in the programs of Python.
    roles: (&'static str, &'static str),
    /// The same in Rust.
    rust: Option<(Role, Role)>,
    /// Operations of each time.
    operations: u32,
    /// What Python is to reach.
    bar: Option<(&'static str, f64)>,
    /// The libraries that play these roles, beside Sinew.
    peers: &'static [&'static str],
    needs_numpy: bool,
}

const EXCHANGES: [Exchange; 6] = [
    Exchange {
        what: "64 characters to a callback",
        roles: ("receive", "send"),
        rust: Some((Role::Receive, Role::Send)),
        operations: CHUNK,
        bar: Some(("p50_ns", 4000.0)), // 250,000 a second
        peers: &["zenoh", "rclpy"],
        needs_numpy: false,
    },
    Exchange {
        what: "64 characters there and back, polling",
        roles: ("ping-spin", "pong-spin"),
        rust: Some((Role::PingSpin, Role::PongSpin)),
        operations: CHUNK,
        bar: None,
        peers: &["iceoryx2"],
        needs_numpy: false,
    },
    Exchange {
        what: "64 characters there and back, sleeping",
        roles: ("ping-sleep", "pong-sleep"),
        rust: Some((Role::PingSleep, Role::PongSleep)),
        operations: 1,
        bar: Some(("over_rust_ns", 15_000.0)),
        peers: &["iceoryx2", "zenoh", "rclpy"],
        needs_numpy: false,
    },
    Exchange {
        what: "service call",
        roles: ("call", "serve"),
        rust: Some((Role::Call, Role::Serve)),
        operations: 1,
        bar: Some(("over_rust_ns", 20_000.0)),
        peers: &["zenoh", "rclpy"],
        needs_numpy: false,
    },
    Exchange {
        what: "10 MB image published, beyond filling it",
        roles: ("image-out", "image-in"),
        rust: Some((Role::ImageOut, Role::ImageIn)),
        operations: 1,
        bar: Some(("p50_ns", 50_000.0)),
        peers: &["iceoryx2", "zenoh", "rclpy"],
        needs_numpy: true,
    },
    Exchange {
        what: "10 MB image received, since it was filled",
        roles: ("image-in", "image-out"),
        rust: Some((Role::ImageIn, Role::ImageOut)),
        operations: 1,
        bar: Some(("p50_ns", 50_000.0)),
        peers: &["iceoryx2", "zenoh", "rclpy"],
        needs_numpy: true,
    },
];

/// Programs of the libraries that are installed.
struct Programs<'a> {
    interpreter: &'a Interpreter,
    start: PathBuf,
    of: Vec<(&'static str, PathBuf)>,
    has_numpy: bool,
}

/// Measures everything with the libraries that the interpreter has.
pub(super) fn measure(ground: &Ground, sheet: &mut Sheet) -> Result<(), Error> {
    let interpreter = match Interpreter::find() {
        Err(missing @ (Error::NoPython | Error::NoPythonPackage { .. })) => {
            sheet.note(&format!("languages: Python: {missing}"));
            return Ok(());
        }
        found => found?,
    };
    let programs = Programs::of(&interpreter, sheet)?;
    match machine::two_cores()? {
        Some(cores) => {
            for exchange in EXCHANGES.iter().filter(|exchange| programs.has_numpy || !exchange.needs_numpy) {
                programs.measure(exchange, cores, ground, sheet)?;
            }
        }
        None => sheet.note(&format!("languages: Python: {}", Error::OneCore)),
    }
    programs.measure_alone(ground, sheet)
}

impl<'a> Programs<'a> {
    fn of(interpreter: &'a Interpreter, sheet: &mut Sheet) -> Result<Self, Error> {
        interpreter.add("measuring.py", MEASURING)?;
        let start = interpreter.add("start.py", START)?;
        let has_numpy = interpreter.has("numpy");
        if !has_numpy {
            sheet.note("languages: Python: images aren't measured: numpy isn't installed");
        }
        let mut of = Vec::new();
        for (library, source) in LIBRARIES {
            if interpreter.has(library) {
                of.push((library, interpreter.add(&format!("with_{library}.py"), source)?));
            } else {
                sheet.note(&format!("languages: Python: not beside {library}, which isn't installed"));
            }
        }
        Ok(Self { interpreter, start, of, has_numpy })
    }

    /// Measures an exchange between two processes.
    fn measure(
        &self,
        exchange: &'a Exchange,
        cores: (usize, usize),
        ground: &Ground,
        sheet: &mut Sheet,
    ) -> Result<(), Error> {
        let settings = |language, library| side(exchange.what, language, library);
        let mut sides = Vec::new();
        if let Some((measured, other)) = exchange.rust {
            let round = move |time| {
                let part = |role, core, time| Program::Rust(RustTalk { role, core, time });
                round(
                    exchange,
                    [part(measured, cores.0, Some(time)), part(other, cores.1, None)],
                    ground,
                    time,
                )
            };
            sides.push(Side::sinew(settings("Rust", "sinew"), round).of_rust());
        }
        for (library, program) in &self.of {
            let is_ours = *library == "sinew";
            if !is_ours && !exchange.peers.contains(library) {
                continue;
            }
            let round = move |time| {
                let part = |role: &str, core: usize, time| {
                    let arguments = vec![role.to_owned(), nanoseconds(time).to_string(), core.to_string()];
                    Program::Interpreted::<RustTalk>(self.interpreter, program, arguments)
                };
                let (measured, other) = exchange.roles;
                round(
                    exchange,
                    [part(measured, cores.0, time), part(other, cores.1, Duration::ZERO)],
                    ground,
                    time,
                )
            };
            let bar = exchange.bar.filter(|_| is_ours).map(|(figure, most)| Bar::new(figure, most));
            sides.push(Side::of(library, settings("Python", library), round).with_bar(bar));
        }
        sheet.measure(&format!("languages: {}", exchange.what), sides)
    }

    /// Measures what a process does alone.
    fn measure_alone(&self, ground: &Ground, sheet: &mut Sheet) -> Result<(), Error> {
        for (what, argument, most) in [("import sinew", "import", 30e6), ("first message", "message", 50e6)] {
            let round = |time| self.started(argument, ground, time);
            let bar = Some(Bar::new("p50_ns", most));
            let ours = Side::sinew(side(what, "Python", "sinew"), round).with_bar(bar);
            sheet.measure(&format!("languages: {what}"), vec![ours])?;
        }
        let mut sides = Vec::new();
        for (library, program) in self.of.iter().filter(|(library, _)| ["sinew", "rclpy"].contains(library)) {
            let round = move |time| {
                let arguments = vec!["idle".to_owned(), nanoseconds(time).to_string(), "0".to_owned()];
                let program = Program::Interpreted::<RustTalk>(self.interpreter, program, arguments);
                Ok(ground.round(|directory| program.measure(directory, time))?.figures(1))
            };
            let bar = (*library == "sinew").then(|| Bar::new("wake_ups", 0.0));
            sides.push(Side::of(library, side("idle node", "Python", library), round).with_bar(bar));
        }
        sheet.measure("languages: idle node", sides)
    }

    /// Starts programs one after the other for a time, the first to warm up.
    fn started(&self, argument: &str, ground: &Ground, time: Duration) -> Result<Figures, Error> {
        let until = now_ns() + nanoseconds(time);
        let mut samples = Samples::with_room_for(1 << 10);
        let mut is_warm = false;
        while now_ns() < until || samples.recorded() == 0 {
            let arguments = vec![argument.to_owned()];
            let program = Program::Interpreted::<RustTalk>(self.interpreter, &self.start, arguments);
            let took = ground.round(|directory| program.measure(directory, time))?.samples.p50(1);
            if let Some(took) = took.filter(|_| is_warm) {
                #[expect(clippy::cast_possible_truncation, reason = "whole nanoseconds")]
                samples.record(took as i64);
            }
            is_warm = true;
        }
        Ok(Figures::of(&samples, 1))
    }
}

fn round(
    exchange: &Exchange,
    [measured, other]: [Program<'_, RustTalk>; 2],
    ground: &Ground,
    time: Duration,
) -> Result<Figures, Error> {
    let figures = measured.measure_beside(&other, ground, time)?.figures(exchange.operations);
    let is_stream = exchange.roles.0 == "receive";
    Ok(Figures {
        messages_per_second: figures.p50_ns.filter(|_| is_stream).map(|time| 1e9 / time),
        ..figures
    })
}
