//! Messages of a class between two processes: the test starts itself once more as the publisher.

use crate::class::{Class, text_of};
use crate::support::PATIENCE;
use sinew::prelude::*;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

/// Where the processes meet; absent in the test itself.
const PLACE: &str = "SINEW_TEST_CLASS_PLACE";

/// The other process, which ends at the latest when this is dropped.
struct Publishing(Child);

impl Drop for Publishing {
    fn drop(&mut self) {
        let _ = self.0.kill(); // it has ended already
        let _ = self.0.wait();
    }
}

fn context_at(place: &Path) -> Context {
    Context::builder().domain(3).directory(place).build().unwrap()
}

fn publish(place: &Path) -> sinew::Result<()> {
    let (context, class) = (context_at(place), Class::new());
    let string = class.register();
    let publisher = context.node("sender")?.erased_publisher("text", string).create_erased()?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    publisher.publish(class.message(string, "hello from there")).unwrap();
    assert_eq!(class.counts(), [1, 1, 0, 1, 0]);
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap(); // until the test has taken it
    Ok(())
}

#[test]
fn a_class_reaches_another_process() -> sinew::Result<()> {
    if let Some(place) = std::env::var_os(PLACE) {
        return publish(Path::new(&place));
    }
    let place = tempfile::tempdir_in("/dev/shm").expect("shared memory");
    let (context, class) = (context_at(place.path()), Class::new());
    let node = context.node("receiver")?;
    let subscription = node.erased_subscription("text", class.register()).owned().create_erased()?;
    let (bell, rung) = mpsc::channel();
    subscription.set_listener(move |_| bell.send(()).unwrap());
    let mut other = Publishing(
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "processes::a_class_reaches_another_process", "--test-threads=1"])
            .env(PLACE, place.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap(),
    );
    rung.recv_timeout(PATIENCE).expect("a message");
    let message = subscription.take().unwrap().0;
    assert_eq!((text_of(&message).as_str(), message.is_sole()), ("hello from there", true));
    assert_eq!(class.counts(), [0, 0, 0, 0, 1]);
    drop(other.0.stdin.take()); // it may end
    assert!(other.0.wait().unwrap().success());
    Ok(())
}
