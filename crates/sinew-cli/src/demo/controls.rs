//! Controls the filter's settings: by keys, or automatically every second. All changes go through
//! the filter's service; this side only knows its last answer.

use std::io::{self, Write as _};
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sinew::executor::StopHandle;

use super::settings::Settings;
use crate::error::Error;
use crate::terminal::{self, Heard};
use sinew_bench::clock::{nanoseconds, now_ns};
use sinew_bench::run::Collected;

/// Time between two automatic changes.
const EVERY: Duration = Duration::from_secs(1);

/// This side's knowledge of the filter.
#[derive(Debug, Default)]
pub(super) struct Panel {
    /// The last accepted settings.
    pub(super) settings: Settings,
    /// Number of accepted changes.
    pub(super) changes: u64,
    /// The reason for its last refusal, if the last request was refused.
    pub(super) refused: Option<String>,
}

/// The sources of changes.
pub(super) struct ControlSources {
    /// Keys arrive at standard input.
    pub(super) keys: bool,
    /// Something changes every second.
    pub(super) automatic: bool,
    /// Changes are written to standard output, as the panel isn't drawn.
    pub(super) tells: bool,
}

/// The thread that turns keys into calls; ends when this is dropped.
pub(super) struct Controls {
    /// Closed to end the thread.
    end: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Controls {
    /// Starts the thread, if there is any source. `call` asks the filter and returns the accepted
    /// settings, or the reason for a refusal.
    pub(super) fn start(
        sources: ControlSources,
        panel: Collected<Panel>,
        stop: StopHandle,
        call: impl FnMut(Settings) -> Result<Settings, String> + Send + 'static,
    ) -> Result<Self, Error> {
        if !sources.keys && !sources.automatic {
            return Ok(Self { end: None, thread: None });
        }
        let failed = |source| Error::System { call: "starting the thread that hears keys", source };
        let (end, ended) = UnixStream::pair().map_err(failed)?;
        let mut hands = Hands { sources, panel, stop, call, ended };
        let thread = thread::Builder::new().name("controls".to_owned()).spawn(move || hands.work());
        Ok(Self { end: Some(end), thread: Some(thread.map_err(failed)?) })
    }

    /// Stops requests, and reports no failures from now on. Doesn't wait.
    pub(super) fn end(&mut self) {
        drop(self.end.take());
    }
}

impl Drop for Controls {
    fn drop(&mut self) {
        self.end();
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported; the terminal is given back either way.
            let _ = thread.join();
        }
    }
}

/// The thread's state.
struct Hands<C> {
    sources: ControlSources,
    panel: Collected<Panel>,
    stop: StopHandle,
    call: C,
    /// The other end is closed to end the thread.
    ended: UnixStream,
}

impl<C: FnMut(Settings) -> Result<Settings, String>> Hands<C> {
    fn work(&mut self) {
        let mut due_ns = now_ns() + nanoseconds(EVERY);
        loop {
            let heard = self.listen(due_ns);
            if heard.end {
                return;
            }
            if heard.keys {
                self.read_keys();
            }
            if self.sources.automatic && now_ns() >= due_ns {
                due_ns += nanoseconds(EVERY);
                self.change(Settings::next);
            }
        }
    }

    /// Waits for a key, the end or the next automatic change.
    fn listen(&self, due_ns: i64) -> Heard {
        terminal::wait_for_key(&self.ended, self.sources.keys, self.sources.automatic.then_some(due_ns))
    }

    fn read_keys(&mut self) {
        let mut typed = [0; 64];
        match rustix::io::read(io::stdin(), &mut typed) {
            Ok(0) | Err(_) => self.sources.keys = false, // the terminal is gone
            Ok(count) => {
                for key in keys(&typed[..count]) {
                    match key {
                        b'+' | b'=' => self.change(Settings::stronger),
                        b'-' | b'_' => self.change(Settings::weaker),
                        b'm' | b'M' => self.change(Settings::next_mode),
                        b'q' | b'Q' => self.stop.stop(),
                        _ => {}
                    }
                }
            }
        }
    }

