//! Python's exceptions for messages and their types.

use super::class::Class;
use super::sources::Unusable;
use super::value::Failure;
use crate::error::SinewError;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    sinew,
    UndecodableError,
    SinewError,
    "A field of a received message can't be read: its bytes end too early, or are those of another type."
);
create_exception!(
    sinew,
    InterfaceError,
    SinewError,
    "A message, service or action type is unknown, or its definition is wrong."
);

/// Makes the exception for a field that has no value.
#[cold]
pub(super) fn undecodable(failure: Failure, class: &Class, field: &str) -> PyErr {
    match failure {
        Failure::Broken(broken) => UndecodableError::new_err(broken.of(class, field).to_string()),
        Failure::Python(error) => error,
    }
}

/// Makes the exception for a type that can't be used.
#[cold]
pub(crate) fn unusable(error: Unusable) -> PyErr {
    match error {
        Unusable::Name(_) => PyValueError::new_err(error.to_string()),
        _ => InterfaceError::new_err(error.to_string()),
    }
}

pub(super) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("UndecodableError", py.get_type::<UndecodableError>())?;
    module.add("InterfaceError", py.get_type::<InterfaceError>())
}
