//! Images for slow links: scaled down, and compressed as JPEG. No I/O, no locks.

use jpeg_encoder::{ColorType, Encoder, EncodingError};
use sinew_interfaces::sensor_msgs::msg::{CompressedImage, Image, ImageView};
use sinew_interfaces::std_msgs::msg::Header;
use sinew_msg::{DecodeError, Encoding, Message as _, view};

/// The type of images that can be compressed.
pub(crate) const IMAGE: &Encoding<Image> = Image::ENCODING.expect("generated types have one");

/// The type that they are compressed to.
pub(crate) const COMPRESSED: &Encoding<CompressedImage> =
    CompressedImage::ENCODING.expect("generated types have one");

/// The reason why an image isn't compressed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ImageError {
    #[error(transparent)]
    Malformed(#[from] DecodeError),
    #[error("the encoding `{encoding}` can't be compressed")]
    Encoding { encoding: String },
    #[error("{width} x {height} pixels with a step of {step} are not in {bytes} bytes")]
    Size { width: u32, height: u32, step: u32, bytes: usize },
    #[error(transparent)]
    Jpeg(#[from] EncodingError),
}

/// The pixels of an encoding.
#[derive(Clone, Copy)]
struct Layout {
    colour: ColorType,
    /// Samples of a pixel.
    samples: usize,
    /// Bytes of a sample.
    bytes: usize,
}

impl Layout {
    /// The names are those of `sensor_msgs/image_encodings.hpp`. Alpha is left out. `8UC1`, `8UC3` and
    /// `8UC4` don't name their colours: images of OpenCV have blue first.
    fn of(encoding: &str) -> Option<Self> {
        let (colour, samples, bytes) = match encoding {
            "rgb8" => (ColorType::Rgb, 3, 1),
            "bgr8" | "8UC3" => (ColorType::Bgr, 3, 1),
            "rgba8" => (ColorType::Rgba, 4, 1),
            "bgra8" | "8UC4" => (ColorType::Bgra, 4, 1),
            "mono8" | "8UC1" => (ColorType::Luma, 1, 1),
            "mono16" => (ColorType::Luma, 1, 2),
            _ => return None,
        };
        Some(Self { colour, samples, bytes })
    }
}

/// Compresses the images of a topic. It keeps its buffers from one image to the next.
pub(crate) struct Compressor {
    /// The largest width, in pixels.
    width: u16,
    /// From 1 to 100.
    quality: u8,
    /// The samples of the scaled image.
    pixels: Vec<u8>,
    /// The sum of each column's samples over the rows of an area.
    sums: Vec<u32>,
}

impl Compressor {
    pub(crate) fn new(width: u16, quality: u8) -> Self {
        Self { width, quality, pixels: Vec::new(), sums: Vec::new() }
    }

    /// Returns the encoded `CompressedImage` of an encoded `Image`.
    pub(crate) fn compress(&mut self, encoded: &[u8]) -> Result<Vec<u8>, ImageError> {
        let image = view::view::<Image>(encoded)?;
        let layout = image.encoding.to_str().ok().and_then(Layout::of);
        let layout = layout.ok_or_else(|| ImageError::Encoding { encoding: image.encoding.to_string() })?;
        let (width, height) = self.scale(&image, layout)?;
        let mut data = Vec::new();
        Encoder::new(&mut data, self.quality).encode(&self.pixels, width, height, layout.colour)?;
        let header = Header { stamp: image.header.stamp, frame_id: image.header.frame_id.to_string() };
        let message = CompressedImage { header, format: "jpeg".to_owned(), data };
        let mut bytes = vec![0; (COMPRESSED.size)(&message)];
        (COMPRESSED.encode)(&message, &mut bytes);
        Ok(bytes)
    }

    /// Puts the samples of the scaled image into `pixels`, and returns its width and height. A
    /// pixel is the mean of an area of the image; at the right and the bottom, areas may be
    /// smaller.
    fn scale(&mut self, image: &ImageView<'_>, layout: Layout) -> Result<(u16, u16), ImageError> {
        let Layout { samples, bytes, .. } = layout;
        let number = |value: u32| usize::try_from(value).unwrap_or(usize::MAX);
        let (width, height, step) = (number(image.width), number(image.height), number(image.step));
        let row = width.saturating_mul(samples * bytes);
        let has_all = step >= row && image.data.len() / step.max(1) >= height;
        if !has_all || width == 0 || height == 0 {
            let ImageView { width, height, step, data, .. } = *image;
            return Err(ImageError::Size { width, height, step, bytes: data.len() });
        }
        // JPEG has 16 bits for the height as well.
        let factor = width.div_ceil(self.width.into()).max(height.div_ceil(u16::MAX.into()));
        let data = &image.data[..height * step];
        self.pixels.clear();
        if factor == 1 && bytes == 1 {
            data.chunks_exact(step).for_each(|line| self.pixels.extend_from_slice(&line[..row]));
        } else {
            // Of 16 bits the higher 8 are taken.
            let high = if bytes == 1 || image.is_bigendian != 0 { 0 } else { 1 };
            for lines in data.chunks(step.saturating_mul(factor)) {
                self.sums.clear();
                self.sums.resize(width * samples, 0);
                for line in lines.chunks_exact(step) {
                    match bytes {
                        1 => add(&mut self.sums, line[..row].iter()),
                        _ => add(&mut self.sums, line[high..row].iter().step_by(bytes)),
                    }
                }
                let lines = lines.len() / step;
                for area in self.sums.chunks(factor * samples) {
                    self.pixels.extend(means(area, samples, lines));
                }
            }
        }
        let scaled = |length: usize| u16::try_from(length.div_ceil(factor)).unwrap_or(u16::MAX);
        Ok((scaled(width), scaled(height)))
    }
}

/// Adds a line to the sums of its columns. A sum of `n` lines is at most `255 * n`, and no image in
/// memory has areas of 2²⁴ lines, which would be as wide.
fn add<'a>(sums: &mut [u32], line: impl Iterator<Item = &'a u8>) {
    for (sum, &sample) in sums.iter_mut().zip(line) {
        *sum += u32::from(sample);
    }
}

