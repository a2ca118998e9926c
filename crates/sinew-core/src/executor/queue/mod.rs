//! Which task runs next: a data structure without threads, locks and clocks.

// | file | contents |
// |---|---|
// | `ready_queue` | groups, their tasks, what is ready and what runs |
// | `timer_queue` | timers and when they are due |
// | `ready`, `heap` | the heaps behind both |

pub(crate) mod heap;
mod ready;
pub(crate) mod ready_queue;
mod timer_queue;
