//! A gateway that has nothing to do, on a busy robot.

use std::path::Path;
use std::time::Duration;

use super::hosts::{GatewayProcess, GatewaySeen, Network};
use crate::clock::{now_ns, sleep_until};
use crate::error::Error;
use crate::graph::Graph;
use crate::options::ExecutorOptions;
use crate::progress::Progress;
use crate::report::{Figures, Row};
use crate::rounds::Turns;
use crate::run::{Run, executor};
use crate::topology;

/// Time that a gateway gets to announce all endpoints to the network.
const SETTLING: Duration = Duration::from_secs(2);

/// Measures the resources of a robot's gateway when no other host listens to the robot's topics.
/// Its `copies` are the messages that it handled.
pub(super) fn measure(
    path: &Path,
    turns: Turns,
    file: &str,
    progress: &mut Progress,
) -> Result<Vec<Row>, Error> {
    let graph = Graph::load(file)?;
    let network = Network::new()?;
    let mut gateway = GatewayProcess::start(&network, path)?;
    progress.show(&format!("the gateway of {} with nothing to do", graph.name), 1, 1);
    let run = Run::shared(path, executor(ExecutorOptions::default()))?;
    let figures = topology::run_graph(&run, &graph, turns.time, || {
        sleep_until(now_ns() + crate::clock::nanoseconds(SETTLING));
        gateway.order(&())
    })?;
    let seen: GatewaySeen = gateway.finish()?;
    let figures = Figures { messages: figures.messages, lost: figures.lost, ..Figures::default() };
    let figures = Figures { copies: Some(seen.touched), ..figures.using(seen.usage) };
    let row = Row::sinew("net", figures).with("case", "idle").with("file", graph.name.as_str());
    Ok(vec![row.with("gateways", "apart").with("ends", seen.known)])
}
