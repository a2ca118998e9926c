//! Subscriptions.

use crate::callback::{Callback, Outcome, Slot};
use crate::context::Context;
use crate::error::raise;
use crate::event::{Callbacks, Eventful};
use crate::group::{Group, Owner, Place};
use crate::message::{Class, class_of, unusable};
use crate::node::Node;
use crate::publisher::destroyed;
use crate::qos::{parts, qos};
use crate::wait;
use parking_lot::Mutex;
use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sinew::MessageInfo;
use sinew::erased::{Erased, Message, Taken};
use sinew::error::CreateError;
use sinew::executor::CallbackGroup;
use sinew::msg::SubscriptionBuilder;
use sinew::qos::QosOverrides;
use std::sync::Arc;

/// A subscription of a node.
#[pyclass(frozen, subclass, weakref, module = "sinew._sinew")]
pub(crate) struct Subscription {
    subscription: Mutex<Option<sinew::erased::Subscription>>,
    context: sinew::Context,
    form: Form,
    topic: String,
    callback: Option<Callback>,
    listener: Arc<Slot>,
    events: Callbacks,
}

/// The form in which Python gets messages.
#[derive(Clone)]
struct Form {
    class: Arc<Class>,
    /// Bytes in encoded form.
    raw: bool,
}

impl Form {
    fn object(&self, py: Python<'_>, message: Message) -> PyResult<Py<PyAny>> {
        if !self.raw {
            return Ok(self.class.received(py, message)?.unbind());
        }
        if let Some(encoded) = message.encoded() {
            return Ok(PyBytes::new(py, encoded).into_any().unbind());
        }
        let no_bytes = || PyTypeError::new_err(format!("this {} has no encoded form", self.class.name()));
        let length = message.encoded_length().ok_or_else(no_bytes)?;
        let bytes = PyBytes::new_with(py, length, |bytes| {
            message.encode_into(bytes);
            Ok(())
        })?;
        Ok(bytes.into_any().unbind())
    }

    fn call(&self, callback: &Callback, with_info: bool, taken: Taken<'_>) -> Outcome {
        if !with_info {
            return callback.run(|py| Ok((self.object(py, taken.message)?,)));
        }
        let info = taken.info();
        callback.run(|py| {
            let message = self.object(py, taken.message)?;
            Ok((message, Bound::new(py, Info(info))?.into_any().unbind()))
        })
    }
}

/// The settings that both kinds of groups share.
struct Settings<'a> {
    qos: sinew::QoS,
    overrides: bool,
    ignore_own: bool,
    events: &'a Callbacks,
}

impl Settings<'_> {
    fn apply<G: CallbackGroup>(
        &self,
        builder: SubscriptionBuilder<Erased, G>,
    ) -> SubscriptionBuilder<Erased, G>
    where
        SubscriptionBuilder<Erased, G>: Eventful,
    {
        let mut builder = builder.qos(self.qos).accept_encoded();
        if self.overrides {
            builder = builder.qos_overrides(QosOverrides::default());
        }
        if self.ignore_own {
            builder = builder.ignore_own_publications();
        }
        builder.events(self.events)
    }
}

