//! The machine's floors: the least that anything like Sinew costs, measured with as little overhead
//! as possible.

pub(crate) mod copy;
mod direct;
mod floor;
mod handover;
mod line2;
mod peer;
mod second;
mod serve;
mod shared;
pub(crate) mod sleep;
mod wake;

pub(crate) use floor::{Floor, all};
pub(crate) use second::Second;
