//! Front ends of the scheduler, as programs hold them.

pub(crate) mod builder;
pub(crate) mod executor;
pub(crate) mod wait_set;
