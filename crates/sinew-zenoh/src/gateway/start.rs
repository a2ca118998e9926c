//! Everything that a gateway needs to lead.

use super::change::Change;
use super::error::GatewayError;
use super::leader::Leads;
use crate::config::RouterCheck;
use crate::rules::Rules;
use sinew::Context;
use sinew_shm::Domain;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use zenoh::{Config, Session, Wait};

/// Its configuration, and its connections with the program that has started it.
pub(super) struct Start {
    pub(super) context: Context,
    pub(super) place: Domain,
    pub(super) config: Config,
    pub(super) rules: Rules,
    pub(super) strict_qos: bool,
    pub(super) check: RouterCheck,
    pub(super) changes: Sender<Change>,
    pub(super) leads: Arc<Leads>,
}

impl Start {
    pub(super) fn open(&self) -> Result<Session, GatewayError> {
        let session = zenoh::open(self.config.clone()).wait();
        session.map_err(|error| GatewayError::Session { reason: crate::config::reason(&error) })
    }
}
