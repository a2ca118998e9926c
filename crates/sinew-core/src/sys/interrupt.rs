//! Ctrl-C: the first signal shuts contexts down, the second ends the process.
//!
//! A thread waits for signals and shuts contexts down, which calls wakers of the program and so may
//! take long, or never end. The second signal doesn't depend on that thread: the handler counts
//! signals where they interrupt, however soon they follow one another. Once [`COUNTED`] records
//! one, the next has its default effect, on the thread that it interrupts.
//! [`Context::shutdown`](crate::Context::shutdown) describes what a shutdown ends: spins, wait
//! sets, calls, and futures of messages.

use super::sync::{Mutex, Ordering, SignalFlag};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::{emulate_default_handler, register};
use std::io;
use std::sync::{LazyLock, Weak};

/// An object that a signal shuts down.
pub(crate) trait ShutDown: Send + Sync {
    fn shutdown(&self);
}

/// The contexts that a signal shuts down; `None` until the first one has started the thread that
/// waits for signals.
static CONTEXTS: LazyLock<Mutex<Option<Contexts>>> = LazyLock::new(|| Mutex::new(None));

type Contexts = Vec<Weak<dyn ShutDown>>;

/// Whether a signal has come since a context last registered. Set by the handler; cleared under the
/// lock of [`CONTEXTS`]. Relaxed: it orders nothing, but handlers on two threads at once must not
/// both be the first, so it is swapped.
static COUNTED: SignalFlag = SignalFlag::new(false);

/// Makes SIGINT and SIGTERM shut the context down.
pub(crate) fn shut_down_on_signal(context: Weak<dyn ShutDown>) -> io::Result<()> {
    let mut contexts = CONTEXTS.lock();
    if contexts.is_none() {
        for signal in [SIGINT, SIGTERM] {
            let count = move || {
                if COUNTED.swap(true, Ordering::Relaxed) {
                    // It fails only for unknown signals.
                    let _ = emulate_default_handler(signal);
                }
            };
            // SAFETY: the handler touches only an atomic and `emulate_default_handler`, which is
            // made for handlers: it neither allocates, locks nor panics.
            unsafe { register(signal, count) }?;
        }
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        std::thread::Builder::new().name("sinew-signals".into()).stack_size(128 * 1024).spawn(move || {
            signals.forever().for_each(handle);
        })?;
    }
    let contexts = contexts.get_or_insert_default();
    contexts.retain(|context| context.strong_count() > 0);
    contexts.push(context);
    COUNTED.store(false, Ordering::Relaxed);
    Ok(())
}

fn handle(signal: i32) {
    let contexts = {
        let mut contexts = CONTEXTS.lock();
        COUNTED.store(true, Ordering::Relaxed); // a context may have come since the signal did
        contexts.as_mut().map(std::mem::take).unwrap_or_default()
    };
    let contexts: Vec<_> = contexts.iter().filter_map(Weak::upgrade).collect();
    if contexts.is_empty() {
        // Every context is gone or already notified: the signal has its default effect.
        let _ = emulate_default_handler(signal);
    }
    contexts.iter().for_each(|context| context.shutdown());
}
