//! Queues.

use crate::processes::{Directory, LONG, next_line, role, say, until};
use sinew_shm::raw::{Queue, QueueOptions, ReadError, Sample, WriteError};
use std::collections::HashMap;
use std::time::Duration;

/// Messages from several processes to several others, each with its number and a payload that
/// depends on it.
fn payload(writer: u64, number: u64) -> Vec<u64> {
    let mut words = vec![writer, number];
    words.extend((0..(number * 37) % 300).map(|word| word ^ number));
    words
}

/// Reads the messages of several writers until each has sent its last one, and checks that none is
/// missing.
fn read_all(queue: &mut Queue<[u64]>, writers: u64, messages: u64) {
    let mut next: HashMap<u64, u64> = (0..writers).map(|writer| (writer, 0)).collect();
    while next.values().any(|&number| number < messages) {
        let Some(Sample { value, .. }) = queue.read_within(LONG).unwrap() else { panic!("{next:?}") };
        let expected = next.get_mut(&value[0]).unwrap();
        assert_eq!(value, payload(value[0], *expected));
        *expected += 1;
    }
    assert_eq!(queue.read_within(Duration::ZERO).unwrap(), None);
}

#[test]
fn every_reader_gets_every_message_of_every_writer() {
    const TEST: &str = "queues::every_reader_gets_every_message_of_every_writer";
    const WRITERS: u64 = 2;
    const MESSAGES: u64 = 2000;
    match role().as_deref() {
        Some("reader") => {
            let mut queue = Queue::<[u64]>::open("work").unwrap();
            queue.join().unwrap();
            say("here");
            read_all(&mut queue, WRITERS, MESSAGES);
            say("all");
            return;
        }
        Some(writer) => {
            let writer = writer.parse().unwrap();
            let queue = Queue::<[u64]>::open("work").unwrap();
            say("here");
            next_line();
            for number in 0..MESSAGES {
                queue.write(&payload(writer, number)).unwrap();
            }
            return;
        }
        None => {}
    }
    let directory = Directory::new();
    let mut writers: Vec<_> = (0..WRITERS).map(|writer| directory.start(TEST, &writer.to_string())).collect();
    let mut reader = directory.start(TEST, "reader");
    writers.iter_mut().for_each(|writer| assert_eq!(writer.next_line(), "here"));
    assert_eq!(reader.next_line(), "here");
    let space = directory.space();
    let mut queue = Queue::<[u64]>::open_in(&space, "work").unwrap();
    let mut beside = Queue::<[u64]>::open_in(&space, "work").unwrap();
    queue.join().unwrap();
    beside.join().unwrap();
    writers.iter_mut().for_each(|writer| writer.say("begin"));
    std::thread::scope(|scope| {
        scope.spawn(|| read_all(&mut beside, WRITERS, MESSAGES));
        read_all(&mut queue, WRITERS, MESSAGES);
    });
    assert_eq!(reader.next_line(), "all");
    reader.end();
    writers.into_iter().for_each(|writer| writer.end());
    drop((queue, beside, space));
    directory.becomes_empty();
}

#[test]
fn nothing_is_kept_for_nobody_and_a_writer_may_wait_for_the_first_reader() {
    const TEST: &str = "queues::nothing_is_kept_for_nobody_and_a_writer_may_wait_for_the_first_reader";
    if role().is_some() {
        let mut queue = Queue::<u32>::open("q").unwrap();
        queue.join().unwrap();
        say(&queue.read().unwrap().to_string());
        return;
    }
    let directory = Directory::new();
    let space = directory.space();
    let options = QueueOptions { capacity: 2, ..QueueOptions::default() };
    let queue = Queue::<u32>::open_with(&space, "q", &options).unwrap();
    for number in 0..10 {
        queue.write(&number).unwrap(); // more than it holds: no reader blocks it
    }
    assert!(!queue.wait_for_reader(Some(Duration::ZERO)).unwrap());
    assert!(!queue.wait_for_reader(Some(Duration::from_millis(5))).unwrap());
    let mut reader = directory.start(TEST, "reader");
    assert!(queue.wait_for_reader(None).unwrap());
    queue.write(&77).unwrap();
    assert_eq!(reader.next_line(), "77");
    reader.end();
    until("the reader is gone", || !queue.wait_for_reader(Some(Duration::ZERO)).unwrap());
    // A reader of this process counts as well.
    let mut own = Queue::<u32>::open_in(&space, "q").unwrap();
    own.join().unwrap();
    assert!(queue.wait_for_reader(None).unwrap());
    queue.write(&78).unwrap();
    assert_eq!(*own.read().unwrap(), 78);
}

