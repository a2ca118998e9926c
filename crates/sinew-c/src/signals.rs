//! Signals: which of them shut contexts down.

use crate::status::{Failure, Result, answer, sinew_status, status};
use sinew::error::ErrorCode;
use sinew::signal::{self, Signals};
use std::ffi::c_int;

/// The signals that shut down the contexts of the process with `interrupts`: `SINEW_SIGNALS_..`.
pub type sinew_signals = c_int;

/// SIGINT (Ctrl-C) and SIGTERM, as `SINEW_SIGNALS_ALL`.
pub const SINEW_SIGNALS_DEFAULT: sinew_signals = 0;
/// SIGINT (Ctrl-C) and SIGTERM.
pub const SINEW_SIGNALS_ALL: sinew_signals = 1;
/// SIGINT alone.
pub const SINEW_SIGNALS_INT: sinew_signals = 2;
/// SIGTERM alone.
pub const SINEW_SIGNALS_TERM: sinew_signals = 3;
/// None.
pub const SINEW_SIGNALS_NONE: sinew_signals = 4;

/// Returns the signals of a number; `None` for none.
pub(crate) fn signals(number: sinew_signals) -> Result<Option<Signals>> {
    match number {
        SINEW_SIGNALS_DEFAULT | SINEW_SIGNALS_ALL => Ok(Some(Signals::All)),
        SINEW_SIGNALS_INT => Ok(Some(Signals::Interrupt)),
        SINEW_SIGNALS_TERM => Ok(Some(Signals::Terminate)),
        SINEW_SIGNALS_NONE => Ok(None),
        other => Err(Failure::enumerator("signals", other)),
    }
}

/// Has signals shut down the contexts of the process with `interrupts`; a second one ends the
/// process. Changes nothing if handlers are installed already: the first context with `interrupts`
/// does that. `*installed`, which may be null, is whether this call did.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_signals_install(
    signals: sinew_signals,
    installed: Option<&mut bool>,
) -> sinew_status {
    status(|| {
        let installs = |signals| {
            let refused = |error| Failure::new(ErrorCode::Interrupts, error);
            signal::install(signals).map_err(refused)
        };
        let done = self::signals(signals)?.map_or(Ok(false), installs)?;
        if let Some(installed) = installed {
            *installed = done;
        }
        Ok(())
    })
}

/// Gives the signals back the effect that they had before the handlers were installed. Returns
/// whether there were any.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_signals_uninstall() -> bool {
    answer(false, || Ok(signal::uninstall()))
}

/// Returns the signals with handlers: `SINEW_SIGNALS_ALL`, `_INT`, `_TERM` or `_NONE`.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_signals_installed() -> sinew_signals {
    answer(SINEW_SIGNALS_NONE, || {
        Ok(match signal::installed() {
            Some(Signals::All) => SINEW_SIGNALS_ALL,
            Some(Signals::Interrupt) => SINEW_SIGNALS_INT,
            Some(Signals::Terminate) => SINEW_SIGNALS_TERM,
            None => SINEW_SIGNALS_NONE,
        })
    })
}
