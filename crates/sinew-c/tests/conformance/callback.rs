//! Callbacks: the forms that closures of the scenarios have, and what calls them from C.

use crate::library::{EventStatus, Functions, Handle, Handler, Status, TimerInfo as FrontTimerInfo};
use crate::message::{Unique, decoded};
use crate::node::{Group, ReentrantGroup};
use crate::service::{CallResult, Responder};
use parking_lot::Mutex;
use real::{Message, Service};
use std::error::Error;
use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What a callback came to: nothing, or the sentence of its failure.
pub(crate) type Ended = Result<(), String>;

// ---- contexts in C ----

/// `front_context_of`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct ContextOf {
    context: *mut c_void,
    drop: unsafe extern "C" fn(*mut c_void),
}

impl ContextOf {
    pub(crate) const NONE: Self = Self { context: std::ptr::null_mut(), drop: nothing };

    /// Gives a closure away. It is dropped by the front end.
    pub(crate) fn of<F: ?Sized + 'static>(front: &'static Functions, closure: Box<F>) -> Self {
        let context = Box::into_raw(Box::new(Closure { front, closure })).cast();
        Self { context, drop: dropped::<Closure<F>> }
    }
}

impl ContextOf {
    /// Ends a context that C had for a call only.
    fn end(self) {
        // SAFETY: from `of`; the function that had it has returned.
        unsafe { (self.drop)(self.context) };
    }
}

/// What a context of C is.
struct Closure<F: ?Sized> {
    front: &'static Functions,
    closure: Box<F>,
}

unsafe extern "C" fn nothing(_: *mut c_void) {}

unsafe extern "C" fn dropped<C>(context: *mut c_void) {
    // SAFETY: from `ContextOf::of`, and dropped once.
    drop(unsafe { Box::from_raw(context.cast::<C>()) });
}

/// Calls a closure. No panic gets into C.
fn call<F: ?Sized>(context: *mut c_void, call: impl FnOnce(&F) -> Ended) -> Status {
    // SAFETY: from `ContextOf::of`, of this type, as the functions below are passed with it.
    let closure = unsafe { &*context.cast::<Closure<F>>() };
    let sentence = match catch_unwind(AssertUnwindSafe(|| call(&closure.closure))) {
        Ok(Ok(())) => return 0,
        Ok(Err(sentence)) => sentence,
        Err(_) => "a panic".to_owned(), // its message was printed
    };
    let sentence = CString::new(sentence).unwrap_or_default();
    closure.front.failed(sentence.as_ptr())
}

fn bytes<'a>(bytes: *const u8, length: usize) -> &'a [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: valid during the callback, in which it is read.
    unsafe { std::slice::from_raw_parts(bytes, length) }
}

fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: a text of the front end, valid now.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

pub(crate) type Receiving = dyn Fn(&[u8]) -> Ended + Send + Sync;

pub(crate) unsafe extern "C" fn receive(context: *mut c_void, message: *const u8, length: usize) -> Status {
    call::<Receiving>(context, |closure| closure(bytes(message, length)))
}

pub(crate) type Passing = dyn Fn(&[u8]) -> bool + Send + Sync;

pub(crate) unsafe extern "C" fn passes(context: *mut c_void, message: *const u8, length: usize) -> bool {
    let mut passes = false;
    call::<Passing>(context, |closure| {
        passes = closure(bytes(message, length));
        Ok(())
    });
    passes
}

pub(crate) type Listening = dyn Fn(u64) + Send + Sync;

pub(crate) unsafe extern "C" fn listen(context: *mut c_void, count: u64) {
    call::<Listening>(context, |closure| {
        closure(count);
        Ok(())
    });
}

pub(crate) type TriggeredClosure = dyn Fn(u64) -> Ended + Send + Sync;

pub(crate) unsafe extern "C" fn triggered(context: *mut c_void, count: u64) -> Status {
    call::<TriggeredClosure>(context, |closure| closure(count))
}

pub(crate) type Elapsing = dyn Fn(&FrontTimerInfo) -> Ended + Send + Sync;

