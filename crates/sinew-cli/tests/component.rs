//! `sinew component`, on a container in the test.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::path::Path;
use std::process::{Command, Output};

use sinew::{Context, Executor, Node};
use sinew_component::Container;

fn sinew(place: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.arg("component").args(arguments).env("SINEW_DIR", place).env_remove("SINEW_DOMAIN_ID");
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
    assert_eq!(output.status.code(), Some(1));
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
fn nodes_are_loaded_listed_and_unloaded() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let place = directory.path();
    assert_eq!(said(place, &["list", "--json"]), "[]\n");
    let context = Context::builder().directory(place).build().unwrap();
    let plain = |node: Node| -> Result<Node, sinew::Error> { Ok(node) };
    let builder = Container::builder(&context, "box").component("demo::Plain", "plain", plain);
    let _container = builder.component("demo::Other", "other", plain).build().unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    std::thread::scope(|scope| {
        let ending = EndAtLast(context.clone());
        let spinning = scope.spawn(|| executor.spin());
        assert_eq!(said(place, &["types", "box"]), "demo::Other\ndemo::Plain\n");
        let loaded = said(
            place,
            &["load", "/box", "demo", "demo::Plain", "-n", "p", "--node-namespace", "/a", "-p", "rate:=5"],
        );
        assert_eq!(loaded, "Loaded component 1 into '/box' container node as '/a/p'\n");
        let error = refused(place, &["load", "/box", "demo", "demo::Plain", "-p", "rate"]);
        assert!(error.contains("`rate` is no parameter: write it as name:=value"), "{error}");
        assert_eq!(
            said(place, &["load", "box", "demo", "demo::Other", "--json"]),
            "{\"node\":\"/other\",\"unique_id\":2}\n"
        );
        assert_eq!(said(place, &["list"]), "/box\n  1  /a/p\n  2  /other\n");
        assert_eq!(said(place, &["unload", "box", "1"]), "Unloaded component 1 from '/box' container node\n");
        assert_eq!(said(place, &["list", "box"]), "/box\n  2  /other\n");
        let undeclared = "allow_undeclared_parameters:=true";
        said(place, &["load", "box", "demo", "demo::Plain", "-n", "q", "-e", undeclared]);
        let wrong = refused(place, &["load", "box", "demo", "demo::Plain", "-e", "use_dds:=true"]);
        assert!(wrong.contains("the extra argument \"use_dds\" of demo::Plain isn't understood"), "{wrong}");
        assert_eq!(said(place, &["unload", "box", "3", "--json"]), "{\"unloaded\":[3]}\n");
        let wrong = refused(place, &["load", "box", "demo", "demo::Plane"]);
        assert!(
            wrong
                .starts_with("sinew: /box: this container has no `demo::Plane`; did you mean `demo::Plain`?"),
            "{wrong}"
        );
        let wrong = refused(place, &["list", "/bix"]);
        assert!(wrong.starts_with("sinew: there is no container /bix; did you mean /box?"), "{wrong}");
        assert!(
            refused(place, &["unload", "box", "7"]).contains("no node is loaded as 7; those that are: 2")
        );
        drop(ending);
        spinning.join().unwrap().unwrap();
    });
}
