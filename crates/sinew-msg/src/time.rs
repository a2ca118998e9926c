//! Messages that represent a time, and messages that carry one.

use std::sync::Arc;

/// A message that is a point in time, such as `builtin_interfaces/Time`. Clock times convert to and
/// from it.
///
/// `sinew_interfaces` implements it, and so can any other stand-in for that message. Neither
/// `sinew_interfaces` nor the node library needs to depend on the other.
pub trait TimeMessage: Sized {
    /// Returns the time `nanoseconds` after the beginning of 1970, or of its clock, or the nearest
    /// time that the type can hold.
    fn of_nanoseconds(nanoseconds: i64) -> Self;

    /// Returns the nanoseconds since the beginning of 1970, or of its clock.
    fn in_nanoseconds(&self) -> i64;
}

/// A message with a time stamp and a frame, such as one with a `std_msgs/Header`.
///
/// `sinew-build` implements it for each message that has a field `header` of that type, and for the
/// header itself. Code that sorts by stamps (synchronisers, caches, tf) accepts any type that
/// implements it, and references to such types.
///
/// ```
/// use sinew_msg::Stamped;
///
/// struct Reading(i64); // a type of the program's own
/// impl Stamped for Reading {
///     fn stamp_nanoseconds(&self) -> i64 {
///         self.0
///     }
/// }
/// assert_eq!((Reading(7).stamp_nanoseconds(), Reading(7).frame_id()), (7, ""));
/// ```
pub trait Stamped {
    /// Returns the stamp, in nanoseconds since the beginning of 1970, or of its clock.
    fn stamp_nanoseconds(&self) -> i64;

    /// Returns the frame of the data; empty if the message names none.
    fn frame_id(&self) -> &str {
        ""
    }
}

macro_rules! as_what_they_refer_to {
    ($($reference:ty),*) => {$(
        impl<T: Stamped + ?Sized> Stamped for $reference {
            fn stamp_nanoseconds(&self) -> i64 {
                (**self).stamp_nanoseconds()
            }

            fn frame_id(&self) -> &str {
                (**self).frame_id()
            }
        }
    )*};
}

as_what_they_refer_to!(&T, Box<T>, Arc<T>);
