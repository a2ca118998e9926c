//! The message of the demonstration, and where its contents come from.

use image::RgbImage;
use image::imageops::{self, FilterType};

/// Width and height of every frame.
pub(super) const SIZE: (u32, u32) = (640, 480);

/// How much larger than the frame the pictures are, so that there is something to pan over.
const MARGIN: (u32, u32) = (160, 120);

/// A camera image: rows of red, green, blue bytes, from the top left.
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
    pub(super) fn capture(&mut self, frame: &mut Frame) {
        let index = usize::try_from(self.number / self.frames_per_picture).unwrap_or(0) % self.pictures.len();
        let (name, picture) = &self.pictures[index];
        let (width, height) = SIZE;
        let left = swing(self.number * 3, picture.width() - width) as usize;
        let top = swing(self.number * 2, picture.height() - height) as usize;
        let row_bytes = width as usize * 3;
        frame.pixels.clear();
        for row in picture.as_raw().chunks_exact(picture.width() as usize * 3).skip(top).take(height as usize)
        {
            frame.pixels.extend_from_slice(&row[left * 3..left * 3 + row_bytes]);
        }
        (frame.width, frame.height, frame.number) = (width, height, self.number);
        frame.name.clear();
        frame.name.push_str(name);
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
