//! Classes of Python for message types, made when they are first needed.

use super::class::{Class, Field};
use super::object::{PyMessage, no_field};
use super::value::constant;
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use sinew_build::python_class;
use std::fmt::Write as _;
use std::sync::Arc;

/// The type of a message, as its Python class has it.
#[pyclass(frozen, name = "MessageClass", module = "sinew")]
pub(super) struct ClassHandle(pub(super) Arc<Class>);

#[pymethods]
impl ClassHandle {
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    #[getter]
    fn hash(&self) -> String {
        self.0.hash().to_string()
    }

    /// Returns the description as JSON, as ROS 2 hashes it.
    #[getter]
    fn description(&self) -> String {
        self.0.description().to_json()
    }
}

// A field, as the attribute of a class. (No doc comment: it would be that of each field.)
#[pyclass(frozen, name = "Field", module = "sinew")]
struct FieldDescriptor {
    class: Arc<Class>,
    index: usize,
}

impl FieldDescriptor {
    fn field(&self) -> &Field {
        &self.class.fields[self.index]
    }

    /// Returns the message, if it has this field.
    #[inline]
    fn of<'a>(&self, instance: &'a Bound<'_, PyAny>) -> PyResult<&'a PyMessage> {
        self.class.message_in(instance).ok_or_else(|| {
            PyTypeError::new_err(format!("`{}` is a field of {}", self.field().name, self.class.name()))
        })
    }
}

#[pymethods]
impl FieldDescriptor {
    fn __get__<'py>(
        slf: &Bound<'py, Self>,
        instance: Option<&Bound<'py, PyAny>>,
        _owner: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let this = slf.get();
        match instance {
            None => Ok(slf.clone().into_any()), // an attribute of the class
            Some(instance) => this.of(instance)?.value(slf.py(), this.index),
        }
    }

    fn __set__(&self, instance: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.of(instance)?.assign(self.index, value)
    }

    fn __delete__(&self, _instance: &Bound<'_, PyAny>) -> PyResult<()> {
        let (field, class) = (&self.field().name, self.class.name());
        Err(PyAttributeError::new_err(format!("`{field}` of {class} can't be deleted: every message has it")))
    }

    #[getter]
    fn __name__(&self) -> &str {
        &self.field().name
    }

    #[getter]
    fn __doc__(&self) -> String {
        describe(self.field())
    }

    fn __repr__(&self) -> String {
        format!("<field {}: {} of {}>", self.field().name, self.field().shown(), self.class.name())
    }
}

fn describe(field: &Field) -> String {
    let mut text = field.shown();
    if !field.documentation.is_empty() {
        text.push_str(": ");
        text.push_str(&field.documentation.replace('\n', " "));
    }
    text
}

impl Class {
    /// Returns the Python class of these messages.
    pub(crate) fn python(self: &Arc<Self>, py: Python<'_>) -> PyResult<&Py<PyType>> {
        self.python.get_or_try_init(py, || self.make(py))
    }

    fn make(self: &Arc<Self>, py: Python<'_>) -> PyResult<Py<PyType>> {
        let (module, name, qualified) = names(self.name());
        let members = PyDict::new(py);
        for one in &self.constants {
            let element = super::class::constant_element(one);
            members.set_item(&one.name, constant(py, &element, &one.value)?)?;
        }
        for (index, field) in self.fields.iter().enumerate() {
            let class = Arc::clone(self);
            members.set_item(field.interned(py), FieldDescriptor { class, index })?;
        }
        members.set_item("__slots__", PyTuple::empty(py))?;
        members.set_item("__module__", module)?;
        members.set_item("__qualname__", qualified)?;
        members.set_item("__doc__", self.text())?;
        members.set_item("_class", ClassHandle(Arc::clone(self)))?;
        if self.name() == "sensor_msgs/msg/Image" {
            members.set_item("_repr_png_", py.import("sinew.images")?.getattr("png")?)?; // notebooks ask for it
        }
        let bases = PyTuple::new(py, [py.get_type::<PyMessage>()])?;
        let made = py.get_type::<PyType>().call1((PyString::new(py, name), bases, members))?;
        Ok(made.cast_into::<PyType>()?.unbind())
    }

    fn text(&self) -> String {
        let mut text = format!("{}\n", self.name());
        if !self.documentation.is_empty() {
            _ = writeln!(text, "\n{}", self.documentation);
        }
        if !self.fields.is_empty() {
            text.push_str("\nFields:\n");
        }
        for field in &self.fields {
            _ = writeln!(text, "    {}: {}", field.name, describe(field));
        }
        text
    }

    /// Returns the field of this name.
    pub(super) fn find(&self, name: &str) -> PyResult<usize> {
        self.index_of(name).ok_or_else(|| no_field(self, name))
    }
}

/// Returns the module, the name and the qualified name of a type's class: those of a part of a
/// service or action are inside it (`AddTwoInts.Request`).
pub(super) fn names(full: &str) -> (String, &str, String) {
    let mut parts = full.splitn(3, '/');
    let [package, kind, base] = [(); 3].map(|()| parts.next().unwrap_or_default());
    let module = format!("sinew.interfaces.{package}.{kind}");
    (module, base, python_class(base))
}
