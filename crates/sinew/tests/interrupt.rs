//! Ctrl-C, in child processes: this test binary again, with a variable that says which part to play.

mod support;

use sinew::prelude::*;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use support::Log;

/// The part a child process plays.
const PART: &str = "SINEW_TEST_PART";

/// A child process that plays a part and says how far it is on its standard output.
struct Actor {
    process: Child,
    /// Its lines; `None` when it has ended.
    said: Log<Option<String>>,
}

impl Actor {
    fn start(part: &str) -> Self {
        let program = std::env::current_exe().expect("a test runs from a file");
        let mut process = Command::new(program)
            .args(["--exact", "plays_a_part_in_a_child_process", "--nocapture", "--test-threads=1"])
            .env(PART, part)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the test binary can be started");
        let said = Log::new();
        let (pen, output) = (said.pen(), process.stdout.take().expect("it is piped"));
        thread::spawn(move || {
            BufReader::new(output).lines().for_each(|line| pen.write(Some(line.expect("it speaks UTF-8"))));
            pen.write(None);
        });
        Self { process, said }
    }

    /// Waits until it has said so.
    #[track_caller]
    fn expect(&self, line: &str) {
        loop {
            let said = self.said.next().unwrap_or_else(|| panic!("it ended before it said {line:?}"));
            if said.contains(line) {
                return;
            }
        }
    }

    fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.process.id().to_string()]).status();
        assert!(status.expect("there is a `kill`").success());
    }

    #[track_caller]
    fn end(mut self) -> ExitStatus {
        while self.said.next().is_some() {}
        self.process.wait().expect("it is our child")
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        let _ = self.process.kill(); // it is gone already if all went well
    }
}

#[test]
fn ctrl_c_ends_the_spin_and_the_program_ends_as_it_likes() {
    for signal in ["-INT", "-TERM"] {
        let actor = Actor::start("spin");
        actor.expect("spinning");
        actor.signal(signal);
        actor.expect("cleaned up");
        let status = actor.end();
        assert_eq!(status.code(), Some(0), "{signal}: {status}");
    }
}

#[test]
fn a_second_ctrl_c_ends_a_program_that_does_not_listen() {
    for (signal, number) in [("-INT", 2), ("-TERM", 15)] {
        let actor = Actor::start("ignore");
        actor.expect("spinning");
        actor.signal("-INT");
        actor.expect("shut down");
        actor.signal(signal);
        let status = actor.end();
        assert_eq!(status.signal(), Some(number), "{status}");
    }
}

#[test]
fn ctrl_c_shuts_down_all_contexts_that_want_it_and_no_other() {
    let actor = Actor::start("several");
    actor.expect("spinning");
    actor.signal("-INT");
    actor.expect("cleaned up");
    let status = actor.end();
    assert_eq!(status.code(), Some(0), "{status}");
}

fn interruptible() -> sinew::Result<Context> {
    Ok(Context::builder().shared_memory(false).domain(0).interrupts(true).build()?)
}

/// What a child process does. In the test run itself there is no part to play.
#[test]
fn plays_a_part_in_a_child_process() -> sinew::Result<()> {
    match std::env::var(PART).as_deref() {
        Ok("spin") => {
            let context = interruptible()?;
            let node = context.node("node")?;
            let started = node.guard_condition().callback(|| println!("spinning"))?;
            started.trigger();
            sinew::spin(&context)?;
            assert!(context.is_shutdown());
            println!("cleaned up");
        }
        Ok("ignore") => {
            let context = interruptible()?;
            let node = context.node("node")?;
            let seen = context.clone();
            let stuck = node.guard_condition().callback(move || {
                println!("spinning");
                while !seen.is_shutdown() {
                    thread::yield_now();
                }
                println!("shut down");
                loop {
                    thread::park();
                }
            })?;
            stuck.trigger();
            sinew::spin(&context)?;
        }
        Ok("several") => {
            let (one, two, other) = (interruptible()?, interruptible()?, support::real_context());
            let node = one.node("node")?;
            let started = node.guard_condition().callback(|| println!("spinning"))?;
            started.trigger();
            let executor = Executor::single();
            executor.add(&two)?;
            sinew::spin(&one)?;
            executor.spin()?; // returns at once, or once its context has been told as well
            assert!(two.is_shutdown() && !other.is_shutdown());
            println!("cleaned up");
        }
        Ok(part) => panic!("no such part: {part}"),
        Err(_) => {}
    }
    Ok(())
}
