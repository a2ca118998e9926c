//! Values of parameters from outside the program: in files and on the command line.
//!
//! | file | what |
//! |---|---|
//! | `file` | parameter files, and the values of `-p` |
//! | `word` | the value of a word without quotes |
//! | `pattern` | the nodes for which a value is meant |
//! | `value_block` | values for the parameters of some nodes |
//! | `overrides` | all values, and which of them are used |
//! | `parameter_file` | a file that a program loads itself |
//!
//! All values are kept in their order, and searched when a node with parameters is made: later
//! values win.

mod file;
mod overrides;
mod parameter_file;
mod pattern;
mod value_block;
mod word;

pub use file::ParameterTextError;
pub(crate) use file::{read, value};
pub(crate) use overrides::Overrides;
pub use parameter_file::ParameterFile;
pub(crate) use pattern::NodePattern;
pub(crate) use value_block::Block;
