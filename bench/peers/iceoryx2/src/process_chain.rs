//! The chain over two processes, with every hop from one into the other: node `n` is in process `n
//! % 2`, node 0 is the source, the last one the sink. Each process has one thread, which sleeps in
//! a wait set of the listeners of its nodes.

use std::sync::atomic::Ordering;
use std::time::Duration;

use harness::chain::Timing;
use harness::{Case, Figures, Measuring, Other, Result, now_ns};
use iceoryx2::port::listener::Listener;
use iceoryx2::prelude::{
    CallbackProgression, Node, SignalHandlingMode, WaitSet, WaitSetAttachmentId, WaitSetBuilder,
    WaitSetGuard, ipc,
};
use sinew_bench::arrivals::Arrivals;
use sinew_bench::machine::{self, pin_to};
use sinew_bench::pacing::{ticks, warm_up};
use sinew_bench::rounds::{Meter, Usage};

use crate::Iceoryx2;
use crate::domain::{self, Domain};
use crate::pingpong::until_told;
use crate::ports::{Input, Output, Topic, listener};

/// Words of a message: stamp and number.
const WORDS: usize = 2;

/// The longest sleep.
const TICK: Duration = Duration::from_millis(100);

/// Time without any message after which missing messages count as lost.
const SILENCE_NS: i64 = 2_000_000_000;

/// Name of the listener that wakes a process at the end.
const END: &str = "end";

fn hop(number: u32) -> Topic {
    // As in Sinew's side, a pause of the machine loses nothing.
    Topic { waiting: 1000, ..Topic::new(&format!("hop_{number}"), true) }
}

/// A node's input, and its output unless it is the sink.
struct Relay {
    input: Input,
    output: Option<Output>,
}

fn send(output: &Output, timing: Timing) -> Result<()> {
    output.send(WORDS, |words| words.copy_from_slice(&[timing.stamp.cast_unsigned(), timing.number]))
}

/// Creates the relays, and the sink, of one process.
fn nodes(node: &Node<ipc::Service>, relays: u32, process: u32) -> Result<Vec<Relay>> {
    let own = (1..=relays + 1).filter(|number| number % 2 == process);
    own.map(|number| {
        let output = (number <= relays).then(|| hop(number).output(node, WORDS)).transpose()?;
        Ok(Relay { input: hop(number - 1).input(node)?, output })
    })
    .collect()
}

/// The wait set of the nodes of one process.
struct Waiting<'a> {
    set: &'a WaitSet<ipc::Service>,
    relays: Vec<(WaitSetGuard<'a, 'a, ipc::Service>, &'a Relay, &'a Listener<ipc::Service>)>,
}

impl<'a> Waiting<'a> {
    fn attach(set: &'a WaitSet<ipc::Service>, relays: &'a [Relay]) -> Result<Self> {
        let attached = relays.iter().filter_map(|relay| {
            let listener = relay.input.listener.as_ref()?;
            Some(set.attach_notification(listener).map(|guard| (guard, relay, listener)))
        });
        let relays = attached.collect::<std::result::Result<Vec<_>, _>>()?;
        Ok(Self { set, relays })
    }

    /// Waits once, and forwards messages. Messages at the sink go to `sink`; other attachments are
    /// passed to `other`.
    fn once(
        &self,
        mut sink: impl FnMut(Timing),
        mut other: impl FnMut(&WaitSetAttachmentId<ipc::Service>) -> Result<()>,
    ) -> Result<()> {
        let mut outcome = Ok(());
        let passed = |id: WaitSetAttachmentId<ipc::Service>| {
            let found = self.relays.iter().find(|(guard, ..)| id.has_event_from(guard));
            let done = match found {
                None => other(&id),
                Some((_, relay, listener)) => pass_on(relay, listener, &mut sink),
            };
            if outcome.is_ok() {
                outcome = done;
            }
            CallbackProgression::Continue
        };
        self.set.wait_and_process_once_with_timeout(passed, TICK)?;
        outcome
    }
}

fn pass_on(relay: &Relay, listener: &Listener<ipc::Service>, sink: &mut impl FnMut(Timing)) -> Result<()> {
    listener.try_wait(|_| ())?;
    while let Some(message) = relay.input.subscriber.receive()? {
        let timing = Timing { stamp: message[0].cast_signed(), number: message[1] };
        match &relay.output {
            Some(output) => send(output, timing)?,
            None => sink(timing),
        }
    }
    Ok(())
}

fn wait_set() -> Result<WaitSet<ipc::Service>> {
    Ok(WaitSetBuilder::new().signal_handling_mode(SignalHandlingMode::Disabled).create()?)
}

/// Returns `true` if the sink is in the measuring process.
fn sink_is_here(relays: u32) -> bool {
    (relays + 1).is_multiple_of(2)
}

pub fn run(case: &Case, relays: u32, rate: f64) -> Result<Figures> {
    anyhow::ensure!(!sink_is_here(relays), "a chain over two processes needs an even number of relays");
    let cores = machine::two_cores()?;
    let domain = Domain::create()?;
    let node = domain.node()?;
    let source = hop(0).output(&node, WORDS)?;
    let own = nodes(&node, relays, 0)?;
    let mut other = harness::start::<Iceoryx2>(case, cores.map(|cores| cores.1), domain.name())?;
    other.hear::<()>()?;
    if let Some(cores) = cores {
        pin_to(cores.0)?;
    }
    machine::sleep_exactly()?;
    let set = wait_set()?;
    let waiting = Waiting::attach(&set, &own)?;
    let ticking = set.attach_interval(Duration::from_secs_f64(1.0 / rate))?;
    let count = u64::from(ticks(rate, case.time()));
    let mut sent = 0;
    let meter = Meter::start();
    while sent < count {
        let publish = |id: &WaitSetAttachmentId<ipc::Service>| {
            if id.has_event_from(&ticking) && sent < count {
                sent += 1;
                send(&source, Timing { stamp: now_ns(), number: sent })?;
            }
            Ok(())
        };
        waiting.once(|_| (), publish)?;
    }
    let usage = meter.usage();
    drop(ticking);
    other.order(&())?;
    // All nodes go on until the sink has everything.
    while !other.has_told()? {
        waiting.once(|_| (), |_| Ok(()))?;
    }
    let (seen, others): (Arrivals, Usage) = other.finish()?;
    Ok(seen.figures(relays + 1, sent, usage + others))
}

pub fn serve(other: &Other, relays: u32, rate: f64, measuring: Measuring) -> Result<()> {
    let node = domain::node(&other.note)?;
    let own = nodes(&node, relays, 1)?;
    let end = listener(&node, END)?;
    let set = wait_set()?;
    let waiting = Waiting::attach(&set, &own)?;
    let _end = set.attach_notification(&end)?;
    let ticks = ticks(rate, other.case.time());
    let mut seen = Arrivals::after(warm_up(ticks).into(), ticks as usize);
    measuring.tell(&())?;
    let goes_on = until_told(measuring, &other.note, Some(END.to_owned()));
    let meter = Meter::start();
    let mut last = now_ns();
    // Until the end of the sending, and then until all have come, or no more do.
    while goes_on.load(Ordering::Relaxed)
        || (seen.received() < u64::from(ticks) && now_ns() - last < SILENCE_NS)
    {
        waiting.once(
            |timing| {
                last = now_ns();
                seen.note(timing.number, last - timing.stamp);
            },
            |_| Ok(end.try_wait(|_| ()).map(drop)?),
        )?;
    }
    Ok(measuring.tell(&(seen, meter.usage()))?)
}
