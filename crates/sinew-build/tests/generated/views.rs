//! The view of a value equals the view of its encoding.

use super::arm_msgs::{
    Default as Reading, Joint, JointView, Option as Arm, Result as Arms, String as Text, Vec as Place,
};
use proptest::array::uniform2;
use proptest::collection::vec;
use proptest::prelude::*;
use sinew_msg::Message;
use sinew_msg::cdr::{Structure, WString};
use sinew_msg::view::{self, Viewed, view};
use std::borrow::Cow;
use std::fmt::Debug;

prop_compose! {
    fn place()(x in -1e9f64..1e9, y in -1e9f64..1e9, r#fn: [u32; 2]) -> Place {
        Place { x, y, r#fn }
    }
}

prop_compose! {
    fn joint()(
        r#type: u8, name in ".{0,8}", self_ in vec(-1e9f64..1e9, 0..4), steps in vec(any::<i16>(), 0..=3),
        position in place(), flags: [bool; 2], raw: [u8; 4], labels in uniform2(".{0,5}"), weight in -1e9f32..1e9,
        wide in vec(any::<u16>(), 0..4),
    ) -> Joint {
        let wide = WString { units: wide };
        let (name, steps) = (name.as_str().try_into().unwrap(), steps.try_into().unwrap());
        Joint { r#type, name, self_, steps, position, flags, raw, labels, weights: [weight; 36], wide }
    }
}

prop_compose! {
    fn text()(
        run in ".{0,9}", decoder in vec(any::<u8>(), 0..9), encoder in vec(-1e9f64..1e9, 0..=2), lengths in ".{0,9}",
    ) -> Text {
        Text { run, decoder, encoder: encoder.try_into().unwrap(), lengths }
    }
}

prop_compose! {
    fn arm()(option in vec(text(), 0..4), result in vec(joint(), 0..4), joint in joint()) -> Arm {
        Arm { option, result, joint }
    }
}

fn same<T>(value: &T)
where
    T: Message + Structure + Viewed + Debug,
    for<'a> T::View<'a>: Debug,
{
    let encoding = T::ENCODING.unwrap();
    let mut encoded = vec![0; (encoding.size)(value)];
    (encoding.encode)(value, &mut encoded);
    assert_eq!(view::check::<T>(&encoded), Ok(()));
    let seen = view::<T>(&encoded).unwrap();
    assert_eq!(format!("{:?}", T::of(value)), format!("{seen:?}"));
    let half = &encoded[..encoded.len() / 2];
    assert_eq!(view::check::<T>(half), Err(view::<T>(half).unwrap_err()));
}

proptest! {
    #[test]
    fn any_value_is_seen_as_its_encoded_form_is(arms in [arm(), arm()], place in place(), reading: (i32, bool), x: u8) {
        same(&arms[0]);
        same(&place);
        same(&JointView { x });
        same(&Reading { at: reading.0, after: place.x, flag: reading.1 });
        same(&Arms { value: arms, ok: reading.1 });
    }
}

#[test]
fn what_is_large_in_a_value_is_borrowed() {
    let joint = Joint { self_: vec![1.0, 2.0], ..Joint::default() };
    let arm = Arm { result: vec![joint], ..Arm::default() };
    let arms = Arms { value: [Arm::default(), arm], ok: true };
    let joint = &arms.value[1].result[0];
    let [_, seen] = Viewed::of(&arms).value;
    let seen = seen.result.iter().next().unwrap();
    assert!(matches!(seen.self_, Cow::Borrowed(numbers) if numbers.as_ptr() == joint.self_.as_ptr()));
    assert!(matches!(seen.steps, Cow::Borrowed(numbers) if numbers.as_ptr() == joint.steps.as_ptr()));
    assert_eq!(seen.name.bytes.as_ptr(), joint.name.as_ptr());
    assert_eq!(seen.labels[1].bytes.as_ptr(), joint.labels[1].as_ptr());
}

/// Types that no generated message has: a sequence of sequences, and one of arrays.
#[test]
fn sequences_lie_in_sequences() {
    let values = vec![vec![[true, false]], vec![]];
    let seen = Viewed::of(&values);
    assert_eq!(format!("{seen:?}"), "[[[true, false]], []]");
    let flags = vec![vec![true], vec![]];
    let seen = Viewed::of(&flags).iter().next().unwrap();
    assert!(matches!(seen, Cow::Borrowed([true])));
}
