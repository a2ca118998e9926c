//! Property tests with oracles: the same operations on the real thing and on a model that is too
//! simple to be wrong.
//!
//! `PROPTEST_CASES=20000 cargo test -p sinew-core --lib properties` for more than the everyday number of
//! cases; a failure prints the smallest sequence of operations that shows it.
//!
//! | module | what | the oracle |
//! |---|---|---|
//! | `history` | one subscription's history | a list that is searched from the front |
//! | `handover` | which worker to wake for what became ready | what each worker is at |
//! | `queue` | the scheduler: which callback runs next | all that is ready, sorted |
//! | `promises` | deadlines and leases | all messages and signs of life there were |
//! | `delivery` | publishers, subscriptions and an executor, from outside | a list per subscription |

mod delivery;
mod handover;
mod history;
mod promises;
mod queue;
