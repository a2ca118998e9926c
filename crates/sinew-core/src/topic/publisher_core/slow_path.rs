//! The slow path of publishing: a new list, filters, reserved places, copies, watched promises,
//! encoded messages.

use super::sinks::{Beyond, Sinks};
use super::{Delivery, Fanout, PublisherCore};
use crate::mailbox::deferred::Deferred;
use crate::message::backing::out_of_memory;
use crate::message::block::RawMessage;
use crate::message::info::Publication;
use crate::message::work::CopyWork;
use crate::sys::clock::Time;
use crate::topic::copy_plan::Ownership;
use crate::topic::recipients::{Recipients, Selection, Unpublished};
use crate::topic::session::Session;
use crate::topic::strategy::{Form, Strategy};
use crate::topic::subscribers::{Subscribers, TypedReaders};
use crate::topic::subscription_core::SubscriptionCore;
use crate::topic::subscription_core::permits::NoPermit;

/// The forms of a message being published.
struct MessageForms {
    /// The message as it was published.
    published: Option<RawMessage>,
    /// Its value, if it is encoded and a subscription here takes values.
    value: Option<RawMessage>,
    /// Its encoded form, if it is a value and a subscription here takes another type.
    encoded: Option<RawMessage>,
    /// The work of making these forms that isn't counted yet.
    work: CopyWork,
}

impl MessageForms {
    /// Returns the form that subscriptions with the publisher's type get.
    fn for_local(&self) -> Option<&RawMessage> {
        self.value.as_ref().or(self.published.as_ref())
    }

    /// Returns the form that leaves the process.
    fn for_remote(&mut self) -> Option<&mut RawMessage> {
        self.encoded.as_mut().or(self.published.as_mut())
    }
}

/// The result of an attempt.
enum Attempt {
    Published,
    /// A subscription was added or removed.
    Again,
}

impl PublisherCore {
    #[cold]
    #[inline(never)]
    pub(super) fn publish_with_care(
        &self,
        message: RawMessage,
        form: Form,
    ) -> Result<(), (RawMessage, Unpublished)> {
        let deadline = Time::steady() + self.max_blocking_time();
        let mut message =
            MessageForms { published: Some(message), value: None, encoded: None, work: CopyWork::NONE };
        loop {
            let attempt = self.attempt(&mut message, form.ownership(), deadline);
            match (attempt, message.published.take()) {
                (Ok(Attempt::Published), _) => return Ok(()),
                (Ok(Attempt::Again), published) => message.published = published,
                (Err(reason), Some(published)) => return Err((published, reason)),
                (Err(_), None) => return Ok(()), // given away only when nothing can fail any more
            }
        }
    }

    fn attempt(
        &self,
        message: &mut MessageForms,
        ownership: Ownership,
        deadline: Time,
    ) -> Result<Attempt, Unpublished> {
        let retains = self.qos.is_transient_local();
        let (subscribers, generation, old) = {
            let mut state = self.state.lock();
            if let Some(reason) = self.refuses(&state) {
                return Err(reason);
            }
            let (subscribers, old) = self.fetch(&mut state);
            (subscribers, state.fanout.generation, old)
        };
        drop(old);
        let is_remote = self.is_remote(); // checked again below
        self.make_forms(message, &subscribers)?;
        let Some(local) = message.for_local() else { return Ok(Attempt::Published) };
        // A value decoded from bytes belongs to the subscriptions here. Otherwise, subscriptions
        // here that read the message get it before it is encoded, and a subscription that owns it
        // gets it afterwards. A message in shared memory that leaves the process is read by others:
        // then no subscription here may own it.
        let is_apart = message.value.is_some() || message.encoded.is_some();
        let ownership = if message.value.is_some() { Ownership::Unique } else { ownership };
        let is_read_on = is_remote && !is_apart && (subscribers.shares || local.keep().is_some());
        let ownership = if retains || is_read_on { Ownership::Shared } else { ownership };
        let mut recipients = Recipients::of(&subscribers);
        let selection = Selection { group: 0, ownership, node: Some(self.node_number), pool: &self.pool };
        let reserve = |subscription: &SubscriptionCore| self.reserve_at(subscription, deadline);
        let copies = recipients.select(&selection, local, reserve)?;
        if let Some(source) = message.encoded.as_ref().or(message.published.as_ref()) {
            message.work =
                message.work + self.convert(&mut recipients, &subscribers.others, source, deadline)?;
        }
        let work = std::mem::take(&mut message.work) + CopyWork::copies(copies);
        let form_of_all = message.published.as_ref().map_or(CopyWork::NONE, CopyWork::of_form);
        let Some(outside) = message.for_remote() else { return Ok(Attempt::Published) };
        let mut sinks = Sinks::none();
        if is_remote {
            match self.prepare_sinks(!recipients.is_empty(), outside, deadline)? {
                Some(prepared) => sinks = prepared,
                None => return Ok(Attempt::Again),
            }
        }
        let mut state = self.state.lock();
        if let Some(reason) = self.refuses(&state) {
            return Err(reason);
        }
        // C2 again: a subscription that joined since must either get the message or find it
        // retained.
        let is_missed =
            || retains && self.session.generation() != generation && !self.is_newest(&subscribers);
        if self.is_remote() != sinks.is_open() || is_missed() {
            state.count(work); // this work was in vain, but it counts
            return Ok(Attempt::Again);
        }
        state.count(work + sinks.work() + form_of_all);
        // A message that is given away is encoded first.
        if ownership == Ownership::Unique && !is_apart {
            sinks.encode(outside);
        }
        let beyond = match &mut message.encoded {
            _ if !sinks.is_open() => None,
            Some(_) => message.encoded.take(),
            None if message.value.is_some() => message.published.take(),
            None if ownership == Ownership::Shared => message.published.as_ref().map(RawMessage::another),
            None => None,
        };
        let local = message.value.take().or_else(|| message.published.take());
        // Every place is reserved: nothing comes back.
        let _ = self.commit(state, (local, beyond), sinks, &mut recipients);
        Ok(Attempt::Published)
    }

