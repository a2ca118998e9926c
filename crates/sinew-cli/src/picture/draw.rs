//! Draws the domain, in the requested format.

use std::collections::HashMap;
use std::fs;

use super::graph_picture::GraphPicture;
use super::{dot, svg};
use crate::cli::tools::{GraphFormat, GraphOptions};
use crate::error::Error;
use crate::graph::Track;
use crate::observed::{EndpointId, Observed};
use crate::output;
use sinew_bench::clock::{nanoseconds, now_ns, sleep_until};

/// Draws the domain.
pub(crate) fn run(options: &GraphOptions) -> Result<(), Error> {
    let mut observed = Observed::open(&options.place)?;
    let first = observed.look()?;
    let mut tracks: HashMap<EndpointId, Track> = HashMap::new();
    for end in &first.endpoints {
        tracks.insert(end.id(), Track::new(1, first.at_ns, end.counts()));
    }
    sleep_until(now_ns() + nanoseconds(options.interval));
    let snapshot = observed.look()?;
    let picture = GraphPicture::of(&snapshot, observed.domain(), options.all, &mut tracks);
    let text = match options.format() {
        GraphFormat::Json => output::json(&picture)?,
        GraphFormat::Dot => dot::text(&picture),
        GraphFormat::Svg => svg::text(&picture),
    };
    match &options.output {
        Some(path) => fs::write(path, text).map_err(|source| Error::File {
            action: "write",
            path: path.clone(),
            source,
        }),
        None => output::print(&text),
    }
}
