//! Writers with room for only a few of their messages: something makes room as long as anything
//! can.

use crate::limits::{allow_descriptors, has_namespaces, on_a_small_file_system};
use crate::process::{Part, Scene};
use crate::reuse::One;
use crate::station::until;
use sinew_shm::transport::*;
use sinew_shm::*;
use std::fs::File;
use std::io::Write as _;

/// Bytes of a message.
const LENGTH: usize = 600_000;

fn publish(writer: &mut Writer, length: usize, byte: u8) -> Result<u64, CapacityError> {
    let mut loan = writer.loan(length)?;
    loan.bytes_mut().fill(byte); // raises a signal if the space isn't there
    let number = writer.next();
    writer.publish_lent(number, &Head::default(), loan.share());
    Ok(number)
}

/// A writer and its reader.
fn pair(part: &Part, capacity: Option<usize>) -> (One, One, Writer, Incoming) {
    let [reader, writer] = [0, 1].map(|_| One::join_at(&part.directory));
    let mut messages = writer.writer();
    messages.grow(16).unwrap();
    let connect = Connect { target: None, first: 1, live: 1, depth: 16, capacity };
    messages.connect(&writer.peer(&reader), &connect).unwrap();
    let incoming = reader.incoming(&messages);
    (reader, writer, messages, incoming)
}

/// Leaves this many KB.
fn fill_but(part: &Part, kilobytes: u64) -> std::path::PathBuf {
    let path = part.directory.join("ballast");
    let mut ballast = File::create(&path).unwrap();
    while ballast.write(&[1; 4096]).is_ok_and(|written| written > 0) {}
    let length = ballast.metadata().unwrap().len();
    ballast.set_len(length.saturating_sub(kilobytes << 10)).unwrap();
    path
}

/// On a file system of 4 MB, with rings that are to keep 16 messages of 600 KB.
pub(crate) fn with_little_room(part: &Part) {
    let (_reading, writing, mut writer, mut incoming) = pair(part, None);
    let mut buffer = Vec::new();
    let mut read = |incoming: &mut Incoming| incoming.read(&mut buffer).unwrap();
    // A reader that keeps up misses nothing.
    for byte in 1..100 {
        publish(&mut writer, LENGTH, byte).unwrap();
        let message = read(&mut incoming).unwrap();
        assert_eq!((message.missed, message.hold.unwrap().bytes()), (0, &[byte; LENGTH][..]));
    }
    // A reader that doesn't keep up misses the oldest messages, as few as possible, and finds the
    // newest.
    for byte in 100..140 {
        publish(&mut writer, LENGTH, byte).unwrap();
    }
    let message = read(&mut incoming).unwrap();
    let fitting = 140 - message.number;
    assert!(fitting >= 5, "of 4 MB, {fitting} messages of 600 KB");
    assert_eq!(message.missed, message.number - 100);
    let first = message.number as u8;
    let kept = [message.hold.unwrap(), read(&mut incoming).unwrap().hold.unwrap()];
    // The messages that it keeps stay, although nothing is left in the ring.
    for byte in 200..220 {
        publish(&mut writer, LENGTH, byte).unwrap();
    }
    let bytes = kept.each_ref().map(|hold| hold.bytes());
    assert!(bytes.iter().zip([first, first + 1]).all(|(&bytes, byte)| bytes == [byte; LENGTH]));
    drop(kept);
    while read(&mut incoming).is_some() {}

    // A reader that must get every message does; as soon as it has read, there is room.
    let mut other = writing.writer();
    other.grow(16).unwrap();
    let reader = One::join_at(&part.directory);
    let connect = Connect { target: None, first: 1, live: 1, depth: 16, capacity: Some(16) };
    other.connect(&writing.peer(&reader), &connect).unwrap();
    let mut bound = reader.incoming(&other);
    let mut next = 1;
    let mut round = |writer: &mut Writer, bound: &mut Incoming| {
        let mut published = 0;
        let refused = loop {
            match publish(writer, LENGTH, writer.next() as u8) {
                Ok(_) => published += 1,
                Err(refused) => break refused,
            }
            assert!(published < 7, "more than there can be");
        };
        assert!(matches!(refused, CapacityError::FileSystem { .. }), "{refused}");
        for _ in 0..published {
            let message = read(bound).unwrap();
            assert_eq!((message.number, message.missed), (next, 0));
            assert_eq!(message.hold.unwrap().bytes(), [next as u8; LENGTH]);
            next += 1;
        }
        assert!(read(bound).is_none());
        published
    };
    // The first writer's messages are read, so all of its memory is available.
    writer.let_go();
    let fitting = [0, 1, 2].map(|_| round(&mut other, &mut bound));
    assert!(fitting.iter().all(|&fitting| fitting >= 5), "{fitting:?}");
    drop((writer, incoming));

    // Small messages use the chunks of large ones if nothing else is left.
    publish(&mut other, LENGTH, 1).unwrap();
    drop(read(&mut bound));
    let ballast = fill_but(part, 0);
    for byte in 0..50 {
        publish(&mut other, 2000, byte).unwrap();
        assert_eq!(read(&mut bound).unwrap().hold.unwrap().bytes(), [byte; 2000]);
    }
    // And large ones are available again when there is room.
    std::fs::remove_file(ballast).unwrap();
    publish(&mut other, LENGTH, 7).unwrap();
    assert_eq!(read(&mut bound).unwrap().hold.unwrap().bytes(), [7; LENGTH]);

    drop((other, bound, reader, writing, _reading));
    until("nothing is left", || std::fs::read_dir(part.directory.join("0")).unwrap().count() == 0);
    part.say("fine");
    std::process::exit(0);
}

