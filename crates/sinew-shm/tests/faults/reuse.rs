//! Reuse: a record or piece of memory is reused only after every process that could still write or
//! read there has let go of it.

use crate::process::{Part, Scene};
use crate::station::{endpoint, until};
use parking_lot::Mutex;
use sinew_shm::transport::*;
use sinew_shm::*;
use std::path::Path;
use std::sync::Arc;

type Afterwards = Box<dyn FnMut(&Keeps) + Send>;

/// Keeps its peers and connections, and does nothing with them.
#[derive(Default)]
pub(crate) struct Keeps {
    pub(crate) incoming: Mutex<Vec<Incoming>>,
    pub(crate) peers: Mutex<Vec<Arc<Peer>>>,
    left: Mutex<Vec<u64>>,
    /// Runs on the helper thread after each look.
    afterwards: Mutex<Option<Afterwards>>,
}

impl Observer for Keeps {
    fn attend(&self, look: &mut dyn FnMut()) {
        look();
        if let Some(afterwards) = &mut *self.afterwards.lock() {
            afterwards(self);
        }
    }
    fn appeared(&self, peer: &Arc<Peer>, _: EndpointKey, _: &Endpoint) {
        self.peers.lock().push(peer.clone());
    }
    fn vanished(&self, _: &Arc<Peer>, _: EndpointKey) {}
    fn connected(&self, incoming: Incoming, _: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
        self.incoming.lock().push(incoming);
        None
    }
    fn left(&self, peer: &Arc<Peer>) {
        self.left.lock().push(peer.id());
    }
}

/// A participant with a reading entity, so that others see it.
pub(crate) struct One {
    pub(crate) keeps: Arc<Keeps>,
    pub(crate) participant: Arc<Participant>,
    reads: Option<OwnEndpoint>,
}

impl One {
    pub(crate) fn join(scene: &Scene) -> Self {
        Self::join_at(scene.base())
    }

    pub(crate) fn join_at(base: &Path) -> Self {
        let mut one = Self::join_silently(base);
        let about = endpoint(EndpointKind::Subscription, "/one");
        one.reads = Some(one.participant.advertise(&about, None).unwrap());
        one
    }

    /// A participant without an entity.
    pub(crate) fn join_silently(base: &Path) -> Self {
        let domain = Domain::open(Some(base), 0).unwrap();
        let keeps = Arc::new(Keeps::default());
        let participant = Participant::join(&domain, keeps.clone()).unwrap();
        Self { keeps, participant, reads: None }
    }

    /// The first peer that reads.
    pub(crate) fn first_peer(&self) -> Arc<Peer> {
        let find = || self.keeps.peers.lock().first().cloned();
        until("there is one", || find().is_some());
        find().unwrap()
    }

    /// The connection that another participant has made to this one.
    pub(crate) fn only_incoming(&self) -> Incoming {
        until("it is connected", || !self.keeps.incoming.lock().is_empty());
        self.keeps.incoming.lock().pop().unwrap()
    }

    /// Runs `work` on the helper thread with the result of `find`, and waits until it is done.
    pub(crate) fn on_helper<T>(
        &self,
        find: impl Fn(&Keeps) -> Option<T> + Send + 'static,
        work: impl FnOnce(T) + Send + 'static,
    ) {
        let (done, is_done) = std::sync::mpsc::channel();
        let mut work = Some(work);
        *self.keeps.afterwards.lock() = Some(Box::new(move |keeps| {
            if let Some(found) = find(keeps)
                && let Some(work) = work.take()
            {
                work(found);
                done.send(()).unwrap();
            }
        }));
        is_done.recv().unwrap();
    }

    pub(crate) fn writer(&self) -> Writer {
        let source = self.participant.advertise(&endpoint(EndpointKind::Publisher, "/one"), None).unwrap();
        Writer::new(Arc::new(source), 4, 40, 1).unwrap()
    }

    pub(crate) fn peer(&self, other: &One) -> Arc<Peer> {
        let find =
            || self.keeps.peers.lock().iter().find(|peer| peer.id() == other.participant.id()).cloned();
        until("they know each other", || find().is_some());
        find().unwrap()
    }

    /// Whether it comes to know this participant, as it should.
    pub(crate) fn knows(&self, other: &One) -> bool {
        self.peer(other).id() == other.participant.id()
    }

    /// Whether it has come to know this participant.
    pub(crate) fn has_met(&self, other: &One) -> bool {
        self.keeps.peers.lock().iter().any(|peer| peer.id() == other.participant.id())
    }

