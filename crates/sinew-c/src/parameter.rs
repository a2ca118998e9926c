//! The parameters of a node.

use crate::array::{Texts, texts};
use crate::handle;
use crate::node::sinew_node;
use crate::parameter_descriptor::{self, sinew_parameter_descriptors};
use crate::parameter_handle::{Declared, sinew_parameter};
use crate::parameter_list::{
    list_of, parameter_type, sinew_parameter_list, sinew_parameter_type, sinew_parameter_value, value_of,
    values_of,
};
use crate::status::{Failure, Result, answer, put, sinew_status, status};
use crate::strings::sinew_strings;
use crate::structure::{Structure, structure};
use crate::text::{optional_text, text};
use sinew::Node;
use sinew::error::{ErrorCode, ParameterError};
use sinew::parameters::{
    NamedValue, ParameterBuilder, ParameterField, ParameterType, ParameterValue, RangedField,
};
use std::ffi::c_char;

/// The options of [`sinew_node_declare_parameter`]. Zero is the default of every field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_parameter_options {
    /// `sizeof(struct sinew_parameter_options)`.
    pub size: usize,
    /// The type, if there is no default value, or if that should be converted to it without loss.
    pub kind: sinew_parameter_type,
    /// Whether the parameter may have no value. Without it, a parameter without a default value
    /// must have a value from the command line or a file.
    pub is_optional: bool,
    /// Whether values may have any type, which may change later. Such a parameter can be
    /// undeclared.
    pub is_dynamic: bool,
    /// Whether it can't be set once it is declared. The command line and files still set it.
    pub is_read_only: bool,
    /// Whether the command line and files don't set it.
    pub ignores_overrides: bool,
    /// Whether the ranges below count: that of integers for an integer, that of doubles for a
    /// double.
    pub has_range: bool,
    /// The smallest integer.
    pub integer_from: i64,
    /// The greatest integer.
    pub integer_to: i64,
    /// A value is `integer_from` plus a multiple of this, or `integer_to`. 0: any value.
    pub integer_step: u64,
    /// The smallest double.
    pub double_from: f64,
    /// The greatest double.
    pub double_to: f64,
    /// A value is `double_from` plus a multiple of this, or `double_to`. 0: any value.
    pub double_step: f64,
    /// The description, for people. Null: none.
    pub description: *const c_char,
    /// Rules for the values beyond type and range, for people. Null: none.
    pub constraints: *const c_char,
}

// SAFETY: C's layout, beginning with the size; zeros are null, `false`, numbers.
unsafe impl Structure for sinew_parameter_options {
    const NAME: &str = "sinew_parameter_options";
}

/// Returns the node of a handle of the caller's, for as long as the caller's pointer is there.
pub(crate) fn node_of(node: &*const sinew_node) -> Result<&Node> {
    // SAFETY: the caller's handle, which no thread frees during the call.
    Ok(&unsafe { handle::get(*node, "node") }?.node)
}

/// Declares a parameter. Its value is that of the command line or of a file if they have one, else
/// the default value, which may be null or not set if the options have a type. `options` may be
/// null.
///
/// Callbacks that check values run. Fails with `SINEW_ERROR_PARAMETER_DECLARED`,
/// `SINEW_ERROR_OTHER_PARAMETER_TYPE`, `SINEW_ERROR_INVALID_PARAMETER_VALUE` (beyond its range, or
/// refused by a callback), `SINEW_ERROR_PARAMETER_UNINITIALIZED`,
/// `SINEW_ERROR_EMPTY_PARAMETER_NAME`, and in a callback for parameters with
/// `SINEW_ERROR_IN_PARAMETER_CALLBACK`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_declare_parameter(
    node: *const sinew_node,
    name: *const c_char,
    default_value: *const sinew_parameter_value,
    options: *const sinew_parameter_options,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's arguments.
        drop(unsafe { declare(&node, name, default_value, options) }?); // the parameter stays declared
        Ok(())
    })
}

/// Declares a parameter, as [`sinew_node_declare_parameter`] does, and makes a handle that reads it
/// without searching for its name. The caller frees `*parameter`; the parameter stays declared.
///
/// The handle reads a bool, an integer or a double that has a value and no dynamic type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_declare(
    node: *const sinew_node,
    name: *const c_char,
    default_value: *const sinew_parameter_value,
    options: *const sinew_parameter_options,
    parameter: Option<&mut *mut sinew_parameter>,
) -> sinew_status {
    status(|| {
        let place = parameter.ok_or_else(|| Failure::null("parameter"))?;
        // SAFETY: the caller's arguments.
        *place = handle::new(unsafe { declare(&node, name, default_value, options) }?);
        Ok(())
    })
}

