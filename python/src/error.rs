//! Python's exceptions for the library's errors.

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyTimeoutError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use sinew::error::{ErrorCode, HasCode};
use std::fmt::Display;

create_exception!(
    sinew,
    SinewError,
    PyRuntimeError,
    "An error of Sinew; `code` is its number in the book's list."
);

/// Declares exceptions with their bases, and adds them to the module.
macro_rules! exceptions {
    ($($name:ident($base:ident): $doc:literal;)*) => {
        $(create_exception!(sinew, $name, $base, $doc);)*

        /// Adds all exceptions to the module.
        pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
            let py = module.py();
            module.add("SinewError", py.get_type::<SinewError>())?;
            $(module.add(stringify!($name), py.get_type::<$name>())?;)*
            Ok(())
        }
    };
}

exceptions! {
    ExternalShutdownException(SinewError): "The context was shut down while it was used: by a signal, or by another part of the program.";
    NotInitializedException(SinewError): "There is no context: `sinew.init()` was not called, or `sinew.shutdown()` was.";
    InvalidNameError(SinewError): "A name of a node, topic, service or namespace is invalid.";
    QoSError(SinewError): "The QoS contradicts itself.";
    ServiceError(SinewError): "A call of a service failed.";
    InvalidHandle(SinewError): "What was used is destroyed: a node, publisher, timer and so on.";
    ParameterException(SinewError): "A parameter can't be declared, read or set.";
    ParameterAlreadyDeclaredException(ParameterException): "The parameter is declared already.";
    ParameterNotDeclaredException(ParameterException): "The parameter is not declared.";
    ParameterUninitializedException(ParameterException): "The parameter has no value.";
    InvalidParameterTypeException(ParameterException): "The parameter has another type.";
    InvalidParameterValueException(ParameterException): "The parameter can't have the value.";
    TransformException(SinewError): "A transform can't be looked up or added.";
    LookupException(TransformException): "A frame is unknown.";
    ConnectivityException(TransformException): "Two frames are in different trees.";
    ExtrapolationException(TransformException): "A transform is not known at that time.";
    InvalidArgumentException(TransformException): "A frame's name or a transform is invalid.";
}

/// Makes the exception for an error of the library.
pub(crate) fn raise(error: impl HasCode + Display) -> PyErr {
    with_code(error.code(), error.to_string())
}

/// Makes the exception for a failure with a code.
#[cold]
pub(crate) fn with_code(code: ErrorCode, sentence: String) -> PyErr {
    use ErrorCode as Code;
    let made = match code {
        Code::Shutdown => ExternalShutdownException::new_err(sentence),
        Code::Timeout => PyTimeoutError::new_err(sentence),
        Code::Closed => InvalidHandle::new_err(sentence),
        Code::InvalidName => InvalidNameError::new_err(sentence),
        Code::InvalidQos => QoSError::new_err(sentence),
        Code::OtherType | Code::InvalidTypeTable => PyTypeError::new_err(sentence),
        Code::InvalidPeriod
        | Code::InvalidTypeName
        | Code::InvalidTypeHash
        | Code::InvalidArgument
        | Code::InvalidRemapping
        | Code::InvalidExecutorOptions
        | Code::ZeroLimit => PyValueError::new_err(sentence),
        Code::NoServer
        | Code::ServerGone
        | Code::GatewayGone
        | Code::CallbackFailed
        | Code::RequestDropped
        | Code::TooManyRequests
        | Code::CallsTooDeep
        | Code::WouldDeadlock => ServiceError::new_err(sentence),
        Code::UnknownFrame => LookupException::new_err(sentence),
        Code::NotConnected => ConnectivityException::new_err(sentence),
        Code::Extrapolation => ExtrapolationException::new_err(sentence),
        Code::InvalidFrameName | Code::InvalidTransform | Code::FrameLoop => {
            InvalidArgumentException::new_err(sentence)
        }
        Code::ParameterDeclared => ParameterAlreadyDeclaredException::new_err(sentence),
        Code::ParameterNotDeclared => ParameterNotDeclaredException::new_err(sentence),
        Code::ParameterUninitialized => ParameterUninitializedException::new_err(sentence),
        Code::OtherParameterType => InvalidParameterTypeException::new_err(sentence),
        Code::InvalidParameterValue | Code::EmptyParameterName => {
            InvalidParameterValueException::new_err(sentence)
        }
        _ => SinewError::new_err(sentence),
    };
    Python::attach(|py| {
        // An exception whose class takes no attributes keeps its sentence, which says the same.
        let _ = made.value(py).setattr("code", code as u32);
    });
    made
}
