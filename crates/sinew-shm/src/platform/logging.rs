//! Sinew's messages to the person who runs a program: warnings, errors, and debug information.
//!
//! Messages go the same way as the program's own lines if there is a [`Front`], as `sinew::logging`
//! is one; or to the `log` crate's logger, if the program has installed one by then. A library must
//! not install one itself (a process has only one, and the program's own attempt would fail), so
//! otherwise each message is a line on standard error, in the format of ROS 2:
//!
//! ```text
//! [WARN] [1700000000.123456789] [robot.camera]: No messages of '/image' go to ..
//! ```
//!
//! Messages with the same source and subject are written `BURST` times at once, then at most once
//! per `AGAIN`, with the number of those that were left out: a process that restarts again and
//! again must not fill the disks of the others. The program's own logger gets every message.
//!
//! The level of each logger comes from `--log-level` ([`set_levels`], [`set_level`]), otherwise
//! from `SINEW_LOG` (`warn`, or `info,robot.camera:=debug`); the default is warnings and errors,
//! and with a front also information. A message about a node has the node's logger, named as in ROS
//! 2 (`robot.camera` for `/robot/camera`); all others have the logger `sinew`.
//!
//! Callers hold no lock, or wrap the work that they do under one in [`later`]: a logger is the
//! program's code, and standard error may block. Code that reads or publishes messages has no time
//! for that and may hold locks, so it uses `log_line_later!`: the helper thread then writes the
//! message. The locks here guard plain data and are leaves.

use crate::platform::locks::no_lock_is_held;
use crate::platform::sync::{PlainMutex, PlainRwLock};
use crate::platform::sys;
use log::{Level, LevelFilter};
use std::cell::RefCell;
use std::fmt::{self, Write as _};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io::Write as _;
use std::sync::OnceLock;

/// The logger of messages that concern no node.
const OURS: &str = "sinew";

/// Number of messages of one source and subject that are written without a pause.
const BURST: i64 = 5;

/// Nanoseconds between two of them after that.
const AGAIN: i64 = 10_000_000_000;

/// Number of sources and subjects that are remembered; beyond that, those that were written longest
/// ago are dropped.
const REMEMBERED: usize = 256;

/// Returns the filter for a level of `--log-level` and `SINEW_LOG`, in upper or lower case. `debug`
/// includes the `log` crate's `trace`. `fatal` is `Off`, as Sinew writes no such messages.
pub fn filter_named(name: &str) -> Option<LevelFilter> {
    match name.to_ascii_lowercase().as_str() {
        "debug" => Some(LevelFilter::Trace),
        "info" => Some(LevelFilter::Info),
        "warn" => Some(LevelFilter::Warn),
        "error" => Some(LevelFilter::Error),
        "fatal" => Some(LevelFilter::Off),
        _ => None,
    }
}

/// Loggers and their levels; the empty name stands for all loggers.
pub type Levels = Vec<(String, LevelFilter)>;

/// Parses `LEVEL`, which applies to all loggers, or `LOGGER:=LEVEL`. As in ROS 2, a level may be in
/// upper case.
pub fn parse_level(text: &str) -> Option<(String, LevelFilter)> {
    let (logger, level) = match text.split_once(":=") {
        Some(("", _)) => return None,
        Some((logger, level)) => (logger, level),
        None => ("", text),
    };
    Some((logger.to_owned(), filter_named(level)?))
}

/// Returns the level of a logger: its own, otherwise that of the closest logger above it (`robot`
/// is above `robot.camera`), otherwise that of all loggers. If a logger is listed several times,
/// the last entry counts. A logger may have the name of a Rust module: `robot` is also above
/// `robot::camera`.
pub fn level_of<L: Copy>(levels: &[(String, L)], logger: &str) -> Option<L> {
    if levels.is_empty() {
        return None;
    }
    let named = |name: &str| levels.iter().rev().find(|(logger, _)| is_same(logger, name));
    let (_, level) = std::iter::successors(Some(logger), |name| above(name)).chain([""]).find_map(named)?;
    Some(*level)
}

/// The logger directly above another one.
fn above(logger: &str) -> Option<&str> {
    let end = logger.rfind(['.', ':'])?;
    Some(logger[..end].trim_end_matches(':'))
}

