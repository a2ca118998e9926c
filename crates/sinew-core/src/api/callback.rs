//! The forms a callback may have.
//!
//! Each form has an implementation over `FnMut(..) -> R`. The form's signature is a marker type
//! that keeps the implementations apart, so a closure is a callback if its declared parameter types
//! fit one of the forms.

use crate::event::condition::{Status, StatusCondition};
use crate::executor::group::{CallbackGroup, Group, ReentrantGroup};
use crate::executor::group_token::{CallbackOf, GroupCell, GroupToken};
use crate::executor::task::CallbackResult;
use crate::message::incoming::Incoming;
use crate::message::type_support::{CloneInto, clone_into};
use crate::message::work::CopyWork;
use crate::message::{Check, MessageInfo, Sample, Shared, Unique, View};
use crate::sys::sync::Arc;
use sinew_msg::Message;
use sinew_msg::cdr::Structure;
use sinew_msg::view::Viewed;
use std::error::Error;

/// The return type of a callback: nothing, or a `Result` with an error that is an [`Error`] or a
/// string, or converts to `Box<dyn Error + Send + Sync>`.
///
/// The executor reports an error with its causes and the entity's name, or the spin returns it
/// unchanged ([`SpinError::Failed`](crate::error::SpinError::Failed)); see
/// [`ExecutorBuilder::on_error`](crate::executor::ExecutorBuilder::on_error).
#[diagnostic::on_unimplemented(
    message = "a callback can't return `{Self}`",
    label = "returns `{Self}`",
    note = "a callback returns `()` or `Result<(), E>` where `E` is an error, a text, or else `Into<Box<dyn Error + Send + Sync>>`"
)]
pub trait Outcome {
    #[doc(hidden)]
    fn into_result(self) -> CallbackResult;
}

impl Outcome for () {
    fn into_result(self) -> CallbackResult {
        Ok(())
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> Outcome for Result<(), E> {
    fn into_result(self) -> CallbackResult {
        self.map_err(Into::into)
    }
}

/// The never type, which cannot be written in stable Rust otherwise: it makes `|_: &T| todo!()` a
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
    fn into_result(self) -> CallbackResult {
        self
    }
}

/// A callback for the messages of a subscription.
///
/// The callback takes the message in one of these forms:
///
/// | parameter | the callback | a copy is made |
/// |---|---|---|
/// | `&T` | reads | never |
/// | [`Shared<T>`] | reads, and may keep it | never |
/// | [`Unique<T>`] | owns it where it lies | only if another subscription wants it too |
/// | `Box<T>`, `T` | owns it, moved out of its place | as `Unique<T>` |
/// | [`View<'_, T>`](View) | reads it in place, as a value or encoded | never, nor is it decoded |
/// | [`Sample<T>`] | the same, and may keep it | never |
///
/// `&MessageInfo` may follow the message, and in a [`Group<S>`](crate::Group) the group's state
/// `&mut S` may precede it. Owning forms need `T: Clone`; `View` and `Sample` need a type that was
/// generated from a definition. In a [`ReentrantGroup`](crate::ReentrantGroup) the callback must be
/// `Fn` and `Sync`. A closure must name the types of its parameters.
#[diagnostic::on_unimplemented(
    message = "this is not a callback for messages of type `{T}` in a `{G}`",
    label = "no form of callback fits",
    note = "the message is taken as `&{T}`, `Shared<{T}>`, `Unique<{T}>`, `Box<{T}>` or `{T}`; the last three need `{T}: Clone`",
    note = "or, if `{T}` was generated from a definition, as `View<'_, {T}>` or `Sample<{T}>`",
    note = "`&MessageInfo` may follow, and in a `Group<S>` the group's state may come first: `|state: &mut S, message: &{T}, info: &MessageInfo| ..`",
    note = "a closure must name its parameters' types, be `Send + 'static` (in a reentrant group also `Fn` and `Sync`), and return `()` or `Result<(), E>` with an error or a text"
)]
pub trait SubscriptionCallback<T: Message, G, Form>: Sized + Send + 'static {
    /// `Some` if the callback owns its message: the function that copies a message for it.
    #[doc(hidden)]
    const OWNS: Option<MakeCopy>;

    /// `Some` if the callback reads encoded messages in place: the check of their validity.
    #[doc(hidden)]
    const VIEWS: Option<Check>;

    /// The cell that holds the callback.
    #[doc(hidden)]
    type Cell: Send + Sync + 'static;

    #[doc(hidden)]
    fn cell(self, group: &G) -> Self::Cell;

    /// Calls the callback, with its group's token.
    #[doc(hidden)]
    fn call(
        cell: &Self::Cell,
        group: &G,
        token: &mut GroupToken,
        message: Incoming<'_, T>,
        about: &dyn Fn() -> MessageInfo,
    ) -> Called;
}

/// The function that copies messages for subscriptions that own theirs.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct MakeCopy(pub(crate) CloneInto);

