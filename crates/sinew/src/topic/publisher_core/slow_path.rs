//! Publishing where that takes thought: a new list, filters, reserved places, copies, watched promises, images instead of values.

use super::remote::SinkState;
use super::{PublisherCore, PublisherState};
use crate::mailbox::deferred::Deferred;
use crate::message::backing::out_of_memory;
use crate::message::block::RawMessage;
use crate::message::work::CopyWork;
use crate::sys::clock::Time;
use crate::sys::sync::Ordering;
use crate::topic::copy_plan::Ownership;
use crate::topic::recipients::{Permits, Recipients, Unpublished};
use crate::topic::subscribers::{Subscribers, TypedReaders};

/// A message on its way.
struct MessageForms {
    /// As it was published.
    published: Option<RawMessage>,
    /// The value in it, if it is an image and somebody here takes values.
    value: Option<RawMessage>,
    /// Its image, if it is a value and somebody here takes another type.
    image: Option<RawMessage>,
    /// What that took, as far as it isn't counted yet.
    work: CopyWork,
}

impl MessageForms {
    /// What subscriptions of its type get.
    fn for_local(&self) -> Option<&RawMessage> {
        self.value.as_ref().or(self.published.as_ref())
    }

    /// What leaves the process.
    fn for_remote(&mut self) -> Option<&mut RawMessage> {
        self.image.as_mut().or(self.published.as_mut())
    }
}

/// What the subscriptions of another type get.
struct ConvertedDelivery<'a> {
    message: RawMessage,
    recipients: Recipients,
    permits: Permits<'a>,
    work: CopyWork,
}

/// What came of an attempt.
enum Attempt {
    Published,
    /// Somebody came or went.
    Again,
}

impl PublisherCore {
    #[cold]
    #[inline(never)]
    pub(super) fn publish_on_slow_path(
        &self,
        message: RawMessage,
        form: Ownership,
    ) -> Result<(), (RawMessage, Unpublished)> {
        let deadline = Time::steady() + self.qos.max_blocking_time;
        let mut message =
            MessageForms { published: Some(message), value: None, image: None, work: CopyWork::NONE };
        let mut recipients = Recipients::take();
        loop {
            let attempt = self.attempt(&mut message, form, &mut recipients, deadline);
            recipients.forget_copies();
            match (attempt, message.published.take()) {
                (Ok(Attempt::Published), _) => return Ok(()),
                (Ok(Attempt::Again), published) => message.published = published,
                (Err(reason), Some(published)) => return Err((published, reason)),
                (Err(_), None) => return Ok(()), // it is given away only when nothing can fail any more
            }
        }
    }

