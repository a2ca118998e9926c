//! Ctrl-C: the first signal shuts contexts down, the second ends the process.
//!
//! A thread waits for signals and shuts contexts down, which calls wakers of the program and so may
//! take long, or never end. The second signal doesn't depend on that thread: the handler counts
//! signals where they interrupt, however soon they follow one another. Once [`COUNTED`] records
//! one, the next has its default effect, on the thread that it interrupts.
//! [`Context::shutdown`](crate::Context::shutdown) describes what a shutdown ends: spins, wait
//! sets, calls, and futures of messages.

//!
//! `signal-hook` never removes its own handler again, so after [`uninstall`] ours gives a signal its
//! default effect, unless the program handled it before.

use super::sync::{Mutex, Ordering, SignalFlag};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals as Arriving};
use signal_hook::low_level::{emulate_default_handler, register, unregister};
use sinew_shm::threads;
use std::io;
use std::mem::MaybeUninit;
use std::sync::{LazyLock, Weak};

/// The signals that shut down the contexts of the process that want it
/// ([`ContextBuilder::interrupts`](crate::ContextBuilder::interrupts)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Signals {
    /// SIGINT (Ctrl-C) and SIGTERM.
    All,
    /// SIGINT alone.
    Interrupt,
    /// SIGTERM alone.
    Terminate,
}

impl Signals {
    fn has(self, signal: i32) -> bool {
        match self {
            Self::All => true,
            Self::Interrupt => signal == SIGINT,
            Self::Terminate => signal == SIGTERM,
        }
    }
}

/// An object that a signal shuts down.
pub(crate) trait ShutDown: Send + Sync {
    fn shutdown(&self, reason: &str);
}

/// What the handler of a signal has to know. Relaxed: the flags order nothing.
struct Known {
    number: i32,
    name: &'static str,
    /// Whether it shuts contexts down.
    is_handled: SignalFlag,
    /// Whether the program left it its default effect, before the first handler of ours.
    had_default: SignalFlag,
}

impl Known {
    const fn new(number: i32, name: &'static str) -> Self {
        Self { number, name, is_handled: SignalFlag::new(false), had_default: SignalFlag::new(false) }
    }

    /// Lets the signal have the effect that it had without a handler of ours. The program's own
    /// handler was called already, if there was one.
    fn pass_on(&self) {
        if self.had_default.load(Ordering::Relaxed) {
            self.end_process();
        }
    }

    fn end_process(&self) {
        // It fails only for unknown signals.
        let _ = emulate_default_handler(self.number);
    }
}

static KNOWN: [Known; 2] = [Known::new(SIGINT, "SIGINT"), Known::new(SIGTERM, "SIGTERM")];

/// Whether a signal has come since a context last registered. Set by the handler; cleared under the
/// lock of [`HANDLING`]. Relaxed: it orders nothing, but handlers on two threads at once must not
/// both be the first, so it is swapped.
static COUNTED: SignalFlag = SignalFlag::new(false);

static HANDLING: LazyLock<Mutex<Handling>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Handling {
    /// The contexts that a signal shuts down.
    contexts: Vec<Weak<dyn ShutDown>>,
    installed: Option<Signals>,
    /// The numbers of signals with a handler of ours, which stays.
    registered: Vec<i32>,
    /// Adds signals to those for which the thread waits; `None` before it is started.
    thread: Option<Handle>,
}

/// Has signals shut down the contexts of the process that want it; a second one ends the process.
/// Returns `false`, and changes nothing, if handlers are installed already: the first context with
/// [`interrupts`](crate::ContextBuilder::interrupts) does that, unless it
/// [leaves it](crate::ContextBuilder::signals). The first call starts the thread that waits for
/// signals.
///
/// # Errors
/// The operating system refuses a handler or the thread.
///
/// ```
/// use sinew::prelude::*;
/// use sinew::signal::{self, Signals};
/// let context = Context::builder().interrupts(true).signals(None).build()?;
/// assert_eq!(signal::installed(), None);
/// assert!(signal::install(Signals::Terminate)?); // Ctrl-C ends the program at once
/// assert!(signal::uninstall());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn install(signals: Signals) -> io::Result<bool> {
    HANDLING.lock().install(signals)
}

