//! `sinew launch` and `sinew run`: several processes from a file, and a single one.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use sinew_launch::{ArgumentInfo, Options, Plan, Process, RunOptions, Word};

use crate::cli;
use crate::cli::tools::Where;
use crate::error::Error;
use crate::output::{print, print_json};

/// Period of `--top`.
const TOP: Duration = Duration::from_secs(1);

/// Runs `sinew launch`.
pub(crate) fn launch(options: &cli::LaunchOptions) -> Result<(), Error> {
    if options.show_args {
        return show_arguments(options);
    }
    let environment = Some(environment(&options.place));
    let plan =
        sinew_launch::load(&options.file, &Options { arguments: options.arguments.clone(), environment })?;
    if options.check {
        let count = plan.processes.len();
        return print(&format!("{}: fine, {count} processes\n", options.file.display()));
    }
    if options.print {
        return print(&plan.processes.iter().map(printed).collect::<String>());
    }
    if plan.processes.is_empty() {
        let file = options.file.display();
        return print(&format!(
            "{file}: there is nothing to start: no process, or none whose condition holds\n"
        ));
    }
    run_plan(&plan, options)
}

fn run_plan(plan: &Plan, options: &cli::LaunchOptions) -> Result<(), Error> {
    // The keeper still works if this file is replaced by another build.
    let program =
        env::current_exe().map_err(|source| Error::System { call: "finding this program", source })?;
    let has_colours =
        io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let run = RunOptions {
        domain: options.place.domain().map_err(Error::DomainNumber)?,
        directory: options.place.dir.clone(),
        json: options.json,
        colours: has_colours,
        full_screen: options.top && !options.json && io::stdout().is_terminal(),
        table_every: options.top.then_some(TOP),
        keeper: vec![program.display().to_string(), "launch-keeper".to_owned()],
    };
    match sinew_launch::run(plan, &run)? {
        0 => Ok(()),
        code => Err(Error::Ended { code }),
    }
}

/// Returns the environment of the processes, with the domain that the options select.
fn environment(place: &Where) -> BTreeMap<String, String> {
    let own = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut environment: BTreeMap<String, String> = own.collect();
    for (name, value) in where_to_meet(place) {
        environment.insert(name.to_owned(), value);
    }
    environment
}

fn where_to_meet(place: &Where) -> Vec<(&'static str, String)> {
    let domain = place.given_domain().map(|domain| ("SINEW_DOMAIN_ID", domain.to_string()));
    let directory = place.dir.as_deref().map(|path| ("SINEW_DIR", absolute(path)));
    domain.into_iter().chain(directory).collect()
}

fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

fn show_arguments(options: &cli::LaunchOptions) -> Result<(), Error> {
    let arguments = sinew_launch::arguments(&options.file)?;
    if options.json {
        let one = |argument: &ArgumentInfo| {
            let ArgumentInfo { name, default, description, choices, .. } = argument;
            json!({"name": name, "default": default, "description": description, "choices": choices})
        };
        return print_json(&arguments.iter().map(one).collect::<Vec<_>>());
    }
    let mut text = String::new();
    for argument in &arguments {
        let default =
            argument.default.as_ref().map_or("needed".to_owned(), |default| format!("default: {default:?}"));
        let choices = match argument.choices.as_slice() {
            [] => String::new(),
            choices => format!("; one of {}", choices.join(", ")),
        };
        // Can't fail.
        let _ = writeln!(text, "{} ({default}{choices})", argument.name);
        if !argument.description.is_empty() {
            let _ = writeln!(text, "    {}", argument.description);
        }
    }
    print(&text)
}

/// Formats the command line of a process for a shell, followed by the content of its temporary
/// files.
fn printed(process: &Process) -> String {
    let mut line = format!("{}: {}", process.name, quoted(&process.program.display().to_string()));
    let mut files = String::new();
    for (number, word) in process.arguments.iter().enumerate() {
        match word {
            Word::Text(text) => line.extend([" ", &quoted(text)]),
            Word::File(text) => {
                let _ = write!(line, " <file {number}>");
                let _ = writeln!(files, "    file {number}:");
                for line in text.lines() {
                    let _ = writeln!(files, "        {line}");
                }
            }
        }
    }
    format!("{line}\n{files}")
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=,+@%^".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Runs `sinew run`: replaces this process by the program.
pub(crate) fn run(options: &cli::RunOptions) -> Result<(), Error> {
    let Some((name, arguments)) = options.line.split_first() else { return Ok(()) };
    let program = sinew_launch::find_program(name, options.package.as_deref())?;
    let mut ros = Vec::new();
    let mut add = |option: &str, value: String| ros.extend([option.to_owned(), value]);
    options.node.iter().for_each(|node| add("-r", format!("__node:={node}")));
    options.namespace.iter().for_each(|namespace| add("-r", format!("__ns:={namespace}")));
    options.remap.iter().for_each(|rule| add("-r", rule.clone()));
    options.params_file.iter().for_each(|path| add("--params-file", path.display().to_string()));
    options.parameter.iter().for_each(|parameter| add("-p", parameter.clone()));
    let mut command = Command::new(&program);
    command.args(arguments).envs(where_to_meet(&options.place));
    if !ros.is_empty() {
        command.arg("--ros-args").args(ros);
    }
    Err(Error::File { action: "run", path: program, source: command.exec() })
}

/// Runs the process that a launch starts beside itself.
pub(crate) fn keep(options: &cli::KeeperOptions) {
    sinew_launch::keep(&options.arguments);
}
