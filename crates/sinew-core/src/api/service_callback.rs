//! The forms a service's callbacks may have. (`callback` explains how forms are kept apart.)

use super::callback::Outcome;
use crate::executor::group::{Group, ReentrantGroup};
use crate::executor::group_token::{CallbackOf, GroupCell, GroupToken, StateOf};
use crate::executor::task::CallbackResult;
use crate::message::Unique;
use crate::message::info::Publication;
use crate::service::info::RequestInfo;
use crate::service::reply::{Reply, outcome};
use crate::service::request::ReplyTo;
use crate::service::request_queue::server_core::ServerCore;
use crate::service::responder::{ReplyToken, Responder};
use crate::sys::sync::Arc;
use sinew_msg::{Message, Service};

/// A request on its way into a callback.
#[doc(hidden)]
pub struct IncomingRequest<'a, S: Service> {
    pub(crate) request: Unique<S::Request>,
    pub(crate) publication: Publication,
    /// Taken when the request is answered, or passed on with a responder.
    pub(crate) reply_to: &'a mut Option<ReplyTo>,
    pub(crate) core: &'a Arc<ServerCore>,
}

impl<S: Service> IncomingRequest<'_, S> {
    /// Returns a responder that answers later.
    fn responder(reply_to: &mut Option<ReplyTo>, core: &Arc<ServerCore>) -> Responder<S> {
        #[expect(clippy::expect_used, reason = "`Server::run` puts it there, and it is taken once")]
        let reply_to = reply_to.take().expect("a request has a caller");
        Responder::new(ReplyToken::new(reply_to, core))
    }

    #[inline]
    fn answer(reply_to: &mut Option<ReplyTo>, core: &ServerCore, reply: impl Reply<S::Response>) {
        if let Some(reply_to) = reply_to.take() {
            drop(core.complete(reply_to, outcome(reply, &core.pool))); // fails if the caller has given up, and then needs no answer
        }
    }
}

/// Returns the information about a request.
pub(crate) fn info(publication: Publication, core: &ServerCore) -> RequestInfo {
    let session = &core.requests.session;
    RequestInfo::new(publication, session.participant, &session.clock)
}

/// A callback for the requests of a service; `Q` stands for `S::Request`.
///
/// It takes the request as `&Q`, [`Unique<Q>`], `Box<Q>` or `Q`; a request has one owner, so no
/// form copies it. `&RequestInfo` may follow, and in a [`Group<S>`](crate::Group) the group's state
/// `&mut S` may come first. The callback returns the response (see [`Reply`]). Alternatively, its
/// last parameter is a [`Responder`], which answers later; the callback then returns `()` or a
/// `Result`, and the executor reports an error. In a [`ReentrantGroup`](crate::ReentrantGroup) it
/// must be `Fn` and `Sync`. A closure must name the types of its parameters.
#[diagnostic::on_unimplemented(
    message = "this is not a callback for requests of type `{Q}` in a `{G}`",
    label = "no form of callback fits",
    note = "the request is taken as `&{Q}`, `Unique<{Q}>`, `Box<{Q}>` or `{Q}`; `&RequestInfo` may follow, then `Responder<{S}>`",
    note = "in a `Group<S>` the group's state may come first: `|state: &mut S, request: &{Q}, info: &RequestInfo| ..`",
    note = "it returns the response or a `Result` of it with a `Display` error; with a `Responder`, `()` or `Result<(), E>` with an error or a text",
    note = "a closure must name its parameters' types, and be `Send + 'static` (in a reentrant group also `Fn` and `Sync`)"
)]
pub trait ServiceCallback<S: Service, Q, G, Form>: Sized + Send + 'static {
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
        asked: IncomingRequest<'_, S>,
    ) -> CallbackResult;
}

