//! The messages of the demonstration, and the source of their contents.

use sinew_interfaces::sensor_msgs::msg::{Image, ImageView};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;

/// Width and height of every frame.
pub(super) const SIZE: (u32, u32) = (640, 480);

/// Bytes of a pixel: red, green, blue.
const PIXEL: u32 = 3;

/// Bytes of a frame's pixels.
pub(super) const BYTES: usize = SIZE.0 as usize * SIZE.1 as usize * PIXEL as usize;

/// Pixel encoding of a frame.
const ENCODING: &str = "rgb8";

/// A frame that is only read.
#[derive(Clone, Copy)]
pub(super) struct FrameView<'a> {
    /// The name of the picture in front of the camera.
    pub(super) name: &'a str,
    pub(super) width: u32,
    pub(super) height: u32,
    /// Rows of red, green, blue bytes, from the top left.
    pub(super) pixels: &'a [u8],
}

impl<'a> FrameView<'a> {
    /// Reads an image, or returns the reason why it can't be shown: any program may publish images.
    pub(super) fn of(image: &'a ImageView<'_>) -> Result<Self, String> {
        let &ImageView { width, height, step, .. } = image;
        let pixels = image.data;
        if image.encoding.to_str() != Ok(ENCODING) {
            return Err(format!("a frame is not encoded as {ENCODING}"));
        }
        // Another publisher's images are pictures without a name.
        let name = image.header.frame_id.to_str().unwrap_or_default();
        let row = u64::from(width) * u64::from(PIXEL);
        let needed = u128::from(row) * u128::from(height);
        if u64::from(step) != row || pixels.len() as u128 != needed {
            return Err(format!(
                "a frame of {width}x{height} has {} bytes in rows of {step}, not {needed}",
                pixels.len()
            ));
        }
        Ok(Self { name, width, height, pixels })
    }
}

/// Returns a frame without its pixels; the `frame_id` is the name of the picture.
pub(super) fn begun(name: &str) -> Image {
    let (width, height) = SIZE;
    let encoding = ENCODING.to_owned();
    let mut frame = Image { width, height, encoding, step: width * PIXEL, ..Image::default() };
    frame.header.frame_id.push_str(name);
    frame
}

/// The pictures in front of the camera; `pictures/README.md` names their authors.
const PICTURES: [(&str, &[u8]); 4] = [
    ("astronaut", include_bytes!("../../pictures/astronaut.jpg")),
    ("coffee", include_bytes!("../../pictures/coffee.jpg")),
    ("chelsea", include_bytes!("../../pictures/chelsea.jpg")),
    ("rocket", include_bytes!("../../pictures/rocket.jpg")),
];

/// A picture in front of the camera: larger than the frame, so that there is something to pan over.
struct Photograph {
    name: &'static str,
    width: usize,
    height: usize,
    /// Rows of red, green, blue bytes, from the top left.
    pixels: Vec<u8>,
}

/// A camera that pans over one picture after another, so that each frame differs from the previous
/// one.
pub(super) struct Camera {
    pictures: Vec<Photograph>,
    frames_per_picture: u64,
    number: u64,
}

impl Camera {
    /// Decodes the pictures; each will be shown for `frames_per_picture` frames (at least one).
    pub(super) fn new(frames_per_picture: u64) -> Self {
        let decode = |(name, bytes)| {
            let mut decoder = JpegDecoder::new(ZCursor::new(bytes));
            let pixels = decoder.decode().expect("a picture that is part of the program decodes");
            let (width, height) = decoder.dimensions().unwrap_or_default(); // known by now
            Photograph { name, width, height, pixels }
        };
        let pictures = PICTURES.into_iter().map(decode).collect();
        Self { pictures, frames_per_picture: frames_per_picture.max(1), number: 0 }
    }

    fn picture(&self) -> &Photograph {
        let index = usize::try_from(self.number / self.frames_per_picture).unwrap_or(0) % self.pictures.len();
        &self.pictures[index]
    }

    /// Returns the picture of the next frame.
    pub(super) fn sees(&self) -> &'static str {
        self.picture().name
    }

    /// Writes the pixels of the next frame.
    pub(super) fn expose(&mut self, pixels: &mut [u8]) {
        let picture = self.picture();
        let (width, height) = (SIZE.0 as usize, SIZE.1 as usize);
        let left = swing(self.number * 3, picture.width - width);
        let top = swing(self.number * 2, picture.height - height);
        let row_bytes = width * 3;
        let rows = picture.pixels.chunks_exact(picture.width * 3).skip(top).take(height);
        for (to, row) in pixels.chunks_exact_mut(row_bytes).zip(rows) {
            to.copy_from_slice(&row[left * 3..left * 3 + row_bytes]);
        }
        self.number += 1;
    }
}

/// Goes from 0 up to `span` and back again, in steps of one.
fn swing(step: u64, span: usize) -> usize {
    let span = span as u64;
    if span == 0 {
        return 0;
    }
    let at = step % (2 * span);
    usize::try_from(at.min(2 * span - at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::msg::view::Viewed;

    #[test]
    fn every_picture_is_larger_than_the_frame() {
        for Photograph { name, width, height, pixels } in Camera::new(1).pictures {
            assert!(width >= SIZE.0 as usize + 160 && height >= SIZE.1 as usize + 120, "{name}");
            assert_eq!(pixels.len(), width * height * PIXEL as usize, "{name}");
        }
    }

    /// Returns the next frame.
    fn capture(camera: &mut Camera) -> Image {
        let mut frame = begun(camera.sees());
        frame.data.resize(BYTES, 0);
        camera.expose(&mut frame.data);
        frame
    }

    #[test]
    fn frames_follow_each_other_and_differ() {
        let mut camera = Camera::new(3);
        let mut before = Image::default();
        for number in 0..14 {
            let frame = capture(&mut camera);
            assert_eq!((frame.width, frame.height, frame.step), (640, 480, 1920));
            assert_ne!(frame.data, before.data, "frame {number}");
            before = frame;
        }
        assert_eq!(
            before.header.frame_id, "astronaut",
            "after four pictures of three frames it starts again"
        );
    }

    #[test]
    fn a_frame_is_seen_as_it_was_made() {
        let mut camera = Camera::new(1);
        for _ in 0..3 {
            let name = camera.sees();
            let frame = capture(&mut camera);
            let view = Viewed::of(&frame);
            let picture = FrameView::of(&view).unwrap();
            assert_eq!((picture.name, picture.width, picture.height), (name, 640, 480));
            assert!(picture.pixels == frame.data, "{}", picture.name);
        }
    }

    #[test]
    fn what_is_no_frame_says_why() {
        let frame = || Image { data: vec![0; BYTES], ..begun("cat") };
        let of = |image: Image| FrameView::of(&Viewed::of(&image)).map(drop).unwrap_err();
        assert!(of(Image { encoding: "mono8".to_owned(), ..frame() }).contains("rgb8"));
        assert!(of(Image { data: vec![0; 3], ..frame() }).contains("has 3 bytes"));
        assert!(of(Image { step: 0, ..frame() }).contains("rows of 0"));
        assert!(of(Image { width: u32::MAX, height: u32::MAX, ..frame() }).contains("in rows of 1920"));
    }

    #[test]
    fn swinging() {
        assert_eq!((0..7).map(|step| swing(step, 3)).collect::<Vec<_>>(), [0, 1, 2, 3, 2, 1, 0]);
        assert_eq!(swing(5, 0), 0);
    }
}
