//! Sessions: alone, or linked over the loopback; and waiting until they know what the others
//! declared.

use anyhow::Context as _;
use harness::{Result, now_ns};
use sinew_bench::clock::{nanoseconds, sleep_until};
use sinew_bench::process::PATIENCE;
use zenoh::key_expr::OwnedKeyExpr;
use zenoh::pubsub::Publisher;
use zenoh::qos::CongestionControl;
use zenoh::query::Querier;
use zenoh::{Config, Session, Wait as _};

/// Turns zenoh's errors into ours.
pub trait Said<T> {
    /// The error says what was done.
    fn said(self, doing: &'static str) -> Result<T>;
}

impl<T> Said<T> for zenoh::Result<T> {
    fn said(self, doing: &'static str) -> Result<T> {
        self.map_err(anyhow::Error::from_boxed).context(doing)
    }
}

/// What a session has besides its links.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// Payloads go through the links.
    Heap,
    /// Buffers of shared memory stay where they are.
    Shared,
}

/// A session in the mode peer, that listens and connects where it is told to, and looks for no
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

/// A session without links.
pub fn alone() -> Result<Session> {
    open(Memory::Heap, &[], &[])
}

/// A session that others can connect to, on a port that the system chooses, and that is connected
/// to `others`.
pub fn listening(memory: Memory, others: &[String]) -> Result<Session> {
    open(memory, &["tcp/127.0.0.1:0"], others)
}

/// A session that is connected to `others`.
pub fn connected(memory: Memory, others: &[String]) -> Result<Session> {
    open(memory, &[], others)
}

/// Where a session listens.
pub fn locator(session: &Session) -> Result<String> {
    let locators = session.info().locators().wait();
    Ok(locators.first().context("a session listens nowhere")?.to_string())
}

/// A key of ours.
pub fn key(name: &str, number: impl std::fmt::Display) -> Result<OwnedKeyExpr> {
    OwnedKeyExpr::new(format!("bench/{name}/{number}")).said("naming a key")
}

/// A publisher that loses nothing. One that is `express` sends each message at once; without, small
/// messages that wait are sent together.
pub fn publisher(session: &Session, key: OwnedKeyExpr, express: bool) -> Result<Publisher<'static>> {
    let publisher =
        session.declare_publisher(key).congestion_control(CongestionControl::Block).express(express);
    publisher.wait().said("declaring a publisher")
}

/// What calls a queryable.
pub fn querier(session: &Session, key: OwnedKeyExpr) -> Result<Querier<'static>> {
    session.declare_querier(key).express(true).wait().said("declaring a querier")
}

/// Waits until a publisher knows a subscriber.
pub fn matched(publisher: &Publisher<'_>) -> Result<()> {
    until_matching(|| publisher.matching_status().wait().map(|status| status.matching()))
}

/// Waits until a querier knows a queryable.
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
