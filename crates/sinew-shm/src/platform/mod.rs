//! Access to the machine, and the utilities that everything else uses: system calls, locks and
//! atomics, references to shared memory, log lines. Nothing here depends on participants.
//!
//! | file | contents |
//! |---|---|
//! | `sys` | the only file that calls the operating system |
//! | `sync` | the only access to locks and atomics: the real ones, or loom's |
//! | `locks` | locks that check that no code of the program runs under them |
//! | `shm_ref` | references to memory that several processes share |
//! | `fork` | recognizing forked children |
//! | `logging` | Sinew's own log lines |
//! | `prefetch` | hints to fetch cache lines |
//! | `threads` | Sinew's own threads |
//! | `failpoints` | death at a named instruction, for tests |

#[cfg(not(feature = "kill-points"))]
pub(crate) mod failpoints;
#[cfg(feature = "kill-points")]
pub mod failpoints;
pub(crate) mod fork;
pub mod locks;
pub mod logging;
pub mod prefetch;
pub(crate) mod shm_ref;
pub(crate) mod sync;
pub(crate) mod sys;
pub mod threads;
