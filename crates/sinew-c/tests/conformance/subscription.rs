//! Subscriptions.

use crate::callback::{self, ContextOf, EventCallback, Notifying, Passing, Receiving, SubscriptionCallback};
use crate::event::{
    self, IncompatibleQos, IncompatibleType, LivelinessChanged, Matched, MessageLost, RequestedDeadlineMissed,
};
use crate::failure::{Error, Result};
use crate::library::{Functions, SubscriptionOptions};
use crate::message::{Message, MessageInfo, Shared, Unique, decoded, kind};
use crate::node::{Owned, Place, Placed, c_text};
use crate::publisher::qos_in_c;
use futures_core::Stream;
use real::QoS;
use real::msg::BufferType;
use sinew_c::message_info::sinew_gid;
use sinew_c::subscription::sinew_subscription_statistics;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};

pub(crate) struct SubscriptionBuilder<T, G> {
    group: G,
    topic: String,
    qos: QoS,
    owned: bool,
    ignore_own_publications: bool,
    passes: Option<Box<Passing>>,
    handler: Option<(i32, Box<Notifying>)>,
    of: PhantomData<fn(T)>,
}

macro_rules! events {
    ($($name:ident: $event:ty,)*) => {
        $(pub(crate) fn $name<Form>(self, callback: impl EventCallback<$event, G, Form>) -> Self {
            assert!(self.handler.is_none(), "the front ends take one handler");
            Self { handler: Some(event::handler(callback)), ..self }
        })*
    };
}

impl<T: Message, G: Placed> SubscriptionBuilder<T, G> {
    pub(crate) fn new(group: G, topic: &str) -> Self {
        Self {
            group,
            topic: topic.to_owned(),
            qos: QoS::new(),
            owned: false,
            ignore_own_publications: false,
            passes: None,
            handler: None,
            of: PhantomData,
        }
    }

    pub(crate) fn qos(self, qos: QoS) -> Self {
        Self { qos, ..self }
    }

    events! {
        on_matched: Matched,
        on_incompatible_qos: IncompatibleQos,
        on_incompatible_type: IncompatibleType,
        on_deadline_missed: RequestedDeadlineMissed,
        on_liveliness_changed: LivelinessChanged,
        on_message_lost: MessageLost,
    }

    pub(crate) fn filter(self, passes: impl Fn(&T) -> bool + Send + Sync + 'static) -> Self {
        Self { passes: Some(Box::new(move |bytes| passes(&decoded(bytes)))), ..self }
    }

    pub(crate) fn ignore_own_publications(self) -> Self {
        Self { ignore_own_publications: true, ..self }
    }

    pub(crate) fn buffer(self, kind: BufferType) -> Self {
        Self { owned: kind != BufferType::Shared, ..self }
    }

    pub(crate) fn create(self) -> Result<Subscription<T>> {
        self.make(None)
    }

    pub(crate) fn callback<Form, F: SubscriptionCallback<T, G, Form>>(
        self,
        callback: F,
    ) -> Result<Subscription<T>> {
        let closure = callback.erased(&self.group);
        Self { owned: self.owned || F::OWNS, ..self }.make(Some(closure))
    }

    fn make(self, closure: Option<Box<Receiving>>) -> Result<Subscription<T>> {
        let (place, topic, qos) = (self.group.place().clone(), c_text(&self.topic), qos_in_c(&self.qos));
        let front = place.front();
        let options = SubscriptionOptions {
            kind: kind::<T>(),
            qos: &raw const qos,
            owned: self.owned,
            ignore_own_publications: self.ignore_own_publications,
            handler: callback::handler(front, self.handler),
            passes: self.passes.is_some().then_some(callback::passes),
            passes_context: self.passes.map_or(ContextOf::NONE, |passes| ContextOf::of(front, passes)),
            callback: closure.is_some().then_some(callback::receive),
            callback_context: closure.map_or(ContextOf::NONE, |closure| ContextOf::of(front, closure)),
        };
        let handle = Owned::make(front, Functions::subscription_free, |subscription| {
            front.subscription_new(place.node(), place.group(), topic.as_ptr(), &options, subscription)
        })?;
        Ok(Subscription { handle, place, of: PhantomData })
    }
}

pub(crate) struct Subscription<T> {
    pub(crate) handle: Arc<Owned>,
    /// As in Rust, an entity keeps its group.
    place: Place,
    of: PhantomData<fn(T)>,
}

impl<T: Message> Subscription<T> {
    pub(crate) fn take(&self) -> Option<(Shared<T>, MessageInfo)> {
        let front = self.handle.front;
        let (mut gid, mut taken) = (sinew_gid { bytes: [0; 16] }, false);
        let (message, status) = callback::handed_over(front, |receive, context| {
            front.subscription_take(self.handle.handle, receive, context, &mut gid, &mut taken)
        });
        Error::check(front, status).expect("it can be taken");
        let info = MessageInfo { publisher: gid.bytes };
        taken.then(|| (Unique::new(message.expect("it was handed over")), info))
    }

    pub(crate) fn take_unique(&self) -> Option<(Unique<T>, MessageInfo)> {
        self.take()
    }

    pub(crate) fn set_listener(&self, listener: impl Fn(u64) + Send + Sync + 'static) {
        let front = self.handle.front;
        let listener: Box<callback::Listening> = Box::new(listener);
        front.subscription_set_listener(self.handle.handle, callback::listen, ContextOf::of(front, listener));
    }

    pub(crate) fn close(self) {
        self.handle.front.subscription_close(self.handle.handle);
    }

    pub(crate) fn publisher_count(&self) -> usize {
        self.handle.front.subscription_publisher_count(self.handle.handle)
    }

    pub(crate) fn statistics(&self) -> sinew_subscription_statistics {
        // SAFETY: numbers.
        let mut statistics: sinew_subscription_statistics = unsafe { std::mem::zeroed() };
        statistics.size = size_of::<sinew_subscription_statistics>();
        self.handle.front.subscription_statistics(self.handle.handle, &mut statistics);
        statistics
    }

    /// As a program of C does it: with a listener that wakes it.
    fn poll(&self, context: &task::Context<'_>) -> Poll<Option<(Shared<T>, MessageInfo)>> {
        let waker = context.waker().clone();
        self.set_listener(move |_| waker.wake_by_ref());
        match self.take() {
            None if self.place.node.context.is_shutdown() => Poll::Ready(None),
            None => Poll::Pending,
            taken => Poll::Ready(taken),
        }
    }

    pub(crate) fn recv(&self) -> impl Future<Output = Option<(Shared<T>, MessageInfo)>> {
        std::future::poll_fn(|context| self.poll(context))
    }

    pub(crate) fn stream(&self) -> Messages<'_, T> {
        Messages(self)
    }
}

pub(crate) struct Messages<'a, T>(&'a Subscription<T>);

impl<T: Message> Stream for Messages<'_, T> {
    type Item = (Shared<T>, MessageInfo);

    fn poll_next(self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll(context)
    }
}
