//! Events of endpoints.

use crate::callback::{Event, EventCallback, Notifying};
use real::qos::Policy;
use sinew_c::event;
use sinew_c::qos;

/// A guard condition was triggered.
pub(crate) struct Triggered {
    pub(crate) count: u64,
}

/// The status of an event, of its numbers in `front_status`.
pub(crate) trait Status: Sized {
    const EVENT: i32;

    fn of(event: &Event) -> Self;
}

/// A handler for C.
pub(crate) fn handler<E: Status + 'static, G, Form>(
    callback: impl EventCallback<E, G, Form>,
) -> (i32, Box<Notifying>) {
    let callback = callback.erased();
    (E::EVENT, Box::new(move |event| callback(&E::of(event))))
}

macro_rules! statuses {
    ($($event:ident = $number:ident { $($field:ident: $type:ty = $place:literal),* })*) => {
        $(
            #[derive(Debug, Clone)]
            #[allow(dead_code, reason = "scenarios read a part")]
            pub(crate) struct $event {
                $(pub(crate) $field: $type,)*
            }

            impl Status for $event {
                const EVENT: i32 = event::$number;

                fn of(event: &Event) -> Self {
                    Self { $($field: <$type>::try_from(event.numbers[$place]).expect("a count"),)* }
                }
            }
        )*
    };
}

statuses! {
    Matched = SINEW_EVENT_MATCHED
        { total: u64 = 0, total_change: u64 = 1, current: u64 = 2, current_change: i64 = 3 }
    OfferedDeadlineMissed = SINEW_EVENT_DEADLINE_MISSED { total: u64 = 0 }
    RequestedDeadlineMissed = SINEW_EVENT_DEADLINE_MISSED { total: u64 = 0 }
    LivelinessChanged = SINEW_EVENT_LIVELINESS_CHANGED
        { alive: u64 = 0, not_alive: u64 = 1, alive_change: i64 = 2, not_alive_change: i64 = 3 }
    MessageLost = SINEW_EVENT_MESSAGE_LOST { total: u64 = 0, total_change: u64 = 1 }
}

#[derive(Debug, Clone)]
pub(crate) struct IncompatibleQos {
    pub(crate) total: u64,
    pub(crate) total_change: u64,
    pub(crate) last_policy: Option<Policy>,
    pub(crate) last_reason: String,
}

impl Status for IncompatibleQos {
    const EVENT: i32 = event::SINEW_EVENT_INCOMPATIBLE_QOS;

    fn of(event: &Event) -> Self {
        let [total, total_change] = [0, 1].map(|place| event.numbers[place].unsigned_abs());
        let last_policy = match event.policy {
            qos::SINEW_QOS_POLICY_RELIABILITY => Some(Policy::Reliability),
            qos::SINEW_QOS_POLICY_DURABILITY => Some(Policy::Durability),
            qos::SINEW_QOS_POLICY_DEADLINE => Some(Policy::Deadline),
            qos::SINEW_QOS_POLICY_LIVELINESS => Some(Policy::Liveliness),
            qos::SINEW_QOS_POLICY_LEASE => Some(Policy::Lease),
            _ => None,
        };
        Self { total, total_change, last_policy, last_reason: event.reason.clone() }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct IncompatibleType {
    pub(crate) last_reason: String,
}

impl Status for IncompatibleType {
    const EVENT: i32 = event::SINEW_EVENT_INCOMPATIBLE_TYPE;

    fn of(event: &Event) -> Self {
        Self { last_reason: event.reason.clone() }
    }
}
