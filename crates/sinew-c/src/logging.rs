//! Logging to the console, a file and `/rosout`.

use crate::context::{choice, sinew_choice};
use crate::handle::{self, handle};
use crate::node::sinew_node;
use crate::status::{Failure, Result, answer, sinew_status, status};
use crate::structure::{Structure, structure};
use crate::text::{c_text, optional_text, text};
use crate::time::{sinew_duration, sinew_time};
use parking_lot::Mutex;
use sinew::LogLevel;
use sinew::logging::{self, Logger, Place};
use std::collections::HashSet;
use std::ffi::{CStr, CString, c_char, c_int};
use std::sync::atomic::{AtomicI64, Ordering};

/// A logger: a name under which lines are logged, with a level. That of node `/robot/arm` is
/// `robot.arm`; lines of a node's logger and of those below it are published on `/rosout` too.
pub struct sinew_logger {
    _opaque: (),
}
handle!(sinew_logger: LoggerHandle);

/// A logger with its name as C reads it.
pub(crate) struct LoggerHandle {
    logger: Logger,
    name: CString,
}

impl LoggerHandle {
    fn new(logger: Logger) -> Self {
        let name = c_text(logger.name().to_owned());
        Self { logger, name }
    }
}

/// A level of log lines, with ROS 2's numbers.
pub type sinew_log_level = c_int;

/// No level of its own: that of the closest logger above it, else the level of all.
pub const SINEW_LOG_LEVEL_UNSET: sinew_log_level = 0;
/// Information for developers.
pub const SINEW_LOG_LEVEL_DEBUG: sinew_log_level = 10;
/// Information for operators. The level of all loggers that have no other.
pub const SINEW_LOG_LEVEL_INFO: sinew_log_level = 20;
/// Something is not as it should be.
pub const SINEW_LOG_LEVEL_WARN: sinew_log_level = 30;
/// Something failed.
pub const SINEW_LOG_LEVEL_ERROR: sinew_log_level = 40;
/// The process is about to end because something failed.
pub const SINEW_LOG_LEVEL_FATAL: sinew_log_level = 50;

/// Returns the level with a number, which is one.
fn known_level(level: sinew_log_level) -> Result<LogLevel> {
    let known = u32::try_from(level).ok().and_then(LogLevel::of_number);
    known.ok_or_else(|| Failure::enumerator("level", level))
}

/// The options of [`sinew_logging_init`]. Zero is the default of every field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_logging_options {
    /// `sizeof(struct sinew_logging_options)`.
    pub size: usize,
    /// Whether lines go to the console. By default they do, unless a context's command line has
    /// `--disable-stdout-logs`.
    pub console: sinew_choice,
    /// Whether lines go into a file. By default they do, unless a context's command line has
    /// `--disable-external-lib-logs`.
    pub file: sinew_choice,
    /// Whether lines of nodes go to `/rosout`. By default they do, unless their context's command
    /// line has `--disable-rosout-logs`.
    pub rosout: sinew_choice,
    /// The directory of the file. Null: `$ROS_LOG_DIR`, else `$ROS_HOME/log`, else `~/.ros/log`.
    pub directory: *const c_char,
    /// The beginning of the file's name. Null: that of the program, or `--log-file-name`.
    pub file_name: *const c_char,
}

// SAFETY: C's layout, beginning with the size; zeros are numbers and null.
unsafe impl Structure for sinew_logging_options {
    const NAME: &str = "sinew_logging_options";
}

/// Sends all log lines of the process to the console, into a file and to `/rosout`, as programs of
/// ROS 2 do. Without it lines go nowhere, except the library's own warnings, which go to standard
/// error. A program calls it at the beginning of `main`, once; a library doesn't.
///
/// Starts the thread that writes, so that no line blocks its caller. `exit()` waits for lines, for
/// a second at most. `options` may be null.
///
/// Fails with `SINEW_ERROR_LOGGER_TAKEN` if the process has a logger already.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_logging_init(options: *const sinew_logging_options) -> sinew_status {
    status(|| {
        // SAFETY: the caller's structure.
        let options = unsafe { structure(options) }?;
        let mut builder = logging::builder();
        if let Some(wanted) = choice(options.console, "console")? {
            builder = builder.console(wanted);
        }
        if let Some(wanted) = choice(options.file, "file")? {
            builder = builder.file(wanted);
        }
        if let Some(wanted) = choice(options.rosout, "rosout")? {
            builder = builder.rosout(wanted);
        }
        // SAFETY: the caller's text.
        if let Some(directory) = unsafe { optional_text(options.directory, "directory") }? {
            builder = builder.directory(directory);
        }
        // SAFETY: the caller's text.
        if let Some(name) = unsafe { optional_text(options.file_name, "file_name") }? {
            builder = builder.file_name(name);
        }
        Ok(builder.init()?)
    })
}

