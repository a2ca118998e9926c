//! Messages that are a time, and those that have one.

use std::sync::Arc;

/// A message that is a point in time, as `builtin_interfaces/Time` is: what a clock's time becomes,
/// and what becomes one.
///
/// Implemented by `sinew_interfaces` (and by whatever else stands for that message), so that
/// neither it nor the nodes' library needs the other.
pub trait TimeMessage: Sized {
    /// The time that many nanoseconds after the beginning of 1970, or of its clock; the nearest one
    /// that it can hold.
    fn of_nanoseconds(nanoseconds: i64) -> Self;

    /// Nanoseconds since then.
    fn in_nanoseconds(&self) -> i64;
}

/// A message that says when it was taken, and in which frame: one with a `std_msgs/Header`.
///
/// `sinew-build` implements it for each message that has a field `header` of that type, and for the
/// header itself. What sorts by stamps (synchronisers, caches, tf) takes any type that implements
/// it, and references to such types.
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
    /// The stamp, in nanoseconds since the beginning of 1970, or of its clock.
    fn stamp_nanoseconds(&self) -> i64;

    /// The frame that it is in; empty if it says none.
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
