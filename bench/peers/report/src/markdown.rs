//! The report as Markdown: a page of the book.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use crate::charts::Chart;
use crate::page::{Block, Item};
use crate::tables::Table;

/// Returns the page. Plots are linked if they are files in `svg`; `page` is the place of the page.
pub fn of(blocks: &[Block], page: &Path, svg: Option<&Path>) -> String {
    let place = svg.map(|directory| relative(directory, page.parent().unwrap_or(Path::new(""))));
    let image = |title: &str, id: &str| match &place {
        Some(place) => format!("![{}]({})\n\n", escape(title), link(&place.join(format!("{id}.svg")))),
        None => String::new(),
    };
    let mut text = String::from("# Beside the peers\n\n");
    for block in blocks {
        text.push_str(&match block {
            Block::Overview => image(crate::page::TITLE, "peers"),
            Block::Charts(charts) => {
                charts.iter().map(|Chart { title, id, .. }| image(title, id)).collect::<String>()
            }
            other => written(other),
        });
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

/// Writes a block other than plots.
pub fn written(block: &Block) -> String {
    match block {
        Block::Notice(text) => format!("**{text}**\n\n"),
        Block::Overview | Block::Charts(_) => String::new(),
        Block::Heading(_, title) => format!("## {title}\n\n"),
        Block::Peer(name) => format!("### {name}\n\n"),
        Block::Text(text) => format!("{text}\n\n"),
        Block::List(items) => items.iter().map(item).collect::<String>() + "\n",
        Block::Table(of) => table(of) + "\n",
    }
}

fn item(Item { way, text }: &Item) -> String {
    match way {
        Some((name, link)) => format!("- **{name}** ([documentation]({link})): {}\n", escape(text)),
        None => format!("- {}\n", escape(text)),
    }
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
