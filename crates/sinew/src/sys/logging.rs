//! What Sinew says to the person who runs a program: see [`sinew_shm::logging`], by which all of it
//! goes.

pub(crate) use log::Level;
pub(crate) use sinew_shm::logging::{About, later, level_of, parse_level, set_levels};
pub(crate) use sinew_shm::tell;
