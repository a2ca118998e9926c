//! `sinew bag play`.

use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use sinew::Context;
use sinew_bag::{MessageOrder, PlayEnd, Player, PlayerBuilder, PlayerClock, SkippedTopic};
use sinew_bench::clock::{nanoseconds, now_ns};

use super::info::count;
use super::play_keys::{Key, read};
use super::play_screen::{Figures, summary};
use super::session;
use crate::cli::play::{Order, PlayOptions};
use crate::error::Error;
use crate::output::{print, print_json, says};
use crate::terminal::{self, Terminal};

/// Time between two looks at the player, with a screen and without.
const SCREEN_PERIOD: Duration = Duration::from_millis(200);
const PERIOD: Duration = Duration::from_secs(1);

/// Runs `sinew bag play`.
pub(super) fn run(options: &PlayOptions) -> Result<(), Error> {
    let (context, _) = session::context(&options.session)?;
    let player = configured(&context, options)?.start()?;
    let output = if options.session.json { Output::Json } else { Output::Lines };
    Session::new(player, options.session.has_screen(), "")?.run(output)
}

/// Returns a player that does what the options say.
fn configured(context: &Context, options: &PlayOptions) -> Result<PlayerBuilder, Error> {
    let duration = |option: Option<Duration>| option.unwrap_or_default();
    let mut builder = Player::builder(context)
        .bags(&options.bags)
        .topics(&options.topics)
        .exclude(&options.exclude_topics)
        .rate(options.rate)
        .order(match options.message_order {
            Order::Received => MessageOrder::Received,
            Order::Sent => MessageOrder::Sent,
        })
        .loops(if options.r#loop { u64::MAX } else { 1 })
        .start_offset(duration(options.start_offset))
        .duration(options.playback_duration.unwrap_or(Duration::MAX))
        .until(options.playback_until_sec.or(options.playback_until_nsec).unwrap_or(u64::MAX))
        .clock(match (options.clock, options.clock_topics_all) {
            (Some(hertz), _) => PlayerClock::Hertz(hertz),
            (None, true) => PlayerClock::Messages,
            (None, false) => PlayerClock::None,
        })
        .delay(duration(options.delay))
        .wait_for_subscribers(duration(options.wait_for_subscribers))
        .wait_for_all_acked(match options.wait_for_all_acked {
            None => Duration::ZERO,
            Some(0) => Duration::MAX,
            Some(milliseconds) => Duration::from_millis(milliseconds),
        })
        .qos_overrides(session::qos_overrides(&options.session)?)
        .control_services();
    if let Some(name) = &options.session.node_name {
        builder = builder.node_name(name);
    }
    if options.stay_at_end {
        builder = builder.stay_at_end();
    }
    for (from, to) in &options.remap {
        builder = builder.remap(from, to);
    }
    if let Some(pattern) = &options.regex {
        builder = builder.pattern(pattern);
    }
    if let Some(pattern) = &options.exclude_regex {
        builder = builder.exclude_pattern(pattern);
    }
    if options.as_fast_as_possible {
        builder = builder.as_fast_as_possible();
    }
    if options.start_paused {
        builder = builder.start_paused();
    }
    Ok(if options.lossless { builder.lossless() } else { builder })
}

/// What is printed of the progress if there is no screen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    Lines,
    Json,
    /// The output need not be read: it may end before the player does.
    Nothing,
}

/// A player, and the terminal that shows it.
pub(crate) struct Session {
    player: Player,
    /// Stands before the keys.
    note: String,
    /// A signal, or the end of the player, closes the other end.
    ended: UnixStream,
    /// Given back when the session ends.
    terminal: Option<Terminal>,
    has_keys: bool,
}

impl Session {
    /// Takes the terminal for a screen, if one is wanted and there is one; `note` stands on it
    /// before the keys.
    pub(crate) fn new(player: Player, has_screen: bool, note: &str) -> Result<Self, Error> {
        let terminal = if has_screen { Terminal::take()? } else { None };
        let failed = |source| Error::System { call: "waiting for the end", source };
        let ended = terminal::ended_on_signal(terminal.as_ref())?;
        let done = ended.try_clone().map_err(failed)?;
        let waiting = player.clone();
        let wait = move || {
            waiting.wait();
            let _ = done.shutdown(Shutdown::Both); // fails if it is already ending
        };
        thread::Builder::new().name("end".to_owned()).spawn(wait).map_err(failed)?;
        let has_keys = terminal.as_ref().is_some_and(Terminal::has_keys);
        Ok(Self { player, note: note.to_owned(), ended, terminal, has_keys })
    }

