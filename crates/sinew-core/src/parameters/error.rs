//! Errors of declaring, setting and reading parameters.

use super::value::ParameterType;
use crate::sys::says::debug_says;

debug_says!(ParameterError:
    EmptyName { node }, AlreadyDeclared { node, name }, NotDeclared { node, name }, InvalidType { node, name, reason },
    InvalidValue { node, name, reason }, Refused { node, reason }, Uninitialized { node, name, kind },
    InCallback { node }, NoSuchType { node, name, reason });

/// A parameter could not be declared, set or read. Nothing was changed.
///
/// ```
/// use sinew::prelude::*;
/// use sinew::error::ParameterError;
/// let node = Context::new()?.node("control")?;
/// let gain = node.parameter("gain").default(1.0).range(0.0..=10.0).create()?;
/// let error = gain.set(20.0).unwrap_err();
/// assert!(matches!(error, ParameterError::Refused { .. }));
/// assert_eq!(gain.get(), 1.0);
/// # Ok::<(), sinew::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// A parameter must have a name.
    #[error("node {node} can't have a parameter without a name: parameter name must not be empty")]
    EmptyName {
        /// The node's full name.
        node: String,
    },
    /// A parameter can be declared only once.
    #[error(
        "parameter '{name}' of node {node} has already been declared: keep the handle of the first time, and clone it"
    )]
    AlreadyDeclared {
        /// The node's full name.
        node: String,
        /// The parameter's name.
        name: String,
    },
    /// There is no such parameter.
    #[error(
        "node {node} has no parameter '{name}': declare it first, or have the node allow undeclared parameters"
    )]
    NotDeclared {
        /// The node's full name.
        node: String,
        /// The parameter's name.
        name: String,
    },
    /// The value from the command line or a parameter file has another type than the parameter.
    #[error(
        "parameter '{name}' of node {node} can't have the value that the command line, a parameter file or the node's \
         builder gives it: {reason}"
    )]
    InvalidType {
        /// The node's full name.
        node: String,
        /// The parameter's name.
        name: String,
        /// The types.
        reason: String,
    },
    /// The value with which the parameter is declared isn't allowed.
    #[error("parameter '{name}' of node {node} could not be set: {reason}")]
    InvalidValue {
        /// The node's full name.
        node: String,
        /// The parameter's name.
        name: String,
        /// The reason.
        reason: String,
    },
    /// The values are not set: the parameter, its descriptor or a callback refuses them.
    #[error("node {node} has set nothing: {reason}")]
    Refused {
        /// The node's full name.
        node: String,
        /// The reason.
        reason: String,
    },
    /// The parameter was declared without a default, and nothing sets a value.
    #[error(
        "parameter '{name}' of node {node} has no value: start the program with `--ros-args -p {name}:=..` (it is of type {kind}), or give it a default"
    )]
    Uninitialized {
        /// The node's full name.
        node: String,
        /// The parameter's name.
        name: String,
        /// The parameter's type.
        kind: ParameterType,
    },
    /// A callback for parameters can't declare or set parameters of its own node; nor those of a
    /// node whose callback is waiting, on another thread, until this callback returns.
    #[error(
        "a callback for parameters can't declare or set any of node {node}, whose change waits for it: do so later, in a timer or a guard condition"
    )]
    InCallback {
        /// The node's full name.
        node: String,
    },
    /// The parameter has another Rust type than the requested handle.
    #[error("parameter '{name}' of node {node} can't be read this way: {reason}")]
    NoSuchType {
        /// The node's full name.
        node: String,
        /// The parameter's name.
        name: String,
        /// The types.
        reason: String,
    },
}
