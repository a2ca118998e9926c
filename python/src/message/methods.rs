//! The methods that all message classes of Python have. (Names with an underscore are never those of
//! fields.)

use super::class::{Class, Element};
use super::error::{undecodable, unusable};
use super::object::PyMessage;
use super::python_class::ClassHandle;
use super::reader::Reader;
use super::{equal, text, value};
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple, PyType};
use sinew::erased::Message;
use std::sync::Arc;

/// Returns the message type of a class, or of a class below it.
fn class_of(class: &Bound<'_, PyType>) -> PyResult<Arc<Class>> {
    match class.getattr_opt(intern!(class.py(), "_class"))? {
        Some(handle) => Ok(Arc::clone(&handle.cast::<ClassHandle>()?.get().0)),
        None => Err(PyTypeError::new_err(
            "Message is the base of all message classes: import one, such as sinew.interfaces.std_msgs.msg.String",
        )),
    }
}

#[pymethods]
impl PyMessage {
    #[new]
    #[classmethod]
    #[pyo3(signature = (*args, **fields))]
    fn create(
        cls: &Bound<'_, PyType>,
        args: &Bound<'_, PyTuple>,
        fields: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let class = class_of(cls)?;
        if !args.is_empty() {
            let name = class.name();
            return Err(PyTypeError::new_err(format!(
                "{name} takes its fields by name: {name}(field=value)"
            )));
        }
        let this = Self::new(class);
        for (name, value) in fields.into_iter().flatten() {
            let name = name.cast_into::<PyString>()?;
            let name = name.to_str()?;
            let index = this.class().find(name)?;
            this.assign(index, &value)?;
        }
        Ok(this)
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast::<Self>() else { return Ok(false) };
        equal::equal(py, self, other.get())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        text::repr(slf)
    }

    /// Returns a message with the same values: lists and messages in it are those of this one.
    fn __copy__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::copied(slf, false, |_, value| Ok(value))
    }

    /// Returns a message with copies of all values, which can be changed: also the arrays of numbers
    /// of a received message.
    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let deepcopy = slf.py().import("copy")?.getattr("deepcopy")?;
        Self::copied(slf, true, |field, value| match field.element {
            Element::Number(primitive) if value::is_memoryview(&value) => {
                value::of_memoryview(&value, primitive)
            }
            _ => deepcopy.call1((value, memo)),
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        let (py, class) = (slf.py(), slf.get_type());
        let bytes = PyBytes::new(py, &slf.get().to_bytes(py)?).into_any();
        Ok((class.getattr(intern!(py, "_deserialize"))?, (bytes,)))
    }

    /// Returns the encoded form.
    fn _serialize<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.to_bytes(py)?))
    }

    #[classmethod]
    fn _deserialize<'py>(cls: &Bound<'py, PyType>, encoded: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let class = class_of(cls)?;
        Reader::new(encoded, 0).map_err(|broken| undecodable(broken.into(), &class, "(header)"))?;
        let of = class.message_type().map_err(unusable)?;
        let message = Message::encoded_from(of, encoded)
            .ok_or_else(|| PyMemoryError::new_err("no memory for the message"))?;
        class.over_all(cls.py(), message)
    }

    /// Returns the classes of the fields that are messages, or have elements that are.
    #[classmethod]
    fn _nested<'py>(cls: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyDict>> {
        let nested = PyDict::new(cls.py());
        for field in &class_of(cls)?.fields {
            if let Element::Message(class) = &field.element {
                nested.set_item(&field.name, class.python(cls.py())?)?;
            }
        }
        Ok(nested)
    }

    /// Returns the names and types of the fields, in order.
    #[classmethod]
    fn get_fields_and_field_types<'py>(cls: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(cls.py());
        for field in &class_of(cls)?.fields {
            fields.set_item(&field.name, field.shown())?;
        }
        Ok(fields)
    }
}
