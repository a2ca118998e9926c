//! Two processes: this program starts itself a second time, and both talk over shared memory. No
//! daemon, nothing to configure.
//!
//!     cargo run -p sinew-core --example two_processes

use sinew::executor::WaitSet;
use sinew::prelude::*;
use sinew_interfaces::std_msgs::msg::String as Text;
use std::process::Command;

const PATIENCE: Duration = Duration::from_secs(10);

fn main() -> sinew::Result<()> {
    if std::env::args().nth(1).as_deref() == Some("other") { other() } else { first() }
}

/// Starts the other process, asks it three things, and waits for its end.
fn first() -> sinew::Result<()> {
    let program = std::env::current_exe().expect("a program knows where it is");
    let mut other = Command::new(program).arg("other").spawn().expect("it can be started again");
    let asked = ask();
    if asked.is_err() {
        let _ = other.kill(); // it would wait for more
    }
    println!("the other process ended: {}", other.wait().expect("it was started here"));
    asked
}

fn ask() -> sinew::Result<()> {
    let context = Context::new()?;
    let node = context.node("first")?;
    let questions = node.publisher::<Text>("question").create()?;
    let answers = node.subscription::<Text>("answer").create()?;
    let mut set = WaitSet::new();
    set.add_subscription(&answers)?;
    assert!(questions.wait_for_subscribers(1, PATIENCE), "the other process doesn't come");
    for question in ["who are you?", "where are you?", "that is all"] {
        questions.publish(Text { data: question.into() })?;
        let _ready = set.wait(PATIENCE)?;
        match answers.take() {
            Some((answer, info)) => println!("{question} {} ({:?})", answer.data, info.transport()),
            None => println!("{question} no answer within {PATIENCE:?}"),
        }
    }
    Ok(())
}

/// Answers until the last question.
fn other() -> sinew::Result<()> {
    let context = Context::from_args()?;
    let node = context.node("other")?;
    let answers = node.publisher::<Text>("answer").create()?;
    let done = context.clone();
    let answer = move |question: &Text| -> sinew::Result<()> {
        let is_all = question.data == "that is all";
        let data = format!("I am process {}.", std::process::id());
        answers.publish(Text { data: if is_all { "Bye.".into() } else { data } })?;
        if is_all {
            done.shutdown();
        }
        Ok(())
    };
    let _questions = node.subscription::<Text>("question").callback(answer)?;
    sinew::spin(&context)
}
