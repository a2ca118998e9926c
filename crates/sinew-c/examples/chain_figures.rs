//! A chain of ten relays in C++ beside the same chain in Rust, each in a process of its own, one
//! executor with one thread:
//!
//!     cmake -B target/cmake && cmake --build target/cmake
//!     cargo run --release -p sinew-c --example chain_figures -- target/cmake [ROUNDS]
//!
//! The argument is the directory with `libsinew.so`. Each round measures all forms of callbacks in
//! turn; the ratios are medians of those within rounds.
#![expect(clippy::unwrap_used, reason = "a measurement that fails has nothing to say")]
#![expect(clippy::disallowed_methods, reason = "it measures real time")]
#![expect(clippy::cast_possible_truncation, reason = "a rate times seconds is a small number")]

use sinew::prelude::*;
use sinew_build::CppGenerator;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, mpsc};
use std::time::Instant;

const RELAYS: u32 = 10;

/// Seconds per measurement.
const SECONDS: f64 = 1.0;

/// The forms of a relay's callback in C++, and the one in Rust that each is compared with.
const FORMS: [(&str, &str); 3] = [("unique", "unique"), ("shared", "ref"), ("ref", "ref")];

/// Nanoseconds since the program's start, when the source published.
#[derive(Clone, Message)]
struct Start {
    ns: u64,
}

fn main() -> sinew::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[1..] {
        [form, rate, "rust"] => chain(form, rate.parse().unwrap())?,
        [library] => compare(Path::new(library), 9),
        [library, rounds] => compare(Path::new(library), rounds.parse().unwrap()),
        _ => eprintln!("usage: chain_figures DIRECTORY [ROUNDS]"),
    }
    Ok(())
}

fn now() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_nanos() as u64
}

/// As `benches/chain.cpp` in C++.
fn chain(form: &str, rate: f64) -> sinew::Result<()> {
    let messages = (rate * SECONDS) as usize;
    let context = Context::new()?;
    let executor = Executor::single();
    executor.add(&context)?;
    let mut relays = Vec::new();
    for number in 0..RELAYS {
        let node = context.node(&format!("relay_{number}"))?;
        let publisher = node.publisher::<Start>(&format!("hop_{}", number + 1)).create()?;
        let builder = node.subscription::<Start>(&format!("hop_{number}"));
        relays.push(match form {
            "unique" => builder.callback(move |start: Unique<Start>| publisher.publish(start))?,
            _ => builder.callback(move |start: &Start| publisher.publish(start.clone()))?,
        });
    }
    let ((pen, times), stop) = (mpsc::channel(), executor.stop_handle());
    let mut count = 0;
    let sink = context.node("sink")?;
    let _sink = sink.subscription::<Start>(&format!("hop_{RELAYS}")).callback(move |start: &Start| {
        let _ = pen.send((now() - start.ns) as f64 / f64::from(RELAYS + 1)); // the other end is there
        count += 1;
        if count == messages {
            stop.stop();
        }
    })?;
    let source = context.node("source")?;
    let publisher = source.publisher::<Start>("hop_0").create()?;
    let period = Duration::from_secs_f64(1.0 / rate);
    let _timer = source.timer(period).callback(move || publisher.publish(Start { ns: now() }))?;
    executor.spin()?;
    println!("{:.1}", median(times.try_iter().collect()));
    Ok(())
}

/// Compiles the chain in C++.
fn compile(library: &Path, place: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let interfaces = root.join("../sinew-interfaces/interfaces/builtin_interfaces");
    CppGenerator::new().package(interfaces).write_to(place).unwrap();
    let program = place.join("chain");
    let mut compile = Command::new("c++");
    compile.args(["-O2", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I"]).arg(root.join("include"));
    compile.arg("-I").arg(place).arg("-o").arg(&program).arg(root.join("benches/chain.cpp"));
    compile.arg("-L").arg(library).args(["-lsinew", "-pthread"]);
    compile.arg(format!("-Wl,-rpath,{}", library.canonicalize().unwrap().display()));
    assert!(compile.status().unwrap().success());
    program
}

/// Returns the nanoseconds of a hop.
fn figure(program: &Path, arguments: &[&str]) -> f64 {
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut process = Command::new(program);
    process.args(arguments).env("SINEW_DIR", place.path());
    process.env_remove("SINEW_DOMAIN_ID").env_remove("ROS_DOMAIN_ID").env_remove("LD_LIBRARY_PATH");
    let output = process.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

fn compare(library: &Path, rounds: usize) {
    let place = tempfile::tempdir().unwrap();
    let cpp = compile(library, place.path());
    let rust = std::env::current_exe().unwrap();
    println!("median of {rounds} rounds: ns per hop in Rust, in C++, ratio");
    for (form, base) in FORMS {
        for rate in ["1000", "100", "10"] {
            let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..rounds {
                ours.push(figure(&rust, &[base, rate, "rust"]));
                theirs.push(figure(&cpp, &[form, rate, &SECONDS.to_string()]));
                ratios.push(theirs[theirs.len() - 1] / ours[ours.len() - 1]);
            }
            let [ours, theirs, ratio] = [ours, theirs, ratios].map(median);
            println!("{form:8} {rate:>5} Hz: {ours:8.1} {theirs:8.1}  x {ratio:.3}");
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
