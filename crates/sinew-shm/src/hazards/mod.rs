//! How a reader keeps a chunk from being rewritten while it reads the chunk in place, and which
//! participants may do that.
//!
//! | file | contents |
//! |---|---|
//! | `holds` | the protocol, and the words that mark chunks |
//! | `chunk_readers` | the participants that may hold chunks |

pub(crate) mod chunk_readers;
pub(crate) mod holds;