/// A callback for the result of a call, `R`, in a group with that state.
///
/// It takes the result, or the group's state `&mut State` and the result. A closure must name the
/// types of its parameters.
#[diagnostic::on_unimplemented(
    message = "this is not a callback for a call by a client of a group with the state `{State}`",
    label = "no form of callback fits",
    note = "it takes the result, `{R}`, or `&mut {State}` and the result",
    note = "a closure must name its parameters' types, be `Send + 'static`, and return `()` or `Result<(), E>` with an error or a text"
)]
pub trait ResultCallback<R, State, Form>: Send + 'static {
    /// Converts the callback to a form that takes the group's token instead of the state.
    #[doc(hidden)]
    fn with(
        self,
        state: &Arc<GroupCell<State, StateOf>>,
    ) -> impl FnOnce(&mut GroupToken, R) -> CallbackResult + Send + 'static;
}

impl<F, R, State, O> ResultCallback<R, State, fn(R) -> O> for F
where
    F: FnOnce(R) -> O + Send + 'static,
    O: Outcome,
{
    fn with(
        self,
        _: &Arc<GroupCell<State, StateOf>>,
    ) -> impl FnOnce(&mut GroupToken, R) -> CallbackResult + Send + 'static {
        move |_: &mut GroupToken, result| self(result).into_result()
    }
}

impl<F, R, State, O> ResultCallback<R, State, fn(&mut State, R) -> O> for F
where
    F: FnOnce(&mut State, R) -> O + Send + 'static,
    State: Send + 'static,
    O: Outcome,
{
    fn with(
        self,
        state: &Arc<GroupCell<State, StateOf>>,
    ) -> impl FnOnce(&mut GroupToken, R) -> CallbackResult + Send + 'static {
        let state = state.clone();
        move |token: &mut GroupToken, result| self(state.open(&mut token.state), result).into_result()
    }
}

