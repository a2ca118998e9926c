//! A participant that can't map others' memory does no harm to those who can.

use crate::process::{Part, Scene};
use crate::reuse::One;
use crate::station::{entity, until};
use sinew_shm::*;
use std::sync::Arc;
use std::time::Duration;

/// Messages that no participant has read yet when their publisher dies, each in a chunk of its own.
const MESSAGES: u64 = 260;
const LENGTH: usize = 5000;

/// Longer than it takes until everything is looked at without a sign.
const SWEPT: Duration = Duration::from_millis(2500);

/// Publishes to the only one who reads, and waits to be killed.
pub(crate) fn leave_much(part: &Part) {
    let one = One::join_at(&part.directory);
    let reader = one.first_peer();
    let source = one.participant.advertise(&entity(EntityKind::Publisher, "/one"), None).unwrap();
    let depth = MESSAGES as usize;
    let mut writer = Writer::new(Arc::new(source), depth, 0, 1).unwrap();
    let connect = Connect { target: None, first: 1, live: 1, depth, capacity: Some(depth) };
    writer.connect(&reader, &connect).unwrap();
    for number in 1..=MESSAGES {
        let mut loan = writer.lender().loan(LENGTH).unwrap();
        loan.bytes_mut().fill(number as u8);
        writer.publish_lent(number, &Head::default(), loan.share());
    }
    part.say(&format!("published {}", one.participant.id()));
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// Joins, and then has no room to map anything.
pub(crate) fn be_blind(part: &Part) {
    let one = One::join_silently(&part.directory);
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = pages.split(' ').next().unwrap().parse().unwrap();
    // Enough for what the test itself needs, too little for a control segment.
    let bytes = (pages * 4096) + (16 << 20);
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: a valid `rlimit` for the duration of the call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
    part.say("blind");
    until("the publisher is dead", || part.directory.join("dead").exists());
    let begin = std::time::Instant::now();
    while begin.elapsed() < SWEPT {
        one.participant.refresh();
        std::thread::sleep(Duration::from_millis(10));
    }
    // Neither does who leaves, nor who cleans up by hand.
    Census::take(one.participant.domain()).unwrap().clean().unwrap();
    one.participant.leave();
    part.say("looked");
    std::process::exit(0);
}

/// One that can't map what it finds looks about while a reader has yet to read what a dead one published. `met`: it has seen the
/// dead one alive.
fn what_is_left_arrives(met: bool) {
    let scene = Scene::new();
    let reader = One::join(&scene);
    let mut blind = scene.child("is blind", "");
    blind.says("blind");
    if !met {
        blind.stop();
    }
    let mut writer = scene.child("leaves much", "");
    let id: u64 = writer.says("published ").parse().unwrap();
    let mut incoming = reader.only_incoming();
    writer.kill();
    reader.has_seen_leave(id);
    std::fs::write(scene.base().join("dead"), "").unwrap();
    blind.signal(libc::SIGCONT);
    blind.says("looked");
    let mut buffer = Vec::new();
    for number in 1..=MESSAGES {
        let message = incoming.read(&mut buffer).unwrap().expect("it is there");
        assert_eq!((message.number, message.missed), (number, 0));
        let hold = message.hold.expect("it is read where it lies");
        assert_eq!(hold.bytes(), [number as u8; LENGTH]);
    }
    assert!(incoming.read(&mut buffer).unwrap().is_none() && incoming.is_over());
    drop(incoming);
    until("then they go", || !scene.files().iter().any(|name| name.starts_with(&format!("{id:016x}"))));
}

#[test]
fn what_one_that_cannot_map_it_finds_dead_is_left_to_those_who_read_it() {
    what_is_left_arrives(false);
}

#[test]
fn what_one_that_could_not_map_it_sees_die_is_left_to_those_who_read_it() {
    what_is_left_arrives(true);
}