    /// Shows the player until it ends.
    pub(crate) fn run(mut self, output: Output) -> Result<(), Error> {
        let period = if self.terminal.is_some() { SCREEN_PERIOD } else { PERIOD };
        let mut figures = Figures::of(&self.player, None);
        while self.player.wait_for(Duration::ZERO).is_none() {
            figures = Figures::of(&self.player, Some(figures));
            if self.show(&figures, output).is_err() || self.is_over(now_ns() + nanoseconds(period)) {
                break; // the reader of the output is gone, or the user has had enough
            }
        }
        self.player.stop();
        let end = self.player.wait();
        drop(self.terminal.take());
        self.report(end, &Figures::of(&self.player, Some(figures)), output == Output::Json)
    }

    /// Waits for the time, and meanwhile does what keys say. Returns `true` if nothing more is to
    /// be played.
    fn is_over(&mut self, due_ns: i64) -> bool {
        while now_ns() < due_ns {
            let heard = terminal::wait_for_key(&self.ended, self.has_keys, Some(due_ns));
            if heard.end || heard.keys && self.read_keys() {
                return true;
            }
            if heard.keys {
                break; // shows what the key has done
            }
        }
        false
    }

    /// Handles the keys. Returns `true` if one ends it.
    fn read_keys(&mut self) -> bool {
        let mut typed = [0; 64];
        let Ok(count @ 1..) = rustix::io::read(io::stdin(), &mut typed) else {
            self.has_keys = false; // the terminal is gone
            return true;
        };
        for key in read(&typed[..count]) {
            match key {
                Key::Quit => return true,
                Key::Pause => self.player.toggle(),
                Key::Next => self.step(),
                Key::Faster => self.change_rate(1.1),
                Key::Slower => self.change_rate(1.0 / 1.1),
                Key::Begin => self.seek(|_| 0),
                Key::Seek(seconds) => {
                    self.seek(|position| position.saturating_add_signed(seconds * 1_000_000_000));
                }
            }
        }
        false
    }

    fn step(&self) {
        self.player.step(1); // none at the end
    }

    fn seek(&self, to: impl FnOnce(u64) -> u64) {
        self.player.seek(to(self.player.progress().position)); // not once it has ended
    }

    fn change_rate(&self, factor: f64) {
        // Fails as fast as possible, and at the ends of all numbers: then it stays.
        drop(self.player.set_rate(self.player.rate() * factor));
    }

    fn show(&self, figures: &Figures, output: Output) -> Result<(), Error> {
        match output {
            Output::Json => print_json(&figures.json(None)),
            _ if self.terminal.is_some() => self.draw(figures).map_err(Error::Output),
            Output::Lines => print(&format!("{}\n", figures.line())),
            Output::Nothing => Ok(()),
        }
    }

    fn draw(&self, figures: &Figures) -> io::Result<()> {
        let (columns, rows) = crossterm::terminal::size()?;
        let keys = match self.has_keys {
            true => "space: pause, arrows: next message, rate, 5 s back, pages: 30 s, home, q: end",
            false => "Ctrl-C: end",
        };
        let keys = format!("{}{keys}", self.note);
        terminal::draw(&figures.screen(&keys, (columns.into(), rows.into())), rows)
    }

    /// Reports the end.
    fn report(&self, end: PlayEnd, figures: &Figures, is_json: bool) -> Result<(), Error> {
        let (problems, skipped) = (self.player.problems(), self.player.skipped());
        let has_failed = end == PlayEnd::Failed; // a panic has reported itself
        if is_json {
            print_json(&figures.json(Some((end, &problems, skipped))))?;
        } else {
            for problem in &problems {
                says(&format!("warning: {problem}"));
            }
            for SkippedTopic { name, type_name, why, .. } in skipped {
                says(&format!("warning: {name} ({type_name}) is not played: {why}"));
            }
            print(&summary(figures))?;
        }
        if figures.lost() > 0 {
            return Err(Error::NotPublished { count: count(figures.lost(), "message") });
        }
        match problems.len() + skipped.len() + usize::from(has_failed) {
            0 => Ok(()),
            count => Err(Error::DamagedBag { count }),
        }
    }
}
