//! Following topics until the user, a time or a number of messages ends it, with a screen or
//! without.

use std::io;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use sinew_bench::clock::{nanoseconds, now_ns};

use super::listening::{Listener, Listening, context, say_if_unpublished};
use crate::cli::tools::Where;
use crate::error::Error;
use crate::observed::Observed;
use crate::terminal::{self, Terminal};

/// Longest time after which keys and signals are noticed.
const TURN: Duration = Duration::from_millis(50);
/// Time between two looks for new publishers.
const LOOK: Duration = Duration::from_millis(200);

/// Topics that are followed.
pub(super) struct Following<L: Listener> {
    topics: Vec<String>,
    observed: Observed,
    listening: Listening<L>,
    /// The next look for publishers.
    look_ns: i64,
    end_ns: i64,
    /// The first signal closes the other end.
    ended: UnixStream,
    /// Given back when it ends.
    terminal: Option<Terminal>,
    has_keys: bool,
}

impl<L: Listener> Following<L> {
    /// `tool`: the command, for the name of its node. Takes over the terminal if it `has_screen`.
    pub(super) fn start(
        topics: Vec<String>,
        place: &Where,
        (tool, has_screen): (&str, bool),
        duration: Option<Duration>,
    ) -> Result<Self, Error> {
        let mut observed = Observed::open(place)?;
        let seen = observed.read()?;
        topics.iter().for_each(|topic| say_if_unpublished(&observed, &seen, topic));
        let listening = Listening::new(context(place, observed.domain()).interrupts(false).build()?, tool)?;
        let terminal = if has_screen { Terminal::take()? } else { None };
        let ended = terminal::ended_on_signal(terminal.as_ref())?;
        let has_keys = terminal.as_ref().is_some_and(Terminal::has_keys);
        let look_ns = now_ns();
        let end_ns = duration.map_or(i64::MAX, |duration| look_ns.saturating_add(nanoseconds(duration)));
        Ok(Self { topics, observed, listening, look_ns, end_ns, ended, terminal, has_keys })
    }

    /// Hands over the messages of a moment. Returns `false` if that was the last one.
    pub(super) fn turn(&mut self, listener: &mut L) -> Result<bool, Error> {
        if now_ns() >= self.look_ns {
            let seen = self.observed.read()?;
            for topic in &self.topics {
                self.listening.subscribe(topic, &seen, listener)?;
            }
            self.look_ns = now_ns() + nanoseconds(LOOK);
        }
        let due_ns = (now_ns() + nanoseconds(TURN)).min(self.end_ns);
        let goes_on = self.listening.listen_until(due_ns, listener)?;
        let heard = terminal::wait_for_key(&self.ended, self.has_keys, Some(now_ns()));
        let is_over = heard.end || heard.keys && self.read_keys();
        Ok(goes_on && !is_over && now_ns() < self.end_ns)
    }

    /// Reads the keys. Returns `true` if one ends it.
    fn read_keys(&mut self) -> bool {
        let mut typed = [0; 64];
        let Ok(count @ 1..) = rustix::io::read(io::stdin(), &mut typed) else {
            self.has_keys = false; // the terminal is gone
            return true;
        };
        typed[..count].iter().any(|key| matches!(key, b'q' | b'Q'))
    }

    /// Returns `true` if there is a screen to draw on.
    pub(super) fn has_screen(&self) -> bool {
        self.terminal.is_some()
    }

    /// Draws these lines, and in the last row the keys and a note.
    pub(super) fn draw(
        &self,
        lines: impl FnOnce((usize, usize)) -> Vec<String>,
        note: &str,
    ) -> Result<(), Error> {
        let (columns, rows) = crossterm::terminal::size().map_err(Error::Output)?;
        let last = usize::from(rows).saturating_sub(1);
        let mut lines = lines((columns.into(), last));
        lines.resize(last, String::new());
        let keys = if self.has_keys { "q: end" } else { "Ctrl-C: end" };
        let status = if note.is_empty() { keys.to_owned() } else { format!("{keys} | {note}") };
        lines.push(status.chars().take(columns.into()).collect());
        terminal::draw(&lines, rows).map_err(Error::Output)
    }

    /// Ends it, and gives back the terminal. Returns the number of messages that came too fast, or
    /// were lost on the way.
    pub(super) fn end(self) -> u64 {
        self.listening.lost()
    }
}