/// Whether both names mean the same logger: `robot.camera` is `robot::camera`.
fn is_same(logger: &str, other: &str) -> bool {
    logger == other
        || (other.contains("::") && logger.split('.').eq(other.split("::").flat_map(|part| part.split('.'))))
}

/// A function of a library above this one that writes all messages, Sinew's and the program's own.
/// It gets the message's source, logger and text, on the thread that writes it.
pub type Front = fn(Source, &str, fmt::Arguments<'_>);

static FRONT: OnceLock<Front> = OnceLock::new();

/// Directs all messages to `front` from now on. Returns `false` if there is one already, which
/// stays.
pub fn set_front(front: Front) -> bool {
    let is_first = FRONT.set(front).is_ok();
    set_max_level(&LEVELS.read());
    is_first
}

/// Sets the levels of loggers of this process, as given on the command line.
pub fn set_levels(levels: &[(String, LevelFilter)]) {
    let mut all = LEVELS.write();
    for (logger, level) in levels {
        all.retain(|(known, _)| known != logger);
        all.push((logger.clone(), *level));
    }
    set_max_level(&all);
}

/// Sets or removes the level of a logger of this process. The empty name stands for all loggers
/// that have none.
pub fn set_level(logger: &str, level: Option<LevelFilter>) {
    let mut all = LEVELS.write();
    all.retain(|(known, _)| known != logger);
    all.extend(level.map(|level| (logger.to_owned(), level)));
    set_max_level(&all);
}

/// Returns the level that was given to this logger itself; for the empty name, the level of all
/// loggers.
pub fn own_level(logger: &str) -> Option<LevelFilter> {
    let levels = LEVELS.read();
    let named =
        |levels: &Levels| levels.iter().rev().find(|(known, _)| known == logger).map(|(_, level)| *level);
    named(&levels).or_else(|| named(&environment().0)).or_else(|| logger.is_empty().then(default_level))
}

/// Returns the effective level of a logger. Takes a lock for a moment, and allocates nothing.
pub fn level(logger: &str) -> LevelFilter {
    let given = level_of(&LEVELS.read(), logger);
    given.or_else(|| level_of(&environment().0, logger)).unwrap_or_else(default_level)
}

fn default_level() -> LevelFilter {
    if FRONT.get().is_some() { LevelFilter::Info } else { LevelFilter::Warn }
}

/// Sets the greatest level of any logger, which the macros of `log` check first.
fn set_max_level(levels: &Levels) {
    if FRONT.get().is_some() {
        let given = levels.iter().chain(&environment().0).map(|(_, level)| *level);
        log::set_max_level(given.chain([default_level()]).max().unwrap_or(LevelFilter::Off));
    }
}

/// The place in the code that a message comes from.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    /// The message's level.
    pub level: Level,
    /// The module's path.
    pub module: &'static str,
    /// The line in the file.
    pub line: u32,
}

/// The node and the subject of a message.
#[derive(Debug, Clone, Copy, Default)]
pub struct About<'a> {
    /// The full name of the node that the message concerns; empty for none.
    pub node: &'a str,
    /// Identifies similar messages, not all of which are written if there are many: a topic or an
    /// entity, for example.
    pub subject: &'a str,
}

/// Writes a message of Sinew itself, with [`logging::log_line`](crate::logging::log_line); or about
/// a node and a subject.
///
/// ```
/// use log::Level;
/// use sinew_shm::logging::About;
/// use sinew_shm::log_line;
/// log_line!(Level::Warn, "{} messages are lost", 3);
/// log_line!(Level::Debug; About { node: "/camera", subject: "/image" }, "one more");
/// ```
#[macro_export]
macro_rules! log_line {
    ($level:expr; $about:expr, $($text:tt)+) => {
        $crate::logging::log_line(
            $crate::logging::Source { level: $level, module: module_path!(), line: line!() },
            $about,
            format_args!($($text)+),
        )
    };
    ($level:expr, $($text:tt)+) => {
        $crate::log_line!($level; $crate::logging::About::default(), $($text)+)
    };
}

