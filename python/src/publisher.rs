//! Publishers.

use crate::callback::Callback;
use crate::error::{raise, with_code};
use crate::event::{Callbacks, Eventful};
use crate::group::{Group, Place, in_group};
use crate::lifecycle::Lifecycle;
use crate::message::{Class, Draft, Publishing, class_of, unusable};
use crate::node::Node;
use crate::qos::{parts, qos};
use crate::wait;
use parking_lot::Mutex;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sinew::erased::Message;
use sinew::error::ErrorCode;
use sinew::msg::EncodedDraft;
use sinew::qos::{History, QosOverrides};
use sinew_lifecycle::PublishGate;
use std::sync::Arc;

/// A publisher of a node.
#[pyclass(frozen, subclass, weakref, module = "sinew._sinew")]
pub(crate) struct Publisher {
    publisher: Mutex<Option<sinew::erased::Publisher>>,
    context: sinew::Context,
    class: Arc<Class>,
    topic: String,
    events: Callbacks,
    /// Of a managed node that isn't active, messages are dropped.
    gate: Option<PublishGate>,
}

#[pymethods]
impl Publisher {
    #[new]
    #[pyo3(signature = (node, class, topic, profile, *, group=None, events=None, qos_overrides=false, lifecycle=None))]
    #[expect(clippy::too_many_arguments, reason = "options, by their names")]
    fn new(
        py: Python<'_>,
        node: &Node,
        class: &Bound<'_, PyAny>,
        topic: &str,
        profile: &Bound<'_, PyAny>,
        group: Option<&Group>,
        events: Option<&Bound<'_, PyDict>>,
        qos_overrides: bool,
        lifecycle: Option<&Lifecycle>,
    ) -> PyResult<Self> {
        let class = class_of(class)?;
        let message_type = class.message_type().map_err(unusable)?;
        let place = Place::of(node, group);
        let (owner, qos, events) = (place.owner()?, qos(profile)?, Callbacks::new(events, &place)?);
        let publisher = wait::detached(py, || {
            in_group!(owner, |maker| {
                let mut builder = maker.erased_publisher(topic, message_type).qos(qos);
                if qos_overrides {
                    builder = builder.qos_overrides(QosOverrides::default());
                }
                builder.events(&events).create_erased()
            })
        });
        let publisher = publisher.map_err(raise)?;
        let topic = publisher.topic().to_owned();
        let gate = lifecycle.map(Lifecycle::gate).transpose()?;
        let (context, publisher) = (node.context.clone(), Mutex::new(Some(publisher)));
        Ok(Self { publisher, context, class, topic, events, gate })
    }

    /// Publishes a message, or `bytes` in encoded form.
    fn publish(&self, message: &Bound<'_, PyAny>) -> PyResult<()> {
        let publisher = self.get()?;
        if !admits(self.gate.as_ref(), &self.topic) {
            return Ok(());
        }
        let out = match message.cast::<PyBytes>() {
            Ok(bytes) => encoded(&publisher, bytes.as_bytes())?,
            Err(_) => self.class.outgoing(message, |length| publisher.draft(length))?,
        };
        send(message.py(), &publisher, out)
    }

    /// Makes a draft: a message that is written where it will be published.
    #[pyo3(signature = (**fields))]
    fn draft(&self, py: Python<'_>, fields: Option<&Bound<'_, PyDict>>) -> PyResult<Draft> {
        Draft::new(py, &self.class, Box::new(OfPublisher(self.get()?, self.gate.clone())), fields)
    }

    /// Whether messages are published now, by a publisher of a managed node.
    fn _is_open(&self) -> bool {
        self.gate.as_ref().is_none_or(PublishGate::is_open)
    }

    #[getter]
    fn topic_name(&self) -> &str {
        &self.topic
    }

    #[getter]
    fn msg_type(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(self.class.python(py)?.clone_ref(py).into_any())
    }