/// The implementations for one form of the request.
macro_rules! forms {
    ($request:ty, |$taken:ident| $pass:expr) => {
        forms!(@now $request, $taken, $pass, []);
        forms!(@now $request, $taken, $pass, [info]);
        forms!(@later $request, $taken, $pass, []);
        forms!(@later $request, $taken, $pass, [info]);
    };
    // For callbacks that return the response.
    (@now $request:ty, $taken:ident, $pass:expr, [$($info:ident)?]) => {
        forms!(@exclusive $request, [], [$($info)?], [], [Reply<S::Response>], |callback, asked, group, token| {
            let IncomingRequest { request: $taken, publication: _publication, reply_to, core } = asked;
            $(let about = forms!(@about $info _publication core);)?
            let reply = callback($pass $(, forms!(@reference $info about))?);
            IncomingRequest::<S>::answer(reply_to, core, reply);
            Ok(())
        });
        forms!(@exclusive $request, [state], [$($info)?], [], [Reply<S::Response>], |callback, asked, group, token| {
            let IncomingRequest { request: $taken, publication: _publication, reply_to, core } = asked;
            $(let about = forms!(@about $info _publication core);)?
            let reply = callback(group.state.open(&mut token.state), $pass $(, forms!(@reference $info about))?);
            IncomingRequest::<S>::answer(reply_to, core, reply);
            Ok(())
        });
        forms!(@reentrant $request, [$($info)?], [], [Reply<S::Response>], |callback, asked| {
            let IncomingRequest { request: $taken, publication: _publication, reply_to, core } = asked;
            $(let about = forms!(@about $info _publication core);)?
            let reply = callback($pass $(, forms!(@reference $info about))?);
            IncomingRequest::<S>::answer(reply_to, core, reply);
            Ok(())
        });
    };
    // For callbacks that take a responder.
    (@later $request:ty, $taken:ident, $pass:expr, [$($info:ident)?]) => {
        forms!(@exclusive $request, [], [$($info)?], [later], [Outcome], |callback, asked, group, token| {
            let IncomingRequest { request: $taken, publication: _publication, reply_to, core } = asked;
            $(let about = forms!(@about $info _publication core);)?
            let responder = IncomingRequest::<S>::responder(reply_to, core);
            callback($pass, $(forms!(@reference $info about),)? responder).into_result()
        });
        forms!(@exclusive $request, [state], [$($info)?], [later], [Outcome], |callback, asked, group, token| {
            let IncomingRequest { request: $taken, publication: _publication, reply_to, core } = asked;
            $(let about = forms!(@about $info _publication core);)?
            let responder = IncomingRequest::<S>::responder(reply_to, core);
            let state = group.state.open(&mut token.state);
            callback(state, $pass, $(forms!(@reference $info about),)? responder).into_result()
        });
        forms!(@reentrant $request, [$($info)?], [later], [Outcome], |callback, asked| {
            let IncomingRequest { request: $taken, publication: _publication, reply_to, core } = asked;
            $(let about = forms!(@about $info _publication core);)?
            let responder = IncomingRequest::<S>::responder(reply_to, core);
            callback($pass, $(forms!(@reference $info about),)? responder).into_result()
        });
    };
    (@exclusive $request:ty, [$($state:ident)?], [$($info:ident)?], [$($later:ident)?], [$($returns:tt)+],
        |$callback:ident, $asked:ident, $group:ident, $token:ident| $body:block) => {
        impl<F, S, Q, St, R>
            ServiceCallback<
                S,
                Q,
                Group<St>,
                fn($(forms!(@state $state St),)? $request $(, forms!(@info $info))? $(, forms!(@responder $later S))?) -> R,
            > for F
        where
            F: FnMut($(forms!(@state $state St),)? $request $(, forms!(@info $info))? $(, forms!(@responder $later S))?) -> R
                + Send
                + 'static,
            S: Service<Request = Q>,
            Q: Message,
            St: Send + 'static,
            R: $($returns)+,
        {
            type Cell = GroupCell<F, CallbackOf>;

            fn cell(self, group: &Group<St>) -> Self::Cell {
                group.number.callback(self)
            }

            #[inline]
            #[allow(unused_variables, reason = "only forms with state use the group")]
            fn call(
                cell: &Self::Cell,
                $group: &Group<St>,
                $token: &mut GroupToken,
                $asked: IncomingRequest<'_, S>,
            ) -> CallbackResult {
                let $callback = cell.open(&mut $token.callbacks);
                $body
            }
        }
    };
    (@reentrant $request:ty, [$($info:ident)?], [$($later:ident)?], [$($returns:tt)+],
        |$callback:ident, $asked:ident| $body:block) => {
        impl<F, S, Q, R>
            ServiceCallback<
                S,
                Q,
                ReentrantGroup,
                fn($request $(, forms!(@info $info))? $(, forms!(@responder $later S))?) -> R,
            > for F
        where
            F: Fn($request $(, forms!(@info $info))? $(, forms!(@responder $later S))?) -> R + Send + Sync + 'static,
            S: Service<Request = Q>,
            Q: Message,
            R: $($returns)+,
        {
            type Cell = F;

            fn cell(self, _group: &ReentrantGroup) -> F {
                self
            }

            #[inline]
            fn call(
                $callback: &F,
                _group: &ReentrantGroup,
                _token: &mut GroupToken,
                $asked: IncomingRequest<'_, S>,
            ) -> CallbackResult {
                $body
            }
        }
    };
    (@state $state:ident $s:ident) => { &mut $s };
    (@info $info:ident) => { &RequestInfo };
    (@responder $later:ident $s:ident) => { Responder<$s> };
    (@about $info:ident $publication:ident $core:ident) => { info($publication, $core) };
    (@reference $info:ident $about:ident) => { &$about };
}

forms!(&Q, |request| &request);
forms!(Unique<Q>, |request| request);
forms!(Box<Q>, |request| request.into_box());
forms!(Q, |request| request.into_inner());

