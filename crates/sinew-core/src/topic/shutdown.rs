//! The program's callbacks for the end of a context.

use crate::mailbox::waiters::contain;
use crate::sys::sync::{Arc, Mutex};
use std::fmt;
use std::sync::Weak;

/// Keeps a callback for a shutdown until this is dropped. From
/// [`Context::on_shutdown`](crate::Context::on_shutdown) and
/// [`Context::on_pre_shutdown`](crate::Context::on_pre_shutdown).
#[must_use = "dropping this removes the callback, and `let _ = ..` drops it at once: name the variable"]
pub struct ShutdownHandler(
    #[expect(dead_code, reason = "the session only knows it weakly")] Arc<ShutdownCallback>,
);

/// A callback that runs once.
struct ShutdownCallback(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl ShutdownCallback {
    fn run(&self) {
        let callback = self.0.lock().take();
        if let Some(callback) = callback {
            contain(callback, || "a callback for a shutdown".to_owned());
        }
    }
}

/// The callbacks of one context.
#[derive(Default)]
pub(crate) struct ShutdownCallbacks(Mutex<Vec<Weak<ShutdownCallback>>>);

impl ShutdownCallbacks {
    /// Keeps a callback for [`run`](Self::run). If the context has ended, which the caller asks
    /// after that, [`run`](Self::run) is called again.
    pub(super) fn add(&self, callback: impl FnOnce() + Send + 'static) -> ShutdownHandler {
        let callback = Arc::new(ShutdownCallback(Mutex::new(Some(Box::new(callback)))));
        let mut callbacks = self.0.lock();
        if callbacks.len() == callbacks.capacity() {
            callbacks.retain(|known| known.strong_count() > 0);
        }
        callbacks.push(Arc::downgrade(&callback));
        ShutdownHandler(callback)
    }

    /// Runs the callbacks, each once, in the order in which they were added.
    pub(super) fn run(&self) {
        let callbacks = std::mem::take(&mut *self.0.lock());
        callbacks.iter().filter_map(Weak::upgrade).for_each(|callback| callback.run());
    }
}

impl fmt::Debug for ShutdownHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShutdownHandler")
    }
}
