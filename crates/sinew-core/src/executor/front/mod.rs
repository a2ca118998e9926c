//! Front ends of the scheduler, as programs hold them.

pub(crate) mod builder;
pub(crate) mod executor;
mod served;
mod stay;
pub(crate) mod wait_set;
