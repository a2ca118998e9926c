//! The report as a single self-contained page.

use std::fmt::Write as _;

use crate::page::{Block, Item, TITLE};
use crate::plot;
use crate::tables::Table;

const PAGE: &str = "
:root{color-scheme:light dark;--page:#ffffff;--text:#1f2328;--soft:#57606a;--rule:#d8dee4;--mine:#fdf1ea;--link:#0969da}
@media (prefers-color-scheme:dark){:root{--page:#0d1117;--text:#e6edf3;--soft:#9198a1;--rule:#2d343c;--mine:#2b1d15;--link:#58a6ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif}
main{max-width:1080px;margin:0 auto;padding:16px}
h1{font-size:1.8em;line-height:1.2}h2{margin-top:2.2em;padding-top:.6em;border-top:1px solid var(--rule);line-height:1.25}
a{color:var(--link)}
nav{columns:2 260px;font-size:.95em}nav a{display:block;padding:1px 0}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:24px 40px;margin:20px 0}
figure{margin:0}figure svg{display:block;width:100%;height:auto;max-width:560px}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.86em;font-variant-numeric:tabular-nums}
th,td{padding:4px 10px;border-bottom:1px solid var(--rule);text-align:right;white-space:nowrap;vertical-align:top}
th:nth-child(-n+2),td:nth-child(-n+2){text-align:left}th{color:var(--soft);font-weight:600}
tr.mine td{background:var(--mine);font-weight:600}
.notice{border-left:4px solid var(--c3,#d9a514);padding:2px 12px}
li{overflow-wrap:anywhere}
";

/// Returns the page.
pub fn of(blocks: &[Block]) -> String {
    let mut page = String::from("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>");
    page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>");
    let style = plot::STYLE;
    let _ = write!(page, "<title>{TITLE}</title>\n<style>{PAGE}{style}</style></head>\n<body><main>\n");
    let _ = writeln!(page, "<h1>{TITLE}</h1>");
    for block in blocks {
        page.push_str(&written(block, blocks));
    }
    page.push_str("</main></body></html>\n");
    page
}

fn written(block: &Block, blocks: &[Block]) -> String {
    match block {
        Block::Notice(text) => format!("<p class=\"notice\">{text}</p>\n"),
        Block::Overview => {
            let link = |block: &Block| match block {
                Block::Heading(id, title) => format!("<a href=\"#{id}\">{}</a>", escape(title)),
                _ => String::new(),
            };
            format!("<nav>{}</nav>\n", blocks.iter().map(link).collect::<String>())
        }
        Block::Heading(id, title) => format!("<h2 id=\"{id}\">{}</h2>\n", escape(title)),
        Block::Peer(name) => format!("<h3>{}</h3>\n", escape(name)),
        Block::Text(text) => format!("<p>{}</p>\n", inline(text)),
        Block::List(items) if items.is_empty() => String::new(),
        Block::List(items) => format!("<ul>\n{}</ul>\n", items.iter().map(item).collect::<String>()),
        Block::Table(of) => table(of),
        Block::Charts(charts) => {
            let figure =
                |chart: &crate::charts::Chart| format!("<figure>{}</figure>\n", chart.drawing.in_page());
            format!("<div class=\"plots\">\n{}</div>\n", charts.iter().map(figure).collect::<String>())
        }
    }
}

fn item(Item { way, text }: &Item) -> String {
    let Some((name, link)) = way else { return format!("<li>{}</li>\n", inline(text)) };
    let link = if link.starts_with("https://") { link } else { "#" };
    let link = format!("<a href=\"{}\">documentation</a>", escape(link));
    format!("<li><b>{}</b> ({link}): {}</li>\n", escape(name), inline(text))
}

/// Writes a text, in which words between backquotes are code.
fn inline(text: &str) -> String {
    let part = |(index, part)| match index % 2 {
        0 => escape(part),
        _ => format!("<code>{}</code>", escape(part)),
    };
    text.split('`').enumerate().map(part).collect()
}

fn table(table: &Table) -> String {
    let cells = |name: &str, cells: &[String]| {
        let cell = |cell: &String| format!("<{name}>{}</{name}>", strong(&escape(cell)));
        cells.iter().map(cell).collect::<String>()
    };
    let mut text = format!(
        "<div class=\"wide\"><table><thead><tr>{}</tr></thead><tbody>\n",
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
