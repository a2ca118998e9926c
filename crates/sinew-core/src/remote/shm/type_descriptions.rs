//! Descriptions of this process's types, which other processes need to read its messages.
//!
//! Each description is kept once beside the domains (`Domain::keep_description`), by the
//! participant that first has an entity of the type. Exchanging messages needs none of them, so
//! errors here are only logged.

use crate::message::type_support::TypeSupport;
use crate::service::types::ServiceTypes;
use crate::sys::logging::{Level, log_line};
use crate::sys::sync::Mutex;
use sinew_msg::TypeHash;
use sinew_msg::description::TypeDescription;
use sinew_shm::Domain;
use std::collections::HashSet;

/// The types that this process has already described.
#[derive(Default)]
pub(crate) struct KnownTypes(Mutex<HashSet<[u8; 32]>>);

impl KnownTypes {
    /// Keeps the description of a message type, if it has one.
    pub(crate) fn offer(&self, domain: &Domain, table: &'static TypeSupport) {
        if let Some(hash) = table.hash() {
            self.keep(domain, hash, || table.description());
        }
    }

    /// Keeps the description of a service type, if its messages have one.
    pub(crate) fn offer_service(&self, domain: &Domain, types: &ServiceTypes) {
        if let Some(service) = types.service {
            self.keep(domain, service.hash, || types.description());
        }
    }

    fn keep(&self, domain: &Domain, hash: TypeHash, describe: impl FnOnce() -> Option<TypeDescription>) {
        if !self.0.lock().insert(hash.0) {
            return;
        }
        let Some(description) = describe() else { return };
        if let Err(error) = domain.keep_description(&hash.0, &description.to_json()) {
            log_line!(
                Level::Warn,
                "tools can't read messages of {}: {error}",
                description.type_description.type_name
            );
        }
    }
}
