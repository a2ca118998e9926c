//! Peer `hiroz`: nodes, topics and services of ROS 2, on zenoh.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use harness::chain::{self, Sink};
use harness::requests::{self, Called};
use harness::{Case, Figures, Peer, Program, Result, System, Work};
use hiroz::context::{ZContext, ZContextBuilder};
use hiroz::entity::{TypeHash, TypeInfo};
use hiroz::msg::{SerdeCdrSerdes, ZMessage, ZService};
use hiroz::node::ZNode;
use hiroz::pubsub::{ZPub, ZSub};
use hiroz::service::{ZClient, ZServer};
use hiroz::{Builder as _, MessageTypeInfo, ServiceTypeInfo};
use serde::{Deserialize, Serialize};

fn main() -> ExitCode {
    harness::main::<Hiroz>()
}

struct Hiroz;

const ONE: &str = "hiroz, one context";

impl Program for Hiroz {
    fn systems() -> Peer {
        let how = "all nodes share one context, which is linked to no router; subscriptions call \
                   back in the publisher's thread, servers and clients are tasks on tokio's \
                   runtime with two workers";
        let system = System::new(ONE, how, "https://zettascalelabs.github.io/hiroz/")
            .scenario("chain", Some("messages are written as CDR and read again, as on ROS 2's wire"))
            .scenario(
                "service-chain",
                Some(
                    "requests and answers are written as CDR and read again; each server is a \
                      task, and a call wakes it",
                ),
            );
        Peer { peer: "hiroz".to_owned(), version: "0.2".to_owned(), systems: vec![system] }
    }

    fn run(case: &Case) -> Result<Figures> {
        match (case.system.as_str(), &case.work) {
            (ONE, &Work::Chain { relays, rate }) => with_deep_stack(|| chain(case, relays, rate)),
            (ONE, &Work::ServiceChain { relays, rate }) => service_chain(case, relays, rate),
            _ => harness::no_part(case),
        }
    }
}

/// A message of 16 bytes.
#[derive(Clone, Copy, Debug, Default, Deserialize, MessageTypeInfo, Serialize)]
#[ros_msg(type_name = "bench_msgs/msg/Timing")]
struct Timing {
    stamp: i64,
    number: u64,
}

impl ZMessage for Timing {
    type Serdes = SerdeCdrSerdes<Self>;
}

impl From<chain::Timing> for Timing {
    fn from(chain::Timing { stamp, number }: chain::Timing) -> Self {
        Self { stamp, number }
    }
}

/// A request of 16 bytes.
#[derive(Clone, Copy, Debug, Default, Deserialize, MessageTypeInfo, Serialize)]
#[ros_msg(type_name = "bench_msgs/srv/Ask_Request")]
struct AskRequest {
    stamp: i64,
    number: u64,
}

impl ZMessage for AskRequest {
    type Serdes = SerdeCdrSerdes<Self>;
}

/// Its answer: the request's own number.
#[derive(Clone, Copy, Debug, Default, Deserialize, MessageTypeInfo, Serialize)]
#[ros_msg(type_name = "bench_msgs/srv/Ask_Response")]
struct AskResponse {
    stamp: i64,
    number: u64,
}

impl ZMessage for AskResponse {
    type Serdes = SerdeCdrSerdes<Self>;
}

/// The service.
struct Ask;

impl ServiceTypeInfo for Ask {
    fn service_type_info() -> TypeInfo {
        TypeInfo::new("bench_msgs::srv::dds_::Ask_", TypeHash::zero())
    }
}

impl ZService for Ask {
    type Request = AskRequest;
    type Response = AskResponse;
}

