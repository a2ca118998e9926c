//! The statuses of publishers and subscriptions that the program takes by hand.

use super::erased;
use super::handlers::Handlers;
use super::publisher::Publisher;
use super::subscription::Subscription;
use crate::event::condition::{AttachedCondition, StatusCondition};
use crate::event::status::{
    IncompatibleQos, IncompatibleType, LivelinessChanged, LivelinessLost, Matched, MessageLost,
    OfferedDeadlineMissed, RequestedDeadlineMissed,
};
use crate::mailbox::waiters::Listener;
use crate::sys::clock::Clock;
use crate::sys::sync::Arc;
use sinew_msg::Message;

/// A status that an endpoint keeps for the program: of a publisher [`Matched`], [`IncompatibleQos`],
/// [`IncompatibleType`], [`OfferedDeadlineMissed`] and [`LivelinessLost`]; of a subscription
/// [`Matched`], [`IncompatibleQos`], [`IncompatibleType`], [`MessageLost`],
/// [`RequestedDeadlineMissed`] and [`LivelinessChanged`].
///
/// `End` is the endpoint without its type: [`erased::Publisher`](crate::erased::Publisher) or
/// [`erased::Subscription`](crate::erased::Subscription).
pub trait StatusOf<End>: sealed::Kept<End> {}

impl<End, E: sealed::Kept<End>> StatusOf<End> for E {}

pub(crate) mod sealed {
    use super::{Arc, Handlers, StatusCondition};
    use crate::event::condition::{AttachedCondition, Status};

    pub trait Kept<End>: Status {
        /// The endpoint's status; the endpoint for people, and its node.
        #[doc(hidden)]
        fn condition(end: &End) -> Option<(&Arc<StatusCondition<Self>>, [&str; 2])>;

        /// The place of the status among those of an endpoint.
        #[doc(hidden)]
        fn place(handlers: &mut Handlers) -> &mut Option<AttachedCondition<Self>>;
    }
}

macro_rules! kept {
    ($end:ty: $($status:ident in $field:ident),* $(,)?) => {
        $(impl sealed::Kept<$end> for $status {
            fn condition(end: &$end) -> Option<(&Arc<StatusCondition<Self>>, [&str; 2])> {
                let handlers = &end.inner.handlers;
                let condition = handlers.$field.as_ref()?.source();
                condition.is_kept().then_some((condition, [&handlers.whose, &end.inner.node.full_name]))
            }

            fn place(handlers: &mut Handlers) -> &mut Option<AttachedCondition<Self>> {
                &mut handlers.$field
            }
        })*
    };
}

kept! {
    erased::publisher::Publisher:
    Matched in matched,
    IncompatibleQos in incompatible_qos,
    IncompatibleType in incompatible_type,
    OfferedDeadlineMissed in offered_deadline,
    LivelinessLost in liveliness_lost,
}

kept! {
    erased::subscription::Subscription:
    Matched in matched,
    IncompatibleQos in incompatible_qos,
    IncompatibleType in incompatible_type,
    MessageLost in lost,
    RequestedDeadlineMissed in requested_deadline,
    LivelinessChanged in liveliness_changed,
}

fn set_listener<End, E: StatusOf<End>>(
    end: &End,
    listener: Option<impl Fn(u64) + Send + Sync + 'static>,
) -> bool {
    let Some((condition, [whose, node])) = E::condition(end) else { return false };
    condition.set_listener(listener.map(|listener| listener_of(whose, node, listener)));
    true
}

fn listener_of(whose: &str, node: &str, listener: impl Fn(u64) + Send + Sync + 'static) -> Arc<Listener> {
    Listener::new(format!("statuses of the {whose} of node {node}"), listener)
}

impl Handlers {
    /// Keeps one status of an endpoint that is being made, with a listener for its changes.
    pub(crate) fn listen<End, E: StatusOf<End>>(
        &mut self,
        node: &str,
        clock: &Clock,
        listener: impl Fn(u64) + Send + Sync + 'static,
    ) {
        let condition = AttachedCondition::kept(clock);
        condition.source().set_listener(Some(listener_of(&self.whose, node, listener)));
        *E::place(self) = Some(condition);
    }
}

/// The methods of endpoints without a type, and those of their typed shells.
macro_rules! status_methods {
    ($end:ty, [$($generics:tt)*] $shell:ty) => {
        impl $end {
            /// Returns a status without taking it: totals since the endpoint was made, and the
            /// changes since it was taken last. `None`: it isn't kept, as the builder's
            /// `keep_statuses` wasn't called, or has a handler.
            pub fn status<E: StatusOf<Self>>(&self) -> Option<E> {
                E::condition(self).map(|(condition, _)| condition.look(E::clone))
            }

            /// Takes a status: as [`status`](Self::status), and its changes begin anew.
            pub fn take_status<E: StatusOf<Self>>(&self) -> Option<E> {
                E::condition(self).map(|(condition, _)| condition.take())
            }

            /// Sets a listener for changes of a status, as that of the typed endpoint.
            pub fn set_status_listener<E: StatusOf<Self>>(
                &self,
                listener: impl Fn(u64) + Send + Sync + 'static,
            ) -> bool {
                set_listener::<Self, E>(self, Some(listener))
            }

            /// Removes a status's listener; it may still be called for changes that other threads
            /// are just making.
            pub fn clear_status_listener<E: StatusOf<Self>>(&self) {
                set_listener::<Self, E>(self, None::<fn(u64)>);
            }
        }

        impl<$($generics)*> $shell {
            /// Returns a status without taking it: totals since the endpoint was made, and the
            /// changes since it was [taken](Self::take_status) last. `None`: the builder's
            /// `keep_statuses` wasn't called, or this status has a handler. Never blocks.
            pub fn status<E: StatusOf<$end>>(&self) -> Option<E> {
                self.erased().status()
            }

            /// Takes a status: as [`status`](Self::status), and its changes begin anew. ROS 2:
            /// `rmw_take_event`.
            ///
            /// Statuses are up to date although no executor runs: matches are noticed by the thread
            /// that makes or finds the other endpoint, deadlines and leases by the thread
            /// `sinew-statuses`.
            pub fn take_status<E: StatusOf<$end>>(&self) -> Option<E> {
                self.erased().take_status()
            }

            /// Sets a listener that is called for each change of a status: with 1, on the thread
            /// that brought the change about or noticed it. If there were changes since the status
            /// was [taken](Self::take_status) last, it is called at once with their number. It
            /// replaces the former listener of this status. Returns `false`, and drops the listener,
            /// if the status isn't [kept](Self::status). ROS 2: `rmw_event_set_callback`.
            ///
            /// It runs under no lock, and several threads may call it at once. It may take, replace
            /// or clear itself, publish, and make and close endpoints. A panic in it is reported.
            /// The endpoint keeps it until it ends, so a listener that holds the endpoint in turn
            /// keeps both until it is [cleared](Self::clear_status_listener).
            #[must_use = "`false`: the status isn't kept, and the listener is dropped"]
            pub fn set_status_listener<E: StatusOf<$end>>(
                &self,
                listener: impl Fn(u64) + Send + Sync + 'static,
            ) -> bool {
                self.erased().set_status_listener::<E>(listener)
            }

            /// Removes a status's listener; it may still be called for changes that other threads
            /// are just making.
            pub fn clear_status_listener<E: StatusOf<$end>>(&self) {
                self.erased().clear_status_listener::<E>();
            }
        }
    };
}

status_methods!(erased::publisher::Publisher, [T: Message] Publisher<T>);
status_methods!(erased::subscription::Subscription, [T: Message] Subscription<T>);
