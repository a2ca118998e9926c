//! Death at a named instruction, for tests (feature `kill-points`; without it, this compiles to
//! nothing).
//!
//! At each step that leaves shared memory incomplete, the process can be made to die as by
//! `kill -9`.

/// A point at which a process can die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
#[cfg_attr(not(feature = "kill-points"), expect(unreachable_pub, reason = "public with the feature"))]
pub enum Point {
    /// A segment is filled, but has no name.
    SegmentUnlinked = 1,
    /// The control segment is linked, but the bells aren't.
    Joining,
    /// Space is reserved, but not declared.
    Reserved,
    /// A record is filled, but not published. T1
    RecordFilled,
    /// A record is published, but not in the log. T2
    RecordPublished,
    /// A record isn't published any more, but that isn't in the log. T4
    RecordRetired,
    /// The log's entry is written, but its head isn't. L1
    LogEntry,
    /// The log is written, but no thread is woken. L2
    LogHead,
    /// A slot's sequence shows that it changes. W1
    SlotBegun,
    /// A slot is filled. W2
    SlotFilled,
    /// A message is published, but no reader is notified. W3
    SlotPublished,
    /// A message is announced, but no thread is woken. P2
    EventPushed,
    /// A sleeper is found, but the bell isn't rung. P3
    SleeperFound,
    /// The bell is changed, but its sleeper isn't woken. P3
    BellChanged,
    /// The live slots are copied. G1
    RingCopied,
    /// The new ring is published. G2
    RingPublished,
    /// One slot of the old ring is marked as moved. G3
    RingMoving,
    /// An event ring is copied. G1
    EventsCopied,
    /// A new event ring is published. G2
    EventsPublished,
    /// A reader is in the list of readers, but its connection isn't published.
    ReaderListed,
    /// A retired chunk was reclaimed. W6
    ChunkReclaimed,
    /// A connection's end is written, but the reader isn't notified.
    ConnectionEnded,
    /// A hold is set, but not checked. H4
    HoldSet,
    /// A hold is valid, but nothing is read yet. H6
    HoldChecked,
    /// A hold is released. H7
    HoldGone,
    /// An event is taken, but its connection isn't drained. D3
    EventTaken,
    /// A cursor has moved, but a waiting writer isn't woken. B2
    CursorMoved,
    /// A writer has announced that it waits. B1
    Waiting,
    /// A sleep is announced, but has not begun. K2
    Parked,
    /// A tail is published, but the writer isn't notified.
    TailPublished,
    /// A connection names a port. E1
    PortNamed,
    /// A connection is read to its end, but the writer isn't notified.
    ConnectionDone,
    /// A participant has announced that it has left, but all its files are there.
    Leaving,
    /// A participant has left; of its files, only the control segment is there.
    LeftControl,
    /// Of a dead participant's files, only the control segment is there.
    ReapedControl,
    /// A message's chunk is no longer named, but not released. W0
    Withdrawn,
    /// A slab declares less than before, but its memory isn't given back. M1
    LessDeclared,
}

// Models end when all of their threads do.
#[cfg(any(loom, not(feature = "kill-points")))]
#[inline(always)]
pub(crate) fn at(_: Point) {}

#[cfg(all(feature = "kill-points", not(loom)))]
pub use armed::arm;
#[cfg(all(feature = "kill-points", not(loom)))]
pub(crate) use armed::at;

#[cfg(all(feature = "kill-points", not(loom)))]
mod armed {
    use super::Point;
    use crate::platform::sync::{Ordering, PlainU64};

    /// The armed point, and the number of passages left.
    static WHERE: PlainU64 = PlainU64::new(0);
    static LEFT: PlainU64 = PlainU64::new(0);

    /// Makes this process die at the given passage of this point, counted from 1.
    pub fn arm(point: Point, passage: u64) {
        LEFT.store(passage, Ordering::SeqCst);
        WHERE.store(point as u64, Ordering::SeqCst);
    }

    #[inline]
    pub(crate) fn at(point: Point) {
        if WHERE.load(Ordering::Relaxed) == point as u64 {
            pass();
        }
    }

    #[cold]
    fn pass() {
        if LEFT.fetch_sub(1, Ordering::SeqCst) == 1 {
            crate::platform::sys::kill_this_process();
        }
    }

    impl Point {
        /// All points.
        pub const ALL: [Point; 37] = [
            Point::SegmentUnlinked,
            Point::Joining,
            Point::Reserved,
            Point::RecordFilled,
            Point::RecordPublished,
            Point::RecordRetired,
            Point::LogEntry,
            Point::LogHead,
            Point::SlotBegun,
            Point::SlotFilled,
            Point::SlotPublished,
            Point::EventPushed,
            Point::SleeperFound,
            Point::BellChanged,
            Point::RingCopied,
            Point::RingPublished,
            Point::RingMoving,
            Point::EventsCopied,
            Point::EventsPublished,
            Point::ReaderListed,
            Point::ChunkReclaimed,
            Point::ConnectionEnded,
            Point::HoldSet,
            Point::HoldChecked,
            Point::HoldGone,
            Point::EventTaken,
            Point::CursorMoved,
            Point::Waiting,
            Point::Parked,
            Point::TailPublished,
            Point::PortNamed,
            Point::ConnectionDone,
            Point::Leaving,
            Point::LeftControl,
            Point::ReapedControl,
            Point::Withdrawn,
            Point::LessDeclared,
        ];
    }
}
