//! The messages of the demonstration, and where their contents come from.

use image::RgbImage;
use image::imageops::{self, FilterType};
use sinew::Message;

/// Width and height of every frame.
pub(super) const SIZE: (u32, u32) = (640, 480);

/// How much larger than the frame the pictures are, so that there is something to pan over.
const MARGIN: (u32, u32) = (160, 120);

/// Bytes of a frame's pixels.
const BYTES: usize = SIZE.0 as usize * SIZE.1 as usize * 3;

/// Bytes of a picture's name, at most.
const NAME: usize = 16;

/// A camera image: rows of red, green, blue bytes, from the top left.
pub(super) trait Picture: Message + Clone + Default {
    /// Width and height.
    fn size(&self) -> (u32, u32);

    /// The picture in front of the camera.
    fn name(&self) -> &str;

    /// Counts from 0; a gap means that frames were lost.
    fn number(&self) -> u64;

    fn pixels(&self) -> &[u8];

    fn pixels_mut(&mut self) -> &mut [u8];

    /// Makes it the frame of that number, of [`SIZE`]. Its pixels are still to be written.
    fn begin(&mut self, name: &str, number: u64);
}

/// An image for nodes of one process.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) pixels: Vec<u8>,
    /// The picture in front of the camera.
    pub(super) name: String,
    /// Counts from 0; a gap means that frames were lost.
    pub(super) number: u64,
}

impl Message for Frame {}

impl Picture for Frame {
    fn size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn number(&self) -> u64 {
        self.number
    }

    fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    fn pixels_mut(&mut self) -> &mut [u8] {
        &mut self.pixels
    }

    fn begin(&mut self, name: &str, number: u64) {
        ((self.width, self.height), self.number) = (SIZE, number);
        self.pixels.resize(BYTES, 0);
        self.name.clear();
        self.name.push_str(name);
    }
}

/// An image for nodes of several processes: it is written and read where it lies, in shared memory.
#[derive(Clone, Copy, Message)]
#[message(plain)]
#[repr(C)]
pub(super) struct SharedFrame {
    number: u64,
    /// In UTF-8; what is left of it is 0.
    name: [u8; NAME],
    pixels: [u8; BYTES],
}

impl Default for SharedFrame {
    fn default() -> Self {
        Self { number: 0, name: [0; NAME], pixels: [0; BYTES] }
    }
}

impl Picture for SharedFrame {
    fn size(&self) -> (u32, u32) {
        SIZE
    }

    fn name(&self) -> &str {
        let end = self.name.iter().position(|&byte| byte == 0).unwrap_or(NAME);
        // Who writes something else there shows pictures without a name.
        str::from_utf8(&self.name[..end]).unwrap_or_default()
    }

    fn number(&self) -> u64 {
        self.number
    }

    fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    fn pixels_mut(&mut self) -> &mut [u8] {
        &mut self.pixels
    }

    fn begin(&mut self, name: &str, number: u64) {
        self.number = number;
        self.name = [0; NAME];
        self.name.iter_mut().zip(name.bytes()).for_each(|(to, byte)| *to = byte);
    }
}

/// The pictures in front of the camera; `pictures/README.md` says whose they are.
const PICTURES: [(&str, &[u8]); 4] = [
    ("astronaut", include_bytes!("../../pictures/astronaut.png")),
    ("coffee", include_bytes!("../../pictures/coffee.png")),
    ("chelsea", include_bytes!("../../pictures/chelsea.png")),
    ("rocket", include_bytes!("../../pictures/rocket.jpg")),
];

/// A camera that pans over one picture after another, so that every frame differs from the one before.
pub(super) struct Camera {
    pictures: Vec<(&'static str, RgbImage)>,
    frames_per_picture: u64,
    number: u64,
}

impl Camera {
    /// Decodes the pictures; each will be shown for that many frames (at least one).
    pub(super) fn new(frames_per_picture: u64) -> Self {
        let decode = |(name, bytes)| {
            let picture =
                image::load_from_memory(bytes).expect("a picture that is part of the program decodes");
            (name, enlarged(&picture.into_rgb8()))
        };
        let pictures = PICTURES.into_iter().map(decode).collect();
        Self { pictures, frames_per_picture: frames_per_picture.max(1), number: 0 }
    }

