//! The futures of an asynchronous server, between their request and their response.
//!
//! They wait in a work queue that the server's task runs beside its requests. Cells are reused, so
//! a steady flow allocates nothing.

use super::failure::CallFailure;
use super::reply::{Reply, outcome};
use super::responder::ReplyToken;
use crate::executor::error::JoinError;
use crate::executor::task::CallbackResult;
use crate::executor::work::future_cell::{FutureCell, FutureRoom, OutputSink};
use crate::executor::work::queue::WorkQueueCore;
use crate::message::info::Lineage;
use crate::sys::sync::{Arc, Mutex};
use sinew_msg::Message;
use std::marker::PhantomData;
use std::sync::Weak;

type ServerCell<A, T> = FutureCell<A, Answer<A, T>>;

/// The futures of one server, which answers with `T`.
pub(crate) struct ServerFutures<A: Future, T> {
    me: Weak<Self>,
    pub(crate) queue: Arc<WorkQueueCore>,
    /// Cells without a future.
    free: Mutex<Vec<Arc<ServerCell<A, T>>>>,
}

impl<A, T> ServerFutures<A, T>
where
    A: Future<Output: Reply<T>> + Send + 'static,
    T: Message,
{
    pub(crate) fn new(queue: Arc<WorkQueueCore>) -> Arc<Self> {
        Arc::new_cyclic(|me| Self { me: me.clone(), queue, free: Mutex::new(Vec::new()) })
    }

    /// Begins to answer a request: polls the future for the first time.
    ///
    /// # Panics
    /// Panics if the future does; its caller has been notified by then.
    pub(crate) fn begin(&self, future: A, reply_token: ReplyToken, lineage: Lineage) -> CallbackResult {
        let free = self.free.lock().pop();
        let cell = free.unwrap_or_else(|| {
            let sink = Answer { futures: self.me.clone(), reply_token: Mutex::new(None), of: PhantomData };
            FutureCell::new(&self.queue, sink)
        });
        *cell.sink.reply_token.lock() = Some(reply_token);
        cell.start(future, Some(lineage))
    }
}

/// Answers a request with the output of its future.
pub(crate) struct Answer<A: Future, T> {
    futures: Weak<ServerFutures<A, T>>,
    reply_token: Mutex<Option<ReplyToken>>,
    of: PhantomData<fn() -> T>,
}

impl<A, T> OutputSink<A> for Answer<A, T>
where
    A: Future<Output: Reply<T>> + Send + 'static,
    T: Message,
{
    fn finish(&self, output: Result<A::Output, JoinError>) -> CallbackResult {
        let reply_token = self.reply_token.lock().take();
        let Some(mut reply_token) = reply_token else { return Ok(()) };
        match output {
            Ok(reply) => {
                let pool = reply_token.core().pool.clone();
                let outcome = reply_token.guard(|| outcome(reply, &pool));
                // A caller that no longer waits doesn't miss the outcome.
                drop(reply_token.complete(outcome));
            }
            Err(JoinError::Cancelled) => reply_token.fail(CallFailure::ServerGone),
            Err(JoinError::Panicked { message }) => reply_token.fail(CallFailure::Panicked { message }),
        }
        Ok(())
    }

    fn retire(cell: Arc<ServerCell<A, T>>, room: FutureRoom<A>) {
        if let Some(futures) = cell.sink.futures.upgrade() {
            cell.reuse(room);
            futures.free.lock().push(cell);
        }
    }
}
