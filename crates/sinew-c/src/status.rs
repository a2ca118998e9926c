//! How functions fail: a number, and a sentence for each thread.

use crate::c_string::c_text;
use crate::owned::{Owned, sinew_drop};
use sinew::__private::panic_text;
use sinew::error::{CreateError, ErrorCode, HasCode, NameError, NameKind};
use std::any::Any;
use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// 0 (`SINEW_OK`), or the reason of a failure, one of `SINEW_ERROR_..`. A number keeps its meaning;
/// new ones may come, so treat those that you don't know as failures.
pub type sinew_status = i32;

/// Success.
pub(crate) const OK: sinew_status = 0;

/// A thread's last failure.
struct Last {
    status: sinew_status,
    sentence: Cow<'static, CStr>,
    payload: Option<Arc<Owned>>,
    invalid_name: Option<InvalidName>,
}

/// The name that a failure is about.
#[derive(Debug)]
pub(crate) struct InvalidName {
    pub(crate) kind: NameKind,
    pub(crate) name: CString,
    pub(crate) index: usize,
}

impl InvalidName {
    /// Returns that of an error, if it is about one.
    fn of(error: &dyn Any) -> Option<Self> {
        let error = match error.downcast_ref::<CreateError>() {
            Some(CreateError::Name(error)) => error,
            _ => error.downcast_ref::<NameError>()?,
        };
        Some(Self { kind: error.kind(), name: c_text(error.name().to_owned()), index: error.position() })
    }
}

thread_local! {
    static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
}

/// A failure on its way to C. A pointer, so that success costs nothing.
#[derive(Debug)]
pub(crate) struct Failure(Box<Parts>);

#[derive(Debug)]
struct Parts {
    code: ErrorCode,
    sentence: Cow<'static, CStr>,
    payload: Option<Arc<Owned>>,
    invalid_name: Option<InvalidName>,
}

pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

impl Failure {
    #[inline]
    pub(crate) fn new(code: ErrorCode, sentence: impl Display) -> Self {
        Self::with_sentence(code, &sentence)
    }

    #[cold]
    #[inline(never)]
    fn with_sentence(code: ErrorCode, sentence: &dyn Display) -> Self {
        let sentence = Cow::Owned(c_text(sentence.to_string()));
        Self(Box::new(Parts { code, sentence, payload: None, invalid_name: None }))
    }

    /// One that a program may meet all the time.
    #[cold]
    pub(crate) fn fixed(code: ErrorCode, sentence: &'static CStr) -> Self {
        Self(Box::new(Parts { code, sentence: Cow::Borrowed(sentence), payload: None, invalid_name: None }))
    }

    /// Adds what a callback gave with its failure.
    #[cold]
    pub(crate) fn with_payload(mut self, payload: Option<Arc<Owned>>) -> Self {
        self.0.payload = payload;
        self
    }

    /// An argument that must not be null.
    #[cold]
    pub(crate) fn null(argument: &str) -> Self {
        Self::new(ErrorCode::NullArgument, format_args!("`{argument}` is null"))
    }

    /// A number that is none of an enumeration's.
    pub(crate) fn enumerator(argument: &str, number: i32) -> Self {
        Self::new(
            ErrorCode::InvalidEnumerator,
            format_args!("`{argument}` can't be {number}: see the header for its values"),
        )
    }

    /// Returns its sentence.
    pub(crate) fn sentence(&self) -> String {
        self.0.sentence.to_string_lossy().into_owned()
    }

    /// Keeps the sentence for this thread.
    #[cold]
    pub(crate) fn keep(self) -> sinew_status {
        let Parts { code, sentence, payload, invalid_name } = *self.0;
        let status = sinew_status::from(code.number());
        keep(Last { status, sentence, payload, invalid_name });
        status
    }
}

/// Replaces the thread's last failure.
fn keep(failure: Last) {
    // At the thread's end there is no place for it any more. The former one is dropped outside, as
    // that may run a function of C.
    drop(LAST.try_with(|last| last.replace(Some(failure))));
}

impl<E: HasCode + Display + 'static> From<E> for Failure {
    #[cold]
    fn from(error: E) -> Self {
        let mut failure = Self::new(error.code(), &error);
        failure.0.invalid_name = InvalidName::of(&error);
        failure
    }
}

/// Runs the body of a function that returns a status.
#[inline]
pub(crate) fn status(body: impl FnOnce() -> Result) -> sinew_status {
    match caught(body) {
        Ok(()) => OK,
        Err(failure) => failure.keep(),
    }
}

