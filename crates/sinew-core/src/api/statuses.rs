//! Statuses of publishers and subscriptions that the program takes itself, without an executor.

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

/// A status that an endpoint keeps for the program. A publisher keeps [`Matched`],
/// [`IncompatibleQos`], [`IncompatibleType`], [`OfferedDeadlineMissed`] and [`LivelinessLost`]; a
/// subscription keeps [`Matched`], [`IncompatibleQos`], [`IncompatibleType`], [`MessageLost`],
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
        /// Returns the endpoint's status if it is kept, with the names of the endpoint and its node
        /// for texts.
        #[doc(hidden)]
        fn condition(end: &End) -> Option<(&Arc<StatusCondition<Self>>, [&str; 2])>;

        /// Returns the field of this status among an endpoint's handlers.
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
                condition.is_kept().then_some((condition, [&handlers.entity, &end.inner.node.full_name]))
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
    let Some((condition, [entity, node])) = E::condition(end) else { return false };
    condition.set_listener(listener.map(|listener| listener_of(entity, node, listener)));
    true
}

fn listener_of(entity: &str, node: &str, listener: impl Fn(u64) + Send + Sync + 'static) -> Arc<Listener> {
    Listener::new(format!("statuses of the {entity} of node {node}"), listener)
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
        condition.source().set_listener(Some(listener_of(&self.entity, node, listener)));
        *E::place(self) = Some(condition);
    }
}

/// The methods of endpoints without a type, and those of their typed shells.
macro_rules! status_methods {
    ($end:ty, [$($generics:tt)*] $shell:ty) => {
        impl $end {
            /// Returns a status without taking it: the totals since the endpoint was created, and
            /// the changes since the status was last taken. Returns `None` if the builder's
            /// `keep_statuses` wasn't called, or the status has a handler.
            pub fn status<E: StatusOf<Self>>(&self) -> Option<E> {
                E::condition(self).map(|(condition, _)| condition.look(E::clone))
            }

            /// Takes a status: returns it as [`status`](Self::status) does, and resets its changes
            /// to zero.
            pub fn take_status<E: StatusOf<Self>>(&self) -> Option<E> {
                E::condition(self).map(|(condition, _)| condition.take())
            }

            /// Sets a listener for changes of a status, as the typed endpoint does.
            pub fn set_status_listener<E: StatusOf<Self>>(
                &self,
                listener: impl Fn(u64) + Send + Sync + 'static,
            ) -> bool {
                set_listener::<Self, E>(self, Some(listener))
            }

            /// Removes the listener of a status. Threads that are recording a change may still call
            /// it.
            pub fn clear_status_listener<E: StatusOf<Self>>(&self) {
                set_listener::<Self, E>(self, None::<fn(u64)>);
            }
        }

        impl<$($generics)*> $shell {
            /// Returns a status without taking it: the totals since the endpoint was created, and
            /// the changes since the status was last [taken](Self::take_status). Returns `None` if
            /// the builder's `keep_statuses` wasn't called, or the status has a handler. Never
            /// blocks.
            pub fn status<E: StatusOf<$end>>(&self) -> Option<E> {
                self.erased().status()
            }

            /// Takes a status: returns it as [`status`](Self::status) does, and resets its changes
            /// to zero. ROS 2: `rmw_take_event`.
            ///
            /// Statuses are up to date even if no executor runs: the thread that creates or finds
            /// the other endpoint records a match, and the thread `sinew-statuses` records missed
            /// deadlines and expired leases.
            pub fn take_status<E: StatusOf<$end>>(&self) -> Option<E> {
                self.erased().take_status()
            }

            /// Sets the listener for changes of a status, in place of the previous one. The thread
            /// that causes or notices a change calls the listener with 1. If the status has changed
            /// since it was last [taken](Self::take_status), this method calls the listener at once
            /// with the number of changes. Returns `false`, and drops the listener, if the status
            /// isn't [kept](Self::status). ROS 2: `rmw_event_set_callback`.
            ///
            /// No lock is held while the listener runs, and several threads may call it at once. It
            /// may take the status, replace or clear itself, publish, and create and close
            /// endpoints. A panic in it is reported. The endpoint keeps the listener, so a listener
            /// that holds a handle of the endpoint keeps both alive until it is
            /// [cleared](Self::clear_status_listener).
            #[must_use = "`false`: the status isn't kept, and the listener is dropped"]
            pub fn set_status_listener<E: StatusOf<$end>>(
                &self,
                listener: impl Fn(u64) + Send + Sync + 'static,
            ) -> bool {
                self.erased().set_status_listener::<E>(listener)
            }

            /// Removes the listener of a status. Threads that are recording a change may still call
            /// it.
            pub fn clear_status_listener<E: StatusOf<$end>>(&self) {
                self.erased().clear_status_listener::<E>();
            }
        }
    };
}

status_methods!(erased::publisher::Publisher, [T: Message] Publisher<T>);
status_methods!(erased::subscription::Subscription, [T: Message] Subscription<T>);
