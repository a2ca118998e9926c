//! Views of encoded messages, and messages built in place.

use super::counting::allocations;
use super::{encode, encoding};
use sinew_interfaces::geometry_msgs::msg::TransformStamped;
use sinew_interfaces::nav_msgs::msg::Odometry;
use sinew_interfaces::sensor_msgs::msg::{
    Image, ImageLengths, JointState, JointStateLengths, PointCloud2, PointCloud2Lengths, PointField,
};
use sinew_interfaces::shape_msgs::msg::{SolidPrimitive, SolidPrimitiveLengths};
use sinew_interfaces::stereo_msgs::msg::{DisparityImage, DisparityImageLengths};
use sinew_interfaces::test_msgs::msg::Strings;
use sinew_interfaces::tf2_msgs::msg::TFMessage;
use sinew_msg::cdr::{Decoder, Structure};
use sinew_msg::loan::{self, BuildError, Built};
use sinew_msg::view::{self, Viewed, view};
use sinew_msg::{DecodeError, Message};
use std::borrow::Cow;
use std::fmt::Debug;

/// An encoded message as it lies in a chunk: byte 4 is aligned.
struct Chunk {
    words: Vec<u64>,
    length: usize,
}

impl Chunk {
    fn new(length: usize) -> Self {
        Self { words: vec![0; length.div_ceil(8) + 1], length }
    }

    fn of(image: &[u8]) -> Self {
        let mut chunk = Self::new(image.len());
        chunk.bytes_mut().copy_from_slice(image);
        chunk
    }

    fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[4..4 + self.length]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[4..4 + self.length]
    }
}

fn picture() -> Image {
    let mut picture = Image { height: 2, width: 3, encoding: "rgb8".to_owned(), step: 9, ..Image::default() };
    picture.header.frame_id = "camera".to_owned();
    picture.data = (0..18).collect();
    picture
}

#[test]
fn what_is_large_is_borrowed() {
    let chunk = Chunk::of(&encode(&picture()));
    let (seen, count, _) = allocations(|| view::<Image>(chunk.bytes()).unwrap());
    assert_eq!(count, 0);
    assert_eq!((seen.height, seen.width, seen.step), (2, 3, 9));
    assert_eq!(seen.header.frame_id, "camera");
    assert_eq!(seen.encoding.to_str(), Ok("rgb8"));
    assert_eq!(seen.data, picture().data);
    assert!(chunk.bytes().as_ptr_range().contains(&seen.data.as_ptr()));
}

#[test]
fn bytes_lie_as_in_memory_in_every_image() {
    let image = [&[0, 0, 0, 0][..], &[0, 0, 0, 3], &[1, 2, 0xff]].concat(); // in the other byte order
    for at in 0..8 {
        let shifted = Chunk::of(&[&vec![0; at], &*image].concat());
        let image = &shifted.bytes()[at..];
        let decoder = || Decoder::new(image, "bytes").unwrap();
        let seen = Vec::<u8>::view(&mut decoder()).unwrap();
        assert_eq!((seen, seen.as_ptr()), (&[1, 2, 0xff][..], image[8..].as_ptr()));
        let signed = Vec::<i8>::view(&mut decoder()).unwrap();
        assert_eq!((signed, signed.as_ptr().cast()), (&[1, 2, -1][..], image[8..].as_ptr()));
        assert!(
            Vec::<u8>::view(&mut Decoder::new(&image[..10], "bytes").unwrap()).is_err(),
            "it ends before"
        );
    }
}

#[test]
fn what_does_not_lie_as_in_memory_is_owned() {
    let joints = JointState { position: vec![1.0, -2.0], velocity: vec![0.5], ..JointState::default() };
    let chunk = Chunk::of(&encode(&joints));
    let is_borrowed = |image| {
        let seen = view::<JointState>(image).unwrap();
        assert_eq!((&*seen.position, &*seen.velocity), (&[1.0, -2.0][..], &[0.5][..]));
        matches!(seen.position, Cow::Borrowed(_))
    };
    assert!(is_borrowed(chunk.bytes()));
    let mut off = vec![0; 1];
    off.extend(chunk.bytes());
    off.rotate_left(0);
    let odd = Chunk::of(&off);
    assert!(!is_borrowed(&odd.bytes()[1..]));
}

