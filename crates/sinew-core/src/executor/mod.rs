//! Executors and wait sets: they run callbacks, on which threads and in which order.

// Executors run callbacks in the order in which their messages arrived.
//
// | file | contents |
// |---|---|
// | `front` | executors, wait sets and their builders, as programs hold them |
// | `options` | what an executor does about callbacks that fail |
// | `scheduler` | which callback runs next, and where; sleeping and waking |
// | `queue` | which task is next: groups, what is ready and runs, timers; no threads and no clock |
// | `state` | the queue, and who runs what: all that the scheduler's lock guards |
// | `task` | what is run |
// | `header` | a task as threads that make it ready see it |
// | `lane` | tasks made ready by a worker's own callbacks, past the queue |
// | `worker` | a thread that asks for work |
// | `run` | running callbacks on a thread |
// | `faults` | callbacks that fail or panic |
// | `bells` | what the threads sleep on, and which of them were called |
// | `wake_policy` | whether another thread is woken for a task that became ready |
// | `caller_runs` | threads that wait for a server and run it themselves |
// | `blocked` | workers that wait in the middle of a callback |
// | `timers` | a separate thread for timers |
// | `remote_events` | news from other processes |
// | `descriptor` | an executor's file descriptor, for an event loop of another library |
// | `histogram` | run times of callbacks |
// | `group` | callback groups, their members and their place in an executor |
// | `member` | a task of a group, and how it learns where to announce itself |
// | `notifier` | where a task announces itself, and whether it has |
// | `work` | closures and futures that run in a group |
// | `group_token` | the right to touch a group's callbacks and state |
// | `owner` | an executor's view of a group's node and context |
// | `membership` | which executor serves the groups of a node or a context |
// | `prefetch` | fetching the memory of a burst of work while the thread wakes up for it |
// | `wait` | waiting for a future without an executor |
// | `wait_graph` | which thread waits for which |
// | `spinning` | the executor that this thread spins |
// | `current` | what this thread is in the middle of |
// | `threads` | what spinning threads ask of the operating system: cores, priority, memory |

mod bells;
pub(crate) mod blocked;
mod caller_runs;
pub(crate) mod current;
pub(crate) mod descriptor;
pub(crate) mod error;
mod faults;
pub(crate) mod front;
pub(crate) mod group;
pub(crate) mod group_token;
pub(crate) mod header;
pub(crate) mod histogram;
pub(crate) mod lane;
pub(crate) mod member;
pub(crate) mod membership;
pub(crate) mod notifier;
mod options;
pub(crate) mod owner;
pub(crate) mod prefetch;
pub(crate) mod queue;
pub(crate) mod remote_events;
mod run;
pub(crate) mod scheduler;
mod spinning;
mod state;
pub(crate) mod task;
#[cfg(all(test, not(loom)))]
mod tests;
pub(crate) mod threads;
mod timers;
mod wait;
pub(crate) mod wait_graph;
pub(crate) mod wake_policy;
pub(crate) mod work;
mod worker;

pub(crate) use error::AddError;
pub(crate) use faults::{caught, dispose_of, panic_message, report};
pub use front::builder::{ExecutorBuilder, WaitSetBuilder};
pub(crate) use front::executor::sealed;
pub use front::executor::{Executable, Executor, StopHandle};
pub(crate) use front::wait_set;
pub use front::wait_set::{Ready, WaitSet, Waitable};
pub use group::{CallbackGroup, PauseHandle};
pub use histogram::{Histogram, RunTimes};
pub use options::FaultPolicy;
pub use threads::Placement;
pub use wait::wait_for;

executor_face!();
