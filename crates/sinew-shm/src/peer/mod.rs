//! Other participants, as this process has mapped them, and the files that dead ones leave.
//!
//! | file | contents |
//! |---|---|
//! | `mapped_peer` | another participant: its segments, tables and changes |
//! | `leftovers` | the files of a participant that is gone, and their remaining readers |

pub(crate) mod leftovers;
pub(crate) mod mapped_peer;
