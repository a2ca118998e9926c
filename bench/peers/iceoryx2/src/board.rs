//! The newest value, on a blackboard.

use harness::{Case, Figures, Measuring, Other, Result};
use iceoryx2::prelude::{Node, ipc};
use sinew_bench::latest::{self, LatestSpan, Reads, Writes};
use sinew_bench::machine::pin_to;

use crate::Iceoryx2;
use crate::domain::{self, Domain};

/// Name of the value's service.
const SERVICE: &str = "board";
const KEY: u64 = 0;

/// Calls a function that is generic over the number of words of a value.
macro_rules! for_size {
    ($size:expr, $side:ident $arguments:tt) => {
        for_size!($size, $side $arguments, 64 256 1024 4096 16384 65536 262144 1048576)
    };
    ($size:expr, $side:ident $arguments:tt, $($bytes:literal)*) => {
        match $size {
            $($bytes => $side::<{ $bytes / size_of::<u64>() }> $arguments,)*
            size => Err(anyhow::anyhow!("there is no value of {size} B on the blackboard")),
        }
    };
}

pub fn run(case: &Case, size: usize) -> Result<Figures> {
    let (reads, writes) = for_size!(size, writing(case))?;
    Ok(reads.figures(&writes))
}

fn writing<const WORDS: usize>(case: &Case) -> Result<(Reads, Writes)> {
    let cores = harness::two_cores()?;
    let domain = Domain::create()?;
    let node: Node<ipc::Service> = domain.node()?;
    let service = node.service_builder(&SERVICE.try_into()?).blackboard_creator::<u64>();
    let service = service.add::<[u64; WORDS]>(KEY, [0; WORDS]).create()?;
    let mut entry = Some(service.writer_builder().create()?.entry::<[u64; WORDS]>(&KEY)?);
    let mut other = harness::start::<Iceoryx2>(case, Some(cores.1), domain.name())?;
    other.hear::<()>()?;
    pin_to(cores.0)?;
    let span = LatestSpan::soon(case.time());
    other.order(&span)?;
    let writes = latest::write(span, |word| -> Result<()> {
        // A loan is made of the entry itself, and gives it back.
        if let Some(mut value) = entry.take().map(|entry| entry.loan_uninit()) {
            value.value_mut().write([word; WORDS]);
            // SAFETY: written on the line above.
            entry = Some(unsafe { value.assume_init_and_update() });
        }
        Ok(())
    })?;
    Ok((other.finish()?, writes))
}

pub fn serve(other: &Other, size: usize, measuring: Measuring) -> Result<()> {
    for_size!(size, reading(other, measuring))
}

fn reading<const WORDS: usize>(other: &Other, measuring: Measuring) -> Result<()> {
    let node: Node<ipc::Service> = domain::node(&other.note)?;
    let service = node.service_builder(&SERVICE.try_into()?).blackboard_opener::<u64>().open()?;
    let entry = service.reader_builder().create()?.entry::<[u64; WORDS]>(&KEY)?;
    measuring.tell(&())?;
    let span = measuring.order::<LatestSpan>()?.ok_or_else(|| anyhow::anyhow!("there was no order"))?;
    let reads = latest::read(span, |reads| -> Result<()> {
        reads.note(&*entry.get());
        Ok(())
    })?;
    Ok(measuring.tell(&reads)?)
}
