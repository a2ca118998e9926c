//! The messages of several bags in the order of time.

use crate::error::BagError;
use crate::message::BagMessage;
use crate::reader::Messages;

/// The messages of several bags, the earliest first. Of equal times, that of the earlier bag in the
/// list comes first.
///
/// An error comes before the messages behind it, as it has no time.
#[derive(Debug)]
pub(crate) struct Merged(Vec<Ahead>);

/// The messages of a bag, and the one that was read ahead.
#[derive(Debug)]
struct Ahead {
    messages: Messages,
    next: Option<Result<BagMessage, BagError>>,
}

impl Merged {
    pub(crate) fn new(all: impl IntoIterator<Item = Messages>) -> Self {
        let ahead = |mut messages: Messages| Ahead { next: messages.next(), messages };
        Self(all.into_iter().map(ahead).collect())
    }

    /// Goes to the first message at this time or later, as [`Messages::seek`] does.
    pub(crate) fn seek(&mut self, time: u64) {
        for Ahead { messages, next } in &mut self.0 {
            messages.seek(time);
            *next = messages.next();
        }
    }
}

impl Iterator for Merged {
    type Item = Result<BagMessage, BagError>;

    fn next(&mut self) -> Option<Self::Item> {
        let heads = self.0.iter_mut().filter_map(|ahead| {
            let time = ahead.next.as_ref()?.as_ref().map_or(0, |message| message.stamps.received);
            Some((time, ahead))
        });
        let (_, Ahead { messages, next }) = heads.min_by_key(|(time, _)| *time)?;
        std::mem::replace(next, messages.next())
    }
}
