//! The threads that run an executor's callbacks: choosing the next task, sleeping and waking.

// | file | contents |
// |---|---|
// | `scheduler` | the shared part; a task becomes ready, and a thread is called for it |
// | `members` | adding and removing groups and tasks; timers |
// | `control` | spins begin, are stopped, and end |
// | `spins` | which threads spin, and whether they go on |
// | `state` | the queue and the running tasks: all data under the scheduler's lock |
// | `header` | a task as threads that make it ready see it |
// | `lane` | tasks made ready by a worker's own callbacks, past the queue |
// | `worker` | a thread that asks for work: what it runs next, and how it sleeps |
// | `run` | running callbacks on a thread |
// | `faults` | callbacks that fail or panic |
// | `bells` | the parkers of the threads, and the threads that were called |
// | `wake_policy` | whether another thread is woken for a task that became ready |
// | `candidates` | the ready tasks, for a wait set |
// | `caller_runs` | threads that wait for a server and run it themselves |
// | `blocked` | workers that wait in the middle of a callback |
// | `timers` | a separate thread for timers |
// | `remote_events` | messages from other processes |
// | `descriptor` | an executor's file descriptor, for an event loop of another library |
// | `wait_graph` | the threads that wait for each other |
// | `spinning` | the executor that this thread spins |
// | `current` | the spins and callbacks on this thread |

pub(super) mod bells;
pub(crate) mod blocked;
mod caller_runs;
pub(super) mod candidates;
pub(crate) mod control;
pub(crate) mod current;
pub(crate) mod descriptor;
pub(super) mod faults;
pub(crate) mod header;
pub(crate) mod lane;
pub(crate) mod members;
pub(crate) mod remote_events;
pub(super) mod run;
pub(crate) mod scheduler;
pub(super) mod spinning;
mod spins;
mod state;
#[cfg(all(test, not(loom)))]
mod tests;
pub(crate) mod timers;
pub(crate) mod wait_graph;
pub(crate) mod wake_policy;
pub(crate) mod worker;
