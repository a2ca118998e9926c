//! Received messages that are changed, in place if possible, and passed on.

use super::Publisher;
use crate::message::block::RawMessage;
use crate::message::work::CopyWork;
use crate::message::{Sample, Unique};
use crate::sys::sync::Arc;
use crate::topic::publisher_core::PublisherCore;
use sinew_msg::loan::{self, BuildError, Built};
use sinew_msg::view::{self, Viewed};
use sinew_msg::{DecodeError, Message};
use std::fmt;

/// A received message with sequences that can be changed, to be [published](Publisher::publish)
/// again.
///
/// From [`Publisher::edit`]. It is the received message itself if possible
/// ([`is_in_place`](Self::is_in_place)), else a copy. Dropping it publishes nothing.
pub struct Edit<T: Built + Message> {
    held: EditedMessage<T>,
    is_in_place: bool,
}

/// The message, with no other reference to it.
enum EditedMessage<T: Built + Message> {
    Value(Unique<T>),
    /// [`edit`](loan::edit) has checked that it is one.
    Encoded(RawMessage),
}

impl<T: Built + Message> Edit<T> {
    /// Returns the sequences, to be changed: the same that a [`Draft`](crate::msg::Draft) offers to
    /// fill, with their received content. Everything else in the message, and their lengths, stay.
    ///
    /// # Panics
    /// If [`Built`] or [`Viewed`] is implemented by hand, and isn't deterministic.
    pub fn parts(&mut self) -> T::Parts<'_> {
        match &mut self.held {
            EditedMessage::Value(value) => value.parts_of_value(),
            EditedMessage::Encoded(message) => {
                let parts = loan::edit::<T>(message.encoded_mut().unwrap_or_default());
                #[expect(
                    clippy::expect_used,
                    reason = "it was seen when it was made, and no other thread writes it"
                )]
                parts.expect("it was seen before")
            }
        }
    }

    /// Returns the content of the message, as [`Sample::view`] does.
    ///
    /// # Errors
    /// None, unless [`Viewed`] is implemented by hand and isn't deterministic.
    pub fn view(&self) -> Result<T::View<'_>, DecodeError> {
        match &self.held {
            EditedMessage::Value(value) => Ok(Viewed::of(&**value)),
            EditedMessage::Encoded(message) => view::view::<T>(message.encoded().unwrap_or_default()),
        }
    }

    /// Returns `true` if nothing is copied: it is the memory in which the message was received, and
    /// in which it will be read, as far as is known now. If not, the publisher has counted a copy,
    /// an encoding or a decoding.
    pub fn is_in_place(&self) -> bool {
        self.is_in_place
    }

    pub(crate) fn erase(self) -> RawMessage {
        match self.held {
            EditedMessage::Value(value) => value.erase(),
            EditedMessage::Encoded(message) => message,
        }
    }
}

impl<T: Built + Message> fmt::Debug for Edit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, place) = match (&self.held, self.is_in_place) {
            (EditedMessage::Value(_), true) => ("a value", "in place"),
            (EditedMessage::Value(_), false) => ("a value", "copied"),
            (EditedMessage::Encoded(_), true) => ("encoded", "in place"),
            (EditedMessage::Encoded(_), false) => ("encoded", "copied"),
        };
        write!(f, "Edit({what} of {}, {place})", T::NAME)
    }
}

impl<T: Built + Message> Publisher<T> {
    /// Returns a received message, to be changed and published by this publisher: in place if
    /// possible, else as a copy.
    ///
    /// It is changed in place if the caller has the only reference to it, if it lies in memory of
    /// this process that no other thread reads, and if the subscriptions of this publisher can read
    /// it there. That holds for a [draft](Publisher::draft), or a value, of a publisher in this
    /// process that only the caller's subscription takes. A message from another process, which
    /// others may read as well, is copied as bytes into the memory where this publisher's messages
    /// are read; [`statistics`](Publisher::statistics) count that copy, and [`Edit::is_in_place`]
    /// returns `false`.
    ///
    /// Once an encoded message in ordinary memory had to be copied because other processes listen
    /// here, the publisher that made it makes the next ones where they can read them, as long as
    /// they listen. So a camera, its filter in the same process and a viewer in another one share
    /// one memory, even if they don't know of each other.
    ///
    /// The callback takes a [`Sample`]; so the same program works wherever its parts run:
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::msg::Sample;
    /// use sinew_interfaces::sensor_msgs::msg::{Image, ImageLengths};
    ///
    /// let context = Context::new()?;
    /// let node = context.node("filter")?;
    /// let negatives = node.publisher::<Image>("negative").create()?;
    /// let counts = negatives.clone();
    /// let _filter = node.subscription("image").callback(move |image: Sample<Image>| -> sinew::Result<()> {
    ///     let mut image = negatives.edit(image)?;
    ///     image.parts().data.iter_mut().for_each(|pixel| *pixel = !*pixel);
    ///     Ok(negatives.publish(image)?)
    /// })?;
    /// # let images = node.publisher::<Image>("image").create()?;
    /// # let viewer = node.subscription::<Image>("negative").read_in_place().create()?;
    /// # let mut image = images.draft(Image::default(), ImageLengths { data: 1000 })?;
    /// # image.parts().data.fill(1);
    /// # images.publish(image)?;
    /// # let executor = Executor::single();
    /// # executor.add(&context)?;
    /// # executor.spin_some()?;
    /// # assert_eq!(viewer.take_sample().unwrap().0.view()?.data[0], 254);
    /// assert_eq!(counts.statistics().copies, 0); // all in one process
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Never blocks except for short locks; once warm, allocates nothing.
    ///
    /// # Errors
    /// [`BuildError`] if there is no memory for a copy, or the message is in an encoded form
    /// without a valid value: its writer has changed it against all rules, or it came from a
    /// machine of the other byte order and contains a string that is not UTF-8.
    pub fn edit(&self, message: impl Into<Sample<T>>) -> Result<Edit<T>, BuildError> {
        let came = message.into().erase();
        let core = self.core();
        let is_in_place = came.is_ownable() && core.publishes_where_it_lies(&came);
        let mut message = if is_in_place { came } else { copy(core, came)? };
        if !message.is_encoded() {
            return Ok(Edit { held: EditedMessage::Value(Unique::assume(message)), is_in_place });
        }
        match loan::edit::<T>(message.encoded_mut().unwrap_or_default()).map(drop) {
            Ok(()) => Ok(Edit { held: EditedMessage::Encoded(message), is_in_place }),
            // Its numbers have the other byte order.
            Err(BuildError::NotInPlace { .. }) => {
                let value = message.decoded(&core.pool)?;
                core.count(CopyWork::DECODING);
                Ok(Edit { held: EditedMessage::Value(Unique::assume(value)), is_in_place: false })
            }
            Err(error) => Err(error),
        }
    }
}

/// Makes an encoded form of the message, with no other reference to it, in the memory where the
/// publisher's messages are read.
#[cold]
fn copy(core: &Arc<PublisherCore>, message: RawMessage) -> Result<RawMessage, BuildError> {
    let length = message.encoded_length().unwrap_or(0);
    let type_name = message.table().name();
    let copy = core.encoded_of_message(&message).ok_or(BuildError::NoMemory { type_name, length })?;
    core.count(CopyWork::encoding(message.is_encoded(), length));
    if message.is_ownable() {
        // Only its place was wrong: its publisher makes the next ones in the right one.
        let lends = Arc::downgrade(core);
        message.is_wanted_by(lends);
    }
    Ok(copy)
}