    /// Its reading entity.
    pub(crate) fn key(&self) -> EndpointKey {
        self.reads.as_ref().unwrap().key()
    }

    /// The connection from this writer.
    pub(crate) fn incoming(&self, writer: &Writer) -> Incoming {
        let (id, key) = (writer.endpoint().participant().id(), writer.endpoint().key());
        let find = || {
            let mut all = self.keeps.incoming.lock();
            let place = all.iter().position(|one| one.peer().id() == id && one.source() == key)?;
            Some(all.swap_remove(place))
        };
        let mut found = None;
        until("it is connected", || {
            found = find();
            found.is_some()
        });
        found.unwrap()
    }

    pub(crate) fn has_seen_leave(&self, id: u64) {
        until("its end is noticed", || self.keeps.left.lock().contains(&id));
    }
}

pub(crate) fn connect(writer: &mut Writer, peer: &Arc<Peer>) {
    writer.connect(peer, &Connect { target: None, first: 1, live: 1, depth: 4, capacity: Some(4) }).unwrap();
}

pub(crate) fn publish(writer: &mut Writer, byte: u8) {
    let head = Head { order: u64::from(byte), ..Head::default() };
    writer.publish_inline(writer.next(), &head, &[byte; 40]);
}

pub(crate) fn read(incoming: &mut Incoming) -> Option<u8> {
    let mut buffer = Vec::new();
    let message = incoming.read(&mut buffer).unwrap()?;
    assert_eq!((buffer.len(), message.missed), (40, 0));
    assert!(buffer.iter().all(|&byte| u64::from(byte) == message.head.order));
    Some(buffer[0])
}

#[test]
fn what_a_disconnected_reader_has_not_read_yet_stays_as_it_is() {
    let scene = Scene::new();
    let (a, b) = (One::join(&scene), One::join(&scene));
    let mut writer = a.writer();
    connect(&mut writer, &a.peer(&b));
    let mut incoming = b.incoming(&writer);
    (1..=3).for_each(|byte| publish(&mut writer, byte));
    writer.disconnect(b.participant.id());
    drop(writer);
    // Other participants join, and write where there is room.
    let mut others: Vec<_> = (0..4).map(|_| a.writer()).collect();
    for other in &mut others {
        (101..=104).for_each(|byte| publish(other, byte));
    }
    assert_eq!([1, 2, 3].map(|_| read(&mut incoming).unwrap()), [1, 2, 3]);
    assert!(incoming.is_over());
}

#[test]
fn a_connection_that_is_done_reads_nothing_of_the_next_one() {
    let scene = Scene::new();
    let (a, b) = (One::join(&scene), One::join(&scene));
    let mut writer = a.writer();
    connect(&mut writer, &a.peer(&b));
    let mut first = b.incoming(&writer);
    publish(&mut writer, 1);
    assert_eq!(read(&mut first), Some(1));
    writer.disconnect(b.participant.id());
    until("it is over", || first.is_over());
    first.done();
    // Its record is reused at some time, and then contains no end.
    for byte in 2..=20 {
        let next = writer.next();
        let connect = Connect { target: None, first: next, live: next, depth: 4, capacity: Some(4) };
        writer.connect(&a.peer(&b), &connect).unwrap();
        publish(&mut writer, byte);
        assert_eq!(read(&mut first), None);
        assert!(first.is_over());
        let mut incoming = b.incoming(&writer);
        assert_eq!(read(&mut incoming), Some(byte));
        writer.disconnect(b.participant.id());
        until("it is over", || incoming.is_over());
        drop(incoming);
        std::thread::sleep(std::time::Duration::from_millis(2)); // long enough for the record to be free
    }
}

#[test]
fn a_writer_that_ends_touches_no_connection_but_its_own() {
    let scene = Scene::new();
    let (a, gone, b) = (One::join(&scene), One::join(&scene), One::join(&scene));
    let mut old = a.writer();
    connect(&mut old, &a.peer(&gone));
    drop(gone.incoming(&old));
    let id = gone.participant.id();
    gone.participant.leave();
    a.has_seen_leave(id);
    // The old writer doesn't know of it yet.
    let mut new = a.writer();
    connect(&mut new, &a.peer(&b));
    let mut incoming = b.incoming(&new);
    drop(old);
    publish(&mut new, 7);
    assert_eq!(read(&mut incoming), Some(7));
    assert!(!incoming.is_over());
    publish(&mut new, 8);
    assert_eq!(read(&mut incoming), Some(8));
}