#[test]
fn elements_are_seen_one_by_one() {
    let transform = |name: &str| {
        let mut transform =
            TransformStamped { child_frame_id: name.to_owned(), ..TransformStamped::default() };
        transform.transform.translation.x = 4.0;
        transform
    };
    let image = encode(&TFMessage { transforms: vec![transform("a"), transform("bcd")] });
    let seen = view::<TFMessage>(&image).unwrap();
    assert_eq!((seen.transforms.len(), seen.transforms.is_empty()), (2, false));
    let names: Vec<String> = seen.transforms.iter().map(|one| one.child_frame_id.to_string()).collect();
    assert_eq!(names, ["a", "bcd"]);
    assert!(seen.transforms.iter().all(|one| one.transform.translation.x == 4.0));
}

#[test]
fn a_string_that_is_no_text_is_seen_but_not_decoded() {
    let mut image = encode(&picture());
    let at = image.windows(4).position(|four| four == b"rgb8").unwrap();
    image[at + 1] = 0xff;
    let seen = view::<Image>(&image).unwrap();
    assert_eq!(seen.encoding.bytes, b"r\xffb8");
    assert!(seen.encoding.to_str().is_err());
    assert_eq!(seen.encoding.to_string(), "r\u{fffd}b8");
    let error = (encoding::<Image>().decode)(&image).unwrap_err();
    assert!(
        matches!(error, DecodeError::Invalid { field: "encoding", offset, .. } if offset == at + 1),
        "{error}"
    );
}

#[test]
fn a_bound_holds_for_a_view_as_well() {
    let too_long = Strings::default();
    let mut image = encode(&too_long);
    let at = image.windows(12).rposition(|twelve| twelve == b"Hello world!").unwrap();
    // One of the bounded strings claims to be longer than the remaining bytes; its length is in the
    // 4 bytes before it.
    image[at - 4] = 255;
    assert!(view::<Strings>(&image).is_err());
}

/// Returns the view of a value, after checking that it equals the view of the encoding and that
/// creating it allocates nothing.
fn of<T>(value: &T) -> T::View<'_>
where
    T: Message + Structure + Viewed,
    for<'a> T::View<'a>: Debug,
{
    let (seen, count, _) = allocations(|| T::of(value));
    assert_eq!(count, 0);
    let image = encode(value);
    assert_eq!(view::check::<T>(&image), Ok(()));
    assert_eq!(format!("{seen:?}"), format!("{:?}", view::<T>(&image).unwrap()));
    seen
}

/// Returns whether both begin at the same address.
fn begins<A, B>(one: &[A], other: &[B]) -> bool {
    one.as_ptr().cast::<u8>() == other.as_ptr().cast()
}

#[test]
fn what_is_large_in_a_value_is_borrowed() {
    let picture = picture();
    let seen = of(&picture);
    assert_eq!((seen.height, seen.width, seen.step), (2, 3, 9));
    assert!(begins(seen.data, &picture.data));
    assert!(begins(seen.encoding.bytes, picture.encoding.as_bytes()));
    assert!(begins(seen.header.frame_id.bytes, picture.header.frame_id.as_bytes()));

    let field = |name: &str| PointField { name: name.to_owned(), ..PointField::default() };
    let data = vec![1, 2, 3];
    let cloud = PointCloud2 { fields: vec![field("x"), field("intensity")], data, ..PointCloud2::default() };
    let seen = of(&cloud);
    assert!(begins(seen.data, &cloud.data));
    let fields: Vec<_> = seen.fields.iter().collect();
    assert_eq!(fields.len(), 2);
    assert!(begins(fields[1].name.bytes, cloud.fields[1].name.as_bytes()));

    let odometry = Odometry { child_frame_id: "base".to_owned(), ..Odometry::default() };
    let seen = of(&odometry);
    assert!(begins(seen.child_frame_id.bytes, odometry.child_frame_id.as_bytes()));
    assert_eq!(seen.pose, odometry.pose);
}

