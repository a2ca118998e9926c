//! What a publisher with its subscriber costs, each pair on a service of its own.

use std::fmt::Debug;

use harness::{Case, Figures, Measuring, Other, Path, Result, now_ns};
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::port::update_connections::UpdateConnections as _;
use iceoryx2::prelude::{Node, Service, ipc, local};
use iceoryx2::service::port_factory::publish_subscribe::PortFactory;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sinew_bench::machine::{anonymous_bytes, resident_bytes};
use sinew_bench::report::tenth;

use crate::Iceoryx2;
use crate::domain::{self, Domain};

/// A message of 16 bytes.
type Small = [u64; 2];

/// A service of a pair is named after its number. It holds ten messages for its subscriber, as on
/// our side, and has room for no further ends.
fn service<S: Service>(node: &Node<S>, number: u32) -> Result<PortFactory<S, Small, ()>> {
    let service = node.service_builder(&format!("topic_{number}").as_str().try_into()?);
    let service = service.publish_subscribe::<Small>().max_publishers(1).max_subscribers(1);
    Ok(service.subscriber_max_buffer_size(10).open_or_create()?)
}

fn publisher<S: Service>(node: &Node<S>, number: u32) -> Result<Publisher<S, Small, ()>> {
    Ok(service(node, number)?.publisher_builder().create()?)
}

fn subscriber<S: Service>(node: &Node<S>, number: u32) -> Result<Subscriber<S, Small, ()>> {
    Ok(service(node, number)?.subscriber_builder().create()?)
}

/// Each service keeps some files open: as many as the machine allows.
fn open_many_files() -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    Ok(setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })?)
}

pub fn run(case: &Case, pairs: u32, path: Path) -> Result<Figures> {
    open_many_files()?;
    let domain = Domain::create()?;
    let (create_ns, destroy_ns, bytes) = match path {
        Path::Intra => within(&domain, pairs)?,
        Path::Shm => between(&domain, case, pairs)?,
    };
    let per_pair = |figure: i64| Some(tenth(figure as f64 / f64::from(pairs)));
    Ok(Figures {
        create_ns_per_pair: per_pair(create_ns),
        destroy_ns_per_pair: destroy_ns.and_then(per_pair),
        rss_bytes_per_pair: per_pair(bytes),
        ..Figures::default()
    })
}

fn within(domain: &Domain, pairs: u32) -> Result<(i64, Option<i64>, i64)> {
    let node = domain.node::<local::Service>()?;
    let resident = || resident_bytes().unwrap_or(0).cast_signed();
    // What the first ones make once for all is not theirs.
    let _first = (publisher(&node, u32::MAX)?, subscriber(&node, u32::MAX)?);
    let (mut publishers, mut subscribers) =
        (Vec::with_capacity(pairs as usize), Vec::with_capacity(pairs as usize));
    let before = resident();
    let start = now_ns();
    for number in 0..pairs {
        publishers.push(publisher(&node, number)?);
        subscribers.push(subscriber(&node, number)?);
        connect(&publishers, &subscribers)?;
    }
    let create_ns = now_ns() - start;
    let bytes = resident() - before;
    let start = now_ns();
    drop((publishers, subscribers));
    Ok((create_ns, Some(now_ns() - start), bytes))
}

/// Connects the newest of each, as their first message would.
fn connect<S: Service>(
    publishers: &[Publisher<S, Small, ()>],
    subscribers: &[Subscriber<S, Small, ()>],
) -> Result<()>
where
    Small: Debug,
{
    if let Some(publisher) = publishers.last() {
        publisher.update_connections()?;
    }
    if let Some(subscriber) = subscribers.last() {
        subscriber.update_connections()?;
    }
    Ok(())
}

/// Memory of this process that isn't shared with another, in bytes.
fn own_bytes() -> i64 {
    anonymous_bytes().unwrap_or(0).cast_signed()
}

fn between(domain: &Domain, case: &Case, pairs: u32) -> Result<(i64, Option<i64>, i64)> {
    let node = domain.node::<ipc::Service>()?;
    let _first = publisher(&node, u32::MAX)?;
    let mut other = harness::start::<Iceoryx2>(case, None, domain.name())?;
    let others_before = other.hear::<i64>()?;
    let mut publishers = Vec::with_capacity(pairs as usize);
    let here = || anyhow::Ok(own_bytes() + domain.bytes()?.cast_signed());
    let before = here()?;
    let start = now_ns();
    for number in 0..pairs {
        publishers.push(publisher(&node, number)?);
    }
    // One side after the other: where both make a service at once, one of them sleeps and tries
    // again.
    other.order(&())?;
    other.hear::<()>()?;
    publishers.iter().try_for_each(|publisher| publisher.update_connections())?;
    other.order(&())?;
    let others_after = other.hear::<i64>()?;
    let create_ns = now_ns() - start;
    let bytes = here()? - before + others_after - others_before;
    other.finish::<()>()?;
    Ok((create_ns, None, bytes))
}

/// In the other process: makes its subscribers when told.
pub fn serve(other: &Other, pairs: u32, measuring: Measuring) -> Result<()> {
    open_many_files()?;
    let node = domain::node::<ipc::Service>(&other.note)?;
    let _first = subscriber(&node, u32::MAX)?;
    let mut subscribers = Vec::with_capacity(pairs as usize);
    measuring.tell(&own_bytes())?;
    measuring.order::<()>()?;
    for number in 0..pairs {
        subscribers.push(subscriber(&node, number)?);
    }
    measuring.tell(&())?;
    measuring.order::<()>()?;
    subscribers.iter().try_for_each(|subscriber| subscriber.update_connections())?;
    measuring.tell(&own_bytes())?;
    while measuring.order::<()>()?.is_some() {}
    Ok(measuring.tell(&())?)
}
