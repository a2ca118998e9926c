//! Servers and clients.

use crate::callback::{self, Answer, ContextOf, ResultCallback, Resulting, ServiceCallback, Serving};
use crate::failure::{CallError, Error, Result};
use crate::library::{Functions, Handle};
use crate::message::{Given, Unique, decoded, encoded};
use crate::node::{Group, Owned, Place, Placed, c_text, nanoseconds};
use parking_lot::Mutex;
use real::Service;
pub(crate) use real::service::ServiceType;
use sinew_c::client::sinew_request_id;
use sinew_c::service::sinew_request_key;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// What a call came to.
pub(crate) type CallResult<S> = std::result::Result<Unique<<S as Service>::Response>, CallError>;

fn result_of<S: Service>(answer: Answer<'_>) -> CallResult<S> {
    match answer {
        Ok(bytes) => Ok(Unique::new(decoded(bytes))),
        Err((status, sentence)) => Err(Error::new(status, sentence).into()),
    }
}

// ---- servers ----

pub(crate) struct ServerBuilder<S, G> {
    group: G,
    name: String,
    max_requests: usize,
    of: PhantomData<fn(S)>,
}

impl<S: Service, G: Placed> ServerBuilder<S, G> {
    pub(crate) fn new(group: G, name: &str) -> Self {
        Self { group, name: name.to_owned(), max_requests: 0, of: PhantomData }
    }

    pub(crate) fn max_requests(self, max_requests: usize) -> Self {
        Self { max_requests, ..self }
    }

    pub(crate) fn callback<Form>(
        self,
        callback: impl ServiceCallback<S, S::Request, G, Form>,
    ) -> Result<Server<S>> {
        let (place, name) = (self.group.place().clone(), c_text(&self.name));
        let (front, callback) = (place.front(), callback.erased(&self.group));
        let closure: Box<Serving> = Box::new(move |front, bytes, handle| {
            callback(decoded(bytes), Responder { front, handle, of: PhantomData })
        });
        let context = ContextOf::of(front, closure);
        let handle = Owned::make(front, Functions::server_free, |server| {
            let (node, group) = (place.node(), place.group());
            front.server_new(
                node,
                group,
                name.as_ptr(),
                self.max_requests,
                callback::requested,
                context,
                server,
            )
        })?;
        Ok(Server { handle, _place: place, of: PhantomData })
    }
}

impl<S: Service, G: Placed> ServerBuilder<S, G> {
    /// One whose requests are taken.
    pub(crate) fn create(self) -> Result<PulledServer<S>> {
        let (place, name) = (self.group.place(), c_text(&self.name));
        let front = place.front();
        let made = Owned::make(front, Functions::pulled_free, |server| {
            front.pulled_new(place.node(), name.as_ptr(), server)
        });
        made.map(|handle| PulledServer { handle, of: PhantomData })
    }
}

pub(crate) struct PulledServer<S> {
    handle: Arc<Owned>,
    of: PhantomData<fn(S)>,
}

/// About a request that was taken.
pub(crate) struct RequestInfo(sinew_request_key);

impl RequestInfo {
    pub(crate) fn key(&self) -> sinew_request_key {
        self.0
    }
}

impl<S: Service> PulledServer<S> {
    pub(crate) fn set_listener(&self, listener: impl Fn(u64) + Send + Sync + 'static) {
        let (front, listener): (_, Box<callback::Listening>) = (self.handle.front, Box::new(listener));
        front.pulled_set_listener(self.handle.handle, callback::listen, ContextOf::of(front, listener));
    }

    pub(crate) fn take_request(&self) -> Option<(Unique<S::Request>, RequestInfo)> {
        let front = self.handle.front;
        // SAFETY: bytes and a number.
        let (mut key, mut taken): (sinew_request_key, bool) = (unsafe { std::mem::zeroed() }, false);
        let (request, status) = callback::handed_over(front, |receive, context| {
            front.pulled_take(self.handle.handle, receive, context, &mut key, &mut taken)
        });
        Error::check(front, status).expect("it can be taken");
        taken.then(|| (Unique::new(request.expect("it was handed over")), RequestInfo(key)))
    }

