//! What the demonstration shows while it runs: figures and a small picture on a terminal, else a line every second.

use std::env;
use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::queue;
use crossterm::style::{Attribute, SetAttribute};
use crossterm::terminal::{self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};

use super::frame::Frame;
use super::preview;
use crate::bench::samples::Summary;
use crate::bench::table::time;
use crate::clock::{nanoseconds, now_ns};
use crate::error::Error;

/// Time between two drawings of a terminal.
const REDRAW: Duration = Duration::from_millis(66);

/// Time between two lines where there is no terminal.
const LINE: Duration = Duration::from_secs(1);

/// What there is to tell at one moment.
pub(super) struct Status {
    pub(super) frames: u64,
    pub(super) frames_per_second: f64,
    /// Camera to viewer: the last frame's, in nanoseconds.
    pub(super) last_latency: f64,
    /// Camera to viewer, of all frames.
    pub(super) latency: Option<Summary>,
    pub(super) copies: u64,
    pub(super) lost: u64,
}

/// Where the demonstration shows itself.
pub(super) struct Screen {
    /// Draws on a terminal; otherwise writes lines.
    live: bool,
    coloured: bool,
    size: (u16, u16),
    next_ns: i64,
    text: Vec<u8>,
}

impl Screen {
    /// Takes over the terminal on standard output, if there is one that can be drawn on; gives it back when dropped.
    pub(super) fn open() -> Result<Self, Error> {
        let dumb = env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        let live = io::stdout().is_terminal() && !dumb;
        // https://no-color.org: any value but the empty one.
        let coloured = env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let interval = if live { Duration::ZERO } else { LINE };
        let next_ns = now_ns() + nanoseconds(interval);
        let mut screen = Self { live, coloured, size: (0, 0), next_ns, text: Vec::new() };
        if live {
            queue!(screen.text, EnterAlternateScreen, Hide).map_err(Error::Output)?;
            screen.flush()?;
        }
        Ok(screen)
    }

    /// Shows the frame and the figures, if it is time to.
    pub(super) fn show(&mut self, frame: &Frame, status: impl FnOnce() -> Status) -> Result<(), Error> {
        let now = now_ns();
        if now < self.next_ns {
            return Ok(());
        }
        self.next_ns = now + nanoseconds(if self.live { REDRAW } else { LINE });
        if self.live {
            self.draw(frame, &status()).map_err(Error::Output)?;
        } else {
            writeln!(self.text, "{}", line(&status())).map_err(Error::Output)?;
        }
        self.flush()
    }

    fn draw(&mut self, frame: &Frame, status: &Status) -> io::Result<()> {
        let size = terminal::size()?;
        if size != self.size {
            self.size = size;
            queue!(self.text, Clear(ClearType::All))?;
        }
        let columns = usize::from(size.0);
        let bytes = frame.pixels.len();
        let figures = [
            "camera -> filter -> viewer. Ctrl-C ends it.".to_owned(),
            counts(status),
            latencies(status),
            format!("{}: {}x{}, {bytes} bytes a frame", frame.name, frame.width, frame.height),
        ];
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

impl Drop for Screen {
    fn drop(&mut self) {
        if self.live {
            self.text.clear();
            // If the terminal is gone there is nothing to give back.
            let _ = queue!(self.text, SetAttribute(Attribute::Reset), Show, LeaveAlternateScreen);
            let _ = self.flush();
        }
    }
}

/// The figures on one line.
pub(super) fn line(status: &Status) -> String {
    [counts(status), latencies(status)].join(", ")
}

fn counts(status: &Status) -> String {
    let Status { frames, frames_per_second, copies, lost, .. } = status;
    format!("{frames} frames, {frames_per_second:.1} per second, {copies} copies, {lost} lost")
}

fn latencies(status: &Status) -> String {
    let Some(latency) = &status.latency else { return "nothing has arrived yet".to_owned() };
    let (p50, p99) = (time(latency.p50), time(latency.p99));
    format!("camera to viewer: P50 {p50}, P99 {p99}, last {}", time(status.last_latency))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_it_all() {
        let latency = Summary { mean: 1.0, p50: 812_000.0, p90: 1.0, p99: 1_200_000.0, max: 1.0 };
        let status = Status {
            frames: 90,
            frames_per_second: 29.96,
            last_latency: 790_000.0,
            latency: Some(latency),
            copies: 0,
            lost: 1,
        };
        assert_eq!(
            line(&status),
            "90 frames, 30.0 per second, 0 copies, 1 lost, camera to viewer: P50 812 µs, P99 1.20 ms, last 790 µs"
        );
    }
}
