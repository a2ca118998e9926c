//! Launch files: what they say becomes a [`Plan`], and a [`supervisor`] keeps its processes running.
//!
//! `sinew launch` is made of this; the repository's `docs/book/launch.md` tells of the files. A file
//! is read and planned by [`load`], which starts nothing: conditions are decided, `$(..)` replaced,
//! includes read and programs found, and whatever is wrong gets a sentence with its line and column.

mod description;
mod error;
mod expression;
mod file;
mod parameter;
mod place;
mod plan;
mod run;
mod similar;
pub mod supervisor;
mod text;

pub use error::{LoadError, Problem};
pub use place::Place;
pub use plan::{ArgumentInfo, Offer, Options, Output, Plan, Process, Word, arguments, find_program, load};
pub use run::{RunError, RunOptions, harmless, keep, run};
