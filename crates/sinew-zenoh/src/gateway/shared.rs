//! The state that all threads of a gateway share.

use super::callers::Callers;
use super::change::Change;
use super::congestion::Congestion;
use crate::rules::Rules;
use log::Level;
use sinew::__private::locks::Mutex;
use sinew::Context;
use sinew::time::{ClockKind, Time};
use sinew_shm::Domain;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use zenoh::Session;

/// State shared by all threads of a gateway.
pub(super) struct Shared {
    pub(super) context: Context,
    pub(super) session: Session,
    pub(super) place: Domain,
    pub(super) rules: Rules,
    /// Endpoints of programs without Sinew are matched by their QoS as well.
    pub(super) strict_qos: bool,
    pub(super) changes: Sender<Change>,
    pub(super) congestion: Arc<Congestion>,
    /// Subjects that were reported once.
    pub(super) said: Mutex<HashSet<&'static str>>,
    /// Threads that call local servers for the network, for calls that waited for the gateway's
    /// thread or run a server of this program.
    pub(super) callers: Callers,
    /// Threads that call the network: none of these waits for one of those.
    pub(super) askers: Callers,
}

impl Shared {
    /// Returns the wall time, in nanoseconds.
    pub(super) fn wall(&self) -> i64 {
        self.context.now_by(ClockKind::System).nanoseconds()
    }

    /// Sends a change to the gateway's thread, which exists as long as the gateway.
    pub(super) fn tell(&self, change: Change) {
        let _ = self.changes.send(change);
    }

    /// Schedules work on the gateway's thread, behind all changes that were sent before. If that
    /// thread was held up, the time may be over while changes from before it still wait.
    pub(super) fn later(self: &Arc<Self>, at: Time, work: impl FnOnce() + Send + 'static) {
        let shared = self.clone();
        let behind = move || shared.tell(Change::Later(at, Box::new(work)));
        self.tell(Change::Later(at, Box::new(behind)));
    }

    pub(super) fn says(&self, text: &str) {
        sinew_shm::log_line!(Level::Warn, "gateway of domain {}: {text}", self.context.domain());
    }

    /// Reports a subject only the first time: a problem with one message is a problem with many.
    pub(super) fn says_once(&self, about: &'static str, text: impl FnOnce() -> String) {
        if self.said.lock().insert(about) {
            self.says(&format!("{} (counted, and not logged again)", text()));
        }
    }
}
