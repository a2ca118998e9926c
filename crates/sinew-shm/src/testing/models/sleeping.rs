//! P3, K1-K4: a thread with a message for a sleeper wakes it, or its entry is seen before the
//! sleep. A lost wake-up is a deadlock.

use super::{Port, Published, Route, check, drain, entries, port, publish_one};
use crate::event::protocol::{self, Drainer, Entries};
use crate::platform::sync::{Arc, AtomicU64, Ordering};
use loom::thread;
use std::iter::once;

/// Sleeps and drains until `count` messages were seen, as an executor does.
fn read_all(
    port: &Port,
    drainers: &mut [(Drainer, Arc<AtomicU64>)],
    find: impl Fn() -> Option<Entries>,
    published: &[Published],
    count: u64,
) {
    let mut seen = vec![0; published.len()];
    for sleep in 1.. {
        for (drainer, tail) in &mut *drainers {
            let port = Port { tail: tail.clone(), ..port.clone() };
            drain(drainer, &port, &find, published, &mut seen);
        }
        if seen.iter().sum::<u64>() == count {
            return;
        }
        let bell = port.bell.rung(); // K1
        protocol::park(&port.parked, sleep); // K2
        if !drainers.iter().any(|(drainer, _)| drainer.is_pending()) {
            port.bell.sleep(bell, None); // K3
        }
        protocol::unpark(&port.parked); // K4
    }
}

/// A reader that sleeps, or is about to, is woken for each message that it hasn't seen.
///
/// Fails if P1's, P3's, K2's or D3's fence is left out, if K1 comes after K2, or if a writer rings
/// once for all sleeps.
#[test]
fn a_sleeper_is_woken() {
    check(3, || {
        let (port, ring, published) = (port(), entries(1), Published::default());
        let route = Route::new(0, &port, &ring);
        let all = [published.clone()];
        let reader = thread::spawn(move || {
            let mut drainers = [(Drainer::new(ring), port.tail.clone())];
            read_all(&port, &mut drainers, || None, &all, 2);
        });
        for _ in 0..2 {
            publish_one(&published);
            protocol::announce(once(&route));
        }
        reader.join().unwrap();
    });
}

/// Two writers in different processes, each with an event ring of its own.
///
/// Fails if P3's or K2's fence is left out.
#[test]
fn two_writers_wake_one_sleeper() {
    check(2, || {
        let here = port();
        let published = [Published::default(), Published::default()];
        let mut drainers = Vec::new();
        let mut writers = Vec::new();
        for (connection, published) in (0u32..).zip(published.clone()) {
            let ring = entries(1);
            let own = Port { tail: port().tail, ..here.clone() };
            drainers.push((Drainer::new(ring.clone()), own.tail.clone()));
            let route = Route::new(connection, &own, &ring);
            writers.push(thread::spawn(move || {
                publish_one(&published);
                protocol::announce(once(&route));
            }));
        }
        read_all(&here, &mut drainers, || None, &published, 2);
        writers.into_iter().for_each(|writer| writer.join().unwrap());
    });
}

/// A sleeper that checks an outgrown ring finds the entries of the new one.
///
/// Fails if G3 marks nothing.
#[test]
fn a_sleeper_finds_the_ring_that_grew() {
    check(2, || {
        let (port, small, big) = (port(), entries(1), entries(2));
        let place = Arc::new(AtomicU64::new(0));
        let published = Published::default();
        let mut route = Route::new(0, &port, &small);
        let (there, at, bigger, all) = (port.clone(), place.clone(), big.clone(), [published.clone()]);
        let reader = thread::spawn(move || {
            let find = || {
                assert_eq!(at.load(Ordering::Acquire), 1, "MOVED carries where to");
                Some(bigger.clone())
            };
            let mut drainers = [(Drainer::new(small), there.tail.clone())];
            read_all(&there, &mut drainers, find, &all, 1);
        });
        route.end.get_mut().0.grow(big, &port.tail, &place, 1);
        publish_one(&published);
        protocol::announce(once(&route));
        reader.join().unwrap();
    });
}
