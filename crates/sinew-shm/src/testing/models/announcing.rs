//! P1, P2, D1-D3: every message is announced, or seen before; G1-G3: even while the event ring
//! grows; E1: even while the port changes.

use super::{Port, Published, Route, check, drain, entries, port, publish_one};
use crate::event::protocol::{self, Announced, Drainer, Entries};
use crate::platform::sync::{Arc, AtomicU64, Ordering, fence};
use loom::thread;
use std::iter::once;

/// A reader that has drained all announcements has seen all published messages.
///
/// Fails if P1's or D3's fence is left out, if D3 comes before D2, if D2 is relaxed, or if P2 is.
#[test]
fn what_is_published_is_seen() {
    check(4, || {
        let (port, ring, published) = (port(), entries(1), Published::default());
        let route = Route::new(0, &port, &ring);
        let (there, all) = (port.clone(), [published.clone()]);
        let reader = thread::spawn(move || {
            let (mut drainer, mut seen) = (Drainer::new(ring), [0]);
            drain(&mut drainer, &there, || None, &all, &mut seen);
            (drainer, seen, all)
        });
        for _ in 0..2 {
            publish_one(&published);
            protocol::announce(once(&route));
        }
        let (mut drainer, mut seen, all) = reader.join().unwrap();
        drain(&mut drainer, &port, || None, &all, &mut seen);
        assert_eq!(seen, [2], "a message without a notification");
    });
}

/// The same while the ring is outgrown: entries of the old ring are found in the new one.
///
/// Fails if an entry isn't copied (G1), if G2 or G3 is relaxed, or if G3 marks nothing.
#[test]
fn a_ring_that_grows_keeps_what_is_announced() {
    check(4, || {
        let (port, small, big) = (port(), entries(1), entries(2));
        let place = Arc::new(AtomicU64::new(0));
        let published = [Published::default(), Published::default()];
        let route = Route::new(0, &port, &small);
        let (there, at, new, all) = (port.clone(), place.clone(), big.clone(), published.clone());
        let find = move || {
            assert_eq!(at.load(Ordering::Acquire), 1, "MOVED carries where to");
            Some(new.clone())
        };
        let reader = thread::spawn(move || {
            let (mut drainer, mut seen) = (Drainer::new(small), [0, 0]);
            drain(&mut drainer, &there, &find, &all, &mut seen);
            (drainer, seen, find)
        });
        publish_one(&published[0]);
        protocol::announce(once(&route));
        let (mut pusher, last) = route.end.into_inner();
        assert!(last > 0);
        pusher.grow(big, &port.tail, &place, 1);
        let route = Route { end: (pusher, 0).into(), connection: 1, port: port.clone() };
        publish_one(&published[1]);
        protocol::announce(once(&route));
        let (mut drainer, mut seen, find) = reader.join().unwrap();
        drain(&mut drainer, &port, find, &published, &mut seen);
        assert_eq!(seen, [1, 1], "a message without a notification");
    });
}

/// The writing end of a connection that changes its port, like `Accepted`. Ports are numbered from
/// 1; 0 is none.
struct Changing {
    port: Arc<AtomicU64>,
    routes: [Route; 2],
}

impl Changing {
    fn new(ports: &[Port; 2], rings: &[Entries; 2], first: u64) -> Self {
        let routes = [Route::new(0, &ports[0], &rings[0]), Route::new(0, &ports[1], &rings[1])];
        Self { port: Arc::new(AtomicU64::new(first)), routes }
    }

    fn route(&self) -> Option<&Route> {
        match self.port.load(Ordering::Acquire) {
            0 => None, // P1: pairs with E1
            number => self.routes.get(usize::try_from(number).unwrap() - 1),
        }
    }
}

impl Announced for Changing {
    fn push(&self) -> bool {
        self.route().is_some_and(Announced::push)
    }

    fn ring_if_parked(&self) {}
}

/// A message is announced to the new port, or seen when the port has changed.
///
/// Fails if E1's or P1's fence is left out.
#[test]
fn a_port_that_changes() {
    check(4, || {
        let (ports, rings) = ([port(), port()], [entries(1), entries(1)]);
        let (published, changing) = (Published::default(), Changing::new(&ports, &rings, 1));
        let word = changing.port.clone();
        let theirs = published.clone();
        let reader = thread::spawn(move || {
            protocol::change_port(&word, 2);
            [theirs.load(Ordering::Acquire)] // the reader drains once
        });
        for _ in 0..2 {
            publish_one(&published);
            protocol::announce(once(&changing));
        }
        let mut seen = reader.join().unwrap();
        let [_, ring] = rings;
        drain(&mut Drainer::new(ring), &ports[1], || None, &[published], &mut seen);
        assert_eq!(seen, [2], "a message without a notification");
    });
}

/// The position of the kernel's fence (`membarrier`), which the helper thread requests, within a
/// publish.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Barrier {
    BeforeTheMessage,
    BetweenTheMessageAndTheLook,
    AfterTheLook,
}

/// A reader begins to listen while a writer that saw no listener and passed no fence publishes.
fn listening_begins(barrier: Barrier) {
    let (ports, rings) = ([port(), port()], [entries(1), entries(1)]);
    let (published, changing) = (Published::default(), Changing::new(&ports, &rings, 0));
    let changing = Arc::new(crate::platform::sync::Mutex::new(changing)); // the route's lock
    let word = changing.lock().port.clone();
    let [logged, asked, passed] = [0; 3].map(|_| Arc::new(AtomicU64::new(0)));
    let wait_for = |word: &AtomicU64| {
        while word.load(Ordering::Acquire) == 0 {
            thread::yield_now();
        }
    };
    let writer = thread::spawn({
        let (port, published, changing) = (word.clone(), published.clone(), changing.clone());
        let (asked, passed) = (asked.clone(), passed.clone());
        move || {
            let pass = |here: Barrier| {
                if here == barrier {
                    wait_for(&asked);
                    fence(Ordering::SeqCst);
                    passed.store(1, Ordering::Release);
                }
            };
            pass(Barrier::BeforeTheMessage);
            publish_one(&published);
            pass(Barrier::BetweenTheMessageAndTheLook);
            let listens = port.load(Ordering::Relaxed) != 0; // as `Accepted::has_listener`
            pass(Barrier::AfterTheLook);
            if listens {
                protocol::announce(once(&*changing.lock()));
            }
        }
    });
    let helper = thread::spawn({
        let logged = logged.clone();
        move || {
            wait_for(&logged); // L3
            asked.store(1, Ordering::Release);
            wait_for(&passed);
            fence(Ordering::SeqCst);
            protocol::announce(once(&*changing.lock()));
        }
    });
    protocol::change_port(&word, 1);
    let mut seen = [published.load(Ordering::Acquire)]; // the reader drains once
    logged.store(1, Ordering::Release); // L2
    writer.join().unwrap();
    helper.join().unwrap();
    let [ring, _] = rings;
    drain(&mut Drainer::new(ring), &ports[0], || None, &[published], &mut seen);
    assert_eq!(seen, [1], "a message without a notification");
}

/// A message is seen although its writer saw no listener, wherever in the publish the kernel's
/// fence comes.
///
/// Fails if the helper doesn't announce.
#[test]
fn a_new_listener_is_notified() {
    check(2, || listening_begins(Barrier::BeforeTheMessage));
    check(2, || listening_begins(Barrier::BetweenTheMessageAndTheLook));
    check(2, || listening_begins(Barrier::AfterTheLook));
}