/// A callback that answers requests with futures; `Q` stands for `S::Request`.
///
/// It takes the request as [`Unique<Q>`], `Box<Q>` or `Q`; a [`RequestInfo`] may follow. The future
/// it returns yields the response (see [`Reply`]). Usually `|request: Q| async move { .. }`.
#[diagnostic::on_unimplemented(
    message = "this is not an asynchronous callback for requests of type `{Q}` in a `{G}`",
    label = "no form of callback fits",
    note = "the request is taken as `Unique<{Q}>`, `Box<{Q}>` or `{Q}`; a `RequestInfo` (not a reference) may follow",
    note = "it returns a future, `Send + 'static`, that yields the response or a `Result` of it: `|request: {Q}| async move {{ .. }}`",
    note = "a closure must name its parameters' types, and be `Send + 'static` (in a reentrant group also `Fn` and `Sync`)"
)]
pub trait AsyncServiceCallback<S: Service, Q: Message, G, Form>: Sized + Send + 'static {
    /// The future that the callback returns.
    type Future: Future<Output = Self::Reply> + Send + 'static;

    /// The output of that future.
    type Reply: Reply<S::Response>;

    /// The cell that holds the callback.
    #[doc(hidden)]
    type Cell: Send + Sync + 'static;

    #[doc(hidden)]
    fn cell(self, group: &G) -> Self::Cell;

    /// Calls the callback, with its group's token.
    #[doc(hidden)]
    fn call(
        cell: &Self::Cell,
        token: &mut GroupToken,
        request: Unique<Q>,
        info: &dyn Fn() -> RequestInfo,
    ) -> Self::Future;
}

macro_rules! async_forms {
    ($request:ty, |$taken:ident| $pass:expr) => {
        async_forms!(@both $request, $taken, $pass, []);
        async_forms!(@both $request, $taken, $pass, [info]);
    };
    (@both $request:ty, $taken:ident, $pass:expr, [$($info:ident)?]) => {
        impl<F, S, Q, St, A>
            AsyncServiceCallback<S, Q, Group<St>, fn($request $(, async_forms!(@info $info))?) -> A> for F
        where
            F: FnMut($request $(, async_forms!(@info $info))?) -> A + Send + 'static,
            S: Service<Request = Q>,
            Q: Message,
            St: Send + 'static,
            A: Future + Send + 'static,
            A::Output: Reply<S::Response>,
        {
            type Future = A;
            type Reply = A::Output;
            type Cell = GroupCell<F, CallbackOf>;

            fn cell(self, group: &Group<St>) -> Self::Cell {
                group.number.callback(self)
            }

            fn call(
                cell: &Self::Cell,
                token: &mut GroupToken,
                $taken: Unique<Q>,
                _info: &dyn Fn() -> RequestInfo,
            ) -> A {
                let callback = cell.open(&mut token.callbacks);
                callback($pass $(, async_forms!(@about $info _info))?)
            }
        }

        impl<F, S, Q, A>
            AsyncServiceCallback<S, Q, ReentrantGroup, fn($request $(, async_forms!(@info $info))?) -> A> for F
        where
            F: Fn($request $(, async_forms!(@info $info))?) -> A + Send + Sync + 'static,
            S: Service<Request = Q>,
            Q: Message,
            A: Future + Send + 'static,
            A::Output: Reply<S::Response>,
        {
            type Future = A;
            type Reply = A::Output;
            type Cell = F;

            fn cell(self, _group: &ReentrantGroup) -> F {
                self
            }

            fn call(
                cell: &F,
                _token: &mut GroupToken,
                $taken: Unique<Q>,
                _info: &dyn Fn() -> RequestInfo,
            ) -> A {
                cell($pass $(, async_forms!(@about $info _info))?)
            }
        }
    };
    (@info $info:ident) => { RequestInfo };
    (@about $info:ident $about:ident) => { $about() };
}

async_forms!(Unique<Q>, |request| request);
async_forms!(Box<Q>, |request| request.into_box());
async_forms!(Q, |request| request.into_inner());
