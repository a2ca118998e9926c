//! Parameters: a node's named, typed values, which others may look at and set.
//!
//! [`Node::parameter`](crate::Node::parameter) declares one, [`#[derive(Parameters)]`](Parameters)
//! and [`Node::parameters`](crate::Node::parameters) a struct of them, and [`ParameterClient`]
//! reaches those of other nodes. The repository's `docs/book/parameters.md` says which to pick, and
//! how files and command lines give values.

// The rules by which they are declared and set are those of `rclcpp`, so that tools and habits
// carry over, but that integers become doubles where one is declared; the sentences are our own.
// Nothing here does I/O.
//
// | file | what |
// |---|---|
// | `value` | a value, its type, a name with a value |
// | `descriptor` | what is said of a parameter: type, range, whether it is read-only |
// | `field` | Rust types that parameters have, and the cells that handles read |
// | `spec` | structs of parameters: what `derive(Parameters)` is made of |
// | `table` | the parameters of a node: who may set them when, declaring, setting, listing |
// | `callbacks` | what is asked before a change, and told after it |
// | `clients` | who asks for parameters: a node without any serves them once there is a client |
// | `options` | how a node deals with parameters |
// | `words` | the sentences with which values are refused |
// | `error` | why not |
//
// A node that declares no parameter has no table. One that does is seen by others through its
// services, which `api` makes.

pub(crate) mod callbacks;
pub(crate) mod clients;
pub(crate) mod descriptor;
pub(crate) mod error;
pub(crate) mod field;
pub(crate) mod options;
pub(crate) mod spec;
pub(crate) mod table;
#[cfg(all(test, not(loom)))]
mod tests;
pub(crate) mod value;
mod words;

parameters_face!();
pub use descriptor::{DoubleRange, IntegerRange, ParameterDescriptor};
pub use field::{ParameterField, RangedField};
pub use spec::Parameters;
pub use value::{NamedValue, ParameterType, ParameterValue};