#[test]
fn elements_of_a_value_are_seen_one_by_one() {
    let name = vec!["shoulder".to_owned(), "elbow".to_owned()];
    let joints = JointState { name, position: vec![1.0, -2.0], ..JointState::default() };
    let seen = of(&joints);
    assert!(begins(&seen.position, &joints.position) && seen.velocity.is_empty());
    assert_eq!((seen.name.len(), seen.name.is_empty()), (2, false));
    let ((), count, _) = allocations(|| {
        let again = seen.name.clone();
        assert!(again.iter().zip(&joints.name).all(|(one, name)| begins(one.bytes, name.as_bytes())));
        assert_eq!(again.iter().count(), 2);
    });
    assert_eq!(count, 0);

    let transform = TransformStamped { child_frame_id: "arm".to_owned(), ..TransformStamped::default() };
    let message = TFMessage { transforms: vec![TransformStamped::default(), transform] };
    let seen = of(&message);
    let ((), count, _) = allocations(|| {
        let last = seen.transforms.iter().last().unwrap();
        assert!(begins(last.child_frame_id.bytes, message.transforms[1].child_frame_id.as_bytes()));
    });
    assert_eq!(count, 0);
}

/// Builds a message in place and fills it as in `value`.
fn built<T: Built + Message>(value: &T, lengths: &T::Lengths, fill: impl Fn(T::Parts<'_>)) -> Vec<u8> {
    let mut chunk = Chunk::new(loan::size(value, lengths));
    chunk.bytes_mut().fill(0xee);
    let (parts, count, _) = allocations(|| loan::build(value, lengths, chunk.bytes_mut()));
    assert_eq!(count, 0);
    fill(parts.unwrap());
    // Build again, as a loan does when its parts are requested twice: elements that were filled
    // stay.
    drop(loan::build(value, lengths, chunk.bytes_mut()).unwrap());
    let filled = chunk.bytes().to_vec();
    // Editing fills the same places.
    let mut again = Chunk::new(filled.len());
    again.bytes_mut().fill(0x11);
    drop(loan::build(value, lengths, again.bytes_mut()).unwrap());
    let (parts, count, _) = allocations(|| loan::edit::<T>(again.bytes_mut()));
    assert_eq!(count, 0);
    fill(parts.unwrap());
    assert_eq!(again.bytes(), filled);
    filled
}

#[test]
fn a_value_has_the_same_parts() {
    let mut disparity = DisparityImage { image: picture(), ..DisparityImage::default() };
    disparity.parts_of_value().image.data[1] = 99;
    let expected = {
        let mut image = picture();
        image.data[1] = 99;
        image
    };
    assert_eq!(disparity.image, expected);
}

#[test]
fn what_cannot_be_edited_says_why() {
    let image = encode(&picture());
    let mut short = Chunk::of(&image[..image.len() - 1]);
    assert!(matches!(loan::edit::<Image>(short.bytes_mut()).unwrap_err(), BuildError::Encoded(_)));
    let joints = JointState { position: vec![1.0], ..JointState::default() };
    let image = encode(&joints);
    // Off its alignment, and in the other byte order.
    let mut odd = Chunk::new(image.len() + 1);
    odd.bytes_mut()[1..].copy_from_slice(&image);
    let not_in_place = |image: &mut [u8]| loan::edit::<JointState>(image).unwrap_err();
    assert!(matches!(not_in_place(&mut odd.bytes_mut()[1..]), BuildError::NotInPlace { .. }));
}

#[test]
fn an_image_that_is_built_in_place_is_the_encoded_one() {
    let empty = Image { data: Vec::new(), ..picture() };
    let lengths = ImageLengths { data: 18 };
    let image = built(&empty, &lengths, |parts| parts.data.copy_from_slice(&picture().data));
    assert_eq!(image, encode(&picture()));
    // The value's own sequence is ignored.
    let image = built(&picture(), &ImageLengths::default(), |parts| assert!(parts.data.is_empty()));
    assert_eq!(image, encode(&empty));
}

#[test]
fn several_sequences_are_filled_where_they_are_aligned() {
    let names: Vec<String> = vec!["shoulder".to_owned(), "arm".to_owned()];
    let joints =
        JointState { name: names, position: vec![1.0, 2.0], effort: vec![3.0], ..JointState::default() };
    let lengths = JointStateLengths { position: 2, velocity: 0, effort: 1 };
    let empty = JointState { position: Vec::new(), effort: Vec::new(), ..joints.clone() };
    let image = built(&empty, &lengths, |parts| {
        parts.position.copy_from_slice(&[1.0, 2.0]);
        parts.effort[0] = 3.0;
    });
    assert_eq!(image, encode(&joints));
}

#[test]
fn the_sequences_of_a_message_in_a_message_are_filled_in_place_too() {
    let disparity =
        DisparityImage { image: picture(), f: 1.5, max_disparity: 64.0, ..DisparityImage::default() };
    let empty = DisparityImage { image: Image { data: Vec::new(), ..picture() }, ..disparity.clone() };
    let lengths = DisparityImageLengths { image: ImageLengths { data: 18 } };
    let image = built(&empty, &lengths, |parts| parts.image.data.copy_from_slice(&picture().data));
    assert_eq!(image, encode(&disparity));
}

#[test]
fn what_cannot_be_built_in_place_says_why() {
    let lengths = ImageLengths { data: 3 };
    let picture = picture();
    let size = loan::size(&picture, &lengths);
    let mut chunk = Chunk::new(size + 1);
    let error = loan::build(&picture, &lengths, chunk.bytes_mut()).unwrap_err();
    assert_eq!(error, BuildError::Length { type_name: Image::NAME, length: size + 1, needed: size });

    let joints = JointState::default();
    let lengths = JointStateLengths { position: 1, ..JointStateLengths::default() };
    let mut chunk = Chunk::new(loan::size(&joints, &lengths) + 1);
    let error = loan::build(&joints, &lengths, &mut chunk.bytes_mut()[1..]).unwrap_err();
    assert_eq!(error, BuildError::NotInPlace { type_name: JointState::NAME, field: "position" });

    let shape = SolidPrimitive::default();
    let lengths = SolidPrimitiveLengths { dimensions: 4, ..SolidPrimitiveLengths::default() };
    let mut chunk = Chunk::new(loan::size(&shape, &lengths));
    let error = loan::build(&shape, &lengths, chunk.bytes_mut()).unwrap_err();
    let expected =
        BuildError::TooMany { type_name: SolidPrimitive::NAME, field: "dimensions", count: 4, bound: 3 };
    assert_eq!(error, expected);
    // A length beyond all messages gives a huge size, not a small one.
    let lengths = PointCloud2Lengths { data: usize::MAX };
    assert!(loan::size(&PointCloud2::default(), &lengths) > 1 << 32);
}

/// The view of a plain message is the message.
#[test]
fn plain_messages_are_seen_as_they_are() {
    fn is_itself<T: for<'a> Viewed<View<'a> = T>>() {}
    is_itself::<sinew_interfaces::geometry_msgs::msg::Pose>();
    is_itself::<sinew_interfaces::builtin_interfaces::msg::Time>();
}

#[test]
fn elements_are_found_by_their_index() {
    let mut many = TFMessage::default();
    for name in ["base", "arm", "hand"] {
        let mut one = TransformStamped::default();
        one.header.frame_id = name.to_owned();
        many.transforms.push(one);
    }
    let chunk = Chunk::of(&encode(&many));
    for seen in [view::<TFMessage>(chunk.bytes()).unwrap(), many.of()] {
        let transforms = seen.transforms;
        let name = |index| transforms.get(index).map(|one| one.header.frame_id.to_string());
        assert_eq!((name(0).as_deref(), name(2).as_deref(), name(3)), (Some("base"), Some("hand"), None));
        let mut names = Vec::new();
        for one in &transforms {
            names.push(one.header.frame_id.to_string());
        }
        assert_eq!(names, ["base", "arm", "hand"]);
        let mut rest = transforms.iter();
        rest.next();
        assert_eq!((rest.clone().count(), rest.size_hint().1), (2, Some(2)));
        assert!(transforms.into_iter().map(|one| one.header.frame_id).eq(["base", "arm", "hand"]));
    }
}