/// Runs the body of a function that returns its answer, or this after a failure.
#[inline]
pub(crate) fn answer<T>(otherwise: T, body: impl FnOnce() -> Result<T>) -> T {
    caught(body).unwrap_or_else(|failure| {
        failure.keep();
        otherwise
    })
}

/// No unwinding may cross into C.
#[inline]
fn caught<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    // What a panic leaves half done lies behind locks, which its owners handle.
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| Err(panicked(&*panic)))
}

#[cold]
fn panicked(panic: &(dyn Any + Send)) -> Failure {
    Failure::new(ErrorCode::Panicked, panic_text(panic).unwrap_or("a panic without a text"))
}

/// Puts a result where the caller wants it.
pub(crate) fn put<T>(place: Option<&mut T>, name: &str, value: T) -> Result {
    *place.ok_or_else(|| Failure::null(name))? = value;
    Ok(())
}

/// Returns the sentence of this thread's last failure, in English, or an empty text: what failed,
/// where, the limit and the remedy. It is never null, and valid until the thread's next failure.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_error_message() -> *const c_char {
    let last = LAST.try_with(|last| last.borrow().as_ref().map(|last| last.sentence.as_ptr()));
    last.ok().flatten().unwrap_or(c"".as_ptr())
}

/// Sets this thread's last failure, for a callback that is about to return `status`, and for
/// bindings of other languages. `payload` goes with it, for example an exception: where the failure
/// of the callback becomes that of a function, such as `sinew_executor_spin`,
/// `sinew_error_payload` returns it. `text` is copied and should be UTF-8. `drop_payload` is called
/// once, on any thread, when no failure has the payload any more; both may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_error_set(
    status: sinew_status,
    text: *const c_char,
    payload: *mut c_void,
    drop_payload: sinew_drop,
) {
    let payload = (!payload.is_null()).then(|| Arc::new(Owned::new(payload, drop_payload)));
    let sentence = if text.is_null() {
        Cow::Borrowed(c"a failure without a sentence")
    } else {
        // SAFETY: the caller's text.
        Cow::Owned(unsafe { CStr::from_ptr(text) }.to_owned())
    };
    keep(Last { status, sentence, payload, invalid_name: None });
}

/// Returns what went with this thread's last failure, or null. It belongs to the failure: it is
/// valid until the thread's next one.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_error_payload() -> *mut c_void {
    let payload = |last: &Last| last.payload.as_ref().map(|payload| payload.pointer());
    let last = LAST.try_with(|last| last.borrow().as_ref().and_then(payload));
    last.ok().flatten().unwrap_or(std::ptr::null_mut())
}

/// Passes on the name about which this thread's last failure is, if there is one.
pub(crate) fn last_invalid_name(pass: impl FnOnce(&InvalidName) -> bool) -> bool {
    let found = LAST.try_with(|last| last.borrow().as_ref()?.invalid_name.as_ref().map(pass));
    found.ok().flatten().unwrap_or(false)
}

/// Returns the sentence of this thread's last failure and what goes with it, if it had this status;
/// else the status's meaning.
pub(crate) fn last(status: sinew_status) -> (String, Option<Arc<Owned>>) {
    let last = LAST.try_with(|last| {
        let last = last.borrow();
        let last = last.as_ref().filter(|last| last.status == status)?;
        Some((last.sentence.to_string_lossy().into_owned(), last.payload.clone()))
    });
    last.ok().flatten().unwrap_or_else(|| {
        // SAFETY: it is never null, ends with a NUL, and lives as long as the process.
        let meaning = unsafe { CStr::from_ptr(sinew_status_meaning(status)) };
        (meaning.to_string_lossy().into_owned(), None)
    })
}

/// Returns the meaning of a status in one sentence, in English, for example "It did not happen in
/// time.". The text is never null and lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_status_meaning(status: sinew_status) -> *const c_char {
    static MEANINGS: std::sync::OnceLock<Vec<CString>> = std::sync::OnceLock::new();
    if status == OK {
        return c"Success.".as_ptr();
    }
    let meanings = MEANINGS
        .get_or_init(|| ErrorCode::ALL.iter().map(|code| c_text(code.meaning().to_owned())).collect());
    let number = |code: &ErrorCode| sinew_status::from(code.number());
    match ErrorCode::ALL.binary_search_by_key(&status, number) {
        Ok(place) => meanings[place].as_ptr(),
        Err(_) => c"No failure of this library has the number.".as_ptr(),
    }
}