/// Like [`log_line!`](crate::log_line) without a node, for callers that may hold a lock: the helper
/// thread of this participant writes the message, in a
/// [look](crate::transport::Participant::request_look) that is requested here.
macro_rules! log_line_later {
    ($participant:expr; $level:expr, $($text:tt)+) => {{
        $crate::logging::write_later(
            $crate::logging::Source { level: $level, module: module_path!(), line: line!() },
            format_args!($($text)+),
        );
        $participant.request_look();
    }};
}
pub(crate) use log_line_later;

/// Messages that a thread holds back while it works under a lock.
type HeldBack = Vec<(Source, [String; 3])>;

/// Messages for the helper thread to write; at most [`REMEMBERED`], the first ones.
static WAITING: PlainMutex<Vec<(Source, String)>> = PlainMutex::new(Vec::new());

/// See [`log_line_later!`]. Never blocks.
#[cold]
pub(crate) fn write_later(source: Source, text: fmt::Arguments<'_>) {
    if keep(source, About::default(), text) {
        return;
    }
    let text = text.to_string();
    let mut waiting = WAITING.lock();
    if waiting.len() < REMEMBERED {
        waiting.push((source, text));
    }
}

/// Writes the waiting messages. The caller holds no lock.
pub(crate) fn write_waiting() {
    let waiting = std::mem::take(&mut *WAITING.lock());
    for (source, text) in waiting {
        log_line(source, About::default(), format_args!("{text}"));
    }
}

thread_local! {
    /// Messages that wait until the lock is released; `None` if none have to wait.
    static KEPT: RefCell<Option<HeldBack>> = const { RefCell::new(None) };
}

/// Runs `work`, which takes a lock. Messages of this thread are written afterwards.
pub fn later<R>(work: impl FnOnce() -> R) -> R {
    /// Also if `work` panics: otherwise the thread would write nothing from then on.
    struct Keeping;

    impl Drop for Keeping {
        fn drop(&mut self) {
            let kept = KEPT.try_with(RefCell::take).ok().flatten().unwrap_or_default();
            for (source, [node, subject, text]) in kept {
                log_line(source, About { node: &node, subject: &subject }, format_args!("{text}"));
            }
        }
    }

    let begin = |kept: &RefCell<Option<HeldBack>>| {
        let mut kept = kept.borrow_mut();
        let is_outermost = kept.is_none();
        kept.get_or_insert_default();
        is_outermost
    };
    let is_outermost = KEPT.try_with(begin).unwrap_or(false); // none in a thread that is ending
    let _keeping = is_outermost.then(|| Keeping); // made only then: dropping one writes everything
    work()
}

/// Holds a message back until this thread releases its lock. Returns `false` if it holds none.
fn keep(source: Source, about: About<'_>, text: fmt::Arguments<'_>) -> bool {
    if !KEPT.try_with(|kept| kept.borrow().is_some()).unwrap_or(false) {
        return false;
    }
    let text = [about.node.to_owned(), about.subject.to_owned(), text.to_string()];
    KEPT.with_borrow_mut(|kept| kept.get_or_insert_default().push((source, text)));
    true
}

/// See [`log_line!`](crate::log_line). May block on standard error, or run the program's logger.
#[cold]
pub fn log_line(source: Source, about: About<'_>, text: fmt::Arguments<'_>) {
    if keep(source, about, text) {
        return;
    }
    no_lock_is_held(); // the program's logger
    if let Some(front) = FRONT.get() {
        let logger = logger_of(about.node);
        let note = STATE.lock().admit(source, about, &logger, sys::steady());
        if let Some(note) = note {
            front(source, &logger, format_args!("{text}{note}"));
        }
        return;
    }
    let Source { level, module, line } = source;
    if has_logger(module) {
        let node = about.node;
        let said = if node.is_empty() { "" } else { ": " };
        let record = format_args!("{node}{said}{text}");
        let record = log::Record::builder().level(level).target(module).args(record).line(Some(line)).build();
        if level <= log::STATIC_MAX_LEVEL && level <= log::max_level() {
            log::logger().log(&record);
        }
        return;
    }
    let logger = logger_of(about.node);
    let Some(note) = STATE.lock().admit(source, about, &logger, sys::steady()) else { return };
    let line = line_of(level, sys::wall(), &logger, format_args!("{text}{note}"));
    // In one call, so that lines of several threads don't mix. A closed standard error has no
    // reader.
    let _ = std::io::stderr().write_all(line.as_bytes());
    warn_of_environment();
}