#[test]
fn sleepers_are_woken_on_both_sides() {
    const TEST: &str = "queues::sleepers_are_woken_on_both_sides";
    const ROUNDS: u64 = 1000;
    let small = QueueOptions { capacity: 1, ..QueueOptions::default() };
    if role().is_some() {
        let space = sinew_shm::raw::Space::shared().unwrap();
        let mut there = Queue::<u64>::open_with(&space, "there", &small).unwrap();
        let back = Queue::<u64>::open_with(&space, "back", &small).unwrap();
        there.join().unwrap();
        say("here");
        // Each of these writes sleeps: the queue has room for one message.
        for number in 0..ROUNDS {
            assert_eq!(*there.read().unwrap(), number);
            back.write(&number).unwrap();
            back.write(&number).unwrap();
        }
        next_line();
        return;
    }
    let directory = Directory::new();
    let space = directory.space();
    let there = Queue::<u64>::open_with(&space, "there", &small).unwrap();
    let mut back = Queue::<u64>::open_with(&space, "back", &small).unwrap();
    back.join().unwrap();
    let mut other = directory.start(TEST, "other");
    assert_eq!(other.next_line(), "here");
    for number in 0..ROUNDS {
        there.write(&number).unwrap();
        for _ in 0..2 {
            let found = back.read_within(LONG).unwrap();
            assert_eq!(found.map(|found| found.value), Some(number));
        }
    }
    other.say("end");
    other.end();
}

