//! Runs the demonstration, in one process or in two.

use sinew::Context;

use super::between;
use super::filter::Filter;
use super::languages;
use super::making::Making;
use super::settings::{SetEdges, Settings};
use super::viewer::ViewerCounts;
use super::watch::{Means, ask, tell, watch};
use crate::cli::DemoOptions;
use crate::error::Error;
use sinew_bench::run::{Collected, executor};

/// Runs until the time is over or Ctrl-C is pressed, and then prints a summary.
pub(crate) fn run(options: &DemoOptions) -> Result<(), Error> {
    match options.viewer_of {
        Some(parent) => between::view(options, parent),
        None if options.languages => languages::run(options),
        None if options.processes => between::run(options),
        None => tell(options, |means| show(options, means)),
    }
}

/// Runs the three nodes in this process. When this returns they are gone, and the terminal is given
/// back.
fn show(options: &DemoOptions, means: Means) -> Result<Collected<ViewerCounts>, Error> {
    let context = Context::new()?;
    let executor = executor(options.executor).build()?;
    executor.add(&context)?;
    let making = Making::create(&context, options.rate)?;
    let _settings = making
        .filters
        .server::<SetEdges>("~/set_edges")
        .callback(|filter: &mut Filter, settings: &Settings| filter.set(*settings))?;
    let set_edges = context.node("panel")?.client::<SetEdges>("/filter/set_edges").create()?;
    let change = move |settings| ask(&set_edges, settings).map(|accepted| *accepted);
    let ends = making.ends;
    watch(options, means, (&context, &executor), Box::new(move || ends.underway()), change)
}
