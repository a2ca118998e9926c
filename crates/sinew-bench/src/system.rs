//! Sinew as one of the systems that `bench/peers` compares: the ways to use it, and a round of a
//! case that is given as JSON, for instance `{"scenario": "chain", "rate": 100}`.
//! `bench/peers/README.md` has the protocol. The machine's floors are a system as well.

use std::time::Duration;

use clap::Parser;
use serde_json::{Map, Value, json};

use crate::options::AnyScenario;
use crate::process::end_with_parent;
use crate::{Error, Ground};

/// A case as a command line.
#[derive(Parser)]
struct Line {
    #[command(subcommand)]
    scenario: AnyScenario,
}

/// The scenarios that others have, too.
const ALL: &[&str] = &[
    "chain",
    "process-chain",
    "service-chain",
    "pingpong",
    "fanout",
    "requests",
    "entities",
    "throughput",
    "latest",
    "big",
    "topology",
];

/// The systems, each with its scenarios.
const SYSTEMS: [(&str, &[&str]); 9] = [
    ("sinew", ALL),
    ("sinew, by time", &["topology"]),
    ("sinew, topic", &["latest"]),
    ("sinew, variable", &["latest"]),
    ("sinew, two threads", &["chain", "topology"]),
    ("sinew, async", &["service-chain"]),
    ("sinew, take", &["throughput"]),
    ("sinew, callback", &["throughput"]),
    (FLOOR, ALL),
];

/// The system that is the machine itself.
const FLOOR: &str = "floor";

/// Describes Sinew as a peer describes itself.
pub fn systems() -> Value {
    let system = |(name, scenarios)| json!({"name": name, "scenarios": scenarios, "how": "", "link": ""});
    json!({"peer": "sinew", "version": env!("CARGO_PKG_VERSION"), "systems": SYSTEMS.map(system)})
}

/// Measures one round of a case. Returns its figures; `None` if the system doesn't have the case.
///
/// # Errors
///
/// If there is no such case, and any failure to measure it.
pub fn run(case: &str, system: Option<&str>) -> Result<Option<Value>, Error> {
    let wrong = |reason: String| Error::Case { reason };
    let mut case: Map<String, Value> =
        serde_json::from_str(case).map_err(|error| wrong(error.to_string()))?;
    let named = case.remove("system");
    let system = system.or(named.as_ref().and_then(Value::as_str)).unwrap_or("sinew");
    let seconds = case.remove("seconds").and_then(|seconds| seconds.as_f64()).unwrap_or(1.0);
    let time = Duration::try_from_secs_f64(seconds).map_err(|error| wrong(error.to_string()))?;
    if !use_as(system, &mut case) {
        return Ok(None);
    }
    let Line { scenario } =
        Line::try_parse_from(arguments(&case)).map_err(|error| wrong(error.to_string()))?;
    scenario.check().map_err(wrong)?;
    let cases = scenario.cases();
    let [case] = &cases[..] else {
        return Err(wrong(format!("these are {} cases: one value is needed for each option", cases.len())));
    };
    end_with_parent()?;
    let ground = Ground::default();
    if system != FLOOR {
        return Ok(Some(json!(case.case.round(&ground, time)?)));
    }
    let Some(floor) = case.case.floors()?.pop() else { return Ok(None) };
    let mut answer = json!(floor.round(time)?);
    answer["floor"] = floor.name.into();
    Ok(Some(answer))
}

