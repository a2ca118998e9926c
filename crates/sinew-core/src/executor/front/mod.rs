//! Front ends of the scheduler: what programs hold.

pub(crate) mod builder;
pub(crate) mod executor;
pub(crate) mod wait_set;
