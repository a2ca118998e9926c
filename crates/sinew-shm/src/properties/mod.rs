//! Property tests: the same operations on the real thing and on a model that is too simple to be
//! wrong, and arbitrary words where another process writes.
//!
//! `PROPTEST_CASES=20000 cargo test -p sinew-shm --lib properties` for more than the everyday
//! number of cases; a failure prints the smallest sequence of operations that shows it.
//!
//! | module | what | the oracle |
//! |---|---|---|
//! | `rings` | one writer, several readers, growth | a map of what is kept |
//! | `chunks` | loans, messages, holds, growth, of whole participants | each image remembered by whom it was given |
//! | `records` | entities | what was stored |
//! | `garbage` | whatever is read from another process's memory | neither a panic nor anything outside |
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod chunks;
mod garbage;
mod records;
mod rings;

use crate::shm_ref::ShmRef;
use crate::sync::AtomicU64;

fn words(values: impl IntoIterator<Item = u64>) -> ShmRef<[AtomicU64]> {
    ShmRef::of(values.into_iter().map(AtomicU64::new).collect())
}
