//! The tables that a participant publishes: its entities, its connections and its reading
//! positions. Their layout, the owner's side of them, and the words that its threads sleep on.
//!
//! | file | contents |
//! |---|---|
//! | `control_segment` | layout and protocol of the control segment |
//! | `own_tables` | the owner's side of the control segment |
//! | `endpoint` | entities as they are announced |
//! | `counters` | an entity's counters, for its owner |
//! | `bell` | words that threads sleep on |

pub(crate) mod bell;
pub(crate) mod control_segment;
pub(crate) mod counters;
pub(crate) mod endpoint;
pub(crate) mod own_tables;
