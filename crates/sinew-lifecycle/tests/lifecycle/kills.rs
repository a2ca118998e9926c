//! A managed node's process is killed during a transition: the client that requested it gets an
//! error.

use crate::world::PATIENCE;
use sinew::prelude::*;
use sinew_lifecycle::{LifecycleClient, LifecycleClientError, LifecycleNode, State, Transition, from_fn};
use std::process::{Child, Command, Stdio};

/// The directory where the processes meet; unset in the test itself.
const PLACE: &str = "SINEW_TEST_LIFECYCLE_PLACE";

/// Does nothing in the test itself; in a child process, runs a node with an activation that never
/// ends.
#[test]
fn a_node_is_managed_until_it_is_killed() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let context = Context::builder().domain(3).directory(place).build().unwrap();
    let lifecycle = from_fn(|_| Ok(())).on_activate(|()| {
        loop {
            std::thread::park();
        }
    });
    let _node = LifecycleNode::new(&context.node("managed").unwrap(), lifecycle).unwrap();
    sinew::spin(&context).unwrap();
}

/// The child process; killed when this is dropped.
struct Managed(Child);

impl Drop for Managed {
    fn drop(&mut self) {
        drop(self.0.kill()); // SIGKILL
        drop(self.0.wait());
    }
}

#[test]
fn who_asked_a_node_that_is_killed_is_told() {
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let context = Context::builder().domain(3).directory(place.path()).build().unwrap();
    let client = LifecycleClient::new(&context.node("operator").unwrap(), "/managed").unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "kills::a_node_is_managed_until_it_is_killed"]).env(PLACE, place.path());
    let managed = Managed(child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    assert!(client.wait_until_ready(PATIENCE));
    client.change(Transition::Configure, PATIENCE).unwrap();
    let asks = client.clone();
    let asking = std::thread::spawn(move || asks.change(Transition::Activate, PATIENCE));
    while client.state(PATIENCE).unwrap() != State::Activating {
        std::thread::yield_now();
    }
    drop(managed);
    let error = asking.join().unwrap().unwrap_err();
    assert!(matches!(&error, LifecycleClientError::NoAnswer { node, .. } if node == "/managed"), "{error}");
    assert!(!error.to_string().contains("within"), "not by its time: {error}");
}
