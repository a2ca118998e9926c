//! Reports for the user: a sentence for each event, or a JSON value on a line of its own.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::child::StartError;
use super::usage::{self, Usage};
use crate::supervisor::{Exit, Outcome, Reason, Signal};

/// An event of a process.
pub(super) enum Event<'a> {
    Started { pid: i32 },
    Ready,
    NotReadyYet { missing: String, similar: String },
    CantStart { error: &'a StartError },
    Asked { signal: Signal },
    CantSignal { signal: Signal },
    LeftForeign,
    Ended { outcome: Outcome, again: Option<Duration>, waited_for: Option<&'a str> },
}

/// Returns the sentence for an event, without the process's name; `None` if the event isn't worth
/// one.
pub(super) fn sentence(event: &Event<'_>) -> Option<String> {
    Some(match event {
        Event::Started { pid } => format!("started, process {pid}"),
        Event::Ready => return None,
        Event::NotReadyYet { missing, similar } => {
            format!("not ready yet, and other processes wait for it: there is no {missing}{similar}")
        }
        Event::CantStart { error } => format!("can't be started: {error}"),
        // The usual signal isn't worth a line.
        Event::Asked { signal: Signal::Int } => return None,
        Event::Asked { signal } => format!("gets {}", signal.name()),
        Event::CantSignal { signal } => {
            format!("can't be sent {}: it belongs to another user", signal.name())
        }
        Event::LeftForeign => {
            "leaves processes of another user, which can't be ended: they are left running".to_owned()
        }
        Event::Ended { outcome: Outcome::NotStarted | Outcome::Skipped(None), again: None, .. } => {
            return None;
        }
        Event::Ended { outcome, again, waited_for } => {
            let mut text = ended(*outcome, waited_for.unwrap_or_default());
            if let Some(delay) = again {
                let _ = write!(text, "; starts again in {} s", seconds(*delay)); // can't fail
            }
            text
        }
    })
}

fn ended(outcome: Outcome, waited_for: &str) -> String {
    match outcome {
        Outcome::Exited(exit) | Outcome::Stopped(exit) => shown(exit),
        Outcome::GaveUp(exit) => {
            format!("{}, and has been restarted the allowed number of times", shown(exit))
        }
        Outcome::NotReady => "ended, because it wasn't ready in time".to_owned(),
        Outcome::NotStarted => "not started".to_owned(),
        Outcome::Left => "is left running, as it can't be ended".to_owned(),
        Outcome::Skipped(_) => format!("not started: {waited_for} ended before it was ready"),
    }
}

/// Describes the end of a process for people.
pub(super) fn shown(exit: Exit) -> String {
    match exit {
        Exit::Code(0) => "ended".to_owned(),
        Exit::Code(code) => format!("ended with code {code}"),
        Exit::Signal(signal) => format!("killed by {}", signal_name(signal)),
    }
}

fn signal_name(signal: i32) -> String {
    let known = [
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (3, "SIGQUIT"),
        (4, "SIGILL"),
        (6, "SIGABRT"),
        (7, "SIGBUS"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (13, "SIGPIPE"),
        (15, "SIGTERM"),
    ];
    let found = known.iter().find(|(number, _)| *number == signal);
    found.map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}

/// Describes why all processes are ended, if that is worth a sentence.
pub(super) fn stop(reason: Reason, required: &str) -> String {
    match reason {
        Reason::Asked => "ending all (once more hurries)".to_owned(),
        Reason::Required(_) => format!("{required} is required and has ended: ending all"),
    }
}

fn seconds(delay: Duration) -> String {
    let text = format!("{:.3}", delay.as_secs_f64());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns the event as a JSON value.
pub(super) fn value(process: &str, event: &Event<'_>) -> Value {
    match event {
        Event::Started { pid } => json!({"event": "started", "process": process, "pid": pid}),
        Event::Ready => json!({"event": "ready", "process": process}),
        Event::NotReadyYet { missing, .. } => {
            json!({"event": "not_ready_yet", "process": process, "missing": missing})
        }
        Event::CantStart { error } => {
            json!({"event": "cant_start", "process": process, "error": error.to_string()})
        }
        Event::Asked { signal } => json!({"event": "asked", "process": process, "signal": signal.name()}),
        Event::CantSignal { signal } => {
            json!({"event": "cant_signal", "process": process, "signal": signal.name()})
        }
        Event::LeftForeign => json!({"event": "left_foreign", "process": process}),
        Event::Ended { outcome, again, .. } => {
            let (how, exit) = match outcome {
                Outcome::Exited(exit) => ("exited", Some(exit)),
                Outcome::Stopped(exit) => ("stopped", Some(exit)),
                Outcome::GaveUp(exit) => ("gave_up", Some(exit)),
                Outcome::NotReady => ("not_ready", None),
                Outcome::NotStarted => ("not_started", None),
                Outcome::Left => ("left", None),
                Outcome::Skipped(_) => ("skipped", None),
            };
            let (code, signal) = match exit {
                Some(Exit::Code(code)) => (Some(code), None),
                Some(Exit::Signal(signal)) => (None, Some(signal)),
                None => (None, None),
            };
            let again = again.map(|delay| delay.as_secs_f64());
            json!({"event": "ended", "process": process, "how": how, "code": code, "signal": signal, "again_s": again})
        }
    }
}

/// A line of the table of processes.
pub(super) struct Row<'a> {
    pub(super) name: &'a str,
    pub(super) state: String,
    pub(super) restarts: u32,
    pub(super) usage: Option<Usage>,
}

/// Returns the table of processes, one on each line, with a heading.
pub(super) fn table(rows: &[Row<'_>]) -> Vec<String> {
    let width = rows.iter().map(|row| row.name.chars().count()).chain([7]).max().unwrap_or(7);
    let mut lines =
        vec![format!("{:width$}  {:>7}  {:>10}  {:>8}  state", "process", "CPU", "memory", "restarts")];
    for Row { name, state, restarts, usage } in rows {
        let (cpu, memory) = match usage {
            Some(usage) => (format!("{:.1} %", usage.cpu * 100.0), usage::bytes(usage.memory)),
            None => ("-".to_owned(), "-".to_owned()),
        };
        lines.push(format!("{name:width$}  {cpu:>7}  {memory:>10}  {restarts:>8}  {state}"));
    }
    lines
}

/// Returns a line of the table as a JSON value.
pub(super) fn row_value(row: &Row<'_>) -> Value {
    json!({
        "event": "usage",
        "process": row.name,
        "state": row.state,
        "restarts": row.restarts,
        "cpu": row.usage.map(|usage| usage.cpu),
        "memory_bytes": row.usage.map(|usage| usage.memory),
        "processes": row.usage.map(|usage| usage.processes),
    })
}