#[test]
fn a_full_queue_says_who_is_in_the_way_and_an_empty_one_that_nothing_came() {
    let directory = Directory::new();
    let (here, there) = (directory.space(), directory.space());
    let options = QueueOptions { capacity: 4, ..QueueOptions::default() };
    let writer = Queue::<u32>::open_with(&here, "q", &options).unwrap();
    let mut reader = Queue::<u32>::open_in(&there, "q").unwrap();
    assert_eq!(reader.read_within(Duration::from_millis(2)).unwrap(), None);
    for number in 0..4 {
        writer.write_within(&number, Duration::ZERO).unwrap();
    }
    for timeout in [Duration::ZERO, Duration::from_millis(2)] {
        let error = writer.write_within(&4, timeout).unwrap_err();
        assert!(matches!(error, WriteError::Full { capacity: 4, .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(&format!("process {}", std::process::id())) && text.contains("`q`"), "{text}");
    }
    for number in 0..4 {
        assert_eq!(*reader.read().unwrap(), number);
        writer.write_within(&(number + 4), Duration::ZERO).unwrap();
    }
    for number in 4..8 {
        assert_eq!(*reader.read().unwrap(), number, "what didn't go in is nowhere");
    }
}

#[test]
fn a_full_queue_within_a_process_blocks_as_well() {
    let directory = Directory::new();
    let space = directory.space();
    let options = QueueOptions { capacity: 3, ..QueueOptions::default() };
    let writer = Queue::<[u8]>::open_with(&space, "q", &options).unwrap();
    let mut reader = Queue::<[u8]>::open_in(&space, "q").unwrap();
    reader.join().unwrap();
    std::thread::scope(|scope| {
        for which in 0..2u8 {
            let writer = &writer;
            scope.spawn(move || (0..200u8).for_each(|number| writer.write(&[which, number]).unwrap()));
        }
        let mut next = [0, 0];
        for _ in 0..400 {
            let found = reader.read_within(LONG).unwrap().unwrap();
            let expected = &mut next[usize::from(found[0])];
            assert_eq!(found[1], *expected);
            *expected += 1;
        }
    });
    for number in 0..3 {
        writer.write_within(&[number], Duration::ZERO).unwrap();
    }
    assert!(writer.write_within(&[3], Duration::ZERO).is_err());
    drop(reader); // it no longer blocks any writer
    writer.write_within(&[3], Duration::ZERO).unwrap();
}

/// A reader that joins, reports it, and reads one message for each line that it receives.
fn obedient_reader() {
    let mut queue = Queue::<u64>::open("q").unwrap();
    queue.join().unwrap();
    say("here");
    while !next_line().is_empty() {
        match queue.read_within(LONG) {
            Ok(found) => say(&found.map_or("nothing".to_owned(), |found| found.to_string())),
            Err(error @ ReadError::CutOff { .. }) => say(&error.to_string()),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_reader_that_dies_stands_in_nobodys_way() {
    const TEST: &str = "queues::a_reader_that_dies_stands_in_nobodys_way";
    if role().is_some() {
        return obedient_reader();
    }
    let directory = Directory::new();
    let space = directory.space();
    let options = QueueOptions { capacity: 8, ..QueueOptions::default() };
    let queue = Queue::<u64>::open_with(&space, "q", &options).unwrap();
    let mut beside = directory.start(TEST, "beside");
    assert_eq!(beside.next_line(), "here");
    let mut next = 0;
    for _ in 0..5 {
        let mut dies = directory.start(TEST, "dies");
        assert_eq!(dies.next_line(), "here");
        let first = next;
        for _ in 0..8 {
            queue.write_within(&next, LONG).unwrap();
            next += 1;
        }
        assert!(queue.write_within(&next, Duration::ZERO).is_err());
        for number in first..next {
            beside.say("read");
            assert_eq!(beside.next_line(), number.to_string());
        }
        // Now only the dying reader blocks the queue, and a writer waits for it.
        std::thread::scope(|scope| {
            let (waiting, number) = (&queue, next);
            let blocked = scope.spawn(move || waiting.write(&number));
            dies.kill();
            blocked.join().unwrap().unwrap();
        });
        beside.say("read");
        assert_eq!(beside.next_line(), next.to_string());
        next += 1;
    }
    beside.end();
    drop((queue, space));
    directory.becomes_empty();
}

#[test]
fn an_early_reader_that_leaves_takes_nothing_from_later_ones() {
    let directory = Directory::new();
    let (here, there) = (directory.space(), directory.space());
    let writer = Queue::<u64>::open_in(&here, "q").unwrap();
    let mut readers: Vec<Queue<u64>> = Vec::new();
    let mut number = 0;
    for _ in 0..20 {
        let mut reader = Queue::open_in(&there, "q").unwrap();
        reader.join().unwrap();
        let mut write = |readers: &mut [Queue<u64>]| {
            writer.write_within(&number, LONG).unwrap();
            for reader in readers {
                assert_eq!(reader.read_within(LONG).unwrap().map(|found| found.value), Some(number));
            }
            number += 1;
            number - 1
        };
        // It waits half a second until the writer knows it; a busy machine may delay that.
        until("it gets what is written", || {
            let written = write(&mut readers);
            let next = || reader.read_within(Duration::from_millis(10)).unwrap();
            std::iter::from_fn(next).any(|found| found.value == written)
        });
        readers.push(reader);
        if readers.len() > 3 {
            readers.remove(0);
        }
        for _ in 0..10 {
            write(&mut readers);
        }
    }
}

#[test]
fn a_hung_reader_follows_the_timeout_and_disturbs_nobody_else() {
    const TEST: &str = "queues::a_hung_reader_follows_the_timeout_and_disturbs_nobody_else";
    if role().is_some() {
        return obedient_reader();
    }
    let directory = Directory::new();
    let space = directory.space();
    let options = QueueOptions { capacity: 4, ..QueueOptions::default() };
    let queue = Queue::<u64>::open_with(&space, "q", &options).unwrap();
    let mut hung = directory.start(TEST, "hung");
    let mut beside = directory.start(TEST, "beside");
    assert_eq!((hung.next_line(), beside.next_line()), ("here".to_owned(), "here".to_owned()));
    hung.stop();
    for number in 0..4 {
        queue.write_within(&number, LONG).unwrap();
        beside.say("read");
        assert_eq!(beside.next_line(), number.to_string());
    }
    // Without patience: the timeout, with the reader's name.
    let error = queue.write_within(&4, Duration::from_millis(5)).unwrap_err().to_string();
    assert!(error.contains(&format!("process {}", hung.pid())), "{error}");
    // Another queue isn't affected.
    let elsewhere = Queue::<u64>::open_with(&space, "elsewhere", &options).unwrap();
    let there = directory.space();
    let mut reader = Queue::<u64>::open_in(&there, "elsewhere").unwrap();
    reader.join().unwrap();
    for number in 0..20 {
        elsewhere.write_within(&number, LONG).unwrap();
        assert_eq!(reader.read_within(LONG).unwrap().map(|found| found.value), Some(number));
    }
    // With patience: the reader is cut off, and the others get every message.
    let patient = QueueOptions { patience: Some(Duration::from_millis(20)), ..options };
    let patient = Queue::<u64>::open_with(&space, "q", &patient).unwrap();
    for number in 4..20 {
        patient.write_within(&number, LONG).unwrap();
        beside.say("read");
        assert_eq!(beside.next_line(), number.to_string());
    }
    // The reader is notified.
    hung.go_on();
    hung.say("read");
    let error = hung.next_line();
    assert!(error.contains(&format!("process {}", std::process::id())) && error.contains("cut"), "{error}");
    // Then it joins again.
    hung.say("read");
    let wrote = std::thread::scope(|scope| {
        let reads = scope.spawn(|| hung.next_line());
        let mut number = 100;
        while !reads.is_finished() {
            patient.write_within(&number, LONG).unwrap();
            beside.say("read");
            assert_eq!(beside.next_line(), number.to_string());
            number += 1;
        }
        (reads.join().unwrap(), number)
    });
    let got: u64 = wrote.0.parse().unwrap();
    assert!((100..wrote.1).contains(&got), "{wrote:?}");
    beside.end();
}
