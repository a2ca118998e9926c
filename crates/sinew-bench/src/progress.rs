//! The progress of a long measurement, on standard error: one line that is rewritten on a terminal,
//! otherwise a line per step.

use std::io::{self, IsTerminal as _, Write as _};

/// Shows the current measurement. The output is for people; failures to write it are ignored.
pub struct Progress {
    to: Option<io::Stderr>,
    rewrites: bool,
    shown: String,
}

impl Progress {
    /// Progress on standard error.
    pub fn to_stderr() -> Self {
        let to = io::stderr();
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        Self { rewrites: to.is_terminal() && !dumb, to: Some(to), shown: String::new() }
    }

    /// Shows nothing.
    #[cfg(test)]
    pub fn silent() -> Self {
        Self { to: None, rewrites: false, shown: String::new() }
    }

    /// Shows that step `number` of `steps` of `what` begins.
    pub fn show(&mut self, what: &str, number: u32, steps: u32) {
        let Some(to) = &mut self.to else { return };
        if self.rewrites {
            let _ = write!(to, "\r\x1b[2Kmeasuring {what} ({number} of {steps})");
        } else if self.shown != what {
            let _ = writeln!(to, "measuring {what}");
        }
        what.clone_into(&mut self.shown);
    }

    /// Writes a lasting remark, for something that can't be measured here.
    pub fn note(&mut self, remark: &str) {
        self.wipe();
        if let Some(to) = &mut self.to {
            let _ = writeln!(to, "note: {remark}");
        }
    }

    fn wipe(&mut self) {
        if let (true, false, Some(to)) = (self.rewrites, self.shown.is_empty(), &mut self.to) {
            let _ = write!(to, "\r\x1b[2K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.wipe();
    }
}
