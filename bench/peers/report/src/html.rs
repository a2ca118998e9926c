//! The report as a single self-contained page.

use std::fmt::Write as _;

use crate::bars::LEFT_OUT;
use crate::charts;
use crate::plot;
use crate::report::Report;
use crate::tables::{self, Table};
use crate::words::{CLOSE, FLOORS, LEARNT, SPREAD};

const PAGE: &str = "
:root{color-scheme:light dark;--page:#ffffff;--text:#1f2328;--soft:#57606a;--rule:#d8dee4;--mine:#fdf1ea;--link:#0969da}
@media (prefers-color-scheme:dark){:root{--page:#0d1117;--text:#e6edf3;--soft:#9198a1;--rule:#2d343c;--mine:#2b1d15;--link:#58a6ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif}
main{max-width:1080px;margin:0 auto;padding:16px}
h1{font-size:1.8em;line-height:1.2}h2{margin-top:2.2em;padding-top:.6em;border-top:1px solid var(--rule);line-height:1.25}
a{color:var(--link)}.soft{color:var(--soft);font-size:.9em}
nav{columns:2 260px;font-size:.95em}nav a{display:block;padding:1px 0}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:24px 40px;margin:20px 0}
figure{margin:0}figure svg{display:block;width:100%;height:auto;max-width:560px}
figcaption{margin-top:6px;font-size:.95em}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.86em;font-variant-numeric:tabular-nums}
th,td{padding:4px 10px;border-bottom:1px solid var(--rule);text-align:right;white-space:nowrap;vertical-align:top}
th:nth-child(-n+2),td:nth-child(-n+2){text-align:left}th{color:var(--soft);font-weight:600}
tr.mine td{background:var(--mine);font-weight:600}
.bars td,.bars th{text-align:left;white-space:normal}
.notice{border-left:4px solid var(--c3,#d9a514);padding:2px 12px}
li{overflow-wrap:anywhere}
";

/// Returns the page.
pub fn of(report: &Report) -> String {
    let mut page = String::from("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>");
    page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>");
    let _ = write!(
        page,
        "<title>Sinew beside its peers</title>\n<style>{PAGE}{}</style></head>\n<body><main>\n",
        plot::STYLE
    );
    page.push_str(&head(report));
    page.push_str("<nav>");
    for part in &report.parts {
        let _ = write!(page, "<a href=\"#{}\">{}</a>", part.section.id, escape(part.section.title));
    }
    page.push_str("</nav>\n<h2>What is to be reached</h2>\n<p>The ratio is Sinew's figure by the peer's, the worst of all cases: of times and memory, lower is better.</p>\n");
    page.push_str(&table(&tables::of_bars(report), "bars"));
    let _ = write!(page, "<p>{}</p>\n<h2>{CLOSE}</h2>\n", escape(LEFT_OUT));
    page.push_str(&table(&tables::close(report), "bars"));
    let _ = writeln!(page, "<p>{}</p>", escape(LEARNT));
    for part in &report.parts {
        let section = &part.section;
        let _ = write!(
            page,
            "<h2 id=\"{}\">{}</h2>\n<p>{}</p>\n",
            section.id,
            escape(section.title),
            escape(section.about)
        );
        if part.cases.is_empty() {
            page.push_str("<p>Nothing was measured.</p>\n");
            continue;
        }
        page.push_str("<div class=\"plots\">\n");
        for chart in charts::of(part, report) {
            let _ = writeln!(
                page,
                "<figure>{}<figcaption>{}</figcaption></figure>",
                chart.drawing.in_page(),
                escape(&chart.sentence)
            );
        }
        page.push_str("</div>\n");
        page.push_str(&table(&tables::of(part), "figures"));
        let lines = tables::remarks(part).into_iter().chain(tables::verdicts(part));
        page.push_str(&list(lines.map(|line| escape(&line))));
    }
    page.push_str("<h2>How each peer is used</h2>\n");
    for participant in &report.participants {
        let peer = &participant.peer;
        let _ = writeln!(
            page,
            "<h3>{} <span class=\"soft\">{}</span></h3>",
            escape(&peer.peer),
            escape(&peer.version)
        );
        page.push_str(&list(peer.systems.iter().map(|system| {
            let link = if system.link.starts_with("https://") { system.link.as_str() } else { "#" };
            format!(
                "<b>{}</b>: {} (<a href=\"{}\">documentation</a>)",
                escape(&system.name),
                escape(&system.how),
                escape(link)
            )
        })));
    }
    page.push_str("<h2>How to repeat it</h2>\n<p><code>bench/peers/run --html FILE</code> in a checkout, on an idle machine with two cores; it takes less than 30 minutes and says how long.</p>\n</main></body></html>\n");
    page
}

fn head(report: &Report) -> String {
    let host = &report.host;
    let mut text = String::from("<h1>Sinew beside its peers</h1>\n");
    if report.ended_early {
        text.push_str(
            "<p class=\"notice\">The run was ended early: this is what was measured until then.</p>\n",
        );
    }
    if report.quick {
        text.push_str("<p class=\"notice\">A first look: few rounds of tenths of seconds. Its figures are for the form only.</p>\n");
    }
    let beside = if report.participants.is_empty() { "no peer".to_owned() } else { report.versions() };
    let _ = write!(
        text,
        "<p>Sinew {} beside {}.</p>\n<p class=\"soft\">{}, {} cores, {}; {}; {} min in all; options <code>{}</code>. Each side was \
         measured in {} rounds, in turns, each a fresh process. Figures are medians over the rounds; ratios are taken in each \
         round, and the median of those is shown. {SPREAD} Bars are the P50, their marks the P90; all scales are logarithmic. \
         {FLOORS} Machines are noisy: compare within one run.</p>\n",
        escape(&report.version),
        escape(&beside),
        escape(&host.cpu),
        host.cores,
        escape(&host.kernel),
        escape(&host.date),
        report.took.div_ceil(60),
        escape(&host.options.join(" ")),
        report.rounds,
    );
    if !report.missing.is_empty() {
        text.push_str("<p>What couldn't be measured, and why:</p>\n");
        text.push_str(&list(
            report
                .missing
                .iter()
                .map(|missing| format!("{}: {}", escape(&missing.name), escape(&missing.reason))),
        ));
    }
    text
}

fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.map(|item| format!("<li>{item}</li>\n")).collect();
    if items.is_empty() { String::new() } else { format!("<ul>\n{}</ul>\n", items.concat()) }
}

fn table(table: &Table, class: &str) -> String {
    let cells = |name: &str, cells: &[String]| {
        let cell = |cell: &String| format!("<{name}>{}</{name}>", strong(&escape(cell)));
        cells.iter().map(cell).collect::<String>()
    };
    let mut text = format!(
        "<div class=\"wide\"><table class=\"{class}\"><thead><tr>{}</tr></thead><tbody>\n",
        cells("th", &table.heading)
    );
    for (is_ours, row) in &table.rows {
        let class = if *is_ours { " class=\"mine\"" } else { "" };
        let _ = writeln!(text, "<tr{class}>{}</tr>", cells("td", row));
    }
    text.push_str("</tbody></table></div>\n");
    text
}

/// Converts `**words**`, which the tables contain for Markdown.
fn strong(cell: &str) -> String {
    match cell.strip_prefix("**").and_then(|cell| cell.strip_suffix("**")) {
        Some(words) => format!("<b>{words}</b>"),
        None => cell.to_owned(),
    }
}

/// Escapes text from other programs, so that it never becomes part of the page's markup.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
