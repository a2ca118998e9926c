//! A program's handle of a gateway.

use super::change::Change;
use super::leader::Leads;
use super::statistics::GatewayStatistics;
use sinew::__private::locks::Mutex;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// Connects a domain's endpoints with the network, in both directions, until it is dropped.
///
/// If there is another gateway in the domain, this one waits until that one is gone, and then takes
/// over.
#[must_use = "a gateway ends when it is dropped"]
pub struct Gateway {
    pub(super) changes: Sender<Change>,
    pub(super) leads: Arc<Leads>,
    /// The last statistics that were requested.
    pub(super) told: Mutex<GatewayStatistics>,
    pub(super) thread: Option<JoinHandle<()>>,
}

impl Gateway {
    /// Returns the gateway's current state. Waits for the gateway's thread to report it. On that
    /// thread itself, which runs listeners of this program, it returns the previous report.
    pub fn statistics(&self) -> GatewayStatistics {
        if self.is_own_thread() {
            return self.told.lock().clone();
        }
        let (to, statistics) = mpsc::channel();
        // A gateway that has stopped reports nothing.
        let _ = self.changes.send(Change::Statistics(to));
        let statistics = statistics.recv().unwrap_or_default();
        self.told.lock().clone_from(&statistics);
        statistics
    }

    fn is_own_thread(&self) -> bool {
        self.thread.as_ref().is_some_and(|own| own.thread().id() == std::thread::current().id())
    }

    /// Blocks until the gateway leads in its domain, for at most `timeout`. Returns `true` if it
    /// does.
    pub fn wait_until_it_leads(&self, timeout: Duration) -> bool {
        self.leads.wait(timeout)
    }

    /// Closes the gateway, as dropping it does. Blocks until the network has been notified, or for
    /// a second if the link is slow; on the gateway's own thread, as in a listener, it doesn't
    /// wait.
    pub fn close(self) {
        drop(self);
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.changes.send(Change::Stop); // on failure, it has stopped already
        // If a listener on the gateway's own thread closes it, the thread ends afterwards.
        let is_own = self.is_own_thread();
        if let Some(thread) = self.thread.take().filter(|_| !is_own) {
            let _ = thread.join(); // the thread has reported any error
        }
    }
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").field("leads", &self.leads.is_set()).finish_non_exhaustive()
    }
}
