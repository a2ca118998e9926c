//! The demonstration's output while it runs: figures and a small picture on a terminal, otherwise a
//! line every second.

use std::env;
use std::io::{self, Write as _};
use std::time::Duration;

use crossterm::cursor::MoveTo;
use crossterm::queue;
use crossterm::style::{Attribute, SetAttribute};
use crossterm::terminal::{self, Clear, ClearType};

use super::controls::Panel;
use super::frame::FrameView;
use super::preview;
use crate::error::Error;
use crate::terminal::Terminal;
use sinew_bench::clock::{nanoseconds, now_ns};
use sinew_bench::run::Collected;
use sinew_bench::samples::Summary;
use sinew_bench::units::time;

/// Time between two drawings of a terminal.
const REDRAW: Duration = Duration::from_millis(66);

/// Time between two lines without a terminal.
const LINE: Duration = Duration::from_secs(1);

/// The figures at one moment.
pub(super) struct Status {
    pub(super) frames: u64,
    pub(super) frames_per_second: f64,
    /// From camera to viewer, for the last frame, in nanoseconds.
    pub(super) last_latency: f64,
    /// From camera to viewer, for all frames.
    pub(super) latency: Option<Summary>,
    pub(super) copies: u64,
    pub(super) encodings: u64,
    pub(super) decodings: u64,
    pub(super) lost: u64,
}

/// The demonstration's display.
pub(super) struct Screen {
    /// It draws on a terminal; otherwise it writes lines.
    draws: bool,
    has_keys: bool,
    panel: Collected<Panel>,
    /// A remark under the figures.
    remark: Option<String>,
    coloured: bool,
    size: (u16, u16),
    next_ns: i64,
    text: Vec<u8>,
}

impl Screen {
    /// Uses the terminal from now on, if there is one.
    pub(super) fn new(terminal: Option<&Terminal>, panel: Collected<Panel>) -> Self {
        // https://no-color.org: any value but the empty one.
        let coloured = env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let draws = terminal.is_some();
        let has_keys = terminal.is_some_and(Terminal::has_keys);
        let interval = if draws { Duration::ZERO } else { LINE };
        let next_ns = now_ns() + nanoseconds(interval);
        Self { draws, has_keys, panel, remark: None, coloured, size: (0, 0), next_ns, text: Vec::new() }
    }

    /// Shows a remark that is not a figure: at once, or with the next drawing.
    pub(super) fn remark(&mut self, remark: String) {
        if !self.draws {
            // If standard error is closed, there is no place left to report to.
            let _ = writeln!(io::stderr(), "sinew: {remark}");
        }
        self.remark = Some(remark);
    }

    /// Shows the frame and the figures, if they are due.
    pub(super) fn show(
        &mut self,
        frame: &FrameView<'_>,
        status: impl FnOnce() -> Status,
    ) -> Result<(), Error> {
        let now = now_ns();
        if now < self.next_ns {
            return Ok(());
        }
        self.next_ns = now + nanoseconds(if self.draws { REDRAW } else { LINE });
        if self.draws {
            self.draw(frame, &status()).map_err(Error::Output)?;
        } else {
            writeln!(self.text, "{}", line(&status())).map_err(Error::Output)?;
        }
        self.flush()
    }

    fn draw(&mut self, frame: &FrameView<'_>, status: &Status) -> io::Result<()> {
        let size = terminal::size()?;
        if size != self.size {
            self.size = size;
            queue!(self.text, Clear(ClearType::All))?;
        }
        let columns = usize::from(size.0);
        let FrameView { name, width, height, pixels } = frame;
        let keys = if self.has_keys { "+ and - change the filter's strength, m its mode; q or " } else { "" };
        let figures = [
            format!("camera -> filter -> viewer. {keys}Ctrl-C ends it."),
            counts(status),
            latencies(status),
            format!("{name}: {width}x{height}, {} bytes a frame", pixels.len()),
            self.panel.with(|panel| filter(panel)),
            self.remark.clone().unwrap_or_default(),
        ];
        let figures = figures.strip_suffix(&[String::new()]).unwrap_or(&figures);
        for (row, figure) in figures.iter().take(size.1.into()).enumerate() {
            let fitting: String = figure.chars().take(columns).collect();
            queue!(self.text, MoveTo(0, u16::try_from(row).unwrap_or(0)))?;
            write!(self.text, "{fitting}")?;
            queue!(self.text, Clear(ClearType::UntilNewLine))?;
        }
        if self.coloured {
            let top = u16::try_from(figures.len() + 1).unwrap_or(u16::MAX);
            let rows = usize::from(size.1.saturating_sub(top));
            for (row, cells) in preview::lines(frame, columns, rows).into_iter().enumerate() {
                queue!(self.text, MoveTo(0, top + u16::try_from(row).unwrap_or(0)))?;
                self.text.extend_from_slice(cells.as_bytes());
            }
            queue!(self.text, SetAttribute(Attribute::Reset))?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        let mut to = io::stdout().lock();
        let written = to.write_all(&self.text).and_then(|()| to.flush());
        self.text.clear();
        written.map_err(Error::Output)
    }
}

/// Formats the figures on one line.
pub(super) fn line(status: &Status) -> String {
    [counts(status), latencies(status)].join(", ")
}

fn counts(status: &Status) -> String {
    let Status { frames, frames_per_second, copies, encodings, decodings, lost, .. } = status;
    format!(
        "{frames} frames, {frames_per_second:.1} per second, {copies} copies, {encodings} encodings, \
         {decodings} decodings, {lost} lost"
    )
}

fn latencies(status: &Status) -> String {
    let Some(latency) = &status.latency else { return "nothing has arrived yet".to_owned() };
    let (p50, p99) = (time(latency.p50), time(latency.p99));
    format!("camera to viewer: P50 {p50}, P99 {p99}, last {}", time(status.last_latency))
}

/// Describes the filter's settings, as far as the panel knows them.
fn filter(panel: &Panel) -> String {
    let Panel { settings, changes, refused } = panel;
    let changed = match changes {
        0 => String::new(),
        1 => ", changed once through its service".to_owned(),
        _ => format!(", changed {changes} times through its service"),
    };
    let refused = refused.as_ref().map(|reason| format!("; {reason}")).unwrap_or_default();
    format!("filter: {settings}{changed}{refused}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_it_all() {
        let latency = Summary { mean: 1.0, p50: 812_000.0, p90: 1.0, p99: 1_200_000.0, p999: 1.0, max: 1.0 };
        let status = Status {
            frames: 90,
            frames_per_second: 29.96,
            last_latency: 790_000.0,
            latency: Some(latency),
            copies: 0,
            encodings: 2,
            decodings: 3,
            lost: 1,
        };
        assert_eq!(
            line(&status),
            "90 frames, 30.0 per second, 0 copies, 2 encodings, 3 decodings, 1 lost, \
             camera to viewer: P50 812 µs, P99 1.20 ms, last 790 µs"
        );
    }

    #[test]
    fn the_panel_says_what_was_changed_and_what_refused() {
        let mut panel = Panel::default();
        assert_eq!(filter(&panel), "filter: edges at 100 %");
        panel.changes = 1;
        assert_eq!(filter(&panel), "filter: edges at 100 %, changed once through its service");
        panel = Panel { changes: 2, refused: Some("too much".to_owned()), ..panel };
        let expected = "filter: edges at 100 %, changed 2 times through its service; too much";
        assert_eq!(filter(&panel), expected);
    }
}
