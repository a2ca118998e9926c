//! Takes over a terminal, and gives it back in any case, even after a panic.
//!
//! Ctrl-C stays a signal: it works even if the program no longer reads keys. The first one ends the
//! work; the second one gives the terminal back and ends the process at once.

use std::env;
use std::io::{self, IsTerminal as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::queue;
use crossterm::style::{Attribute, SetAttribute};
use crossterm::terminal::{Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::Error;
use sinew_bench::clock::{nanoseconds, now_ns};
use sinew_launch::is_ignored;

/// A terminal that this process draws on until this is dropped.
pub(crate) struct Terminal {
    borrowed: Arc<Borrowed>,
}

/// The previous state of a terminal.
struct Borrowed {
    /// Its previous input mode, if keys are read.
    keys: Option<Termios>,
    given_back: AtomicBool,
}

impl Terminal {
    /// Takes over the terminal on standard output, if there is one that can be drawn on. Keys are
    /// read as well if standard input is that terminal and this process is in its foreground.
    pub(crate) fn take() -> Result<Option<Self>, Error> {
        let dumb = env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        if dumb || !io::stdout().is_terminal() {
            return Ok(None);
        }
        let mut text = Vec::new();
        queue!(text, EnterAlternateScreen, Hide).map_err(Error::Output)?;
        // From here on, any error gives it back.
        let borrowed = Arc::new(Borrowed { keys: listen(), given_back: AtomicBool::new(false) });
        let terminal = Self { borrowed };
        io::Write::write_all(&mut io::stdout(), &text)
            .and_then(|()| io::Write::flush(&mut io::stdout()))
            .map_err(Error::Output)?;
        Ok(Some(terminal))
    }

    /// Gives the terminal back before a panic's message is written, so that the message doesn't
    /// vanish with the drawing.
    fn give_back_on_panic(&self) {
        let borrowed = Arc::clone(&self.borrowed);
        let tell = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            borrowed.give_back();
            tell(panic);
        }));
    }

    /// Returns `true` if keys arrive at standard input one by one.
    pub(crate) fn has_keys(&self) -> bool {
        self.borrowed.keys.is_some()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.borrowed.give_back();
    }
}

impl Borrowed {
    /// Restores the previous state, once. Waits only for a moment if the terminal accepts nothing
    /// (Ctrl-S).
    fn give_back(&self) {
        // Relaxed: nothing else depends on the flag.
        if self.given_back.swap(true, Ordering::Relaxed) {
            return;
        }
        let mut text = Vec::new();
        // Fails if the terminal is gone.
        let _ = queue!(text, SetAttribute(Attribute::Reset), Show, LeaveAlternateScreen);
        write_patiently(&text);
        if let Some(before) = &self.keys {
            // Flush: unread keys must not reach the shell.
            let _ = tcsetattr(io::stdin(), OptionalActions::Flush, before);
        }
    }
}

/// Longest wait for a terminal that accepts nothing while it is given back.
const PATIENCE: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

/// Writes to standard output as long as it accepts anything, all of the text: a terminal that is
/// nearly full takes a part, and a signal interrupts. Bypasses the lock of standard output, which
/// the drawing thread may hold.
fn write_patiently(mut text: &[u8]) {
    let to = io::stdout();
    while !text.is_empty() {
        match poll(&mut [PollFd::new(&to, PollFlags::OUT)], Some(&PATIENCE)) {
            Err(Errno::INTR) => continue,
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        match rustix::io::write(&to, text) {
            Ok(count @ 1..) => text = &text[count..],
            Err(Errno::INTR | Errno::AGAIN) => {}
            Ok(0) | Err(_) => return,
        }
    }
}

/// The state of a terminal before another process of this program took it over: restored if that
/// process can't do it.
pub(crate) struct Lent(Borrowed);

impl Lent {
    /// Reads the state of the terminal on standard output, if there is one that can be drawn on.
    /// Changes nothing.
    pub(crate) fn remember() -> Option<Self> {
        let keys = tcgetattr(io::stdin()).ok();
        io::stdout().is_terminal().then(|| Self(Borrowed { keys, given_back: AtomicBool::new(false) }))
    }

    /// Restores the state.
    pub(crate) fn take_back(self) {
        self.0.give_back();
    }
}

/// Makes the terminal deliver each key at once and without echo. Returns its previous mode; `None`
/// if this process may not change it.
fn listen() -> Option<Termios> {
    let keys = io::stdin();
    // Changing another program's terminal would stop this process.
    if !keys.is_terminal() || tcgetpgrp(&keys).ok()? != getpgrp() {
        return None;
    }
    let before = tcgetattr(&keys).ok()?;
    let mut now = before.clone();
    now.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
    now.special_codes[SpecialCodeIndex::VMIN] = 1;
    now.special_codes[SpecialCodeIndex::VTIME] = 0;
    // No Ctrl-Z: the shell would get a terminal that is still taken over. (0 stands for no key at
    // all.)
    now.special_codes[SpecialCodeIndex::VSUSP] = 0;
    tcsetattr(&keys, OptionalActions::Now, &now).ok()?;
    Some(before)
}

/// Signals within this time of each other count as one: the kernel reports a parent's death once
/// for each thread that it had.
const AT_ONCE: Duration = Duration::from_millis(200);

/// Calls `tell` once standard output has no reader any more: the other end of a pipe is closed, or
/// the terminal is gone. Lasts for the rest of the process's life.
pub(crate) fn when_output_closes(tell: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    let wait = move || {
        let output = io::stdout();
        // With no requested events, the kernel reports errors only; a file has none.
        while let Err(Errno::INTR) = poll(&mut [PollFd::new(&output, PollFlags::empty())], None) {}
        tell();
    };
    let failed = |source| Error::System { call: "waiting for the end of the output", source };
    thread::Builder::new().name("output".to_owned()).spawn(wait).map(drop).map_err(failed)
}

/// What has ended a wait; neither if the time was up, or the terminal's size may have changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    pub(crate) end: bool,
    pub(crate) keys: bool,
}