/// The outcome of a call.
#[doc(hidden)]
pub struct Called {
    pub(crate) result: CallbackResult,
    pub(crate) work: CopyWork,
}

/// The implementations for one form of the message.
macro_rules! forms {
    ($message:ty, [$($bound:path),*], $owns:expr, $views:expr, |$incoming:ident| $take:expr, |$taken:ident| $pass:expr) => {
        forms!(@exclusive $message, ($($bound),*), $owns, $views, $incoming, $take, $taken, $pass, [], []);
        forms!(@exclusive $message, ($($bound),*), $owns, $views, $incoming, $take, $taken, $pass, [], [info]);
        forms!(@exclusive $message, ($($bound),*), $owns, $views, $incoming, $take, $taken, $pass, [state], []);
        forms!(@exclusive $message, ($($bound),*), $owns, $views, $incoming, $take, $taken, $pass, [state], [info]);
        forms!(@reentrant $message, ($($bound),*), $owns, $views, $incoming, $take, $taken, $pass, []);
        forms!(@reentrant $message, ($($bound),*), $owns, $views, $incoming, $take, $taken, $pass, [info]);
    };
    (@exclusive $message:ty, ($($bound:path),*), $owns:expr, $views:expr, $incoming:ident, $take:expr, $taken:ident, $pass:expr,
        [$($state:ident)?], [$($info:ident)?]) => {
        impl<F, T, S, R> SubscriptionCallback<T, Group<S>, fn($(forms!(@state $state S),)? $message $(, forms!(@info $info))?) -> R>
            for F
        where
            F: FnMut($(forms!(@state $state S),)? $message $(, forms!(@info $info))?) -> R + Send + 'static,
            T: Message $(+ $bound)*,
            S: Send + 'static,
            R: Outcome,
        {
            const OWNS: Option<MakeCopy> = $owns;
            const VIEWS: Option<Check> = $views;

            type Cell = GroupCell<F, CallbackOf>;

            fn cell(self, group: &Group<S>) -> Self::Cell {
                group.number.callback(self)
            }

            #[inline]
            fn call(
                cell: &Self::Cell,
                _group: &Group<S>,
                token: &mut GroupToken,
                $incoming: Incoming<'_, T>,
                _about: &dyn Fn() -> MessageInfo,
            ) -> Called {
                let callback = cell.open(&mut token.callbacks);
                let ($taken, work) = $take;
                let message = match $pass {
                    Ok(message) => message,
                    Err(result) => return Called { result: Err(result), work },
                };
                let result = callback($(forms!(@open $state _group token),)? message $(, forms!(@about $info _about))?);
                Called { result: result.into_result(), work }
            }
        }
    };
    (@reentrant $message:ty, ($($bound:path),*), $owns:expr, $views:expr, $incoming:ident, $take:expr, $taken:ident, $pass:expr,
        [$($info:ident)?]) => {
        impl<F, T, R> SubscriptionCallback<T, ReentrantGroup, fn($message $(, forms!(@info $info))?) -> R> for F
        where
            F: Fn($message $(, forms!(@info $info))?) -> R + Send + Sync + 'static,
            T: Message $(+ $bound)*,
            R: Outcome,
        {
            const OWNS: Option<MakeCopy> = $owns;
            const VIEWS: Option<Check> = $views;

            type Cell = F;

            fn cell(self, _group: &ReentrantGroup) -> F {
                self
            }

            #[inline]
            fn call(
                cell: &F,
                _group: &ReentrantGroup,
                _token: &mut GroupToken,
                $incoming: Incoming<'_, T>,
                _about: &dyn Fn() -> MessageInfo,
            ) -> Called {
                let ($taken, work) = $take;
                let message = match $pass {
                    Ok(message) => message,
                    Err(result) => return Called { result: Err(result), work },
                };
                let result = cell(message $(, forms!(@about $info _about))?);
                Called { result: result.into_result(), work }
            }
        }
    };
    (@state $state:ident $s:ident) => { &mut $s };
    (@info $info:ident) => { &MessageInfo };
    (@open $state:ident $group:ident $token:ident) => { $group.state.open(&mut $token.state) };
    (@about $info:ident $about:ident) => { &$about() };
}

forms!(&T, [], None, None, |incoming| (incoming.shared(), CopyWork::NONE), |message| sure(&*message));
forms!(Shared<T>, [], None, None, |incoming| (incoming.shared(), CopyWork::NONE), |message| sure(message));
forms!(Unique<T>, [Clone], MakeCopyOf::<T>::OWNER, None, |incoming| incoming.unique(), |message| sure(
    message
));
forms!(Box<T>, [Clone], MakeCopyOf::<T>::OWNER, None, |incoming| incoming.unique(), |message| sure(
    message.into_box()
));
forms!(T, [Clone], MakeCopyOf::<T>::OWNER, None, |incoming| incoming.unique(), |message| sure(
    message.into_inner()
));
forms!(
    View<'_, T>,
    [Structure, Viewed],
    None,
    Some(Check::of::<T>()),
    |incoming| incoming.sample(),
    |message| { message.view().map(View::new).map_err(Box::from) }
);
forms!(
    Sample<T>,
    [Structure, Viewed],
    None,
    Some(Check::of::<T>()),
    |incoming| incoming.sample(),
    |message| { sure(message) }
);

