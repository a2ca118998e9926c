//! `sinew log`: prints the log lines on `/rosout`, and sets the levels of loggers.
//!
//! It takes part as a node does, through the library.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::Serialize;
use sinew::names::is_hidden;
use sinew::time::Time;
use sinew::{Context, LogLevel, QoS};
use sinew_interfaces::rcl_interfaces::msg::{Log, LoggerLevel};
use sinew_interfaces::rcl_interfaces::srv::{
    GetLoggerLevels, GetLoggerLevelsRequest, SetLoggerLevels, SetLoggerLevelsRequest,
};

use crate::cli::tools::Where;
use crate::cli::tools::log::{FollowOptions, LevelOptions, LogCommand, LogOptions, NewLevel};
use crate::error::Error;
use crate::harmless;
use crate::observed::Observed;
use crate::output::{print, print_json};
use crate::similar;

/// The services, below its name, of a node that lets other nodes set levels.
const SERVICE: &str = "/get_logger_levels";

/// Longest wait for a node's services, and for their answers.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) fn run(options: &LogOptions) -> Result<(), Error> {
    match &options.command {
        None => follow(&options.follow),
        Some(LogCommand::Level(options)) => level(options),
    }
}

/// Returns a context for the selected domain, with a node that tools hide.
fn context(place: &Where) -> Result<(Context, sinew::Node), Error> {
    let builder = Context::builder().domain(place.domain().map_err(Error::DomainNumber)?).interrupts(true);
    let context = match &place.dir {
        Some(directory) => builder.directory(directory).build()?,
        None => builder.build()?,
    };
    let node = context.node(&format!("_sinew_log_{}", std::process::id()))?;
    Ok((context, node))
}

/// A log line as JSON.
#[derive(Serialize)]
struct JsonLine<'a> {
    /// Nanoseconds since 1970.
    stamp: i64,
    level: u8,
    severity: &'a str,
    name: &'a str,
    msg: &'a str,
    file: &'a str,
    function: &'a str,
    line: u32,
}

/// Prints log lines until the end.
fn follow(options: &FollowOptions) -> Result<(), Error> {
    let (context, node) = context(&options.place)?;
    let qos = if options.no_history { QoS::rosout().volatile() } else { QoS::rosout() };
    let outcome = Arc::new(OnceLock::new());
    let (end, done) = (context.clone(), outcome.clone());
    let mut left = options.count.unwrap_or(u64::MAX);
    let wanted = Wanted::new(options);
    let (is_json, is_verbose) = (options.json, options.verbose);
    let lines = node.subscription::<Log>("/rosout").qos(qos).callback(move |log: &Log| {
        if left == 0 || !wanted.admits(log) {
            return;
        }
        let printed = if is_json { print_json(&json(log)) } else { print(&text(log, is_verbose)) };
        left -= 1;
        if printed.is_err() || left == 0 {
            let _ = done.set(printed); // only the first outcome counts
            end.shutdown();
        }
    })?;
    sinew::spin(&context)?;
    drop(lines); // with the callback, which shares the outcome
    Arc::into_inner(outcome).and_then(OnceLock::into_inner).unwrap_or(Ok(()))
}

/// Selects log lines.
struct Wanted {
    loggers: Vec<String>,
    level: LogLevel,
    regex: Option<regex_lite::Regex>,
}

impl Wanted {
    fn new(options: &FollowOptions) -> Self {
        let logger = |node: &String| node.trim_start_matches('/').replace('/', ".");
        let loggers = options.node.iter().map(logger).collect();
        Self { loggers, level: options.level, regex: options.regex.clone() }
    }

