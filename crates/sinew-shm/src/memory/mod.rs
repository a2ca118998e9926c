//! A participant's data segments: reserving and reusing memory for rings and large messages.
//!
//! | file | contents |
//! |---|---|
//! | `data_segments` | blocks for rings, and slabs of chunks for messages |
//! | `cell` | chunks with a reference count in their writer's process |

pub(crate) mod cell;
pub(crate) mod data_segments;
