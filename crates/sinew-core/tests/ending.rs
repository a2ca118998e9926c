//! Contexts that end while others call their servers: nothing of them stays, no thread, no
//! descriptor, no mapping.
//!
//! One test, as it counts what the whole process has.

mod support;

use sinew::error::CallFailure;
use sinew::prelude::*;
use sinew::{Executor, Responder};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use support::{Number, Numbers, PATIENCE, Place};

/// What a process has of the contexts below a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Held {
    threads: usize,
    descriptors: usize,
    mappings: usize,
}

impl Held {
    fn below(place: &Path) -> Self {
        let place = place.to_str().expect("a plain path");
        let is_ours = |name: String| name.starts_with("sinew-");
        let tasks = fs::read_dir("/proc/self/task").expect("Linux").flatten();
        let names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
        let files = fs::read_dir("/proc/self/fd").expect("Linux").flatten();
        let mappings = fs::read_to_string("/proc/self/maps").expect("Linux");
        Self {
            threads: names.filter(|name| is_ours(name.clone())).count(),
            descriptors: files.count(),
            mappings: mappings.lines().filter(|line| line.contains(place)).count(),
        }
    }
}

/// How a server answers.
#[derive(Debug, Clone, Copy)]
enum Answers {
    AtOnce,
    Later,
    Never,
}

fn serve(context: &Context, answers: Answers) -> sinew::Result<Server<Numbers>> {
    let server = context.node("server")?.server::<Numbers>("numbers");
    Ok(match answers {
        Answers::AtOnce => server.callback(|number: &Number| Number(number.0 + 1))?,
        Answers::Later => server.async_callback(|number: Number| async move { Number(number.0 + 1) })?,
        Answers::Never => server.callback(|_: &Number, responder: Responder<Numbers>| drop(responder))?,
    })
}

/// Calls for as long as it is to, in each way there is.
fn ask(context: &Context, done: &AtomicBool) -> sinew::Result<()> {
    let node = context.node("asker")?;
    let client = node.client::<Numbers>("numbers").create()?;
    while !done.load(Ordering::Relaxed) {
        match client.call(Number(1), Duration::from_millis(1)) {
            Err(error) if matches!(error.failure(), CallFailure::WouldDeadlock { .. }) => {
                return Err(error.into());
            }
            _ => {}
        }
        let calls: Vec<_> = (0..20).map(|number| client.call_async(Number(number))).collect();
        drop(calls);
        client.call_then(Number(2), |_: sinew::service::CallResult<Numbers>| {}).ok();
    }
    Ok(())
}

#[test]
fn a_context_with_a_server_that_others_call_leaves_nothing_behind() -> sinew::Result<()> {
    let place = Place::new();
    let before = Held::below(place.0.path());
    let asking = [place.context(), place.context()];
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let askers: Vec<_> = asking.iter().map(|context| scope.spawn(|| ask(context, &done))).collect();
        let rounds = || -> sinew::Result<()> {
            for round in 0..100 {
                let context = place.context();
                let answers = [Answers::AtOnce, Answers::Later, Answers::Never][round % 3];
                let server = serve(&context, answers)?;
                let executor = Executor::single();
                executor.add(&context)?;
                for _ in 0..5 {
                    executor.spin_once(Duration::from_millis(2))?;
                }
                match round % 4 {
                    0 => drop((server, executor, context)),
                    1 => drop((context, executor, server)),
                    2 => context.shutdown(),
                    _ => {
                        server.close();
                        executor.spin_some()?;
                    }
                }
            }
            Ok(())
        };
        let result = rounds();
        done.store(true, Ordering::Relaxed);
        askers.into_iter().try_for_each(|asker| asker.join().expect("no panic"))?;
        result
    })?;
    drop(asking);
    let is_over = || Held::below(place.0.path()) == before;
    let begin = sinew::time::Time::steady();
    while !is_over() && sinew::time::Time::steady() - begin < PATIENCE {
        thread::yield_now(); // threads that end need a moment
    }
    assert_eq!(Held::below(place.0.path()), before);
    Ok(())
}