    /// Waits for a place at a subscription that may block this publisher. Returns whether there is
    /// one to keep.
    fn reserve_at(&self, subscription: &SubscriptionCore, deadline: Time) -> Result<bool, NoPermit> {
        if !self.qos.is_blocking() || !subscription.wanted.qos.is_blocking() {
            return Ok(false);
        }
        let Session { wait_graph, ended, .. } = &*self.session;
        subscription.reserve(deadline.nanoseconds(), wait_graph, ended).map(|()| true)
    }

    /// Makes the value, or the encoded form, that a subscription here takes.
    fn make_forms(&self, message: &mut MessageForms, subscribers: &Subscribers) -> Result<(), Unpublished> {
        let MessageForms { published: Some(published), value, encoded, work } = message else {
            return Ok(());
        };
        if published.is_encoded() {
            if subscribers.strategy.has(Strategy::VALUES) && value.is_none() {
                *value = Some(published.decoded(&self.pool).map_err(|_| Unpublished::Undecodable)?);
                *work = *work + CopyWork::DECODING;
            }
        } else if !subscribers.others.is_empty() && encoded.is_none() {
            let length = published.encoded_length().unwrap_or(0);
            *encoded = Some(self.encoded_of_message(published).unwrap_or_else(|| out_of_memory(length)));
            *work = *work + CopyWork::encoding(published.table().is_plain(), length);
        }
        Ok(())
    }

    /// Converts the message for subscriptions of other types; returns the results and the work. A
    /// subscription that can't read the message loses it.
    fn convert(
        &self,
        recipients: &mut Recipients<'_>,
        groups: &[TypedReaders],
        encoded: &RawMessage,
        deadline: Time,
    ) -> Result<CopyWork, Unpublished> {
        let mut work = CopyWork::NONE;
        for (group, TypedReaders { subscribers, reader }) in (1..).zip(groups) {
            let (message, converting) = match reader.convert(encoded) {
                Ok(converted) => converted,
                Err(error) => {
                    let subscriptions = subscribers.subscriptions().iter();
                    subscriptions.for_each(|subscription| subscription.cannot_decode(&error));
                    continue;
                }
            };
            let (ownership, node) = (Ownership::Unique, Some(self.node_number));
            let selection = Selection { group, ownership, node, pool: &reader.values };
            let reserve = |subscription: &SubscriptionCore| self.reserve_at(subscription, deadline);
            let copies = recipients.select(&selection, &message, reserve)?;
            recipients.give(group, message);
            work = work + converting + CopyWork::copies(copies);
        }
        Ok(work)
    }
}

impl Delivery for &mut Recipients<'_> {
    fn push(
        self,
        _fanout: &Fanout,
        message: RawMessage,
        publication: &Publication,
        deferred: &mut Deferred,
    ) -> Result<Option<RawMessage>, RawMessage> {
        Ok(self.deliver(message, publication, deferred))
    }
}
