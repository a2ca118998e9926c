//! What the package's Python files call.

use super::class::Class;
use super::error::{self, unusable};
use super::object::PyMessage;
use super::python_class::{ClassHandle, names};
use super::sources::{self, Known, Service};
use super::view::ArrayView;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use sinew_msg::TypeHash;
use sinew_msg::description::TypeDescription;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The types of a service, as its Python class has them.
#[pyclass(frozen, name = "ServiceClass", module = "sinew")]
struct ServiceHandle(Service);

#[pymethods]
impl ServiceHandle {
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    #[getter]
    fn hash(&self) -> String {
        self.0.hash().to_string()
    }
}

/// Returns the message type of a Python class.
///
/// # Errors
/// It is no message class.
pub(crate) fn class_of(class: &Bound<'_, PyAny>) -> PyResult<Arc<Class>> {
    match class.getattr_opt(intern!(class.py(), "_class"))? {
        Some(handle) => Ok(Arc::clone(&handle.cast::<ClassHandle>()?.get().0)),
        None => Err(not_a_class(class, "message", "sinew.interfaces.std_msgs.msg.String")),
    }
}

/// Returns the types of a service's class.
///
/// # Errors
/// It is no service class.
pub(crate) fn service_of(class: &Bound<'_, PyAny>) -> PyResult<Service> {
    match class.getattr_opt(intern!(class.py(), "_service"))? {
        Some(handle) => Ok(handle.cast::<ServiceHandle>()?.get().0.clone()),
        None => Err(not_a_class(class, "service", "sinew.interfaces.std_srvs.srv.Trigger")),
    }
}

#[cold]
fn not_a_class(class: &Bound<'_, PyAny>, what: &str, example: &str) -> PyErr {
    let found = class.repr().map(|text| text.to_string()).unwrap_or_default();
    PyTypeError::new_err(format!("{found} is no {what} class, such as {example}"))
}

/// Returns the type that another process describes: of the definitions that are found here, if they
/// have the same one.
///
/// # Errors
/// The description contradicts itself, or exceeds a limit.
pub(crate) fn described(description: TypeDescription) -> PyResult<Arc<Class>> {
    let (name, hash) = (description.type_description.type_name.clone(), description.hash());
    class_for(&name, Some(hash), || Ok(description)).map_err(error::InterfaceError::new_err)
}

/// Returns the type of this name and hash: of the definitions that are found here, with their
/// constants and defaults, or as `described` describes it, if they lack it or have another one.
///
/// # Errors
/// The error of `described`; the description contradicts itself, or exceeds a limit.
pub(crate) fn class_for(
    name: &str,
    hash: Option<TypeHash>,
    described: impl FnOnce() -> Result<TypeDescription, String>,
) -> Result<Arc<Class>, String> {
    match sources::find(name) {
        Ok(Known::Message(class)) if hash.is_none_or(|hash| hash == class.hash()) => Ok(class),
        _ => Class::of(described()?, None).map_err(|error| error.to_string()),
    }
}

/// Returns the class of a type by its name: `std_msgs/msg/String`, `std_srvs/srv/Trigger_Request`.
#[pyfunction]
fn find_interface<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    match sources::find(name).map_err(unusable)? {
        Known::Message(class) => Ok(class.python(py)?.bind(py).clone().into_any()),
        Known::Service(service) => service_class(py, service),
        Known::Action(description) => action_class(py, &description),
    }
}

fn service_class(py: Python<'_>, service: Service) -> PyResult<Bound<'_, PyAny>> {
    let members = PyDict::new(py);
    let parts = [("Request", &service.request), ("Response", &service.response), ("Event", &service.event)];
    for (name, class) in parts {
        members.set_item(name, class.python(py)?)?;
    }
    let name = service.name().to_owned();
    members.set_item("_service", ServiceHandle(service))?;
    holder(py, &name, &members)
}

fn action_class<'py>(py: Python<'py>, description: &TypeDescription) -> PyResult<Bound<'py, PyAny>> {
    let name = description.type_description.type_name.as_str();
    let part = |suffix: &str| find_interface(py, &format!("{name}_{suffix}"));
    let inner = PyDict::new(py);
    inner.set_item("SendGoalService", part("SendGoal")?)?;
    inner.set_item("GetResultService", part("GetResult")?)?;
    inner.set_item("FeedbackMessage", part("FeedbackMessage")?)?;
    inner.set_item("CancelGoalService", find_interface(py, "action_msgs/srv/CancelGoal")?)?;
    inner.set_item("GoalStatusMessage", find_interface(py, "action_msgs/msg/GoalStatusArray")?)?;
    let members = PyDict::new(py);
    for suffix in ["Goal", "Result", "Feedback"] {
        members.set_item(suffix, part(suffix)?)?;
    }
    members.set_item("Impl", holder(py, &format!("{name}_Impl"), &inner)?)?;
    members.set_item("_action", name)?;
    members.set_item("_hash", description.hash().to_string())?;
    holder(py, name, &members)
}

/// Makes a class that only holds others.
fn holder<'py>(py: Python<'py>, name: &str, members: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
    let (module, base, qualified) = names(name);
    members.set_item("__module__", module)?;
    members.set_item("__qualname__", qualified)?;
    members.set_item("__doc__", name)?;
    py.get_type::<PyType>().call1((PyString::new(py, base), PyTuple::empty(py), members))
}

/// Adds a folder of packages, or the folder of a package, before all others. Returns the packages.
#[pyfunction]
fn add_interface_path(path: PathBuf) -> PyResult<Vec<String>> {
    sources::add_path(&path).map_err(unusable)
}

/// Returns the names of all packages.
#[pyfunction]
fn interface_packages() -> Vec<String> {
    sources::packages()
}

/// Returns whether there is a package of this name.
#[pyfunction]
fn has_interface_package(name: &str) -> bool {
    sources::has_package(name)
}

/// Returns the names that a package defines, e.g. `msg/Image`.
#[pyfunction]
fn interface_names(package: &str) -> PyResult<Vec<String>> {
    sources::names(package).map_err(unusable)
}

/// Returns the stubs of a package: the names of the files and their texts.
#[pyfunction]
fn interface_stubs(package: &str) -> PyResult<BTreeMap<String, String>> {
    sources::stubs(package).map_err(unusable)
}

/// Adds the classes and functions for messages to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    error::add_to(module)?;
    module.add_class::<PyMessage>()?;
    module.add_class::<ArrayView>()?;
    module.add_class::<super::draft::Draft>()?;
    module.add_function(wrap_pyfunction!(find_interface, module)?)?;
    module.add_function(wrap_pyfunction!(add_interface_path, module)?)?;
    module.add_function(wrap_pyfunction!(interface_packages, module)?)?;
    module.add_function(wrap_pyfunction!(has_interface_package, module)?)?;
    module.add_function(wrap_pyfunction!(interface_stubs, module)?)?;
    module.add_function(wrap_pyfunction!(interface_names, module)?)
}
