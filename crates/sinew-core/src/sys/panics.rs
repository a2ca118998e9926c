//! Panics of the program's code, where others depend on the thread.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs code of the program that others wait for; its panic comes back as a text, for them.
pub(crate) fn caught<R>(code: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(code)).map_err(|panic| {
        let message = panic_message(&*panic);
        dispose_of(panic);
        message
    })
}

/// Drops a panic's payload; its `Drop` may panic in turn: one report is enough.
pub(crate) fn dispose_of(panic: Box<dyn Any + Send>) {
    let mut payload = panic;
    for _ in 0..8 {
        match catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            Ok(()) => return,
            Err(another) => payload = another,
        }
    }
    std::mem::forget(payload); // it would go on for ever
}

pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    panic_text(panic).unwrap_or("not a text").to_owned()
}

/// Returns the text of a panic, if it has one.
pub fn panic_text(panic: &(dyn Any + Send)) -> Option<&str> {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
}