pub(crate) unsafe extern "C" fn elapsed(context: *mut c_void, info: *const FrontTimerInfo) -> Status {
    // SAFETY: valid during the call.
    call::<Elapsing>(context, |closure| closure(unsafe { &*info }))
}

/// An event's numbers, and its texts.
pub(crate) struct Event {
    pub(crate) numbers: [i64; 4],
    pub(crate) policy: u32,
    pub(crate) reason: String,
}

pub(crate) type Notifying = dyn Fn(&Event) -> Ended + Send + Sync;

unsafe extern "C" fn notified(context: *mut c_void, status: *const EventStatus) -> Status {
    // SAFETY: valid during the call.
    let status = unsafe { &*status };
    let event = Event { numbers: status.numbers, policy: status.policy, reason: text(status.reason) };
    call::<Notifying>(context, |closure| closure(&event))
}

/// The handler of an event, by its number in C.
pub(crate) fn handler(front: &'static Functions, handler: Option<(i32, Box<Notifying>)>) -> Handler {
    match handler {
        None => Handler { event: 0, function: None, context: ContextOf::NONE },
        Some((event, closure)) => {
            Handler { event, function: Some(notified), context: ContextOf::of(front, closure) }
        }
    }
}

pub(crate) type Serving = dyn Fn(&'static Functions, &[u8], Handle) -> Ended + Send + Sync;

pub(crate) unsafe extern "C" fn requested(
    context: *mut c_void,
    request: *const u8,
    length: usize,
    responder: Handle,
) -> Status {
    // SAFETY: as in `call`.
    let front = unsafe { &*context.cast::<Closure<Serving>>() }.front;
    call::<Serving>(context, |closure| closure(front, bytes(request, length), responder))
}

/// The bytes of a response, or a failure.
pub(crate) type Answer<'a> = Result<&'a [u8], (Status, String)>;
pub(crate) type Resulting = dyn Fn(Answer<'_>) -> Ended + Send + Sync;

pub(crate) unsafe extern "C" fn resulted(
    context: *mut c_void,
    status: Status,
    sentence: *const c_char,
    response: *const u8,
    length: usize,
) -> Status {
    let answer = if status == 0 { Ok(bytes(response, length)) } else { Err((status, text(sentence))) };
    call::<Resulting>(context, |closure| closure(answer))
}

// ---- forms of closures ----

/// What a callback may return.
pub(crate) trait Outcome {
    fn ended(self) -> Ended;
}

impl Outcome for () {
    fn ended(self) -> Ended {
        Ok(())
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> Outcome for Result<(), E> {
    fn ended(self) -> Ended {
        self.map_err(|error| error.into().to_string())
    }
}

/// `!`, which has no name.
pub(crate) trait Returns {
    type Type;
}

impl<R> Returns for fn() -> R {
    type Type = R;
}

impl Outcome for <fn() -> ! as Returns>::Type {
    fn ended(self) -> Ended {
        self
    }
}

/// A closure that one thread at a time calls, as its group is exclusive. It isn't waited for: two
/// at once would be a fault.
fn exclusive<F>(closure: F) -> Mutex<F> {
    Mutex::new(closure)
}

macro_rules! open {
    ($lock:expr) => {
        &mut *$lock.try_lock().expect("callbacks of an exclusive group never overlap")
    };
}

/// A closure that gets messages, of the form that `Form` says.
pub(crate) trait SubscriptionCallback<T, G, Form>: Send + 'static {
    const OWNS: bool;

    fn erased(self, group: &G) -> Box<Receiving>;
}

macro_rules! forms {
    ($owns:expr, $message:ty, |$given:ident: &$t:ident| $pass:expr) => {
        impl<F, $t, S, R> SubscriptionCallback<$t, Group<S>, fn($message) -> R> for F
        where
            F: FnMut($message) -> R + Send + 'static,
            $t: Message,
            S: Send + 'static,
            R: Outcome,
        {
            const OWNS: bool = $owns;

            fn erased(self, _: &Group<S>) -> Box<Receiving> {
                let closure = exclusive(self);
                Box::new(move |bytes| {
                    let $given: $t = decoded(bytes);
                    (open!(closure))($pass).ended()
                })
            }
        }

        impl<F, $t, S, R> SubscriptionCallback<$t, Group<S>, fn(&mut S, $message) -> R> for F
        where
            F: FnMut(&mut S, $message) -> R + Send + 'static,
            $t: Message,
            S: Send + 'static,
            R: Outcome,
        {
            const OWNS: bool = $owns;

            fn erased(self, group: &Group<S>) -> Box<Receiving> {
                let (closure, state) = (exclusive(self), group.state());
                Box::new(move |bytes| {
                    let $given: $t = decoded(bytes);
                    (open!(closure))(open!(state), $pass).ended()
                })
            }
        }

        impl<F, $t, R> SubscriptionCallback<$t, ReentrantGroup, fn($message) -> R> for F
        where
            F: Fn($message) -> R + Send + Sync + 'static,
            $t: Message,
            R: Outcome,
        {
            const OWNS: bool = $owns;

            fn erased(self, _: &ReentrantGroup) -> Box<Receiving> {
                Box::new(move |bytes| {
                    let $given: $t = decoded(bytes);
                    self($pass).ended()
                })
            }
        }
    };
}

forms!(false, &T, |message: &T| &message);
forms!(true, Unique<T>, |message: &T| Unique::new(message));

/// A closure that gets to know of an event.
pub(crate) trait EventCallback<E, G, Form>: Send + 'static {
    fn erased(self) -> Box<dyn Fn(&E) -> Ended + Send + Sync>;
}

impl<F, E, S, R> EventCallback<E, Group<S>, fn() -> R> for F
where
    F: FnMut() -> R + Send + 'static,
    R: Outcome,
{
    fn erased(self) -> Box<dyn Fn(&E) -> Ended + Send + Sync> {
        let closure = exclusive(self);
        Box::new(move |_| (open!(closure))().ended())
    }
}

impl<F, E, S, R> EventCallback<E, Group<S>, fn(&E) -> R> for F
where
    F: FnMut(&E) -> R + Send + 'static,
    R: Outcome,
{
    fn erased(self) -> Box<dyn Fn(&E) -> Ended + Send + Sync> {
        let closure = exclusive(self);
        Box::new(move |event| (open!(closure))(event).ended())
    }
}

impl<F, E, R> EventCallback<E, ReentrantGroup, fn() -> R> for F
where
    F: Fn() -> R + Send + Sync + 'static,
    R: Outcome,
{
    fn erased(self) -> Box<dyn Fn(&E) -> Ended + Send + Sync> {
        Box::new(move |_| self().ended())
    }
}

/// What the callback of a server may return.
pub(crate) trait Reply<T> {
    fn reply(self) -> Result<T, String>;
}

impl<T: Message> Reply<T> for T {
    fn reply(self) -> Result<T, String> {
        Ok(self)
    }
}

impl<T: Message> Reply<T> for Unique<T> {
    fn reply(self) -> Result<T, String> {
        Ok(self.into_inner())
    }
}

impl<T: Message, E: Display> Reply<T> for Result<T, E> {
    fn reply(self) -> Result<T, String> {
        self.map_err(|error| error.to_string())
    }
}

impl<T: Message, E: Display> Reply<T> for Result<Unique<T>, E> {
    fn reply(self) -> Result<T, String> {
        self.map(Unique::into_inner).map_err(|error| error.to_string())
    }
}

/// A closure that answers requests.
pub(crate) trait ServiceCallback<S: Service, Q, G, Form>: Send + 'static {
    fn erased(self, group: &G) -> Box<dyn Fn(Q, Responder<S>) -> Ended + Send + Sync>;
}

macro_rules! service_forms {
    ($request:ty, |$given:ident| $pass:expr) => {
        impl<F, S, Q, St, R> ServiceCallback<S, Q, Group<St>, fn($request) -> R> for F
        where
            F: FnMut($request) -> R + Send + 'static,
            S: Service<Request = Q>,
            Q: Message,
            R: Reply<S::Response>,
        {
            fn erased(self, _: &Group<St>) -> Box<dyn Fn(Q, Responder<S>) -> Ended + Send + Sync> {
                let closure = exclusive(self);
                Box::new(move |$given: Q, responder| {
                    responder.reply((open!(closure))($pass).reply());
                    Ok(())
                })
            }
        }

        impl<F, S, Q, St, R> ServiceCallback<S, Q, Group<St>, fn(&mut St, $request) -> R> for F
        where
            F: FnMut(&mut St, $request) -> R + Send + 'static,
            S: Service<Request = Q>,
            Q: Message,
            St: Send + 'static,
            R: Reply<S::Response>,
        {
            fn erased(self, group: &Group<St>) -> Box<dyn Fn(Q, Responder<S>) -> Ended + Send + Sync> {
                let (closure, state) = (exclusive(self), group.state());
                Box::new(move |$given: Q, responder| {
                    responder.reply((open!(closure))(open!(state), $pass).reply());
                    Ok(())
                })
            }
        }
    };
}

service_forms!(&Q, |request| &request);
service_forms!(Unique<Q>, |request| Unique::new(request));

impl<F, S, Q, St, R> ServiceCallback<S, Q, Group<St>, fn(Q, Responder<S>) -> R> for F
where
    F: FnMut(Q, Responder<S>) -> R + Send + 'static,
    S: Service<Request = Q>,
    Q: Message,
    R: Outcome,
{
    fn erased(self, _: &Group<St>) -> Box<dyn Fn(Q, Responder<S>) -> Ended + Send + Sync> {
        let closure = exclusive(self);
        Box::new(move |request, responder| (open!(closure))(request, responder).ended())
    }
}

/// A closure that gets the result of a call.
pub(crate) trait ResultCallback<S: Service, State, Form>: Send + 'static {
    fn erased(self, state: Arc<Mutex<State>>) -> Box<dyn FnOnce(CallResult<S>) -> Ended + Send>;
}

