//! Calls in tokio: with a timeout of the runtime's, and given up in favour of something else.
//! Another thread spins the executor; Sinew needs no part of the runtime.
//!
//!     cargo run --example service_tokio

use sinew::Responder;
use sinew::prelude::*;
use std::thread;

/// Asks to look for a thing.
struct Search(&'static str);

impl Message for Search {}

/// Where it is.
#[derive(Debug)]
struct Found(&'static str);

impl Message for Found {}

/// From a thing to its place.
struct Find;

impl Service for Find {
    type Request = Search;
    type Response = Found;
}

/// Waits for an answer, but not for ever.
async fn find(client: &Client<Find>, thing: &'static str) -> String {
    // Out of time, the call is dropped: that abandons it.
    match tokio::time::timeout(Duration::from_millis(100), client.call_async(Search(thing))).await {
        Ok(Ok(found)) => found.0.to_owned(),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "nobody knows in time".to_owned(),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> sinew::Result<()> {
    let context = Context::from_args()?;
    let robot = context.node("robot")?;
    let lost = robot.group(Vec::new());
    let server = lost.server::<Find>("find").callback(
        |lost: &mut Vec<Responder<Find>>, search: &Search, responder: Responder<Find>| match search.0 {
            "cup" => responder.respond(Found("on the table")),
            _ => {
                lost.push(responder); // goes on looking
                Ok(())
            }
        },
    );
    let _server = server?;
    let spinning = thread::spawn({
        let context = context.clone();
        move || sinew::spin(&context)
    });

    let client = context.node("person")?.client::<Find>("find").create()?;
    println!("cup: {}", find(&client, "cup").await);
    println!("key: {}", find(&client, "key").await);
    // The first one to answer.
    tokio::select! {
        found = client.call_async(Search("glasses")) => println!("glasses: {found:?}"),
        found = client.call_async(Search("cup")) => println!("the cup first: {:?}", found?.0),
    }

    context.shutdown();
    spinning.join().unwrap_or(Ok(()))
}
