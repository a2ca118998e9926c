//! Sessions: separate, or linked over the loopback; and waiting until they know each other's
//! declarations.

use anyhow::Context as _;
use harness::{Result, now_ns};
use sinew_bench::clock::{nanoseconds, sleep_until};
use sinew_bench::process::PATIENCE;
use zenoh::key_expr::OwnedKeyExpr;
use zenoh::pubsub::Publisher;
use zenoh::qos::CongestionControl;
use zenoh::query::Querier;
use zenoh::{Config, Session, Wait as _};

/// Converts zenoh's errors.
pub trait Said<T> {
    /// Adds the attempted operation to the error.
    fn said(self, doing: &'static str) -> Result<T>;
}

impl<T> Said<T> for zenoh::Result<T> {
    fn said(self, doing: &'static str) -> Result<T> {
        self.map_err(anyhow::Error::from_boxed).context(doing)
    }
}

/// The memory of payloads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// Payloads go through the links.
    Heap,
    /// Buffers of shared memory stay in place.
    Shared,
}

/// Opens a session in the mode peer, which listens and connects as given, and searches for no
/// others.
fn open(memory: Memory, listen: &[&str], connect: &[String]) -> Result<Session> {
    let mut config = Config::default();
    let shares = memory == Memory::Shared;
    let settings = [
        ("mode", serde_json::json!("peer")),
        ("scouting/multicast/enabled", serde_json::json!(false)),
        ("scouting/gossip/enabled", serde_json::json!(false)),
        ("listen/endpoints", serde_json::json!(listen)),
        ("connect/endpoints", serde_json::json!(connect)),
        ("connect/exit_on_failure", serde_json::json!(true)),
        ("connect/timeout_ms", serde_json::json!(5000)),
        ("transport/shared_memory/enabled", serde_json::json!(shares)),
        ("transport/shared_memory/mode", serde_json::json!(if shares { "init" } else { "lazy" })),
    ];
    for (key, value) in settings {
        config.insert_json5(key, &value.to_string()).said("setting zenoh's configuration")?;
    }
    zenoh::open(config).wait().said("opening a session")
}

/// Opens a session without links.
pub fn alone() -> Result<Session> {
    open(Memory::Heap, &[], &[])
}

/// Opens a session that others can connect to, on a port that the system chooses, and that is
/// connected to `others`.
pub fn listening(memory: Memory, others: &[String]) -> Result<Session> {
    open(memory, &["tcp/127.0.0.1:0"], others)
}

/// Opens a session that is connected to `others`.
pub fn connected(memory: Memory, others: &[String]) -> Result<Session> {
    open(memory, &[], others)
}

/// Returns the endpoint on which a session listens.
pub fn locator(session: &Session) -> Result<String> {
    let locators = session.info().locators().wait();
    Ok(locators.first().context("a session listens nowhere")?.to_string())
}

/// Makes a key.
pub fn key(name: &str, number: impl std::fmt::Display) -> Result<OwnedKeyExpr> {
    OwnedKeyExpr::new(format!("bench/{name}/{number}")).said("naming a key")
}

/// Declares a publisher that loses nothing. With `express` it sends each message at once; otherwise
/// small messages that wait are sent together.
pub fn publisher(session: &Session, key: OwnedKeyExpr, express: bool) -> Result<Publisher<'static>> {
    let publisher =
        session.declare_publisher(key).congestion_control(CongestionControl::Block).express(express);
    publisher.wait().said("declaring a publisher")
}

/// Declares a querier.
pub fn querier(session: &Session, key: OwnedKeyExpr) -> Result<Querier<'static>> {
    session.declare_querier(key).express(true).wait().said("declaring a querier")
}

/// Waits until a publisher has matched a subscriber.
pub fn matched(publisher: &Publisher<'_>) -> Result<()> {
    until_matching(|| publisher.matching_status().wait().map(|status| status.matching()))
}

/// Waits until a querier has found a queryable.
pub fn found(querier: &Querier<'_>) -> Result<()> {
    until_matching(|| querier.matching_status().wait().map(|status| status.matching()))
}

fn until_matching(matching: impl Fn() -> zenoh::Result<bool>) -> Result<()> {
    let until = now_ns() + nanoseconds(PATIENCE);
    while !matching().said("asking who matches")? {
        anyhow::ensure!(now_ns() < until, "two sessions didn't match within {} s", PATIENCE.as_secs());
        sleep_until(now_ns() + 500_000);
    }
    Ok(())
}
