//! Chunks: no message's bytes change while a thread of either process uses them, and no message
//! that has a place in the ring is lost, in whatever order they lend, publish, read, hold and
//! release.

use crate::chunk::hold::Hold;
use crate::chunk::loan::{Lent, Loan};
use crate::connection::incoming::Incoming;
use crate::connection::outgoing::Connect;
use crate::discovery::observer::Observer;
use crate::own::incoming_entry::Sink;
use crate::participant::Participant;
use crate::peer::mapped_peer::Peer;
use crate::platform::sync::{Arc, Mutex};
use crate::ring::Head;
use crate::segment::domain::Domain;
use crate::tables::control_segment::Table;
use crate::tables::endpoint::{Endpoint, EndpointKey, EndpointKind};
use crate::writer::message_writer::Writer;
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
enum Operation {
    /// Lends this many bytes.
    Lend(usize),
    /// Drops a loan, a message of the writer's process, or a hold; the number selects it, modulo
    /// their count.
    DropLoan(usize),
    DropLent(usize),
    DropHold(usize),
    /// Publishes a loan; if `true`, the writer's process keeps the message as well.
    Publish(usize, bool),
    /// Publishes a message that the writer's process keeps once more.
    PublishAgain(usize),
    /// The reader reads a message, and keeps it.
    Read,
    /// The writer's ring grows.
    Grow,
    /// The writer makes room as if there were none for a loan.
    Displace,
    /// The writer releases what the reader has read.
    Tidy,
}

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    prop_oneof![
        4 => prop_oneof![Just(100usize), Just(1000), 1..9000usize, 30_000..60_000usize]
            .prop_map(Lend),
        1 => any::<usize>().prop_map(DropLoan),
        1 => any::<usize>().prop_map(DropLent),
        3 => any::<usize>().prop_map(DropHold),
        5 => (any::<usize>(), any::<bool>()).prop_map(|(which, keep)| Publish(which, keep)),
        1 => any::<usize>().prop_map(PublishAgain),
        4 => Just(Read),
        1 => Just(Grow),
        1 => Just(Displace),
        2 => Just(Tidy),
    ]
}

/// The observer of the reading participant.
#[derive(Default)]
struct Connected(Mutex<Vec<Incoming>>);

impl Observer for Connected {
    fn appeared(&self, _: &Arc<Peer>, _: EndpointKey, _: &Endpoint) {}
    fn vanished(&self, _: &Arc<Peer>, _: EndpointKey) {}
    fn connected(&self, incoming: Incoming, _: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
        self.0.lock().push(incoming);
        None
    }
    fn left(&self, _: &Arc<Peer>) {}
}

/// Two participants that know each other.
struct Room {
    writing: Arc<Participant>,
    reading: Arc<Participant>,
    connected: Arc<Connected>,
    peer: Arc<Peer>,
    _directory: tempfile::TempDir,
}

impl Room {
    fn new() -> Self {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let domain = Domain::open(Some(directory.path()), 0).unwrap();
        let connected = Arc::new(Connected::default());
        let writing = Participant::join(&domain, Arc::new(Connected::default())).unwrap();
        let reading = Participant::join(&domain, connected.clone()).unwrap();
        let peer = Arc::new(Peer::open(domain.directory(), reading.id()).unwrap());
        Self { writing, reading, connected, peer, _directory: directory }
    }

    /// A writer, and the receiving end of its connection.
    fn connection(&self, depth: usize) -> (Writer, Incoming) {
        let endpoint = Endpoint {
            kind: EndpointKind::Publisher,
            number: 1,
            node: "/node".into(),
            name: "/chunks".into(),
            type_name: "test/msg/Bytes".into(),
            hash: [0; 32],
            qos: [0; 64],
        };
        let endpoint = Arc::new(self.writing.advertise(&endpoint, None).unwrap());
        let mut writer = Writer::new(endpoint, depth, 8, 1).unwrap();
        let connect = Connect { target: None, first: 1, live: 1, depth, capacity: None };
        writer.connect(&self.peer, &connect).unwrap();
        // The helper thread may be the one to take it up; then it is doing so now.
        let incoming = loop {
            self.reading.refresh();
            if let Some(incoming) = self.connected.0.lock().pop() {
                break incoming;
            }
            std::thread::yield_now();
        };
        (writer, incoming)
    }
}

/// Fills the bytes with a pattern that identifies the message's number; a large message only at
/// both ends.
fn fill(encoded: &mut [u8], number: u64) {
    let length = encoded.len();
    let (begin, end) = encoded.split_at_mut(length.min(END));
    for (index, byte) in (0u64..).zip(begin) {
        *byte = pattern(number, index);
    }
    let first = end.len().saturating_sub(END);
    for (index, byte) in (0u64..).zip(&mut end[first..]) {
        *byte = pattern(number, index);
    }
}

/// Number of bytes at each end.
const END: usize = 5000;

