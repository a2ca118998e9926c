//! Signals of Python that come while its main thread spins.
//!
//! Python's handler in C writes a byte to a descriptor, and Python's handlers run when the main
//! thread next looks. A thread of this module reads that descriptor, and wakes the main thread; a
//! wait of the library has no descriptor that would end it.

use parking_lot::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::cell::OnceCell;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// Wakes the main thread. Never blocks.
type Wake = Arc<dyn Fn() + Send + Sync>;

/// The thread that wakes the main one; started by the main thread's first wait, for good.
struct Watcher {
    /// Python's handler of signals writes to it.
    writer: UnixStream,
    /// Wakes the spin that the main thread runs, the innermost one.
    wake: Arc<Mutex<Option<Wake>>>,
}

impl Watcher {
    fn start() -> PyResult<Self> {
        let (mut reader, writer) = UnixStream::pair()?;
        writer.set_nonblocking(true)?;
        let wake: Arc<Mutex<Option<Wake>>> = Arc::default();
        let theirs = wake.clone();
        std::thread::Builder::new().name("sinew-wakeup".to_owned()).spawn(move || {
            let mut bytes = [0; 64];
            while reader.read(&mut bytes).is_ok_and(|read| read > 0) {
                let wake = theirs.lock().clone();
                if let Some(wake) = wake {
                    wake();
                }
            }
        })?;
        Ok(Self { writer, wake })
    }
}

/// While it lives, signals wake a spin of this thread, if it is Python's main thread: a signal that
/// comes just before a wait would otherwise be noticed after it.
pub(crate) struct Signals {
    wake: Wake,
    /// From the first wait on. `None`: another thread than the main one.
    watched: OnceCell<Option<Watched>>,
}

/// What was there before.
struct Watched {
    watcher: &'static Watcher,
    descriptor: i32,
    wake: Option<Wake>,
}

impl Signals {
    /// `wake` ends the current wait of the spin, or the next one.
    pub(crate) fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self { wake: Arc::new(wake), watched: OnceCell::new() }
    }

    /// Watches from now on, and runs Python's handlers of signals that came before. Called before
    /// each wait; the first call does it.
    pub(crate) fn watch(&self, py: Python<'_>) -> PyResult<()> {
        if self.watched.get().is_none() {
            let watched = Watched::begin(py, &self.wake)?;
            self.watched.get_or_init(|| watched);
            py.check_signals()?; // one that came just before wrote nothing
        }
        Ok(())
    }
}

impl Watched {
    /// Returns `None` on another thread than the main one, where Python refuses the descriptor.
    fn begin(py: Python<'_>, wake: &Wake) -> PyResult<Option<Self>> {
        static WATCHER: PyOnceLock<Watcher> = PyOnceLock::new();
        let watcher = WATCHER.get_or_try_init(py, Watcher::start)?;
        let descriptor = match set_wakeup(py, watcher.writer.as_raw_fd()) {
            Ok(former) => former,
            Err(error) if error.is_instance_of::<PyValueError>(py) => return Ok(None),
            Err(error) => return Err(error),
        };
        let wake = watcher.wake.lock().replace(wake.clone());
        Ok(Some(Self { watcher, descriptor, wake }))
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let ours = std::mem::replace(&mut *self.watcher.wake.lock(), self.wake.take());
        drop(ours); // not under the lock
        Python::attach(|py| {
            let _ = set_wakeup(py, self.descriptor); // refused only on another thread
        });
    }
}

fn set_wakeup(py: Python<'_>, descriptor: i32) -> PyResult<i32> {
    static SET: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let arguments = pyo3::types::PyDict::new(py);
    arguments.set_item("warn_on_full_buffer", false)?;
    // Of the module in C: `signal` takes milliseconds to import.
    SET.import(py, "_signal", "set_wakeup_fd")?.call((descriptor,), Some(&arguments))?.extract()
}
