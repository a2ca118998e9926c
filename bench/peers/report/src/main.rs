//! `peers`: measures Sinew and its peers in turns, and writes the report. `bench/peers/README.md`
//! describes its use.

mod bars;
mod cases;
mod charts;
mod html;
mod line;
mod markdown;
mod measured;
mod page;
mod plot;
mod programs;
mod reasons;
mod report;
mod run;
mod states;
mod sweeper;
mod tables;
mod turn;
mod words;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result};
use clap::Parser;
use sinew_bench::machine::Host;
use sinew_bench::options::PeersOptions;
use sinew_bench::progress::Progress;

use page::Block;
use programs::Participant;
use report::Report;
use run::Plan;
use turn::Turns;

/// Sinew beside its peers: runs each scenario in alternating rounds and writes a report.
#[derive(Debug, Parser)]
#[command(name = "peers", version)]
struct Line {
    #[command(flatten)]
    options: PeersOptions,
}

fn main() -> ExitCode {
    /// The exit code of a run that a signal has ended.
    const ENDED: u8 = 130;
    if sweeper::sweep() {
        return ExitCode::SUCCESS;
    }
    match run(&Line::parse().options) {
        Ok(false) => ExitCode::SUCCESS,
        Ok(true) => ExitCode::from(ENDED),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "peers: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the measurement. Returns `true` if a signal has ended it early.
fn run(options: &PeersOptions) -> Result<bool> {
    let host = host(options);
    let turns = Turns::begin()?;
    let begun = Instant::now();
    for file in [&options.html, &options.markdown, &options.json].into_iter().flatten() {
        check_writable(file)?;
    }
    if let Some(directory) = &options.svg {
        std::fs::create_dir_all(directory)
            .with_context(|| format!("can't make the directory {}", directory.display()))?;
    }
    // Names are checked before anything is built.
    Plan::new(options, &[])?;
    let mut progress = Progress::to_stderr();
    let (participants, missing) = programs::gather(options, &turns, |what| progress.note(what))?;
    if options.list {
        let mut blocks = page::used(&participants);
        blocks.push(Block::Heading("missing", "What can't be measured here"));
        blocks.push(page::missing(&missing));
        let text: String = blocks.iter().map(markdown::written).collect();
        write(options.markdown.as_deref().unwrap_or(Path::new("-")), &text)?;
        return Ok(turns.asked());
    }
    let (version, parts) = match ready(options, &turns, &mut progress) {
        Ok(sinew) => {
            let all: Vec<_> = std::iter::once(&sinew).chain(&participants).collect();
            let plan = Plan::new(options, &all)?;
            progress.note(&format!(
                "measuring takes about {:.0} min; Ctrl-C ends it and leaves a report of what is done",
                (plan.estimate().as_secs_f64() / 60.0).ceil()
            ));
            (sinew.peer.version.clone(), plan.run(&turns, &mut progress))
        }
        // A signal also ends a build; that is no failure.
        Err(_) if turns.asked() => ("(not measured)".to_owned(), Vec::new()),
        Err(error) => return Err(error),
    };
    drop(progress);
    let report = Report {
        host,
        version,
        rounds: run::rounds(options),
        quick: options.quick,
        ended_early: turns.asked(),
        took: begun.elapsed().as_secs(),
        participants,
        missing,
        parts,
    };
    write_all(&report, options)?;
    Ok(report.ended_early)
}

/// Returns the facts about the machine. The path of the measured program is left out, as it doesn't
/// interest readers.
fn host(options: &PeersOptions) -> Host {
    let mut host = Host::read();
    if options.sinew.is_some() {
        let mut is_path = false;
        host.options.retain(|option| {
            let drops = std::mem::replace(&mut is_path, option == "--sinew") || option.starts_with("--sinew");
            !drops
        });
    }
    host
}

/// Returns Sinew's own program, built if necessary.
fn ready(options: &PeersOptions, turns: &Turns, progress: &mut Progress) -> Result<Participant> {
    anyhow::ensure!(!turns.asked(), "the run was ended while the peers were built");
    let program = match &options.sinew {
        Some(path) => path.clone(),
        None => built_sinew(options, progress)?,
    };
    let peer = programs::describe(&program, turns)
        .with_context(|| format!("{} doesn't say what it is", program.display()))?;
    Ok(Participant { program, peer })
}

/// Builds the program `sinew-bench` of the workspace above.
fn built_sinew(options: &PeersOptions, progress: &mut Progress) -> Result<PathBuf> {
    let product = programs::workspace().ancestors().nth(2).context("there is no workspace above")?;
    if options.no_build {
        let program = product.join("target/release/sinew-bench");
        anyhow::ensure!(program.is_file(), "{} isn't built, and --no-build was given", program.display());
        return Ok(program);
    }
    progress.note("building sinew-bench");
    programs::build(product, "sinew-bench").context("sinew can't be measured")
}

fn write_all(report: &Report, options: &PeersOptions) -> Result<()> {
    if let Some(directory) = &options.svg {
        write_plots(report, directory)?;
    }
    if let Some(file) = &options.json {
        write(file, &format!("{:#}\n", report.json()))?;
    }
    let blocks = page::of(report);
    if let Some(file) = &options.html {
        write(file, &html::of(&blocks))?;
    }
    let named = [&options.json, &options.html, &options.markdown].into_iter().any(Option::is_some);
    let page = options.markdown.as_deref().or((!named && options.svg.is_none()).then_some(Path::new("-")));
    if let Some(page) = page {
        let svg = options.svg.as_deref().filter(|_| page != Path::new("-"));
        write(page, &markdown::of(&blocks, page, svg))?;
    }
    Ok(())
}

fn write_plots(report: &Report, directory: &Path) -> Result<()> {
    for chart in report.parts.iter().flat_map(|part| charts::of(part, report)) {
        write(&directory.join(format!("{}.svg", chart.id)), &chart.drawing.file())?;
    }
    match charts::for_readme(report) {
        Some(text) => write(&directory.join("peers.svg"), &text),
        None => Ok(()),
    }
}

/// Fails now, rather than after all measurements.
fn check_writable(file: &Path) -> Result<()> {
    if file != Path::new("-") {
        let opened = OpenOptions::new().create(true).write(true).truncate(false).open(file);
        opened.with_context(|| format!("can't write {}", file.display()))?;
    }
    Ok(())
}

fn write(file: &Path, text: &str) -> Result<()> {
    let written = match file == Path::new("-") {
        true => std::io::stdout().lock().write_all(text.as_bytes()),
        false => std::fs::write(file, text),
    };
    written.with_context(|| format!("can't write {}", file.display()))
}