    fn attempt(
        &self,
        message: &mut MessageForms,
        form: Ownership,
        recipients: &mut Recipients,
        deadline: Time,
    ) -> Result<Attempt, Unpublished> {
        let retains = self.qos.is_transient_local();
        let (subscribers, generation, old) = {
            let mut state = self.state.lock();
            if let Some(reason) = self.refuses(&state) {
                return Err(reason);
            }
            let (subscribers, old) = self.fetch(&mut state);
            (subscribers, state.fetched, old)
        };
        drop(old);
        let leaves = self.leaves.load(Ordering::Relaxed); // checked again below
        self.make_forms(message, &subscribers)?;
        let Some(local) = message.for_local() else { return Ok(Attempt::Published) };
        // What is made of an image is theirs. Otherwise those who read it here get it before it is encoded; who owns it, after. One that
        // lies in shared memory is read by others if it leaves: then nobody here may own it.
        let is_apart = message.value.is_some() || message.image.is_some();
        let form = if message.value.is_some() { Ownership::Unique } else { form };
        let is_read_on = leaves && !is_apart && (!subscribers.nobody_shares() || local.keep().is_some());
        let form = if retains || is_read_on { Ownership::Shared } else { form };
        recipients.choose(&subscribers, Some(self.node_number), local);
        let permits = Permits::collect(&subscribers, recipients, (&self.qos, &self.session), deadline)?;
        let plan = recipients.plan(&subscribers, form);
        recipients.copy(&subscribers, plan, local, &self.pool);
        let source = message.image.as_ref().or(message.published.as_ref());
        let others = match source {
            Some(source) => self.convert(&subscribers.others, source, deadline)?,
            None => Vec::new(),
        };
        let taken_here = !recipients.is_empty() || others.iter().any(|other| !other.recipients.is_empty());
        let made = std::mem::take(&mut message.work);
        let form_of_all = message.published.as_ref().map_or(CopyWork::NONE, CopyWork::of_form);
        let Some(outside) = message.for_remote() else { return Ok(Attempt::Published) };
        let mut out = match self.open_sink(leaves, taken_here, outside, deadline)? {
            SinkState::Closed => None,
            SinkState::Open(out) => Some(out),
            SinkState::Changed => return Ok(Attempt::Again),
        };
        let copies = CopyWork::copies(plan.copies());
        let work = others.iter().fold(made + copies, |sum, other| sum + other.work);
        let mut state = self.state.lock();
        if let Some(reason) = self.refuses(&state) {
            return Err(reason);
        }
        // C2 again: what joined since must either be delivered to or find the message retained.
        let is_missed =
            || retains && self.session.generation() != generation && !self.is_newest(&subscribers);
        if state.leaves != out.is_some() || is_missed() {
            state.count(work); // made in vain, but made
            return Ok(Attempt::Again);
        }
        let bringing_out = out.as_ref().map_or(CopyWork::NONE, |out| out.work(outside));
        state.count(work + bringing_out + form_of_all);
        let is_early = form == Ownership::Unique || is_apart;
        let early = out.as_mut().filter(|_| is_early);
        let mut image = early.and_then(|out| out.encode(outside));
        let kept = (out.is_some() && !is_early).then(|| outside.another());
        let Some(local) = message.value.take().or_else(|| message.published.take()) else {
            return Ok(Attempt::Published);
        };
        Deferred::with(|deferred| {
            let PublisherState { sequence, retained, counters, .. } = &mut *state;
            let publication = self.next_publication(sequence, counters);
            deferred.dropped.extend(self.retain(retained, counters, &local, &publication));
            self.promised.published(&publication, deferred);
            recipients.deliver(local, &publication, &permits, deferred);
            permits.kept(); // before the deferred work, where the program's code may panic
            for ConvertedDelivery { message, mut recipients, permits, .. } in others {
                recipients.deliver(message, &publication, &permits, deferred);
                permits.kept();
            }
            drop(state);
            if let Some(mut out) = out {
                if let Some(kept) = kept {
                    image = out.encode(&kept);
                    deferred.dropped.push(kept);
                }
                if let Some(warning) = out.send(&publication, image, &self.topic) {
                    deferred.warn(&self.node, &self.topic, warning);
                }
            }
        });
        drop(subscribers); // the last of an old list, perhaps: outside the locks
        Ok(Attempt::Published)
    }

    /// Makes the value, or the image, that somebody here takes.
    fn make_forms(&self, message: &mut MessageForms, subscribers: &Subscribers) -> Result<(), Unpublished> {
        let MessageForms { published: Some(published), value, image, work } = message else { return Ok(()) };
        if published.is_image() {
            if !subscribers.take_images && value.is_none() {
                *value = Some(published.decoded(&self.pool).map_err(|_| Unpublished::Undecodable)?);
                *work = *work + CopyWork::DECODING;
            }
        } else if !subscribers.others.is_empty() && image.is_none() {
            let length = published.image_length().unwrap_or(0);
            *image = Some(self.image_of_message(published).unwrap_or_else(|| out_of_memory(length)));
            *work = *work + CopyWork::encoding(published.table().is_plain(), length);
        }
        Ok(())
    }

    /// What those get who take other types. Who can't read the message loses it.
    fn convert<'a>(
        &self,
        groups: &'a [TypedReaders],
        image: &RawMessage,
        deadline: Time,
    ) -> Result<Vec<ConvertedDelivery<'a>>, Unpublished> {
        let mut others = Vec::new();
        for TypedReaders { subscribers, reader } in groups {
            let (message, converting) = match reader.convert(image) {
                Ok(converted) => converted,
                Err(error) => {
                    subscribers
                        .subscriptions()
                        .iter()
                        .for_each(|subscription| subscription.cannot_decode(&error));
                    continue;
                }
            };
            let mut recipients = Recipients::take();
            recipients.choose(subscribers, Some(self.node_number), &message);
            let permits =
                Permits::collect(subscribers, &mut recipients, (&self.qos, &self.session), deadline)?;
            let plan = recipients.plan(subscribers, Ownership::Unique);
            recipients.copy(subscribers, plan, &message, &reader.values);
            let work = converting + CopyWork::copies(plan.copies());
            others.push(ConvertedDelivery { message, recipients, permits, work });
        }
        Ok(others)
    }
}
