//! Parameters as handles, which read the current value without a lock.

use crate::handle::{self, handle};
use crate::status::{Failure, Result, put, sinew_status, status};
use sinew::error::ErrorCode;
use sinew::parameters::{Parameter, ParameterField};
use std::any::Any;

/// A declared parameter with its current value.
pub struct sinew_parameter {
    _opaque: (),
}
handle!(sinew_parameter: Declared);

/// A parameter that was declared. Only those with a value of one word are read by their handle.
pub(crate) enum Declared {
    Bool(Parameter<bool>),
    Integer(Parameter<i64>),
    Double(Parameter<f64>),
    Other,
}

impl Declared {
    pub(crate) fn new<T: ParameterField>(parameter: Parameter<T>) -> Self {
        let parameter: &dyn Any = &parameter;
        if let Some(of) = parameter.downcast_ref::<Parameter<bool>>() {
            return Self::Bool(of.clone());
        }
        if let Some(of) = parameter.downcast_ref::<Parameter<i64>>() {
            return Self::Integer(of.clone());
        }
        parameter.downcast_ref::<Parameter<f64>>().map_or(Self::Other, |of| Self::Double(of.clone()))
    }
}

/// Frees a handle; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_free(parameter: *mut sinew_parameter) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(parameter, "parameter") };
}

/// Reads by a handle.
///
/// # Safety
/// `parameter` is null or a handle.
unsafe fn read<T>(
    parameter: *const sinew_parameter,
    value: Option<&mut T>,
    one: impl FnOnce(&Declared) -> Option<T>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let declared = unsafe { handle::get(parameter, "parameter") }?;
        let value_read: Result<T> = one(declared).ok_or_else(|| {
            let sentence =
                "the parameter is of another type, or one that its handle can't read: read it by its name";
            Failure::new(ErrorCode::OtherParameterType, sentence)
        });
        put(value, "value", value_read?)
    })
}

/// Reads the current value of a bool. Takes no lock and allocates nothing; any thread may read.
/// Fails with `SINEW_ERROR_OTHER_PARAMETER_TYPE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_get_bool(
    parameter: *const sinew_parameter,
    value: Option<&mut bool>,
) -> sinew_status {
    let one = |of: &Declared| if let Declared::Bool(of) = of { Some(of.get()) } else { None };
    // SAFETY: the caller's handle.
    unsafe { read(parameter, value, one) }
}

/// Reads the current value of an integer; otherwise as [`sinew_parameter_get_bool`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_get_integer(
    parameter: *const sinew_parameter,
    value: Option<&mut i64>,
) -> sinew_status {
    let one = |of: &Declared| if let Declared::Integer(of) = of { Some(of.get()) } else { None };
    // SAFETY: the caller's handle.
    unsafe { read(parameter, value, one) }
}

/// Reads the current value of a double; otherwise as [`sinew_parameter_get_bool`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_get_double(
    parameter: *const sinew_parameter,
    value: Option<&mut f64>,
) -> sinew_status {
    let one = |of: &Declared| if let Declared::Double(of) = of { Some(of.get()) } else { None };
    // SAFETY: the caller's handle.
    unsafe { read(parameter, value, one) }
}