    /// Requests other settings and records the answer.
    fn change(&mut self, to: impl FnOnce(Settings) -> Settings) {
        let wanted = to(self.panel.with(|panel| panel.settings));
        let answer = (self.call)(wanted);
        if answer.is_err() && terminal::wait_for_key(&self.ended, self.sources.keys, Some(0)).end {
            return; // the filter is ending as well
        }
        if self.sources.tells {
            let text = match &answer {
                Ok(settings) => format!("filter, set through /filter/set_edges: {settings}\n"),
                Err(reason) => format!("filter, not set through /filter/set_edges: {reason}\n"),
            };
            // If the reader is gone, the next line of figures ends the run.
            let _ = io::stdout().write_all(text.as_bytes());
        }
        self.panel.with(|panel| match answer {
            Ok(settings) => {
                *panel = Panel { settings, changes: panel.changes + 1, refused: None };
            }
            Err(reason) => panel.refused = Some(reason),
        });
    }
}

/// Returns the keys that are a single byte; arrows, function keys and the like (ESC, `[` or `O`,
/// and the bytes up to a letter or `~`) are left out.
fn keys(typed: &[u8]) -> impl Iterator<Item = u8> {
    let mut typed = typed.iter().copied();
    std::iter::from_fn(move || {
        loop {
            let key = typed.next()?;
            if key != 0x1b {
                return Some(key);
            }
            if matches!(typed.next()?, b'[' | b'O') {
                typed.by_ref().find(|byte| matches!(byte, 0x40..=0x7e))?;
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_and_function_keys_are_none() {
        assert_eq!(keys(b"m\x1b[A-\x1b[1;5m+\x1bOPq\x1b[15~=\x1bm").collect::<Vec<_>>(), b"m-+q=");
        assert_eq!(keys(b"-\x1b[1").collect::<Vec<_>>(), b"-");
        assert_eq!(keys(b"\x1b").collect::<Vec<_>>(), b"");
    }

    fn hands<C: FnMut(Settings) -> Result<Settings, String>>(call: C) -> (UnixStream, Hands<C>) {
        let sources = ControlSources { keys: false, automatic: false, tells: false };
        let stop = sinew::Executor::single().stop_handle();
        let (end, ended) = UnixStream::pair().unwrap();
        (end, Hands { sources, panel: Collected::new(Panel::default()), stop, call, ended })
    }

    #[test]
    fn the_panel_shows_what_the_filter_accepted_and_why_not_else() {
        let (end, mut hands) = hands(Settings::check);
        for _ in 0..13 {
            hands.change(Settings::stronger);
        }
        hands.panel.with(|panel| {
            assert_eq!((panel.settings.strength, panel.changes), (400, 12));
            assert!(panel.refused.as_ref().is_some_and(|reason| reason.contains("425 %")));
        });
        hands.change(Settings::next_mode);
        hands.panel.with(|panel| {
            assert_eq!((panel.settings.to_string(), panel.changes), ("negative".to_owned(), 13));
            assert_eq!(panel.refused, None);
        });
        drop(end);
        hands.panel.with(|panel| panel.settings.strength = 400);
        hands.change(Settings::stronger);
        hands.panel.with(|panel| assert_eq!(panel.refused, None, "what fails at the end is no news"));
    }

    #[test]
    fn the_thread_ends_when_its_handle_does() {
        let sources = ControlSources { keys: false, automatic: true, tells: false };
        let stop = sinew::Executor::single().stop_handle();
        let panel = Collected::new(Panel::default());
        drop(Controls::start(sources, panel, stop, Ok).unwrap());
    }

    #[test]
    fn its_end_is_heard_before_anything_is_due() {
        let (end, mut hands) = hands(Ok);
        hands.sources.automatic = true;
        assert_eq!(hands.listen(0), Heard::default());
        drop(end);
        assert_eq!(hands.listen(i64::MAX), Heard { end: true, keys: false });
    }
}
