//! A network on loopback: a host with Sinew's gateway, and hiroz beside it.

use hiroz::Builder as _;
use hiroz::context::{ZContext, ZContextBuilder};
use hiroz::node::ZNode;
use sinew::Context;
use sinew_zenoh::config::SessionOptions;
use sinew_zenoh::{Gateway, Router};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use zenoh::Wait;

/// How long a test that would otherwise hang may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The domain of both.
pub(crate) const DOMAIN: u32 = 7;

const ANY_PORT: &str = "tcp/127.0.0.1:0";

/// Waits until it is there.
pub(crate) fn wait_for<R>(what: &str, mut look: impl FnMut() -> Option<R>) -> R {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "{what}: it never is");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// How the two find each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// All messages pass the router: both are its clients.
    Router,
    /// They learn of each other from the router, and connect to each other, as ROS 2's nodes do.
    Gossip,
    /// Without a router: the gateway connects to hiroz.
    Address,
}

/// One test per way of connecting them.
macro_rules! each_way {
    ($($(#[$attribute:meta])* fn $name:ident($network:ident: &Network) $body:block)*) => {$(
        $(#[$attribute])*
        mod $name {
            use super::*;
            use crate::network::By;

            fn test($network: &Network) $body

            #[test]
            fn by_router() {
                test(&Network::new(By::Router));
            }

            #[test]
            fn by_gossip() {
                test(&Network::new(By::Gossip));
            }

            #[test]
            fn by_address() {
                test(&Network::new(By::Address));
            }
        }
    )*};
}
pub(crate) use each_way;

/// A host with a gateway, and a context of hiroz.
pub(crate) struct Network {
    pub(crate) ros: ZContext,
    pub(crate) gateway: Gateway,
    /// The directory in which the host's programs meet.
    place: tempfile::TempDir,
    _router: Option<Router>,
}

impl Network {
    pub(crate) fn new(by: By) -> Self {
        let router = (by != By::Address).then(|| {
            let mut options = SessionOptions::default();
            options.listen.push(ANY_PORT.to_owned());
            Router::start(&|_| None, &options).unwrap()
        });
        let routers: Vec<_> = router.iter().flat_map(Router::endpoints).collect();
        let ros = ros_context(by, &routers);
        let mut options = SessionOptions::default();
        options.client = by == By::Router;
        options.connect = match by {
            By::Address => {
                let node = ros.create_node("address").without_parameters().build().unwrap();
                let locators = node.session().info().locators().wait();
                locators.iter().map(ToString::to_string).collect()
            }
            By::Router | By::Gossip => routers,
        };
        if !options.client {
            options.listen.push(ANY_PORT.to_owned());
        }
        let place = tempfile::tempdir_in("/dev/shm").unwrap();
        let context = context_at(&place);
        let gateway = Gateway::builder().options(options).start_with(&context, &|_| None).unwrap();
        Self { ros, gateway, place, _router: router }
    }

    /// A program of Sinew's host.
    pub(crate) fn context(&self) -> Context {
        context_at(&self.place)
    }

    /// A node of Sinew.
    pub(crate) fn our_node(&self, name: &str) -> sinew::Node {
        self.context().node(name).unwrap()
    }

    /// A node of hiroz, with nothing but what a test makes.
    pub(crate) fn their_node(&self, name: &str) -> ZNode {
        self.ros.create_node(name).without_parameters().build().unwrap()
    }
}

/// Runs a context's callbacks until it is dropped, which ends the context.
pub(crate) struct Spinning(Context, Option<JoinHandle<Result<(), sinew::Error>>>);

impl Spinning {
    pub(crate) fn new(context: &Context) -> Self {
        let executor = sinew::Executor::single();
        executor.add(context).unwrap();
        Self(context.clone(), Some(std::thread::spawn(move || Ok(executor.spin()?))))
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        self.0.shutdown();
        let ended = self.1.take().map(|spinning| spinning.join().unwrap());
        if !std::thread::panicking() {
            ended.transpose().unwrap();
        }
    }
}

fn context_at(place: &tempfile::TempDir) -> Context {
    Context::builder().domain(DOMAIN).directory(place.path()).build().unwrap()
}

/// With a configuration of its own, so that no file that the environment names is read.
fn ros_context(by: By, routers: &[String]) -> ZContext {
    const NONE: [&str; 0] = [];
    let config = hiroz::config::session_config().unwrap();
    let builder = ZContextBuilder::default()
        .with_zenoh_config(config)
        .with_domain_id(DOMAIN as usize)
        .with_connect_endpoints(routers);
    let builder = match by {
        By::Router => builder.with_mode("client").with_json("listen/endpoints", NONE),
        By::Gossip | By::Address => builder.with_listen_endpoints([ANY_PORT]),
    };
    builder.build().unwrap()
}
