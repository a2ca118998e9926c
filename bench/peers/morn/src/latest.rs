//! The newest value.

use harness::{Case, Figures, Measuring, Other, Result};
use sinew_bench::latest::{self, LatestSpan, Reads};
use sinew_bench::machine::pin_to;

use crate::Morn;
use crate::morn::Value;
use crate::names::Names;

pub fn run<V: Value>(case: &Case, size: usize) -> Result<Figures> {
    let cores = harness::two_cores()?;
    let names = Names::create()?;
    let mut value = V::written(names.run(), size)?;
    let mut other = harness::start::<Morn>(case, Some(cores.1), names.run())?;
    other.hear::<()>()?;
    pin_to(cores.0)?;
    let span = LatestSpan::soon(case.time());
    other.order(&span)?;
    let writes = latest::write(span, |word| -> Result<()> {
        value.write(word);
        Ok(())
    })?;
    let reads: Reads = other.finish()?;
    Ok(reads.figures(&writes))
}

pub fn serve<V: Value>(other: &Other, size: usize, measuring: Measuring) -> Result<()> {
    let mut value = V::read_only(&other.note, size)?;
    measuring.tell(&())?;
    let span = measuring.order::<LatestSpan>()?.ok_or_else(|| anyhow::anyhow!("there was no order"))?;
    let reads = latest::read(span, |reads| -> Result<()> {
        if let Some(words) = value.read() {
            reads.note(words);
        }
        Ok(())
    })?;
    Ok(measuring.tell(&reads)?)
}
