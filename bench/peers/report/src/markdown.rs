//! The report as Markdown: a page of the book.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use crate::bars::LEFT_OUT;
use crate::charts;
use crate::programs::{Missing, Participant};
use crate::report::Report;
use crate::tables::{self, Table};
use crate::words::{CLOSE, FLOORS, LEARNT, SPREAD};

/// Returns the page. Plots are linked if they are files in `svg`; `page` is the place of the page.
pub fn of(report: &Report, page: &Path, svg: Option<&Path>) -> String {
    let mut text = String::from("# Beside the peers\n\n");
    let _ = writeln!(text, "{}\n", head(report));
    if let Some(directory) = svg {
        let place = relative(directory, page.parent().unwrap_or(Path::new("")));
        let _ = writeln!(text, "![Sinew beside its peers]({})\n", link(&place.join("peers.svg")));
    }
    text.push_str("## What is to be reached\n\n");
    text.push_str("The ratio is Sinew's figure by the peer's, the worst of all cases: of times and memory, lower is better.\n\n");
    text.push_str(&table(&tables::of_bars(report)));
    let _ = writeln!(text, "\n{LEFT_OUT}\n\n## {CLOSE}\n");
    text.push_str(&table(&tables::close(report)));
    let _ = writeln!(text, "\n{LEARNT}");
    for part in &report.parts {
        let _ = write!(text, "\n## {}\n\n{}\n\n", part.section.title, part.section.about);
        if part.cases.is_empty() {
            text.push_str("Nothing was measured.\n");
            continue;
        }
        let charts = charts::of(part, report);
        if let Some(directory) = svg {
            let place = relative(directory, page.parent().unwrap_or(Path::new("")));
            for chart in &charts {
                let file = link(&place.join(format!("{}.svg", chart.id)));
                let _ = writeln!(text, "![{}]({file})\n\n{}\n", escape(&chart.title), chart.sentence);
            }
        }
        text.push_str(&table(&tables::of(part)));
        text.push('\n');
        let remarks = tables::remarks(part);
        for remark in &remarks {
            let _ = writeln!(text, "- {}", escape(remark));
        }
        if !remarks.is_empty() {
            text.push('\n');
        }
        for line in tables::verdicts(part) {
            let _ = writeln!(text, "- {line}");
        }
    }
    let _ = write!(text, "\n{}\n{}", used(&report.participants), repeat());
    text
}

/// Returns the heading: the measured programs, the machine, and the missing peers.
fn head(report: &Report) -> String {
    let host = &report.host;
    let mut text = String::new();
    if report.ended_early {
        text.push_str("**The run was ended early: this is what was measured until then.**\n\n");
    }
    if report.quick {
        text.push_str(
            "**A first look: few rounds of tenths of seconds. Its figures are for the form only.**\n\n",
        );
    }
    let _ = write!(
        text,
        "Sinew {} beside {}.\n\n- Host: {}, {} cores, {}\n- Date: {}, {} min in all\n- Options: `{}`\n- Each side was measured in \
         {} rounds, in turns, each a fresh process. Figures are medians over the rounds; ratios are taken in each round, and \
         the median of those is shown. {SPREAD}\n- {FLOORS}\n- Machines are noisy: compare within one run.",
        report.version,
        if report.participants.is_empty() { "no peer".to_owned() } else { report.versions() },
        host.cpu,
        host.cores,
        host.kernel,
        host.date,
        report.took.div_ceil(60),
        host.options.join(" "),
        report.rounds,
    );
    if !report.missing.is_empty() {
        text.push_str("\n\nWhat couldn't be measured, and why:\n\n");
        text.push_str(&missing(&report.missing));
    }
    text
}

/// Lists missing peers, a line each.
pub fn missing(missing: &[Missing]) -> String {
    let line = |missing: &Missing| format!("- {}: {}\n", missing.name, escape(&missing.reason));
    missing.iter().map(line).collect()
}

/// Describes the ways to use each peer.
pub fn used(participants: &[Participant]) -> String {
    let mut text = String::from("## How each peer is used\n");
    for participant in participants {
        let peer = &participant.peer;
        let _ = write!(text, "\n### {} ({})\n\n", peer.peer, peer.version);
        for system in &peer.systems {
            let _ = writeln!(
                text,
                "- **{}**: {} ([documentation]({})). Scenarios: {}.",
                system.name,
                escape(&system.how),
                system.link,
                system.scenarios.join(", ")
            );
        }
    }
    text
}

fn repeat() -> &'static str {
    "## How to repeat it\n\n    bench/peers/run --markdown docs/peers.md --svg docs/img --html peers.html --json peers.json\n\nin a checkout, on an \
     idle machine with two cores; it takes less than 30 minutes and says how long. `--scenario chain`, `--peer zenoh` and `--quick` \
     measure less. `bench/peers/README.md` says how other programs take part.\n"
}

fn table(table: &Table) -> String {
    let line = |cells: &[String]| {
        format!("| {} |\n", cells.iter().map(|cell| escape(cell)).collect::<Vec<_>>().join(" | "))
    };
    let mut text = line(&table.heading);
    let rule: Vec<String> =
        (0..table.heading.len()).map(|index| if index < 2 { "---" } else { "---:" }.to_owned()).collect();
    let _ = writeln!(text, "|{}|", rule.join("|"));
    for (is_ours, cells) in &table.rows {
        let mut cells = cells.clone();
        if let (true, Some(name)) = (is_ours, cells.get_mut(1)) {
            *name = format!("**{name}**");
        }
        text.push_str(&line(&cells));
    }
    text
}

/// Escapes text from other programs, so that it stays in its line and cell.
fn escape(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace(['\n', '\r'], " ")
}

/// Returns the relative path from one directory to another.
fn relative(to: &Path, from: &Path) -> PathBuf {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (to, from) =
        (absolute(to), absolute(if from.as_os_str().is_empty() { Path::new(".") } else { from }));
    let plain = |path: &Path| {
        path.components()
            .filter(|part| *part != Component::CurDir)
            .map(|part| part.as_os_str().to_owned())
            .collect::<Vec<_>>()
    };
    let (to, from) = (plain(&to), plain(&from));
    let common = to.iter().zip(&from).take_while(|(one, other)| one == other).count();
    let up = std::iter::repeat_n("..".into(), from.len() - common);
    up.chain(to[common..].iter().cloned()).collect()
}

/// Formats a path as a link.
fn link(path: &Path) -> String {
    path.to_string_lossy().replace(' ', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_relative_to_the_page() {
        let way = |to: &str, from: &str| relative(Path::new(to), Path::new(from));
        assert_eq!(way("docs/img", "docs"), Path::new("img"));
        assert_eq!(way("docs/img", ""), Path::new("docs/img"));
        assert_eq!(way("/a/img", "/a/b/c"), Path::new("../../img"));
    }

    #[test]
    fn cells_stay_cells() {
        assert_eq!(escape("a|b\n<c"), "a\\|b &lt;c");
    }
}
