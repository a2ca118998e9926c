//! From a publisher to the subscriptions of its process. (The design's section 5.)
//!
//! | file | what |
//! |---|---|
//! | `plan` | who gets which copy: one pure function |
//! | `history` | what one subscription keeps: plain data |
//! | `inbox` | a history under its lock; places for publishers that wait; announcing to the executor |
//! | `listening` | tasks that wait for a message, and listeners |
//! | `outlet` | a publisher: finding its inboxes, publishing, what it retains for late joiners |
//! | `graph` | who is there and who matches |
//! | `observers` | telling both ends |
//! | `alarm` | looking at something when its time is up |
//! | `deadline` | whether messages come often enough |
//! | `liveliness` | whether publishers give signs of life |
//! | `waits` | who waits for whom |

pub(crate) mod alarm;
pub(crate) mod deadline;
pub(crate) mod graph;
pub(crate) mod history;
pub(crate) mod inbox;
pub(crate) mod listening;
pub(crate) mod liveliness;
pub(crate) mod observers;
pub(crate) mod outlet;
pub(crate) mod plan;
pub(crate) mod waits;
