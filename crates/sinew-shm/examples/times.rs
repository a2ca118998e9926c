//! Measures how long participants take to match and to notice a death:
//! `cargo run --release -p sinew-shm --example times -- 200`.
//!
//! - **process**: from a new process's call of `join` until its subscription receives from an
//!   existing publisher.
//! - **entity**: the same for another subscription of a known process.
//! - **death**: from the moment when the kernel releases a killed process's lock until the others
//!   are notified.
#![expect(clippy::unwrap_used, reason = "a measurement that fails has nothing to say")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "it measures the time of other processes"
)]

use sinew_shm::transport::*;
use sinew_shm::*;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Connects all readers, and passes on its notifications with the time.
struct Observed {
    writer: Mutex<Option<Writer>>,
    connected: Sender<Instant>,
    left: Sender<Instant>,
}

impl Observer for Observed {
    fn appeared(&self, peer: &Arc<Peer>, _: EndpointKey, endpoint: &Endpoint) {
        if endpoint.kind == EndpointKind::Subscription
            && let Some(writer) = &mut *self.writer.lock().unwrap()
        {
            let connect = Connect { target: None, first: 1, live: 1, depth: 1, capacity: None };
            writer.connect(peer, &connect).unwrap();
        }
    }
    fn vanished(&self, _: &Arc<Peer>, _: EndpointKey) {}
    fn connected(&self, _: Incoming, _: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
        let _ = self.connected.send(Instant::now()); // if there is no receiver, this isn't measured
        None
    }
    fn left(&self, peer: &Arc<Peer>) {
        if let Some(writer) = &mut *self.writer.lock().unwrap() {
            writer.forget(peer.id());
        }
        let _ = self.left.send(Instant::now()); // as above
    }
}

fn observed() -> (Arc<Observed>, Receiver<Instant>, Receiver<Instant>) {
    let ((connected, connects), (left, leaves)) = (channel(), channel());
    (Arc::new(Observed { writer: Mutex::new(None), connected, left }), connects, leaves)
}

fn endpoint(kind: EndpointKind) -> Endpoint {
    let [node, name, type_name] = ["/times", "/topic", "test/msg/Empty"].map(str::to_owned);
    Endpoint { kind, number: 1, node, name, type_name, hash: [0; 32], qos: [0; 64] }
}

/// A process that joins, subscribes twice, reports how long that took and waits for its death.
fn child(directory: &Path) {
    let domain = Domain::open(Some(directory), 0).unwrap();
    let (observed, connected, _) = observed();
    let begin = Instant::now();
    let participant = Participant::join(&domain, observed).unwrap();
    let first = participant.advertise(&endpoint(EndpointKind::Subscription), None).unwrap();
    let process = connected.recv().unwrap() - begin;
    std::thread::sleep(Duration::from_millis(5));
    let begin = Instant::now();
    let second = participant.advertise(&endpoint(EndpointKind::Subscription), None).unwrap();
    let endpoint = connected.recv().unwrap() - begin;
    println!("{} {} {:016x}", process.as_nanos(), endpoint.as_nanos(), participant.id());
    std::io::stdout().flush().unwrap();
    std::thread::sleep(Duration::from_secs(60));
    drop((first, second));
}

/// Busy-waits until no process has the lock on the first byte of this file.
fn unlocked(file: &std::fs::File) -> Instant {
    loop {
        let mut lock = libc::flock {
            l_type: libc::F_RDLCK.try_into().unwrap(),
            l_whence: 0,
            l_start: 0,
            l_len: 1,
            l_pid: 0,
        };
        // SAFETY: a valid descriptor and a valid `flock` for the duration of the call.
        let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut lock) };
        assert_eq!(result, 0);
        if i32::from(lock.l_type) == libc::F_UNLCK {
            return Instant::now();
        }
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    if let [_, role, directory] = &words[..]
        && role == "child"
    {
        return child(Path::new(directory));
    }
    let rounds: usize = words.get(1).map_or(100, |rounds| rounds.parse().unwrap());
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let domain = Domain::open(Some(place.path()), 0).unwrap();
    let (observed, _connected, left) = observed();
    let participant = Participant::join(&domain, observed.clone()).unwrap();
    let source = participant.advertise(&endpoint(EndpointKind::Publisher), None).unwrap();
    *observed.writer.lock().unwrap() = Some(Writer::new(Arc::new(source), 1, 0, 1).unwrap());
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..rounds {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg("child")
            .arg(place.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let mut words = line.split_whitespace();
        for time in &mut times[..2] {
            time.push(words.next().unwrap().parse::<u128>().unwrap());
        }
        let name = format!("{}.control", words.next().unwrap());
        let control = std::fs::File::open(domain.path().join(name)).unwrap();
        child.kill().unwrap();
        let begin = unlocked(&control);
        let end = left.recv().unwrap();
        times[2].push(end.saturating_duration_since(begin).as_nanos());
        child.wait().unwrap();
    }
    println!("{rounds} rounds, µs     P50      P90      max");
    for (name, times) in ["process", "entity", "death"].iter().zip(&mut times) {
        times.sort_unstable();
        let at = |percent: usize| times[(times.len() - 1) * percent / 100] as f64 / 1000.0;
        println!("{name:12} {:>12.1} {:>8.1} {:>8.1}", at(50), at(90), at(100));
    }
    observed.writer.lock().unwrap().take();
    participant.leave();
}
