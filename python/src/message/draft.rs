//! A message that is written where it will be published.

use super::class::{Class, Element, extent, width};
use super::object::PyMessage;
use super::output::{Length, Output, Writer};
use super::value::new;
use super::view::{ArrayView, Unsent, array_over};
use super::{no_memory, wrong::Wrong};
use parking_lot::Mutex;
use pyo3::exceptions::{PyAttributeError, PyRuntimeError, PyRuntimeWarning};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt};
use sinew::erased::Message;
use sinew::msg::EncodedDraft;
use sinew_msg::cdr::HEADER_SIZE;
use sinew_msg::definition::{Primitive, Shape};
use std::sync::Arc;

/// What a draft needs of its publisher.
pub(crate) trait Publishing: Send + Sync {
    /// Reserves memory for a message of `length` bytes; `None` if there is none.
    fn reserve(&self, length: usize) -> Option<EncodedDraft>;

    /// Publishes a message, detached from Python if that may block.
    fn publish(&self, py: Python<'_>, message: Message) -> PyResult<()>;
}

/// A sequence or array of numbers that is written in place.
struct Part {
    index: usize,
    primitive: Primitive,
    /// Offset in the encoded message.
    offset: usize,
    count: usize,
    array: Mutex<Option<Py<PyAny>>>,
}

/// A message in the memory in which it will be published, as a context manager: the end of `with`
/// publishes it, an exception drops it.
#[pyclass(frozen, name = "Draft", module = "sinew")]
pub(crate) struct Draft {
    class: Arc<Class>,
    publishing: Box<dyn Publishing>,
    unsent: Arc<Mutex<Unsent>>,
    parts: Vec<Part>,
}

impl Draft {
    /// Reserves a message with these fields. A number in the place of a sequence of numbers is its
    /// length: its elements, and those of arrays that are not given, are written later.
    ///
    /// # Errors
    /// There is no such field; a value doesn't fit; there is no memory.
    pub(crate) fn new(
        py: Python<'_>,
        class: &Arc<Class>,
        publishing: Box<dyn Publishing>,
        fields: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let object = new(py, class)?;
        let message = object.cast::<PyMessage>()?.get();
        let mut counts: Vec<Option<usize>> = class.fields.iter().map(fixed_count).collect();
        for (name, value) in fields.into_iter().flatten() {
            let index = class.find(&name.extract::<String>()?)?;
            let field = &class.fields[index];
            let is_length = value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>();
            let is_sequence = matches!(field.shape, Shape::Sequence | Shape::BoundedSequence(_));
            if is_length && is_sequence && matches!(field.element, Element::Number(_)) {
                let count = value.extract::<usize>();
                let count = count.map_err(|_| Wrong::other(&value, "a length").of(class, &field.name))?;
                super::field::check_count(field, count).map_err(|wrong| wrong.of(class, &field.name))?;
                counts[index] = Some(count);
            } else {
                message.assign(index, &value)?;
                counts[index] = None;
            }
        }
        let (mut length, mut parts) = (Length(0), Vec::new());
        write(py, message, &counts, &mut length, &mut Vec::new())?;
        let length = HEADER_SIZE + length.0;
        let mut draft = publishing.reserve(length).ok_or_else(|| no_memory(length))?;
        let bytes = draft.get_mut(..length).unwrap_or_default();
        let Some(mut writer) = Writer::new(bytes) else { return Err(message.changed()) };
        write(py, message, &counts, &mut writer, &mut parts)?;
        if !writer.is_full() {
            return Err(message.changed());
        }
        for part in &parts {
            if matches!(class.fields[part.index].shape, Shape::Array(_)) {
                let end = part.offset + part.count * width(part.primitive);
                draft.get_mut(part.offset..end).unwrap_or_default().fill(0);
            }
        }
        let unsent = Arc::new(Mutex::new(Unsent { draft: Some(draft), exports: 0, has_ended: false }));
        Ok(Self { class: Arc::clone(class), publishing, unsent, parts })
    }

