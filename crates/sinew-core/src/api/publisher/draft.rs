//! Messages that are built in their encoded form, where they are published.

use super::Publisher;
use crate::message::block::RawMessage;
use sinew_msg::Message;
use sinew_msg::loan::{self, BuildError, Built};
use std::borrow::Borrow;
use std::fmt;

/// A message that is built in its encoded form, in place: its small parts are set, its sequences
/// are to be filled.
///
/// From [`Publisher::draft`]. If other processes have a matching subscription, it lies in shared
/// memory, where they will read it; otherwise in ordinary memory that the publisher reuses. After
/// [`publish`](Publisher::publish), subscriptions of this process that take [views](crate::View)
/// see it in place, and one value is decoded for subscriptions that take values. Dropping it
/// publishes nothing.
///
/// `V` is the type of the given value: `T` or `&T`.
pub struct Draft<T: Built + Message, V: Borrow<T> = T> {
    message: RawMessage,
    value: V,
    lengths: T::Lengths,
}

impl<T: Built + Message, V: Borrow<T>> Draft<T, V> {
    /// Returns the sequences, to be filled. They contain old content until they are written;
    /// written elements stay.
    ///
    /// # Panics
    /// If [`Built`] is implemented by hand, and isn't deterministic.
    pub fn parts(&mut self) -> T::Parts<'_> {
        let encoded = self.message.encoded_mut().unwrap_or_default();
        #[expect(
            clippy::expect_used,
            reason = "it was built from these when it was made, and neither they nor the encoded form change"
        )]
        loan::build(self.value.borrow(), &self.lengths, encoded).expect("it was built before")
    }

    /// Returns the small parts.
    pub fn value(&self) -> &T {
        self.value.borrow()
    }

    pub(crate) fn erase(self) -> RawMessage {
        self.message
    }
}

impl<T: Built + Message, V: Borrow<T>> fmt::Debug for Draft<T, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.message.encoded().map_or(0, <[u8]>::len);
        write!(f, "Draft({length} bytes of {})", T::NAME)
    }
}

impl<T: Built + Message> Publisher<T> {
    /// Returns a message in its encoded form in the memory where it will be published, so that
    /// nothing large in it is copied: `value` has its small parts, and `lengths` the number of
    /// elements of each sequence that is then filled in place (these sequences of `value` are
    /// ignored).
    ///
    /// The value is given as `T` or `&T`: a value that is reused for every message is made, and its
    /// strings allocated, once. Set a stamp in it first, when the capture begins.
    ///
    /// For types that the generator made from definitions (`sinew-interfaces` has ROS 2's) and that
    /// have sequences of numbers or plain structs. Never blocks except for short locks; once warm,
    /// allocates nothing.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew_interfaces::sensor_msgs::msg::{Image, ImageLengths};
    ///
    /// let context = Context::new()?;
    /// let images = context.node("camera")?.publisher::<Image>("image").create()?;
    /// let mut small = Image { width: 640, height: 480, encoding: "mono8".into(), step: 640, ..Image::default() };
    /// small.header.stamp.sec = 7; // now, in fact
    /// let mut frame = images.draft(&small, ImageLengths { data: 640 * 480 })?;
    /// frame.parts().data.fill(7); // e.g. by the camera's driver
    /// images.publish(frame)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError`] if a sequence would be longer than its type allows, there is no memory, or a
    /// sequence can't be filled in place on this machine.
    pub fn draft<V: Borrow<T>>(&self, value: V, lengths: T::Lengths) -> Result<Draft<T, V>, BuildError> {
        T::check(&lengths)?;
        let length = loan::size(value.borrow(), &lengths);
        let no_memory = BuildError::NoMemory { type_name: T::NAME, length };
        let mut message = self.core().encoded_of(length).ok_or(no_memory)?;
        loan::build(value.borrow(), &lengths, message.encoded_mut().unwrap_or_default())?;
        Ok(Draft { message, value, lengths })
    }
}
