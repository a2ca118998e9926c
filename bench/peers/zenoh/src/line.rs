//! Chains: of relays and of servers, in one session, in a session for each node, and over two
//! processes.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use anyhow::Context as _;
use harness::chain::{self, Sink, Timing};
use harness::requests::{self, Called};
use harness::{Case, Figures, Measuring, Other, Result};
use zenoh::pubsub::Publisher;
use zenoh::query::{Querier, Query};
use zenoh::sample::Sample;
use zenoh::{Session, Wait as _};

use crate::Zenoh;
use crate::sessions::{self, Memory, Said as _, found, key, listening, locator, matched, publisher, querier};

/// Parses the 16 bytes of a message.
pub fn timing_of(payload: &zenoh::bytes::ZBytes) -> Option<Timing> {
    Timing::from_bytes(&payload.to_bytes())
}

/// Publishes the messages that it receives.
fn relay(session: &Session, hop: u32, to: Arc<Publisher<'static>>) -> Result<()> {
    let pass_on = move |sample: Sample| {
        if let Err(error) = to.put(sample.payload().clone()).wait() {
            eprintln!("a relay failed: {error}");
        }
    };
    let subscriber = session.declare_subscriber(key("hop", hop)?).callback(pass_on).background();
    subscriber.wait().said("declaring a subscriber")
}

fn end(session: &Session, hop: u32, sink: &Sink) -> Result<()> {
    let sink = sink.clone();
    let arrive = move |sample: Sample| {
        if let Some(timing) = timing_of(sample.payload()) {
            sink.arrive(timing);
        }
    };
    let subscriber = session.declare_subscriber(key("hop", hop)?).callback(arrive).background();
    subscriber.wait().said("declaring a subscriber")
}

/// Declares the local nodes of a chain: each has its number, 0 is the source, `hops` the sink.
/// Returns the publishers, in the order of the nodes; the subscribers of all other nodes are
/// declared.
fn declare(nodes: &[(u32, Session)], hops: u32, sink: &Sink) -> Result<Vec<Arc<Publisher<'static>>>> {
    let mut publishers = Vec::new();
    for (number, session) in nodes {
        if *number == hops {
            end(session, number - 1, sink)?;
            continue;
        }
        let to = Arc::new(publisher(session, key("hop", number)?, true)?);
        if *number > 0 {
            relay(session, number - 1, to.clone())?;
        }
        publishers.push(to);
    }
    Ok(publishers)
}

/// Opens `count` sessions of this process, each linked to the next one.
fn line(count: u32) -> Result<Vec<(u32, Session)>> {
    let mut nodes: Vec<(u32, Session)> = Vec::new();
    for number in 0..count {
        let before = nodes.last().map(|(_, session)| locator(session)).transpose()?;
        nodes.push((number, listening(Memory::Heap, before.as_slice())?));
    }
    Ok(nodes)
}

/// Opens `count` nodes that share a session.
fn together(count: u32) -> Result<Vec<(u32, Session)>> {
    let session = sessions::alone()?;
    Ok((0..count).map(|number| (number, session.clone())).collect())
}

fn close(nodes: Vec<(u32, Session)>) -> Result<()> {
    for (_, session) in nodes {
        if !session.is_closed() {
            session.close().wait().said("closing a session")?;
        }
    }
    Ok(())
}

/// The most relays that have a session each.
const MOST_SESSIONS: u32 = 100;

/// Measures a chain in this process.
pub fn chain(case: &Case, relays: u32, rate: f64, one_session: bool) -> Result<Figures> {
    anyhow::ensure!(
        one_session || relays <= MOST_SESSIONS,
        "a session for each of {relays} nodes is not measured, but for {MOST_SESSIONS} at most"
    );
    let hops = relays + 1;
    let sink = Sink::new(rate, case.time());
    let nodes = if one_session { together(hops + 1)? } else { line(hops + 1)? };
    let publishers = declare(&nodes, hops, &sink)?;
    publishers.iter().try_for_each(|publisher| matched(publisher))?;
    let figures = chain::measure(rate, case.time(), hops, &sink, |timing| put(&publishers[0], timing));
    close(nodes)?;
    figures
}

fn put(publisher: &Publisher<'_>, timing: Timing) -> Result<()> {
    publisher.put(timing.to_bytes()).wait().said("publishing")
}

