//! What parameters cost: reading one, setting one from another process beside a bare call of the same
//! messages, and a node with and without parameters; what a thousand idle nodes cost.
//!
//! ```sh
//! cargo run --release -p sinew-core --example parameter_costs
//! ```

use sinew::parameters::{NamedValue, Parameters};
use sinew::prelude::*;
use sinew::time::{ClockKind, Time};
use sinew_interfaces::rcl_interfaces::{msg, srv};
use std::hint::black_box;
use std::process::{Child, Command, Stdio};

type Failure = Box<dyn std::error::Error>;

/// Calls in a round, and rounds of each kind, which take turns.
const CALLS: u32 = 2000;
const ROUNDS: usize = 21;
const READS: u32 = 10_000_000;
const NODES: u32 = 1000;
const PATIENCE: Duration = Duration::from_secs(10);
/// How long nothing is done.
const IDLE: Duration = Duration::from_secs(5);

#[derive(Parameters)]
struct Gains {
    #[parameter(default = 1.0)]
    p: f64,
    #[parameter(default = 0.1)]
    i: f64,
}

fn main() -> Result<(), Failure> {
    if let Some(place) = std::env::args_os().nth(1) {
        return serve(place.as_ref());
    }
    let place = tempfile::tempdir_in("/dev/shm")?;
    sinew::logging::builder().console(false).directory(place.path()).init()?;
    let context = Context::builder().directory(place.path()).domain(0).build()?;
    reading(&context)?;
    setting(place.path(), &context)?;
    nodes(&context)
}

/// Nanoseconds for each of so many.
fn each(count: u32, mut work: impl FnMut()) -> f64 {
    let begin = Time::steady();
    for _ in 0..count {
        work();
    }
    (Time::steady() - begin).as_secs_f64() * 1e9 / f64::from(count)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn reading(context: &Context) -> Result<(), Failure> {
    let node = context.node("reader")?;
    let number = node.parameter("number").default(1.5).create()?;
    let text = node.parameter("text").default("text".to_owned()).create()?;
    let gains = node.parameters::<Gains>()?;
    // Of each the median of five rounds, which take turns with rounds that read nothing.
    let mut nothing = Vec::new();
    let mut reads = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..5 {
        nothing.push(each(READS, || _ = black_box(0.0)));
        reads[0].push(each(READS, || _ = black_box(number.get())));
        reads[1].push(each(READS, || _ = black_box(text.get())));
        reads[2].push(each(READS, || {
            let gains = gains.get();
            _ = black_box(gains.p + gains.i);
        }));
    }
    println!("the loop itself: {:.2} ns", median(nothing));
    for (what, times) in ["a double", "a text", "a struct"].into_iter().zip(reads) {
        println!("reading {what}, with the loop: {:.2} ns", median(times));
    }
    println!("setting one here: {:.0} ns", each(100_000, || number.set(2.5).expect("it is allowed")));
    Ok(())
}

/// The other process: a parameter, and a bare service of the same types.
fn serve(place: &std::path::Path) -> Result<(), Failure> {
    let context = Context::builder().directory(place).domain(0).build()?;
    let node = context.node("owner")?;
    let _number = node.parameter("number").default(0).create()?;
    let _bare = node.server::<srv::SetParametersAtomically>("/bare").immediate_callback(
        |_: &srv::SetParametersAtomicallyRequest| srv::SetParametersAtomicallyResponse {
            result: msg::SetParametersResult { successful: true, reason: String::new() },
        },
    )?;
    std::io::stdin().lines().for_each(drop); // until the other one has ended
    Ok(())
}

struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        drop(self.0.wait());
    }
}

fn setting(place: &std::path::Path, context: &Context) -> Result<(), Failure> {
    let other = Command::new(std::env::current_exe()?).arg(place).stdin(Stdio::piped()).spawn()?;
    let _other = Ends(other);
    let node = context.node("asker")?;
    let bare = node.client::<srv::SetParametersAtomically>("/bare").create()?;
    let client = node.parameter_client("/owner");
    let named = |value: i64| NamedValue::new("number", sinew::parameters::ParameterValue::Integer(value));
    let request = |value: i64| {
        let value = msg::ParameterValue { r#type: 2, integer_value: value, ..Default::default() };
        let parameters = vec![msg::Parameter { name: "number".to_owned(), value }];
        srv::SetParametersAtomicallyRequest { parameters }
    };
    bare.call(request(1), PATIENCE)?;
    client.set_atomically([named(1)]).wait(PATIENCE)?;
    let (mut bares, mut sets) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let mut value = 0;
        bares.push(each(CALLS, || {
            value += 1;
            drop(black_box(bare.call(request(value), PATIENCE).expect("it is there")));
        }));
        sets.push(each(CALLS, || {
            value += 1;
            client.set_atomically([named(value)]).wait(PATIENCE).expect("it is allowed");
        }));
    }
    let ratios = bares.iter().zip(&sets).map(|(bare, set)| set / bare).collect();
    println!(
        "a bare call to another process: {:.2} us; setting one there: {:.2} us; ratio {:.3}",
        median(bares) / 1e3,
        median(sets) / 1e3,
        median(ratios)
    );
    Ok(())
}

/// Resident bytes of this process, with its shared memory.
fn resident() -> Result<f64, Failure> {
    let statm = std::fs::read_to_string("/proc/self/statm")?;
    let pages: f64 = statm.split_whitespace().nth(1).ok_or("no resident pages")?.parse()?;
    Ok(pages * 4096.0)
}

fn nodes(context: &Context) -> Result<(), Failure> {
    let mut kept = Vec::new();
    for (what, with) in [("without parameters", false), ("with one parameter", true)] {
        let before = resident()?;
        let mut index = 0;
        let time = each(NODES, || {
            let node = context.node(&format!("node_{with}_{index}")).expect("a name");
            index += 1;
            if with {
                drop(node.parameter("x").default(1).create().expect("a parameter"));
            }
            kept.push(node);
        });
        let bytes = (resident()? - before) / f64::from(NODES);
        println!("a node {what}: {:.1} us, {:.1} KB", time / 1e3, bytes / 1024.0);
    }
    let rest = || context.node("rest")?.sleep_for(ClockKind::Steady, IDLE).map_err(Failure::from);
    rest()?; // what making them has left to do; without an executor, looks go on for 30 s
    let before = processor_time()?;
    rest()?;
    let used = processor_time()? - before;
    println!(
        "{} nodes, with logging, that do nothing: {:.0} us of the processor in {IDLE:?}",
        kept.len(),
        used / 1e3
    );
    Ok(())
}

/// Nanoseconds that the threads of this process have run.
fn processor_time() -> Result<f64, Failure> {
    let mut sum = 0.0;
    for task in std::fs::read_dir("/proc/self/task")? {
        let times = std::fs::read_to_string(task?.path().join("schedstat"))?;
        sum += times.split_whitespace().next().ok_or("no time in schedstat")?.parse::<f64>()?;
    }
    Ok(sum)
}
