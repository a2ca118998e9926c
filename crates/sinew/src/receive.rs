//! Awaiting messages: futures and a stream over a subscription, for any runtime.

use crate::delivery::history::Entry;
use crate::delivery::listening::Ticket;
use crate::message::{MessageInfo, Sample, Shared, Unique};
use crate::subscription::Subscription;
use futures_core::Stream;
use sinew_msg::Message;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The wait of one future at a subscription. Dropped, it passes on a wake that it hasn't used.
pub(crate) struct Wait<'a, T: Message> {
    subscription: &'a Subscription<T>,
    ticket: Ticket,
}

impl<'a, T: Message> Wait<'a, T> {
    pub(crate) fn new(subscription: &'a Subscription<T>) -> Self {
        Self { subscription, ticket: Ticket::default() }
    }

    /// `take`: what becomes of a message that came; `None` if nothing can.
    fn poll<R>(
        &mut self,
        task: &Context<'_>,
        take: impl Fn(&Subscription<T>, Entry) -> Option<R>,
    ) -> Poll<Option<R>> {
        loop {
            let Some(entry) = ready!(self.subscription.poll_take(&mut self.ticket, task.waker())) else {
                return Poll::Ready(None);
            };
            if let Some(message) = take(self.subscription, entry) {
                return Poll::Ready(Some(message));
            }
        }
    }
}

impl<T: Message> Drop for Wait<'_, T> {
    fn drop(&mut self) {
        self.subscription.stop_waiting(&mut self.ticket);
    }
}

/// The next message; from [`Subscription::recv`].
///
/// Polled again when it was ready, it waits for the message after.
#[must_use = "a future does nothing until it is awaited"]
pub struct Recv<'a, T: Message>(pub(crate) Wait<'a, T>);

impl<T: Message> Future for Recv<'_, T> {
    type Output = Option<(Shared<T>, MessageInfo)>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll(task, Subscription::shared)
    }
}

/// The next message, for its reader alone; from [`Subscription::recv_unique`].
///
/// Polled again when it was ready, it waits for the message after.
#[must_use = "a future does nothing until it is awaited"]
pub struct RecvUnique<'a, T: Message>(pub(crate) Wait<'a, T>);

impl<T: Message + Clone> Future for RecvUnique<'_, T> {
    type Output = Option<(Unique<T>, MessageInfo)>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll(task, Subscription::unique)
    }
}

/// The next message, as it lies; from [`Subscription::recv_sample`].
///
/// Polled again when it was ready, it waits for the message after.
#[must_use = "a future does nothing until it is awaited"]
pub struct RecvSample<'a, T: Message>(pub(crate) Wait<'a, T>);

impl<T: Message> Future for RecvSample<'_, T> {
    type Output = Option<(Sample<T>, MessageInfo)>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll(task, |subscription, entry| Some(subscription.sample(entry)))
    }
}

/// A subscription's messages, one after the other; from [`Subscription::stream`].
#[must_use = "a stream does nothing until it is polled"]
pub struct Messages<'a, T: Message>(pub(crate) Wait<'a, T>);

impl<T: Message> Stream for Messages<'_, T> {
    type Item = (Shared<T>, MessageInfo);

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll(task, Subscription::shared)
    }
}

/// Whose messages a future or a stream waits for.
macro_rules! debug_with_topic {
    ($($name:ident),*) => {$(
        impl<T: Message> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let topic = self.0.subscription.topic();
                f.debug_struct(stringify!($name)).field("topic", &topic).finish_non_exhaustive()
            }
        }
    )*};
}
debug_with_topic!(Recv, RecvUnique, RecvSample, Messages);
