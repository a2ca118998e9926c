//! Limits: a full file system, no inotify, more holds than there are, hundreds of participants.

use crate::process::{Part, Scene};
use crate::reuse::{self, Keeps, One};
use crate::station::{Observed, Station, encoded, endpoint, until};
use sinew_shm::transport::*;
use sinew_shm::*;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// Reports that a test can't run here. The test passes; the reason is written to the file
/// `$SINEW_SKIPPED`.
pub(crate) fn skip(why: &str) {
    println!("skipped: {why}");
    if let Some(path) = std::env::var_os("SINEW_SKIPPED") {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        std::io::Write::write_all(&mut file, format!("{}\n", why.trim_end().replace('\n', " ")).as_bytes())
            .unwrap();
    }
}

/// Whether this user may create namespaces; reports the reason if not.
pub(crate) fn has_namespaces(what: &str) -> bool {
    let tried = Command::new("unshare").args(["-rmpf", "true"]).output();
    match tried {
        Ok(done) if done.status.success() => true,
        Ok(done) => {
            skip(&format!("{what} needs user namespaces: {}", String::from_utf8_lossy(&done.stderr)));
            false
        }
        Err(error) => {
            skip(&format!("{what} needs unshare(1): {error}"));
            false
        }
    }
}

/// Starts a child in a mount namespace in which the scene's directory is a file system of this
/// size.
pub(crate) fn on_a_small_file_system(scene: &Scene, role: &str, size: &str) {
    let mount =
        format!("mount -t tmpfs -o size={size} none {} && exec \"$0\" \"$@\"", scene.base().display());
    let mut child = scene.child_by(role, size, &["unshare", "-rm", "sh", "-c", &mount]);
    let status = child.wait();
    assert!(status.success(), "{status}, {:?}", child.report());
    assert_eq!(child.report(), ["fine"]);
}

