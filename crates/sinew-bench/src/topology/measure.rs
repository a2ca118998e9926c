//! Measures the graph's row, and the resources of an empty process.

use super::debug;
use super::robot::{Load, figures};
use crate::error::Error;
use crate::graph::Graph;
use crate::machine;
use crate::options::TopologyOptions;
use crate::process::Directory;
use crate::report::{Figures, Settings};
use crate::run::Run;
use crate::sheet::Sheet;

/// Measures the graph's row, beside the resources of the process before there is any node.
pub(crate) fn measure(options: &TopologyOptions, sheet: &mut Sheet) -> Result<(), Error> {
    let graph = Graph::load(&options.file)?;
    if options.debug_node {
        return debug::measure(&graph, options, &Directory::create()?, sheet);
    }
    let time = sheet.turns.time;
    sheet.show(&format!("{} for {} s", graph.name, time.as_secs_f64()));
    let idle = Figures { rss_bytes: machine::resident_bytes(), ..Figures::default() };
    let load = Load::of(&graph, options);
    let figures = figures(&Run::by(options.executor)?, load, time, |_| Ok(()))?;
    sheet.add(Some("idle"), Settings::new().with("file", graph.name.as_str()), &[idle]);
    sheet.add(None, load.settings(options), &[figures]);
    Ok(())
}
