//! The result of a check.

use serde::Serialize;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// As it should be.
    Fine,
    /// It works, but some programs may need more.
    Advice,
    /// Something doesn't work, or soon won't.
    Wrong,
}

/// The result of a check.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    pub(super) check: &'static str,
    pub(super) state: State,
    pub(super) found: String,
    /// Advice; empty if there is nothing to do.
    pub(super) remedy: String,
}

impl Finding {
    pub(super) fn fine(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, state: State::Fine, found: found.into(), remedy: String::new() }
    }

    pub(super) fn advice(check: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { check, state: State::Advice, found: found.into(), remedy: remedy.into() }
    }

    pub(super) fn wrong(check: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { check, state: State::Wrong, found: found.into(), remedy: remedy.into() }
    }
}
