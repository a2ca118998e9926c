//! Property tests: the same operations on the real implementation and on a model that is too simple
//! to be wrong, and arbitrary words in memory that another process writes.
//!
//! `PROPTEST_CASES=20000 cargo test -p sinew-shm --lib properties` runs more than the usual number
//! of cases; a failure prints the smallest sequence of operations that shows it.
//!
//! | module | subject | the oracle |
//! |---|---|---|
//! | `rings` | one writer, several readers, growth | a map of what is kept |
//! | `chunks` | loans, messages, holds, growth, of participants | each message's fill number |
//! | `records` | entities | what was stored |
//! | `garbage` | reading another process's memory | no panic, and no access outside |

mod chunks;
mod garbage;
mod records;
mod rings;

use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::AtomicU64;

fn words(values: impl IntoIterator<Item = u64>) -> ShmRef<[AtomicU64]> {
    ShmRef::of(values.into_iter().map(AtomicU64::new).collect())
}
