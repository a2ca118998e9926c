//! The cost of a publisher with its subscriber, each pair on a service of its own.

use harness::{Case, Figures, Measuring, Other, Path, Result, now_ns};
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::port::update_connections::UpdateConnections as _;
use iceoryx2::prelude::{Node, Service, ipc, local};
use iceoryx2::service::port_factory::publish_subscribe::PortFactory;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sinew_bench::machine::Own;
use sinew_bench::pairs::{self, Cost};

use crate::Iceoryx2;
use crate::domain::{self, Domain};

/// A message of 16 bytes.
type Small = [u64; 2];

/// Creates the service of a pair, named after its number. It holds ten messages for its subscriber,
/// as in Sinew's side, and has no room for further endpoints.
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

/// Raises the limit of open files as far as the machine allows: each service keeps some open.
fn open_many_files() -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    Ok(setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })?)
}

pub fn run(case: &Case, pairs: u32, path: Path) -> Result<Figures> {
    open_many_files()?;
    let domain = Domain::create()?;
    match path {
        Path::Intra => within(&domain, pairs),
        Path::Shm => between(&domain, case, pairs),
    }
}

fn within(domain: &Domain, pairs: u32) -> Result<Figures> {
    let node = domain.node::<local::Service>()?;
    let pair = |number| -> Result<_> {
        let (publisher, subscriber) = (publisher(&node, number)?, subscriber(&node, number)?);
        // Connects them, as their first message would.
        publisher.update_connections()?;
        subscriber.update_connections()?;
        Ok((publisher, subscriber))
    };
    Ok(pairs::within(pairs, pair, || Ok(()))?.figures(pairs.into(), Figures::default()))
}

fn between(domain: &Domain, case: &Case, pairs: u32) -> Result<Figures> {
    let node = domain.node::<ipc::Service>()?;
    let _first = publisher(&node, u32::MAX)?;
    let mut other = harness::start::<Iceoryx2>(case, None, domain.name())?;
    other.hear::<()>()?;
    let mut publishers = Vec::with_capacity(pairs as usize);
    let files = || anyhow::Ok(domain.bytes()?.cast_signed());
    let (files_before, before) = (files()?, Own::now());
    let start = now_ns();
    for number in 0..pairs {
        publishers.push(publisher(&node, number)?);
    }
    // One side after the other: if both create a service at the same time, one of them sleeps and
    // tries again.
    other.order(&())?;
    other.hear::<()>()?;
    publishers.iter().try_for_each(|publisher| publisher.update_connections())?;
    other.order(&())?;
    let others = other.hear()?;
    let create_ns = now_ns() - start;
    let mut own = Own::since(before) + others;
    own.bytes += files()? - files_before;
    other.finish::<()>()?;
    Ok(Cost { create_ns, destroy_ns: None, own }.figures(pairs.into(), Figures::default()))
}

/// In the other process: creates its subscribers when ordered to.
pub fn serve(other: &Other, pairs: u32, measuring: Measuring) -> Result<()> {
    open_many_files()?;
    let node = domain::node::<ipc::Service>(&other.note)?;
    let _first = subscriber(&node, u32::MAX)?;
    let mut subscribers = Vec::with_capacity(pairs as usize);
    let before = Own::now();
    measuring.tell(&())?;
    measuring.order::<()>()?;
    for number in 0..pairs {
        subscribers.push(subscriber(&node, number)?);
    }
    measuring.tell(&())?;
    measuring.order::<()>()?;
    subscribers.iter().try_for_each(|subscriber| subscriber.update_connections())?;
    measuring.tell(&Own::since(before))?;
    while measuring.order::<()>()?.is_some() {}
    Ok(measuring.tell(&())?)
}
