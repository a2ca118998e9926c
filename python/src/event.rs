//! Events of publishers and subscriptions: callbacks, and statuses.

use crate::callback::{Callback, Outcome};
use crate::group::Place;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sinew::erased::Erased;
use sinew::event::{
    IncompatibleQos, IncompatibleType, LivelinessChanged, LivelinessLost, Matched, MessageLost,
    OfferedDeadlineMissed, RequestedDeadlineMissed,
};
use sinew::msg::{PublisherBuilder, SubscriptionBuilder};
use sinew::{Group, ReentrantGroup};

/// A status as `sinew.events` has it: the name of its class, and its fields in their order.
pub(crate) trait Status: 'static {
    /// Name of the class.
    const CLASS: &'static str;

    fn fields(&self, py: Python<'_>) -> PyResult<Py<PyAny>>;
}

macro_rules! status {
    ($($of:ty: $class:literal, |$status:ident| $fields:expr;)*) => {
        $(impl Status for $of {
            const CLASS: &'static str = $class;

            fn fields(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                let $status = self;
                Ok($fields.into_pyobject(py)?.into_any().unbind())
            }
        })*
    };
}

status! {
    Matched: "MatchedInfo", |of| (of.total, of.total_change, of.current, of.current_change);
    IncompatibleQos: "IncompatibleQosInfo", |of| {
        let policy = of.last_policy.map(|policy| policy.to_string());
        (of.total, of.total_change, policy, of.last_reason.as_str())
    };
    IncompatibleType: "IncompatibleTypeInfo", |of| (of.total, of.total_change, of.last_reason.as_str());
    OfferedDeadlineMissed: "DeadlineMissedInfo", |of| (of.total, of.total_change);
    RequestedDeadlineMissed: "DeadlineMissedInfo", |of| (of.total, of.total_change);
    LivelinessLost: "LivelinessLostInfo", |of| (of.total, of.total_change);
    LivelinessChanged: "LivelinessChangedInfo", |of| {
        (of.alive, of.not_alive, of.alive_change, of.not_alive_change)
    };
    MessageLost: "MessageLostInfo", |of| (of.total, of.total_change, of.undecodable);
}

/// Makes the object of a status.
pub(crate) fn object<S: Status>(py: Python<'_>, status: &S) -> PyResult<Py<PyAny>> {
    let class = py.import("sinew.events")?.getattr(S::CLASS)?;
    Ok(class.call_method1("_make", (status.fields(py)?,))?.unbind())
}

fn run<S: Status>(callback: &Callback, status: &S) -> Outcome {
    callback.run(|py| Ok((object(py, status)?,)))
}

/// Callbacks by the names of events.
pub(crate) struct Callbacks(Vec<(String, Callback)>);

impl Callbacks {
    pub(crate) fn new(all: Option<&Bound<'_, PyDict>>, place: &Place) -> PyResult<Self> {
        let all = all.map(|all| all.iter()).into_iter().flatten();
        let all = all.map(|(name, callback)| {
            PyResult::Ok((name.extract()?, Callback::new(callback.unbind(), place.clone())))
        });
        Ok(Self(all.collect::<PyResult<_>>()?))
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Callback> {
        self.0.iter().map(|(_, callback)| callback)
    }

    fn of(&self, name: &str) -> Option<Callback> {
        self.0.iter().find(|(of, _)| of == name).map(|(_, callback)| callback.clone())
    }
}

/// Builders that take callbacks for events.
pub(crate) trait Eventful: Sized {
    /// Adds the callbacks.
    fn events(self, callbacks: &Callbacks) -> Self;
}

/// Implements it: each event with its method and its status, for both kinds of groups.
macro_rules! eventful {
    (both $builder:ident $events:tt) => {
        eventful! { $builder<Group> $events $builder<ReentrantGroup> $events }
    };
    ($($builder:ident<$group:ty> { $($name:literal: $method:ident, $status:ty;)* })*) => {
        $(impl Eventful for $builder<Erased, $group> {
            fn events(mut self, callbacks: &Callbacks) -> Self {
                $(if let Some(call) = callbacks.of($name) {
                    self = self.$method(move |status: &$status| run(&call, status));
                })*
                self
            }
        })*
    };
}

eventful! { both PublisherBuilder {
    "matched": on_matched, Matched;
    "incompatible_qos": on_incompatible_qos, IncompatibleQos;
    "incompatible_type": on_incompatible_type, IncompatibleType;
    "deadline": on_deadline_missed, OfferedDeadlineMissed;
    "liveliness": on_liveliness_lost, LivelinessLost;
} }

eventful! { both SubscriptionBuilder {
    "matched": on_matched, Matched;
    "incompatible_qos": on_incompatible_qos, IncompatibleQos;
    "incompatible_type": on_incompatible_type, IncompatibleType;
    "deadline": on_deadline_missed, RequestedDeadlineMissed;
    "liveliness": on_liveliness_changed, LivelinessChanged;
    "message_lost": on_message_lost, MessageLost;
} }
