//! A message as an object of Python.
//!
//! It is built by a program, or received: then it holds a reference to the library's message, and a
//! field is decoded when it is touched first. What may be changed in place (lists, messages) or is
//! costly to make (texts, arrays) is kept; numbers are read again. Assigned values are kept in
//! either case. Arrays of numbers are read-only views of the received bytes, but a deep copy of a
//! received message makes writable ones when they are touched.
//!
//! | state | encoded from |
//! |---|---|
//! | received, nothing assigned, nothing handed out that can be changed | the received bytes |
//! | a deep copy of one, the same, and no array of numbers handed out | the received bytes |
//! | a field that was assigned or is kept | the kept value |
//! | a field of a received message that was never touched | the received bytes |
//! | a field of a built message that was never touched | its default |
//!
//! The lock of a message is held for some loads and stores only: no code of Python runs under it.

use super::class::{Class, Element, Field};
use super::error::undecodable;
use super::field;
use super::output::{Length, Output, Writer};
use super::reader::{Broken, Reader};
use super::value::{self, Failure};
use parking_lot::Mutex;
use pyo3::exceptions::{PyAttributeError, PyRuntimeError};
use pyo3::prelude::*;
use sinew::erased::Message;
use sinew_msg::cdr::HEADER_SIZE;
use sinew_msg::definition::Shape;
use std::sync::{Arc, OnceLock};

/// The base class of all messages.
#[pyclass(subclass, frozen, name = "Message", module = "sinew")]
pub(crate) struct PyMessage {
    class: Arc<Class>,
    /// Set once, before anything else sees the object.
    source: OnceLock<Source>,
    state: Mutex<State>,
}

/// The bytes of a received message.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) message: Message,
    /// Offset after the header where this message begins: 0, unless it is inside another one.
    pub(super) start: usize,
    /// Whether arrays of numbers are copied when they are touched, since they may be changed: in a
    /// deep copy.
    pub(super) copies: bool,
}

#[derive(Default)]
struct State {
    /// The values that are kept: empty, or one place for each field.
    values: Vec<Option<Py<PyAny>>>,
    /// Where fields begin in the received bytes: as far as that is known.
    offsets: Vec<usize>,
    is_assigned: bool,
}

impl PyMessage {
    pub(super) fn new(class: Arc<Class>) -> Self {
        Self { class, source: OnceLock::new(), state: Mutex::default() }
    }

    pub(super) fn class(&self) -> &Arc<Class> {
        &self.class
    }

    fn encoded(&self) -> Option<(&[u8], &Source)> {
        let source = self.source.get()?;
        Some((source.message.encoded().unwrap_or_default(), source))
    }

