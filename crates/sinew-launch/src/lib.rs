//! Launch files: [`load`] turns a file into a [`Plan`], and a [`supervisor`] keeps its processes
//! running.
//!
//! `sinew launch` is built on this crate; the repository's `docs/book/launch.md` describes the
//! files. [`load`] reads and plans a file, and starts nothing: it decides conditions, replaces
//! `$(..)`, reads includes and finds programs, and reports each error in a sentence with its line
//! and column.

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
pub use run::{RunError, RunOptions, harmless, is_ignored, keep, run};
