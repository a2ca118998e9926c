//! The table of processes on a terminal, with the last lines of output below it.

use std::collections::VecDeque;
use std::fmt::Write as _;

/// Takes over the terminal: the alternate screen, without a cursor.
pub(super) const ENTER: &str = "\x1b[?1049h\x1b[?25l";

/// Gives the terminal back.
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// Number of kept lines: more than a terminal has.
const KEPT: usize = 200;

/// Number of lines that stay on the terminal at the end.
const LAST: usize = 20;

#[derive(Default)]
pub(super) struct View {
    lines: VecDeque<String>,
}

impl View {
    /// Stores lines that would otherwise be printed.
    pub(super) fn add(&mut self, text: &[u8]) {
        for line in String::from_utf8_lossy(text).lines() {
            if self.lines.len() == KEPT {
                self.lines.pop_front();
            }
            self.lines.push_back(line.to_owned());
        }
    }

    /// Returns the whole picture: the table, and as many lines as fit below it.
    pub(super) fn picture(&self, table: &[String], (columns, rows): (usize, usize)) -> String {
        let help = "Ctrl-C ends all".to_owned();
        let mut all: Vec<&String> = table.iter().chain([&help]).take(rows).collect();
        let room = rows - all.len();
        all.extend(self.lines.iter().skip(self.lines.len().saturating_sub(room)));
        let mut picture = "\x1b[H".to_owned();
        for (number, line) in all.into_iter().enumerate() {
            let end = if number == 0 { "" } else { "\r\n" };
            let cut: String = line.chars().map(|c| if c == '\t' { ' ' } else { c }).take(columns).collect();
            let _ = write!(picture, "{end}{cut}\x1b[K"); // writing to a string can't fail
        }
        picture + "\x1b[J"
    }

    /// Gives the terminal back, with the last lines on it.
    pub(super) fn leave(&self) -> String {
        let last = self.lines.iter().skip(self.lines.len().saturating_sub(LAST));
        last.fold(LEAVE.to_owned(), |text, line| text + line + "\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_fill_what_the_table_leaves() {
        let mut view = View::default();
        view.add(b"one\ntwo\nthree is too long\n");
        let table = ["process".to_owned(), "camera".to_owned()];
        let picture = view.picture(&table, (10, 5));
        assert_eq!(
            picture,
            "\x1b[Hprocess\x1b[K\r\ncamera\x1b[K\r\nCtrl-C end\x1b[K\r\ntwo\x1b[K\r\nthree is t\x1b[K\x1b[J"
        );
        assert_eq!(view.picture(&table, (10, 1)), "\x1b[Hprocess\x1b[K\x1b[J");
        view.add(&b"x\n".repeat(1000));
        assert_eq!(view.leave(), format!("{LEAVE}{}", "x\n".repeat(LAST)));
    }
}
