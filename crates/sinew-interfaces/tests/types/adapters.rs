//! A program's own type on a ROS 2 topic.

use super::{decode, decode_into, encode, encoding};
use sinew_interfaces::geometry_msgs::msg::Point;
use sinew_interfaces::sensor_msgs::msg::{Image, ImageLengths};
use sinew_msg::cdr::Structure;
use sinew_msg::view::view;
use sinew_msg::{Adapted, Adapter, DecodeError, loan};

/// A type such as a vision library has, with its pixels in rows.
#[derive(Clone, Debug, Default, PartialEq)]
struct Grey {
    rows: Vec<Vec<u8>>,
}

/// Converts by value.
enum ByValue {}

impl Adapter for ByValue {
    type Custom = Grey;
    type Ros = Image;

    fn to_ros(grey: &Grey) -> Image {
        Image { data: grey.rows.concat(), ..head(grey) }
    }

    fn from_ros(image: Image) -> Result<Grey, &'static str> {
        rows(&image.data, image.step)
    }
}

/// Encodes directly, copying each pixel once.
enum InPlace {}

impl Adapter for InPlace {
    type Custom = Grey;
    type Ros = Image;

    fn to_ros(_: &Grey) -> Image {
        unreachable!("it is written where it goes")
    }

    fn from_ros(_: Image) -> Result<Grey, &'static str> {
        unreachable!("it is read where it lies")
    }

    fn size(grey: &Grey) -> usize {
        loan::size(&head(grey), &lengths(grey))
    }

    fn encode(grey: &Grey, image: &mut [u8]) {
        let parts = loan::build(&head(grey), &lengths(grey), image).unwrap();
        let mut rest = parts.data;
        for row in &grey.rows {
            let (place, behind) = rest.split_at_mut(row.len());
            place.copy_from_slice(row);
            rest = behind;
        }
    }

    fn decode(image: &[u8]) -> Result<Grey, DecodeError> {
        let seen = view::<Image>(image)?;
        rows(seen.data, seen.step).map_err(|problem| DecodeError::Invalid {
            type_name: Image::NAME,
            field: "step",
            offset: 0,
            problem,
        })
    }
}

fn width(grey: &Grey) -> u32 {
    u32::try_from(grey.rows.first().map_or(0, Vec::len)).unwrap()
}

fn head(grey: &Grey) -> Image {
    let (width, height) = (width(grey), u32::try_from(grey.rows.len()).unwrap());
    Image { height, width, encoding: "mono8".to_owned(), step: width, ..Image::default() }
}

fn lengths(grey: &Grey) -> ImageLengths {
    ImageLengths { data: grey.rows.iter().map(Vec::len).sum() }
}

fn rows(data: &[u8], step: u32) -> Result<Grey, &'static str> {
    let step = usize::try_from(step).unwrap();
    if step == 0 {
        return Err("a row has pixels");
    }
    Ok(Grey { rows: data.chunks(step).map(<[u8]>::to_vec).collect() })
}

fn agrees<A: Adapter<Custom = Grey, Ros = Image>>() {
    let grey = Grey { rows: vec![vec![1, 2, 3], vec![4, 5, 6]] };
    let image = encode(&Adapted::<A>(grey.clone()));
    assert_eq!(image, encode(&ByValue::to_ros(&grey)));
    assert_eq!(decode::<Adapted<A>>(&image).unwrap().0, grey);
    let mut other = Adapted::<A>::default();
    decode_into(&image, &mut other).unwrap();
    assert_eq!(*other, grey);
    let (adapted, ros) = (encoding::<Adapted<A>>(), encoding::<Image>());
    assert_eq!((adapted.name, adapted.hash), (ros.name, ros.hash));
    // A message of the right type that gives no value, and bytes that are no message.
    let empty = encode(&Image::default());
    let error = decode::<Adapted<A>>(&empty).unwrap_err();
    assert!(matches!(error, DecodeError::Invalid { problem: "a row has pixels", .. }), "{error}");
    assert!(decode::<Adapted<A>>(&encode(&Point::default())[..10]).is_err());
}

#[test]
fn an_adapted_value_has_the_image_of_its_message() {
    agrees::<ByValue>();
    agrees::<InPlace>();
}
