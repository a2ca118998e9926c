//! A gateway that has nothing to do, on a busy robot.

use std::path::Path;
use std::time::Duration;

use super::hosts::{GatewayProcess, GatewaySeen, Gateways, Network};
use crate::graph::Graph;
use crate::options::ExecutorOptions;
use crate::topology::{self, Load};
use crate::{
    Error, Figures, Run, Settings, Sheet, executor, nanoseconds, now_ns, shared_context, sleep_until,
};

/// Time that a gateway gets to announce all endpoints to the network.
const SETTLING: Duration = Duration::from_secs(2);

/// Measures the resources of a robot's gateway when no other host listens to the robot's topics.
/// Its `copies` are the messages that it handled.
pub(super) fn measure(path: &Path, file: &str, sheet: &mut Sheet) -> Result<(), Error> {
    let graph = Graph::load(file)?;
    let (name, robot) = (graph.name.as_str(), Load { graph: &graph, scale_rate: 1.0, drafts: false });
    let network = Network::new()?;
    let mut gateway = GatewayProcess::start(&network, path)?;
    sheet.show(&format!("the gateway of {name} with nothing to do"));
    let run = Run::of(shared_context(path)?, executor(ExecutorOptions::default()))?;
    let Figures { messages, lost, .. } = topology::figures(&run, robot, sheet.turns.time, |_| {
        sleep_until(now_ns() + nanoseconds(SETTLING));
        gateway.order(&())
    })?;
    let seen: GatewaySeen = gateway.finish()?;
    let figures = Figures { messages, lost, copies: Some(seen.touched), ..Figures::default() };
    let case = Settings::new().with("case", "idle").with("file", name);
    let case = Gateways::Apart.with(case).with("ends", seen.known);
    sheet.add(None, case, &[figures.using(seen.usage)]);
    Ok(())
}