    /// Writes the next image into `frame`, reusing what it has allocated.
    pub(super) fn capture(&mut self, frame: &mut impl Picture) {
        let index = usize::try_from(self.number / self.frames_per_picture).unwrap_or(0) % self.pictures.len();
        let (name, picture) = &self.pictures[index];
        let (width, height) = SIZE;
        let left = swing(self.number * 3, picture.width() - width) as usize;
        let top = swing(self.number * 2, picture.height() - height) as usize;
        let row_bytes = width as usize * 3;
        frame.begin(name, self.number);
        let rows =
            picture.as_raw().chunks_exact(picture.width() as usize * 3).skip(top).take(height as usize);
        for (to, row) in frame.pixels_mut().chunks_exact_mut(row_bytes).zip(rows) {
            to.copy_from_slice(&row[left * 3..left * 3 + row_bytes]);
        }
        self.number += 1;
    }
}

/// The picture, scaled to just cover the frame and its margin.
fn enlarged(picture: &RgbImage) -> RgbImage {
    let (width, height) = (SIZE.0 + MARGIN.0, SIZE.1 + MARGIN.1);
    let (own_width, own_height) = picture.dimensions();
    // Whichever side needs more enlarging decides; the other side then is longer than needed.
    let scale_by_width = u64::from(width) * u64::from(own_height) >= u64::from(height) * u64::from(own_width);
    let (times, per) = if scale_by_width { (width, own_width) } else { (height, own_height) };
    let scaled = |side: u32| (u64::from(side) * u64::from(times)).div_ceil(u64::from(per));
    let size = [own_width, own_height].map(|side| u32::try_from(scaled(side)).unwrap_or(side));
    imageops::resize(picture, size[0].max(width), size[1].max(height), FilterType::Triangle)
}

/// Goes from 0 up to `span` and back again, one step each.
fn swing(step: u64, span: u32) -> u32 {
    let span = u64::from(span);
    if span == 0 {
        return 0;
    }
    let at = step % (2 * span);
    u32::try_from(at.min(2 * span - at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_picture_covers_the_frame_with_its_margin_and_no_more_than_needed() {
        for (name, picture) in &Camera::new(1).pictures {
            let (width, height) = picture.dimensions();
            let (least_width, least_height) = (SIZE.0 + MARGIN.0, SIZE.1 + MARGIN.1);
            assert!(width >= least_width && height >= least_height, "{name}: {width}x{height}");
            assert!(width <= least_width + 1 || height <= least_height + 1, "{name}: {width}x{height}");
        }
    }

    #[test]
    fn frames_follow_each_other_and_differ() {
        let mut camera = Camera::new(3);
        let (mut frame, mut before) = (Frame::default(), Frame::default());
        for number in 0..14 {
            camera.capture(&mut frame);
            assert_eq!((frame.width, frame.height, frame.number), (640, 480, number));
            assert_eq!(frame.pixels.len(), 640 * 480 * 3);
            assert_ne!(frame.pixels, before.pixels, "frame {number}");
            std::mem::swap(&mut frame, &mut before);
        }
        assert_eq!(before.name, "astronaut", "after four pictures of three frames it starts again");
    }

    #[test]
    fn both_kinds_of_frame_show_the_same() {
        let mut frame = Frame::default();
        let mut shared = Box::<SharedFrame>::default();
        let mut cameras = [Camera::new(1), Camera::new(1)];
        for number in 0..3 {
            cameras[0].capture(&mut frame);
            cameras[1].capture(&mut *shared);
            assert_eq!((frame.size(), frame.name(), frame.number()), (shared.size(), shared.name(), number));
            assert!(frame.pixels() == shared.pixels(), "frame {number}");
        }
        shared.name = [0xff; NAME];
        assert_eq!(shared.name(), "");
    }

    #[test]
    fn a_used_frame_is_filled_without_allocating() {
        let mut camera = Camera::new(1);
        let mut frame = Frame::default();
        camera.capture(&mut frame);
        let address = frame.pixels.as_ptr();
        camera.capture(&mut frame);
        assert_eq!(frame.pixels.as_ptr(), address);
    }

    #[test]
    fn swinging() {
        assert_eq!((0..7).map(|step| swing(step, 3)).collect::<Vec<_>>(), [0, 1, 2, 3, 2, 1, 0]);
        assert_eq!(swing(5, 0), 0);
    }
}