/// Waits until the other end of `ended` is closed, a key arrives at standard input if `has_keys`,
/// or it is `due_ns`; `None`: without a time limit.
pub(crate) fn wait_for_key(ended: &UnixStream, has_keys: bool, due_ns: Option<i64>) -> Heard {
    let patience = due_ns.map(|due_ns| {
        let left = (due_ns - now_ns()).max(0);
        Timespec { tv_sec: left / 1_000_000_000, tv_nsec: left % 1_000_000_000 }
    });
    let keys = io::stdin();
    let both = &mut [PollFd::new(ended, PollFlags::IN), PollFd::new(&keys, PollFlags::IN)];
    let polled = if has_keys { &mut both[..] } else { &mut both[..1] };
    match poll(polled, patience.as_ref()) {
        Ok(_) => {
            let [end, keys] = [&both[0], &both[1]].map(|end| !end.revents().is_empty());
            Heard { end, keys }
        }
        Err(Errno::INTR) => Heard::default(),
        // The end could no longer be noticed: better now.
        Err(_) => Heard { end: true, keys: false },
    }
}

/// Draws these lines from the first row on, and clears the rest of a screen of `rows`.
pub(crate) fn draw(lines: &[String], rows: u16) -> io::Result<()> {
    let mut text = Vec::new();
    for (row, line) in (0..rows).zip(lines) {
        queue!(text, MoveTo(0, row))?;
        text.extend_from_slice(line.as_bytes());
        queue!(text, Clear(ClearType::UntilNewLine))?;
    }
    if lines.len() < rows.into() {
        queue!(text, MoveTo(0, lines.len().try_into().unwrap_or(rows)), Clear(ClearType::FromCursorDown))?;
    }
    let mut to = io::stdout().lock();
    to.write_all(&text).and_then(|()| to.flush())
}

/// Returns a stream that the first SIGINT, SIGTERM or SIGHUP ends, as [`stop_on_signal`]. A panic
/// gives the terminal back, too.
pub(crate) fn ended_on_signal(terminal: Option<&Terminal>) -> Result<UnixStream, Error> {
    let failed = |source| Error::System { call: "waiting for Ctrl-C", source };
    let (end, ended) = UnixStream::pair().map_err(failed)?;
    let stop = move || {
        let _ = end.shutdown(Shutdown::Both); // fails if it is already ending
    };
    stop_on_signal(stop, terminal)?;
    if let Some(terminal) = terminal {
        terminal.give_back_on_panic();
    }
    Ok(ended)
}

/// Makes the first SIGINT, SIGTERM or SIGHUP (the terminal is gone) call `stop`, and the next one
/// end the process as it would by default, but with its terminal given back. Lasts for the rest of
/// the process's life. A SIGHUP that is ignored, as below `nohup`, stays ignored.
pub(crate) fn stop_on_signal(
    stop: impl Fn() + Send + 'static,
    terminal: Option<&Terminal>,
) -> Result<(), Error> {
    let failed = |source| Error::System { call: "waiting for Ctrl-C", source };
    let hang_up = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(hang_up)).map_err(failed)?;
    let borrowed = terminal.map(|terminal| Arc::clone(&terminal.borrowed));
    let wait = move || {
        let mut told = None;
        for signal in signals.forever() {
            if told.is_some_and(|told| now_ns() < told + nanoseconds(AT_ONCE)) {
                continue;
            }
            if told.is_some() {
                if let Some(borrowed) = &borrowed {
                    borrowed.give_back();
                }
                // It returns only for signals that end nothing.
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
            told = Some(now_ns());
            stop();
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop).map_err(failed)
}