/// Returns the mean of each of an area's samples, from the sums of its columns over some lines.
fn means(area: &[u32], samples: usize, lines: usize) -> impl Iterator<Item = u8> {
    const ONE: u64 = 1 << 32;
    // Dividing for each pixel would take longer than adding.
    let share = ONE / (area.len() / samples * lines) as u64;
    (0..samples).map(move |sample| {
        let total: u64 = area.iter().skip(sample).step_by(samples).map(|&sum| u64::from(sum)).sum();
        u8::try_from((total * share + ONE / 2) / ONE).unwrap_or(u8::MAX) // rounded
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use zune_jpeg::JpegDecoder;
    use zune_jpeg::zune_core::bytestream::ZCursor;

    fn image(encoding: &str, (width, height): (u32, u32), step: u32, data: &[u8]) -> Vec<u8> {
        let header = Header { frame_id: "lens".to_owned(), ..Header::default() };
        let encoding = encoding.to_owned();
        let image = Image { header, width, height, step, encoding, data: data.to_vec(), ..Image::default() };
        let mut bytes = vec![0; (IMAGE.size)(&image)];
        (IMAGE.encode)(&image, &mut bytes);
        bytes
    }

    /// Scales an image; returns the samples and the size.
    fn scaled(image: &[u8], width: u16) -> (Vec<u8>, (u16, u16)) {
        let mut compressor = Compressor::new(width, 80);
        let image = view::view::<Image>(image).unwrap();
        let layout = Layout::of(image.encoding.to_str().unwrap()).unwrap();
        let size = compressor.scale(&image, layout).unwrap();
        (compressor.pixels, size)
    }

    #[test]
    fn a_pixel_is_the_mean_of_its_area() {
        let grey =
            image("mono8", (5, 3), 6, &[0, 10, 1, 1, 200, 9, 20, 30, 1, 1, 100, 9, 7, 9, 255, 255, 3, 9]);
        assert_eq!(scaled(&grey, 3), (vec![15, 1, 150, 8, 255, 3], (3, 2)));
        assert_eq!(scaled(&grey, 4).1, (3, 2)); // by whole factors
        assert_eq!(scaled(&grey, 1).1, (1, 1));
        let (pixels, size) = scaled(&grey, 5); // lines lose their padding
        assert_eq!((&pixels[3..6], size), (&[1, 200, 20][..], (5, 3)));
        let colours = image("rgb8", (2, 1), 6, &[0, 100, 255, 10, 100, 255]);
        assert_eq!(scaled(&colours, 1), (vec![5, 100, 255], (1, 1)));
    }

    #[test]
    fn of_16_bits_the_higher_are_taken() {
        let mut grey = image("mono16", (2, 1), 4, &[0x01, 0x20, 0x02, 0x40]);
        assert_eq!(scaled(&grey, 2), (vec![0x20, 0x40], (2, 1)));
        assert_eq!(scaled(&grey, 1), (vec![0x30], (1, 1)));
        let mut big = Image::ENCODING.map(|encoding| (encoding.decode)(&grey).unwrap()).unwrap();
        big.is_bigendian = 1;
        (IMAGE.encode)(&big, &mut grey);
        assert_eq!(scaled(&grey, 2).0, [1, 2]);
    }

    #[test]
    fn colours_survive_in_all_encodings() {
        for (encoding, pixel, expected) in [
            ("rgb8", &[200, 100, 50][..], [200, 100, 50]),
            ("bgr8", &[50, 100, 200], [200, 100, 50]),
            ("rgba8", &[200, 100, 50, 0], [200, 100, 50]),
            ("bgra8", &[50, 100, 200, 255], [200, 100, 50]),
            ("mono8", &[90], [90; 3]),
            ("mono16", &[7, 90], [90; 3]),
            ("8UC1", &[90], [90; 3]),
            ("8UC3", &[50, 100, 200], [200, 100, 50]),
            ("8UC4", &[50, 100, 200, 255], [200, 100, 50]),
        ] {
            let step = u32::try_from(pixel.len()).unwrap() * 64;
            let encoded = image(encoding, (64, 48), step, &pixel.repeat(64 * 48));
            let compressed = Compressor::new(20, 80).compress(&encoded).unwrap();
            let compressed = (COMPRESSED.decode)(&compressed).unwrap();
            assert_eq!((compressed.format.as_str(), compressed.header.frame_id.as_str()), ("jpeg", "lens"));
            let mut decoder = JpegDecoder::new(ZCursor::new(&compressed.data));
            let pixels = decoder.decode().unwrap();
            assert_eq!(decoder.dimensions(), Some((16, 12)), "{encoding}");
            let samples = pixels.len() / (16 * 12);
            let is_near = |(index, &sample): (usize, &u8)| sample.abs_diff(expected[index % samples]) < 5;
            assert!(pixels.iter().enumerate().all(is_near), "{encoding}: {:?}", &pixels[..3]);
        }
    }

    #[test]
    fn wrong_sizes_and_encodings_are_errors() {
        let mut compressor = Compressor::new(640, 80);
        for (image, problem) in [
            (image("bayer_rggb8", (1, 1), 1, &[0]), "the encoding `bayer_rggb8` can't be compressed"),
            (image("8UC2", (1, 1), 2, &[0; 2]), "`8UC2`"),
            (image("16UC1", (1, 1), 2, &[0; 2]), "`16UC1`"),
            (image("rgb8", (2, 1), 5, &[0; 5]), "are not in 5 bytes"),
            (image("rgb8", (1, 1), 3, &[0; 2]), "are not in 2 bytes"),
            (image("rgb8", (0, 1), 3, &[0; 3]), "0 x 1"),
            (image("rgba8", (u32::MAX, 1), u32::MAX, &[0; 3]), "4294967295"),
            (vec![0, 1, 0, 0, 1], "the message ends at byte 5"),
        ] {
            let error = compressor.compress(&image).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
