//! The forms a callback may have.
//!
//! One implementation per form over `FnMut(..) -> R`, with the form's signature as a marker type that keeps the
//! implementations apart: so a closure is a callback if its parameters, as they are written, fit one of the forms.

use crate::executor::turn::{Key, State};
use crate::message::handle::Incoming;
use crate::message::table::{CloneInto, clone_into};
use crate::message::{MessageInfo, Shared, Unique};
use sinew_msg::Message;
use std::fmt::Display;

/// What a callback may return: nothing, or a `Result` whose error can be displayed.
///
/// The executor reports an error with the entity's name, see [`Executor::on_error`](crate::Executor::on_error).
#[diagnostic::on_unimplemented(
    message = "a callback can't return `{Self}`",
    label = "returns `{Self}`",
    note = "a callback returns `()` or `Result<(), E>` where `E: Display`"
)]
pub trait Outcome {
    #[doc(hidden)]
    fn into_result(self) -> Result<(), String>;
}

impl Outcome for () {
    fn into_result(self) -> Result<(), String> {
        Ok(())
    }
}

impl<E: Display> Outcome for Result<(), E> {
    fn into_result(self) -> Result<(), String> {
        self.map_err(|error| error.to_string())
    }
}

/// The type of what never returns, which can't be written in stable Rust otherwise: so that `|_: &T| todo!()` is a
/// callback.
mod never {
    pub trait Returns {
        type Type;
    }

    impl<R> Returns for fn() -> R {
        type Type = R;
    }
}

impl Outcome for <fn() -> ! as never::Returns>::Type {
    fn into_result(self) -> Result<(), String> {
        self
    }
}

/// A callback for the messages of a subscription.
///
/// The message may be taken as
///
/// | parameter | the callback | a copy is made |
/// |---|---|---|
/// | `&T` | reads | never |
/// | [`Shared<T>`] | reads, and may keep it | never |
/// | [`Unique<T>`] | owns it where it lies | only if somebody else wants it too |
/// | `Box<T>`, `T` | owns it, moved out of its place | as `Unique<T>` |
///
/// each followed by `&MessageInfo` or not, each preceded by the group's state `&mut S` or not. Owning forms need
/// `T: Clone`. A closure must name the type of its parameters.
#[diagnostic::on_unimplemented(
    message = "this is not a callback for messages of type `{T}` in a group with state `{S}`",
    label = "no form of callback fits",
    note = "the message is taken as `&{T}`, `Shared<{T}>`, `Unique<{T}>`, `Box<{T}>` or `{T}`; the last three need `{T}: Clone`",
    note = "`&MessageInfo` may follow, and the group's state `&mut {S}` may come first: `|state: &mut {S}, message: &{T}, info: &MessageInfo| ..`",
    note = "a closure must name its parameters' types, be `Send + 'static`, and return `()` or `Result<(), impl Display>`"
)]
pub trait SubscriptionCallback<T: Message, S, Form>: Send + 'static {
    /// Whether it owns its message; and if so, how to make one of its own.
    #[doc(hidden)]
    const OWNS: Option<Owner>;

    /// Calls it; true if the message had to be copied.
    #[doc(hidden)]
    fn call(&mut self, state: &mut S, message: Incoming<'_, T>, about: &dyn Fn() -> MessageInfo) -> Called;
}

/// How to make messages for those who own theirs.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Owner(pub(crate) CloneInto);

/// What came of a call.
#[doc(hidden)]
pub struct Called {
    pub(crate) result: Result<(), String>,
    pub(crate) copied: bool,
}

