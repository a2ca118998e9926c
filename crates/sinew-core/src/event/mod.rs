//! What happens to an entity besides messages: what `on_..` handlers are told, guard conditions,
//! and file descriptors that become ready.

// What happens to an entity besides messages: what handlers are told, and who finds it out.
//
// | file | what |
// |---|---|
// | `status` | what handlers are told |
// | `condition` | gathers it until the executor delivers it |
// | `match_listeners` | telling both ends of a match, or that there is none |
// | `deadline` | whether messages come often enough |
// | `liveliness` | whether publishers give signs of life |
// | `deadline_timer` | looking at something when its time is up |

pub(crate) mod condition;
pub(crate) mod deadline;
pub(crate) mod deadline_timer;
pub(crate) mod liveliness;
pub(crate) mod match_listeners;
pub(crate) mod status;

event_face!();
pub use status::{
    IncompatibleQos, IncompatibleType, LivelinessChanged, LivelinessLost, Matched, MessageLost,
    OfferedDeadlineMissed, RequestedDeadlineMissed, Triggered,
};
