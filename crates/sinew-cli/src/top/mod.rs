//! `sinew top`: a live view of processes and topics.
//!
//! It only reads memory: the watched processes do no work for it.

mod draw;
mod figures;
mod keys;

use std::io;
use std::os::unix::net::UnixStream;

use crate::cli::tools::TopOptions;
use crate::error::Error;
use crate::observed::Observed;
use crate::output;
use crate::terminal::{self, Terminal};
use draw::View;
use figures::{Figures, Watched};
use keys::Key;
use sinew_bench::clock::{nanoseconds, now_ns, sleep_until};

/// Width of the single table without a terminal.
const WIDTH: usize = 120;

/// Draws until `q` or Ctrl-C is pressed; without a terminal, once.
pub(crate) fn run(options: &TopOptions) -> Result<(), Error> {
    let mut observed = Observed::open(&options.place)?;
    let mut watched = Watched::default();
    watched.look(&observed.look()?);
    let terminal = if options.json { None } else { Terminal::take()? };
    if let Some(terminal) = terminal {
        return Session::new(options, observed, watched, terminal)?.run();
    }
    sleep_until(now_ns() + nanoseconds(options.interval));
    let figures = watched.look(&observed.look()?);
    if options.json {
        return output::print_json(&figures);
    }
    let view = View::new(observed.domain());
    let lines = draw::lines(&figures, &view, (WIDTH, usize::MAX));
    output::print(&lines.iter().map(|line| format!("{line}\n")).collect::<String>())
}

/// The live view.
struct Session {
    observed: Observed,
    watched: Watched,
    view: View,
    interval_ns: i64,
    /// The first signal closes the other end.
    ended: UnixStream,
    /// Given back when the session ends.
    _terminal: Terminal,
}

impl Session {
    fn new(
        options: &TopOptions,
        observed: Observed,
        watched: Watched,
        terminal: Terminal,
    ) -> Result<Self, Error> {
        let ended = terminal::ended_on_signal(Some(&terminal))?;
        let mut view = View::new(observed.domain());
        view.has_keys = terminal.has_keys();
        Ok(Self {
            observed,
            watched,
            view,
            interval_ns: nanoseconds(options.interval),
            ended,
            _terminal: terminal,
        })
    }

    fn run(mut self) -> Result<(), Error> {
        let mut figures = Figures::default();
        let mut due_ns = now_ns();
        loop {
            if now_ns() >= due_ns {
                figures = self.watched.look(&self.observed.look()?);
                due_ns = now_ns() + self.interval_ns;
            }
            self.draw(&figures).map_err(Error::Output)?;
            let heard = terminal::wait_for_key(&self.ended, self.view.has_keys, Some(due_ns));
            if heard.end || (heard.keys && self.read_keys(&figures)) {
                return Ok(());
            }
        }
    }

    fn draw(&self, figures: &Figures) -> io::Result<()> {
        let (columns, rows) = crossterm::terminal::size()?;
        let lines = draw::lines(figures, &self.view, (columns.into(), rows.into()));
        terminal::draw(&lines, rows)
    }

    /// Handles the keys. Returns `true` if a key ends the view.
    fn read_keys(&mut self, figures: &Figures) -> bool {
        let mut typed = [0; 64];
        let Ok(count @ 1..) = rustix::io::read(io::stdin(), &mut typed) else {
            self.view.has_keys = false; // the terminal is gone
            return true;
        };
        let keys: Vec<Key> = keys::read(&typed[..count]).collect();
        for key in &keys {
            self.view.press(*key, figures);
        }
        keys.contains(&Key::Quit)
    }
}
