//! Throughput between two threads: the subscriber's channel blocks the publisher while it is full.

use harness::throughput::{self, Seen};
use harness::{Case, Figures, Mode, Result};
use sinew_bench::rounds::CpuUse;
use zenoh::Wait as _;
use zenoh::handlers::FifoChannel;

use crate::payloads::Payloads;
use crate::sessions::{Memory, Said as _, alone, key, publisher};

/// Messages that may wait: as on our side.
const ROOM: usize = 1024;

pub fn throughput(case: &Case, size: usize) -> Result<Figures> {
    let session = alone()?;
    let subscriber = session.declare_subscriber(key("flood", 0)?).with(FifoChannel::new(ROOM));
    let subscriber = subscriber.wait().said("declaring a subscriber")?;
    let flood = publisher(&session, key("flood", 0)?, false)?;
    let payloads = Payloads::of(Memory::Heap, size)?;
    let cpu = CpuUse::start();
    // Ends when the session is closed and the channel empty.
    let reader = std::thread::spawn(move || {
        let mut seen = Seen::default();
        while let Ok(message) = subscriber.recv() {
            seen.note_bytes(&message.payload().to_bytes());
        }
        seen
    });
    let sent = throughput::send_for(case.time(), |number| {
        flood.put(payloads.numbered(Mode::Whole, number)?).wait().said("publishing")
    });
    drop(flood);
    session.close().wait().said("closing a session")?;
    let seen = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    let cpu_percent = Some(cpu.percent());
    Ok(Figures { cpu_percent, ..throughput::figures(sent?, seen, size) })
}