impl<F, S, State, R> ResultCallback<S, State, fn(CallResult<S>) -> R> for F
where
    F: FnOnce(CallResult<S>) -> R + Send + 'static,
    S: Service,
    R: Outcome,
{
    fn erased(self, _: Arc<Mutex<State>>) -> Box<dyn FnOnce(CallResult<S>) -> Ended + Send> {
        Box::new(move |result| self(result).ended())
    }
}

impl<F, S, State, R> ResultCallback<S, State, fn(&mut State, CallResult<S>) -> R> for F
where
    F: FnOnce(&mut State, CallResult<S>) -> R + Send + 'static,
    S: Service,
    State: Send + 'static,
    R: Outcome,
{
    fn erased(self, state: Arc<Mutex<State>>) -> Box<dyn FnOnce(CallResult<S>) -> Ended + Send> {
        Box::new(move |result| self(open!(state), result).ended())
    }
}

/// Calls a function of C that hands over a message before it returns, if there is one.
pub(crate) fn handed_over<T: Message>(
    front: &'static Functions,
    function: impl FnOnce(crate::library::Receive, Handle) -> Status,
) -> (Option<T>, Status) {
    let place = Arc::new(Mutex::new(None));
    let filled = place.clone();
    let receiver: Box<Receiving> = Box::new(move |bytes| {
        *filled.lock() = Some(decoded(bytes));
        Ok(())
    });
    let context = ContextOf::of(front, receiver);
    let status = function(receive, Handle(context.context));
    context.end();
    let message = place.lock().take();
    (message, status)
}

/// As [`handed_over`], the result of a call.
pub(crate) fn result_handed_over<R: Send + 'static>(
    front: &'static Functions,
    result_of: fn(Answer<'_>) -> R,
    function: impl FnOnce(crate::library::Outcome, Handle) -> Status,
) -> (Option<R>, Status) {
    let place = Arc::new(Mutex::new(None));
    let filled = place.clone();
    let receiver: Box<Resulting> = Box::new(move |answer| {
        *filled.lock() = Some(result_of(answer));
        Ok(())
    });
    let context = ContextOf::of(front, receiver);
    let status = function(resulted, Handle(context.context));
    context.end();
    let result = place.lock().take();
    (result, status)
}