    fn get_subscription_count(&self) -> PyResult<usize> {
        Ok(self.get()?.subscription_count())
    }

    /// Waits until that many subscriptions match, for at most `timeout` seconds.
    #[pyo3(signature = (count=1, timeout=None))]
    fn wait_for_subscriptions(&self, py: Python<'_>, count: usize, timeout: Option<f64>) -> PyResult<bool> {
        let publisher = self.get()?;
        wait::sliced(py, &self.context, wait::end(timeout)?, |slice| {
            publisher.wait_for_subscribers(count, slice)
        })
    }

    #[pyo3(signature = (timeout=None))]
    fn wait_for_all_acked(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        let publisher = self.get()?;
        wait::sliced(py, &self.context, wait::end(timeout)?, |slice| publisher.wait_for_all_acked(slice))
    }

    fn assert_liveliness(&self) -> PyResult<()> {
        self.get()?.assert_liveliness();
        Ok(())
    }

    /// In the order of `sinew.endpoints.PublisherStatistics`.
    fn _statistics(&self) -> PyResult<[u64; 7]> {
        let counts = self.get()?.statistics();
        Ok([
            counts.published,
            counts.copies,
            counts.encodings,
            counts.decodings,
            counts.drafts,
            counts.retained,
            counts.pooled,
        ])
    }

    fn _qos(&self) -> PyResult<crate::qos::Parts> {
        Ok(parts(&self.get()?.qos()))
    }

    #[getter]
    fn gid<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.get()?.gid().0))
    }

    fn destroy(&self, py: Python<'_>) {
        let publisher = self.publisher.lock().take();
        wait::detached(py, || drop(publisher));
        self.__clear__();
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.events.all().try_for_each(|callback| callback.traverse(&visit))
    }

    fn __clear__(&self) {
        self.events.all().for_each(Callback::clear);
    }
}

impl Publisher {
    #[inline]
    fn get(&self) -> PyResult<sinew::erased::Publisher> {
        let publisher = self.publisher.lock().clone();
        publisher.ok_or_else(|| destroyed("publisher", &self.topic))
    }
}

#[cold]
pub(crate) fn destroyed(what: &str, name: &str) -> PyErr {
    with_code(ErrorCode::Closed, format!("the {what} of {name} was destroyed"))
}

/// Publishes, without the GIL if that may wait for room in a queue.
#[inline]
fn send(py: Python<'_>, publisher: &sinew::erased::Publisher, message: Message) -> PyResult<()> {
    let sent = if publisher.qos().history == History::KeepAll {
        wait::detached(py, || publisher.publish(message))
    } else {
        publisher.publish(message)
    };
    sent.map_err(raise)
}

/// Makes a message of its encoded form.
fn encoded(publisher: &sinew::erased::Publisher, bytes: &[u8]) -> PyResult<Message> {
    if bytes.len() < 4 {
        let sentence =
            format!("an encoded form begins with a header of 4 bytes, but there are {}", bytes.len());
        return Err(PyValueError::new_err(sentence));
    }
    let mut draft = publisher.draft(bytes.len()).ok_or_else(|| {
        let (length, topic) = (bytes.len(), publisher.topic());
        PyMemoryError::new_err(format!("there is no memory for a message of {length} bytes on {topic}"))
    })?;
    draft.copy_from_slice(bytes);
    Ok(draft.into())
}

/// Returns whether a message is to be published.
#[inline]
fn admits(gate: Option<&PublishGate>, topic: &str) -> bool {
    gate.is_none_or(|gate| gate.admits(topic))
}

struct OfPublisher(sinew::erased::Publisher, Option<PublishGate>);

impl Publishing for OfPublisher {
    fn reserve(&self, length: usize) -> Option<EncodedDraft> {
        self.0.draft(length)
    }

    fn publish(&self, py: Python<'_>, message: Message) -> PyResult<()> {
        if admits(self.1.as_ref(), self.0.topic()) { send(py, &self.0, message) } else { Ok(()) }
    }
}