/// Whether the program has a logger of its own. The `log` crate's placeholder has no size and
/// enables nothing. The maximum level shows nothing, because a program may set it without a logger.
fn has_logger(target: &str) -> bool {
    size_of_val(log::logger()) > 0 || {
        log::logger().enabled(&log::Metadata::builder().level(Level::Error).target(target).build())
    }
}

/// Returns the name of a node's logger, like `rcl_node_get_logger_name`.
pub fn logger_of(node: &str) -> String {
    match node.trim_start_matches('/') {
        "" => OURS.to_owned(),
        name => name.replace('/', "."),
    }
}

fn line_of(level: Level, wall: i64, logger: &str, text: fmt::Arguments<'_>) -> String {
    const SECOND: i64 = 1_000_000_000;
    let (seconds, rest) = (wall.div_euclid(SECOND), wall.rem_euclid(SECOND));
    let mut line = String::new();
    let _ = writeln!(line, "[{level}] [{seconds}.{rest:09}] [{logger}]: {text}"); // a string takes everything
    line
}

/// The levels in the environment, and the first invalid entry.
fn environment() -> &'static (Levels, Option<String>) {
    static ENVIRONMENT: OnceLock<(Levels, Option<String>)> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| {
        let value = std::env::var_os("SINEW_LOG").unwrap_or_default();
        levels_in(&value.to_string_lossy())
    })
}

/// The levels in a list separated by commas, and the first invalid entry.
fn levels_in(list: &str) -> (Levels, Option<String>) {
    let (mut levels, mut strange) = (Levels::new(), None);
    for text in list.split(',').map(str::trim).filter(|text| !text.is_empty()) {
        match parse_level(text) {
            Some(level) => levels.push(level),
            None => strange = strange.or_else(|| Some(text.to_owned())),
        }
    }
    (levels, strange)
}

/// Warns once of an invalid environment, when another message is written anyway.
fn warn_of_environment() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    let (_, Some(strange)) = environment() else { return };
    ONCE.call_once(|| {
        let text = format_args!(
            "SINEW_LOG has `{}`, which is no level: debug, info, warn, error or fatal, or one of these for one \
             logger, as in `robot.camera:=debug`",
            strange.escape_debug()
        );
        let _ = std::io::stderr().write_all(line_of(Level::Warn, sys::wall(), OURS, text).as_bytes());
    });
}

/// Levels set by the command line and by services.
static LEVELS: PlainRwLock<Levels> = PlainRwLock::new(Levels::new());

static STATE: PlainMutex<LogState> = PlainMutex::new(LogState { written: Vec::new() });

struct LogState {
    written: Vec<Written>,
}

/// The messages written for one source and subject.
struct Written {
    key: u64,
    /// The steady time at which the messages written so far would have been complete at a rate of
    /// one per [`AGAIN`].
    even: i64,
    /// Number of messages left out since the last one.
    left_out: u64,
}

impl LogState {
    /// Returns a note to append to the message if it is to be written; `None` if it isn't.
    fn admit(&mut self, source: Source, about: About<'_>, logger: &str, now: i64) -> Option<String> {
        if source.level > level(logger) {
            return None;
        }
        let subject = if about.subject.is_empty() { logger } else { about.subject };
        // The choice needs no secret: with fixed keys, the hash is the same in every process.
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let written = self.written_of(hasher.hash_one((source.module, source.line, subject)));
        if written.even > now + (BURST - 1) * AGAIN {
            written.left_out += 1;
            return None;
        }
        written.even = written.even.max(now) + AGAIN;
        Some(match std::mem::take(&mut written.left_out) {
            0 if written.even > now + (BURST - 1) * AGAIN => {
                format!(" (further ones are counted, and one is logged every {} s)", AGAIN / 1_000_000_000)
            }
            0 => String::new(),
            left_out => format!(" (and {left_out} like it since the last one that was logged)"),
        })
    }

