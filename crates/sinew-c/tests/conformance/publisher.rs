//! Publishers.

use crate::callback::{self, EventCallback, Notifying};
use crate::event::{self, IncompatibleQos, IncompatibleType, Matched, OfferedDeadlineMissed};
use crate::failure::{Error, PublishError, Result};
use crate::library::Functions;
use crate::message::{Given, Message, encoded, kind};
use crate::node::{Group, Node, Owned, c_text, nanoseconds};
use real::QoS;
use real::qos::{Durability, History, Liveliness, Reliability};
use sinew_c::message_info::sinew_gid;
use sinew_c::qos::{self, sinew_qos};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// The QoS as C has it.
pub(crate) fn qos_in_c(qos: &QoS) -> sinew_qos {
    let limit = |limit: Option<Duration>| limit.map_or(0, nanoseconds);
    let (history, depth) = match qos.history {
        History::KeepLast(depth) => (qos::SINEW_HISTORY_KEEP_LAST, depth),
        History::KeepAll => (qos::SINEW_HISTORY_KEEP_ALL, 0),
    };
    sinew_qos {
        size: size_of::<sinew_qos>(),
        history,
        reliability: match qos.reliability {
            Reliability::Reliable => qos::SINEW_RELIABILITY_RELIABLE,
            Reliability::BestEffort => qos::SINEW_RELIABILITY_BEST_EFFORT,
        },
        durability: match qos.durability {
            Durability::TransientLocal => qos::SINEW_DURABILITY_TRANSIENT_LOCAL,
            _ => qos::SINEW_DURABILITY_VOLATILE,
        },
        liveliness: match qos.liveliness {
            Liveliness::ManualByTopic => qos::SINEW_LIVELINESS_MANUAL_BY_TOPIC,
            _ => qos::SINEW_LIVELINESS_AUTOMATIC,
        },
        depth,
        max_samples: qos.max_samples.unwrap_or(0),
        deadline: limit(qos.deadline),
        lifespan: limit(qos.lifespan),
        lease: limit(qos.lease),
        max_blocking_time: nanoseconds(qos.max_blocking_time),
    }
}

pub(crate) struct PublisherBuilder<T> {
    node: Node,
    topic: String,
    qos: QoS,
    handler: Option<(i32, Box<Notifying>)>,
    of: PhantomData<fn(T)>,
}

impl<T: Message> PublisherBuilder<T> {
    pub(crate) fn new(node: Node, topic: &str) -> Self {
        Self { node, topic: topic.to_owned(), qos: QoS::new(), handler: None, of: PhantomData }
    }

    pub(crate) fn qos(self, qos: QoS) -> Self {
        Self { qos, ..self }
    }

    pub(crate) fn on_matched<Form>(self, callback: impl EventCallback<Matched, Group, Form>) -> Self {
        Self { handler: Some(event::handler(callback)), ..self }
    }

    pub(crate) fn on_incompatible_qos<Form>(
        self,
        callback: impl EventCallback<IncompatibleQos, Group, Form>,
    ) -> Self {
        Self { handler: Some(event::handler(callback)), ..self }
    }

    pub(crate) fn on_incompatible_type<Form>(
        self,
        callback: impl EventCallback<IncompatibleType, Group, Form>,
    ) -> Self {
        Self { handler: Some(event::handler(callback)), ..self }
    }

    pub(crate) fn on_deadline_missed<Form>(
        self,
        callback: impl EventCallback<OfferedDeadlineMissed, Group, Form>,
    ) -> Self {
        Self { handler: Some(event::handler(callback)), ..self }
    }

    pub(crate) fn create(self) -> Result<Publisher<T>> {
        let (front, topic, qos) = (self.node.handle.front, c_text(&self.topic), qos_in_c(&self.qos));
        let handler = callback::handler(front, self.handler);
        let made = Owned::make(front, Functions::publisher_free, |publisher| {
            let node = self.node.handle.handle;
            front.publisher_new(node, topic.as_ptr(), kind::<T>(), &qos, handler, publisher)
        });
        made.map(|handle| Publisher { handle, of: PhantomData })
    }
}

pub(crate) struct Publisher<T> {
    handle: Arc<Owned>,
    of: PhantomData<fn(T)>,
}

impl<T> Clone for Publisher<T> {
    fn clone(&self) -> Self {
        Self { handle: self.handle.clone(), of: PhantomData }
    }
}

pub(crate) struct PublisherStatistics {
    pub(crate) published: u64,
}

impl<T: Message> Publisher<T> {
    pub(crate) fn publish(&self, given: impl Given<T>) -> std::result::Result<(), PublishError<T>> {
        let bytes = encoded(given.message());
        let front = self.handle.front;
        let status = front.publisher_publish(self.handle.handle, bytes.as_ptr(), bytes.len());
        Error::check(front, status).map_err(|error| PublishError::new(error, crate::message::decoded(&bytes)))
    }

    pub(crate) fn subscription_count(&self) -> usize {
        self.handle.front.publisher_subscription_count(self.handle.handle)
    }

    pub(crate) fn statistics(&self) -> PublisherStatistics {
        PublisherStatistics { published: self.handle.front.publisher_published(self.handle.handle) }
    }

    pub(crate) fn assert_liveliness(&self) {
        self.handle.front.publisher_assert_liveliness(self.handle.handle);
    }

    pub(crate) fn gid(&self) -> [u8; 16] {
        let mut gid = sinew_gid { bytes: [0; 16] };
        self.handle.front.publisher_gid(self.handle.handle, &mut gid);
        gid.bytes
    }
}
