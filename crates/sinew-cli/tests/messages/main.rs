//! Messages of any type are echoed, published and called with, and their types are shown.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod action;
mod call;
mod delay;
mod echo;
mod interfaces;
mod log;
mod params;
mod pictures;
mod publish;

use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use sinew::executor::StopHandle;
use sinew::prelude::*;
use sinew::{Executor, Publisher};

/// Longer than anything takes that succeeds.
const PATIENCE: Duration = Duration::from_secs(30);

/// ROS 2's type.
#[derive(Message, Clone, Default)]
#[message(name = "std_msgs/msg/String")]
struct Text {
    data: String,
}

/// A type of a package without definitions.
#[derive(Message, Clone, Default)]
#[message(name = "robot_msgs/msg/Arm")]
struct Arm {
    name: String,
    joints: Vec<Joint>,
    gains: [f32; 2],
}

#[derive(Message, Clone, Default)]
#[message(name = "robot_msgs/msg/Joint")]
struct Joint {
    angle: f64,
    limits: Vec<u8>,
}

/// A directory for domains, removed at the end.
struct Base(tempfile::TempDir);

impl Base {
    fn new() -> Self {
        Self(tempfile::tempdir_in("/dev/shm").unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn context(&self) -> Context {
        Context::builder().domain(0).directory(self.path().join("domains")).build().unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        command.args(arguments).stdin(Stdio::null());
        command.env("SINEW_DIR", self.path().join("domains")).env("SINEW_DOMAIN_ID", "0");
        command.env_remove("AMENT_PREFIX_PATH");
        command
    }

    fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    #[track_caller]
    fn text(&self, arguments: &[&str]) -> String {
        good(&self.command(arguments).output().unwrap())
    }

    #[track_caller]
    fn failure(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stderr).unwrap()
    }

    /// Puts a definition into `definitions/package/kind/Base.kind`.
    fn define(&self, package: &str, file: &str, text: &str) -> String {
        let folder = self.path().join("definitions");
        let path = folder.join(package).join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        folder.to_str().unwrap().to_owned()
    }
}

#[track_caller]
fn good(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Spins a context on a thread of its own until this is dropped.
struct Spinning(StopHandle, Option<JoinHandle<()>>);

impl Spinning {
    fn new(context: &Context) -> Self {
        let executor = Executor::single();
        executor.add(context).unwrap();
        let stop = executor.stop_handle();
        Self(stop, Some(std::thread::spawn(move || executor.spin().unwrap())))
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        self.0.stop();
        if let Some(thread) = self.1.take() {
            thread.join().unwrap();
        }
    }
}

/// Waits until there is a subscription.
fn wait_for_subscription<T: Message>(publisher: &Publisher<T>) {
    for _ in 0..PATIENCE.as_millis() {
        if publisher.subscription_count() > 0 {
            return;
        }
        pause();
    }
    panic!("nobody subscribes to {}", publisher.topic());
}

#[expect(clippy::disallowed_methods, reason = "to wait for another process")]
fn pause() {
    std::thread::sleep(Duration::from_millis(1));
}

/// Returns the first line of a command's output.
fn first_line(output: Option<impl Read>) -> String {
    let mut line = String::new();
    BufReader::new(output.unwrap()).read_line(&mut line).unwrap();
    line
}

/// Stops a command as a user would: that is no failure.
#[track_caller]
fn end_with_ctrl_c(mut child: Child) {
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

fn listen<T: Message + Clone>(context: &Context, topic: &str) -> (sinew::Subscription<T>, Receiver<T>) {
    let (sender, receiver) = channel();
    let node = context.node("listener").unwrap();
    let callback = move |message: &T| drop(sender.send(message.clone()));
    (node.subscription::<T>(topic).callback(callback).unwrap(), receiver)
}