/// Waits until all earlier lines are written, for at most `timeout`, and returns whether they are.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_logging_flush(timeout: sinew_duration) -> bool {
    answer(false, || Ok(logging::flush(crate::time::timeout(timeout))))
}

/// Makes a logger without a node: its lines are not on `/rosout`, unless a node has the name. The
/// caller frees `*logger` with `sinew_logger_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_logger_new(
    name: *const c_char,
    logger: Option<&mut *mut sinew_logger>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let made = Logger::named(unsafe { text(name, "name") }?);
        handle::put(logger, "logger", LoggerHandle::new(made))
    })
}

/// Makes a handle to the logger of a node. The caller frees `*logger` with `sinew_logger_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_logger(
    node: *const sinew_node,
    logger: Option<&mut *mut sinew_logger>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(node, "node") }?;
        handle::put(logger, "logger", LoggerHandle::new(node.node.logger()))
    })
}

/// Makes a logger below another one: `hand` below `robot.arm` is `robot.arm.hand`. The caller frees
/// `*child` with `sinew_logger_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_logger_child(
    logger: *const sinew_logger,
    name: *const c_char,
    child: Option<&mut *mut sinew_logger>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let logger = unsafe { handle::get(logger, "logger") }?;
        // SAFETY: the caller's text.
        let name = unsafe { text(name, "name") }?;
        handle::put(child, "child", LoggerHandle::new(logger.logger.child(name)))
    })
}

/// Frees a handle to a logger; null is allowed. Its level stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_logger_free(logger: *mut sinew_logger) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(logger, "logger") };
}

/// Returns the logger's name. The text lives as long as the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_logger_name(logger: *const sinew_logger) -> *const c_char {
    // SAFETY: the caller's handle.
    answer(std::ptr::null(), || Ok(unsafe { handle::get(logger, "logger") }?.name.as_ptr()))
}

/// Returns the level from which on it logs: its own, else that of the closest logger above it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_logger_level(logger: *const sinew_logger) -> sinew_log_level {
    // SAFETY: the caller's handle.
    answer(SINEW_LOG_LEVEL_UNSET, || {
        // SAFETY: the caller's handle.
        let logger = unsafe { handle::get(logger, "logger") }?;
        Ok(logger.logger.level().number().into())
    })
}

/// Sets the logger's level in the whole process; `SINEW_LOG_LEVEL_UNSET` removes it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_logger_set_level(
    logger: *const sinew_logger,
    level: sinew_log_level,
) -> sinew_status {
    status(|| {
        let level = if level == SINEW_LOG_LEVEL_UNSET { None } else { Some(known_level(level)?) };
        // SAFETY: the caller's handle.
        unsafe { handle::get(logger, "logger") }?.logger.set_level(level);
        Ok(())
    })
}

/// Returns whether lines of that level are logged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_logger_is_enabled(
    logger: *const sinew_logger,
    level: sinew_log_level,
) -> bool {
    answer(false, || {
        let level = known_level(level)?;
        // SAFETY: the caller's handle.
        Ok(unsafe { handle::get(logger, "logger") }?.logger.is_enabled(level))
    })
}

/// Lets other processes read and set levels of loggers through services of the node, as
/// `sinew log level` and ROS 2's tools do, until the context ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_start_logger_services(node: *const sinew_node) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(node, "node") }?.node.logger_services()?.detach();
        Ok(())
    })
}

