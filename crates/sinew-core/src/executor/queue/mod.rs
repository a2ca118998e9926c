//! The order in which tasks run: a data structure without threads, locks and clocks.

// | file | contents |
// |---|---|
// | `ready_queue` | the tasks: which are ready, and which run |
// | `groups` | the groups: which are ready, in which order, and how much work they have |
// | `timer_queue` | timers and when they are due |
// | `ready`, `heap` | the heaps behind both |

pub(crate) mod groups;
pub(crate) mod heap;
mod ready;
pub(crate) mod ready_queue;
mod timer_queue;