/// # Safety
/// The arguments are those of the functions above.
unsafe fn declare(
    node: &*const sinew_node,
    name: *const c_char,
    default_value: *const sinew_parameter_value,
    options: *const sinew_parameter_options,
) -> Result<Declared> {
    let node = node_of(node)?;
    // SAFETY: the caller's text.
    let name = unsafe { text(name, "name") }?;
    let default = match default_value.is_null() {
        true => ParameterValue::NotSet,
        // SAFETY: the caller's value.
        false => unsafe { value_of(default_value) }?,
    };
    // SAFETY: the caller's structure.
    let options = unsafe { structure(options) }?;
    // SAFETY: the caller's text.
    let description = unsafe { optional_text(options.description, "description") }?;
    // SAFETY: the caller's text.
    let constraints = unsafe { optional_text(options.constraints, "constraints") }?;
    Declaration { node, name, options, description, constraints }.declare(default)
}

/// A parameter that is being declared.
struct Declaration<'a> {
    node: &'a Node,
    name: &'a str,
    options: sinew_parameter_options,
    description: Option<&'a str>,
    constraints: Option<&'a str>,
}

impl Declaration<'_> {
    fn declare(&self, default: ParameterValue) -> Result<Declared> {
        let options = &self.options;
        let kind = match parameter_type(options.kind, "kind")? {
            ParameterType::NotSet => default.kind(),
            kind => kind,
        };
        if options.is_dynamic {
            self.check_no_range("with a dynamic type")?;
            return self.create(self.node.parameter(self.name).dynamic(default));
        }
        match default.widened(kind) {
            ParameterValue::NotSet => self.declare_without_value(kind),
            ParameterValue::Bool(value) if kind == ParameterType::Bool => self.plain(value),
            ParameterValue::Integer(value) if kind == ParameterType::Integer => {
                self.integer(self.node.parameter(self.name).default(value))
            }
            ParameterValue::Double(value) if kind == ParameterType::Double => {
                self.double(self.node.parameter(self.name).default(value))
            }
            ParameterValue::String(value) if kind == ParameterType::String => self.plain(value),
            ParameterValue::ByteArray(value) if kind == ParameterType::ByteArray => self.plain(value),
            ParameterValue::BoolArray(value) if kind == ParameterType::BoolArray => self.plain(value),
            ParameterValue::IntegerArray(value) if kind == ParameterType::IntegerArray => self.plain(value),
            ParameterValue::DoubleArray(value) if kind == ParameterType::DoubleArray => self.plain(value),
            ParameterValue::StringArray(value) if kind == ParameterType::StringArray => self.plain(value),
            other => {
                let sentence = format_args!(
                    "parameter '{}' is declared as {kind}, but its default value is {}",
                    self.name,
                    other.kind()
                );
                Err(Failure::new(ErrorCode::OtherParameterType, sentence))
            }
        }
    }

    fn declare_without_value(&self, kind: ParameterType) -> Result<Declared> {
        match kind {
            ParameterType::NotSet => {
                let sentence = format_args!(
                    "parameter '{}' has neither a default value nor a type: set one, or `.kind` of the options",
                    self.name
                );
                Err(Failure::new(ErrorCode::InvalidStructure, sentence))
            }
            ParameterType::Integer if !self.options.is_optional => {
                self.integer(self.node.parameter(self.name).required())
            }
            ParameterType::Double if !self.options.is_optional => {
                self.double(self.node.parameter(self.name).required())
            }
            ParameterType::Bool => self.without_value::<bool>(),
            ParameterType::Integer => self.without_value::<i64>(),
            ParameterType::Double => self.without_value::<f64>(),
            ParameterType::String => self.without_value::<String>(),
            ParameterType::ByteArray => self.without_value::<Vec<u8>>(),
            ParameterType::BoolArray => self.without_value::<Vec<bool>>(),
            ParameterType::IntegerArray => self.without_value::<Vec<i64>>(),
            ParameterType::DoubleArray => self.without_value::<Vec<f64>>(),
            ParameterType::StringArray => self.without_value::<Vec<String>>(),
        }
    }

    fn plain<T: ParameterField>(&self, default: T) -> Result<Declared> {
        self.check_no_range("of its type")?;
        self.create(self.node.parameter(self.name).default(default))
    }

    fn without_value<T: ParameterField>(&self) -> Result<Declared> {
        self.check_no_range("of its type, or without a value,")?;
        let parameter = self.node.parameter(self.name);
        match self.options.is_optional {
            true => self.create(parameter.optional::<T>()),
            false => self.create(parameter.required::<T>()),
        }
    }

    fn integer(&self, builder: ParameterBuilder<i64>) -> Result<Declared> {
        let sinew_parameter_options { integer_from, integer_to, integer_step, .. } = self.options;
        let step = i64::try_from(integer_step).map_err(|_| {
            let sentence = format_args!("`integer_step` can't be {integer_step}: at most {}", i64::MAX);
            Failure::new(ErrorCode::InvalidStructure, sentence)
        })?;
        self.ranged(builder, (integer_from, integer_to), (step != 0).then_some(step))
    }

    fn double(&self, builder: ParameterBuilder<f64>) -> Result<Declared> {
        let sinew_parameter_options { double_from, double_to, double_step, .. } = self.options;
        self.ranged(builder, (double_from, double_to), (double_step != 0.0).then_some(double_step))
    }

    fn ranged<T: RangedField>(
        &self,
        builder: ParameterBuilder<T>,
        (from, to): (T, T),
        step: Option<T>,
    ) -> Result<Declared> {
        self.create(match (self.options.has_range, step) {
            (false, _) => builder,
            (true, None) => builder.range(from..=to),
            (true, Some(step)) => builder.range_in_steps(from..=to, step),
        })
    }

    fn check_no_range(&self, what: &str) -> Result {
        if !self.options.has_range {
            return Ok(());
        }
        let sentence = format_args!("parameter '{}' has a range, but one {what} can't", self.name);
        Err(Failure::new(ErrorCode::InvalidStructure, sentence))
    }

    fn create<T: ParameterField>(&self, mut builder: ParameterBuilder<T>) -> Result<Declared> {
        if let Some(text) = self.description {
            builder = builder.description(text);
        }
        if let Some(text) = self.constraints {
            builder = builder.constraints(text);
        }
        if self.options.is_read_only {
            builder = builder.read_only();
        }
        if self.options.ignores_overrides {
            builder = builder.ignore_overrides();
        }
        Ok(Declared::new(builder.create()?))
    }
}

