//! How a participant reacts to its findings.

use super::known_peers::{COARSE, Changing};
use super::observer::Observer;
use crate::connection::incoming::Incoming;
use crate::own::incoming_entry::Sink;
use crate::peer::mapped_peer::Peer;
use crate::platform::sync::{Arc, Mutex};
use crate::platform::sys;
use crate::segment::domain::Domain;
use crate::tables::endpoint::{Endpoint, EndpointKey, EndpointKind};
use crate::testing::recording_observer::endpoint;
use crate::transport::{Connect, Participant, Writer};
use std::collections::HashSet;
use std::io::Read as _;
use std::process::{Command, Stdio};

#[test]
fn a_directory_that_was_read_just_after_a_change_is_read_again_however_late() {
    let mut directory = Changing::default();
    let (first, second) = (Some((1, 0)), Some((1, 4_000_000)));
    let begin = 1_000_000_000;
    assert!(directory.may_have_changed(first, begin));
    directory.read = begin;
    // A second change had the same time, and then the helper thread didn't look for a long time.
    assert!(directory.may_have_changed(first, begin + 10 * COARSE));
    directory.read = begin + 10 * COARSE;
    assert!(!directory.may_have_changed(first, begin + 20 * COARSE));
    assert!(directory.may_have_changed(second, begin + 30 * COARSE));
}

/// Records the order in which publishers and their connections appear.
#[derive(Default)]
struct Diary(Mutex<DiaryState>);

#[derive(Default)]
struct DiaryState {
    peers: Vec<Arc<Peer>>,
    entries: Vec<(&'static str, EndpointKey)>,
    incoming: Vec<Incoming>,
}

impl Observer for Diary {
    fn appeared(&self, peer: &Arc<Peer>, key: EndpointKey, endpoint: &Endpoint) {
        let mut state = self.0.lock();
        state.peers.push(peer.clone());
        if endpoint.kind == EndpointKind::Publisher {
            state.entries.push(("appeared", key));
        }
    }

    fn vanished(&self, _: &Arc<Peer>, key: EndpointKey) {
        self.0.lock().entries.push(("vanished", key));
    }

    fn connected(&self, incoming: Incoming, _: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
        let mut state = self.0.lock();
        state.entries.push(("connected", incoming.source()));
        state.incoming.push(incoming);
        None
    }