#[test]
fn where_there_is_room_for_few_messages_the_oldest_make_room_for_the_newest() {
    if has_namespaces("a small file system") {
        on_a_small_file_system(&Scene::new(), "has little room", "4m");
    }
}

/// Late joiners get the retained messages, on a file system of 4 MB, while more are published.
pub(crate) fn with_late_joiners(part: &Part) {
    for must_get_all in [true, false] {
        let [reader, writing] = [0, 1].map(|_| One::join_at(&part.directory));
        let mut writer = writing.writer();
        writer.grow(16).unwrap();
        writer.retain(16);
        for byte in 1..4 {
            publish(&mut writer, LENGTH, byte).unwrap();
        }
        writer.hand_over(&writing.peer(&reader), reader.key(), 1, must_get_all).unwrap();
        let mut late = reader.incoming(&writer);
        let tries = (4..30).map(|byte| publish(&mut writer, LENGTH, byte));
        let refused = tries.filter(Result::is_err).count();
        let mut buffer = Vec::new();
        if must_get_all {
            assert!(refused > 20, "{refused} of 26 have no room beside what it has yet to read");
            for byte in 1..4 {
                let message = late.read(&mut buffer).unwrap().unwrap();
                assert_eq!((message.number, message.missed), (u64::from(byte), 0));
                assert_eq!(message.hold.unwrap().bytes(), [byte; LENGTH]);
            }
        } else {
            assert_eq!(refused, 0, "no other late joiner is in the way");
        }
        // The messages that it has read make room.
        drop(late);
        for byte in 30..50 {
            publish(&mut writer, LENGTH, byte).unwrap();
        }
    }
    part.say("fine");
    std::process::exit(0);
}

#[test]
fn a_late_joiner_that_must_get_all_does_where_there_is_little_room() {
    if has_namespaces("a small file system") {
        on_a_small_file_system(&Scene::new(), "has late joiners", "4m");
    }
}

/// The writer's own process keeps what it publishes, on a file system of 4 MB.
pub(crate) fn keep_what_is_sent(part: &Part) {
    let (_reading, _writing, mut writer, mut incoming) = pair(part, None);
    let mut buffer = Vec::new();
    let mut read_all = |incoming: &mut Incoming| {
        let mut numbers = Vec::new();
        while let Some(message) = incoming.read(&mut buffer).unwrap() {
            assert_eq!(message.hold.unwrap().bytes(), [message.number as u8; LENGTH]);
            numbers.push((message.number, message.missed));
        }
        numbers
    };
    let mut kept = Vec::new();
    let mut send = |writer: &mut Writer, keep: bool| {
        let mut loan = writer.loan(LENGTH)?;
        let number = writer.next();
        loan.bytes_mut().fill(number as u8);
        let lent = loan.share();
        kept.extend(keep.then(|| lent.clone()));
        writer.publish_lent(number, &Head::default(), lent);
        Ok::<_, CapacityError>(())
    };
    // One message that isn't kept comes in between: only that one can make room.
    for keep in [true, true, false] {
        send(&mut writer, keep).unwrap();
    }
    while send(&mut writer, true).is_ok() {}
    let last = writer.next() - 1;
    assert!((5..8).contains(&last), "{last} messages of 600 KB in 4 MB");
    let expected = (1..=last).filter(|&number| number != 3);
    let expected: Vec<_> = expected.map(|number| (number, u64::from(number == 4))).collect();
    assert_eq!(read_all(&mut incoming), expected, "nothing went in vain");
    // Messages that it no longer keeps make room.
    kept.clear();
    for _ in 0..20 {
        let number = writer.next();
        publish(&mut writer, LENGTH, number as u8).unwrap();
    }
    // Without descriptors, unread messages stay.
    read_all(&mut incoming);
    let first = writer.next();
    for number in first..first + 3 {
        publish(&mut writer, LENGTH, number as u8).unwrap();
    }
    allow_descriptors(|_| 0);
    let refused = writer.loan(2 * LENGTH).unwrap_err();
    allow_descriptors(|limit| limit.rlim_max);
    assert!(matches!(refused, CapacityError::System(_)), "{refused}");
    assert_eq!(read_all(&mut incoming), [0, 1, 2].map(|more| (first + more, 0)));
    part.say("fine");
    std::process::exit(0);
}

