//! Events of entities besides messages: statuses for `on_..` handlers, guard conditions, and file
//! descriptors that become ready.

// Events of entities besides messages, and the code that detects them.
//
// | file | contents |
// |---|---|
// | `status` | the events that handlers receive |
// | `condition` | collects events until the executor delivers them |
// | `match_listeners` | notifies both endpoints of a match or a mismatch |
// | `deadline` | checks whether messages come often enough |
// | `liveliness` | checks publishers' signs of life |
// | `deadline_timer` | looks at objects when their time is up |
// | `status_thread` | the thread that has them look if no executor does |

pub(crate) mod condition;
pub(crate) mod deadline;
pub(crate) mod deadline_timer;
pub(crate) mod liveliness;
pub(crate) mod match_listeners;
pub(crate) mod status;
pub(crate) mod status_thread;

event_face!();
pub use status::{
    IncompatibleQos, IncompatibleType, LivelinessChanged, LivelinessLost, Matched, MessageLost,
    OfferedDeadlineMissed, RequestedDeadlineMissed, Triggered,
};
