//! Executors and wait sets: they decide on which threads and in which order callbacks run.

// Executors run callbacks in the order in which their messages arrived.
//
// | file | contents |
// |---|---|
// | `front` | executors, wait sets and their builders, as programs hold them |
// | `crew` | the threads that run callbacks: choosing the next task, sleeping and waking |
// | `queue` | the order of tasks: groups, ready and running tasks, timers; no threads, no clock |
// | `work` | closures and futures that run in a group |
// | `task` | the unit of work |
// | `group` | callback groups, their members and their place in an executor |
// | `member` | a task of a group, as the group attaches it to an executor |
// | `inbox` | a queue under a lock that one task empties, and its announcements |
// | `group_token` | the right to touch a group's callbacks and state |
// | `owner` | an executor's view of a group's node and context |
// | `membership` | the executor that serves the groups of a node or a context |
// | `prefetch` | fetching the memory of a burst of work while the thread wakes up for it |
// | `working_set` | fetching the memory of the next callback while another one still runs |
// | `histogram` | run times of callbacks |
// | `dispatch_order` | which of the ready callbacks begins first |
// | `fault_policy` | the reaction to callbacks that fail |
// | `threads` | settings of spinning threads: cores, priority, locked memory |
// | `wait` | waiting for a future without an executor |

pub(crate) mod crew;
mod dispatch_order;
pub(crate) mod error;
mod fault_policy;
pub(crate) mod front;
pub(crate) mod group;
pub(crate) mod group_core;
pub(crate) mod group_token;
pub(crate) mod histogram;
pub(crate) mod inbox;
pub(crate) mod member;
pub(crate) mod membership;
pub(crate) mod owner;
pub(crate) mod prefetch;
pub(crate) mod queue;
pub(crate) mod task;
pub(crate) mod threads;
mod wait;
pub(crate) mod work;
mod working_set;

pub(crate) use crew::current;
pub(crate) use crew::faults::report;
pub use dispatch_order::DispatchOrder;
pub(crate) use error::AddError;
pub use fault_policy::FaultPolicy;
pub use front::builder::{ExecutorBuilder, WaitSetBuilder};
pub(crate) use front::executor::Executor;
pub(crate) use front::executor::sealed;
pub use front::executor::{Executable, StopHandle};
pub(crate) use front::wait_set;
pub use front::wait_set::{Ready, WaitSet, Waitable};
pub use group::{CallbackGroup, PauseHandle};
pub use histogram::{Histogram, RunTimes};
pub use threads::Placement;
pub use wait::wait_for;

executor_face!();