    pub(crate) fn respond(&self, key: &sinew_request_key, response: impl Given<S::Response>) -> Result<()> {
        let (front, bytes) = (self.handle.front, encoded(response.message()));
        let status = front.pulled_respond(self.handle.handle, key, bytes.as_ptr(), bytes.len());
        Error::check(front, status)
    }

    pub(crate) fn close(self) {
        self.handle.front.pulled_close(self.handle.handle);
    }
}

pub(crate) struct Server<S> {
    handle: Arc<Owned>,
    _place: Place,
    of: PhantomData<fn(S)>,
}

pub(crate) struct ServerStatistics {
    pub(crate) answered: u64,
}

impl<S> Server<S> {
    pub(crate) fn statistics(&self) -> ServerStatistics {
        ServerStatistics { answered: self.handle.front.server_answered(self.handle.handle) }
    }
}

/// Answers a request, once.
pub(crate) struct Responder<S> {
    front: &'static Functions,
    handle: Handle,
    of: PhantomData<fn(S)>,
}

impl<S> Drop for Responder<S> {
    fn drop(&mut self) {
        self.front.responder_free(self.handle);
    }
}

impl<S: Service> Responder<S> {
    /// Gives the handle away.
    fn take(self) -> (&'static Functions, Handle) {
        let taken = (self.front, self.handle);
        std::mem::forget(self);
        taken
    }

    pub(crate) fn respond(self, response: impl Given<S::Response>) -> Result<()> {
        let bytes = encoded(response.message());
        let (front, handle) = self.take();
        Error::check(front, front.respond(handle, bytes.as_ptr(), bytes.len()))
    }

    pub(crate) fn fail(self, text: impl std::fmt::Display) -> Result<()> {
        let text = c_text(&text.to_string());
        let (front, handle) = self.take();
        Error::check(front, front.fail(handle, text.as_ptr()))
    }

    pub(crate) fn reply(self, reply: std::result::Result<S::Response, String>) {
        // It fails if the caller has given up, and then needs no answer.
        let _ = match reply {
            Ok(response) => self.respond(response),
            Err(sentence) => self.fail(sentence),
        };
    }
}

// ---- clients ----

pub(crate) struct ClientBuilder<S, G> {
    group: G,
    name: String,
    of: PhantomData<fn(S)>,
}

impl<S: Service, G: Placed> ClientBuilder<S, G> {
    pub(crate) fn new(group: G, name: &str) -> Self {
        Self { group, name: name.to_owned(), of: PhantomData }
    }
}

impl<S: Service, State> ClientBuilder<S, Group<State>> {
    pub(crate) fn create(self) -> Result<Client<S, State>> {
        let (place, name) = (self.group.place().clone(), c_text(&self.name));
        let front = place.front();
        let handle = Owned::make(front, Functions::client_free, |client| {
            front.client_new(place.node(), place.group(), name.as_ptr(), client)
        })?;
        Ok(Client { handle, state: self.group.state(), _place: place, of: PhantomData })
    }
}

pub(crate) struct Client<S, State = ()> {
    handle: Arc<Owned>,
    state: Arc<Mutex<State>>,
    _place: Place,
    of: PhantomData<fn(S)>,
}

impl<S, State> Clone for Client<S, State> {
    fn clone(&self) -> Self {
        Self {
            handle: self.handle.clone(),
            state: self.state.clone(),
            _place: self._place.clone(),
            of: PhantomData,
        }
    }
}

