//! The path of messages over the network.

use crate::suite::stage::{Path, Play, look};
use crate::suite::support::outside::Onlooker;
use crate::suite::support::{Number, finishes, wait_for};
use sinew::prelude::*;
use sinew::time::VirtualClock;
use sinew_zenoh::config::SessionOptions;
use sinew_zenoh::{Gateway, Router};
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Between two contexts in two directories, which stand for two hosts: each has its gateway, and
/// everything goes through a router that the scenarios of this process share.
pub(crate) struct Net;

/// Options of a session for a machine that may hold it up for long: zenoh gives up a link on which
/// nothing comes for its lease, of ten seconds by default.
fn patient() -> SessionOptions {
    let mut options = SessionOptions::default();
    options.set.push(("transport/link/tx/lease".to_owned(), "60000".to_owned()));
    options
}

static ROUTER: LazyLock<Router> = LazyLock::new(|| {
    let mut options = patient();
    options.listen.push("tcp/127.0.0.1:0".to_owned());
    Router::start(&|_| None, &options).expect("a port is free")
});

/// The domains in use: they separate the scenarios that share the router. ROS 2's domains end with
/// 232; then the first ones are used again, as their gateways are long gone.
static DOMAINS: AtomicU32 = AtomicU32::new(0);

/// The resources of a scenario: a directory for its hosts, and its gateways.
struct Hosts {
    directory: PathBuf,
    domain: u32,
    gateways: Vec<Gateway>,
}

thread_local! {
    /// Those of the scenario that this thread runs.
    static HOSTS: RefCell<Option<Hosts>> = const { RefCell::new(None) };
}

impl Path for Net {
    fn is_apart(&self) -> bool {
        true
    }

    fn is_network(&self) -> bool {
        true
    }

    /// A gateway keeps as many messages as their publisher if the link makes it wait.
    fn offered(&self) -> QoS {
        QoS::new().keep_last(10_000)
    }

    fn open(&self, clock: Option<&VirtualClock>) -> (Context, Context) {
        let mut options = patient();
        options.connect.push(ROUTER.endpoints().remove(0));
        options.client = true;
        HOSTS.with_borrow_mut(|hosts| {
            let hosts = hosts.as_mut().expect("a scenario is played");
            hosts.domain = DOMAINS.fetch_add(1, Ordering::Relaxed) % 232 + 1; // only a number
            let mut host = |name| {
                let context = Context::builder().domain(hosts.domain).directory(hosts.directory.join(name));
                let context = if let Some(clock) = clock { context.virtual_time(clock) } else { context };
                let context = context.build().expect("no arguments to get wrong");
                let builder = Gateway::builder().options(options.clone());
                hosts.gateways.push(builder.start_with(&context, &|_| None).expect("a gateway"));
                context
            };
            (host("sending"), host("receiving"))
        })
    }

    /// New topics take the same paths as everything that was created and published before, and the
    /// paths keep the order: when their messages have come, everything before has. Retained
    /// messages come on request, so one more is retained and requested behind them.
    fn find_out(&self, sender: &Node, receiver: &Node) {
        static ROUNDS: AtomicU64 = AtomicU64::new(0);
        let round = ROUNDS.fetch_add(1, Ordering::Relaxed); // only a number
        let way = |from: &Node, to: &Node, name: &str| {
            let topic = format!("/found_out/{name}_{round}");
            let subscription = to.subscription::<Number>(&topic).create().ok()?;
            Some((from.publisher::<Number>(&topic).create().ok()?, subscription))
        };
        let ways = [way(sender, receiver, "there"), way(receiver, sender, "back")];
        let [Some(there), Some(back)] = ways else { return }; // a context is shut down
        for (publisher, subscription) in [&there, &back] {
            wait_for("they match", || {
                (publisher.subscription_count() == 1 && subscription.publisher_count() == 1).then_some(())
            });
            let _ = publisher.publish(Number(round));
        }
        for (_, subscription) in [&there, &back] {
            wait_for("it comes", || subscription.take());
        }
        let kept = |from: &Node, to: &Node, name: &str| {
            let (topic, latched) = (format!("/found_out/{name}_{round}"), QoS::default().transient_local());
            let publisher = from.publisher::<Number>(&topic).qos(latched).create().ok()?;
            let _ = publisher.publish(Number(round));
            let subscription = to.subscription::<Number>(&topic).qos(latched).create().ok()?;
            wait_for("it was kept", || subscription.take());
            Some(())
        };
        let _ = kept(sender, receiver, "kept").and_then(|()| kept(receiver, sender, "kept_back"));
        look(sender, receiver);
    }

    fn onlooker(&self) -> Onlooker {
        HOSTS.with_borrow(|hosts| {
            let hosts = hosts.as_ref().expect("a scenario is played");
            Onlooker::join(&hosts.directory.join("receiving"), hosts.domain)
        })
    }

    fn play(&self, _: &str, scenario: Play) -> sinew::Result<()> {
        // Held here, where it is removed even if the scenario's thread never ends.
        let directory = tempfile::tempdir_in("/dev/shm").expect("shared memory");
        let path = directory.path().to_owned();
        finishes(move || {
            HOSTS.set(Some(Hosts { directory: path, domain: 0, gateways: Vec::new() }));
            let result = scenario();
            HOSTS.take(); // while the directory exists
            result
        })
    }
}