/// Removes a parameter with a dynamic type. No callback runs. Fails with
/// `SINEW_ERROR_PARAMETER_NOT_DECLARED`, or if the parameter is read-only or has a fixed type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_undeclare_parameter(
    node: *const sinew_node,
    name: *const c_char,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        Ok(node_of(&node)?.undeclare_parameter(unsafe { text(name, "name") }?)?)
    })
}

/// Returns whether the node has declared a parameter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_has_parameter(node: *const sinew_node, name: *const c_char) -> bool {
    answer(false, || {
        // SAFETY: the caller's text.
        Ok(node_of(&node)?.parameter_value(unsafe { text(name, "name") }?).is_some())
    })
}

fn not_declared(node: &Node, name: &str) -> Failure {
    ParameterError::NotDeclared { node: node.full_name().to_owned(), name: name.to_owned() }.into()
}

/// Returns the value of a parameter.
fn value_in(node: &Node, name: &str) -> Result<ParameterValue> {
    node.parameter_value(name).ok_or_else(|| not_declared(node, name))
}

/// Gets the values of parameters, in the order of the names. The caller frees `*list`. Fails with
/// `SINEW_ERROR_PARAMETER_NOT_DECLARED` if one is not declared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_get_parameters(
    node: *const sinew_node,
    names: *const *const c_char,
    count: usize,
    list: Option<&mut *mut sinew_parameter_list>,
) -> sinew_status {
    status(|| {
        let node = node_of(&node)?;
        // SAFETY: the caller's array.
        let names = unsafe { texts(names, count, "names") }?;
        let one = |name: &str| Ok(NamedValue::new(name, value_in(node, name)?));
        handle::put(list, "list", list_of(names.into_iter().map(one).collect::<Result<Vec<_>>>()?))
    })
}

fn other_type(node: &Node, name: &str, (value, asked): (&ParameterValue, ParameterType)) -> Failure {
    let node = node.full_name();
    if let ParameterValue::NotSet = value {
        let sentence = format_args!("parameter '{name}' of node {node} has no value");
        return Failure::new(ErrorCode::ParameterUninitialized, sentence);
    }
    let kind = value.kind();
    let sentence = format_args!("parameter '{name}' of node {node} is of type {kind}, not of type {asked}");
    Failure::new(ErrorCode::OtherParameterType, sentence)
}

/// Gets the value of a parameter of a type.
///
/// # Safety
/// `node` is null or a handle; `name` is null or ends with a NUL.
unsafe fn get_one<T>(
    node: *const sinew_node,
    name: *const c_char,
    place: Option<&mut T>,
    (asked, one): (ParameterType, impl FnOnce(&ParameterValue) -> Option<T>),
) -> sinew_status {
    status(|| {
        let node = node_of(&node)?;
        // SAFETY: the caller's text.
        let name = unsafe { text(name, "name") }?;
        let value = value_in(node, name)?;
        put(place, "value", one(&value).ok_or_else(|| other_type(node, name, (&value, asked)))?)
    })
}

