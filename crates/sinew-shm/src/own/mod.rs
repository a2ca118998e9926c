//! This process's side of a participant: the state that all of its objects share.
//!
//! | file | contents |
//! |---|---|
//! | `own_state` | the segments and tables, messages being read, leaving |
//! | `heartbeat` | signs of life of the process |
//! | `incoming_entry` | connections of other participants that it has taken up |

pub(crate) mod heartbeat;
pub(crate) mod incoming_entry;
pub(crate) mod own_state;