    fn left(&self, _: &Arc<Peer>) {}
}

/// A log names records, which are read as they are now. If a connection's record is reused before a
/// participant looks, its first mention comes before that of the publisher that has it now.
#[test]
fn a_publisher_is_met_before_its_connection_in_a_record_that_was_used_again() {
    let base = tempfile::tempdir_in("/dev/shm").unwrap();
    let domain = Domain::open(Some(base.path()), 0).unwrap();
    let (here, diary) = (Arc::new(Diary::default()), Arc::new(Diary::default()));
    let writing = Participant::join(&domain, here.clone()).unwrap();
    let reading = Participant::join(&domain, diary.clone()).unwrap();
    let _target = reading.advertise(&endpoint(EndpointKind::Subscription), None).unwrap();
    writing.refresh();
    let peer = here.0.lock().peers[0].clone();
    let connects = || {
        let source = Arc::new(writing.advertise(&endpoint(EndpointKind::Publisher), None).unwrap());
        let key = source.key();
        let mut writer = Writer::new(source, 1, 8, 1).unwrap();
        let connect = Connect { target: None, first: 1, live: 1, depth: 1, capacity: None };
        let slots = || writing.outgoing.all().iter().map(|accepted| accepted.slot).collect::<HashSet<_>>();
        let others = slots();
        writer.connect(&peer, &connect).unwrap();
        let slot = *slots().difference(&others).next().unwrap();
        (key, writer, slot)
    };
    let (first, mut before, slot) = connects();
    reading.refresh();
    assert_eq!(diary.0.lock().entries, [("appeared", first), ("connected", first)]);

    let its_helper_is_late = reading.follower.discovery.lock();
    before.disconnect(peer.id()); // the connection ends, ..
    diary.0.lock().incoming.clear(); // .. all of it is read, ..
    let end = sys::steady() + 20_000_000_000;
    let mut writers = vec![before];
    let second = loop {
        let (key, writer, again) = connects();
        writers.push(writer);
        if again == slot {
            break key; // .. and its record belongs to another connection
        }
        assert!(sys::steady() < end, "the record is never used again");
        writing.refresh();
        writers[0].disconnect(peer.id()); // releases what is read
    };
    diary.0.lock().entries.clear();
    drop(its_helper_is_late);
    reading.refresh();
    let entries = std::mem::take(&mut diary.0.lock().entries);
    let of_second: Vec<_> = entries.into_iter().filter(|(_, key)| *key == second).collect();
    assert_eq!(of_second, [("appeared", second), ("connected", second)]);

    diary.0.lock().incoming.clear();
    drop(writers);
    writing.leave();
    reading.leave();
}

/// Looks, without waiting for the time between two looks, until the helper thread may sleep until
/// something happens.
fn until_at_rest(participant: &Participant) {
    while participant.follower.look(true).is_some() {
        let mut discovery = participant.follower.discovery.lock();
        discovery.suspects.values_mut().for_each(|suspicion| suspicion.at = 0);
        discovery.is_due_now();
        drop(discovery);
        std::thread::yield_now();
    }
}

#[test]
fn a_participant_looks_after_nothing_until_something_happens() {
    let base = tempfile::tempdir_in("/dev/shm").unwrap();
    let domain = Domain::open(Some(base.path()), 0).unwrap();
    let join = || Participant::join(&domain, Arc::new(Diary::default())).unwrap();
    let alone = join();
    let looks_again = |why: &str| assert!(alone.follower.look(true).is_some(), "{why}");
    until_at_rest(&alone);
    let source = alone.advertise(&endpoint(EndpointKind::Publisher), None).unwrap();
    looks_again("it has an entity more");
    until_at_rest(&alone);
    let other = join();
    looks_again("another one has come");
    assert!(!alone.follower.discovery.lock().peers.is_empty());
    until_at_rest(&alone);
    let of_other = other.advertise(&endpoint(EndpointKind::Subscription), None).unwrap();
    looks_again("the other one has an entity more");
    until_at_rest(&alone);
    drop(of_other);
    looks_again("the other one has an entity less");
    until_at_rest(&alone);
    let writer = Writer::new(Arc::new(source), 4, 0, 1).unwrap();
    other.leave();
    until_at_rest(&alone);
    let loan = writer.lender().loan(1 << 20).unwrap();
    looks_again("memory is to be given back");
    drop((loan, writer));
    until_at_rest(&alone);
}

#[test]
fn a_participant_at_rest_notices_that_its_name_was_removed() {
    let base = tempfile::tempdir_in("/dev/shm").unwrap();
    let domain = Domain::open(Some(base.path()), 0).unwrap();
    let join = || Participant::join(&domain, Arc::new(Diary::default())).unwrap();
    let (one, other) = (join(), join());
    until_at_rest(&one);
    std::fs::remove_file(one.own.control_path()).unwrap();
    // The helper thread looks by itself.
    while !one.follower.discovery.lock().is_nameless {
        std::thread::yield_now();
    }
    other.leave();
}

/// Says to this test's child where it takes part.
const PLACE: &str = "SINEW_TEST_OF_A_DEATH";

/// No look at everything is due, so the kernel's report of the end must do.
#[test]
fn a_participant_at_rest_notices_that_another_one_was_killed() {
    if let Some(place) = std::env::var_os(PLACE) {
        let domain = Domain::open(Some(place.as_ref()), 0).unwrap();
        let killed = Participant::join(&domain, Arc::new(Diary::default())).unwrap();
        let _entity = killed.advertise(&endpoint(EndpointKind::Publisher), None).unwrap();
        let _ = std::io::stdin().read_to_end(&mut Vec::new()); // ends with the test, even if that fails
        return;
    }
    let base = tempfile::tempdir_in("/dev/shm").unwrap();
    let domain = Domain::open(Some(base.path()), 0).unwrap();
    let diary = Arc::new(Diary::default());
    let one = Participant::join(&domain, diary.clone()).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "discovery::tests::a_participant_at_rest_notices_that_another_one_was_killed"]);
    child.env(PLACE, base.path()).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = child.spawn().unwrap();
    let knows = |what: &str| diary.0.lock().entries.iter().any(|(happened, _)| *happened == what);
    while !knows("appeared") {
        std::thread::yield_now();
    }
    until_at_rest(&one);
    child.kill().unwrap();
    child.wait().unwrap();
    // The helper thread looks by itself.
    while !knows("vanished") {
        std::thread::yield_now();
    }
}

#[test]
fn a_helper_thread_at_rest_plans_its_next_look_whichever_thread_finds_a_peer() {
    let base = tempfile::tempdir_in("/dev/shm").unwrap();
    let domain = Domain::open(Some(base.path()), 0).unwrap();
    let join = || Participant::join(&domain, Arc::new(Diary::default())).unwrap();
    let alone = join();
    until_at_rest(&alone);
    while alone.follower.discovery.lock().sleeps_until != i64::MAX {
        std::thread::yield_now();
    }
    let _other = join();
    alone.refresh();
    while alone.follower.discovery.lock().sleeps_until == i64::MAX {
        std::thread::yield_now();
    }
}
