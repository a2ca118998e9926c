//! Peer `os`: the operating system's means for two processes, which every program could use without
//! a library. Both sides block in their reads, so both sleep.

mod link;
mod process_chain;

use std::io::{BufReader, Read, Write};
use std::process::ExitCode;
use std::thread;

use anyhow::Context as _;
use harness::pingpong::{Answer, Rally, answer_until_the_end, measure_both};
use harness::throughput::{self, Drained};
use harness::{
    Case, Figures, Measuring, Mode, Other, Path, Peer, Program, Result, System, Wait, Work, bytes, now_ns,
};
use link::{Ends, Offer};
use sinew_bench::machine::pin_to;
use sinew_bench::rounds::Meter;

const SOCKET: &str = "unix socket";
const PIPE: &str = "pipe";

/// Bytes of a request, of its answer, and of the answer to a message that is read whole: number and
/// time.
const SMALL: usize = 16;

fn main() -> ExitCode {
    harness::main::<Os>()
}

struct Os;

impl Program for Os {
    fn systems() -> Peer {
        const COPIED: &str = "every byte is copied into the kernel and out of it, also where only \
                              the first 8 are touched";
        const READ: &str = "a message is one write, and waits in the kernel's buffer, which holds \
                            far less than our 16 MB; the reader reads as much as there is, up to \
                            64 KB at once";
        Peer {
            peer: "os".to_owned(),
            version: "the kernel's".to_owned(),
            systems: vec![
                System::new(
                    SOCKET,
                    "SOCK_STREAM, which unlike SOCK_SEQPACKET carries messages of any size; one \
                     write a message, reads that block",
                    "https://man7.org/linux/man-pages/man7/unix.7.html",
                )
                .scenario("pingpong", Some(COPIED))
                .scenario("requests", Some("there are no services: 16 bytes are written and 16 bytes read"))
                .scenario("process-chain", Some("each node has a thread that blocks in its read"))
                .scenario("throughput", Some(READ)),
                System::new(
                    PIPE,
                    "one pipe each way, of 1 MB where messages are large; one write a message, \
                     reads that block",
                    "https://man7.org/linux/man-pages/man7/pipe.7.html",
                )
                .scenario("pingpong", Some(COPIED))
                .scenario("throughput", Some(READ)),
            ],
        }
    }

    fn run(case: &Case) -> Result<Figures> {
        match (case.system.as_str(), &case.work) {
            (SOCKET | PIPE, Work::PingPong { wait: Wait::Sleep, .. })
            | (SOCKET, Work::Requests { wait: Wait::Sleep, .. }) => pingpong(case),
            (SOCKET | PIPE, Work::Throughput { size, path: Path::Shm }) => flood(case, *size),
            (SOCKET, Work::ProcessChain { relays, rate }) => process_chain::run(case, *relays, *rate),
            _ => harness::no_part(case),
        }
    }

    fn serve(other: &Other, measuring: Measuring) -> Result<()> {
        match other.case.work {
            Work::PingPong { .. } | Work::Requests { .. } => answer(other, measuring),
            Work::Throughput { size, .. } => drain(other, size, measuring),
            Work::ProcessChain { relays, rate } => process_chain::serve(other, relays, rate, measuring),
            ref work => anyhow::bail!("there is no second process in {}", work.scenario()),
        }
    }
}

/// Returns the sizes in bytes of the messages forth and back in a case, and whether they are
/// written and read whole.
fn messages(case: &Case) -> Result<(usize, usize, bool)> {
    match case.work {
        Work::PingPong { mode: Mode::Loan, size, .. } => Ok((size, size, false)),
        Work::PingPong { mode: Mode::Whole, size, .. } => Ok((size, SMALL, true)),
        Work::Requests { .. } => Ok((SMALL, SMALL, false)),
        _ => anyhow::bail!("{} is no ping-pong", case.work.scenario()),
    }
}

/// Returns the word of a message at index `place`.
fn word(message: &[u8], place: usize) -> u64 {
    message.get(8 * place..).and_then(bytes::first_word).unwrap_or(0)
}

fn set_word(message: &mut [u8], place: usize, word: u64) {
    message[8 * place..][..8].copy_from_slice(&word.to_le_bytes());
}

fn pingpong(case: &Case) -> Result<Figures> {
    let cores = harness::two_cores()?;
    let (forth, back, whole) = messages(case)?;
    let offer = Offer::of(&case.system, forth)?;
    let mut other = harness::start::<Os>(case, Some(cores.1), offer.note())?;
    other.hear::<()>()?;
    let ends = offer.accept()?;
    pin_to(cores.0)?;
    let mut rally = Begins { ends, message: vec![0; forth], answer: vec![0; back], whole };
    measure_both(case, other, &mut rally)
}

/// The side that begins.
struct Begins {
    ends: Ends,
    message: Vec<u8>,
    answer: Vec<u8>,
    whole: bool,
}

impl Rally<anyhow::Error> for Begins {
    fn send(&mut self, number: u64) -> Result<()> {
        if self.whole {
            bytes::fill(&mut self.message, number);
        } else {
            set_word(&mut self.message, 0, number);
        }
        self.ends.to.write_all(&self.message).context("the other process reads no more")
    }

    fn answer(&mut self) -> Result<Answer> {
        self.ends.from.read_exact(&mut self.answer).context("the other process answers no more")?;
        let end_ns = self.whole.then(|| word(&self.answer, 1).cast_signed());
        Ok(Answer { number: word(&self.answer, 0), end_ns })
    }
}

/// In the other process: answers until the connection ends.
fn answer(other: &Other, measuring: Measuring) -> Result<()> {
    let (forth, back, whole) = messages(&other.case)?;
    let Ends { mut to, mut from } = link::join(&other.note)?;
    thread::spawn(move || {
        let (mut message, mut answer) = (vec![0; forth], vec![0; back]);
        while from.read_exact(&mut message).is_ok() {
            if whole {
                // A message that isn't whole has the number 0, which counts as reordered.
                set_word(&mut answer, 0, bytes::number_of(std::hint::black_box(&message)).unwrap_or(0));
                set_word(&mut answer, 1, now_ns().cast_unsigned());
            } else {
                set_word(&mut answer, 0, word(&message, 0));
            }
            if to.write_all(&answer).is_err() {
                break;
            }
        }
    });
    answer_until_the_end(measuring)
}

fn flood(case: &Case, size: usize) -> Result<Figures> {
    let offer = Offer::of(&case.system, size)?;
    let mut other = harness::start::<Os>(case, None, offer.note())?;
    other.hear::<()>()?;
    let mut ends = offer.accept()?;
    let mut message = vec![0; size];
    let meter = Meter::start();
    let sent = throughput::send_for(case.time(), |number| {
        bytes::fill(&mut message, number);
        ends.to.write_all(&message).context("the other process reads no more")
    })?;
    let usage = meter.usage();
    drop(ends); // notifies the reader of the end
    let seen: Drained = other.finish()?;
    Ok(seen.figures(sent, size, usage))
}

/// In the other process: reads until the connection ends.
fn drain(other: &Other, size: usize, measuring: Measuring) -> Result<()> {
    let Ends { to: _to, from } = link::join(&other.note)?;
    let mut from = BufReader::with_capacity(1 << 16, from);
    measuring.tell(&())?;
    let mut seen = Drained::default();
    let mut message = vec![0; size];
    let meter = Meter::start();
    while from.read_exact(&mut message).is_ok() {
        seen.note(bytes::number_of(std::hint::black_box(&message)));
    }
    seen.usage = meter.usage();
    Ok(measuring.tell(&seen)?)
}
