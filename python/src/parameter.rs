//! Parameters of a node.

use crate::callback::Slot;
use crate::error::{SinewError, raise, with_code};
use crate::node::Node;
use crate::wait;
use parking_lot::Mutex;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyString};
use sinew::error::{CreateError, ErrorCode, ParameterError};
use sinew::parameters::{
    NamedValue, ParameterBuilder, ParameterCallback, ParameterField, ParameterType, ParameterValue,
    RangedField,
};
use std::sync::Arc;

/// Makes a parameter's value of a Python value. An empty list is one of strings, unless `kind` says
/// otherwise.
pub(crate) fn from_python(value: &Bound<'_, PyAny>) -> PyResult<ParameterValue> {
    if value.is_none() {
        return Ok(ParameterValue::NotSet);
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(ParameterValue::Bool(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(ParameterValue::Integer(value.extract()?));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(ParameterValue::Double(value.extract()?));
    }
    if value.is_instance_of::<PyString>() {
        return Ok(ParameterValue::String(value.extract()?));
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(ParameterValue::ByteArray(bytes.as_bytes().to_vec()));
    }
    let unusable = || {
        let kind = value.get_type().name().map(|name| name.to_string()).unwrap_or_default();
        PyTypeError::new_err(format!(
            "a parameter can't have a value of type {kind}: use bool, int, float, str, bytes or a sequence of one of them"
        ))
    };
    let all: Vec<Bound<'_, PyAny>> = value.try_iter().map_err(|_| unusable())?.collect::<PyResult<_>>()?;
    let is = |test: fn(&Bound<'_, PyAny>) -> bool| all.iter().all(test);
    if is(|one| one.is_instance_of::<PyString>()) {
        Ok(ParameterValue::StringArray(value.extract::<Vec<String>>()?))
    } else if is(|one| one.is_instance_of::<PyBool>()) {
        Ok(ParameterValue::BoolArray(list(&all)?))
    } else if is(|one| one.is_instance_of::<PyInt>() && !one.is_instance_of::<PyBool>()) {
        Ok(ParameterValue::IntegerArray(list(&all)?))
    } else if is(|one| one.is_instance_of::<PyFloat>()) {
        Ok(ParameterValue::DoubleArray(list(&all)?))
    } else if is(|one| one.is_instance_of::<PyBytes>()) {
        let bytes: Vec<Vec<u8>> = list(&all)?;
        Ok(ParameterValue::ByteArray(bytes.concat()))
    } else {
        Err(unusable())
    }
}

fn list<'py, T: for<'a> FromPyObject<'a, 'py>>(all: &[Bound<'py, PyAny>]) -> PyResult<Vec<T>> {
    all.iter().map(|one| one.extract::<T>().map_err(Into::into)).collect()
}

pub(crate) fn to_python(py: Python<'_>, value: ParameterValue) -> PyResult<Py<PyAny>> {
    Ok(match value {
        ParameterValue::NotSet => py.None(),
        ParameterValue::Bool(value) => PyBool::new(py, value).to_owned().into_any().unbind(),
        ParameterValue::Integer(value) => value.into_pyobject(py)?.into_any().unbind(),
        ParameterValue::Double(value) => value.into_pyobject(py)?.into_any().unbind(),
        ParameterValue::String(value) => value.into_pyobject(py)?.into_any().unbind(),
        ParameterValue::ByteArray(value) => PyBytes::new(py, &value).into_any().unbind(),
        ParameterValue::BoolArray(value) => value.into_pyobject(py)?.into_any().unbind(),
        ParameterValue::IntegerArray(value) => value.into_pyobject(py)?.into_any().unbind(),
        ParameterValue::DoubleArray(value) => value.into_pyobject(py)?.into_any().unbind(),
        ParameterValue::StringArray(value) => value.into_pyobject(py)?.into_any().unbind(),
    })
}

/// The parts of `sinew.ParameterDescriptor`.
#[derive(FromPyObject)]
struct Options {
    #[pyo3(attribute("type"))]
    kind: u8,
    description: String,
    additional_constraints: String,
    read_only: bool,
    dynamic_typing: bool,
    floating_point_range: Option<(f64, f64, f64)>,
    integer_range: Option<(i64, i64, i64)>,
}

/// Declares a parameter, and returns its value: that of the command line or of a file if there is
/// one, else the default.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the parts of a declaration")]
pub(crate) fn declare_parameter(
    py: Python<'_>,
    node: &Node,
    name: &str,
    default: &Bound<'_, PyAny>,
    options: &Bound<'_, PyAny>,
    ignore_override: bool,
) -> PyResult<Py<PyAny>> {
    let (default, options) = (from_python(default)?, options.extract::<Options>()?);
    let declaration = Declaration { node: &node.get()?, name, options, ignore_override };
    wait::detached(py, || declaration.declare(default)).map_err(Refused::exception)?;
    get_parameter(py, node, name, false)
}

enum Refused {
    Library(CreateError),
    Own(ErrorCode, String),
}

impl From<CreateError> for Refused {
    fn from(error: CreateError) -> Self {
        Self::Library(error)
    }
}

impl Refused {
    fn exception(self) -> PyErr {
        match self {
            Self::Library(error) => raise(error),
            Self::Own(code, sentence) => with_code(code, sentence),
        }
    }
}

struct Declaration<'a> {
    node: &'a sinew::Node,
    name: &'a str,
    options: Options,
    ignore_override: bool,
}

impl Declaration<'_> {
    fn declare(&self, default: ParameterValue) -> Result<(), Refused> {
        let kind = match ParameterType::from_number(self.options.kind) {
            None | Some(ParameterType::NotSet) => default.kind(),
            Some(kind) => kind,
        };
        let parameter = self.node.parameter(self.name);
        if self.options.dynamic_typing {
            return self.create(parameter.dynamic(default));
        }
        let default = match default {
            // Python can't say of what an empty list is.
            ParameterValue::StringArray(all) if all.is_empty() => empty(kind),
            other => other.widened(kind),
        };
        match default {
            ParameterValue::NotSet => self.without_value(kind),
            value if value.kind() != kind => Err(Refused::Own(
                ErrorCode::OtherParameterType,
                format!(
                    "parameter '{}' is declared as {kind}, but its default value is {}",
                    self.name,
                    value.kind()
                ),
            )),
            ParameterValue::Bool(value) => self.create(parameter.default(value)),
            ParameterValue::Integer(value) => {
                self.ranged(parameter.default(value), self.options.integer_range)
            }
            ParameterValue::Double(value) => {
                self.ranged(parameter.default(value), self.options.floating_point_range)
            }
            ParameterValue::String(value) => self.create(parameter.default(value)),
            ParameterValue::ByteArray(value) => self.create(parameter.default(value)),
            ParameterValue::BoolArray(value) => self.create(parameter.default(value)),
            ParameterValue::IntegerArray(value) => self.create(parameter.default(value)),
            ParameterValue::DoubleArray(value) => self.create(parameter.default(value)),
            ParameterValue::StringArray(value) => self.create(parameter.default(value)),
        }
    }

    fn without_value(&self, kind: ParameterType) -> Result<(), Refused> {
        let parameter = self.node.parameter(self.name);
        match kind {
            ParameterType::NotSet => Err(Refused::Own(
                ErrorCode::OtherParameterType,
                format!(
                    "parameter '{}' has neither a default value nor a type: give one, or a descriptor with `type` or `dynamic_typing`",
                    self.name
                ),
            )),
            ParameterType::Bool => self.create(parameter.optional::<bool>()),
            ParameterType::Integer => self.create(parameter.optional::<i64>()),
            ParameterType::Double => self.create(parameter.optional::<f64>()),
            ParameterType::String => self.create(parameter.optional::<String>()),
            ParameterType::ByteArray => self.create(parameter.optional::<Vec<u8>>()),
            ParameterType::BoolArray => self.create(parameter.optional::<Vec<bool>>()),
            ParameterType::IntegerArray => self.create(parameter.optional::<Vec<i64>>()),
            ParameterType::DoubleArray => self.create(parameter.optional::<Vec<f64>>()),
            ParameterType::StringArray => self.create(parameter.optional::<Vec<String>>()),
        }
    }

    fn ranged<T: RangedField + Default + PartialEq + Copy>(
        &self,
        builder: ParameterBuilder<T>,
        range: Option<(T, T, T)>,
    ) -> Result<(), Refused> {
        self.create(match range {
            None => builder,
            Some((from, to, step)) if step == T::default() => builder.range(from..=to),
            Some((from, to, step)) => builder.range_in_steps(from..=to, step),
        })
    }

    fn create<T: ParameterField>(&self, mut builder: ParameterBuilder<T>) -> Result<(), Refused> {
        let options = &self.options;
        builder = builder.description(options.description.as_str());
        builder = builder.constraints(options.additional_constraints.as_str());
        if options.read_only {
            builder = builder.read_only();
        }
        if self.ignore_override {
            builder = builder.ignore_overrides();
        }
        builder.create()?;
        Ok(())
    }
}

/// Returns an empty list of a type.
fn empty(kind: ParameterType) -> ParameterValue {
    match kind {
        ParameterType::ByteArray => ParameterValue::ByteArray(Vec::new()),
        ParameterType::BoolArray => ParameterValue::BoolArray(Vec::new()),
        ParameterType::IntegerArray => ParameterValue::IntegerArray(Vec::new()),
        ParameterType::DoubleArray => ParameterValue::DoubleArray(Vec::new()),
        _ => ParameterValue::StringArray(Vec::new()),
    }
}

/// Returns the value of a parameter; raises an exception if it isn't declared, and with
/// `initialized` if it has a type but no value.
#[pyfunction]
#[pyo3(signature = (node, name, initialized=true))]
pub(crate) fn get_parameter(
    py: Python<'_>,
    node: &Node,
    name: &str,
    initialized: bool,
) -> PyResult<Py<PyAny>> {
    let of = node.get()?;
    let Some(value) = of.parameter_value(name) else {
        let (node, name) = (of.full_name().to_owned(), name.to_owned());
        return Err(raise(ParameterError::NotDeclared { node, name }));
    };
    if initialized
        && value == ParameterValue::NotSet
        && let Some(about) = of.describe_parameter(name).filter(|about| !about.dynamic_typing)
    {
        let (node, name) = (of.full_name().to_owned(), name.to_owned());
        return Err(raise(ParameterError::Uninitialized { node, name, kind: about.kind }));
    }
    to_python(py, value)
}

#[pyfunction]
pub(crate) fn has_parameter(node: &Node, name: &str) -> PyResult<bool> {
    Ok(node.get()?.parameter_value(name).is_some())
}

#[pyfunction]
pub(crate) fn list_parameters(node: &Node, prefixes: Vec<String>, depth: u64) -> PyResult<Vec<String>> {
    let prefixes: Vec<&str> = prefixes.iter().map(String::as_str).collect();
    Ok(node.get()?.list_parameters(&prefixes, depth))
}

#[pyfunction]
pub(crate) fn undeclare_parameter(py: Python<'_>, node: &Node, name: &str) -> PyResult<()> {
    let node = node.get()?;
    wait::detached(py, || node.undeclare_parameter(name)).map_err(raise)
}

/// Sets parameters, all or none.
#[pyfunction]
pub(crate) fn set_parameters(
    py: Python<'_>,
    node: &Node,
    values: Vec<(String, Bound<'_, PyAny>)>,
) -> PyResult<()> {
    let node = node.get()?;
    let values =
        values.iter().map(|(name, value)| named(&node, name, value)).collect::<PyResult<Vec<_>>>()?;
    wait::detached(py, || node.set_parameters(values)).map_err(raise)
}

fn named(node: &sinew::Node, name: &str, value: &Bound<'_, PyAny>) -> PyResult<NamedValue> {
    let value = match from_python(value)? {
        ParameterValue::StringArray(all) if all.is_empty() => {
            empty(node.describe_parameter(name).map_or(ParameterType::StringArray, |about| about.kind))
        }
        other => other,
    };
    Ok(NamedValue::new(name, value))
}

/// What `describe_parameter` returns: name, type, description, constraints, whether it is read-only
/// and has a dynamic type, the ranges.
type Description = (String, u8, String, String, bool, bool, Option<(f64, f64, f64)>, Option<(i64, i64, u64)>);

#[pyfunction]
pub(crate) fn describe_parameter(node: &Node, name: &str) -> PyResult<Option<Description>> {
    let Some(about) = node.get()?.describe_parameter(name) else { return Ok(None) };
    let double = about.double_range.map(|range| (range.from, range.to, range.step));
    let integer = about.integer_range.map(|range| (range.from, range.to, range.step));
    Ok(Some((
        about.name,
        about.kind as u8,
        about.description,
        about.additional_constraints,
        about.read_only,
        about.dynamic_typing,
        double,
        integer,
    )))
}

/// A callback for parameters, until it is removed.
#[pyclass(frozen, module = "sinew._sinew")]
pub(crate) struct ParameterHandle {
    callback: Arc<Slot>,
    added: Mutex<Option<ParameterCallback>>,
}

#[pymethods]
impl ParameterHandle {
    fn remove(&self, py: Python<'_>) -> bool {
        let added = self.added.lock().take();
        let there = added.is_some();
        py.detach(|| drop(added));
        self.callback.set(None);
        there
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.callback.traverse(&visit)
    }

    fn __clear__(&self) {
        self.callback.set(None);
    }
}

/// Adds a callback for parameters: "pre" gets a list of pairs and returns another one, "on" raises
/// or returns a sentence to refuse, "post" gets what was set.
#[pyfunction]
pub(crate) fn add_parameter_callback(
    py: Python<'_>,
    node: &Node,
    kind: &str,
    callback: Py<PyAny>,
) -> PyResult<ParameterHandle> {
    let node = node.get()?;
    let callback = Arc::new(Slot::new(callback));
    let theirs = Arc::clone(&callback);
    let made = match kind {
        "pre" => wait::detached(py, || {
            node.on_pre_set_parameters(move |values| {
                if let Some(changed) = changed(&theirs, values) {
                    *values = changed;
                }
            })
        }),
        "on" => wait::detached(py, || node.on_set_parameters(move |values| checked(&theirs, values))),
        "post" => wait::detached(py, || {
            node.on_post_set_parameters(move |values| theirs.notify(|py| Ok((pairs(py, values)?,))))
        }),
        other => return Err(PyValueError::new_err(format!("{other} is no kind of callback"))),
    };
    Ok(ParameterHandle { callback, added: Mutex::new(Some(made.map_err(raise)?)) })
}

fn pairs(py: Python<'_>, values: &[NamedValue]) -> PyResult<Vec<(String, Py<PyAny>)>> {
    values.iter().map(|one| Ok((one.name.clone(), to_python(py, one.value.clone())?))).collect()
}

fn changed(callback: &Slot, values: &[NamedValue]) -> Option<Vec<NamedValue>> {
    wait::attached(|py| {
        let callback = callback.get(py)?;
        let changed = pairs(py, values).and_then(|pairs| callback.call1(py, (pairs,)));
        let changed = changed.and_then(|changed| {
            let changed: Vec<(String, Bound<'_, PyAny>)> = changed.extract(py)?;
            changed.iter().map(|(name, value)| Ok(NamedValue::new(name, from_python(value)?))).collect()
        });
        changed.inspect_err(|error| error.clone_ref(py).write_unraisable(py, Some(callback.bind(py)))).ok()
    })?
}

fn checked(callback: &Slot, values: &[NamedValue]) -> Result<(), String> {
    wait::attached(|py| {
        let Some(callback) = callback.get(py) else { return Ok(()) };
        let answer = pairs(py, values).and_then(|pairs| callback.call1(py, (pairs,)));
        match answer.and_then(|answer| answer.extract::<Option<String>>(py)) {
            Ok(None) => Ok(()),
            Ok(Some(reason)) => Err(reason),
            Err(error) => Err(error.to_string()),
        }
    })
    .unwrap_or_else(|| Err(SinewError::new_err("the interpreter ends").to_string()))
}