    fn admits(&self, log: &Log) -> bool {
        let is_of = |logger: &String| {
            log.name
                .strip_prefix(logger.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        log.level >= self.level.number()
            && (self.loggers.is_empty() || self.loggers.iter().any(is_of))
            && self.regex.as_ref().is_none_or(|regex| regex.is_match(&log.msg))
    }
}

/// Returns ROS 2's name of a level; the number of an unknown one.
fn severity(level: u32) -> String {
    LogLevel::of_number(level).map_or_else(|| level.to_string(), |level| level.name().to_owned())
}

fn text(log: &Log, is_verbose: bool) -> String {
    let stamp = Time::from(log.stamp).nanoseconds();
    let (seconds, rest) = (stamp.div_euclid(1_000_000_000), stamp.rem_euclid(1_000_000_000));
    let Log { level, name, msg, file, function, line, .. } = log;
    let place = match is_verbose {
        true => harmless::one_line(&format!(" ({function} at {file}:{line})")),
        false => String::new(),
    };
    let (severity, name) = (severity((*level).into()), harmless::one_line(name));
    format!("[{severity}] [{seconds}.{rest:09}] [{name}]: {}{place}\n", harmless::indented(msg, "    "))
}

fn json(log: &Log) -> impl Serialize + use<'_> {
    JsonLine {
        stamp: Time::from(log.stamp).nanoseconds(),
        level: log.level,
        severity: LogLevel::of_number(log.level.into()).map_or("", LogLevel::name),
        name: &log.name,
        msg: &log.msg,
        file: &log.file,
        function: &log.function,
        line: log.line,
    }
}

/// Prints or sets a level.
fn level(options: &LevelOptions) -> Result<(), Error> {
    look_for(options)?;
    let (_context, node) = context(&options.place)?;
    let (logger, wanted) = options.logger_and_level();
    let logger = logger.unwrap_or_else(|| options.node.trim_start_matches('/').replace('/', "."));
    let unanswered = |why: String| unanswered(&options.node, why);
    let gone = || unanswered("they have gone".to_owned());
    let Some(NewLevel(level)) = wanted else {
        let get = node.client::<GetLoggerLevels>(&format!("{}{SERVICE}", options.node)).create()?;
        if !get.wait_for_server(PATIENCE) {
            return Err(gone());
        }
        let request = GetLoggerLevelsRequest { names: vec![logger] };
        let response = get.call(request, PATIENCE).map_err(|error| unanswered(error.to_string()))?;
        return response.levels.iter().try_for_each(|level| tell(level, options.json));
    };
    let set = node.client::<SetLoggerLevels>(&format!("{}/set_logger_levels", options.node)).create()?;
    if !set.wait_for_server(PATIENCE) {
        return Err(gone());
    }
    let wanted = LoggerLevel { name: logger, level: level.map_or(0, |level| level.number().into()) };
    let request = SetLoggerLevelsRequest { levels: vec![wanted.clone()] };
    let response = set.call(request, PATIENCE).map_err(|error| unanswered(error.to_string()))?;
    match response.results.first() {
        Some(result) if result.successful => tell(&wanted, options.json),
        Some(result) => Err(unanswered(result.reason.clone())),
        None => Err(unanswered("its answer is empty".to_owned())),
    }
}

fn unanswered(node: &str, why: String) -> Error {
    Error::NoLoggerService { node: node.to_owned(), why: harmless::one_line(&why) }
}

/// Checks that the node exists, and lets other nodes read and set levels.
fn look_for(options: &LevelOptions) -> Result<(), Error> {
    let mut observed = Observed::open(&options.place)?;
    let seen = observed.read()?;
    let service = format!("{}{SERVICE}", options.node);
    if seen.servers(&service).next().is_some() {
        return Ok(());
    }
    let names = || seen.nodes().iter().map(|node| node.name.as_str());
    if names().any(|name| name == options.node) {
        return Err(unanswered(&options.node, "it has no services for it".to_owned()));
    }
    let similar = similar::to(&options.node, names().filter(|name| !is_hidden(name)));
    Err(Error::NotFound { what: "node", name: options.node.clone(), domain: observed.domain(), similar })
}

fn tell(level: &LoggerLevel, is_json: bool) -> Result<(), Error> {
    let name = match level.level {
        0 => "unset".to_owned(),
        number => severity(number).to_ascii_lowercase(),
    };
    if is_json {
        return print_json(
            &serde_json::json!({ "name": level.name, "level": level.level, "severity": name }),
        );
    }
    let logger =
        if level.name.is_empty() { "all others".to_owned() } else { harmless::one_line(&level.name) };
    print(&format!("{logger}: {name}\n"))
}
