//! Topics.

use crate::processes::{Directory, LONG, next_line, role, say, until};
use sinew_shm::raw::{Topic, WriteError};
use sinew_shm::{CapacityError, Domain};
use std::time::Instant;

#[test]
fn a_late_reader_has_the_newest_value_once() {
    const TEST: &str = "topics::a_late_reader_has_the_newest_value_once";
    if role().is_some() {
        let topic = Topic::<u64>::open("speed").unwrap();
        for speed in 1..=1000 {
            topic.write(&speed).unwrap();
        }
        say("written");
        next_line();
        topic.write(&2000).unwrap();
        next_line();
        return;
    }
    let directory = Directory::new();
    let mut writer = directory.start(TEST, "writer");
    assert_eq!(writer.next_line(), "written");
    let space = directory.space();
    let mut late = Topic::<u64>::open_in(&space, "speed").unwrap();
    let found = late.read().unwrap().unwrap();
    assert_eq!(*found, 1000);
    assert_ne!(found.origin.writer, space.id());
    assert_eq!(late.read().unwrap(), None, "nothing new");

    writer.say("go on");
    let mut next = None;
    until("the next value comes", || {
        next = late.read().unwrap();
        next.is_some()
    });
    let next = next.unwrap();
    assert_eq!(*next, 2000);
    assert!(next.origin.stamp > found.origin.stamp && next.origin.writer == found.origin.writer);
    writer.say("end");
    writer.end();
    drop((late, space));
    directory.becomes_empty();
}

#[test]
fn values_may_have_any_size() {
    let directory = Directory::new();
    let (here, there) = (directory.space(), directory.space());
    let topic = Topic::<[u8]>::open_in(&here, "bytes").unwrap();
    let mut other = Topic::<[u8]>::open_in(&there, "bytes").unwrap();
    let mut own = Topic::<[u8]>::open_in(&here, "bytes").unwrap();
    let mut value = Vec::new();
    // Two processes that don't know each other yet need a moment.
    topic.write(b"first").unwrap();
    until("they know each other", || other.read_into(&mut value).unwrap().is_some());
    assert!(own.read_into(&mut value).unwrap().is_some());
    for length in [0, 1, 7, 200, 201, 4096, 100_000, 20 << 20, 3, 5_000_000] {
        let sent: Vec<u8> = (0..length).map(|i: u32| (i * 7 + length).to_le_bytes()[0]).collect();
        topic.write(&sent).unwrap();
        for reader in [&mut other, &mut own] {
            assert!(reader.read_into(&mut value).unwrap().is_some(), "{length} bytes");
            assert!(value == sent, "{length} bytes");
            assert_eq!(reader.read_into(&mut value).unwrap(), None);
        }
    }
    drop((topic, other, own, here, there));
    directory.becomes_empty();
}

/// In the process that wrote it.
#[test]
fn a_late_reader_beside_the_writer_has_the_last_value() {
    let directory = Directory::new();
    let space = directory.space();
    let topic = Topic::<[u8]>::open_in(&space, "bytes").unwrap();
    let newest = |value: &mut Vec<u8>| {
        Topic::<[u8]>::open_in(&space, "bytes").unwrap().read_into(value).unwrap().is_some()
    };
    let mut value = Vec::new();
    assert!(!newest(&mut value), "nothing was written");
    for length in [0, 7, 200, 201, 100_000] {
        let sent: Vec<u8> = (0..length).map(|i: u32| (i * 7 + length).to_le_bytes()[0]).collect();
        topic.write(&[0]).unwrap();
        topic.write(&sent).unwrap();
        assert!(newest(&mut value) && value == sent, "{length} bytes");
    }
    drop((topic, space));
    directory.becomes_empty();
}

/// A value as large as the file system, full of zeros: it takes no memory.
fn huge(domain: &Domain, file: &std::path::Path) -> (usize, *const u8) {
    use rustix::mm::{MapFlags, ProtFlags};
    let length = usize::try_from(domain.room().0).unwrap();
    let file = std::fs::File::create_new(file).unwrap();
    file.set_len(length as u64).unwrap();
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    // SAFETY: a new mapping at an address of the kernel's choice overlays nothing.
    let at = unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), length, ProtFlags::READ, flags) };
    (length, at.unwrap().cast())
}

