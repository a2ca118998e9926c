//! Property tests with oracles: the same operations on the real implementation and on a model that
//! is too simple to be wrong.
//!
//! Run `PROPTEST_CASES=20000 cargo test -p sinew-core --lib properties` for more cases than every
//! day; a failure prints the smallest sequence of operations that shows it.
//!
//! | module | subject | oracle |
//! |---|---|---|
//! | `history` | one subscription's history | a list that is searched from the front |
//! | `handover` | the worker to wake for a ready task | the state of each worker |
//! | `queue` | the scheduler: the callback that runs next | all ready tasks, sorted |
//! | `ready_queue` | the queue behind it, without threads and clocks | a list of all tasks, sorted |
//! | `promises` | deadlines and leases | all past messages and signs of life |
//! | `delivery` | publishers, subscriptions, an executor | a list per subscription |

mod delivery;
mod handover;
mod history;
mod promises;
mod queue;
mod ready_queue;
