//! Names and hashes.

use super::encoding;
use super::types::{Header, Time};
use sinew_msg::{Message, TypeHash};

mod original {
    use super::Time;
    use sinew_msg::Message;

    #[derive(Message)]
    #[message(name = "test_msgs/msg/Pose")]
    pub(super) struct Pose {
        pub(super) stamp: Time,
        pub(super) x: f32,
        pub(super) path: Vec<[u8; 3]>,
        pub(super) r#type: u8,
    }
}

/// The hash of `Pose` with this name, these fields and these types.
macro_rules! variant {
    ($name:literal, $($field:ident: $type:ty),*) => {{
        #[derive(Message)]
        #[message(name = $name)]
        struct Pose {
            $($field: $type),*
        }
        encoding::<Pose>().hash
    }};
}

#[test]
fn equal_types_have_equal_hashes() {
    let hash = encoding::<original::Pose>().hash;
    assert_eq!(variant!("test_msgs/msg/Pose", stamp: Time, x: f32, path: Vec<[u8; 3]>, r#type: u8), hash);
}

#[test]
fn whatever_differs_changes_the_hash() {
    let mut hashes: Vec<TypeHash> = vec![
        encoding::<original::Pose>().hash,
        variant!("test_msgs/msg/Pos", stamp: Time, x: f32, path: Vec<[u8; 3]>, r#type: u8),
        variant!("test_msgs/msg/Pose", stamp: Time, y: f32, path: Vec<[u8; 3]>, r#type: u8),
        variant!("test_msgs/msg/Pose", stamp: Time, x: u32, path: Vec<[u8; 3]>, r#type: u8),
        variant!("test_msgs/msg/Pose", stamp: Time, x: f32, path: Vec<[u8; 4]>, r#type: u8),
        variant!("test_msgs/msg/Pose", stamp: Time, x: f32, path: [Vec<u8>; 3], r#type: u8),
        variant!("test_msgs/msg/Pose", stamp: Header, x: f32, path: Vec<[u8; 3]>, r#type: u8),
        variant!("test_msgs/msg/Pose", x: f32, stamp: Time, path: Vec<[u8; 3]>, r#type: u8),
        variant!("test_msgs/msg/Pose", stamp: Time, x: f32, path: Vec<[u8; 3]>),
    ];
    hashes.sort_by_key(|hash| hash.0);
    assert!(hashes.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn the_name_is_that_of_the_package_unless_one_is_given() {
    #[derive(Message)]
    struct Reading {}
    assert_eq!(encoding::<Reading>().name, "sinew_msg/msg/Reading");
    assert_eq!(encoding::<Header>().name, "std_msgs/msg/Header");
}

#[test]
fn field_names_have_no_raw_prefix() {
    let error =
        (encoding::<original::Pose>().decode)(&[0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let Err(error) = error else { panic!("the last field is missing") };
    assert!(error.to_string().starts_with("`type` of test_msgs/msg/Pose needs bytes up to 21"), "{error}");
}