#[test]
fn what_would_make_no_room_stays_for_its_readers() {
    if has_namespaces("a small file system") {
        on_a_small_file_system(&Scene::new(), "keeps what it sends", "4m");
    }
}

/// Other files have filled a file system of 4 MB: the unread messages would not make enough room
/// beyond what is reserved for participants that join.
pub(crate) fn be_short(part: &Part) {
    let (_reading, _writing, mut writer, mut incoming) = pair(part, None);
    (1..=2).for_each(|byte| _ = publish(&mut writer, LENGTH, byte).unwrap());
    let ballast = fill_but(part, 0);
    let refused = writer.loan(1_100_000).unwrap_err();
    assert!(matches!(refused, CapacityError::FileSystem { free: 0, .. }), "{refused}");
    let mut buffer = Vec::new();
    for byte in 1..=2 {
        let message = incoming.read(&mut buffer).unwrap().unwrap();
        assert_eq!((message.missed, message.hold.unwrap().bytes()), (0, &[byte; LENGTH][..]));
    }
    std::fs::remove_file(ballast).unwrap();
    assert!(writer.loan(1_100_000).is_ok());
    part.say("fine");
    std::process::exit(0);
}

#[test]
fn what_would_leave_too_little_for_those_who_join_stays_for_its_readers() {
    if has_namespaces("a small file system") {
        on_a_small_file_system(&Scene::new(), "is short", "4m");
    }
}

/// One reader keeps messages that another one has yet to read, on a file system of 4 MB.
pub(crate) fn keep_elsewhere(part: &Part) {
    let (_reading, writing, mut writer, mut slow) = pair(part, None);
    let other = One::join_at(&part.directory);
    let connect = Connect { target: None, first: 1, live: 1, depth: 16, capacity: None };
    writer.connect(&writing.peer(&other), &connect).unwrap();
    let mut keeping = other.incoming(&writer);
    let mut buffer = Vec::new();
    let mut read = |incoming: &mut Incoming| {
        let message = incoming.read(&mut buffer).unwrap()?;
        let hold = message.hold.unwrap();
        assert_eq!(hold.bytes(), [message.number as u8; LENGTH]);
        Some((message.number, message.missed, hold))
    };
    let send = |writer: &mut Writer| publish(writer, LENGTH, writer.next() as u8);
    (0..2).for_each(|_| assert!(send(&mut writer).is_ok()));
    let kept = [read(&mut keeping).unwrap(), read(&mut keeping).unwrap()];
    // One message that isn't kept comes after them: it is the first to make room.
    let mut last = 0;
    while last < 9 {
        last = send(&mut writer).unwrap();
    }
    let mut seen = Vec::new();
    while let Some((number, missed, _)) = read(&mut slow) {
        seen.push((number, missed));
    }
    assert_eq!(seen[..2], [(1, 0), (2, 0)], "they would have made no room");
    assert_eq!(seen[2].1, seen[2].0 - 3, "the next ones did");
    assert_eq!(seen.last().unwrap().0, last);
    assert!(seen.len() >= 5, "{seen:?}");
    drop(kept);
    // A loan for which no room can be made costs no existing message.
    let first = writer.next();
    for _ in 0..3 {
        send(&mut writer).unwrap();
    }
    let refused = writer.loan(10 * LENGTH).unwrap_err();
    assert!(matches!(refused, CapacityError::FileSystem { .. }), "{refused}");
    let seen = [0, 1, 2].map(|_| read(&mut slow).map(|(number, missed, _)| (number, missed)));
    assert_eq!(seen, [0, 1, 2].map(|more| Some((first + more, 0))));
    part.say("fine");
    std::process::exit(0);
}

#[test]
fn what_another_reader_keeps_stays_for_those_that_have_yet_to_read_it() {
    if has_namespaces("a small file system") {
        on_a_small_file_system(&Scene::new(), "keeps elsewhere", "4m");
    }
}

