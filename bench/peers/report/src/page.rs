//! The report as a page, of which Markdown and HTML are two forms.

use harness::System;

use crate::bars::LEFT_OUT;
use crate::charts::{self, Chart};
use crate::programs::{Missing, Participant};
use crate::reasons;
use crate::report::Report;
use crate::run::Part;
use crate::states;
use crate::tables::{self, Table};
use crate::words::{CLOSE, FLOORS, LEARNT, SPREAD, STATES, WHY};

/// The title.
pub const TITLE: &str = "Sinew beside its peers";

/// A part of the page. In texts, words between backquotes are code.
pub enum Block {
    /// Something that a reader must know first.
    Notice(&'static str),
    /// What leads to the sections.
    Overview,
    /// The heading of a section, with its name in links.
    Heading(&'static str, &'static str),
    /// The heading of a peer.
    Peer(String),
    /// A paragraph.
    Text(String),
    /// A list.
    List(Vec<Item>),
    /// A table.
    Table(Table),
    /// The plots of a section.
    Charts(Vec<Chart>),
}

/// An item of a list.
pub struct Item {
    /// The name of a way to use a peer, and the page of the peer's documentation that describes it.
    pub way: Option<(String, String)>,
    /// The text.
    pub text: String,
}

fn list(texts: impl IntoIterator<Item = String>) -> Block {
    Block::List(texts.into_iter().map(|text| Item { way: None, text }).collect())
}

/// Returns the whole page, after its title.
pub fn of(report: &Report) -> Vec<Block> {
    let mut blocks = head(report);
    blocks.push(Block::Overview);
    blocks.push(Block::Heading("bars", "What is to be reached"));
    blocks.push(Block::Text(
        "The ratio is Sinew's figure by the peer's, the worst of all cases: of times and memory, lower is better."
            .to_owned(),
    ));
    blocks.push(Block::Table(tables::of_bars(report)));
    blocks.push(Block::Text(LEFT_OUT.to_owned()));
    blocks.push(Block::Heading("close", CLOSE));
    blocks.push(Block::Table(tables::close(report)));
    let reasons = reasons::of(report);
    if !reasons.is_empty() {
        blocks.push(Block::Text(WHY.to_owned()));
        blocks.push(list(reasons));
    }
    blocks.push(Block::Text(LEARNT.to_owned()));
    if let Some(table) = states::table(report) {
        blocks.push(Block::Heading("states", "The two states of the machine"));
        blocks.push(Block::Text(STATES.to_owned()));
        blocks.push(Block::Table(table));
    }
    blocks.extend(report.parts.iter().flat_map(|part| section(part, report)));
    blocks.extend(used(&report.participants));
    blocks.push(Block::Heading("repeat", "How to repeat it"));
    blocks.push(Block::Text(
        "`bench/peers/run --markdown docs/peers.md --svg docs/img --html peers.html --json peers.json` in a checkout, on \
         an idle machine with two cores; it takes about 50 minutes, and says how long. `--scenario chain`, `--peer \
         zenoh` and `--quick` measure less. `bench/peers/README.md` says how other programs take part."
            .to_owned(),
    ));
    blocks
}

/// Returns the measured programs, the machine, and the missing peers.
fn head(report: &Report) -> Vec<Block> {
    let host = &report.host;
    let mut blocks = Vec::new();
    if report.ended_early {
        blocks.push(Block::Notice("The run was ended early: this is what was measured until then."));
    }
    if report.quick {
        blocks.push(Block::Notice(
            "A first look: few rounds of tenths of seconds. Its figures are for the form only.",
        ));
    }
    let beside = if report.participants.is_empty() { "no peer".to_owned() } else { report.versions() };
    blocks.push(Block::Text(format!("Sinew {} beside {beside}.", report.version)));
    let mut facts = vec![
        format!("Host: {}, {} cores, {}", host.cpu, host.cores, host.kernel),
        format!("Date: {}, {} min in all", host.date, report.took.div_ceil(60)),
        format!("Options: `{}`", host.options.join(" ")),
        format!(
            "Each side was measured in {} rounds, in turns, each a fresh process. Figures are medians over the rounds; \
             ratios are taken in each round, and the median of those is shown. {SPREAD} Bars are the P50, their marks \
             the P90; all scales are logarithmic.",
            report.rounds
        ),
        FLOORS.to_owned(),
        "Machines are noisy: compare within one run.".to_owned(),
    ];
    facts.extend(states::sentence(report));
    blocks.push(list(facts));
    if !report.missing.is_empty() {
        blocks.push(Block::Text("What couldn't be measured, and why:".to_owned()));
        blocks.push(missing(&report.missing));
    }
    blocks
}

/// Lists missing peers.
pub fn missing(missing: &[Missing]) -> Block {
    list(missing.iter().map(|missing| format!("{}: {}", missing.name, missing.reason)))
}

fn section(part: &Part, report: &Report) -> Vec<Block> {
    let mut blocks =
        vec![Block::Heading(part.section.id, part.section.title), Block::Text(part.section.about.to_owned())];
    if part.cases.is_empty() {
        blocks.push(Block::Text("Nothing was measured.".to_owned()));
        return blocks;
    }
    blocks.push(Block::Charts(charts::of(part, report)));
    blocks.push(Block::Table(tables::of(part)));
    blocks.push(list(tables::remarks(part).into_iter().chain(tables::verdicts(part))));
    blocks
}

/// Describes the ways to use each peer.
pub fn used(participants: &[Participant]) -> Vec<Block> {
    let way = |system: &System| Item {
        way: Some((system.name.clone(), system.link.clone())),
        text: format!("{}. Scenarios: {}.", system.how, system.scenarios.join(", ")),
    };
    let mut blocks = vec![Block::Heading("used", "How each peer is used")];
    for Participant { peer, .. } in participants {
        blocks.push(Block::Peer(format!("{} ({})", peer.peer, peer.version)));
        blocks.push(Block::List(peer.systems.iter().map(way).collect()));
    }
    blocks
}