#[pymethods]
impl Subscription {
    /// Without a callback messages are taken.
    #[new]
    #[pyo3(signature = (node, class, topic, profile, callback=None, *, with_info=false, raw=false, group=None, events=None, qos_overrides=false, ignore_local_publications=false))]
    #[expect(
        clippy::too_many_arguments,
        clippy::fn_params_excessive_bools,
        reason = "options, by their names"
    )]
    fn new(
        py: Python<'_>,
        node: &Node,
        class: &Bound<'_, PyAny>,
        topic: &str,
        profile: &Bound<'_, PyAny>,
        callback: Option<Py<PyAny>>,
        with_info: bool,
        raw: bool,
        group: Option<&Group>,
        events: Option<&Bound<'_, PyDict>>,
        qos_overrides: bool,
        ignore_local_publications: bool,
    ) -> PyResult<Self> {
        let form = Form { class: class_of(class)?, raw };
        let place = Place::of(node, group);
        let owner = place.owner()?;
        let of = form.class.message_type().map_err(unusable)?;
        let (qos, events) = (qos(profile)?, Callbacks::new(events, &place)?);
        let settings = Settings {
            qos,
            overrides: qos_overrides,
            ignore_own: ignore_local_publications,
            events: &events,
        };
        let callback = callback.map(|callback| Callback::new(callback, place.clone()));
        let call = callback.clone().map(|callback| (callback, form.clone()));
        let made = wait::detached(py, || match (owner, call) {
            (Owner::Reentrant(group), Some((call, form))) => settings
                .apply(group.erased_subscription(topic, of))
                .callback_erased(move |taken| form.call(&call, with_info, taken)),
            (Owner::Reentrant(group), None) => {
                settings.apply(group.erased_subscription(topic, of)).create_erased()
            }
            (Owner::Exclusive(group), call) => {
                exclusive(settings.apply(group.erased_subscription(topic, of)), call, with_info)
            }
            (Owner::Node(node), call) => {
                exclusive(settings.apply(node.erased_subscription(topic, of)), call, with_info)
            }
        });
        let made = made.map_err(raise)?;
        let topic = made.topic().to_owned();
        let (context, subscription) = (node.context.clone(), Mutex::new(Some(made)));
        let listener = Arc::default();
        Ok(Self { subscription, context, form, topic, callback, listener, events })
    }

    /// Takes the oldest message that was not taken: a pair of it and its info; `None` if there is
    /// none.
    fn take(&self, py: Python<'_>) -> PyResult<Option<(Py<PyAny>, Info)>> {
        match self.get()?.take() {
            Some((message, info)) => Ok(Some((self.form.object(py, message)?, Info(info)))),
            None => Ok(None),
        }
    }

    /// Calls a function with the number of new messages, on the thread that publishes or receives.
    #[pyo3(signature = (listener))]
    fn set_listener(&self, py: Python<'_>, listener: Option<Py<PyAny>>) -> PyResult<()> {
        let subscription = self.get()?;
        let Some(listener) = listener else {
            wait::detached(py, || subscription.clear_listener());
            self.listener.set(None);
            return Ok(());
        };
        self.listener.set(Some(listener));
        let listener = Arc::clone(&self.listener);
        wait::detached(py, || {
            subscription.set_listener(move |count| listener.notify(|_| Ok((count,))));
        });
        Ok(())
    }

    /// The context of its node.
    fn _context(&self) -> Context {
        Context { context: self.context.clone() }
    }

    #[getter]
    fn topic_name(&self) -> &str {
        &self.topic
    }

    #[getter]
    fn msg_type(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(self.form.class.python(py)?.clone_ref(py).into_any())
    }

    fn get_publisher_count(&self) -> PyResult<usize> {
        Ok(self.get()?.publisher_count())
    }

    #[pyo3(signature = (count=1, timeout=None))]
    fn wait_for_publishers(&self, py: Python<'_>, count: usize, timeout: Option<f64>) -> PyResult<bool> {
        let subscription = self.get()?;
        wait::sliced(py, &self.context, wait::end(timeout)?, |slice| {
            subscription.wait_for_publishers(count, slice)
        })
    }

    /// In the order of `sinew.endpoints.SubscriptionStatistics`.
    fn _statistics(&self) -> PyResult<[u64; 10]> {
        let counts = self.get()?.statistics();
        Ok([
            counts.received,
            counts.taken,
            counts.waiting,
            counts.overwritten,
            counts.missed,
            counts.refused,
            counts.expired,
            counts.copies,
            counts.decodings,
            counts.views,
        ])
    }

    fn _qos(&self) -> PyResult<crate::qos::Parts> {
        Ok(parts(&self.get()?.qos()))
    }

    /// Ends the subscription, and waits for its callback if that runs on another thread.
    fn destroy(&self, py: Python<'_>) {
        let subscription = self.subscription.lock().take();
        wait::detached(py, || subscription.map(sinew::erased::Subscription::close));
        self.__clear__();
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.listener.traverse(&visit)?;
        self.callback.iter().chain(self.events.all()).try_for_each(|callback| callback.traverse(&visit))
    }

    fn __clear__(&self) {
        self.listener.set(None);
        self.callback.iter().chain(self.events.all()).for_each(Callback::clear);
    }
}

impl Subscription {
    fn get(&self) -> PyResult<sinew::erased::Subscription> {
        let subscription = self.subscription.lock().clone();
        subscription.ok_or_else(|| destroyed("subscription", &self.topic))
    }
}

/// Makes a subscription in a group that runs one callback at a time.
fn exclusive(
    builder: SubscriptionBuilder<Erased, sinew::Group>,
    call: Option<(Callback, Form)>,
    with_info: bool,
) -> Result<sinew::erased::Subscription, CreateError> {
    match call {
        Some((call, form)) => {
            builder.callback_erased(move |(): &mut (), taken| form.call(&call, with_info, taken))
        }
        None => builder.create_erased(),
    }
}

/// What is known of a message.
#[pyclass(frozen, name = "MessageInfo", module = "sinew")]
pub(crate) struct Info(MessageInfo);

#[pymethods]
impl Info {
    #[getter]
    fn source_timestamp(&self) -> i64 {
        self.0.source_time().nanoseconds()
    }

    #[getter]
    fn received_timestamp(&self) -> i64 {
        self.0.reception_time().nanoseconds()
    }

    #[getter]
    fn publication_sequence_number(&self) -> u64 {
        self.0.publication_sequence()
    }

    #[getter]
    fn reception_sequence_number(&self) -> u64 {
        self.0.reception_sequence()
    }

    #[getter]
    fn publisher_gid<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.publisher().0)
    }

    /// Seconds from its publication to its reception.
    #[getter]
    fn latency(&self) -> f64 {
        self.0.latency().as_secs_f64()
    }
}
