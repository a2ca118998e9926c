//! Throughput between two threads: the subscriber's channel blocks the publisher while it is full.

use harness::throughput::{self, Drained};
use harness::{Case, Figures, Mode, Result, bytes};
use sinew_bench::payload::flood_depth;
use sinew_bench::rounds::{Meter, Usage};
use zenoh::Wait as _;
use zenoh::handlers::FifoChannel;

use crate::payloads::Payloads;
use crate::sessions::{Memory, Said as _, alone, key, publisher};

pub fn throughput(case: &Case, size: usize) -> Result<Figures> {
    let session = alone()?;
    let subscriber = session.declare_subscriber(key("flood", 0)?).with(FifoChannel::new(flood_depth(size)));
    let subscriber = subscriber.wait().said("declaring a subscriber")?;
    let flood = publisher(&session, key("flood", 0)?, false)?;
    let payloads = Payloads::of(Memory::Heap, size)?;
    let meter = Meter::start();
    // Ends when the session is closed and the channel is empty.
    let reader = std::thread::spawn(move || {
        let mut seen = Drained::default();
        while let Ok(message) = subscriber.recv() {
            seen.note(bytes::number_of(&message.payload().to_bytes()));
        }
        seen
    });
    let sent = throughput::send_for(case.time(), |number| {
        flood.put(payloads.numbered(Mode::Whole, number)?).wait().said("publishing")
    });
    drop(flood);
    let rss_bytes = meter.usage().rss_bytes; // with the session
    session.close().wait().said("closing a session")?;
    let seen = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    let usage = Usage { rss_bytes, ..meter.usage() };
    Ok(seen.figures(sent?, size, usage))
}
