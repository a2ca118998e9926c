//! Properties of a value of any type and its encoding.

use super::counting::allocations;
use super::{decode, decode_into, encode, encoding};
use sinew_msg::cdr::Structure;
use sinew_msg::description::{TypeDescription, type_id};
use sinew_msg::view::{self, Viewed, view};
use sinew_msg::{DecodeError, Message, TypeHash};
use std::fmt::Debug;

/// The checks for a type, with the type erased.
pub(crate) struct Checks {
    pub(crate) name: &'static str,
    pub(crate) hash: TypeHash,
    pub(crate) description: fn() -> TypeDescription,
    /// The default value survives encoding and decoding.
    pub(crate) default: fn(),
    /// A message and the same message in big-endian order decode to the same value, and the value
    /// encodes to the first. Returns the debug text of the value.
    pub(crate) encoded: fn(&[u8], &[u8]) -> String,
    /// Returns the debug text of the default value.
    pub(crate) shown_default: fn() -> String,
    /// Untrusted bytes give an error or a value.
    pub(crate) any: fn(&[u8]) -> Result<(), DecodeError>,
}

pub(crate) fn checks<T>() -> Checks
where
    T: Message + Structure + Viewed + Default + Debug + PartialEq,
    for<'a> T::View<'a>: Debug,
{
    Checks {
        name: T::NAME,
        hash: encoding::<T>().hash,
        description: || T::DESCRIPTION.describe().unwrap(),
        default: || {
            let encoded = encode(&T::default());
            assert_eq!(decode(&encoded), Ok(T::default()));
        },
        encoded: encoded::<T>,
        shown_default: || format!("{:?}", T::default()),
        any: |encoded| {
            let seen = view::<T>(encoded);
            assert_eq!(view::check::<T>(encoded).err(), seen.as_ref().err().cloned());
            let value = decode::<T>(encoded)?;
            assert_eq!(format!("{:?}", T::of(&value)), format!("{:?}", seen.unwrap()), "of {value:?}");
            // Every decoded value can be encoded.
            let again = encode(&value);
            let printed = format!("{value:?}"); // NaNs are not equal
            assert_eq!(format!("{:?}", decode::<T>(&again)?), printed);
            let mut other = T::default();
            decode_into(encoded, &mut other)?;
            assert_eq!(format!("{other:?}"), printed);
            Ok(())
        },
    }
}

fn encoded<T>(little: &[u8], big: &[u8]) -> String
where
    T: Message + Structure + Viewed + Default + Debug + PartialEq,
    for<'a> T::View<'a>: Debug,
{
    let name = T::NAME;
    let value = decode::<T>(little).unwrap();
    let printed = format!("{value:?}");
    assert_eq!(encode(&value), little, "the bytes of {printed}");
    assert_eq!(format!("{:?}", decode::<T>(big).unwrap()), printed, "{name} in big-endian order");
    let mut other = T::default();
    decode_into(big, &mut other).unwrap();
    decode_into(little, &mut other).unwrap();
    assert_eq!(format!("{other:?}"), printed, "{name} into another value");
    let seen = format!("{:?}", view::<T>(little).unwrap());
    assert_eq!(format!("{:?}", view::<T>(big).unwrap()), seen, "{name}, seen");
    let (of_value, count, _) = allocations(|| T::of(&value));
    assert_eq!(format!("{of_value:?}"), seen, "{name}, seen in a value");
    assert!(count == 0 || has_wstring::<T>(), "{name}: {count} allocations to see a value");
    // At an odd address, and with a meaningless tail.
    let mut longer = vec![0];
    longer.extend(little);
    longer.extend([0xaa; 88]);
    assert_eq!(format!("{:?}", decode::<T>(&longer[1..]).unwrap()), printed);
    assert_eq!(format!("{:?}", view::<T>(&longer[1..]).unwrap()), seen);
    let step = (little.len() / 64).max(1); // only some cuts of long messages
    for length in (0..little.len()).rev().step_by(step) {
        assert!(decode::<T>(&little[..length]).is_err(), "{name}, cut at {length}");
        assert!(view::<T>(&little[..length]).is_err(), "{name}, cut at {length}, seen");
    }
    printed
}

/// Returns whether the type contains a `wstring` anywhere; a view copies those.
fn has_wstring<T: Structure>() -> bool {
    let TypeDescription { type_description, referenced_type_descriptions } =
        T::DESCRIPTION.describe().unwrap();
    let all = referenced_type_descriptions.iter().chain([&type_description]);
    // The number of an array or sequence type is that of its element plus a multiple of this.
    let element = |field: u8| field % type_id::ARRAY;
    all.flat_map(|one| &one.fields).any(|field| {
        [type_id::WSTRING, type_id::BOUNDED_WSTRING].contains(&element(field.field_type.type_id))
    })
}
