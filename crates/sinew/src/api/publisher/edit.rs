//! Messages that came, changed in place where that can be, and passed on.

use super::Publisher;
use crate::message::block::Erased;
use crate::message::work::Work;
use crate::message::{Sample, Unique};
use crate::sys::sync::Arc;
use crate::topic::publisher_core::Outlet;
use sinew_msg::loan::{self, BuildError, Built};
use sinew_msg::view::{self, Viewed};
use sinew_msg::{DecodeError, Message};
use std::fmt;

/// A message that came, its sequences to be changed, and to be [published](Publisher::publish)
/// again.
///
/// From [`Publisher::edit`]. It is the very message that came if that can be
/// ([`is_in_place`](Self::is_in_place)), else a copy. Dropped, it was never there.
pub struct Edit<T: Built + Message> {
    held: Held<T>,
    is_in_place: bool,
}

/// The message, to which there is no other reference.
enum Held<T: Built + Message> {
    Value(Unique<T>),
    /// [`edit`](loan::edit) has seen that it is one.
    Image(Erased),
}

impl<T: Built + Message> Edit<T> {
    /// The sequences, to be changed: those that a [`Draft`](crate::Draft) gives to be filled, with
    /// what came in them. All else in the message, and their lengths, stay.
    ///
    /// # Panics
    /// If [`Built`] or [`Viewed`] is implemented by hand, and doesn't do the same every time.
    pub fn parts(&mut self) -> T::Parts<'_> {
        match &mut self.held {
            Held::Value(value) => value.parts_of_value(),
            Held::Image(message) => {
                let parts = loan::edit::<T>(message.image_mut().unwrap_or_default());
                #[expect(
                    clippy::expect_used,
                    reason = "it was seen when it was made, and no other thread writes it"
                )]
                parts.expect("it was seen before")
            }
        }
    }

    /// What is in the message, as [`Sample::view`] shows it.
    ///
    /// # Errors
    /// None, unless [`Viewed`] is implemented by hand and doesn't do the same every time.
    pub fn view(&self) -> Result<T::View<'_>, DecodeError> {
        match &self.held {
            Held::Value(value) => Ok(Viewed::of(&**value)),
            Held::Image(message) => view::view::<T>(message.image().unwrap_or_default()),
        }
    }

    /// Whether nothing is copied: it is the memory in which the message came, and in which it will
    /// be read, as far as is known now. If not, the publisher has counted a copy, an encoding or a
    /// decoding.
    pub fn is_in_place(&self) -> bool {
        self.is_in_place
    }

    pub(crate) fn erase(self) -> Erased {
        match self.held {
            Held::Value(value) => value.erase(),
            Held::Image(message) => message,
        }
    }
}

impl<T: Built + Message> fmt::Debug for Edit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, place) = match (&self.held, self.is_in_place) {
            (Held::Value(_), true) => ("a value", "in place"),
            (Held::Value(_), false) => ("a value", "copied"),
            (Held::Image(_), true) => ("an image", "in place"),
            (Held::Image(_), false) => ("an image", "copied"),
        };
        write!(f, "Edit({what} of {}, {place})", T::NAME)
    }
}

impl<T: Built + Message> Publisher<T> {
    /// A message that came, to be changed and published by this publisher: in place where that can
    /// be, else a copy.
    ///
    /// It is changed where it lies if the caller has the only reference to it, if it lies in memory
    /// of this process that no other thread reads, and if those who listen to this publisher can
    /// read it there. That is so for a [draft](Publisher::draft), or a value, of a publisher in
    /// this process that only the caller's subscription takes. What came from another process,
    /// which others may read as well, is copied as bytes into the memory where this publisher's
    /// messages are read; [`statistics`](Publisher::statistics) count that, and
    /// [`Edit::is_in_place`] says so.
    ///
    /// Once an image in ordinary memory had to be copied since other processes listen here, the
    /// publisher that made it makes the next ones where they can read them, as long as they listen.
    /// So a camera, its filter in the same process and a viewer in another one share one memory,
    /// whichever of them knows of the others.
    ///
    /// The callback takes a [`Sample`]; then the same program is right wherever its parts run:
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::Sample;
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
    /// # let viewer = node.subscription::<Image>("negative").viewing().create()?;
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
    /// Never blocks but for short locks; once warm, allocates nothing.
    ///
    /// # Errors
    /// [`BuildError`] if there is no memory for a copy, or the message is an image of which there
    /// is no value: its writer has changed it against all rules, or it came from a machine of the
    /// other byte order and contains a string that is not UTF-8.
    pub fn edit(&self, message: impl Into<Sample<T>>) -> Result<Edit<T>, BuildError> {
        let came = message.into().erase();
        let outlet = self.outlet();
        let is_in_place = came.is_ownable() && outlet.publishes_where_it_lies(&came);
        let mut message = if is_in_place { came } else { copy(outlet, came)? };
        if !message.is_image() {
            return Ok(Edit { held: Held::Value(Unique::assume(message)), is_in_place });
        }
        match loan::edit::<T>(message.image_mut().unwrap_or_default()).map(drop) {
            Ok(()) => Ok(Edit { held: Held::Image(message), is_in_place }),
            // Its numbers have the other byte order.
            Err(BuildError::NotInPlace { .. }) => {
                let value = message.decoded(&outlet.pool)?;
                outlet.count(Work::DECODING);
                Ok(Edit { held: Held::Value(Unique::assume(value)), is_in_place: false })
            }
            Err(error) => Err(error),
        }
    }
}

/// An image of the message, to which there is no other reference, where the publisher's messages
/// are read.
#[cold]
fn copy(outlet: &Arc<Outlet>, message: Erased) -> Result<Erased, BuildError> {
    let length = message.image_length().unwrap_or(0);
    let type_name = message.table().name();
    let copy = outlet.image_of_message(&message).ok_or(BuildError::NoMemory { type_name, length })?;
    outlet.count(Work::encoding(message.is_image(), length));
    if message.is_ownable() {
        // It was only in the wrong place.
        let lends = Arc::downgrade(outlet);
        message.is_wanted_by(lends);
    }
    Ok(copy)
}