/// No more files can be opened.
pub(crate) fn have_no_descriptors(part: &Part) {
    let (_reading, writing, mut writer, mut incoming) = pair(part, None);
    let mut buffer = Vec::new();
    let mut read = |incoming: &mut Incoming| incoming.read(&mut buffer).unwrap();
    publish(&mut writer, LENGTH, 1).unwrap();
    assert!(read(&mut incoming).is_some());
    allow_descriptors(|_| 0);
    for byte in 2..50 {
        publish(&mut writer, 20_000, byte).unwrap();
        assert_eq!(read(&mut incoming).unwrap().hold.unwrap().bytes(), [byte; 20_000], "in a larger chunk");
    }
    // A message that a reader has yet to read makes room, as it would without memory.
    publish(&mut writer, 20_000, 50).unwrap();
    publish(&mut writer, 20_000, 51).unwrap();
    let message = read(&mut incoming).unwrap();
    assert_eq!((message.missed, message.hold.unwrap().bytes()), (1, &[51; 20_000][..]));
    // Another writer has none, and this one has none that is larger.
    assert!(matches!(writing.writer().loan(20_000), Err(CapacityError::System(_))));
    publish(&mut writer, 20_000, 52).unwrap();
    assert!(matches!(writer.loan(2 * LENGTH), Err(CapacityError::System(_))));
    let message = read(&mut incoming).unwrap();
    assert_eq!((message.missed, message.hold.unwrap().bytes()), (0, &[52; 20_000][..]));
    part.say("fine");
    std::process::exit(0);
}

#[test]
fn without_descriptors_a_larger_chunk_is_used_again() {
    let scene = Scene::new();
    let mut child = scene.child("has no descriptors", "");
    assert!(child.wait().success(), "{:?}", child.report());
    assert_eq!(child.report(), ["fine"]);
}

/// Publishes large messages until it is killed; now and then it has drafts that it doesn't publish.
/// Words: the reader's id, and a number that distinguishes it from others.
pub(crate) fn publish_images(part: &Part) {
    let writing = One::join_at(&part.directory);
    let [reader, seed] = [0, 1].map(|word: usize| part.words[word].parse::<u64>().unwrap());
    let find = || writing.keeps.peers.lock().iter().find(|peer| peer.id() == reader).cloned();
    until("it finds its reader", || find().is_some());
    let mut writer = writing.writer();
    writer.grow(16).unwrap();
    let connect = Connect { target: None, first: 1, live: 1, depth: 16, capacity: None };
    writer.connect(&find().unwrap(), &connect).unwrap();
    let mut drafts = Vec::new();
    for number in 1.. {
        if (number + seed) % 5 == 0 {
            drafts.extend(writer.lender().loan(LENGTH)); // there may be no room
        }
        if (number + seed) % 7 == 0 {
            drafts.clear();
        }
        publish(&mut writer, LENGTH, number as u8).unwrap();
        part.say(&format!("published {number}"));
        writer.let_go();
    }
}

/// Reads messages of children that are killed at any moment, and keeps some of them. Words: the
/// size of the file system.
pub(crate) fn see_others_die(part: &Part) {
    let reading = One::join_at(&part.directory);
    let own = format!("{:016x}", reading.participant.id());
    let mut kept: Vec<(u8, Hold)> = Vec::new();
    let mut buffer = Vec::new();
    for round in 0..8u64 {
        let mut child = part.child("publishes images", &format!("{} {round}", reading.participant.id()));
        let mut incoming = None;
        until("it is connected", || {
            incoming = reading.keeps.incoming.lock().pop();
            incoming.is_some()
        });
        let mut incoming: Incoming = incoming.unwrap();
        let mut last = 0;
        let mut is_killed = false;
        until("all is read that it has published", || {
            while let Some(message) = incoming.read(&mut buffer).unwrap() {
                assert_eq!(message.number, last + message.missed + 1);
                last = message.number;
                let hold = message.hold.unwrap();
                assert!(hold.bytes() == [last as u8; LENGTH], "message {last} is torn");
                // A message of a process that is gone stays readable, but its memory stays in use
                // until it is released.
                if last % 3 == 0 {
                    kept.push((last as u8, hold));
                }
                if kept.len() > 2 {
                    kept.remove(0);
                }
                if last >= 10 + 7 * round && !is_killed {
                    child.kill();
                    is_killed = true;
                }
            }
            is_killed && incoming.is_over()
        });
        let published = child.report().len() as u64;
        assert!(last == published || last == published + 1, "{last} of {published} messages were read");
        assert!(kept.iter().all(|(byte, hold)| hold.bytes() == [*byte; LENGTH]));
        drop(incoming);
        kept.clear();
        reading.keeps.peers.lock().clear(); // they keep its memory mapped
        until("nothing is left of it", || {
            let files = std::fs::read_dir(part.directory.join("0")).unwrap();
            files.map(Result::unwrap).all(|file| file.file_name().to_str().unwrap().starts_with(&own))
        });
    }
    drop(reading);
    part.say("fine");
    std::process::exit(0);
}

#[test]
fn who_dies_in_a_small_file_system_with_large_drafts_leaves_all_of_it_to_others() {
    if has_namespaces("a small file system") {
        on_a_small_file_system(&Scene::new(), "sees others die", "6m");
    }
}
