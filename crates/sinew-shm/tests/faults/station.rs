//! A participant that sends to all others and receives from all others, and checks every number and
//! every byte.

use parking_lot::Mutex;
use sinew_shm::transport::*;
use sinew_shm::*;
use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Greatest number of messages under way to a reader: no writer overtakes a reader.
const CAPACITY: usize = 8;

/// Number of messages that a station keeps in place while it reads newer ones.
const KEPT: usize = 3;

/// Lengths of messages: in the ring, in chunks of several sizes, and empty.
const LENGTHS: [usize; 6] = [8, 40, 0, 190, 1000, 9000];

/// The bytes of a message, which no other message has.
pub(crate) fn encoded(number: u64) -> Vec<u8> {
    let length = LENGTHS[number as usize % LENGTHS.len()];
    (0..length as u64).map(|at| (number.wrapping_mul(0x9e37_79b9) >> (at % 24)) as u8 ^ at as u8).collect()
}

pub(crate) fn endpoint(kind: EndpointKind, name: &str) -> Endpoint {
    Endpoint {
        kind,
        number: 1,
        node: "/station".into(),
        name: name.into(),
        type_name: "test/msg/Bytes".into(),
        hash: [3; 32],
        qos: [5; 64],
    }
}

/// The messages that arrived from one peer.
#[derive(Debug, Default, Clone)]
pub(crate) struct Progress {
    /// The number of the next message.
    pub(crate) next: u64,
    pub(crate) is_over: bool,
}

#[derive(Default)]
pub(crate) struct Observed {
    sending: Mutex<Sending>,
    receiving: Mutex<Receiving>,
    progress: Arc<Mutex<HashMap<(u64, EndpointKey), Progress>>>,
    /// Errors that must not happen.
    complaints: Arc<Mutex<Vec<String>>>,
    /// Whether errors of later peers are expected: then they are only counted.
    pub(crate) expects_errors: AtomicBool,
    /// Whether later peers may miss messages, instead of making the writer wait.
    pub(crate) waits_for_nobody: AtomicBool,
    pub(crate) errors: Arc<AtomicUsize>,
    readers: Mutex<Vec<Arc<Peer>>>,
    pub(crate) appeared: AtomicUsize,
    pub(crate) left: AtomicUsize,
}

#[derive(Default)]
struct Sending {
    writer: Option<Writer>,
    /// Readers from before there was a writer.
    early: Vec<Arc<Peer>>,
}

#[derive(Default)]
struct Receiving {
    port: Option<Arc<EventReceiver>>,
    all: Vec<Arc<Reading>>,
}

struct Reading {
    peer: u64,
    source: EndpointKey,
    expects_errors: bool,
    incoming: Mutex<(Incoming, VecDeque<Hold>)>,
    progress: Arc<Mutex<HashMap<(u64, EndpointKey), Progress>>>,
    complaints: Arc<Mutex<Vec<String>>>,
    errors: Arc<AtomicUsize>,
}

impl Reading {
    fn complain(&self, what: String) {
        self.complaints.lock().push(format!("from {:016x}: {what}", self.peer));
    }

    fn check(&self, message: &Message, bytes: &[u8]) {
        let mut progress = self.progress.lock();
        let progress = progress.get_mut(&(self.peer, self.source)).unwrap();
        if message.missed != 0 {
            self.complain(format!("{} messages before {} are lost", message.missed, message.number));
        }
        if message.number != progress.next {
            self.complain(format!("message {} comes where {} should", message.number, progress.next));
        }
        if bytes != encoded(message.number) || message.head.order != message.number {
            self.complain(format!("message {} is torn", message.number));
        }
        progress.next = message.number + 1;
    }
}

impl Sink for Reading {
    fn drain(&self) {
        let mut guard = self.incoming.lock();
        let (incoming, holds) = &mut *guard;
        let mut buffer = Vec::new();
        loop {
            match incoming.read(&mut buffer) {
                Ok(None) => break,
                Ok(Some(message)) => {
                    if !self.expects_errors {
                        self.check(&message, message.hold.as_ref().map_or(&buffer, |hold| hold.bytes()));
                    }
                    holds.extend(message.hold);
                    if holds.len() > KEPT {
                        holds.pop_front();
                    }
                    incoming.set_cursor(message.number + 1);
                }
                Err(error) if self.expects_errors => {
                    assert!(!error.to_string().is_empty());
                    self.errors.fetch_add(1, Ordering::Relaxed);
                }
                Err(error) => self.complain(error.to_string()),
            }
        }
        if incoming.is_over() {
            holds.clear();
            incoming.done();
            // Perhaps no test is interested any more.
            if let Some(progress) = self.progress.lock().get_mut(&(self.peer, self.source)) {
                progress.is_over = true;
            }
        }
    }
}