    /// Takes the message, when no array of it is used any more; a copy if one still is.
    fn take(&self, py: Python<'_>) -> PyResult<Message> {
        for part in &self.parts {
            let array = part.array.lock().take();
            drop(array); // not under the lock
        }
        let gone = || PyRuntimeError::new_err("this draft was published or dropped: make another one");
        let (message, is_copy) = {
            let mut unsent = self.unsent.lock();
            if unsent.has_ended {
                return Err(gone());
            }
            unsent.has_ended = true;
            if unsent.exports == 0 {
                (Message::from(unsent.draft.take().ok_or_else(gone)?), false)
            } else {
                let draft = unsent.draft.as_ref().ok_or_else(gone)?;
                let length = draft.len();
                let mut copy = self.publishing.reserve(length).ok_or_else(|| no_memory(length))?;
                copy.copy_from_slice(draft);
                (Message::from(copy), true)
            }
        };
        if is_copy {
            let name = self.class.name();
            let warning = format!(
                "an array of this draft of {name} is still used, so a copy was published: `del` it before `with` ends"
            );
            let warnings = py.import("warnings")?;
            warnings.call_method1("warn", (warning, py.get_type::<PyRuntimeWarning>(), 2))?;
        }
        Ok(message)
    }
}

/// Returns the number of elements of an array of numbers, which is written in place if no value is
/// given.
fn fixed_count(field: &super::class::Field) -> Option<usize> {
    match (&field.element, field.shape) {
        (Element::Number(_), Shape::Array(count)) if field.default.is_none() => Some(extent(count)),
        _ => None,
    }
}

fn write(
    py: Python<'_>,
    message: &PyMessage,
    counts: &[Option<usize>],
    output: &mut impl Output,
    parts: &mut Vec<Part>,
) -> PyResult<()> {
    let fields = &message.class().fields;
    if fields.is_empty() {
        output.write(&[0]);
    }
    for (index, (field, count)) in fields.iter().zip(counts).enumerate() {
        let (Some(count), Element::Number(primitive)) = (*count, &field.element) else {
            message.write_field(py, (index, field), output)?;
            continue;
        };
        if !matches!(field.shape, Shape::Array(_)) {
            output.write_length(count);
        }
        if count > 0 {
            output.align(width(*primitive)); // an empty sequence has no alignment padding
        }
        let offset = output.reserve(count * width(*primitive));
        parts.push(Part { index, primitive: *primitive, offset, count, array: Mutex::new(None) });
    }
    Ok(())
}

#[pymethods]
impl Draft {
    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    /// Publishes the message, unless there was an exception.
    #[pyo3(signature = (kind, _error, _traceback))]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        _error: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        if kind.is_none() {
            let message = self.take(py)?;
            self.publishing.publish(py, message)?;
        } else {
            let mut unsent = self.unsent.lock();
            unsent.has_ended = true;
            if unsent.exports == 0 {
                let dropped = unsent.draft.take();
                drop(unsent);
                drop(dropped);
            } // otherwise the last array frees it
        }
        Ok(false)
    }

    /// Returns the array of a field that is written in place.
    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let part = self.parts.iter().find(|part| self.class.fields[part.index].name == name);
        let Some(part) = part else {
            let class = self.class.name();
            return Err(PyAttributeError::new_err(format!(
                "`{name}` of this draft of {class} is not written in place: give its value, or its length, when the \
                 draft is made"
            )));
        };
        if let Some(array) = &*part.array.lock() {
            return Ok(array.bind(py).clone());
        }
        let view = ArrayView::of_draft(&self.unsent, (part.offset, part.count), part.primitive);
        let gone = || PyRuntimeError::new_err("this draft was published or dropped: make another one");
        let view = Bound::new(py, view.ok_or_else(gone)?)?.into_any();
        let array = array_over(&view, part.primitive, part.count)?;
        *part.array.lock() = Some(array.clone().unbind());
        Ok(array)
    }

    /// A draft's arrays are written, its other fields were given when it was made.
    fn __setattr__(&self, name: &str, _value: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyAttributeError::new_err(format!(
            "`{name}` of a draft can't be assigned: write its elements (`draft.{name}[:] = ..`), or give its value when \
             the draft is made"
        )))
    }
}
