//! Services: servers and clients.

use crate::callback::{Callback, Outcome, Raised};
use crate::done;
use crate::error::{ServiceError, raise};
use crate::group::{Group, Owner, Place, in_group};
use crate::message::{Class, Service as Types, service_of};
use crate::node::Node;
use crate::publisher::destroyed;
use crate::qos::qos;
use crate::wait;
use parking_lot::Mutex;
use pyo3::exceptions::{PyTimeoutError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use sinew::erased::{CallError, CallResult, Message, Request, Responder, Server, ServiceTypes};
use sinew::error::CallFailure;
use sinew::introspection::ServiceIntrospection;
use sinew::msg::GenericType;
use sinew::service::RequestId;
use std::sync::Arc;
use std::time::Duration;

/// The id of work that is no goal: waiting requests.
const ANY_REQUEST: [u8; 16] = [0; 16];

fn library_types(types: &Types) -> PyResult<ServiceTypes> {
    Ok(ServiceTypes::known(GenericType::described(types.description.clone()).map_err(raise)?))
}

/// Returns the state with ROS 2's number, of
/// `sinew.service_introspection.ServiceIntrospectionState`.
fn introspection(state: u8) -> PyResult<ServiceIntrospection> {
    Ok(match state {
        0 => ServiceIntrospection::Off,
        1 => ServiceIntrospection::Metadata,
        2 => ServiceIntrospection::Contents,
        other => {
            let sentence = format!("{other} is no state of introspection: 0 is off, 1 metadata, 2 contents");
            return Err(PyValueError::new_err(sentence));
        }
    })
}

/// A server of a node.
#[pyclass(frozen, subclass, weakref, module = "sinew._sinew")]
pub(crate) struct Service {
    server: Mutex<Option<Server>>,
    name: String,
    callback: Callback,
}

/// What answers requests.
#[derive(Clone)]
struct Answering {
    callback: Callback,
    request: Arc<Class>,
    response: Arc<Class>,
    of_response: sinew::erased::MessageType,
    /// Whether the callback gets a `Responder`, and answers when it likes.
    deferred: bool,
}

impl Answering {
    fn run(&self, request: Request<'_>) -> Outcome {
        let (message, responder) = request.defer();
        wait::attached(|py| self.answer(py, message, responder)).unwrap_or(Ok(())).map_err(Raised)
    }

    /// An exception of the callback fails the call, and is an exception of the spin as well.
    fn answer(&self, py: Python<'_>, request: Message, responder: Responder) -> PyResult<()> {
        let request = self.request.received(py, request)?;
        let respond = Respond {
            responder: Mutex::new(Some(responder)),
            class: Arc::clone(&self.response),
            of: self.of_response,
        };
        if self.deferred {
            let returned = self.callback.returned(py, (request, respond))?;
            return returned
                .filter(|returned| !returned.is_none())
                .map_or(Ok(()), |returned| self.callback.begin(&returned));
        }
        let response = self.response.python(py)?.call0(py)?;
        match self.callback.returned(py, (request, response)) {
            Ok(None) => Ok(()), // it was destroyed meanwhile
            Ok(Some(returned)) if returned.hasattr("cr_await")? => {
                let respond = Bound::new(py, respond)?;
                py.import("sinew._task")?
                    .call_method1("respond", (returned, respond, self.callback.post()))
                    .map(drop)
            }
            Ok(Some(returned)) => respond._answer(&returned),
            Err(error) => {
                respond.fail(py, &error.to_string());
                Err(error)
            }
        }
    }
}

#[pymethods]
impl Service {
    #[new]
    #[pyo3(signature = (node, class, name, callback, *, group=None, deferred=false, immediate=false, max_requests=None))]
    #[expect(clippy::too_many_arguments, reason = "options, by their names")]
    fn new(
        py: Python<'_>,
        node: &Node,
        class: &Bound<'_, PyAny>,
        name: &str,
        callback: Py<PyAny>,
        group: Option<&Group>,
        deferred: bool,
        immediate: bool,
        max_requests: Option<usize>,
    ) -> PyResult<Self> {
        let of = service_of(class)?;
        let types = library_types(&of)?;
        let place = Place::of(node, group);
        let owner = place.owner()?;
        let callback = Callback::new(callback, place);
        let answering = Answering {
            callback: callback.clone(),
            request: of.request,
            response: of.response,
            of_response: types.response(),
            deferred,
        };
        let limit = max_requests.unwrap_or(1000);
        let server = wait::detached(py, || {
            if immediate {
                return in_group!(owner, |maker| maker
                    .erased_server(name, types)
                    .max_requests(limit)
                    .immediate_callback_erased(move |request| answering.run(request)));
            }
            match owner {
                Owner::Reentrant(group) => group
                    .erased_server(name, types)
                    .max_requests(limit)
                    .callback_erased(move |request: Request<'_>| answering.run(request)),
                Owner::Exclusive(group) => group
                    .erased_server(name, types)
                    .max_requests(limit)
                    .callback_erased(move |(): &mut (), request: Request<'_>| answering.run(request)),
                Owner::Node(node) => node
                    .erased_server(name, types)
                    .max_requests(limit)
                    .callback_erased(move |(): &mut (), request: Request<'_>| answering.run(request)),
            }
        });
        let server = server.map_err(raise)?;
        let name = server.name().to_owned();
        Ok(Self { server: Mutex::new(Some(server)), name, callback })
    }

    #[getter]
    fn service_name(&self) -> &str {
        &self.name
    }

    /// In the order of `sinew.endpoints.ServiceStatistics`.
    fn _statistics(&self) -> PyResult<[u64; 9]> {
        let counts = self.get()?.statistics();
        Ok([
            counts.received,
            counts.waiting,
            counts.in_hand,
            counts.answered,
            counts.failed,
            counts.dropped,
            counts.unclaimed,
            counts.withdrawn,
            counts.refused,
        ])
    }

    /// Publishes events of its requests and responses, with this QoS.
    fn introspect(&self, py: Python<'_>, profile: &Bound<'_, PyAny>, state: u8) -> PyResult<()> {
        let server = self.get()?;
        let (qos, state) = (qos(profile)?, introspection(state)?);
        wait::detached(py, || server.configure_introspection(state, qos)).map_err(raise)
    }

    fn destroy(&self, py: Python<'_>) {
        let server = self.server.lock().take();
        wait::detached(py, || server.map(Server::close));
        self.callback.clear();
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.callback.traverse(&visit)
    }

    fn __clear__(&self) {
        self.callback.clear();
    }
}

impl Service {
    fn get(&self) -> PyResult<Server> {
        let server = self.server.lock().clone();
        server.ok_or_else(|| destroyed("service", &self.name))
    }
}

/// The way to answer one request, now or later and from any thread. Dropped, it fails the call.
#[pyclass(frozen, name = "Responder", module = "sinew")]
pub(crate) struct Respond {
    responder: Mutex<Option<Responder>>,
    class: Arc<Class>,
    of: sinew::erased::MessageType,
}

#[pymethods]
impl Respond {
    /// Sends the response.
    fn respond(&self, response: &Bound<'_, PyAny>) -> PyResult<()> {
        let message = self.class.outgoing_as(response, self.of)?;
        let responder = self.take()?;
        wait::detached(response.py(), || responder.respond(message)).map_err(raise)
    }

    /// Sends the response of a callback. That its caller has given up is no error of the callback;
    /// the library counts such responses.
    fn _answer(&self, response: &Bound<'_, PyAny>) -> PyResult<()> {
        let message = self.class.outgoing_as(response, self.of)?;
        let responder = self.take()?;
        match wait::detached(response.py(), || responder.respond(message)) {
            Err(error) if error.failure().is_some() => Err(raise(error)),
            _ => Ok(()),
        }
    }

    /// Fails the call with a sentence.
    fn fail(&self, py: Python<'_>, reason: &str) {
        if let Ok(responder) = self.take() {
            wait::detached(py, || responder.fail(reason));
        }
    }

    /// Returns whether the caller still waits for the response.
    fn is_awaited(&self) -> bool {
        self.responder.lock().as_ref().is_some_and(Responder::is_awaited)
    }
}

impl Respond {
    fn take(&self) -> PyResult<Responder> {
        let responder = self.responder.lock().take();
        responder.ok_or_else(|| ServiceError::new_err("this request was answered already"))
    }
}

/// A client of a node.
#[pyclass(frozen, subclass, weakref, module = "sinew._sinew")]
pub(crate) struct Client {
    client: Mutex<Option<sinew::erased::Client<()>>>,
    context: sinew::Context,
    name: String,
    request: Arc<Class>,
    response: Arc<Class>,
    of_request: sinew::erased::MessageType,
}

#[pymethods]
impl Client {
    #[new]
    #[pyo3(signature = (node, class, name, *, group=None))]
    fn new(
        py: Python<'_>,
        node: &Node,
        class: &Bound<'_, PyAny>,
        name: &str,
        group: Option<&Group>,
    ) -> PyResult<Self> {
        let of = service_of(class)?;
        let types = library_types(&of)?;
        let owner = Place::of(node, group).owner()?;
        let client =
            wait::detached(py, || in_group!(owner, |maker| maker.erased_client(name, types).create_erased()));
        let client = client.map_err(raise)?;
        let name = client.name().to_owned();
        Ok(Self {
            client: Mutex::new(Some(client)),
            context: node.context.clone(),
            name,
            request: of.request,
            response: of.response,
            of_request: types.request(),
        })
    }

    #[getter]
    fn service_name(&self) -> &str {
        &self.name
    }

    fn service_is_ready(&self) -> PyResult<bool> {
        Ok(self.get()?.is_server_ready())
    }

    #[pyo3(signature = (timeout=None))]
    fn wait_for_service(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        let client = self.get()?;
        wait::sliced(py, &self.context, wait::end(timeout)?, |slice| client.wait_for_server(slice))
    }

    /// Calls the service and waits for the response; this thread runs the server if it can. Raises
    /// `TimeoutError` after `timeout` seconds.
    #[pyo3(signature = (request, timeout=None))]
    fn call(&self, request: &Bound<'_, PyAny>, timeout: Option<f64>) -> PyResult<Py<PyAny>> {
        let (py, client) = (request.py(), self.get()?);
        let message = self.request.outgoing_as(request, self.of_request)?;
        let limit = wait::duration(timeout)?.unwrap_or(Duration::MAX);
        let mut raised = None;
        let _blocking = wait::Blocking::begin();
        let answer = wait::detached(py, || {
            client.__call_while(message, (limit, wait::SLICE), &mut || {
                let signals = wait::attached(|py| py.check_signals());
                let goes_on = matches!(signals, Some(Ok(())));
                raised = signals.and_then(Result::err);
                goes_on
            })
        });
        match answer {
            Ok(answer) => Ok(self.response.received(py, answer)?.unbind()),
            Err(error) => Err(raised.unwrap_or_else(|| call_error(error))),
        }
    }

    /// Calls the service. `done` is called once, on the thread that answers, with the response and
    /// `None`, or with `None` and the exception. Returns the call's number.
    fn send(&self, request: &Bound<'_, PyAny>, done: Py<PyAny>) -> PyResult<(u64, u32)> {
        let (py, client) = (request.py(), self.get()?);
        let message = self.request.outgoing_as(request, self.of_request)?;
        let response = Arc::clone(&self.response);
        let sent = wait::detached(py, || {
            client.call_then_immediately(message, move |result| finish(&response, result, &done))
        });
        let id = sent.map_err(raise)?;
        Ok((id.sequence(), id.place()))
    }

    /// Gives up a call: its `done` is not called any more.
    fn give_up(&self, py: Python<'_>, id: (u64, u32)) -> PyResult<bool> {
        let client = self.get()?;
        Ok(wait::detached(py, || client.give_up(RequestId::from_parts(id.0, id.1))))
    }

    /// Waits until the future of a call is done, for at most `timeout` seconds. Meanwhile this
    /// thread runs the server if it can.
    #[pyo3(signature = (future, timeout=None))]
    fn run_server(&self, future: &Bound<'_, PyAny>, timeout: Option<f64>) -> PyResult<bool> {
        let client = self.get()?;
        done::until_done_beside(
            future,
            &|| self.context.is_shutdown(),
            wait::end(timeout)?,
            &mut |done, slice| Ok(client.__wait_beside(&ANY_REQUEST, done, slice)?.is_some()),
        )
    }

    /// Publishes events of its requests and responses, with this QoS.
    fn introspect(&self, py: Python<'_>, profile: &Bound<'_, PyAny>, state: u8) -> PyResult<()> {
        let client = self.get()?;
        let (qos, state) = (qos(profile)?, introspection(state)?);
        wait::detached(py, || client.configure_introspection(state, qos)).map_err(raise)
    }

    /// In the order of `sinew.endpoints.ClientStatistics`.
    fn _statistics(&self) -> PyResult<[u64; 5]> {
        let counts = self.get()?.statistics();
        Ok([counts.calls, counts.answered, counts.failed, counts.abandoned, counts.waiting])
    }

    fn destroy(&self, py: Python<'_>) {
        let client = self.client.lock().take();
        wait::detached(py, || client.map(sinew::erased::Client::close));
    }
}

impl Client {
    fn get(&self) -> PyResult<sinew::erased::Client<()>> {
        let client = self.client.lock().clone();
        client.ok_or_else(|| destroyed("client", &self.name))
    }
}

/// Makes the exception for a call that failed.
fn call_error(error: CallError) -> PyErr {
    match error.failure() {
        CallFailure::NoServer { .. } => PyTimeoutError::new_err(error.to_string()),
        _ => raise(error),
    }
}

/// Gives the result of a call to Python.
fn finish(response: &Arc<Class>, result: CallResult, done: &Py<PyAny>) {
    wait::attached(|py| {
        let given = match result {
            Ok(message) => {
                response.received(py, message).and_then(|response| done.call1(py, (response, py.None())))
            }
            Err(error) => done.call1(py, (py.None(), raise(error))),
        };
        if let Err(error) = given {
            error.write_unraisable(py, Some(done.bind(py)));
        }
    });
}
