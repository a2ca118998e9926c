//! Messages that are a time.

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
