//! Calls that were sent and can be polled, or waited for by an executor.

use crate::client::{borrow, sinew_client};
use crate::executor::{kept, sinew_executor, spun};
use crate::handle::{self, handle};
use crate::message::{from_c, into_c, sinew_message};
use crate::status::{Failure, Result, sinew_status, status};
use crate::time::{sinew_duration, timeout};
use parking_lot::Mutex;
use sinew::erased::{CallResult, PendingCall};
use sinew::error::ErrorCode;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// A call that was sent and can be polled.
pub struct sinew_pending_call {
    _opaque: (),
}
handle!(sinew_pending_call: Mutex<Pending>);

/// A call, and its result until the caller takes it.
pub(crate) struct Pending {
    /// `None` once the caller has the result.
    call: Option<PendingCall>,
    result: Option<CallResult>,
}

impl Pending {
    /// Fails if the caller has the result already.
    fn check(&self) -> Result {
        let is_over = || Failure::new(ErrorCode::Closed, "the call is over: its result was returned before");
        if self.call.is_none() { Err(is_over()) } else { Ok(()) }
    }

    /// Polls the call until there is a result.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let (None, Some(call)) = (&self.result, &mut self.call) {
            let Poll::Ready(result) = Pin::new(call).poll(cx) else { return Poll::Pending };
            self.result = Some(result);
        }
        Poll::Ready(())
    }
}

/// Calls the service. The caller polls `*call` for the response, and frees it. Never blocks. Takes
/// over the request, also if it fails. The call keeps its client alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_call_async(
    client: *const sinew_client,
    request: *mut sinew_message,
    call: Option<&mut *mut sinew_pending_call>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's message, which is given up.
        let request = unsafe { from_c(request, "request") }?;
        let place = call.ok_or_else(|| Failure::null("call"))?;
        let call = borrow(&client)?.call_async(request)?;
        *place = handle::new(Mutex::new(Pending { call: Some(call), result: None }));
        Ok(())
    })
}

/// Looks whether a call is over. `*response` is null until it is; then it is the response, once,
/// and the caller owns it. Never blocks, and runs no callback: an executor has to serve the server,
/// for example in `sinew_executor_spin_until_complete`.
///
/// Fails if the call failed, as `sinew_client_call` does, and with `SINEW_ERROR_CLOSED` once its
/// result was returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_pending_call_poll(
    call: *const sinew_pending_call,
    response: Option<&mut *mut sinew_message>,
) -> sinew_status {
    status(|| {
        let place = response.ok_or_else(|| Failure::null("response"))?;
        *place = std::ptr::null_mut();
        // SAFETY: the caller's handle.
        let mut pending = unsafe { handle::get(call, "call") }?.lock();
        pending.check()?;
        let _ = pending.poll(&mut Context::from_waker(Waker::noop()));
        let Some(result) = pending.result.take() else { return Ok(()) };
        let over = pending.call.take();
        drop(pending);
        drop(over); // under no lock: it may be the last one to keep its client
        *place = into_c(result?);
        Ok(())
    })
}

/// Runs callbacks on all threads of the executor until a call is over, with a response or a
/// failure: then it returns `SINEW_OK`, and `sinew_pending_call_poll` the result. Waits for at most
/// `timeout` of real time (negative: for ever; 0 runs what a look at the call needs and one
/// callback at most). The executor should serve the server, or another thread or process. Meanwhile
/// no other thread may use the call. ROS 2: `spin_until_future_complete`.
///
/// Fails as `sinew_executor_spin`; with `SINEW_ERROR_TIMEOUT` if the call is not over in time, with
/// `SINEW_ERROR_STOPPED` if the executor was stopped or its context shut down before, and with
/// `SINEW_ERROR_CLOSED` if the result was returned before. The call goes on after a timeout.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_executor_spin_until_complete(
    executor: *const sinew_executor,
    call: *const sinew_pending_call,
    timeout: sinew_duration,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let executor = unsafe { kept(executor) }?;
        // SAFETY: the caller's handle.
        let pending = unsafe { handle::get(call, "call") }?;
        pending.lock().check()?;
        let is_over = poll_fn(|cx| pending.lock().poll(cx));
        if timeout < 0 {
            return spun(executor.spin_until(is_over));
        }
        spun(executor.spin_until_for(is_over, self::timeout(timeout)))?.ok_or_else(|| {
            let sentence = format_args!("the call was not over within {timeout} nanoseconds");
            Failure::new(ErrorCode::Timeout, sentence)
        })
    })
}

/// Frees a call. One that is not over is given up: its response will not come. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_pending_call_free(call: *mut sinew_pending_call) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(call, "call") };
}
