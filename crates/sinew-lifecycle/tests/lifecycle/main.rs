//! Managed nodes as programs use them, in one process and between two that stand for two (contexts
//! that meet in shared memory).
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod callbacks;
mod kills;
mod managed;
mod services;
mod supervisor;
mod world;

/// A test for each way between a managed node and who manages it.
macro_rules! on_both_paths {
    ($($name:ident),* $(,)?) => {
        mod in_process {
            $(#[test] fn $name() { super::$name(&crate::world::World::in_process()); })*
        }
        mod shm {
            $(#[test] fn $name() { super::$name(&crate::world::World::shm()); })*
        }
    };
}
pub(crate) use on_both_paths;
