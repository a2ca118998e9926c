//! Encoded messages, as four readers see them.

use crate::codec::{encode, encoding};
use crate::driver::{Kind, fuzz};
use crate::memory::Bound;
use crate::random::random_bytes;
use crate::types::{Arrays, BasicTypes, Imu, PointCloud2, Sequences, Text, UnboundedSequences};
use sinew_msg::cdr::Structure;
use sinew_msg::dynamic::{DynamicMessage, MessageType};
use sinew_msg::view::{Viewed, view};
use sinew_msg::{DecodeError, Message};
use std::sync::Arc;

/// Included as a build script's output is.
mod interfaces {
    pub(crate) mod arm_msgs {
        include!("../../../sinew-build/tests/generated/arm_msgs.rs");
    }
}

use interfaces::arm_msgs::msg as arm_msgs;

/// A string has 24 bytes in memory for 4 encoded, and while a vector of strings grows, there are
/// two.
const OWNED: Bound = Bound { per_byte: 18, fixed: 256 };

/// A view owns only numbers that are encoded differently from memory.
const SEEN: Bound = Bound { per_byte: 2, fixed: 256 };

/// A single number has 32 bytes in memory for one encoded, in a list inside another list.
const DYNAMIC: Bound = Bound { per_byte: 128, fixed: 256 };

/// Decodes in every way that the type supports, and compares the results.
fn check<T>(dynamic: Option<&Arc<MessageType>>, see: Option<See>, encoded: &[u8]) -> bool
where
    T: Message + Structure + Default,
{
    let encoding = encoding::<T>();
    let owned = OWNED.check(encoded.len(), || (encoding.decode)(encoded));
    let seen = see.map(|see| SEEN.check(encoded.len(), || see(encoded)));
    let tree = dynamic.map(|dynamic| check_dynamic(dynamic, encoded));
    let owned = match owned {
        Ok(owned) => owned,
        Err(error) => {
            // Dynamic messages and views accept any bytes as a string.
            let is_text = matches!(error, DecodeError::Invalid { problem, .. } if problem.contains("UTF-8"));
            assert!(is_text || seen != Some(true), "it can be seen, but not decoded: {error}");
            let is_dynamic = tree.is_some_and(|tree| tree.is_some());
            assert!(is_text || !is_dynamic, "it can only be decoded dynamically: {error}");
            return false;
        }
    };
    assert_ne!(seen, Some(false), "it can be decoded, but not seen");
    let again = encode(&owned);
    if let Some(tree) = tree {
        assert_eq!(tree.as_ref(), Some(&again), "what is decoded dynamically, encoded");
    }
    let back = (encoding.decode)(&again).expect("what was just encoded is right");
    assert_eq!(encode(&back), again, "encoded, decoded and encoded");
    // At an odd address if the other was at an even one, and into a value with contents.
    let shifted = [&[0], encoded].concat();
    let mut other = back;
    OWNED
        .check(encoded.len(), || (encoding.decode_into)(&shifted[1..], &mut other))
        .expect("it can be decoded");
    assert_eq!(encode(&other), again, "decoded into a value");
    let mut other = T::default();
    OWNED.check(encoded.len(), || (encoding.decode_into)(encoded, &mut other)).expect("it can be decoded");
    assert_eq!(encode(&other), again, "decoded into a new value");
    encoded.len() <= again.len() + 8 // otherwise most mutations would hit ignored bytes
}

/// Decodes and encodes the message; returns the bytes if it could be decoded.
pub(crate) fn check_dynamic(message_type: &Arc<MessageType>, encoded: &[u8]) -> Option<Vec<u8>> {
    let message = DYNAMIC.check(encoded.len(), || DynamicMessage::decode(message_type, encoded)).ok()?;
    let again = message.encode();
    assert_eq!(DynamicMessage::decode(message_type, &again).as_ref(), Ok(&message));
    Some(again)
}

/// Returns whether a message can be viewed.
type See = fn(&[u8]) -> bool;

fn kind<T>(see: Option<See>) -> Kind<'static>
where
    T: Message + Structure + Default,
{
    let description = T::DESCRIPTION.describe(); // `None` for a sequence of sequences, which ROS 2 lacks
    let mut inputs = vec![encode(&T::default())];
    if let Some(description) = &description {
        inputs.extend((0..20).flat_map(|seed| random_bytes(description, seed)));
    }
    let dynamic = description.map(|description| Arc::new(MessageType::new(&description).unwrap()));
    let check = Box::new(move |encoded: &[u8]| check::<T>(dynamic.as_ref(), see, encoded));
    Kind { name: T::NAME.to_owned(), inputs, words: &[], check }
}

fn viewed<T>() -> Kind<'static>
where
    T: Message + Structure + Viewed + Default,
{
    kind::<T>(Some(|encoded| view::<T>(encoded).is_ok()))
}

#[test]
fn encoded() {
    fuzz(vec![
        viewed::<arm_msgs::Joint>(),
        viewed::<arm_msgs::Option>(),
        viewed::<arm_msgs::Result>(),
        viewed::<arm_msgs::String>(),
        viewed::<arm_msgs::Vec>(),
        viewed::<arm_msgs::Default>(),
        kind::<Sequences>(None),
        kind::<UnboundedSequences>(None),
        kind::<Arrays>(None),
        kind::<BasicTypes>(None),
        kind::<PointCloud2>(None),
        kind::<Imu>(None),
        kind::<Text>(None),
    ]);
}