/// The forms of one way to take the message.
macro_rules! forms {
    ($message:ty, [$($bound:path),*], $owns:expr, |$incoming:ident| $take:expr, |$taken:ident| $pass:expr) => {
        forms!(@one $message, ($($bound),*), $owns, $incoming, $take, $taken, $pass, [], []);
        forms!(@one $message, ($($bound),*), $owns, $incoming, $take, $taken, $pass, [], [info]);
        forms!(@one $message, ($($bound),*), $owns, $incoming, $take, $taken, $pass, [state], []);
        forms!(@one $message, ($($bound),*), $owns, $incoming, $take, $taken, $pass, [state], [info]);
    };
    (@one $message:ty, ($($bound:path),*), $owns:expr, $incoming:ident, $take:expr, $taken:ident, $pass:expr,
        [$($state:ident)?], [$($info:ident)?]) => {
        impl<F, T, S, R> SubscriptionCallback<T, S, fn($(forms!(@state $state S),)? $message $(, forms!(@info $info))?) -> R>
            for F
        where
            F: FnMut($(forms!(@state $state S),)? $message $(, forms!(@info $info))?) -> R + Send + 'static,
            T: Message $(+ $bound)*,
            R: Outcome,
        {
            const OWNS: Option<Owner> = $owns;

            #[inline]
            fn call(&mut self, _state: &mut S, $incoming: Incoming<'_, T>, _about: &dyn Fn() -> MessageInfo) -> Called {
                let ($taken, copied) = $take;
                let result = self($(forms!(@pass $state _state),)? $pass $(, forms!(@about $info _about))?);
                Called { result: result.into_result(), copied }
            }
        }
    };
    (@state $state:ident $s:ident) => { &mut $s };
    (@info $info:ident) => { &MessageInfo };
    (@pass $state:ident $value:ident) => { $value };
    (@about $info:ident $about:ident) => { &$about() };
}

forms!(&T, [], None, |incoming| (incoming.shared(), false), |message| &message);
forms!(Shared<T>, [], None, |incoming| (incoming.shared(), false), |message| message);
forms!(Unique<T>, [Clone], Some(OwnerOf::<T>::OWNER), |incoming| incoming.unique(), |message| message);
forms!(Box<T>, [Clone], Some(OwnerOf::<T>::OWNER), |incoming| incoming.unique(), |message| message
    .into_box());
forms!(T, [Clone], Some(OwnerOf::<T>::OWNER), |incoming| incoming.unique(), |message| message.into_inner());

struct OwnerOf<T>(std::marker::PhantomData<T>);

impl<T: Clone> OwnerOf<T> {
    const OWNER: Owner = Owner(clone_into::<T>());
}

/// A callback for what happens to an entity: a timer's expiry ([`TimerInfo`](crate::TimerInfo)), a guard condition, a
/// status event.
///
/// It takes nothing, the event `&E`, the group's state `&mut S`, or the state and the event.
#[diagnostic::on_unimplemented(
    message = "this is not a callback for `{E}` in a group with state `{S}`",
    label = "no form of callback fits",
    note = "it takes nothing, `&{E}`, the group's state `&mut {S}`, or `&mut {S}` and `&{E}`",
    note = "a closure must name its parameters' types, be `Send + 'static`, and return `()` or `Result<(), impl Display>`"
)]
pub trait EventCallback<E, S, Form>: Send + 'static {
    #[doc(hidden)]
    fn call(&mut self, state: &mut S, event: &E) -> Result<(), String>;
}

impl<F: FnMut() -> R + Send + 'static, E, S, R: Outcome> EventCallback<E, S, fn() -> R> for F {
    fn call(&mut self, _state: &mut S, _event: &E) -> Result<(), String> {
        self().into_result()
    }
}

impl<F: FnMut(&E) -> R + Send + 'static, E, S, R: Outcome> EventCallback<E, S, fn(&E) -> R> for F {
    fn call(&mut self, _state: &mut S, event: &E) -> Result<(), String> {
        self(event).into_result()
    }
}

impl<F: FnMut(&mut S) -> R + Send + 'static, E, S, R: Outcome> EventCallback<E, S, fn(&mut S) -> R> for F {
    fn call(&mut self, state: &mut S, _event: &E) -> Result<(), String> {
        self(state).into_result()
    }
}

impl<F: FnMut(&mut S, &E) -> R + Send + 'static, E, S, R: Outcome> EventCallback<E, S, fn(&mut S, &E) -> R>
    for F
{
    fn call(&mut self, state: &mut S, event: &E) -> Result<(), String> {
        self(state, event).into_result()
    }
}

/// An event callback with its group's state, erased.
pub(crate) type OnEvent<E> = Box<dyn FnMut(&mut Key<State>, &E) -> Result<(), String> + Send>;
