//! Ctrl-C: the first signal shuts contexts down, the second ends the process.

use crate::context::Shared;
use crate::sync::{Arc, Mutex};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::sync::{LazyLock, Weak};

/// The contexts that a signal shuts down; `None` until the first one has started the thread that waits for signals.
static CONTEXTS: LazyLock<Mutex<Option<Vec<Weak<Shared>>>>> = LazyLock::new(|| Mutex::new(None));

/// Has SIGINT and SIGTERM shut the context down.
pub(crate) fn shut_down_on_signal(context: &Arc<Shared>) -> io::Result<()> {
    let mut contexts = CONTEXTS.lock();
    if contexts.is_none() {
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        std::thread::Builder::new().name("sinew-signals".into()).stack_size(128 * 1024).spawn(move || {
            signals.forever().for_each(handle);
        })?;
    }
    let contexts = contexts.get_or_insert_default();
    contexts.retain(|context| context.strong_count() > 0);
    contexts.push(Arc::downgrade(context));
    Ok(())
}

fn handle(signal: i32) {
    let contexts = CONTEXTS.lock().as_mut().map(std::mem::take).unwrap_or_default();
    let contexts: Vec<_> = contexts.iter().filter_map(Weak::upgrade).collect();
    if contexts.is_empty() {
        // Nobody is left to shut down, or has been told already: what the signal does without us.
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
    contexts.iter().for_each(|context| context.shutdown());
}
