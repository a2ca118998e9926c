//! Actions as programs use them, in one process and between two that stand for two (contexts that
//! meet in shared memory), and beside ends that are made of the generated types by hand.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod ends;
mod kills;
mod overlap;
mod policies;
mod protocol;
mod statuses;
mod waits;
mod world;

/// A test for each way between client and server.
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