/// Converts hiroz's errors.
trait Said<T> {
    /// Adds the attempted operation to the error.
    fn said(self, doing: &'static str) -> Result<T>;
}

impl<T> Said<T> for hiroz::Result<T> {
    fn said(self, doing: &'static str) -> Result<T> {
        self.map_err(anyhow::Error::from_boxed).context(doing)
    }
}

/// Returns a context that neither searches for others nor listens.
fn alone() -> Result<ZContext> {
    const NONE: [&str; 0] = [];
    let context = ZContextBuilder::default().disable_multicast_scouting();
    let context = context.with_json("connect/endpoints", NONE).with_json("listen/endpoints", NONE);
    context.build().said("making a context")
}

fn node(context: &ZContext, number: u32) -> Result<ZNode> {
    context.create_node(format!("node_{number}")).build().said("making a node")
}

fn publisher(node: &ZNode, hop: u32) -> Result<ZPub<Timing, SerdeCdrSerdes<Timing>>> {
    node.create_pub::<Timing>(&format!("/hop_{hop}")).build().said("making a publisher")
}

fn subscription(
    node: &ZNode,
    hop: u32,
    callback: impl Fn(Timing) + Send + Sync + 'static,
) -> Result<ZSub<Timing, (), SerdeCdrSerdes<Timing>>> {
    let subscription = node.create_sub::<Timing>(&format!("/hop_{hop}"));
    subscription.build_with_callback(callback).said("making a subscription")
}

/// Runs `work` on a thread with a stack for the nested callbacks of 1000 relays: each runs within
/// the publish of the one before.
fn with_deep_stack<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    const STACK: usize = 256 << 20;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn chain(case: &Case, relays: u32, rate: f64) -> Result<Figures> {
    let hops = relays + 1;
    let context = alone()?;
    let sink = Sink::new(rate, case.time());
    let nodes = (0..=hops).map(|number| node(&context, number)).collect::<Result<Vec<_>>>()?;
    let source = publisher(&nodes[0], 0)?;
    let mut subscriptions = Vec::new();
    for (hop, node) in (1..hops).zip(&nodes[1..]) {
        let to = publisher(node, hop)?;
        subscriptions.push(subscription(node, hop - 1, move |timing| {
            if let Err(error) = to.publish(&timing) {
                eprintln!("a relay failed: {error}");
            }
        })?);
    }
    let seen = sink.clone();
    let arrive = move |Timing { stamp, number }| seen.arrive(chain::Timing { stamp, number });
    subscriptions.push(subscription(&nodes[hops as usize], relays, arrive)?);
    let figures = chain::measure(rate, case.time(), hops, &sink, |timing| {
        source.publish(&timing.into()).said("publishing")
    });
    drop(subscriptions);
    context.shutdown().said("closing the context")?;
    figures
}

fn client(node: &ZNode, hop: u32) -> Result<ZClient<Ask>> {
    node.create_client::<Ask>(&format!("/hop_{hop}")).build().said("making a client")
}

/// The role of a server in a chain: to call the next one or, if it is the last, to record the time;
/// then it answers.
enum Role {
    Relay(ZClient<Ask>),
    Last(Arc<Called>),
}

impl Role {
    /// Answers until the context is shut down.
    async fn serve(self, mut server: ZServer<Ask>) {
        while let Ok(request) = server.async_take_request().await {
            let asked = *request.message();
            let answer = match &self {
                Self::Relay(next) => next.call(&asked).await,
                Self::Last(called) => {
                    called.note();
                    Ok(AskResponse { stamp: asked.stamp, number: asked.number })
                }
            };
            let answered = match answer {
                Ok(answer) => request.reply(&answer).await,
                Err(error) => Err(error),
            };
            if let Err(error) = answered {
                eprintln!("a server failed: {error}");
                break;
            }
        }
    }
}

fn service_chain(case: &Case, relays: u32, rate: f64) -> Result<Figures> {
    let hops = relays + 1;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    let context = alone()?;
    let called = Arc::new(Called::default());
    // One node for the client, and one for each server.
    let nodes = (0..=hops).map(|number| node(&context, number)).collect::<Result<Vec<_>>>()?;
    let mut tasks = Vec::new();
    for (hop, node) in (0..hops).zip(&nodes[1..]) {
        let server = node.create_service::<Ask>(&format!("/hop_{hop}")).build().said("making a server")?;
        let role =
            if hop == relays { Role::Last(called.clone()) } else { Role::Relay(client(node, hop + 1)?) };
        tasks.push(runtime.spawn(role.serve(server)));
    }
    let first = client(&nodes[0], 0)?;
    let figures = requests::measure(rate, case.time(), hops, &called, |chain::Timing { stamp, number }| {
        let answer = runtime.block_on(first.call(&AskRequest { stamp, number })).said("calling")?;
        Ok(answer.number)
    });
    tasks.iter().for_each(|task| task.abort());
    drop(runtime);
    context.shutdown().said("closing the context")?;
    figures
}