fn pattern(number: u64, index: u64) -> u8 {
    number.wrapping_mul(0x9e37_79b9).wrapping_add(index).to_le_bytes()[0] ^ number.to_le_bytes()[1]
}

fn check(encoded: &[u8], number: u64) {
    let (begin, end) = encoded.split_at(encoded.len().min(END));
    let mut all = (0u64..).zip(begin).chain((0..).zip(&end[end.len().saturating_sub(END)..]));
    let other = all.find(|&(index, byte)| *byte != pattern(number, index));
    assert_eq!(other, None, "message {number} of {} bytes was written while it was in use", encoded.len());
}

/// Everything that writer and reader keep, with the number that the bytes were filled with.
#[derive(Default)]
struct Kept {
    loans: Vec<(u64, Loan)>,
    lent: Vec<(u64, Lent)>,
    hazards: Vec<(u64, Hold)>,
    /// The fill number of each message.
    published: Vec<u64>,
    /// The number of the last message that was read.
    read: u64,
    /// Number of messages that couldn't be read although nothing had overwritten them.
    lost: u64,
}

impl Kept {
    /// Notes that the reader has read a message of a ring with at least this many slots. Returns
    /// the message's fill number.
    fn has_read(&mut self, number: u64, slots: usize) -> u64 {
        let last = self.published.len() as u64;
        let lost = (self.read + 1..number).filter(|between| between + slots as u64 > last);
        self.lost += lost.count() as u64;
        self.read = number;
        self.published[usize::try_from(number - 1).unwrap()]
    }

    fn check(&mut self) {
        self.loans.iter_mut().for_each(|(number, loan)| check(loan.bytes_mut(), *number));
        self.lent.iter().for_each(|(number, lent)| check(lent.bytes(), *number));
        self.hazards.iter().for_each(|(number, hold)| check(hold.bytes(), *number));
    }
}

fn remove<T>(list: &mut Vec<T>, which: usize) -> Option<T> {
    (!list.is_empty()).then(|| list.swap_remove(which % list.len()))
}

fn publish(writer: &mut Writer, kept: &mut Kept, number: u64, lent: Lent) {
    let next = writer.next();
    writer.publish_lent(next, &Head::default(), lent);
    kept.published.push(number);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.div_ceil(4), ..ProptestConfig::default() })]
    #[test]
    fn nobody_s_encoded_form_changes(depth in 1..5usize, operations in vec(operation(), 1..120)) {
        std::thread_local! {
            static ROOM: Room = Room::new();
        }
        ROOM.with(|room| {
            let (mut writer, mut incoming) = room.connection(depth);
            let (lender, slots) = (writer.lender(), writer.depth());
            let (mut kept, mut filled, mut buffer) = (Kept::default(), 0, Vec::new());
            let mut displaced = 0;
            for operation in operations {
                match operation {
                    Operation::Lend(length) => {
                        filled += 1;
                        let mut loan = lender.loan(length).unwrap();
                        fill(loan.bytes_mut(), filled);
                        kept.loans.push((filled, loan));
                    }
                    Operation::DropLoan(which) => drop(remove(&mut kept.loans, which)),
                    Operation::DropLent(which) => drop(remove(&mut kept.lent, which)),
                    Operation::DropHold(which) => drop(remove(&mut kept.hazards, which)),
                    Operation::Publish(which, keep) => {
                        if let Some((number, loan)) = remove(&mut kept.loans, which) {
                            let lent = loan.share();
                            if keep {
                                kept.lent.push((number, lent.clone()));
                            }
                            publish(&mut writer, &mut kept, number, lent);
                        }
                    }
                    Operation::PublishAgain(which) => {
                        if let Some((number, lent)) = remove(&mut kept.lent, which) {
                            publish(&mut writer, &mut kept, number, lent);
                        }
                    }
                    Operation::Read => {
                        if let Some(message) = incoming.read(&mut buffer).unwrap() {
                            let number = kept.has_read(message.number, slots);
                            kept.hazards.push((number, message.hold.unwrap()));
                        }
                    }
                    Operation::Grow if writer.depth() < 32 => writer.grow(writer.depth() * 2).unwrap(),
                    Operation::Grow => {}
                    Operation::Tidy => {
                        writer.let_go();
                    }
                    Operation::Displace => {
                        if writer.displace(1, u64::MAX, Some(1)) {
                            displaced += 1;
                        }
                    }
                }
                kept.check();
            }
            // The messages in the ring are complete as well.
            while let Some(message) = incoming.read(&mut buffer).unwrap() {
                let number = kept.has_read(message.number, slots);
                check(message.hold.unwrap().bytes(), number);
            }
            assert!(kept.lost <= displaced, "{} were lost, {displaced} displaced", kept.lost);
            assert!(room.reading.own.hazards.ready() <= Table::Holds.capacity());
        });
    }
}