    /// Returns a field's value.
    pub(super) fn value<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        let at = {
            let mut state = self.state.lock();
            if let Some(Some(kept)) = state.values.get(index) {
                return Ok(kept.bind(py).clone());
            }
            self.encoded().map(|(encoded, source)| state.offset(&self.class, index, encoded, source.start))
        };
        let field = &self.class.fields[index];
        let broken = |failure| undecodable(failure, &self.class, &field.name);
        let made = match (at, self.encoded()) {
            (Some(at), Some((encoded, source))) => {
                let at = at.map_err(|(inside, broken)| {
                    undecodable(broken.into(), &self.class, &self.class.fields[inside].name)
                })?;
                let mut reader =
                    Reader::new(encoded, at).map_err(|unreadable| broken(Failure::Broken(unreadable)))?;
                value::read(py, field, &mut reader, source).map_err(broken)?
            }
            _ => value::default(py, field)?,
        };
        if matches!((field.shape, &field.element), (Shape::Single, Element::Number(_))) {
            return Ok(made);
        }
        Ok(self.keep(index, made))
    }

    /// Keeps a value, unless another thread was faster: then its value is kept and returned.
    fn keep<'py>(&self, index: usize, made: Bound<'py, PyAny>) -> Bound<'py, PyAny> {
        let mut state = self.state.lock();
        match state.place(index, self.class.fields.len()) {
            Some(kept) => {
                let kept = kept.bind(made.py()).clone();
                drop(state); // before `made` is dropped, which may run code
                kept
            }
            place => {
                *place = Some(made.clone().unbind());
                made
            }
        }
    }

    /// Assigns a field.
    pub(super) fn assign(&self, index: usize, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let field = &self.class.fields[index];
        let accepted =
            field::accept(field, value).map_err(|wrong| wrong.of(&self.class, &field.name))?.unbind();
        let mut state = self.state.lock();
        state.is_assigned = true;
        let old = state.place(index, self.class.fields.len()).replace(accepted);
        drop(state);
        drop(old); // not under the lock: it may run code
        Ok(())
    }

    /// Returns the received message if this object still has its content.
    pub(super) fn untouched(&self, py: Python<'_>) -> Option<Message> {
        let source = self.source.get().filter(|source| source.start == 0)?;
        self.is_untouched(py).then(|| source.message.clone())
    }

    fn is_untouched(&self, py: Python<'_>) -> bool {
        let Some(source) = self.source.get() else { return false };
        let state = self.state.lock();
        if state.is_assigned {
            return false;
        }
        let kept = self.class.fields.iter().zip(&state.values);
        let mut inner: Vec<Py<PyAny>> = Vec::new();
        for (field, value) in kept {
            let Some(value) = value else { continue };
            match (field.shape, &field.element) {
                (_, Element::Number(_)) if !source.copies => {} // can't be changed
                (Shape::Single, Element::Message(_)) => inner.push(value.clone_ref(py)),
                (Shape::Single, _) => {}
                _ => return false, // a list, or an array of a copy
            }
        }
        drop(state);
        inner.iter().all(|one| one.bind(py).cast::<Self>().is_ok_and(|one| one.get().is_untouched(py)))
    }

    /// Writes the message without a header.
    pub(super) fn write(&self, py: Python<'_>, output: &mut impl Output) -> PyResult<()> {
        if self.class.fields.is_empty() {
            output.write(&[0]);
        }
        for (index, field) in self.class.fields.iter().enumerate() {
            self.write_field(py, (index, field), output)?;
        }
        Ok(())
    }

    pub(super) fn write_field(
        &self,
        py: Python<'_>,
        (index, field): (usize, &Field),
        output: &mut impl Output,
    ) -> PyResult<()> {
        let kept = match self.state.lock().values.get(index) {
            Some(Some(kept)) => Some(kept.bind(py).clone()),
            _ => None,
        };
        let value = match kept {
            Some(kept) => kept,
            None if self.source.get().is_none() && field::write_default(field, output) => return Ok(()),
            None => self.value(py, index)?,
        };
        field::write(field, &value, output).map_err(|wrong| wrong.of(&self.class, &field.name))
    }

    /// Returns the length of the encoded form in bytes.
    pub(super) fn encoded_length(&self, py: Python<'_>) -> PyResult<usize> {
        let mut length = Length(0);
        self.write(py, &mut length)?;
        Ok(HEADER_SIZE + length.0)
    }

    /// Writes the encoded form, which has this length.
    pub(super) fn encode_into(&self, py: Python<'_>, encoded: &mut [u8]) -> PyResult<()> {
        let Some(mut writer) = Writer::new(encoded) else { return Err(self.changed()) };
        self.write(py, &mut writer)?;
        if writer.is_full() { Ok(()) } else { Err(self.changed()) }
    }

    pub(super) fn changed(&self) -> PyErr {
        let name = self.class.name();
        PyRuntimeError::new_err(format!("another thread changed this {name} while it was encoded"))
    }

    /// Returns the encoded form.
    pub(super) fn to_bytes(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        if let Some(message) = self.untouched(py) {
            return Ok(message.encoded().unwrap_or_default().to_vec());
        }
        let mut encoded = vec![0; self.encoded_length(py)?];
        self.encode_into(py, &mut encoded)?;
        Ok(encoded)
    }
}

