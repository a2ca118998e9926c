//! The threads of the process that wait for a turn to set parameters.
//!
//! A thread that has a turn waits for another one if a callback sets parameters of another node. If
//! that node's turn belongs to a thread that waits for the first thread, directly or by way of
//! others, no wait would ever end: so the last one of the circle doesn't begin, which is an error.
//!
//! A wait is noted under the lock of its table's state, while another thread has the turn, and
//! forgotten under that lock when the turn ends. So the noted owner always has the turn; and since
//! each wait is checked and noted in one step, the notes never contain a circle.

use crate::sys::sync::TableLock;
use std::thread::{self, ThreadId};

/// Only waiting threads touch it.
static WAITS: TableLock<Vec<Wait>> = TableLock::new(Vec::new());

struct Wait {
    thread: ThreadId,
    /// The table's address.
    table: usize,
    /// The thread that has the table's turn.
    owner: ThreadId,
}

/// Notes that this thread waits for the turn of a table, which `owner` has. Returns `false` and
/// notes nothing if `owner` is this thread or waits for it.
pub(super) fn begin(table: usize, owner: ThreadId) -> bool {
    let this = thread::current().id();
    let mut waits = WAITS.lock();
    waits.retain(|wait| wait.thread != this); // it was woken early
    let mut last = Some(owner);
    while let Some(thread) = last {
        if thread == this {
            return false;
        }
        last = waits.iter().find(|wait| wait.thread == thread).map(|wait| wait.owner);
    }
    waits.push(Wait { thread: this, table, owner });
    true
}

/// Forgets the waits for a table's turn, which ends.
pub(super) fn end(table: usize) {
    WAITS.lock().retain(|wait| wait.table != table);
}
