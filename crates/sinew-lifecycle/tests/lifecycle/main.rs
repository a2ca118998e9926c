//! Managed nodes as programs use them, in one context and between two that stand for two processes
//! (contexts that communicate through shared memory).
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod callbacks;
mod kills;
mod managed;
mod services;
mod supervisor;
mod world;

/// Defines a test for each path between a managed node and its operator.
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
