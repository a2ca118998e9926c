//! The machine's floors: the least that anything like Sinew costs, measured with as little overhead
//! as possible.

pub(crate) mod copy;
mod direct;
mod floor;
mod shared;
pub(crate) mod sleep;
mod two;

pub(crate) use floor::{Floor, all};
pub(crate) use two::Second;
