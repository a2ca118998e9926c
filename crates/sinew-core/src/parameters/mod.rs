//! Parameters: a node's named, typed values, which other nodes may read and set.
//!
//! [`Node::parameter`](crate::Node::parameter) declares one, [`#[derive(Parameters)]`](Parameters)
//! and [`Node::parameters`](crate::Node::parameters) a struct of them, and [`ParameterClient`]
//! reaches those of other nodes. The repository's `docs/book/parameters.md` explains which to pick,
//! and how files and command lines set values.

// The rules for declaring and setting are those of `rclcpp`, so that tools and habits carry over,
// except that integers become doubles where a double is declared; the sentences are our own.
// Nothing here does I/O.
//
// | file | contents |
// |---|---|
// | `value` | a value, its type, a name with a value |
// | `descriptor` | the description of a parameter: type, range, whether it is read-only |
// | `field` | Rust types of parameters, and the cells that handles read |
// | `spec` | structs of parameters: the parts of `derive(Parameters)` |
// | `table` | the parameters of a node: turns to set them, declaring, setting, listing |
// | `waits` | the threads that wait for turns: none waits in a circle |
// | `callbacks` | the program's callbacks before and after a change |
// | `clients` | clients of parameters: a node without any serves them once there is one |
// | `options` | a node's settings for its parameters |
// | `words` | the sentences that refuse values |
// | `error` | errors |
//
// A node that declares no parameter has no table. One that does is visible to others through its
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
mod waits;
mod words;

parameters_face!();
pub use descriptor::{DoubleRange, IntegerRange, ParameterDescriptor};
pub use field::{ParameterField, RangedField};
pub use spec::Parameters;
pub use value::{NamedValue, ParameterType, ParameterValue};