impl State {
    fn place(&mut self, index: usize, count: usize) -> &mut Option<Py<PyAny>> {
        if self.values.is_empty() {
            self.values.resize_with(count, || None);
        }
        &mut self.values[index]
    }

    /// Returns where a field begins. The error has the field that can't be skipped.
    fn offset(
        &mut self,
        class: &Class,
        index: usize,
        encoded: &[u8],
        start: usize,
    ) -> Result<usize, (usize, Broken)> {
        if let Some(at) = self.offsets.get(index) {
            return Ok(*at);
        }
        let known = self.offsets.last().copied().unwrap_or(start);
        let mut reader = Reader::new(encoded, known).map_err(|broken| (0, broken))?;
        if self.offsets.is_empty() {
            self.offsets.reserve_exact(class.fields.len());
            self.offsets.push(start);
        }
        while self.offsets.len() <= index {
            let inside = self.offsets.len() - 1;
            reader.skip(&class.fields[inside]).map_err(|broken| (inside, broken))?;
            self.offsets.push(reader.position());
        }
        Ok(reader.position())
    }
}

impl Class {
    /// Returns an object over a received message.
    pub(super) fn over<'py>(
        self: &Arc<Self>,
        py: Python<'py>,
        source: Source,
    ) -> PyResult<Bound<'py, PyAny>> {
        let object = self.python(py)?.bind(py).call0()?;
        if let Ok(new) = object.cast::<PyMessage>() {
            _ = new.get().source.set(source); // new, so there is none
        }
        Ok(object)
    }

    /// Returns an object over the whole of a received message.
    pub(super) fn over_all<'py>(
        self: &Arc<Self>,
        py: Python<'py>,
        message: Message,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.over(py, Source { message, start: 0, copies: false })
    }

    /// Returns the message that an object of this type is; `None` for any other object.
    #[inline]
    pub(super) fn message_in<'a>(self: &Arc<Self>, object: &'a Bound<'_, PyAny>) -> Option<&'a PyMessage> {
        let message = object.cast::<PyMessage>().ok()?.get();
        Arc::ptr_eq(&message.class, self).then_some(message)
    }
}

impl PyMessage {
    /// Returns a message of the same class with these copies of its values. Received bytes are
    /// shared, since nothing changes them; if `deep`, arrays of numbers in them are copied later,
    /// when they are touched.
    pub(super) fn copied<'py>(
        slf: &Bound<'py, Self>,
        deep: bool,
        copy: impl Fn(&Field, Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let object = slf.get_type().call0()?;
        let new = object.cast::<Self>()?.get();
        if let Some(source) = this.source.get() {
            _ = new.source.set(Source { copies: source.copies || deep, ..source.clone() });
        }
        let (kept, is_assigned) = {
            let state = this.state.lock();
            let values = state.values.iter().map(|value| value.as_ref().map(|value| value.bind(py).clone()));
            (values.collect::<Vec<_>>(), state.is_assigned)
        };
        let copies = this
            .class
            .fields
            .iter()
            .zip(kept)
            .map(|(field, value)| value.map(|value| copy(field, value).map(Bound::unbind)).transpose());
        let values = copies.collect::<PyResult<_>>()?;
        *new.state.lock() = State { values, offsets: Vec::new(), is_assigned };
        Ok(object)
    }
}

#[cold]
pub(super) fn no_field(class: &Class, name: &str) -> PyErr {
    let names: Vec<&str> = class.fields.iter().map(|field| field.name.as_str()).collect();
    let names = if names.is_empty() { "none at all".to_owned() } else { names.join(", ") };
    PyAttributeError::new_err(format!("{} has no field `{name}`, but {names}", class.name()))
}
