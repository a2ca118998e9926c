//! Changes of the graph: waiting for them, as a thread or as a task, and listening.

use crate::mailbox::waiters::Listener;
use crate::sys::sync::{Arc, next_serial};
use crate::topic::session::Session;
use futures_core::Stream;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// A receiver of the graph's changes; from [`Graph::changes`](crate::graph::Graph::changes).
///
/// The receiver counts changes: a change between two waits ends the second one at once. A change is
/// a node, publisher, subscription, server or client that has come or gone, here or elsewhere; a
/// change that no list shows may count as well. Several changes may end one wait, so look at the
/// graph afterwards.
///
/// [`wait`](Self::wait) blocks a thread, [`changed`](Self::changed) and the
/// [`Stream`](futures_core::Stream) a task of any runtime. While nothing waits, a change costs one
/// increment under a lock.
pub struct GraphChanges {
    session: Arc<Session>,
    seen: u64,
    serial: u64,
}

impl GraphChanges {
    pub(crate) fn new(session: &Arc<Session>) -> Self {
        let seen = session.graph_changes.count();
        Self { session: session.clone(), seen, serial: next_serial() }
    }

    /// Blocks until the graph has changed since the last call, or since the receiver was created,
    /// for at most `timeout` of real time. Returns `false` at the time limit, and at once when the
    /// context is shut down. Allocates nothing. In a callback, it blocks the executor's thread.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use std::time::Duration;
    /// let node = Context::new()?.node("watcher")?;
    /// let mut changes = node.graph().changes();
    /// while changes.wait(Duration::from_millis(100)) {
    ///     println!("{} nodes", node.graph().nodes().len());
    /// }
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn wait(&mut self, timeout: Duration) -> bool {
        let session = &self.session;
        let Some(count) = session.graph_changes.wait(self.seen, || session.has_ended(), timeout) else {
            return false;
        };
        self.seen = count;
        true
    }

    /// Returns a future for the next change. It yields `true` once the graph has changed since the
    /// last wait, or since the receiver was created, and otherwise `false` once the context is shut
    /// down. Unlike [`wait`](Self::wait), it still yields `true` for a change before the shutdown.
    /// The future may be dropped at any time; no change is lost.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// let context = Context::new()?;
    /// let mut changes = context.graph()?.changes();
    /// let _node = context.node("newcomer")?;
    /// let has_changed = async { changes.changed().await };
    /// # let mut has_changed = std::pin::pin!(has_changed);
    /// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert_eq!(has_changed.as_mut().poll(&mut task), std::task::Poll::Ready(true));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn changed(&mut self) -> Changed<'_> {
        Changed(self)
    }

    fn poll(&mut self, task: &Context<'_>) -> Poll<bool> {
        let changes = &self.session.graph_changes;
        if let Some(count) = changes.poll(self.seen, self.serial, task.waker()) {
            self.seen = count;
            return Poll::Ready(true);
        }
        // Checked after the waker is registered: a shutdown after this check wakes it.
        if self.session.has_ended() {
            changes.forget(self.serial);
            return Poll::Ready(false);
        }
        Poll::Pending
    }
}

impl Stream for GraphChanges {
    type Item = ();

    /// Ends when the context is shut down.
    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<()>> {
        self.poll(task).map(|has_changed| has_changed.then_some(()))
    }
}

impl Drop for GraphChanges {
    fn drop(&mut self) {
        self.session.graph_changes.forget(self.serial);
    }
}

impl fmt::Debug for GraphChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphChanges").field("seen", &self.seen).finish_non_exhaustive()
    }
}

/// A future for the next change; from [`GraphChanges::changed`].
#[must_use = "a future does nothing until it is awaited"]
pub struct Changed<'a>(&'a mut GraphChanges);

impl Future for Changed<'_> {
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<bool> {
        self.0.poll(task)
    }
}

impl Drop for Changed<'_> {
    fn drop(&mut self) {
        self.0.session.graph_changes.forget(self.0.serial);
    }
}

impl fmt::Debug for Changed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Changed").field(&self.0).finish()
    }
}

/// A handle of a listener for changes of the graph; dropping the handle removes the listener. From
/// [`Graph::on_change`](crate::graph::Graph::on_change).
///
/// A thread that notices a change at the same time may still call the listener.
#[must_use = "the listener ends when this is dropped: name the variable (`let _listener = ..`)"]
pub struct GraphListener {
    session: Arc<Session>,
    serial: u64,
}

impl GraphListener {
    pub(crate) fn new(session: &Arc<Session>, listener: Arc<Listener>) -> Self {
        let serial = next_serial();
        session.graph_changes.listen(serial, listener);
        Self { session: session.clone(), serial }
    }
}

impl Drop for GraphListener {
    fn drop(&mut self) {
        self.session.graph_changes.ignore(self.serial);
    }
}

impl fmt::Debug for GraphListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphListener").finish_non_exhaustive()
    }
}
