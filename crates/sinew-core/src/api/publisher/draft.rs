//! Images that are made where they are published.

use super::Publisher;
use crate::message::block::RawMessage;
use sinew_msg::Message;
use sinew_msg::loan::{self, BuildError, Built};
use std::borrow::Borrow;
use std::fmt;

/// A message of which the image is made in place: the small parts are there, the sequences are to
/// be filled.
///
/// From [`Publisher::draft`]. If other processes listen, it lies in shared memory, where they will
/// read it; else in ordinary memory that the publisher uses again. [Published](Publisher::publish),
/// it is what all get: subscriptions of this process that take [views](crate::View) see it where it
/// lies, one value is decoded for those which take values. Dropped, it was never there.
///
/// `V` is the value as it was given, `T` or `&T`.
pub struct Draft<T: Built + Message, V: Borrow<T> = T> {
    message: RawMessage,
    value: V,
    lengths: T::Lengths,
}

impl<T: Built + Message, V: Borrow<T>> Draft<T, V> {
    /// The sequences, to be filled. They contain what was in the memory before, until they are
    /// written; what was written stays there.
    ///
    /// # Panics
    /// If [`Built`] is implemented by hand, and doesn't do the same every time.
    pub fn parts(&mut self) -> T::Parts<'_> {
        let image = self.message.image_mut().unwrap_or_default();
        #[expect(
            clippy::expect_used,
            reason = "it was built from these when it was made, and neither they nor the image change"
        )]
        loan::build(self.value.borrow(), &self.lengths, image).expect("it was built before")
    }

    /// The small parts.
    pub fn value(&self) -> &T {
        self.value.borrow()
    }

    pub(crate) fn erase(self) -> RawMessage {
        self.message
    }
}

impl<T: Built + Message, V: Borrow<T>> fmt::Debug for Draft<T, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.message.image().map_or(0, <[u8]>::len);
        write!(f, "Draft({length} bytes of {})", T::NAME)
    }
}

impl<T: Built + Message> Publisher<T> {
    /// A message whose image is made where it will be published, so that nothing large in it is
    /// copied: `value` has its small parts, and `lengths` says how many elements each sequence has
    /// that is then filled in place (what `value` has in these is not looked at).
    ///
    /// The value is given as `T`, or as `&T`: so one that is used again for every message is made,
    /// and its strings allocated, once. A stamp in it is set before: when the capture begins.
    ///
    /// For types that the generator made from definitions (`sinew-interfaces` has ROS 2's) and that
    /// have sequences of numbers or plain structs. Never blocks but for short locks; once warm,
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
    /// [`BuildError`] if a sequence is to be longer than its type allows, there is no memory, or a
    /// sequence can't be filled in place on this machine.
    pub fn draft<V: Borrow<T>>(&self, value: V, lengths: T::Lengths) -> Result<Draft<T, V>, BuildError> {
        T::check(&lengths)?;
        let length = loan::size(value.borrow(), &lengths);
        let no_memory = BuildError::NoMemory { type_name: T::NAME, length };
        let mut message = self.core().image_of(length).ok_or(no_memory)?;
        loan::build(value.borrow(), &lengths, message.image_mut().unwrap_or_default())?;
        Ok(Draft { message, value, lengths })
    }
}
