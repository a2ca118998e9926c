//! A program's own types on ROS 2 topics.

use crate::cdr::{self, HEADER_SIZE, Structure};
use crate::error::DecodeError;
use crate::message::{Encoding, Message};
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Converts a program's own type to a ROS 2 message and back.
///
/// Implement it for a type that only names the pair, since `Custom` often comes from another crate.
/// Publishers and subscriptions have the message type [`Adapted`]. Inside a process, values are
/// passed on unchanged; they are converted only where a path needs the encoded form.
///
/// ```
/// use sinew_msg::{Adapted, Adapter, DecodeError, Message};
/// use std::time::Duration;
///
/// #[derive(Message)]
/// #[message(name = "builtin_interfaces/msg/Duration")]
/// struct RosDuration {
///     sec: i32,
///     nanosec: u32,
/// }
///
/// enum Durations {} // never made: it only names the pair
///
/// impl Adapter for Durations {
///     type Custom = Duration;
///     type Ros = RosDuration;
///
///     fn to_ros(duration: &Duration) -> RosDuration {
///         let sec = i32::try_from(duration.as_secs()).unwrap_or(i32::MAX);
///         RosDuration { sec, nanosec: duration.subsec_nanos() }
///     }
///
///     fn from_ros(ros: RosDuration) -> Result<Duration, &'static str> {
///         let sec = u64::try_from(ros.sec).map_err(|_| "it is negative")?;
///         Ok(Duration::new(sec, ros.nanosec))
///     }
/// }
///
/// let encoding = Adapted::<Durations>::ENCODING.unwrap();
/// let value = Adapted::<Durations>(Duration::from_millis(1500));
/// let mut encoded = vec![0; (encoding.size)(&value)];
/// (encoding.encode)(&value, &mut encoded);
/// assert_eq!((encoding.decode)(&encoded)?.0, Duration::from_millis(1500));
/// # Ok::<(), DecodeError>(())
/// ```
pub trait Adapter: 'static {
    /// The program's own type.
    type Custom: Send + Sync + 'static;
    /// The message type that other programs see.
    type Ros: Structure + Message;

    /// Converts a value to the message. Called twice for each encoding, since [`size`](Self::size)
    /// needs the message as well. Both messages must have encoded forms of the same length, or
    /// encoding, and so publishing, panics: this function may read the time into a number, for
    /// example, but not into a text.
    fn to_ros(value: &Self::Custom) -> Self::Ros;

    /// Converts a message to a value.
    ///
    /// # Errors
    /// A description of the problem, if no value corresponds to the message.
    fn from_ros(ros: Self::Ros) -> Result<Self::Custom, &'static str>;

    /// Returns the length of the value's encoded form in bytes. By default this converts the value;
    /// override it if the type can compute the length without a conversion.
    fn size(value: &Self::Custom) -> usize {
        HEADER_SIZE + cdr::Field::end(&Self::to_ros(value), 0)
    }

    /// Encodes the value into `encoded`, a buffer of exactly [`size`](Self::size) bytes. By default
    /// this converts the value. With [`loan::build`](crate::loan::build), large parts are copied
    /// only once.
    ///
    /// # Panics
    /// By default if the encoded form and the buffer differ in length: [`size`](Self::size) or
    /// [`to_ros`](Self::to_ros) gave another result before.
    fn encode(value: &Self::Custom, encoded: &mut [u8]) {
        cdr::encode(&Self::to_ros(value), encoded);
    }

    /// Decodes a value from `encoded`. By default a message is decoded and converted. With
    /// [`view`](crate::view::view), large parts are copied only once.
    ///
    /// # Errors
    /// [`DecodeError`] if the bytes do not encode a `Ros` message, or if
    /// [`from_ros`](Self::from_ros) refuses it.
    fn decode(encoded: &[u8]) -> Result<Self::Custom, DecodeError> {
        let refused = |problem| DecodeError::Invalid {
            type_name: Self::Ros::NAME,
            field: "(adapter)",
            offset: HEADER_SIZE,
            problem,
        };
        Self::from_ros(cdr::decode(encoded)?).map_err(refused)
    }
}

/// A value of a program's own type, as a message; see [`Adapter`].
pub struct Adapted<A: Adapter>(
    /// The value.
    pub A::Custom,
);

impl<A: Adapter> Message for Adapted<A> {
    const ENCODING: Option<&'static Encoding<Self>> = Some(&Encoding {
        name: A::Ros::NAME,
        hash: A::Ros::HASH,
        description: Some(A::Ros::DESCRIPTION),
        size: |value| A::size(&value.0),
        encode: |value, encoded| A::encode(&value.0, encoded),
        decode: |encoded| A::decode(encoded).map(Self),
        decode_into: |encoded, value| {
            value.0 = A::decode(encoded)?;
            Ok(())
        },
        plain: None,
        stamp: None,
    });
}

impl<A: Adapter> Deref for Adapted<A> {
    type Target = A::Custom;

    fn deref(&self) -> &A::Custom {
        &self.0
    }
}

impl<A: Adapter> DerefMut for Adapted<A> {
    fn deref_mut(&mut self) -> &mut A::Custom {
        &mut self.0
    }
}

impl<A: Adapter<Custom: Clone>> Clone for Adapted<A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<A: Adapter<Custom: Default>> Default for Adapted<A> {
    fn default() -> Self {
        Self(A::Custom::default())
    }
}

impl<A: Adapter<Custom: fmt::Debug>> fmt::Debug for Adapted<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Adapted").field(&self.0).finish()
    }
}
