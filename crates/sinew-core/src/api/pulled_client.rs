//! Responses that the program takes by hand.

use super::client::Client;
use super::client_core::{RequestId, ResponseInfo, error_of, result_of};
use crate::message::into_message::{IntoUnique, erase};
use crate::service::error::CallError;
use crate::service::reply::CallResult;
use sinew_msg::Service;

impl<S: Service> Client<S> {
    /// Calls the service; the program takes the response by hand, by
    /// [`take_response`](Self::take_response), and recognises it by the id. For event loops of
    /// other libraries and for bindings: no executor runs, and no callback. Never blocks. ROS 2:
    /// `rmw_send_request`.
    ///
    /// Each accepted request brings one response to take. Until it is taken, or the call is
    /// [withdrawn](Self::withdraw) or [given up](Self::give_up), the call counts against
    /// [`max_responses`](crate::service::ClientBuilder::max_responses). So no response gives way to
    /// another one.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// # struct Number(u64); impl Message for Number {}
    /// # struct Double; impl Service for Double { type Request = Number; type Response = Number; }
    /// let context = Context::new()?;
    /// let node = context.node("loop")?;
    /// let server = node.server::<Double>("double").create()?;
    /// let (bell, news) = std::sync::mpsc::channel();
    /// let client = node.client::<Double>("double").listener(move |count| drop(bell.send(count))).create()?;
    /// let (first, second) = (client.send(Number(20))?, client.send(Number(21))?);
    /// while let Some((number, info)) = server.take_request() {
    ///     server.respond(&info.key(), Number(2 * number.0)).expect("it is awaited");
    /// }
    /// assert_eq!(news.try_iter().sum::<u64>(), 2);
    /// let (doubled, info) = client.take_response().expect("it is there");
    /// assert_eq!((info.id(), doubled?.0), (first, 40));
    /// let (doubled, info) = client.take_response().expect("it is there");
    /// assert_eq!((info.id(), doubled?.0), (second, 42));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`CallError`]: the request was not accepted, and there will be no response.
    /// [`CallFailure::Untaken`](crate::error::CallFailure::Untaken) says that too many responses
    /// wait to be taken.
    pub fn send(&self, request: impl IntoUnique<S::Request>) -> Result<RequestId, CallError<S::Request>> {
        let request = erase(request, &self.core().pool);
        self.core().send_pulled(request).map_err(|fault| error_of::<S>(self.name(), fault))
    }

    /// Takes the response that came first of those that were not taken yet, with its metadata,
    /// which has the id of the [request](Self::send). Never blocks; any thread may take. ROS 2:
    /// `rmw_take_response`.
    ///
    /// A call that fails brings its error here, in the same order: its server went away or answered
    /// with an error, or the context was shut down. Responses of calls made in other ways don't
    /// come here.
    pub fn take_response(&self) -> Option<(CallResult<S>, ResponseInfo)> {
        let (outcome, info) = self.core().take_pulled()?;
        Some((result_of::<S>(outcome.map_err(|fault| (fault, self.name()))), info))
    }

    /// Gives up a call that was [sent](Self::send): its response will not come, or is dropped if it
    /// waits to be taken. A request that no server has taken is dropped as well. Returns `false` if
    /// the response was taken already. Never blocks.
    ///
    /// For calls with a time limit, since a call that is never answered would keep its place for
    /// ever. If the call was made by [`call_then_immediately`](Self::call_then_immediately), the
    /// callback is dropped.
    pub fn give_up(&self, id: RequestId) -> bool {
        self.core().abandon(id)
    }

    /// Sets the [listener](crate::service::ClientBuilder::listener), which is called for each
    /// response that can be [taken](Self::take_response), or waits for the callback of
    /// [`call_then`](Self::call_then): with 1, on the thread that answers, or, for servers of other
    /// processes, on the thread that receives. If responses wait already, it is called at once with
    /// their number. It replaces the former listener. ROS 2: `set_on_new_response_callback`.
    ///
    /// It runs under no lock, and several threads may call it at once. It may take, send, and
    /// replace or clear itself. For responses that come as a result while it runs, it is called
    /// once it has returned, with their number. A panic in it is reported and does not reach the
    /// server. To wake a [wait set](crate::executor::WaitSet), it triggers a [guard
    /// condition](crate::GuardCondition). The client keeps it until it ends, so a listener that
    /// holds the client in turn keeps both until it is [cleared](Self::clear_listener).
    pub fn set_listener(&self, listener: impl Fn(u64) + Send + Sync + 'static) {
        self.erased().set_listener(listener);
    }

    /// Removes the listener; it may still be called for responses that other threads are just
    /// giving.
    pub fn clear_listener(&self) {
        self.erased().clear_listener();
    }
}