/// The argument of a form that can always take the message.
#[inline]
fn sure<M>(message: M) -> Result<M, Box<dyn Error + Send + Sync>> {
    Ok(message)
}

struct MakeCopyOf<T>(std::marker::PhantomData<T>);

impl<T: Clone> MakeCopyOf<T> {
    const OWNER: Option<MakeCopy> = Some(MakeCopy(clone_into::<T>()));
}

/// A callback for an event of an entity: a timer's expiry ([`TimerInfo`](crate::time::TimerInfo)),
/// a guard condition, a status event.
///
/// It takes nothing, the event `&E`, the group's state `&mut S`, or the state and the event. In a
/// reentrant group it must be `Fn` and `Sync`, and there is no state.
#[diagnostic::on_unimplemented(
    message = "this is not a callback for `{E}` in a `{G}`",
    label = "no form of callback fits",
    note = "it takes nothing, `&{E}`, or in a `Group<S>` the group's state `&mut S`, or `&mut S` and `&{E}`",
    note = "a closure must name its parameters' types, be `Send + 'static` (in a reentrant group also `Fn` and `Sync`), and return `()` or `Result<(), E>` with an error or a text"
)]
pub trait EventCallback<E, G, Form>: Sized + Send + 'static {
    /// The cell that holds the callback.
    #[doc(hidden)]
    type Cell: Send + Sync + 'static;

    #[doc(hidden)]
    fn cell(self, group: &G) -> Self::Cell;

    /// Calls the callback, with its group's token.
    #[doc(hidden)]
    fn call(cell: &Self::Cell, group: &G, token: &mut GroupToken, event: &E) -> CallbackResult;
}

/// A callback for any group: it uses neither the group's state nor its token. For this crate and
/// crates built on it.
pub struct InAnyGroup<F>(pub F);

impl<E, G, F: Fn() -> CallbackResult + Send + Sync + 'static> EventCallback<E, G, InAnyGroup<F>>
    for InAnyGroup<F>
{
    type Cell = F;

    fn cell(self, _group: &G) -> F {
        self.0
    }

    fn call(cell: &F, _group: &G, _token: &mut GroupToken, _event: &E) -> CallbackResult {
        cell()
    }
}

/// The implementations for the forms of an event's callback.
macro_rules! event_forms {
    ($([$($state:ident)?] [$($event:ident)?])*) => {
        $(event_forms!(@exclusive [$($state)?] [$($event)?]);)*
        event_forms!(@reentrant []);
        event_forms!(@reentrant [event]);
    };
    (@exclusive [$($state:ident)?] [$($event:ident)?]) => {
        impl<F, E, S, R> EventCallback<E, Group<S>, fn($(forms!(@state $state S),)? $(event_forms!(@event $event E))?) -> R>
            for F
        where
            F: FnMut($(forms!(@state $state S),)? $(event_forms!(@event $event E))?) -> R + Send + 'static,
            S: Send + 'static,
            R: Outcome,
        {
            type Cell = GroupCell<F, CallbackOf>;

            fn cell(self, group: &Group<S>) -> Self::Cell {
                group.number.callback(self)
            }

            fn call(cell: &Self::Cell, _group: &Group<S>, token: &mut GroupToken, _event: &E) -> CallbackResult {
                let callback = cell.open(&mut token.callbacks);
                callback($(forms!(@open $state _group token),)? $(event_forms!(@pass $event _event))?).into_result()
            }
        }
    };
    (@reentrant [$($event:ident)?]) => {
        impl<F, E, R> EventCallback<E, ReentrantGroup, fn($(event_forms!(@event $event E))?) -> R> for F
        where
            F: Fn($(event_forms!(@event $event E))?) -> R + Send + Sync + 'static,
            R: Outcome,
        {
            type Cell = F;

            fn cell(self, _group: &ReentrantGroup) -> F {
                self
            }

            fn call(cell: &F, _group: &ReentrantGroup, _token: &mut GroupToken, _event: &E) -> CallbackResult {
                cell($(event_forms!(@pass $event _event))?).into_result()
            }
        }
    };
    (@event $event:ident $e:ident) => { &$e };
    (@pass $event:ident $value:ident) => { $value };
}

event_forms!([] []  [] [event]  [state] []  [state] [event]);

impl<E: Status> StatusCondition<E> {
    pub(crate) fn new<G, Form, F>(group: &G, what: String, callback: F) -> Arc<Self>
    where
        G: CallbackGroup,
        F: EventCallback<E, G, Form>,
    {
        let core = group.core().clone();
        let (cell, group) = (callback.cell(group), group.clone());
        Self::erased(core, what, Box::new(move |token, event| F::call(&cell, &group, token, event)))
    }
}
