//! The sender: a thread of the gateway that waits for a slow link in place of other threads.
//!
//! # A slow link
//!
//! A session has a queue for each of zenoh's priorities, and a put waits until its message is in
//! the queue: 120 KB take a link of 200 kB/s more than half a second, during which all other puts
//! of that priority wait as well. So topics of few bytes ([`Allowance`](super::heavy::Allowance))
//! have a priority of their own, above the others: their messages go between two pieces of a large
//! message, and no thread waits for them. A topic that sends more is *heavy* from then on, as is
//! one with several slow puts in a row. (A single slow put says little: the machine may be busy.)
//! If the link can't take everything, heavy topics share it by [turns](super::turns).
//!
//! All publishers of a topic have one priority, and it changes at most once, downwards: messages
//! that were published before go first. It never changes back: a message of the higher priority
//! would overtake earlier ones, which may wait in the session's or a router's queues for as long as
//! the link takes, and nothing reports when the last one has gone. Subscriptions would drop the
//! overtaken messages as old.

use super::turns::Turns;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Weak};

/// A source of messages that the sender can carry.
pub(super) trait Flow: Send + Sync {
    /// Set while it is left to the sender.
    fn is_left(&self) -> &AtomicBool;

    /// Sends messages until none are left, or about `credit` bytes are in the session.
    fn carry_some(self: Arc<Self>, credit: usize) -> Carried;

    /// Records that the sender has carried all its messages: later ones have to be left to the
    /// sender again.
    fn is_no_longer_left(self: Arc<Self>);
}

/// The bytes that a thread has carried.
pub(super) enum Carried {
    /// Everything was carried, or another thread does it.
    All(usize),
    /// Some messages are left.
    Some(usize),
}

/// Tracks whether the session makes threads wait that put messages into it, and hands work to the
/// sender: a thread of the gateway that waits in their place.
///
/// Until the sender has carried everything that was left to it, every carrier of a heavy topic
/// leaves its messages to it. So a slow link costs a publisher one wait, and each topic only its
/// own oldest messages.
pub(super) struct Congestion {
    left: Sender<Option<Weak<dyn Flow>>>,
    /// Number of carriers that were left to the sender and are not finished.
    count: AtomicUsize,
    /// The sender has to end.
    has_ended: AtomicBool,
}

impl Congestion {
    pub(super) fn new() -> (Self, Receiver<Option<Weak<dyn Flow>>>) {
        let (left, taken) = mpsc::channel();
        (Self { left, count: AtomicUsize::new(0), has_ended: AtomicBool::new(false) }, taken)
    }

    /// Ends the sender after the message that it is sending.
    pub(super) fn end(&self) {
        self.has_ended.store(true, Ordering::Release); // pairs with the look before each turn
        let _ = self.left.send(None); // wakes it, unless it has ended
    }

    pub(super) fn is_there(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0 // pairs with the end of `send`
    }

    pub(super) fn leave(&self, flow: Arc<dyn Flow>) {
        // AcqRel, here and in `send`: the sender sees every message that came before.
        if flow.is_left().swap(true, Ordering::AcqRel) {
            return;
        }
        self.count.fetch_add(1, Ordering::AcqRel);
        let _ = self.left.send(Some(Arc::downgrade(&flow))); // the sender exists as long as the gateway
    }

    /// Runs the sender's thread, which runs until no gateway is left.
    pub(super) fn send(congestion: &Weak<Self>, taken: &Receiver<Option<Weak<dyn Flow>>>) {
        let mut turns = Turns::<Weak<dyn Flow>>::default();
        loop {
            if turns.is_empty() {
                let Ok(first) = taken.recv() else { return };
                first.into_iter().for_each(|first| turns.begin(first));
            }
            taken.try_iter().flatten().for_each(|left| turns.begin(left));
            let Some(congestion) = congestion.upgrade() else { return };
            if congestion.has_ended.load(Ordering::Acquire) {
                return;
            }
            let Some(turn) = turns.next() else { continue };
            let gone = match turn.flow.upgrade() {
                Some(flow) => match flow.carry_some(turn.credit()) {
                    Carried::Some(bytes) => {
                        turns.go_on(turn, bytes);
                        continue;
                    }
                    Carried::All(bytes) => turns.end(turn, bytes),
                },
                None => turns.end(turn, 0),
            };
            if let Some(gone) = gone {
                if let Some(flow) = gone.upgrade() {
                    flow.is_no_longer_left();
                }
                congestion.count.fetch_sub(1, Ordering::AcqRel);
            }
        }
    }
}
