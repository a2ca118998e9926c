//! `sinew lifecycle`, on managed nodes in the test.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use sinew::{Context, Executor};
use sinew_interfaces::lifecycle_msgs::srv::{GetState, GetStateRequest, GetStateResponse};
use sinew_lifecycle::{LifecycleNode, State, from_fn};

fn sinew(place: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.arg("lifecycle").args(arguments).env("SINEW_DIR", place).env_remove("SINEW_DOMAIN_ID");
    command.env_remove("ROS_DOMAIN_ID").output().unwrap()
}

#[track_caller]
fn said(place: &Path, arguments: &[&str]) -> String {
    let output = sinew(place, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn refused(place: &Path, arguments: &[&str]) -> String {
    let output = sinew(place, arguments);
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

/// Ends the spinning thread even if the test fails.
struct EndAtLast(Context);

impl Drop for EndAtLast {
    fn drop(&mut self) {
        self.0.shutdown();
    }
}

#[test]
fn managed_nodes_are_listed_and_managed() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let place = directory.path();
    assert_eq!(said(place, &["nodes"]), "");
    let context = Context::builder().directory(place).build().unwrap();
    let camera = LifecycleNode::new(&context.node("camera").unwrap(), from_fn(|_| Ok(()))).unwrap();
    let broken =
        from_fn(|_| Err::<(), _>(Context::builder().domain(100_000).build().map(drop).unwrap_err().into()));
    let _broken = LifecycleNode::new(&context.node("broken").unwrap(), broken).unwrap();
    let _plain = context.node("plain").unwrap();
    let executor = Executor::multi(2);
    executor.add(&context).unwrap();
    std::thread::scope(|scope| {
        let _ending = EndAtLast(context.clone());
        scope.spawn(|| executor.spin());
        assert_eq!(said(place, &["nodes"]), "/broken\n/camera\n");
        assert_eq!(said(place, &["nodes", "--count-nodes"]), "2\n");
        assert_eq!(said(place, &["get"]), "/broken: unconfigured [1]\n/camera: unconfigured [1]\n");
        let listed = said(place, &["list", "camera"]);
        assert_eq!(
            listed,
            "configure [1]: unconfigured -> configuring\nshutdown [5]: unconfigured -> shuttingdown\n"
        );
        assert_eq!(said(place, &["list", "camera", "--all"]).lines().count(), 25);
        assert_eq!(said(place, &["set", "camera", "1"]), "/camera is inactive now\n");
        let told: Value =
            serde_json::from_str(&said(place, &["set", "/camera", "activate", "--json"])).unwrap();
        assert_eq!(told, json!({ "node": "/camera", "id": 3, "label": "active" }));
        assert_eq!(
            (said(place, &["get", "camera"]), camera.state()),
            ("active [3]\n".to_owned(), State::Active)
        );

        let error = refused(place, &["set", "camera", "configure"]);
        assert_eq!(error, "sinew: /camera can't configure while it is active; it can deactivate, shutdown\n");
        let error = refused(place, &["set", "broken", "configure"]);
        assert!(error.contains("/broken didn't configure, and is finalized"), "{error}");
        let error = refused(place, &["set", "broken", "configure"]);
        assert!(error.contains("can't configure while it is finalized; it can nothing"), "{error}");
        assert!(refused(place, &["get", "/camra"]).contains("/camera"), "what may have been meant");
        assert!(refused(place, &["get", "/plain"]).contains("no managed node /plain"));
        assert!(
            refused(place, &["set", "camera", "start"]).contains("there are configure, cleanup, activate")
        );
    });
}

#[test]
fn a_node_that_does_not_answer_hides_no_other() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let place = directory.path();
    let contexts = [(); 2].map(|()| Context::builder().directory(place).build().unwrap());
    let [hangs, works] = &contexts;
    let plain = hangs.node("hangs").unwrap();
    let answer = |_: &GetStateRequest| GetStateResponse::default();
    let _server = plain.server::<GetState>("~/get_state").callback(answer).unwrap(); // which nothing runs
    let _managed = LifecycleNode::new(&works.node("works").unwrap(), from_fn(|_| Ok(()))).unwrap();
    let executor = Executor::single();
    executor.add(works).unwrap();
    std::thread::scope(|scope| {
        let _ending = EndAtLast(works.clone());
        scope.spawn(|| executor.spin());
        let output = sinew(place, &["get", "--timeout", "0.5"]);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "/works: unconfigured [1]\n");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && told.contains("/hangs"), "{told}");
        assert_eq!(sinew(place, &["get", "hangs", "--timeout", "0.1"]).status.code(), Some(1));
    });
}