    fn written_of(&mut self, key: u64) -> &mut Written {
        let place = self.written.iter().position(|written| written.key == key).unwrap_or_else(|| {
            let new = Written { key, even: i64::MIN, left_out: 0 };
            if self.written.len() < REMEMBERED {
                self.written.push(new);
                return self.written.len() - 1;
            }
            let oldest = self.written.iter().enumerate().min_by_key(|(_, written)| written.even);
            let place = oldest.map_or(0, |(place, _)| place);
            self.written[place] = new;
            place
        });
        &mut self.written[place]
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const SOURCE: Source = Source { level: Level::Warn, module: "module", line: 1 };

    fn empty() -> LogState {
        LogState { written: Vec::new() }
    }

    /// The notes of the messages that are written, out of `count` messages a nanosecond apart.
    fn burst(state: &mut LogState, subject: &str, count: i64, from: i64) -> Vec<String> {
        let about = About { node: "/arm", subject };
        (0..count).filter_map(|at| state.admit(SOURCE, about, "arm", from + at)).collect()
    }

    #[test]
    fn a_thousand_of_one_subject_are_a_few_lines_and_a_count() {
        let mut state = empty();
        let written = burst(&mut state, "/x", 1000, 0);
        let last = " (further ones are counted, and one is logged every 10 s)";
        assert_eq!(written, ["", "", "", "", last]);
        assert_eq!(burst(&mut state, "/y", 1, 1000).len(), 1, "another subject has a count of its own");
        let other = Source { line: 2, ..SOURCE };
        let about = About { node: "/arm", subject: "/x" };
        assert!(state.admit(other, about, "arm", 1000).is_some(), "and so has another source");
        assert_eq!(
            burst(&mut state, "/x", 1000, AGAIN),
            [" (and 995 like it since the last one that was logged)"]
        );
        assert_eq!(burst(&mut state, "/x", 1000, 100 * AGAIN).len(), 5, "after a while it begins anew");
    }

    #[test]
    fn as_many_subjects_as_there_are_take_no_more_room() {
        let mut state = empty();
        for number in 0..10 * REMEMBERED {
            assert_eq!(burst(&mut state, &format!("/{number}"), 1, i64::try_from(number).unwrap()).len(), 1);
        }
        assert_eq!(state.written.len(), REMEMBERED);
        let newest = format!("/{}", 10 * REMEMBERED - 1);
        let later = i64::try_from(10 * REMEMBERED).unwrap();
        assert_eq!(burst(&mut state, &newest, 9, later).len(), 4, "the newest is remembered");
    }

    #[test]
    fn a_logger_s_level_decides() {
        let levels = |list: &str| levels_in(list).0;
        for (list, logger, level, is_written) in [
            ("", "arm", Level::Warn, true),
            ("", "arm", Level::Info, false),
            ("info", "arm", Level::Info, true),
            ("debug", "arm", Level::Trace, true),
            ("error", "arm", Level::Warn, false),
            ("fatal", "arm", Level::Error, false),
            ("fatal, robot.arm:=DEBUG", "robot.arm", Level::Debug, true),
            ("fatal,robot:=warn", "robot.arm", Level::Warn, true),
            ("fatal,robot:=warn", "robotics", Level::Warn, false),
            ("fatal,robot:=warn", "robot::camera", Level::Warn, true),
            ("fatal,robot.camera:=warn", "robot::camera::lens", Level::Warn, true),
            ("fatal,robot.camera:=warn", "robot::radar", Level::Warn, false),
            ("fatal,robot:=warn", "::", Level::Warn, false),
        ] {
            let found = level_of(&levels(list), logger).unwrap_or(LevelFilter::Warn);
            assert_eq!(level <= found, is_written, "{list} for {logger} at {level}");
        }
        assert_eq!(levels_in("loud,warn,louder").1.as_deref(), Some("loud"));
        assert_eq!(levels_in("loud,warn").0, [(String::new(), LevelFilter::Warn)]);
    }

    #[test]
    fn a_line_is_as_ros_2_has_it() {
        let line =
            line_of(Level::Warn, 1_700_000_000_000_000_009, &logger_of("/robot/arm"), format_args!("so"));
        assert_eq!(line, "[WARN] [1700000000.000000009] [robot.arm]: so\n");
        assert_eq!((logger_of("/arm"), logger_of("")), ("arm".to_owned(), "sinew".to_owned()));
    }
}
