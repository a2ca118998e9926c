//! Bags: recorded messages, as iterators.

use crate::error::SinewError;
use crate::message::{Class, class_for, unusable};
use parking_lot::Mutex;
use pyo3::create_exception;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use sinew::erased::Message;
use sinew_bag::{BagReader, BagTopic, Messages, Selection};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

create_exception!(sinew, BagError, SinewError, "A bag can't be read, or a part of it is damaged.");

fn unreadable(error: impl ToString) -> PyErr {
    BagError::new_err(error.to_string())
}

/// A bag. Messages are read where they lie in its files, a chunk at a time.
#[pyclass(frozen, name = "BagReader", module = "sinew")]
struct PyBagReader(BagReader);

#[pymethods]
impl PyBagReader {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| BagReader::open(path)).map(Self).map_err(unreadable)
    }

    /// Returns name, type, number of messages, and the hash of the type, of each topic.
    #[getter]
    fn topics(&self) -> Vec<(String, String, u64, Option<String>)> {
        let of = |topic: &Arc<BagTopic>| {
            let hash = topic.type_hash.map(|hash| hash.to_string());
            (topic.name.clone(), topic.type_name.clone(), topic.message_count, hash)
        };
        self.0.topics().iter().map(of).collect()
    }

    /// Returns the times of the first and the last message in nanoseconds; `None` if there is none.
    #[getter]
    fn times(&self) -> Option<(u64, u64)> {
        self.0.times()
    }

    #[getter]
    fn message_count(&self) -> u64 {
        self.0.message_count()
    }

    /// Returns what was found to be damaged when the bag was opened.
    #[getter]
    fn problems(&self) -> Vec<String> {
        self.0.problems().iter().map(ToString::to_string).collect()
    }

    fn messages(
        &self,
        topics: Option<Vec<String>>,
        start: Option<u64>,
        end: Option<u64>,
    ) -> PyResult<BagMessages> {
        let all = Selection::all().from(start.unwrap_or(0)).until(end.unwrap_or(u64::MAX));
        let selection = topics.into_iter().flatten().fold(all, Selection::topic);
        let messages = self.0.messages(&selection).map_err(unreadable)?;
        Ok(BagMessages { messages: Mutex::new(messages), classes: Mutex::default() })
    }
}

/// The messages of a bag: topic, message and time of reception, in that order.
#[pyclass(frozen, name = "BagMessages", module = "sinew")]
struct BagMessages {
    messages: Mutex<Messages>,
    /// By topic.
    classes: Mutex<HashMap<String, Arc<Class>>>,
}

impl BagMessages {
    fn class(&self, topic: &BagTopic) -> PyResult<Arc<Class>> {
        if let Some(class) = self.classes.lock().get(&topic.name) {
            return Ok(Arc::clone(class));
        }
        let described = || {
            let schema = topic.schema.as_ref().ok_or_else(|| "the bag has no definition of it".to_owned())?;
            schema.description(&topic.type_name)
        };
        let class = class_for(&topic.type_name, topic.type_hash, described).map_err(|problem| {
            unreadable(format!(
                "messages of {} can't be decoded as {}: {problem}",
                topic.name, topic.type_name
            ))
        })?;
        Ok(Arc::clone(self.classes.lock().entry(topic.name.clone()).or_insert(class)))
    }
}

#[pymethods]
impl BagMessages {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    /// Returns the next message. After an error about a damaged chunk the iteration can go on.
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<(String, Bound<'py, PyAny>, u64)>> {
        let Some(next) = py.detach(|| self.messages.lock().next()) else { return Ok(None) };
        let next = next.map_err(unreadable)?;
        let class = self.class(&next.topic)?;
        let of = class.message_type().map_err(unusable)?;
        let message = Message::encoded_from(of, &next.bytes)
            .ok_or_else(|| PyMemoryError::new_err("no memory for a message of the bag"))?;
        Ok(Some((next.topic.name.clone(), class.received(py, message)?, next.stamps.received)))
    }

    /// Goes to the first selected message at this time or later, backwards too.
    fn seek(&self, py: Python<'_>, time: u64) {
        py.detach(|| self.messages.lock().seek(time));
    }
}

/// Adds the classes for bags to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("BagError", module.py().get_type::<BagError>())?;
    module.add_class::<PyBagReader>()?;
    module.add_class::<BagMessages>()
}
