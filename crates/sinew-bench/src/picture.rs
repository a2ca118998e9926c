//! Images of `sensor_msgs` with pixels that contain the image's number and its time of completion.

use sinew_interfaces::sensor_msgs::msg::Image;

/// Bytes of the pixels for time and number.
const HEAD: usize = 16;

/// The content of pixels: the first ones as numbers, all others as a shade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// Time of completion, on the steady clock.
    pub(super) stamp: i64,
    /// Counts from 1.
    pub(super) number: u64,
}

/// Returns an image without its pixels.
pub(super) fn without_pixels((width, height): (u32, u32), encoding: &str, bytes_per_pixel: u32) -> Image {
    let mut image = Image {
        height,
        width,
        encoding: encoding.to_owned(),
        step: width * bytes_per_pixel,
        ..Image::default()
    };
    image.header.frame_id.push_str("camera");
    image
}

/// Returns the value of every byte except the first ones. One more than the number's lowest byte,
/// so that a negative is never the image of another number.
fn shade(number: u64) -> u8 {
    number.to_le_bytes()[0].wrapping_add(1)
}

impl Mark {
    /// Writes all pixels of an image except for its time. There are more than 16 bytes.
    pub(super) fn paint(pixels: &mut [u8], number: u64) {
        pixels.fill(shade(number));
        pixels[HEAD / 2..HEAD].copy_from_slice(&number.to_le_bytes());
    }

    /// Writes the time of completion.
    pub(super) fn complete(pixels: &mut [u8], now_ns: i64) {
        pixels[..HEAD / 2].copy_from_slice(&now_ns.to_le_bytes());
    }

    /// Reads the pixels; `None` if they aren't those of any image.
    pub(super) fn of(pixels: &[u8]) -> Option<Self> {
        Self::behind(pixels, |byte| byte)
    }

    /// Reads pixels of a negative, in which each byte is inverted.
    pub(super) fn of_negative(pixels: &[u8]) -> Option<Self> {
        Self::behind(pixels, |byte| !byte)
    }

    fn behind(pixels: &[u8], as_painted: impl Fn(u8) -> u8) -> Option<Self> {
        let word = |at: usize| Some(pixels.get(at..at + 8)?.first_chunk::<8>()?.map(&as_painted));
        let mark = Self { stamp: i64::from_le_bytes(word(0)?), number: u64::from_le_bytes(word(HEAD / 2)?) };
        let is_right = |byte: Option<&u8>| byte.is_some_and(|&byte| as_painted(byte) == shade(mark.number));
        (is_right(pixels.get(HEAD)) && is_right(pixels.last())).then_some(mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_say_which_image_they_are() {
        let mut pixels = vec![0; 100];
        Mark::paint(&mut pixels, 300);
        Mark::complete(&mut pixels, 7);
        let mark = Some(Mark { stamp: 7, number: 300 });
        assert_eq!((Mark::of(&pixels), Mark::of_negative(&pixels)), (mark, None));
        pixels.iter_mut().for_each(|byte| *byte = !*byte);
        assert_eq!((Mark::of(&pixels), Mark::of_negative(&pixels)), (None, mark));
    }

    #[test]
    fn spoilt_pixels_are_those_of_no_image() {
        let mut pixels = vec![0; 100];
        Mark::paint(&mut pixels, 3);
        for place in [8, HEAD, 99] {
            let mut spoilt = pixels.clone();
            spoilt[place] = !spoilt[place];
            assert_eq!(Mark::of(&spoilt), None, "byte {place}");
        }
        assert_eq!((Mark::of(&pixels[..HEAD]), Mark::of(&[])), (None, None));
    }

    #[test]
    fn an_image_without_pixels_says_how_many_there_will_be() {
        let image = without_pixels((640, 480), "rgb8", 3);
        assert_eq!((image.step, image.height, image.data.len()), (1920, 480, 0));
        assert_eq!((image.encoding.as_str(), image.header.frame_id.as_str()), ("rgb8", "camera"));
    }
}
