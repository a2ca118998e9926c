//! Waiting messages by topic: tuples of two to nine queues.

use sinew::msg::Stamped;
use std::collections::VecDeque;

/// The messages of one topic with their stamps, in order of arrival.
pub(crate) type Queue<M> = VecDeque<(i64, M)>;

/// A set: a tuple of two to nine messages with stamps.
pub trait MessageSet: sealed::Set {}

/// The topic with this number in a set, from 0.
pub trait Topic<const NUMBER: usize>: MessageSet {
    /// The type of its messages.
    type Message: Stamped;

    #[doc(hidden)]
    fn queue(queues: &mut Self::Queues) -> &mut VecDeque<(i64, Self::Message)>;
}

pub(crate) mod sealed {
    pub trait Set: Sized {
        #[doc(hidden)]
        type Queues: Default + Send;
        #[doc(hidden)]
        const TOPICS: usize;

        /// Returns the number of messages of each topic.
        #[doc(hidden)]
        fn lengths(queues: &Self::Queues) -> Vec<usize>;

        /// Takes the first message of each topic with its stamp in `stamps`.
        #[doc(hidden)]
        fn take(queues: &mut Self::Queues, stamps: &[i64]) -> Option<Self>;

        /// Drops the first message of this topic with this stamp.
        #[doc(hidden)]
        fn discard(queues: &mut Self::Queues, topic: usize, stamp: i64);
    }
}

/// Takes the message with this stamp, nearly always the first one.
fn take<M>(queue: &mut Queue<M>, stamp: i64) -> Option<M> {
    let place = queue.iter().position(|(other, _)| *other == stamp)?;
    queue.remove(place).map(|(_, message)| message)
}

macro_rules! sets {
    ($($count:literal: $($topic:tt $message:ident),*;)*) => {$(
        impl<$($message: Stamped + Send),*> MessageSet for ($($message,)*) {}

        impl<$($message: Stamped + Send),*> sealed::Set for ($($message,)*) {
            type Queues = ($(Queue<$message>,)*);
            const TOPICS: usize = $count;

            fn lengths(queues: &Self::Queues) -> Vec<usize> {
                vec![$(queues.$topic.len()),*]
            }

            fn take(queues: &mut Self::Queues, stamps: &[i64]) -> Option<Self> {
                Some(($(take(&mut queues.$topic, *stamps.get($topic)?)?,)*))
            }

            fn discard(queues: &mut Self::Queues, topic: usize, stamp: i64) {
                match topic {
                    $($topic => drop(take(&mut queues.$topic, stamp)),)*
                    _ => {}
                }
            }
        }

        topics! { [$($message),*] $($topic $message),* }
    )*};
}

macro_rules! topics {
    ($all:tt $($topic:tt $message:ident),*) => {
        $(topic! { $all $topic $message })*
    };
}

macro_rules! topic {
    ([$($all:ident),*] $topic:tt $message:ident) => {
        impl<$($all: Stamped + Send),*> Topic<$topic> for ($($all,)*) {
            type Message = $message;

            fn queue(queues: &mut Self::Queues) -> &mut VecDeque<(i64, $message)> {
                &mut queues.$topic
            }
        }
    };
}

sets! {
    2: 0 A, 1 B;
    3: 0 A, 1 B, 2 C;
    4: 0 A, 1 B, 2 C, 3 D;
    5: 0 A, 1 B, 2 C, 3 D, 4 E;
    6: 0 A, 1 B, 2 C, 3 D, 4 E, 5 F;
    7: 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G;
    8: 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H;
    9: 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H, 8 I;
}
