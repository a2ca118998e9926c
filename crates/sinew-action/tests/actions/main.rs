//! Actions as programs use them, in one process and between two contexts that meet in shared memory
//! and stand for two processes, and with hand-made peers of the generated types.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod ends;
mod kills;
mod overlap;
mod policies;
mod protocol;
mod statuses;
mod waits;
mod world;

/// Makes a test for each path between client and server.
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
