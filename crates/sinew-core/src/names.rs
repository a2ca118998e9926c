//! Checks of names and of rules for names, and suggestions for misspelt ones: for tools that read
//! names before handing them to nodes.
//!
//! Nodes, publishers and so on check the names that they are made with themselves.

use crate::ros::name::{self, NameError};
use crate::ros::remap::{RemapError, RemapRules};

pub use crate::ros::name::is_hidden;
pub use crate::ros::of_node::of_node;
pub use crate::ros::similar::{alike, similar};

/// Checks the name of a node: letters, digits and underscores, no digit first, 255 bytes at most.
///
/// # Errors
/// [`NameError`]
///
/// ```
/// assert!(sinew::names::check_node_name("left_camera").is_ok());
/// let error = sinew::names::check_node_name("left camera").unwrap_err();
/// assert!(error.to_string().contains("' ' is not allowed"), "{error}");
/// ```
pub fn check_node_name(name: &str) -> Result<(), NameError> {
    name::validate_node_name(name)
}

/// Checks a namespace: `/`, or an absolute name such as `/left/arm`.
///
/// # Errors
/// [`NameError`]
///
/// ```
/// assert!(sinew::names::check_namespace("/left/arm").is_ok());
/// assert!(sinew::names::check_namespace("left").is_err());
/// ```
pub fn check_namespace(namespace: &str) -> Result<(), NameError> {
    name::validate_namespace(namespace)
}

/// Checks a remap rule, written as after `-r`.
///
/// # Errors
/// [`RemapError`]
///
/// ```
/// assert!(sinew::names::check_remap_rule("camera:image:=left/image").is_ok());
/// assert!(sinew::names::check_remap_rule("an image:=image").is_err());
/// ```
pub fn check_remap_rule(rule: &str) -> Result<(), RemapError> {
    RemapRules::default().push(rule)
}
