//! Names and hashes.

use super::encoding;
use super::types::{Empty, Header, Imu, PointCloud2, Text, Time, Vector3};
use sinew_msg::cdr::Structure;
use sinew_msg::definition::{Definition, Definitions};
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

/// The hash of a struct with this name, these fields and these types.
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
fn hashes_are_those_of_ros_2() {
    fn check<T: Message>(published: &str) {
        assert_eq!(
            encoding::<T>().hash.to_string(),
            format!("RIHS01_{published}"),
            "{}",
            encoding::<T>().name
        );
    }
    check::<Time>("b106235e25a4c5ed35098aa0a61a3ee9c9b18d197f398b0e4206cea9acf9c197");
    check::<Text>("df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18");
    check::<Header>("f49fb3ae2cf070f793645ff749683ac6b06203e41c891e17701b1cb597ce6a01");
    check::<Vector3>("cc12fe83e4c02719f1ce8070bfd14aecd40f75a96696a67a2a1f37f7dbb0765d");
    check::<Imu>("7d9a00ff131080897a5ec7e26e315954b8eae3353c3f995c55faf71574000b5b");
    check::<PointCloud2>("9198cabf7da3796ae6fe19c4cb3bdd3525492988c70522628af5daa124bae2b5");
    check::<Empty>("6587ceacfdb97a895b60774d021011c64f8c7299f53322404af4036dec6142dc");
}

/// A type may have constants that are called as those of the traits.
#[test]
fn constants_of_the_type_itself_change_nothing() {
    #[derive(Message)]
    #[message(name = "test_msgs/msg/Pose")]
    struct Pose {
        x: f32,
    }
    #[expect(dead_code, reason = "the derive must not use them")]
    impl Pose {
        const DESCRIPTION: &'static str = "where something is";
        const HASH: u8 = 0;
        const TYPE: u8 = 0;
        const ALIGNMENT: u8 = 0;
        const LEAST: u8 = 0;
        const NAME: u8 = 0;
        const ENCODING: u8 = 0;
    }
    let hash = variant!("test_msgs/msg/Pose", x: f32);
    assert_eq!(encoding::<Pose>().hash, hash);
}

#[test]
fn a_struct_and_a_definition_that_say_the_same_have_one_description() {
    let mut definitions = Definitions::new();
    for (name, text) in [
        ("builtin_interfaces/msg/Time", "int32 sec\nuint32 nanosec"),
        ("std_msgs/msg/Header", "builtin_interfaces/Time stamp\nstring frame_id"),
        ("sensor_msgs/msg/PointField", "string name\nuint32 offset\nuint8 datatype\nuint32 count"),
        (
            "sensor_msgs/msg/PointCloud2",
            "std_msgs/Header header\nuint32 height\nuint32 width\nPointField[] fields\nbool is_bigendian\n\
             uint32 point_step\nuint32 row_step\nuint8[] data\nbool is_dense",
        ),
    ] {
        definitions.add(Definition::parse(&name.parse().unwrap(), name, text).unwrap()).unwrap();
    }
    let interfaces = definitions.resolve().unwrap();
    let of_definition = interfaces.description(&PointCloud2::NAME.parse().unwrap());
    assert!(of_definition.is_some());
    assert_eq!(PointCloud2::DESCRIPTION.describe(), of_definition);
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
