//! Chunks: nobody's image changes while he has it, whoever lends, publishes, reads, holds and lets go in whatever order.

use crate::chunk::{Hold, Lent, Loan};
use crate::control::Table;
use crate::domain::Domain;
use crate::entity::{Entity, EntityKey, EntityKind};
use crate::incoming::Incoming;
use crate::participant::{Observer, Participant};
use crate::peer::Peer;
use crate::port::Sink;
use crate::ring::Head;
use crate::sync::{Arc, Mutex};
use crate::writer::{Connect, Writer};
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
enum Operation {
    /// Lends so many bytes.
    Lend(usize),
    /// A loan, or a message of the writer's process, or a hold goes; which one is counted round.
    DropLoan(usize),
    DropLent(usize),
    DropHold(usize),
    /// A loan becomes a message; perhaps the writer's process keeps it, too.
    Publish(usize, bool),
    /// A message that the writer's process keeps is published once more.
    PublishAgain(usize),
    /// The reader reads, and keeps it.
    Read,
    /// The writer keeps more.
    Grow,
}

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    prop_oneof![
        4 => prop_oneof![Just(100usize), Just(1000), 1..9000usize].prop_map(Lend),
        1 => any::<usize>().prop_map(DropLoan),
        1 => any::<usize>().prop_map(DropLent),
        3 => any::<usize>().prop_map(DropHold),
        5 => (any::<usize>(), any::<bool>()).prop_map(|(which, keep)| Publish(which, keep)),
        1 => any::<usize>().prop_map(PublishAgain),
        4 => Just(Read),
        1 => Just(Grow),
    ]
}

/// What the reading participant is told.
#[derive(Default)]
struct Told(Mutex<Vec<Incoming>>);

impl Observer for Told {
    fn appeared(&self, _: &Arc<Peer>, _: EntityKey, _: &Entity) {}
    fn vanished(&self, _: &Arc<Peer>, _: EntityKey) {}
    fn connected(&self, incoming: Incoming, _: Option<EntityKey>) -> Option<Arc<dyn Sink>> {
        self.0.lock().push(incoming);
        None
    }
    fn left(&self, _: &Arc<Peer>) {}
}

/// Two participants that know each other.
struct Room {
    writing: Arc<Participant>,
    reading: Arc<Participant>,
    told: Arc<Told>,
    peer: Arc<Peer>,
    _directory: tempfile::TempDir,
}

impl Room {
    fn new() -> Self {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let domain = Domain::open(Some(directory.path()), 0).unwrap();
        let told = Arc::new(Told::default());
        let writing = Participant::join(&domain, Arc::new(Told::default())).unwrap();
        let reading = Participant::join(&domain, told.clone()).unwrap();
        let peer = Arc::new(Peer::open(domain.path(), reading.id()).unwrap());
        Self { writing, reading, told, peer, _directory: directory }
    }

    /// A writer, and the end at which it is read.
    fn connection(&self, depth: usize) -> (Writer, Incoming) {
        let entity = Entity {
            kind: EntityKind::Publisher,
            number: 1,
            node: "/node".into(),
            name: "/chunks".into(),
            type_name: "test/msg/Bytes".into(),
            hash: [0; 32],
            qos: [0; 64],
        };
        let entity = Arc::new(self.writing.advertise(&entity, None).unwrap());
        let mut writer = Writer::new(entity, depth, 8, 1).unwrap();
        let connect = Connect { target: None, first: 1, live: 1, depth, capacity: None };
        writer.connect(&self.peer, &connect).unwrap();
        // It may be the helper thread that takes it up; then it is at it now.
        let incoming = loop {
            self.reading.refresh();
            if let Some(incoming) = self.told.0.lock().pop() {
                break incoming;
            }
            std::thread::yield_now();
        };
        (writer, incoming)
    }
}

/// Whose image this is: its own number, all over.
fn fill(image: &mut [u8], number: u64) {
    for (index, byte) in (0u64..).zip(image) {
        *byte = pattern(number, index);
    }
}

fn pattern(number: u64, index: u64) -> u8 {
    number.wrapping_mul(0x9e37_79b9).wrapping_add(index).to_le_bytes()[0] ^ number.to_le_bytes()[1]
}

fn check(image: &[u8], number: u64) {
    let other = (0u64..).zip(image).find(|&(index, byte)| *byte != pattern(number, index));
    assert_eq!(other, None, "image {number} of {} bytes was written while it was in use", image.len());
}

/// What everybody has, with the number by which the image was filled.
#[derive(Default)]
struct Kept {
    loans: Vec<(u64, Loan)>,
    lent: Vec<(u64, Lent)>,
    holds: Vec<(u64, Hold)>,
    /// By message: which image it is.
    published: Vec<u64>,
}

impl Kept {
    fn check(&mut self) {
        self.loans.iter_mut().for_each(|(number, loan)| check(loan.bytes_mut(), *number));
        self.lent.iter().for_each(|(number, lent)| check(lent.bytes(), *number));
        self.holds.iter().for_each(|(number, hold)| check(hold.bytes(), *number));
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
    fn nobody_s_image_changes(depth in 1..5usize, operations in vec(operation(), 1..120)) {
        std::thread_local! {
            static ROOM: Room = Room::new();
        }
        ROOM.with(|room| {
            let (mut writer, mut incoming) = room.connection(depth);
            let lender = writer.lender();
            let (mut kept, mut filled, mut buffer) = (Kept::default(), 0, Vec::new());
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
                    Operation::DropHold(which) => drop(remove(&mut kept.holds, which)),
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
                            let index = usize::try_from(message.number - 1).unwrap();
                            kept.holds.push((kept.published[index], message.hold.unwrap()));
                        }
                    }
                    Operation::Grow if writer.depth() < 32 => writer.grow(writer.depth() * 2).unwrap(),
                    Operation::Grow => {}
                }
                kept.check();
            }
            // What is in the ring is whole, too.
            while let Some(message) = incoming.read(&mut buffer).unwrap() {
                let index = usize::try_from(message.number - 1).unwrap();
                check(message.hold.unwrap().bytes(), kept.published[index]);
            }
            assert!(room.reading.holds.ready() <= Table::Holds.capacity());
        });
    }
}