/// The effects of a full file system on participants. Words: its size.
pub(crate) fn fill(part: &Part) {
    let megabytes: usize = part.words[0].trim_end_matches('m').parse().unwrap();
    let (a, b) = (Station::join(&part.directory).spin(), Station::join(&part.directory).spin());
    until("both know each other", || a.known().len() == 1 && b.known().len() == 1);
    let talk = |count: u64| {
        for _ in 0..count {
            a.publish(PATIENCE).unwrap();
            b.publish(PATIENCE).unwrap();
        }
        for (reader, writer) in [(&a, &b), (&b, &a)] {
            let next = writer.with_writer(|writer| writer.next());
            until("it arrives", || reader.progress(writer.id()).is_some_and(|from| from.next == next));
            reader.is_fine();
        }
    };
    talk(50);
    let ballast = part.directory.join("ballast");
    std::fs::write(&ballast, vec![1; 256 << 10]).unwrap();
    // Loans until there is no room.
    let source = a.participant.advertise(&endpoint(EndpointKind::Publisher, "/big"), None).unwrap();
    let mut big = Writer::new(Arc::new(source), 2, 0, 1).unwrap();
    let mut loans = Vec::new();
    let refused = loop {
        match big.lender().loan(megabytes << 16) {
            Ok(mut loan) => {
                loan.bytes_mut().fill(1); // raises a signal if the space isn't there
                loans.push(loan);
            }
            Err(error) => break error,
        }
        assert!(loans.len() < 17, "more than there can be");
    };
    assert!(loans.len() > 2, "{} of 16", loans.len());
    let CapacityError::FileSystem { size, .. } = refused else { panic!("{refused}") };
    assert_eq!(size, (megabytes as u64) << 20);
    assert!(refused.to_string().contains("--shm-size"), "{refused}");
    talk(50);
    // Not a byte is left.
    let filler = part.directory.join("filler");
    let mut rest = std::fs::File::create(&filler).unwrap();
    while std::io::Write::write(&mut rest, &[1; 4096]).is_ok_and(|written| written > 0) {}
    talk(50);
    let domain = Domain::open(Some(&part.directory), 0).unwrap();
    let joined = Participant::join(&domain, Arc::new(Observed::default()));
    assert!(matches!(joined, Err(JoinError::Capacity(CapacityError::FileSystem { .. }))), "{joined:?}");
    assert!(matches!(big.grow(1 << 16), Err(CapacityError::FileSystem { .. })));
    let mut endpoints = Vec::new();
    let refused = loop {
        match a.participant.advertise(&endpoint(EndpointKind::Publisher, "/small"), None) {
            Ok(endpoint) => endpoints.push(endpoint),
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, CapacityError::FileSystem { .. }), "{refused}");
    let mut ports = Vec::new();
    while let Ok(port) = b.participant.port(None) {
        ports.push(port);
    }
    talk(50);
    // Now there is room again. (Memory that participants have reserved stays theirs.)
    drop((rest, loans));
    std::fs::remove_file(&filler).unwrap();
    std::fs::remove_file(&ballast).unwrap();
    assert!(big.lender().loan(megabytes << 16).is_ok());
    drop((big, endpoints, ports));
    let c = Station::join(&part.directory).spin();
    until("it knows both", || c.known().len() == 2);
    talk(20);
    c.is_fine();
    drop((a, b, c));
    let left: Vec<_> = std::fs::read_dir(part.directory.join("0")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    part.say("fine");
    std::process::exit(0);
}

#[test]
fn a_full_file_system_is_an_error_that_says_so_and_never_a_signal() {
    if has_namespaces("a small file system") {
        on_a_small_file_system(&Scene::new(), "fills", "1m");
    }
}

#[test]
fn a_small_file_system_as_in_containers_is_enough_for_what_fits() {
    if has_namespaces("a small file system") {
        on_a_small_file_system(&Scene::new(), "fills", "64m");
    }
}

/// A writer leaves while its reader has no room to take its connection up.
pub(crate) fn be_late(part: &Part) {
    let [reader, writer, other] = [0, 1, 2].map(|_| One::join_at(&part.directory));
    let mut messages = writer.writer();
    // So that the writer needs no more room for a second connection.
    reuse::connect(&mut messages, &writer.peer(&other));
    drop(other.incoming(&messages));
    // So that the reader needs more room for one more: its reserved records are in use.
    let mut others = Vec::new();
    for _ in 0..32 {
        let mut messages = other.writer();
        reuse::connect(&mut messages, &other.peer(&reader));
        others.push((reader.incoming(&messages), messages));
    }
    let to = writer.peer(&reader);
    let filler = part.directory.join("filler");
    let mut rest = std::fs::File::create(&filler).unwrap();
    while std::io::Write::write(&mut rest, &[1; 4096]).is_ok_and(|written| written > 0) {}
    reuse::connect(&mut messages, &to);
    (1..=3).for_each(|byte| reuse::publish(&mut messages, byte));
    writer.participant.leave();
    reader.has_seen_leave(writer.participant.id());
    assert!(reader.keeps.incoming.lock().is_empty(), "there is no room");
    drop(rest);
    std::fs::remove_file(&filler).unwrap();
    let mut late = reader.incoming(&messages);
    assert_eq!([1, 2, 3].map(|_| reuse::read(&mut late).unwrap()), [1, 2, 3]);
    assert!(late.is_over());
    drop((late, others));
    until("nothing is left of it", || {
        let mut entries = std::fs::read_dir(part.directory.join("0")).unwrap().map(Result::unwrap);
        let begins = format!("{:016x}", writer.participant.id());
        entries.all(|entry| !entry.file_name().to_str().unwrap().starts_with(&begins))
    });
    part.say("fine");
    std::process::exit(0);
}

#[test]
fn who_has_no_room_for_a_connection_takes_it_up_when_there_is_some() {
    if has_namespaces("a small file system") {
        on_a_small_file_system(&Scene::new(), "is late", "1m");
    }
}

/// A reader begins to listen while its writer has no room for a way to notify it.
pub(crate) fn be_deaf(part: &Part) {
    let [reader, writer] = [0, 1].map(|_| One::join_at(&part.directory));
    let mut messages = writer.writer();
    reuse::connect(&mut messages, &writer.peer(&reader));
    let mut incoming = reader.incoming(&messages);
    // More than the writer has reserved memory for.
    let ports: Vec<_> = (0..40).map(|_| reader.participant.port(None).unwrap()).collect();
    let filler = part.directory.join("filler");
    let mut rest = std::fs::File::create(&filler).unwrap();
    while std::io::Write::write(&mut rest, &[1; 4096]).is_ok_and(|written| written > 0) {}
    for port in &ports {
        incoming.set_port(Some(port));
        reuse::publish(&mut messages, 1);
        assert_eq!(reuse::read(&mut incoming), Some(1));
    }
    reuse::publish(&mut messages, 2);
    drop(rest);
    std::fs::remove_file(&filler).unwrap();
    until("the reader is notified", || ports[39].is_pending());
    assert_eq!(reuse::read(&mut incoming), Some(2));
    part.say("fine");
    std::process::exit(0);
}

#[test]
fn a_reader_that_could_not_be_notified_is_when_there_is_room() {
    if has_namespaces("a small file system") {
        on_a_small_file_system(&Scene::new(), "is deaf", "1m");
    }
}

/// A queue's reader joins while its writer has no room for it.
pub(crate) fn queue(part: &Part) {
    use sinew_shm::raw::{Queue, QueueOptions, Space, WriteError};
    let domain = Domain::open(Some(&part.directory), 0).unwrap();
    let [writing, reading, third, fourth] = [0; 4].map(|_| Space::join(&domain).unwrap());
    let writer = Queue::<u64>::open_in(&writing, "numbers").unwrap();
    writer.write(&1).unwrap();
    // The reader's process has the room that it needs in its tables.
    let [mut other, _another] =
        ["other", "another"].map(|name| Queue::<u64>::open_in(&reading, name).unwrap());
    other.join().unwrap();
    let mut reader = Queue::<u64>::open_with(&reading, "numbers", &QueueOptions::default()).unwrap();
    // The writer's process has none: its reserved records for connections are in use.
    let mut others = Vec::new();
    for number in 0..64 {
        let name = format!("in_use_{number}");
        let (writer, space) =
            (Queue::<u64>::open_in(&writing, &name).unwrap(), [&third, &fourth][number % 2]);
        let mut reader = Queue::<u64>::open_in(space, &name).unwrap();
        reader.join().unwrap();
        writer.write(&1).unwrap();
        others.push((writer, reader));
    }
    let filler = part.directory.join("filler");
    let mut rest = std::fs::File::create(&filler).unwrap();
    while std::io::Write::write(&mut rest, &[1; 4096]).is_ok_and(|written| written > 0) {}
    reader.join().unwrap();
    let refused = writer.write(&2).unwrap_err();
    assert!(matches!(refused, WriteError::Capacity(CapacityError::FileSystem { .. })), "{refused}");
    assert!(reader.read_within(Duration::ZERO).unwrap().is_none(), "nobody got it");
    drop(rest);
    std::fs::remove_file(&filler).unwrap();
    (3..6).for_each(|number| writer.write(&number).unwrap());
    let numbers = [3, 4, 5].map(|_| reader.read_within(PATIENCE).unwrap().unwrap().value);
    assert_eq!(numbers, [3, 4, 5]);
    drop((other, reader, _another, others));
    part.say("fine");
    std::process::exit(0);
}

#[test]
fn a_queue_with_a_reader_that_has_no_room_is_not_written() {
    if has_namespaces("a small file system") {
        on_a_small_file_system(&Scene::new(), "queues", "1m");
    }
}

/// Without inotify.
pub(crate) fn poll(part: &Part) {
    let mut all: Vec<Station> = (0..3).map(|_| Station::join(&part.directory).spin()).collect();
    until("all know all", || all.iter().all(|one| one.known().len() == 2));
    for _ in 0..50 {
        for one in &all {
            one.publish(PATIENCE).unwrap();
        }
    }
    drop(all.pop());
    until("its end is noticed", || all.iter().all(|one| one.observed.left.load(Ordering::SeqCst) == 1));
    part.say("ready");
    until("the parent's end is noticed, too", || {
        all.iter().all(|one| one.observed.left.load(Ordering::SeqCst) == 2)
    });
    for one in &all {
        one.is_fine();
    }
    drop(all);
    part.say("fine");
    std::process::exit(0);
}

#[test]
fn where_no_inotify_is_to_be_had_participants_look_by_themselves() {
    if !has_namespaces("a limit of inotify instances") {
        return;
    }
    let scene = Scene::new();
    let limit = "echo 0 > /proc/sys/user/max_inotify_instances && exec \"$0\" \"$@\"";
    let mut child = scene.child_by("polls", "", &["unshare", "-r", "sh", "-c", limit]);
    child.says("ready");
    let mut other = scene.child("talks", "0 0");
    other.says("published 20");
    other.kill();
    assert!(child.wait().success(), "{:?}", child.report());
    assert_eq!(child.report(), ["ready", "fine"]);
    assert_eq!(scene.files(), Vec::<String>::new());
}

#[test]
fn more_messages_in_use_than_there_are_holds_are_copied() {
    const HOLDS: usize = 4095;
    let scene = Scene::new();
    let domain = Domain::open(Some(scene.base()), 0).unwrap();
    let keeps = Arc::new(Keeps::default());
    let reading = Participant::join(&domain, keeps.clone()).unwrap();
    let _target = reading.advertise(&endpoint(EndpointKind::Subscription, "/held"), None).unwrap();
    let writing = Station::join_as(scene.base(), Observed::default());
    writing.observed.waits_for_nobody.store(true, Ordering::SeqCst);
    let peer = writing.readers().pop().unwrap();
    let source = writing.participant.advertise(&endpoint(EndpointKind::Publisher, "/held"), None).unwrap();
    let mut writer = Writer::new(Arc::new(source), HOLDS + 10, 0, 1).unwrap();
    let connect = Connect { target: None, first: 1, live: 1, depth: HOLDS + 10, capacity: None };
    writer.connect(&peer, &connect).unwrap();
    let key = writer.endpoint().key();
    until("it is connected", || keeps.incoming.lock().iter().any(|incoming| incoming.source() == key));
    let mut all = keeps.incoming.lock();
    let incoming = all.iter_mut().find(|incoming| incoming.source() == key).unwrap();
    let (mut holds, mut copies, mut buffer) = (Vec::new(), 0, Vec::new());
    for number in 1..=HOLDS as u64 + 10 {
        let encoded = encoded(3 + number * 6); // 190 bytes
        let mut loan = writer.lender().loan(encoded.len()).unwrap();
        loan.bytes_mut().copy_from_slice(&encoded);
        writer.publish_lent(number, &Head::default(), loan.share());
        let message = incoming.read(&mut buffer).unwrap().unwrap();
        assert_eq!(message.number, number);
        match message.hold {
            Some(hold) => holds.push((encoded, hold)),
            None => {
                assert_eq!(buffer, encoded);
                copies += 1;
            }
        }
    }
    assert_eq!((holds.len(), copies), (HOLDS, 10));
    assert_eq!((reading.copied(), peer.copied(), writing.participant.copied()), (10, 10, 0));
    assert!(holds.iter().all(|(encoded, hold)| hold.bytes() == &encoded[..]));
    // A hold that is given back is available again.
    holds.pop();
    let encoded = encoded(3);
    let mut loan = writer.lender().loan(encoded.len()).unwrap();
    loan.bytes_mut().copy_from_slice(&encoded);
    writer.publish_lent(HOLDS as u64 + 11, &Head::default(), loan.share());
    assert!(incoming.read(&mut buffer).unwrap().unwrap().hold.is_some());
    assert_eq!(peer.copied(), 10);
}

/// Many participants in one process. Words: how many, and how many there are in all processes.
pub(crate) fn crowd(part: &Part) {
    allow_descriptors(|_| 1024); // as many as usual
    let [own, all] = [0, 1].map(|word: usize| part.words[word].parse::<usize>().unwrap());
    let domain = Domain::open(Some(&part.directory), 0).unwrap();
    let observed: Vec<_> = (0..own).map(|_| Arc::new(Observed::default())).collect();
    let mut participants = Vec::new();
    for observed in &observed {
        let participant = Participant::join(&domain, observed.clone()).unwrap();
        let reads = participant.advertise(&endpoint(EndpointKind::Subscription, "/all"), None).unwrap();
        participants.push((participant, reads));
    }
    let count =
        |what: fn(&Observed) -> usize| observed.iter().map(move |observed| what(observed)).min().unwrap();
    until("all are known", || count(|observed| observed.appeared.load(Ordering::SeqCst)) == all - 1);
    part.say("all are known");
    until("a quarter is gone", || count(|observed| observed.left.load(Ordering::SeqCst)) == own);
    part.say("a quarter is gone");
    until("the parent says so", || part.directory.join("enough").exists());
    // A dropped participant may live as long as its helper thread looks around.
    participants.iter().for_each(|(participant, _)| participant.leave());
    std::process::exit(0);
}

#[test]
fn hundreds_of_participants_in_a_few_processes_know_each_other_and_notice_an_end() {
    let scene = Scene::new();
    // Fifty in the deep check: more than the inotify instances of one user.
    let each: usize = std::env::var("SINEW_CROWD").ok().map_or(20, |each| each.parse().unwrap());
    let mut children: Vec<_> =
        (0..4).map(|_| scene.child("crowds", &format!("{each} {}", 4 * each))).collect();
    for child in &mut children {
        child.says("all are known");
    }
    children.pop().unwrap().kill();
    for child in &mut children {
        child.says("a quarter is gone");
    }
    until("their files are gone", || {
        scene.files().iter().filter(|file| file.ends_with(".control")).count() == 3 * each
    });
    std::fs::write(scene.base().join("enough"), "").unwrap();
    for child in &mut children {
        assert!(child.wait().success());
    }
    assert_eq!(scene.files(), Vec::<String>::new());
}

/// Limits the number of descriptors of this process; open ones stay.
pub(crate) fn allow_descriptors(most: impl FnOnce(libc::rlimit) -> u64) {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a valid `rlimit` for the duration of the call.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) }, 0);
    limit.rlim_cur = most(limit);
    // SAFETY: as above.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }, 0);
}

