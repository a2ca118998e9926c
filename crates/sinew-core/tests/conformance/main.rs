//! The same scenarios for whatever runs the callbacks and over whatever way the messages go.
//!
//! A scenario is a function of a [`Setting`](suite::stage::Setting): the kind of runner, and the
//! [`Path`](suite::stage::Path). It is written down once, and listed once in [`suite`]; a macro
//! makes a test of it for each of them, whose name says both: `intra::multi_2::order::nothing_is_..`.
//! What only one of them can do has its tests elsewhere (`executors`). Over the network the same
//! scenarios are played in `sinew-zenoh`, as nothing here knows of it.

mod paths;
#[macro_use]
mod suite;

use paths::{Intra, Shm};

conformance! {
    intra over crate::Intra, one_process: for_all
    [single = Threads(1), multi_1 = Threads(1), multi_2 = Threads(2), multi_4 = Threads(4), wait_set = Set]
}

conformance! {
    intra_executors over crate::Intra, one_process: for_executors
    [single = Threads(1), multi_1 = Threads(1), multi_2 = Threads(2), multi_4 = Threads(4), as_many_as_cores = Threads(0)]
}

conformance! {
    intra_threads over crate::Intra, one_process: for_threads
    [multi_2 = Threads(2), multi_4 = Threads(4)]
}

// Between processes. A wait that could never end isn't found out there: nobody knows what the
// others wait for.
conformance! {
    shm over crate::Shm, one_host: for_all
    [single = Threads(1), multi_2 = Threads(2), multi_4 = Threads(4), wait_set = Set]
}

conformance! {
    shm_executors over crate::Shm, one_host: for_executors
    [single = Threads(1), multi_2 = Threads(2), multi_4 = Threads(4)]
}

conformance! {
    shm_threads over crate::Shm, one_host: for_threads
    [multi_2 = Threads(2), multi_4 = Threads(4)]
}
