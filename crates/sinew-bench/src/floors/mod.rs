//! The machine's floors: the least that anything like Sinew costs, measured with as little overhead
//! as possible.

pub(crate) mod copy;
pub(crate) mod direct;
pub(crate) mod handover;
pub(crate) mod line2;
mod measure;
mod peer;
mod second;
mod serve;
mod shared;
pub(crate) mod sleep;
pub(crate) mod wake;

pub(crate) use measure::{SIZES, measure};
pub(crate) use second::Second;
