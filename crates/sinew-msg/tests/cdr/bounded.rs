//! Wide strings, and bounded strings and sequences.

use super::{decode, decode_into, encode, encoding};
use sinew_msg::cdr::{BoundedString, BoundedVec, BoundedWString, TooMany, WString};
use sinew_msg::{DecodeError, Message};

#[derive(Message, Debug, Default, Clone, PartialEq)]
#[message(name = "test_msgs/msg/Limits")]
struct Limits {
    wide: WString,
    name: BoundedString<3>,
    wide_name: BoundedWString<2>,
    numbers: BoundedVec<f64, 2>,
    names: BoundedVec<BoundedString<2>, 2>,
}

/// The same, without the bounds.
#[derive(Message, Debug, Default, Clone, PartialEq)]
#[message(name = "test_msgs/msg/Limits")]
struct NoLimits {
    wide: WString,
    name: String,
    wide_name: WString,
    numbers: Vec<f64>,
    names: Vec<String>,
}

#[expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
fn limits() -> Limits {
    Limits {
        wide: "aé😀".into(),
        name: "äöü".try_into().unwrap(),
        wide_name: "😀b".try_into().unwrap(),
        numbers: vec![1.0, 2.0].try_into().unwrap(),
        names: vec!["ab".try_into().unwrap()].try_into().unwrap(),
    }
}

fn no_limits() -> NoLimits {
    NoLimits {
        wide: "aé😀".into(),
        name: "äöü".into(),
        wide_name: "😀b".into(),
        numbers: vec![1.0, 2.0],
        names: vec!["ab".into()],
    }
}

#[test]
fn a_bound_changes_the_type_but_not_the_encoded_form() {
    let encoded = encode(&limits());
    assert_eq!(encoded, encode(&no_limits()));
    assert_eq!(decode(&encoded), Ok(limits()));
    let mut other = limits();
    decode_into(&encoded, &mut other).unwrap();
    assert_eq!(other, limits());
    assert_ne!(encoding::<Limits>().hash, encoding::<NoLimits>().hash);
}

#[test]
fn a_unit_of_a_wide_string_has_four_bytes() {
    #[derive(Message, Debug, PartialEq)]
    struct Wide {
        wide: WString,
    }
    let wide = Wide { wide: "é😀".into() };
    let expected = [0, 1, 0, 0, 3, 0, 0, 0, 0xe9, 0, 0, 0, 0x3d, 0xd8, 0, 0, 0, 0xde, 0, 0];
    assert_eq!(encode(&wide), expected);
    assert_eq!(decode(&[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0xe9]), Ok(Wide { wide: "é".into() }));
    let error = decode::<Wide>(&[0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0]).unwrap_err();
    assert!(matches!(error, DecodeError::Invalid { field: "wide", offset: 8, .. }), "{error}");
    let half = WString { units: vec![0x61, 0xd83d] };
    assert!(half.to_text().is_err());
    assert_eq!(half.to_string(), "a\u{fffd}");
}

#[test]
fn what_is_beyond_a_bound_is_refused() {
    let field = |change: fn(&mut NoLimits)| {
        let mut value = no_limits();
        change(&mut value);
        let encoded = encode(&value);
        let mut full = limits();
        let error = decode_into::<Limits>(&encoded, &mut full).unwrap_err();
        assert_eq!(decode::<Limits>(&encoded), Err(error.clone()));
        // Even a partly decoded value keeps its bounds.
        assert!(full.name.chars().count() <= 3 && full.numbers.len() <= 2);
        match error {
            DecodeError::Bound { field, count, bound, .. } => (field, count, bound),
            other => panic!("{other}"),
        }
    };
    assert_eq!(field(|value| value.name = "äöüß".into()), ("name", 4, 3));
    assert_eq!(field(|value| value.wide_name = "abc".into()), ("wide_name", 3, 2));
    assert_eq!(field(|value| value.numbers = vec![0.0; 3]), ("numbers", 3, 2));
    assert_eq!(field(|value| value.names = vec!["a".into(), "abc".into()]), ("names", 3, 2));
    assert!(BoundedVec::<u8, 2>::try_from(vec![1, 2, 3]).is_err());
    assert!(BoundedString::<2>::try_from("abc").is_err());
}

#[test]
fn what_is_bounded_is_used_as_what_is_not() {
    let limits = limits();
    assert!(limits.name == "äöü" && limits.name == *"äöü" && limits.name != "äö");
    assert_eq!(format!("{:>5}|{}", limits.name, limits.names[0]), "  äöü|ab");
    let mut numbers = BoundedVec::<f64, 2>::try_from([1.0, 2.0]).unwrap();
    assert_eq!(numbers, limits.numbers);
    let error = BoundedVec::<f64, 2>::try_from([1.0, 2.0, 3.0]).unwrap_err();
    assert_eq!(error, TooMany { count: 3, bound: 2 });
    for number in &mut numbers {
        *number *= 2.0;
    }
    let mut sum = 0.0;
    for number in &numbers {
        sum += number;
    }
    assert!(sum == 6.0 && numbers.into_iter().eq([2.0, 4.0]));
}