impl Observed {
    fn forget_all(&self) {
        drop(std::mem::take(&mut *self.sending.lock()));
        drop(std::mem::take(&mut *self.receiving.lock()));
        drop(std::mem::take(&mut *self.readers.lock()));
    }

    fn connect(&self, writer: &mut Writer, peer: &Arc<Peer>) -> Result<(), CapacityError> {
        let first = writer.next();
        let capacity = (!self.waits_for_nobody.load(Ordering::SeqCst)).then_some(CAPACITY);
        writer.connect(peer, &Connect { target: None, first, live: first, depth: CAPACITY, capacity })
    }
}

impl Observer for Observed {
    fn appeared(&self, peer: &Arc<Peer>, _: EndpointKey, endpoint: &Endpoint) {
        if endpoint.kind != EndpointKind::Subscription {
            return;
        }
        self.appeared.fetch_add(1, Ordering::SeqCst);
        self.readers.lock().push(peer.clone());
        let mut sending = self.sending.lock();
        let Sending { writer, early } = &mut *sending;
        match writer {
            Some(writer) => {
                if let Err(error) = self.connect(writer, peer) {
                    self.complaints.lock().push(error.to_string());
                }
            }
            None => early.push(peer.clone()),
        }
    }
    fn vanished(&self, _: &Arc<Peer>, _: EndpointKey) {}
    fn connected(&self, mut incoming: Incoming, _: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
        let peer = incoming.peer().id();
        // First: a thread that waits until this one is known may change it then.
        let expects_errors = self.expects_errors.load(Ordering::SeqCst);
        let (source, first) = (incoming.source(), incoming.next());
        let progress = Progress { next: first, is_over: false };
        self.progress.lock().insert((peer, source), progress);
        let mut receiving = self.receiving.lock();
        incoming.set_port(receiving.port.as_deref());
        let reading = Arc::new(Reading {
            peer,
            source,
            expects_errors,
            incoming: Mutex::new((incoming, VecDeque::new())),
            progress: self.progress.clone(),
            complaints: self.complaints.clone(),
            errors: self.errors.clone(),
        });
        receiving.all.push(reading.clone());
        Some(reading)
    }
    fn left(&self, peer: &Arc<Peer>) {
        self.readers.lock().retain(|reader| reader.id() != peer.id());
        let mut sending = self.sending.lock();
        sending.early.retain(|early| early.id() != peer.id());
        if let Some(writer) = &mut sending.writer {
            writer.forget(peer.id());
        }
        drop(sending);
        // Also those of other peers that left before all their messages were read.
        self.receiving
            .lock()
            .all
            .retain(|reading| !reading.incoming.try_lock().is_some_and(|mut reading| reading.0.is_over()));
        self.left.fetch_add(1, Ordering::SeqCst);
    }
}

/// A participant that sends to all others and receives from all others.
pub(crate) struct Station {
    pub(crate) participant: Arc<Participant>,
    pub(crate) observed: Arc<Observed>,
    port: Arc<EventReceiver>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    _reads: OwnEndpoint,
}

impl Station {
    pub(crate) fn join(directory: &Path) -> Self {
        Self::join_as(directory, Observed::default())
    }

    pub(crate) fn join_as(directory: &Path, observed: Observed) -> Self {
        let domain = Domain::open(Some(directory), 0).unwrap();
        let observed = Arc::new(observed);
        let participant = Participant::join(&domain, observed.clone()).unwrap();
        let port = participant.port(None).unwrap();
        {
            let mut receiving = observed.receiving.lock();
            receiving.port = Some(port.clone());
            let early = receiving.all.clone();
            drop(receiving);
            for reading in early {
                reading.incoming.lock().0.set_port(Some(&port));
                reading.drain();
            }
        }
        let source =
            Arc::new(participant.advertise(&endpoint(EndpointKind::Publisher, "/all"), None).unwrap());
        let mut writer = Writer::new(source, 4, 200, 1).unwrap();
        {
            let mut sending = observed.sending.lock();
            for peer in std::mem::take(&mut sending.early) {
                observed.connect(&mut writer, &peer).unwrap();
            }
            sending.writer = Some(writer);
        }
        let reads = participant.advertise(&endpoint(EndpointKind::Subscription, "/all"), None).unwrap();
        Self { participant, observed, port, stop: Arc::default(), thread: None, _reads: reads }
    }