/// Gets the value of a boolean. Fails with `SINEW_ERROR_PARAMETER_NOT_DECLARED`,
/// `SINEW_ERROR_OTHER_PARAMETER_TYPE`, or `SINEW_ERROR_PARAMETER_UNINITIALIZED` if it has no value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_get_bool_parameter(
    node: *const sinew_node,
    name: *const c_char,
    value: Option<&mut bool>,
) -> sinew_status {
    let one = |value: &ParameterValue| if let ParameterValue::Bool(one) = value { Some(*one) } else { None };
    // SAFETY: the caller's.
    unsafe { get_one(node, name, value, (ParameterType::Bool, one)) }
}

/// Gets the value of an integer; otherwise as [`sinew_node_get_bool_parameter`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_get_integer_parameter(
    node: *const sinew_node,
    name: *const c_char,
    value: Option<&mut i64>,
) -> sinew_status {
    let one =
        |value: &ParameterValue| if let ParameterValue::Integer(one) = value { Some(*one) } else { None };
    // SAFETY: the caller's.
    unsafe { get_one(node, name, value, (ParameterType::Integer, one)) }
}

/// Gets the value of a double; otherwise as [`sinew_node_get_bool_parameter`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_get_double_parameter(
    node: *const sinew_node,
    name: *const c_char,
    value: Option<&mut f64>,
) -> sinew_status {
    let one =
        |value: &ParameterValue| if let ParameterValue::Double(one) = value { Some(*one) } else { None };
    // SAFETY: the caller's.
    unsafe { get_one(node, name, value, (ParameterType::Double, one)) }
}

/// Sets a parameter, as other nodes do by service: callbacks run, and the change is published. An
/// integer is right for a double.
///
/// Waits while another thread declares or sets parameters of the node. Fails with
/// `SINEW_ERROR_PARAMETER_NOT_DECLARED`, or with `SINEW_ERROR_REFUSED` and the reason: its type,
/// its range, that it is read-only, or the sentence of a callback.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_set_parameter(
    node: *const sinew_node,
    name: *const c_char,
    value: *const sinew_parameter_value,
) -> sinew_status {
    status(|| {
        let node = node_of(&node)?;
        // SAFETY: the caller's text.
        let name = unsafe { text(name, "name") }?;
        // SAFETY: the caller's value.
        Ok(node.set_parameter(name, unsafe { value_of(value) }?)?)
    })
}

/// Sets several parameters with one event: all of them, or none. Otherwise as
/// [`sinew_node_set_parameter`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_set_parameters(
    node: *const sinew_node,
    list: *const sinew_parameter_list,
) -> sinew_status {
    status(|| {
        let node = node_of(&node)?;
        // SAFETY: the caller's handle.
        Ok(node.set_parameters(unsafe { values_of(list, "list") }?)?)
    })
}

/// Lists the sorted names of the node's parameters: those that equal one of the prefixes or lie
/// below it (`joint` and `joint.gain`), or all names if there is no prefix. If `depth` is not 0,
/// only names with fewer than `depth` points below the prefix. The caller frees `*names`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_list_parameters(
    node: *const sinew_node,
    prefixes: *const *const c_char,
    count: usize,
    depth: u64,
    names: Option<&mut *mut sinew_strings>,
) -> sinew_status {
    status(|| {
        let node = node_of(&node)?;
        // SAFETY: the caller's array.
        let prefixes = unsafe { texts(prefixes, count, "prefixes") }?;
        handle::put(names, "names", Texts::new(node.list_parameters(&prefixes, depth)))
    })
}

/// Gets the descriptions of parameters, in the order of the names. The caller frees `*descriptors`.
/// Fails with `SINEW_ERROR_PARAMETER_NOT_DECLARED` if one is not declared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_describe_parameters(
    node: *const sinew_node,
    names: *const *const c_char,
    count: usize,
    descriptors: Option<&mut *mut sinew_parameter_descriptors>,
) -> sinew_status {
    status(|| {
        let node = node_of(&node)?;
        // SAFETY: the caller's array.
        let names = unsafe { texts(names, count, "names") }?;
        let one = |name: &str| node.describe_parameter(name).ok_or_else(|| not_declared(node, name));
        handle::put(
            descriptors,
            "descriptors",
            parameter_descriptor::list_of(names.into_iter().map(one).collect::<Result<Vec<_>>>()?),
        )
    })
}
