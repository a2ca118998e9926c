//! Rates: loops that run periodically.

use crate::handle::{self, handle};
use crate::node::sinew_node;
use crate::status::{answer, sinew_status, status};
use crate::time::{clock_kind, sinew_clock_kind, sinew_duration, span};
use parking_lot::Mutex;
use sinew::time::Rate;
use std::sync::Arc;

/// A rate: it paces a thread's own loop at fixed times. In an executor a timer does that.
pub struct sinew_rate {
    _opaque: (),
}
handle!(sinew_rate: Arc<RateHandle>);

/// A rate, which one thread at a time uses.
pub(crate) struct RateHandle {
    rate: Mutex<Rate>,
    period: sinew_duration,
}

/// Makes a rate. It begins now: the n-th round is due n periods later, however long rounds take.
///
/// `SINEW_CLOCK_DEFAULT` is the clock of the node: simulated time while that is used, else steady
/// time. The caller frees `*rate` with `sinew_rate_free`.
///
/// Fails with `SINEW_ERROR_INVALID_PERIOD` if the period is not positive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_rate_new(
    node: *const sinew_node,
    period: sinew_duration,
    clock: sinew_clock_kind,
    rate: Option<&mut *mut sinew_rate>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(node, "node") }?;
        let made = node.node.rate(span(period, "period")?)?;
        let made = match clock_kind(clock)? {
            Some(clock) => made.clock(clock),
            None => made,
        };
        handle::put(rate, "rate", Arc::new(RateHandle { rate: Mutex::new(made), period }))
    })
}

/// Frees a handle to a rate; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_rate_free(rate: *mut sinew_rate) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(rate, "rate") };
}

/// Sleeps until the next round is due; not at all if it already is. `skipped` may be null; it gets
/// the number of rounds that were over before this one could begin: 0 if the loop keeps up.
///
/// Blocks, so don't call it in callbacks. If another thread sleeps by the same rate, this one gets
/// a later round. Fails with `SINEW_ERROR_SHUTDOWN` once the context is shut down, which ends a
/// loop.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_rate_sleep(
    rate: *const sinew_rate,
    skipped: Option<&mut u64>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let rate = unsafe { handle::get(rate, "rate") }?.clone();
        let count = rate.rate.lock().sleep()?;
        if let Some(skipped) = skipped {
            *skipped = count;
        }
        Ok(())
    })
}

/// Restarts the rate: the next round is due one period from now. Waits for a thread that sleeps.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_rate_reset(rate: *const sinew_rate) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(rate, "rate") }?.rate.lock().reset();
        Ok(())
    })
}

/// Returns the time from one round to the next.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_rate_period(rate: *const sinew_rate) -> sinew_duration {
    // SAFETY: the caller's handle.
    answer(0, || Ok(unsafe { handle::get(rate, "rate") }?.period))
}
