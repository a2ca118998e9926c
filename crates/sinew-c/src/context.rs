//! Contexts: a process's presence in a domain.

use crate::array::{Texts, texts};
use crate::closure::Closure;
use crate::handle::{self, handle};
use crate::owned::sinew_drop;
use crate::signals::{SINEW_SIGNALS_DEFAULT, signals, sinew_signals};
use crate::status::{Failure, Result, answer, sinew_status, status};
use crate::strings::sinew_strings;
use crate::structure::{Structure, structure};
use crate::text::{optional_sentence, optional_text};
use crate::time::{sinew_duration, timeout};
use crate::virtual_clock::sinew_virtual_clock;
use sinew::event::ShutdownHandler;
use sinew::{Arguments, Context};
use std::ffi::{c_char, c_int, c_void};
use std::path::PathBuf;

/// A process's presence in a domain: the root of its nodes. Most programs have one. Contexts of one
/// process and of several meet if they have the same domain and directory.
///
/// A child of `fork()` has no part in its parent's context: making something there fails with
/// `SINEW_ERROR_PARTICIPANT_LEFT`, and no thread of the library runs in it. It should call `exec()`
/// or `_exit()`; the parent goes on undisturbed.
pub struct sinew_context {
    _opaque: (),
}
handle!(sinew_context: Context);

/// A choice with a default: `SINEW_DEFAULT`, `SINEW_NO` or `SINEW_YES`.
pub type sinew_choice = c_int;

/// What the library does by itself.
pub const SINEW_DEFAULT: sinew_choice = 0;
/// No.
pub const SINEW_NO: sinew_choice = 1;
/// Yes.
pub const SINEW_YES: sinew_choice = 2;

/// The options of [`sinew_context_new`]. Zero is the default of every field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_context_options {
    /// `sizeof(struct sinew_context_options)`.
    pub size: usize,
    /// The number of texts in `argv`.
    pub argc: c_int,
    /// The command line, from which `--ros-args` are taken: names, remapping, parameters, log
    /// levels. Null: none.
    pub argv: *const *const c_char,
    /// Whether `domain` counts. Otherwise the domain is `SINEW_DOMAIN_ID` of the environment, else
    /// `ROS_DOMAIN_ID`, else 0.
    pub has_domain: bool,
    /// The domain.
    pub domain: u32,
    /// The directory in which each domain has its own. Null: `SINEW_DIR` of the environment, else
    /// `/dev/shm/sinew-<uid>`.
    pub directory: *const c_char,
    /// Whether its nodes reach those of other processes of the host. By default they do.
    pub shared_memory: sinew_choice,
    /// Whether SIGINT (Ctrl-C) and SIGTERM shut the context down. By default they don't.
    pub interrupts: sinew_choice,
    /// Whether ROS time follows `/clock`. By default the command line decides.
    pub use_sim_time: sinew_choice,
    /// The delay after which its nodes log hints about endpoints without a counterpart. 0: 5 s;
    /// negative: never.
    pub hints_after: sinew_duration,
    /// A clock that only the program moves, for tests. Null: the machine's.
    pub virtual_clock: *const sinew_virtual_clock,
    /// The signals for which a context with `interrupts` installs handlers, if the process has
    /// none.
    pub signals: sinew_signals,
}

// SAFETY: C's layout, beginning with the size; zeros are no texts, numbers, `false` and the first
// choice.
unsafe impl Structure for sinew_context_options {
    const NAME: &str = "sinew_context_options";
}

/// Makes a context. Starts no thread and opens no file unless it follows `/clock` or handles
/// interrupts; the first node does both.
///
/// `options` may be null. The caller frees `*context` with `sinew_context_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_context_new(
    options: *const sinew_context_options,
    context: Option<&mut *mut sinew_context>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's structure.
        let options = unsafe { structure(options) }?;
        let mut builder = Context::builder();
        if !options.argv.is_null() {
            let count = usize::try_from(options.argc).unwrap_or(0);
            // SAFETY: the caller's array of texts.
            builder = builder.arguments(unsafe { texts(options.argv, count, "argv") }?);
        }
        if options.has_domain {
            builder = builder.domain(options.domain);
        }
        // SAFETY: the caller's text.
        if let Some(directory) = unsafe { optional_text(options.directory, "directory") }? {
            builder = builder.directory(PathBuf::from(directory));
        }
        builder = match options.hints_after {
            0 => builder,
            nanoseconds => builder.hints_after(timeout(nanoseconds)),
        };
        // SAFETY: the caller's handle.
        if let Some(clock) = unsafe { handle::get_optional(options.virtual_clock, "virtual_clock") }? {
            builder = builder.virtual_time(clock);
        }
        if let Some(wanted) = choice(options.shared_memory, "shared_memory")? {
            builder = builder.shared_memory(wanted);
        }
        if let Some(wanted) = choice(options.interrupts, "interrupts")? {
            builder = builder.interrupts(wanted);
        }
        if options.signals != SINEW_SIGNALS_DEFAULT {
            builder = builder.signals(signals(options.signals)?);
        }
        if let Some(wanted) = choice(options.use_sim_time, "use_sim_time")? {
            builder = builder.use_sim_time(wanted);
        }
        handle::put(context, "context", builder.build()?)
    })
}

/// Gets the arguments outside `--ros-args .. --`, with the program's name, for the program's own
/// parser. The caller frees `*rest`. Fails if one between them can't be used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_remove_ros_arguments(
    argc: c_int,
    argv: *const *const c_char,
    rest: Option<&mut *mut sinew_strings>,
) -> sinew_status {
    status(|| {
        let count = usize::try_from(argc).unwrap_or(0);
        // SAFETY: the caller's array of texts.
        let arguments = Arguments::parse(unsafe { texts(argv, count, "argv") }?)?;
        handle::put(rest, "rest", Texts::new(arguments.rest().iter().cloned()))
    })
}

