//! The raw layer in C beside the raw layer in Rust, between two processes, which poll:
//!
//!     cmake -B target/cmake && cmake --build target/cmake
//!     cargo run --release -p sinew-c --example raw_figures -- target/cmake [ROUNDS]
//!
//! The argument is the directory with `libsinew.so`. Each round measures all three ways in turn, in new
//! processes: Rust, C with handles, C with names. The ratios are medians of those within rounds.
#![expect(clippy::unwrap_used, reason = "a measurement that fails has nothing to say")]
#![expect(clippy::disallowed_methods, reason = "it measures real time")]

use sinew_shm::raw::{Topic, Variable};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Operations between two looks at the clock.
const CHUNK: u32 = 200;

/// Number of chunks that are measured.
const CHUNKS: usize = 200;

const WAYS: [&str; 3] = ["rust", "handles", "names"];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[1..] {
        [role, size, chunks, "rust"] => play(role, size.parse().unwrap(), chunks.parse().unwrap()),
        [library] => compare(Path::new(library), 9),
        [library, rounds] => compare(Path::new(library), rounds.parse().unwrap()),
        _ => eprintln!("usage: raw_figures DIRECTORY [ROUNDS]"),
    }
}

/// Plays a role in Rust, as `benches/raw.c` does in C. Without chunks it plays for ever.
fn play(role: &str, size: usize, chunks: usize) {
    let (data, mut read) = (vec![0_u8; size], vec![0_u8; size]);
    let topic = |name| Topic::<[u8]>::open(name).unwrap();
    match role {
        "ping" | "pong" | "alone" => {
            let (mut there, mut back) = (topic("there"), topic("back"));
            measure(chunks, || match role {
                "ping" => {
                    there.write(&data).unwrap();
                    while back.read_into(&mut read).unwrap().is_none() {}
                }
                "pong" => {
                    while there.read_into(&mut read).unwrap().is_none() {}
                    back.write(&data).unwrap();
                }
                _ => {
                    there.write(&data).unwrap();
                    while there.read_into(&mut read).unwrap().is_none() {}
                }
            });
        }
        "write" => {
            let master = Variable::<[u8]>::master("value", &data).unwrap();
            measure(chunks, || master.write(&data).unwrap());
        }
        _ => {
            let mut value = Variable::<[u8]>::open("value").unwrap();
            measure(chunks, || while value.read_into(&mut read).unwrap().is_none() {});
        }
    }
}

fn measure(chunks: usize, mut operation: impl FnMut()) {
    let mut times = Vec::with_capacity(chunks + 1);
    while chunks == 0 || times.len() <= chunks {
        let start = Instant::now();
        for _ in 0..CHUNK {
            operation();
        }
        if chunks > 0 {
            times.push(start.elapsed().as_secs_f64() * 1e9 / f64::from(CHUNK));
        }
    }
    times[1..].sort_by(f64::total_cmp);
    println!("{:.1}", times[1 + chunks / 10]);
}

/// A process in a role.
fn start(way: &str, c: &Path, place: &Path, (role, size, chunks): (&str, usize, usize)) -> Child {
    let program = if way == "rust" { std::env::current_exe().unwrap() } else { c.to_owned() };
    let mut process = Command::new(program);
    process.args([role, &size.to_string(), &chunks.to_string(), way]).env("SINEW_DIR", place);
    process.env_remove("SINEW_DOMAIN_ID").env_remove("ROS_DOMAIN_ID").env_remove("LD_LIBRARY_PATH");
    process.stdout(Stdio::piped()).spawn().unwrap()
}

/// Returns a role's figure; the process of the other role, if there is one, is ended.
fn figure(way: &str, c: &Path, (role, other): (&str, Option<&str>), size: usize) -> f64 {
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let other = other.map(|other| start(way, c, place.path(), (other, size, 0)));
    let output = start(way, c, place.path(), (role, size, CHUNKS)).wait_with_output().unwrap();
    if let Some(mut other) = other {
        other.kill().unwrap();
        other.wait().unwrap();
    }
    assert!(output.status.success(), "{role} of {way}: {}", output.status);
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

fn compare(library: &Path, rounds: usize) {
    let place = tempfile::tempdir().unwrap();
    let c = place.path().join("raw");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut compile = Command::new("cc");
    compile.args(["-O2", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-I"]).arg(root.join("include"));
    compile.arg("-o").arg(&c).arg(root.join("benches/raw.c")).arg("-L").arg(library).arg("-lsinew");
    compile.arg(format!("-Wl,-rpath,{}", library.canonicalize().unwrap().display()));
    assert!(compile.status().unwrap().success());

    println!("median of {rounds} rounds: ns in Rust, ratio of C with handles and with names to Rust");
    let cases = [
        ("a topic there and back", "ping", Some("pong")),
        ("a topic written and read by one process", "alone", None),
        ("a variable read while it is written", "read", Some("write")),
        ("a variable written while it is read", "write", Some("read")),
    ];
    for (what, role, other) in cases {
        for size in [64, 4096, 65536] {
            let (mut rust, mut ratios) = (Vec::new(), [Vec::new(), Vec::new()]);
            for _ in 0..rounds {
                let [base, c_ways @ ..] = WAYS.map(|way| figure(way, &c, (role, other), size));
                rust.push(base);
                for (ratios, ns) in ratios.iter_mut().zip(c_ways) {
                    ratios.push(ns / base);
                }
            }
            let [handles, names] = ratios.map(median);
            println!("{what:40} {size:6} B: {:9.1} ns  x {handles:.3}  x {names:.3}", median(rust));
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