#[test]
fn a_value_that_is_too_big_is_an_error_and_the_next_one_is_not() {
    let directory = Directory::new();
    let space = directory.space();
    let mut topic = Topic::<[u8]>::open_in(&space, "bytes").unwrap();
    topic.write(b"before").unwrap();
    let (length, at) = huge(&directory.domain(), &directory.path().join("sparse"));
    // SAFETY: mapped just now with this length, for reading, and never unmapped.
    let value = unsafe { std::slice::from_raw_parts(at, length) };
    match topic.write(value) {
        Err(WriteError::Capacity(error @ CapacityError::FileSystem { .. })) => {
            assert!(error.to_string().contains("SINEW_DIR"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(*topic.read().unwrap().unwrap(), b"before");
    topic.write(b"after").unwrap();
    assert_eq!(*topic.read().unwrap().unwrap(), b"after");
}

/// A value all of whose words are equal, unless it is torn.
const WORDS: usize = 4096;

#[test]
fn values_of_many_writers_are_never_torn_and_never_get_older() {
    const TEST: &str = "topics::values_of_many_writers_are_never_torn_and_never_get_older";
    if let Some(which) = role() {
        let small = Topic::<[u64; 8]>::open("small").unwrap();
        let large = Topic::<[u64]>::open("large").unwrap();
        let which: u64 = which.parse().unwrap();
        say("here");
        let mut words = vec![0; WORDS];
        for (count, length) in (0u64..).zip((0..WORDS).step_by(97).cycle()) {
            let value = which << 32 | count;
            small.write(&[value; 8]).unwrap();
            words.fill(value);
            large.write(&words[..length]).unwrap();
        }
    }
    let directory = Directory::new();
    let mut writers: Vec<_> = (1..=2).map(|which| directory.start(TEST, &which.to_string())).collect();
    for writer in &mut writers {
        assert_eq!(writer.next_line(), "here");
    }
    let space = directory.space();
    let mut small = Topic::<[u64; 8]>::open_in(&space, "small").unwrap();
    let mut large = Topic::<[u64]>::open_in(&space, "large").unwrap();
    let (mut last, mut seen) = ([0; 2], [[0u64; 3]; 2]);
    let mut words = Vec::new();
    let mut since = Instant::now();
    let mut check = |which: usize, words: &[u64], stamp: i64| {
        let Some(&first) = words.first() else { return };
        assert!(words.iter().all(|&word| word == first), "torn");
        let writer = usize::try_from(first >> 32).unwrap();
        // Two writers may write in the same nanosecond: then their order decides.
        assert!(stamp >= last[which], "an older value");
        last[which] = stamp;
        assert!(first & 0xffff_ffff >= seen[which][writer], "an older value of one writer");
        seen[which][writer] = first & 0xffff_ffff;
    };
    let mut found = 0;
    while found < 3000 {
        let before = found;
        if let Some(sample) = small.read().unwrap() {
            check(0, &sample.value, sample.origin.stamp);
            found += 1;
        }
        if let Some(origin) = large.read_into(&mut words).unwrap() {
            check(1, &words, origin.stamp);
            found += 1;
        }
        if found > before {
            since = Instant::now();
        }
        assert!(since.elapsed() < LONG, "after {found} values no more come");
    }
    writers.iter_mut().for_each(|writer| writer.kill());
    drop((small, large, space));
    directory.becomes_empty();
}

#[test]
fn a_killed_writers_last_value_is_not_new_again() {
    const TEST: &str = "topics::a_killed_writers_last_value_is_not_new_again";
    if role().is_some() {
        let topic = Topic::<[u8]>::open("state").unwrap();
        topic.write(&[7; 5000]).unwrap();
        say("written");
        next_line();
        return;
    }
    let directory = Directory::new();
    let space = directory.space();
    let mut reader = Topic::<[u8]>::open_in(&space, "state").unwrap();
    let mut slow = Topic::<[u8]>::open_in(&space, "state").unwrap();
    let mut writer = directory.start(TEST, "writer");
    assert_eq!(writer.next_line(), "written");
    let mut first = None;
    until("it comes", || {
        first = reader.read().unwrap();
        first.is_some()
    });
    let first = first.unwrap();
    writer.kill();
    let later = directory.space();
    until("it is noticed", || {
        let left = std::fs::read_dir(directory.domain().path()).unwrap().flatten();
        let dead = format!("{:016x}", first.origin.writer);
        !left.into_iter().any(|entry| entry.file_name().to_str().unwrap().starts_with(&dead))
    });
    assert_eq!(reader.read().unwrap(), None, "it was read");
    let kept = slow.read().unwrap().unwrap();
    assert_eq!(kept, first, "with the time and the writer that it had");
    assert!(kept.origin.age() > std::time::Duration::ZERO);
    let mut late = Topic::<[u8]>::open_in(&later, "state").unwrap();
    assert_eq!(late.read().unwrap(), None, "nobody has it who writes");
    drop((reader, slow, late, space, later));
    directory.becomes_empty();
}

#[test]
fn the_newest_of_two_writers_counts_in_whatever_order_they_are_looked_at() {
    let directory = Directory::new();
    let spaces = [directory.space(), directory.space(), directory.space()];
    let first = Topic::<u32>::open_in(&spaces[0], "x").unwrap();
    let second = Topic::<u32>::open_in(&spaces[1], "x").unwrap();
    for (a, b) in [(&first, &second), (&second, &first)] {
        a.write(&1).unwrap();
        b.write(&2).unwrap();
        let mut reader = Topic::<u32>::open_in(&spaces[2], "x").unwrap();
        assert_eq!(reader.read().unwrap().map(|found| found.value), Some(2));
        assert_eq!(reader.read().unwrap(), None);
    }
    let mut own = Topic::<u32>::open_in(&spaces[0], "x").unwrap();
    assert_eq!(own.read().unwrap().map(|found| found.value), Some(2));
    first.write(&3).unwrap();
    assert_eq!(own.read().unwrap().map(|found| found.value), Some(3));
}