/// Returns a choice, or `None` for the default.
pub(crate) fn choice(choice: sinew_choice, argument: &str) -> Result<Option<bool>> {
    match choice {
        SINEW_DEFAULT => Ok(None),
        SINEW_NO => Ok(Some(false)),
        SINEW_YES => Ok(Some(true)),
        other => Err(Failure::enumerator(argument, other)),
    }
}

/// Frees a handle to a context. The context ends with its last handle and everything that was made
/// with it; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_context_free(context: *mut sinew_context) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(context, "context") };
}

/// Shuts the context down: everything that waits or spins in it returns, and later operations fail
/// with `SINEW_ERROR_SHUTDOWN`. Never blocks; any thread may call it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_context_shutdown(context: *const sinew_context) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(context, "context") }?.shutdown();
        Ok(())
    })
}

/// As `sinew_context_shutdown`, with a reason, in which what is not UTF-8 is replaced. Null: none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_context_shutdown_because(
    context: *const sinew_context,
    reason: *const c_char,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let context = unsafe { handle::get(context, "context") }?;
        // SAFETY: the caller's text.
        match unsafe { optional_sentence(reason) } {
            Some(reason) => context.shutdown_because(&reason),
            None => context.shutdown(),
        }
        Ok(())
    })
}

/// Gets why the context was shut down first: one text, with the reason that the program gave, or
/// the name of the signal; none while it isn't. The caller frees `*reason`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_context_shutdown_reason(
    context: *const sinew_context,
    reason: Option<&mut *mut sinew_strings>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let context = unsafe { handle::get(context, "context") }?;
        handle::put(reason, "reason", Texts::new(context.shutdown_reason().map(str::to_owned)))
    })
}

/// A callback for the end of a context.
pub struct sinew_shutdown_handler {
    _opaque: (),
}
handle!(sinew_shutdown_handler: ShutdownHandler);

/// A function that is called once, when a context is shut down.
pub type sinew_shutdown_callback = Option<unsafe extern "C" fn(context: *mut c_void)>;

/// Calls a function once the context is shut down, by `sinew_context_shutdown` or by a signal, but
/// not if its last handle is freed instead. If it is shut down already, the function is called now.
///
/// It is called on the thread that shuts the context down, after everything that waits in the
/// context was woken, so it may wait for threads to end. For a signal that is a thread of the
/// library.
///
/// The caller ends it by `sinew_shutdown_handler_free`. `drop_context` may be null; otherwise it is
/// called once, with `callback_context`: after the call, when the handler is freed, or at once if
/// this function fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_context_on_shutdown(
    context: *const sinew_context,
    callback: sinew_shutdown_callback,
    callback_context: *mut c_void,
    drop_context: sinew_drop,
    handler: Option<&mut *mut sinew_shutdown_handler>,
) -> sinew_status {
    status(|| {
        let call = call_once(callback, callback_context, drop_context)?;
        // SAFETY: the caller's handle.
        unsafe { add_handler(context, handler, |context| context.on_shutdown(call)) }
    })
}

/// Calls a function before the context is shut down, while everything still works; not if it is
/// shut down already. Otherwise as [`sinew_context_on_shutdown`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_context_on_pre_shutdown(
    context: *const sinew_context,
    callback: sinew_shutdown_callback,
    callback_context: *mut c_void,
    drop_context: sinew_drop,
    handler: Option<&mut *mut sinew_shutdown_handler>,
) -> sinew_status {
    status(|| {
        let call = call_once(callback, callback_context, drop_context)?;
        // SAFETY: the caller's handle.
        unsafe { add_handler(context, handler, |context| context.on_pre_shutdown(call)) }
    })
}

/// Adds a callback to a context, and puts its handler where the caller wants it.
///
/// # Safety
/// As of [`handle::get`].
unsafe fn add_handler(
    context: *const sinew_context,
    place: Option<&mut *mut sinew_shutdown_handler>,
    add: impl FnOnce(&Context) -> ShutdownHandler,
) -> Result {
    // SAFETY: as the caller says.
    let context = unsafe { handle::get(context, "context") }?;
    let place = place.ok_or_else(|| Failure::null("handler"))?;
    *place = handle::new(add(context));
    Ok(())
}

/// Returns a callback of the library that calls C's.
fn call_once(
    callback: sinew_shutdown_callback,
    callback_context: *mut c_void,
    drop_context: sinew_drop,
) -> Result<impl FnOnce() + Send + 'static> {
    let closure = Closure::new(callback, callback_context, drop_context)?;
    Ok(move || {
        let (callback, context) = closure.parts();
        // SAFETY: the caller's function, with its context.
        unsafe { callback(context) };
    })
}

/// Frees a handler for a shutdown, which ends it; null is allowed. If another thread shuts the
/// context down meanwhile, the function may still be called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_shutdown_handler_free(handler: *mut sinew_shutdown_handler) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(handler, "handler") };
}

/// Returns whether the context is usable: it was not shut down.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_context_is_valid(context: *const sinew_context) -> bool {
    // SAFETY: the caller's handle.
    answer(false, || Ok(!unsafe { handle::get(context, "context") }?.is_shutdown()))
}

/// Returns the domain.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_context_domain(context: *const sinew_context) -> u32 {
    // SAFETY: the caller's handle.
    answer(0, || Ok(unsafe { handle::get(context, "context") }?.domain()))
}
