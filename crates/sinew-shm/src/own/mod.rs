//! This process's side of a participant: the state that all of its objects share.
//!
//! | file | contents |
//! |---|---|
//! | `local` | the segments and tables, what is being read, leaving |
//! | `taken` | connections of other participants that it has taken up |

pub(crate) mod local;
pub(crate) mod taken;