#[test]
fn a_reader_that_goes_late_touches_no_connection_but_its_own() {
    let scene = Scene::new();
    let (a, b) = (One::join(&scene), One::join(&scene));
    let mut writer = a.writer();
    connect(&mut writer, &a.peer(&b));
    let late = b.incoming(&writer);
    publish(&mut writer, 1);
    a.participant.leave();
    b.has_seen_leave(a.participant.id());
    // The files are removed by hand, so the connection is dropped although it isn't read.
    let begins = format!("{:016x}", a.participant.id());
    for file in scene.files().iter().filter(|file| file.starts_with(&begins)) {
        std::fs::remove_file(scene.base().join("0").join(file)).unwrap();
    }
    let c = One::join(&scene);
    std::thread::sleep(std::time::Duration::from_millis(120)); // long enough for b to look after the dead
    let mut writer = c.writer();
    connect(&mut writer, &c.peer(&b));
    let mut incoming = b.incoming(&writer);
    let port = b.participant.port(None).unwrap();
    incoming.set_port(Some(&port));
    drop(late);
    publish(&mut writer, 2);
    until("it is notified", || port.drain());
    assert_eq!(read(&mut incoming), Some(2));
}

#[test]
fn the_last_one_to_leave_removes_what_was_kept_for_it() {
    let scene = Scene::new();
    let (a, b) = (One::join(&scene), One::join(&scene));
    let mut writer = a.writer();
    connect(&mut writer, &a.peer(&b));
    let unread = b.incoming(&writer);
    publish(&mut writer, 1);
    a.participant.leave();
    b.has_seen_leave(a.participant.id());
    assert!(scene.files().iter().any(|file| file.starts_with(&format!("{:016x}", a.participant.id()))));
    b.participant.leave();
    assert_eq!(scene.files(), Vec::<String>::new());
    drop(unread);
}

/// Leaves, and keeps a message.
pub(crate) fn keep(part: &Part) {
    let one = One::join_at(&part.directory);
    until("it is connected", || !one.keeps.incoming.lock().is_empty());
    let mut incoming = one.keeps.incoming.lock().pop().unwrap();
    let mut held = None;
    until("a message comes", || {
        held = incoming.read(&mut Vec::new()).unwrap().and_then(|message| message.hold);
        held.is_some()
    });
    one.participant.leave();
    part.say("left");
    until("others were published", || part.directory.join("published").exists());
    let held = held.unwrap();
    assert!(held.bytes().iter().all(|&byte| byte == 1), "written over");
    part.say("unchanged");
    until("it is killed", || held.bytes().is_empty());
}

#[test]
fn what_a_process_holds_that_has_left_is_let_alone_until_it_dies() {
    let scene = Scene::new();
    let a = One::join(&scene);
    let mut child = scene.child("keeps", "");
    until("it comes", || !a.keeps.peers.lock().is_empty());
    let peer = a.keeps.peers.lock()[0].clone();
    let mut writer = a.writer();
    connect(&mut writer, &peer);
    let mut publish = |byte: u8| {
        let mut loan = writer.lender().loan(20_000).unwrap();
        loan.bytes_mut().fill(byte);
        writer.publish_lent(writer.next(), &Head::default(), loan.share());
    };
    publish(1);
    child.says("left");
    a.has_seen_leave(peer.id());
    (2..100).for_each(&mut publish);
    let control = scene.base().join(format!("0/{:016x}.control", peer.id()));
    assert!(control.exists(), "it says whether the process lives");
    let usage = scene.usage();
    std::fs::write(scene.base().join("published"), "").unwrap();
    child.says("unchanged");
    child.kill();
    until("its files are removed", || !control.exists());
    (2..100).for_each(&mut publish);
    assert!(scene.usage() <= usage, "{usage} bytes before, {} now", scene.usage());
}

#[test]
fn a_reader_that_is_gone_is_not_connected_and_holds_nobody_up() {
    let scene = Scene::new();
    let (a, b) = (One::join(&scene), One::join(&scene));
    let mut writer = a.writer();
    let peer = a.peer(&b);
    connect(&mut writer, &peer);
    for byte in 0..4 {
        publish(&mut writer, byte);
    }
    assert!(!writer.has_room());
    b.participant.leave();
    a.has_seen_leave(b.participant.id());
    assert!(writer.has_room() && writer.wait_for_room().is_none());
    let mut late = a.writer();
    connect(&mut late, &peer);
    assert!(!late.is_connected() && late.has_room());
}