/// Logs a line as it is, if its level is enabled. Never blocks. The macros `SINEW_INFO(logger, ..)`
/// and so on are shorter, and have a format as `printf`.
///
/// `file` and `function` may be null. What is not UTF-8 in the texts is replaced.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_log(
    logger: *const sinew_logger,
    level: sinew_log_level,
    file: *const c_char,
    function: *const c_char,
    line: u32,
    text: *const c_char,
) -> sinew_status {
    status(|| {
        let level = known_level(level)?;
        // SAFETY: the caller's handle.
        let logger = &unsafe { handle::get(logger, "logger") }?.logger;
        if text.is_null() {
            return Err(Failure::null("text"));
        }
        if logger.is_enabled(level) {
            // SAFETY: the caller's text.
            let file = unsafe { kept(file) };
            // SAFETY: the caller's text.
            let module = unsafe { kept(function) };
            // SAFETY: the caller's text.
            let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
            logger.say(level, Place { module, file, line }, format_args!("{text}"));
        }
        Ok(())
    })
}

/// Maximum number of names of files and functions that are kept.
const MOST_NAMES: usize = 10_000;

/// Returns the name of a file or function, which is kept for as long as the process lives: lines
/// are written later, when the library with the name may be unloaded. Beyond [`MOST_NAMES`], which
/// only names that are made at run time can reach, it is empty.
///
/// # Safety
/// It is null or a text.
unsafe fn kept(name: *const c_char) -> &'static str {
    static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    if name.is_null() {
        return "";
    }
    // SAFETY: as the caller says.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    let mut names = NAMES.lock();
    let names = names.get_or_insert_default();
    if let Some(known) = names.get(&*name) {
        return known;
    }
    if names.len() == MOST_NAMES {
        return "";
    }
    let name: &'static str = name.into_owned().leak();
    names.insert(name);
    name
}

/// The memory of a log statement of the macros: when it last logged. Its first value is zeros.
#[repr(C)]
pub struct sinew_log_memory {
    /// The library's own.
    pub last: i64,
}

/// Returns a statement's memory: 0 if it never logged, else the time, with its highest bit
/// inverted.
///
/// # Safety
/// It is null, or lives during `'a`, and only the functions here use it.
unsafe fn memory<'a>(memory: *mut sinew_log_memory) -> Result<&'a AtomicI64> {
    if memory.is_null() {
        return Err(Failure::null("memory"));
    }
    // SAFETY: it is aligned, as a `long long` of C is, and lives, as the caller says; all access is
    // atomic.
    Ok(unsafe { AtomicI64::from_ptr(memory.cast()) })
}

/// Returns whether the statement with this memory logs for the first time. For `SINEW_INFO_ONCE`
/// and so on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_log_is_first(memory: *mut sinew_log_memory) -> bool {
    // SAFETY: the caller's memory.
    let memory = unsafe { self::memory(memory) };
    // Relaxed: only this value is shared; one of several threads finds 0.
    answer(false, || Ok(memory?.swap(1, Ordering::Relaxed) == 0))
}

/// Returns whether the statement with this memory last logged at least `period` ago, by the ROS
/// time of the logger's node, else by steady time; or never, or if the time went back. For
/// `SINEW_INFO_THROTTLE` and so on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_log_is_due(
    logger: *const sinew_logger,
    memory: *mut sinew_log_memory,
    period: sinew_duration,
) -> bool {
    answer(false, || {
        // SAFETY: the caller's handle.
        let now = unsafe { handle::get(logger, "logger") }?.logger.now().nanoseconds();
        // SAFETY: the caller's memory.
        Ok(is_due(unsafe { self::memory(memory) }?, now, period))
    })
}

/// As `sinew_log_is_due`, by a clock of the caller, which shows `now`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_log_is_due_at(
    memory: *mut sinew_log_memory,
    now: sinew_time,
    period: sinew_duration,
) -> bool {
    // SAFETY: the caller's memory.
    answer(false, || Ok(is_due(unsafe { self::memory(memory) }?, now, period)))
}

fn is_due(memory: &AtomicI64, now: sinew_time, period: sinew_duration) -> bool {
    const HIGHEST: sinew_time = sinew_time::MIN;
    // Relaxed, here and below: only this value is shared.
    let before = memory.load(Ordering::Relaxed);
    let last = before ^ HIGHEST;
    let is_due = before == 0 || now < last || now.saturating_sub(last) >= period;
    let after = now ^ HIGHEST;
    // If several threads come at once, one of them logs.
    is_due && memory.compare_exchange(before, after, Ordering::Relaxed, Ordering::Relaxed).is_ok()
}