impl<S: Service, State: Send + 'static> Client<S, State> {
    pub(crate) fn call(&self, request: impl Given<S::Request>, timeout: Duration) -> CallResult<S> {
        let (front, bytes) = (self.handle.front, encoded(request.message()));
        let (response, status) = callback::handed_over(front, |receive, context| {
            let timeout = nanoseconds(timeout);
            front.client_call(self.handle.handle, bytes.as_ptr(), bytes.len(), timeout, receive, context)
        });
        Error::check(front, status)?;
        Ok(Unique::new(response.expect("it was handed over")))
    }

    pub(crate) fn call_then<Form>(
        &self,
        request: impl Given<S::Request>,
        callback: impl ResultCallback<S, State, Form>,
    ) -> std::result::Result<(), CallError> {
        let (front, bytes) = (self.handle.front, encoded(request.message()));
        let once = Mutex::new(Some(callback.erased(self.state.clone())));
        let closure: Box<Resulting> = Box::new(move |answer| {
            let callback = once.lock().take().expect("a call has one result");
            callback(result_of::<S>(answer))
        });
        let context = ContextOf::of(front, closure);
        let (bytes, length) = (bytes.as_ptr(), bytes.len());
        let status = front.client_call_then(self.handle.handle, bytes, length, callback::resulted, context);
        Ok(Error::check(front, status)?)
    }

    pub(crate) fn call_async(&self, request: impl Given<S::Request>) -> Call<S> {
        let (front, bytes) = (self.handle.front, encoded(request.message()));
        let progress = Arc::new(Mutex::new(Progress { result: None, waker: None }));
        let of_call = progress.clone();
        let closure: Box<Resulting> = Box::new(move |answer| {
            let mut progress = of_call.lock();
            progress.result = Some(result_of::<S>(answer));
            let waker = progress.waker.take();
            drop(progress);
            waker.into_iter().for_each(Waker::wake);
            Ok(())
        });
        let (context, mut id) = (ContextOf::of(front, closure), sinew_request_id { sequence: 0, place: 0 });
        let (bytes, length) = (bytes.as_ptr(), bytes.len());
        let handle = self.handle.handle;
        let status =
            front.client_call_immediately(handle, bytes, length, callback::resulted, context, &mut id);
        if let Err(error) = Error::check(front, status) {
            progress.lock().result = Some(Err(error.into()));
        }
        Call { client: self.handle.clone(), id, progress, of: PhantomData }
    }
}

/// The number of a request that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestId(u64, u32);

/// About a result that was taken.
pub(crate) struct ResponseInfo(RequestId);

impl ResponseInfo {
    pub(crate) fn id(&self) -> RequestId {
        self.0
    }
}

/// Results that are taken.
impl<S: Service, State: Send + 'static> Client<S, State> {
    pub(crate) fn wait_for_server(&self, timeout: Duration) -> bool {
        self.handle.front.client_wait_for_server(self.handle.handle, nanoseconds(timeout))
    }

    pub(crate) fn set_listener(&self, listener: impl Fn(u64) + Send + Sync + 'static) {
        let (front, listener): (_, Box<callback::Listening>) = (self.handle.front, Box::new(listener));
        front.client_set_listener(self.handle.handle, callback::listen, ContextOf::of(front, listener));
    }

    pub(crate) fn send(&self, request: impl Given<S::Request>) -> Result<RequestId> {
        let (front, bytes) = (self.handle.front, encoded(request.message()));
        let mut id = sinew_request_id { sequence: 0, place: 0 };
        let status = front.client_send(self.handle.handle, bytes.as_ptr(), bytes.len(), &mut id);
        Error::check(front, status).map(|()| RequestId(id.sequence, id.place))
    }

    pub(crate) fn take_response(&self) -> Option<(CallResult<S>, ResponseInfo)> {
        let front = self.handle.front;
        let (mut id, mut taken) = (sinew_request_id { sequence: 0, place: 0 }, false);
        let (result, status) = callback::result_handed_over(front, result_of::<S>, |result, context| {
            front.client_take(self.handle.handle, result, context, &mut id, &mut taken)
        });
        Error::check(front, status).expect("it can be taken");
        let info = ResponseInfo(RequestId(id.sequence, id.place));
        taken.then(|| (result.expect("it was handed over"), info))
    }
}

struct Progress<R> {
    result: Option<R>,
    waker: Option<Waker>,
}

/// A call on its way.
pub(crate) struct Call<S: Service> {
    client: Arc<Owned>,
    id: sinew_request_id,
    progress: Arc<Mutex<Progress<CallResult<S>>>>,
    of: PhantomData<fn(S)>,
}

impl<S: Service> Future for Call<S> {
    type Output = CallResult<S>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut progress = self.progress.lock();
        if let Some(result) = progress.result.take() {
            return Poll::Ready(result);
        }
        progress.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

impl<S: Service> Drop for Call<S> {
    fn drop(&mut self) {
        self.client.front.client_give_up(self.client.handle, &self.id);
    }
}
