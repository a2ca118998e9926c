//! A participant that can't map others' memory does no harm to those that can.

use crate::process::{Part, Scene};
use crate::reuse::{Keeps, One};
use crate::station::{endpoint, until};
use sinew_shm::inspect::*;
use sinew_shm::transport::*;
use sinew_shm::*;
use std::sync::Arc;
use std::time::Duration;

/// Number of messages, each in a chunk of its own, that no participant has read when their
/// publisher dies.
const MESSAGES: u64 = 260;
const LENGTH: usize = 5000;

/// Longer than the time until everything is checked without a sign.
const SWEPT: Duration = Duration::from_millis(2500);

/// Publishes to the only reader, and waits to be killed.
pub(crate) fn leave_much(part: &Part) {
    let one = One::join_at(&part.directory);
    let reader = one.first_peer();
    let source = one.participant.advertise(&endpoint(EndpointKind::Publisher, "/one"), None).unwrap();
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

/// From now on no thread of this process can map a control segment, as if there were no memory for
/// it. A limit of the address space would do that as well, but would also affect whatever else a
/// thread needs at the time.
fn map_no_more_segments() {
    const LONG: u32 = 1 << 20;
    let instruction = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let load = |offset| instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, offset);
    // The lower half; after the call's number, the machine, the address.
    let argument = |nth: u32| load(16 + 8 * nth);
    let test = |code, jf, k| instruction(libc::BPF_JMP | code | libc::BPF_K, 0, jf, k);
    let end = |how| instruction(libc::BPF_RET | libc::BPF_K, 0, 0, how);
    let mut filter = [
        load(0), // the call's number
        test(libc::BPF_JEQ, 5, libc::SYS_mmap as u32),
        argument(1),
        test(libc::BPF_JGE, 3, LONG),
        argument(3),
        test(libc::BPF_JSET, 1, libc::MAP_SHARED.cast_unsigned()),
        end(libc::SECCOMP_RET_ERRNO | libc::ENOMEM.cast_unsigned()),
        end(libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: takes numbers only.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, 0);
    let (mode, all_threads) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_TSYNC);
    // SAFETY: the program and its instructions live as long as the call, which copies them.
    let result = unsafe { libc::syscall(libc::SYS_seccomp, mode, all_threads, &raw const program) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
}

/// Joins, and then can't map others' memory.
pub(crate) fn be_blind(part: &Part) {
    let one = One::join_silently(&part.directory);
    map_no_more_segments();
    let domain = one.participant.domain();
    let refused = Participant::join(domain, Arc::new(Keeps::default())).expect_err("it maps nothing");
    assert!(refused.to_string().contains("memory"), "{refused}");
    part.say("blind");
    until("the publisher is dead", || part.directory.join("dead").exists());
    let begin = std::time::Instant::now();
    while begin.elapsed() < SWEPT {
        one.participant.refresh();
        std::thread::sleep(Duration::from_millis(10));
    }
    // Nor does a participant that leaves, or a clean-up by hand.
    Snapshot::take(one.participant.domain()).unwrap().clean().unwrap();
    one.participant.leave();
    part.say("looked");
    std::process::exit(0);
}

/// A participant that can't map what it finds looks around while a reader has yet to read a dead
/// one's messages. `met`: it has seen the dead one alive.
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