/// Measures a chain with its odd nodes in another process.
pub fn process_chain(case: &Case, relays: u32, rate: f64) -> Result<Figures> {
    let hops = relays + 1;
    let cores = harness::two_cores()?; // before there are sessions: their threads inherit the core
    let sink = Sink::new(rate, case.time());
    let nodes = (0..=hops).step_by(2).map(|number| Ok((number, listening(Memory::Heap, &[])?)));
    let nodes = nodes.collect::<Result<Vec<_>>>()?;
    let locators = nodes.iter().map(|(_, session)| locator(session)).collect::<Result<Vec<_>>>()?;
    let publishers = declare(&nodes, hops, &sink)?;
    let mut other = harness::start::<Zenoh>(case, Some(cores.1), serde_json::to_string(&locators)?)?;
    other.hear::<()>()?;
    publishers.iter().try_for_each(|publisher| matched(publisher))?;
    let sink = hops.is_multiple_of(2).then_some(&sink);
    let source = |timing| put(&publishers[0], timing);
    let figures = chain::measure_between(rate, case.time(), hops, sink, other, source);
    close(nodes)?;
    figures
}

/// In the other process: runs the odd nodes, each linked to both neighbours.
pub fn serve_process_chain(other: &Other, relays: u32, rate: f64, measuring: Measuring) -> Result<()> {
    let hops = relays + 1;
    let sink = Sink::new(rate, other.case.time());
    let locators: Vec<String> = serde_json::from_str(&other.note).context("the locators are unreadable")?;
    let node = |number: u32| {
        let before = number as usize / 2;
        let neighbours = locators.get(before..locators.len().min(before + 2)).unwrap_or_default();
        Ok((number, sessions::connected(Memory::Heap, neighbours)?))
    };
    let nodes = (1..=hops).step_by(2).map(node).collect::<Result<Vec<_>>>()?;
    let publishers = declare(&nodes, hops, &sink)?;
    publishers.iter().try_for_each(|publisher| matched(publisher))?;
    chain::serve_until_the_end(measuring, (!hops.is_multiple_of(2)).then_some(&sink))?;
    close(nodes)
}

/// Calls the next server, and waits for its answer.
pub fn call(next: &Querier<'_>, payload: impl Into<zenoh::bytes::ZBytes>) -> Result<zenoh::bytes::ZBytes> {
    let replies = next.get().payload(payload.into()).wait().said("calling")?;
    let reply = replies.recv().said("waiting for an answer")?;
    match reply.into_result() {
        Ok(sample) => Ok(sample.payload().clone()),
        Err(error) => anyhow::bail!("a call failed: {}", error.payload().try_to_string().unwrap_or_default()),
    }
}

/// Answers a query with the result of `answer`.
pub fn answer(query: &Query, answer: impl FnOnce(&zenoh::bytes::ZBytes) -> Result<zenoh::bytes::ZBytes>) {
    let payload = query.payload().cloned().unwrap_or_default();
    let answered = answer(&payload).and_then(|answer| {
        query.reply(query.key_expr().clone(), answer).express(true).wait().said("answering")
    });
    if let Err(error) = answered {
        eprintln!("a server failed: {error:#}");
    }
}

/// The role of a server in a chain: to call the next one or, if it is the last, to record the time;
/// then it answers.
enum Server {
    Relay(Querier<'static>),
    Last(Arc<Called>),
}

impl Server {
    fn serve(&self, query: &Query) {
        match self {
            Self::Relay(next) => answer(query, |payload| call(next, payload.clone())),
            Self::Last(called) => {
                called.note();
                answer(query, |payload| Ok(payload.clone()));
            }
        }
    }
}

/// Measures a chain of servers in this process. In one session, the thread that makes a query also
/// answers it; otherwise each server is a thread that waits for queries, since zenoh's own threads
/// must not be blocked.
pub fn service_chain(case: &Case, relays: u32, rate: f64, one_session: bool) -> Result<Figures> {
    let hops = relays + 1;
    let called = Arc::new(Called::default());
    let nodes = if one_session { together(hops + 1)? } else { line(hops + 1)? };
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    for (number, session) in nodes.iter().skip(1).rev() {
        let server = if *number == hops {
            Server::Last(called.clone())
        } else {
            let next = querier(session, key("hop", number)?)?;
            found(&next)?;
            Server::Relay(next)
        };
        let queryable = session.declare_queryable(key("hop", number - 1)?).complete(true);
        if one_session {
            let queryable = queryable.callback(move |query| server.serve(&query)).background();
            queryable.wait().said("declaring a queryable")?;
        } else {
            let queryable = queryable.wait().said("declaring a queryable")?;
            // Ends when the session is closed.
            threads.push(thread::spawn(move || {
                while let Ok(query) = queryable.recv() {
                    server.serve(&query);
                }
            }));
        }
    }
    let client = querier(&nodes[0].1, key("hop", 0)?)?;
    found(&client)?;
    let figures = requests::measure(rate, case.time(), hops, &called, |timing| {
        let answer = call(&client, timing.to_bytes())?;
        Ok(timing_of(&answer).context("an answer isn't one")?.number)
    });
    close(nodes)?;
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
    figures
}