    pub(crate) fn id(&self) -> u64 {
        self.participant.id()
    }

    /// Receives on a thread of its own from now on, which sleeps while there is nothing to read.
    pub(crate) fn spin(mut self) -> Self {
        let (port, stop) = (self.port.clone(), self.stop.clone());
        self.thread = Some(std::thread::spawn(move || {
            while !stop.load(Ordering::SeqCst) {
                port.drain();
                let seen = port.bell();
                port.park();
                if !port.is_pending() && !stop.load(Ordering::SeqCst) {
                    port.sleep(seen, Some(Duration::from_secs(5)));
                }
                port.unpark();
            }
        }));
        self
    }

    pub(crate) fn drain(&self) {
        self.port.drain();
    }

    /// Publishes the next message when every reader has room. `None` if that takes too long.
    pub(crate) fn publish(&self, patience: Duration) -> Option<u64> {
        let begin = Instant::now();
        loop {
            let waiting = {
                let mut sending = self.observed.sending.lock();
                let writer = sending.writer.as_mut().unwrap();
                match writer.wait_for_room() {
                    None => return Some(Self::publish_now(writer)),
                    Some(waiting) => waiting,
                }
            };
            if begin.elapsed() > patience {
                return None;
            }
            waiting.sleep(Some(Duration::from_millis(200)));
        }
    }

    fn publish_now(writer: &mut Writer) -> u64 {
        let number = writer.next();
        let head = Head { order: number, ..Head::default() };
        let encoded = encoded(number);
        if encoded.len() <= writer.inline() {
            writer.publish_inline(number, &head, &encoded);
        } else {
            let mut loan = writer.lender().loan(encoded.len()).unwrap();
            loan.bytes_mut().copy_from_slice(&encoded);
            writer.publish_lent(number, &head, loan.share());
        }
        number
    }

    pub(crate) fn with_writer<T>(&self, act: impl FnOnce(&mut Writer) -> T) -> T {
        act(self.observed.sending.lock().writer.as_mut().unwrap())
    }

    /// How far a peer's messages have been read; the furthest of its publishers counts.
    pub(crate) fn progress(&self, peer: u64) -> Option<Progress> {
        let all = self.observed.progress.lock();
        let from = all.iter().filter(|((from, _), _)| *from == peer);
        from.map(|(_, progress)| progress.clone()).max_by_key(|progress| progress.next)
    }

    /// Drops the state of peers that are gone.
    pub(crate) fn forget_progress(&self, peer: u64) {
        self.observed.progress.lock().retain(|(from, _), _| *from != peer);
    }

    /// The peers whose messages have arrived, or should arrive.
    pub(crate) fn known(&self) -> HashMap<(u64, EndpointKey), Progress> {
        self.observed.progress.lock().clone()
    }

    /// Another publisher, connected to this peer, which never publishes.
    pub(crate) fn idle_writer(&self, peer: &Arc<Peer>) -> Result<Writer, CapacityError> {
        let source = self.participant.advertise(&endpoint(EndpointKind::Publisher, "/idle"), None)?;
        let mut writer = Writer::new(Arc::new(source), 1, 0, 1)?;
        writer.connect(peer, &Connect { target: None, first: 1, live: 1, depth: 1, capacity: None })?;
        Ok(writer)
    }

    /// The peers that read.
    pub(crate) fn readers(&self) -> Vec<Arc<Peer>> {
        self.observed.readers.lock().clone()
    }

    #[track_caller]
    pub(crate) fn is_fine(&self) {
        assert_eq!(*self.observed.complaints.lock(), Vec::<String>::new());
    }

    /// Ends the station's sending end.
    pub(crate) fn drop_writer(&self) {
        let writer = self.observed.sending.lock().writer.take();
        drop(writer);
    }
}

impl Drop for Station {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        self.port.ring();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
        self.drop_writer();
        self.observed.forget_all();
        self.participant.leave();
        self.observed.forget_all(); // its connections keep the participant, which keeps it
    }
}

#[track_caller]
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