/// Adds the options with which a system does a case, unless it has others. Returns `false` if the
/// system has no part in it.
fn use_as(system: &str, case: &mut Map<String, Value>) -> bool {
    let scenario = case.get("scenario").and_then(Value::as_str).unwrap_or_default();
    let is_between = case.get("path").and_then(Value::as_str) != Some("intra");
    // A topic's values are loaned, so large ones are written in place.
    let is_small = case.get("size").and_then(Value::as_u64).is_some_and(|size| size <= 200);
    let options = match (system, scenario) {
        ("sinew" | FLOOR, "fanout") => json!({"placement": "other", "wait": "spin", "rate": 100.0}),
        ("sinew" | FLOOR, "big") => json!({"mode": "loan", "wait": "sleep"}),
        ("sinew", "throughput") => json!({"take": is_between}),
        // As the others, which run what a task has woken next, or call back inside publish.
        ("sinew", "topology") => json!({"order": "run-next"}),
        ("sinew, by time", "topology") => json!({}),
        ("sinew", "latest") => json!({"way": if is_small { "variable" } else { "topic" }}),
        ("sinew, topic", "latest") if is_small => json!({}),
        ("sinew, variable", "latest") if !is_small => json!({"way": "variable"}),
        ("sinew" | FLOOR, _) => json!({}),
        ("sinew, two threads", "chain") => json!({"executor": "multi", "threads": 2}),
        ("sinew, two threads", "topology") => {
            json!({"executor": "multi", "threads": 2, "order": "run-next"})
        }
        ("sinew, async", "service-chain") => json!({"async": true}),
        ("sinew, take", "throughput") if !is_between => json!({"take": true}),
        ("sinew, callback", "throughput") if is_between => json!({}),
        _ => return false,
    };
    for (name, value) in options.as_object().into_iter().flatten() {
        case.entry(name.clone()).or_insert_with(|| value.clone());
    }
    true
}

/// Returns the command line of a case.
fn arguments(case: &Map<String, Value>) -> Vec<String> {
    let mut arguments = vec!["sinew-bench".to_owned()];
    arguments.extend(case.get("scenario").and_then(Value::as_str).map(str::to_owned));
    for (name, value) in case {
        let text = match value {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        match (name.as_str(), value) {
            ("scenario", _) | (_, Value::Null | Value::Bool(false)) => {}
            ("name" | "file", _) => arguments.push(text),
            (name, Value::Bool(true)) => arguments.push(option(name)),
            (name, _) => arguments.push(format!("{}={text}", option(name))),
        }
    }
    arguments
}

/// Returns an option's name on the command line: there, units are left out.
fn option(name: &str) -> String {
    format!("--{}", name.trim_end_matches("_us").replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_system_understands_its_scenarios() {
        let work = |scenario: &str| match scenario {
            "chain" | "process-chain" | "service-chain" => json!({"relays": 2, "rate": 100.0}),
            "pingpong" => json!({"mode": "whole", "wait": "poll", "size": 64}),
            "fanout" => json!({"subscriptions": 8}),
            "requests" => json!({"wait": "poll", "rate": null}),
            "entities" => json!({"pairs": 2, "path": "shm"}),
            "throughput" => json!({"size": 64, "path": "intra"}),
            "topology" => json!({"name": "mont_blanc"}),
            "latest" => json!({"size": 64}),
            _ => json!({}),
        };
        for (system, scenarios) in SYSTEMS {
            for scenario in scenarios {
                let mut case = work(scenario).as_object().cloned().unwrap();
                case.insert("scenario".to_owned(), (*scenario).into());
                match system {
                    "sinew, callback" => drop(case.insert("path".to_owned(), "shm".into())),
                    "sinew, variable" => drop(case.insert("size".to_owned(), (64 << 10).into())),
                    _ => {}
                }
                assert!(use_as(system, &mut case), "{system}: {scenario}");
                let line = Line::try_parse_from(arguments(&case)).map_err(|error| error.to_string());
                assert_eq!(line.map(|line| line.scenario.cases().len()), Ok(1), "{case:?}");
            }
        }
    }

    #[test]
    fn a_case_is_one() {
        let run = |case: &str| run(case, None).map_err(|error| error.to_string());
        assert!(run(r#"{"scenario": "chain"}"#).unwrap_err().contains("these are 3 cases"));
        assert!(run(r#"{"scenario": "chain", "colour": 1}"#).unwrap_err().contains("--colour"));
        assert_eq!(run(r#"{"scenario": "big", "system": "sinew, async"}"#), Ok(None));
    }
}
