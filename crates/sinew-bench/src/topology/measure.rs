//! Measures the graph's row, and the resources of an empty process.

use super::debug;
use super::robot::{Load, figures};
use crate::error::Error;
use crate::graph::Graph;
use crate::machine;
use crate::options::TopologyOptions;
use crate::process::Directory;
use crate::progress::Progress;
use crate::report::{Figures, Row};
use crate::run::Run;

/// Measures the graph's row, beside the resources of the process before there is any node.
pub(crate) fn measure(options: &TopologyOptions, progress: &mut Progress) -> Result<Vec<Row>, Error> {
    let graph = Graph::load(&options.file)?;
    let turns = options.output.turns_or(120);
    let time = turns.time;
    if options.debug_node {
        return debug::measure(&graph, options, turns, &Directory::create()?, progress);
    }
    progress.show(&format!("{} for {} s", graph.name, time.as_secs_f64()), 1, 1);
    let idle = Figures { rss_bytes: machine::resident_bytes(), ..Figures::default() };
    let load = Load::of(&graph, options);
    let figures = figures(&Run::by(options.executor)?, load, time, |_| Ok(()))?;
    Ok(vec![
        Row::floor("topology", "idle", idle).with("file", graph.name.as_str()),
        load.described(Row::sinew("topology", figures), options),
    ])
}
