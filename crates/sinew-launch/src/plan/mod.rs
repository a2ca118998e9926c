//! Turns a launch file's items into a plan: decides conditions, replaces texts, reads includes and
//! finds programs. Every error is reported here, before anything starts.

mod contents;
mod limits;
mod load;
mod names;
mod order;
mod parameters;
mod planner;
mod process;
mod programs;
mod scope;

pub use contents::{ArgumentInfo, Offer, Output, Plan, Process, Word};
pub use load::{Options, arguments, find_program, load};
