//! Awaiting messages: futures and a stream over a subscription, for any runtime.

use super::erased::subscription as erased;
use super::subscription::Subscription;
use crate::mailbox::history::Entry;
use crate::mailbox::waiters::WaiterId;
use crate::message::erased::Message as ErasedMessage;
use crate::message::{MessageInfo, Sample, Shared, Unique};
use futures_core::Stream;
use sinew_msg::Message;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

impl<T: Message> Subscription<T> {
    /// Returns a future for the next message, with its [`MessageInfo`](crate::MessageInfo); it
    /// yields `None` once the [context is shut down](crate::Context::shutdown) and no message is
    /// left, or a clone of the subscription was [closed](Self::close).
    ///
    /// The future may be polled by any runtime, and moved between its tasks; no executor of this
    /// crate need spin. It may be dropped at any time (in a `select!`, by a timeout), and no
    /// message is lost. Several tasks may wait: each message goes to one of them and wakes one,
    /// first come, first served; on a subscription with a callback, it goes to a task or the
    /// callback. A woken future should be polled or dropped soon: no other is woken for the same
    /// message.
    ///
    /// Polling never blocks, and allocates nothing once warm. The publishing thread wakes the
    /// tasks; the library allocates nothing for that.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// # struct Number(u64); impl Message for Number {}
    /// # let context = Context::new()?;
    /// # let node = context.node("reader")?;
    /// # let publisher = node.publisher::<Number>("numbers").create()?;
    /// let numbers = node.subscription::<Number>("numbers").create()?;
    /// let sum = async {
    ///     let mut sum = 0;
    ///     while let Some((number, _)) = numbers.recv().await {
    ///         sum += number.0;
    ///     }
    ///     sum
    /// };
    /// # for n in 1..=3 { publisher.publish(Number(n))?; }
    /// # context.shutdown();
    /// # let mut sum = std::pin::pin!(sum);
    /// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert_eq!(sum.as_mut().poll(&mut task), std::task::Poll::Ready(6));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn recv(&self) -> Recv<'_, T> {
        Recv(RecvWait::new(self.erased()), PhantomData)
    }

    /// As [`recv`](Self::recv), but yields an owned message: copied only if the message is held
    /// elsewhere as well.
    pub fn recv_unique(&self) -> RecvUnique<'_, T>
    where
        T: Clone,
    {
        RecvUnique(RecvWait::new(self.erased()), PhantomData)
    }

    /// As [`recv`](Self::recv), but yields the message in place; see
    /// [`take_sample`](Self::take_sample).
    pub fn recv_sample(&self) -> RecvSample<'_, T> {
        RecvSample(RecvWait::new(self.erased()), PhantomData)
    }

    /// Returns the messages as a [`Stream`](futures_core::Stream), which ends where
    /// [`recv`](Self::recv) yields `None`.
    pub fn stream(&self) -> Messages<'_, T> {
        Messages(RecvWait::new(self.erased()), PhantomData)
    }
}

/// The wait of one future at a subscription. If dropped, it passes on an unused wake-up.
struct RecvWait<'a> {
    subscription: &'a erased::Subscription,
    waiter: WaiterId,
}

impl<'a> RecvWait<'a> {
    fn new(subscription: &'a erased::Subscription) -> Self {
        Self { subscription, waiter: WaiterId::default() }
    }

    /// `take` converts a message; `None` if it can't be converted.
    fn poll<R>(
        &mut self,
        task: &Context<'_>,
        take: impl Fn(&erased::Subscription, Entry) -> Option<R>,
    ) -> Poll<Option<R>> {
        loop {
            let Some(entry) = ready!(self.subscription.poll_take(&mut self.waiter, task.waker())) else {
                return Poll::Ready(None);
            };
            if let Some(message) = take(self.subscription, entry) {
                return Poll::Ready(Some(message));
            }
        }
    }
}

impl Drop for RecvWait<'_> {
    fn drop(&mut self) {
        self.subscription.stop_waiting(&mut self.waiter);
    }
}

/// A future for the next message; from [`Subscription::recv`].
///
/// Polled again after it was ready, it waits for the following message.
#[must_use = "a future does nothing until it is awaited"]
pub struct Recv<'a, T: Message>(RecvWait<'a>, PhantomData<fn() -> T>);

impl<T: Message> Future for Recv<'_, T> {
    type Output = Option<(Shared<T>, MessageInfo)>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll(task, Subscription::<T>::shared)
    }
}

/// A future for the next message, owned; from [`Subscription::recv_unique`].
///
/// Polled again after it was ready, it waits for the following message.
#[must_use = "a future does nothing until it is awaited"]
pub struct RecvUnique<'a, T: Message>(RecvWait<'a>, PhantomData<fn() -> T>);

impl<T: Message + Clone> Future for RecvUnique<'_, T> {
    type Output = Option<(Unique<T>, MessageInfo)>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll(task, Subscription::<T>::unique)
    }
}

/// A future for the next message, in place; from [`Subscription::recv_sample`].
///
/// Polled again after it was ready, it waits for the following message.
#[must_use = "a future does nothing until it is awaited"]
pub struct RecvSample<'a, T: Message>(RecvWait<'a>, PhantomData<fn() -> T>);

impl<T: Message> Future for RecvSample<'_, T> {
    type Output = Option<(Sample<T>, MessageInfo)>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll(task, |subscription, entry| Some(Subscription::<T>::sample(subscription, entry)))
    }
}

impl erased::Subscription {
    /// Returns a future for the next message, in the form in which [`take`](Self::take) returns it;
    /// otherwise as [`Subscription::recv`].
    pub fn recv(&self) -> RecvTaken<'_> {
        RecvTaken(RecvWait::new(self))
    }
}

/// A future for the next message; from
/// [`erased::Subscription::recv`](crate::erased::Subscription::recv).
///
/// Polled again after it was ready, it waits for the following message.
#[must_use = "a future does nothing until it is awaited"]
pub struct RecvTaken<'a>(RecvWait<'a>);

impl Future for RecvTaken<'_> {
    type Output = Option<(ErasedMessage, MessageInfo)>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll(task, erased::Subscription::taken)
    }
}

impl fmt::Debug for RecvTaken<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvTaken").field("topic", &self.0.subscription.topic()).finish_non_exhaustive()
    }
}

/// A subscription's messages, one after the other; from [`Subscription::stream`].
#[must_use = "a stream does nothing until it is polled"]
pub struct Messages<'a, T: Message>(RecvWait<'a>, PhantomData<fn() -> T>);

impl<T: Message> Stream for Messages<'_, T> {
    type Item = (Shared<T>, MessageInfo);

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll(task, Subscription::<T>::shared)
    }
}

/// Implements `Debug` with the topic of a future or a stream.
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