/// Reads messages of others, for a while without an available descriptor. Words: the message that
/// it can't read then.
pub(crate) fn run_short(part: &Part) {
    let done = |what: &str| part.directory.join(what).exists();
    let station = Station::join(&part.directory).spin();
    until("they know each other", || station.known().len() == 1);
    let (writer, _) = *station.known().keys().next().unwrap();
    let next = || station.progress(writer).unwrap().next;
    until("the first message arrives", || next() == 2);
    part.say("first");
    // It may have come by the first look: what notifies of later ones must be open as well.
    until("the writer announces its messages", || done("announced"));
    station.participant.refresh();
    allow_descriptors(|_| 0);
    part.say("short");
    until("there is something that it can't open", || done("published"));
    let stuck = part.words[0].parse().unwrap();
    until("what it can read arrives", || next() == stuck);
    std::thread::sleep(Duration::from_millis(100));
    station.is_fine();
    assert_eq!(next(), stuck);
    allow_descriptors(|limit| limit.rlim_max);
    until("all of it arrives, though nothing more is announced", || next() == 9);
    until("others are found", || station.known().len() == 2);
    station.is_fine();
    part.say("fine");
    drop(station);
    std::process::exit(0);
}

#[test]
fn a_reader_that_has_no_descriptors_for_a_while_misses_nothing_and_reads_on() {
    for (is_moved, stuck) in [(true, "2"), (false, "4")] {
        run_short_of_descriptors(is_moved, stuck);
    }
}

/// The reader has yet to open the ring if the ring is moved, or otherwise the segment of the first
/// message that doesn't fit into the ring.
fn run_short_of_descriptors(is_moved: bool, stuck: &str) {
    let scene = Scene::new();
    let station = Station::join(scene.base()).spin();
    let mut child = scene.child("runs short", stuck);
    until("they know each other", || station.known().len() == 1);
    assert_eq!(station.publish(PATIENCE), Some(1));
    child.says("first");
    station.participant.refresh();
    std::fs::write(scene.base().join("announced"), "").unwrap();
    child.says("short");
    station.participant.refresh();
    if is_moved {
        station.with_writer(|writer| writer.grow(1 << 15)).unwrap(); // more than the arena has
    }
    for number in 2..9 {
        assert_eq!(station.publish(PATIENCE), Some(number));
    }
    let late = Station::join(scene.base()).spin();
    std::fs::write(scene.base().join("published"), "").unwrap();
    child.says("fine");
    assert!(child.wait().success());
    station.is_fine();
    late.is_fine();
}