/// Gives the signals back the effect that they had before: the default one, or that of the
/// program's own handler. Returns `false` if no handlers were installed.
pub fn uninstall() -> bool {
    let mut handling = HANDLING.lock();
    KNOWN.iter().for_each(|known| known.is_handled.store(false, Ordering::Relaxed));
    handling.installed.take().is_some()
}

/// Returns the signals that shut contexts down now; `None` without handlers.
pub fn installed() -> Option<Signals> {
    HANDLING.lock().installed
}

/// Has signals shut the context down. Installs handlers for them, unless they are left to the
/// program or there are some already.
pub(crate) fn shut_down_on_signal(context: Weak<dyn ShutDown>, signals: Option<Signals>) -> io::Result<()> {
    let mut handling = HANDLING.lock();
    if let Some(signals) = signals {
        handling.install(signals)?;
    }
    handling.contexts.retain(|context| context.strong_count() > 0);
    handling.contexts.push(context);
    COUNTED.store(false, Ordering::Relaxed);
    Ok(())
}

impl Handling {
    fn install(&mut self, signals: Signals) -> io::Result<bool> {
        if self.installed.is_some() {
            return Ok(false);
        }
        let wanted = || KNOWN.iter().filter(|known| signals.has(known.number));
        wanted().try_for_each(|known| self.register(known))?;
        COUNTED.store(false, Ordering::Relaxed);
        wanted().for_each(|known| known.is_handled.store(true, Ordering::Relaxed));
        self.installed = Some(signals);
        Ok(true)
    }

    /// Registers the handler of a signal, which stays, and has the thread wait for the signal.
    fn register(&mut self, known: &'static Known) -> io::Result<()> {
        if self.registered.contains(&known.number) {
            return Ok(());
        }
        known.had_default.store(has_default_effect(known.number)?, Ordering::Relaxed);
        let count = || {
            if !known.is_handled.load(Ordering::Relaxed) {
                known.pass_on();
            } else if COUNTED.swap(true, Ordering::Relaxed) {
                known.end_process();
            }
        };
        // SAFETY: the handler touches only atomics and `emulate_default_handler`, which is made for
        // handlers: it neither allocates, locks nor panics.
        let handler = unsafe { register(known.number, count) }?;
        let added = match &self.thread {
            Some(thread) => thread.add_signal(known.number),
            None => start_thread(known.number).map(|thread| self.thread = Some(thread)),
        };
        if added.is_err() {
            unregister(handler);
        } else {
            self.registered.push(known.number);
        }
        added
    }
}

/// Starts the thread that waits for signals, at first for this one.
fn start_thread(signal: i32) -> io::Result<Handle> {
    let mut arriving = Arriving::new([signal])?;
    let handle = arriving.handle();
    let wait = move || arriving.forever().for_each(shut_down);
    threads::builder("sinew-signals").spawn(wait)?;
    Ok(handle)
}

/// Whether a signal has its default effect now.
fn has_default_effect(signal: i32) -> io::Result<bool> {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: it only writes the present action, to where there is room for one.
    if unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it succeeded, so the action was written.
    let action = unsafe { action.assume_init() };
    Ok(action.sa_sigaction == libc::SIG_DFL)
}

/// Shuts the contexts down that want it, on the thread that waits for signals.
fn shut_down(signal: i32) {
    let Some(known) = KNOWN.iter().find(|known| known.number == signal) else { return };
    let contexts = {
        let mut handling = HANDLING.lock();
        if !known.is_handled.load(Ordering::Relaxed) {
            return; // the handler has passed it on
        }
        COUNTED.store(true, Ordering::Relaxed); // a context may have come since the signal did
        std::mem::take(&mut handling.contexts)
    };
    let contexts: Vec<_> = contexts.iter().filter_map(Weak::upgrade).collect();
    if contexts.is_empty() {
        known.pass_on(); // every context is gone or already notified
    }
    contexts.iter().for_each(|context| context.shutdown(known.name));
}
