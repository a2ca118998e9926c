//! Death at a named instruction, for tests (feature `kill-points`; in the product, nothing of it is
//! there).
//!
//! At each step that leaves something in shared memory half done as a whole, the process can be
//! made to die as by `kill -9`.

/// Where a process can die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
#[cfg_attr(not(feature = "kill-points"), expect(unreachable_pub, reason = "public with the feature"))]
pub enum Point {
    /// A segment is filled, and has no name.
    SegmentUnlinked = 1,
    /// The control segment is linked, the bells aren't.
    Joining,
    /// Space is reserved, and the others aren't told.
    Reserved,
    /// A record is filled, and not published. T1
    RecordFilled,
    /// A record is published, and not in the log. T2
    RecordPublished,
    /// A record isn't published any more, and the log doesn't say so. T4
    RecordRetired,
    /// The log's entry is written, its head isn't. L1
    LogEntry,
    /// The log is written, no thread is woken. L2
    LogHead,
    /// A slot says that it changes. W1
    SlotBegun,
    /// A slot is filled. W2
    SlotFilled,
    /// A message is published, no reader is told. W3
    SlotPublished,
    /// It is announced, no thread is woken. P2
    EventPushed,
    /// A sleeper is found, the bell isn't rung. P3
    SleeperFound,
    /// The bell is changed, its sleeper isn't woken. P3
    BellChanged,
    /// The live slots are copied. G1
    RingCopied,
    /// The new ring is published. G2
    RingPublished,
    /// One slot of the old ring says so. G3
    RingMoving,
    /// An event ring is copied. G1
    EventsCopied,
    /// A new event ring is published. G2
    EventsPublished,
    /// A reader stands in the list of readers, its connection isn't published.
    ReaderListed,
    /// A chunk was taken from those that were retired. W6
    ChunkReclaimed,
    /// A connection's end is written, the reader isn't told.
    ConnectionEnded,
    /// A hold is set, and not checked. H4
    HoldSet,
    /// A hold is good, nothing is read yet. H6
    HoldChecked,
    /// A hold is gone. H7
    HoldGone,
    /// An event is taken, its connection isn't drained. D3
    EventTaken,
    /// A cursor has moved, a writer that waits isn't woken. B2
    CursorMoved,
    /// A writer says that it waits. B1
    Waiting,
    /// A sleep is announced, and not begun. K2
    Parked,
    /// A tail counts, the writer isn't told.
    TailPublished,
    /// A port is named in a connection. E1
    PortNamed,
    /// A connection is read to its end, the writer isn't told.
    ConnectionDone,
    /// It says that it has left, and its files are all there.
    Leaving,
    /// It has left, and of its files the control segment is there.
    LeftControl,
    /// Of a dead one's files, the control segment is there.
    ReapedControl,
    /// A message's chunk is named no more, and not let go of. W0
    Withdrawn,
    /// A slab says that less of it may be touched, and has as much as before. M1
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
    use crate::sync::{Ordering, PlainU64};

    /// Where, and how many passages are left.
    static WHERE: PlainU64 = PlainU64::new(0);
    static LEFT: PlainU64 = PlainU64::new(0);

    /// This process dies at the given passage of this point, counted from 1.
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
            crate::sys::kill_this_process();
        }
    }

    impl Point {
        /// All of them.
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
