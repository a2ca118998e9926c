//! Jobs of the thread for parameters.

use crate::session::Session;
use crate::wire::Parameter;
use std::sync::Arc;

pub(crate) enum Job {
    /// No names: all parameters.
    Get {
        session: Arc<Session>,
        names: Vec<String>,
        id: Option<String>,
    },
    Set {
        session: Arc<Session>,
        parameters: Vec<Parameter>,
        id: Option<String>,
    },
    Watch {
        session: Arc<Session>,
        names: Vec<String>,
    },
    /// To check whether parameters have changed, or the server ends.
    Wake,
}
