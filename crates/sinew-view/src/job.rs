//! Jobs of the thread for parameters.
//!
//! Jobs wait at their client, in the order in which it asked. A client with jobs is in the queue of
//! the thread once. The thread takes one job of the first client, and puts the client back to the
//! end if it has more: so no client waits for more than one job of each other one.

use crate::wire::Parameter;

/// A request of a client.
#[derive(Debug)]
pub(crate) enum Job {
    /// No names: all parameters.
    Get {
        names: Vec<String>,
        id: Option<String>,
    },
    Set {
        parameters: Vec<Parameter>,
        id: Option<String>,
    },
    Watch {
        names: Vec<String>,
    },
}
