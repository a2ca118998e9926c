//! The pixels of `sensor_msgs/Image` as PNG has them.

use png::{BitDepth, ColorType};
use sinew_interfaces::sensor_msgs::msg::Image;

/// A picture that can be encoded.
#[derive(Debug, PartialEq)]
pub(super) struct Pixels {
    pub(super) size: (u32, u32),
    pub(super) colour: ColorType,
    pub(super) depth: BitDepth,
    pub(super) bytes: Vec<u8>,
}

/// The pixels of an encoding.
#[derive(Clone, Copy)]
enum Form {
    /// Bytes of each pixel, and for each byte of PNG's pixel the place of its source.
    Bytes(&'static [usize]),
    /// Grey of 16 bits.
    Grey16,
    /// Distances of 16 bits, scaled to 8 bits of grey.
    Distance16,
    /// Distances as `f32`, scaled to 8 bits of grey.
    Distance32,
}

impl Form {
    /// The names are those of `sensor_msgs/image_encodings.hpp`. Bayer patterns become grey.
    fn of(encoding: &str) -> Option<Self> {
        Some(match encoding {
            "rgb8" => Self::Bytes(&[0, 1, 2]),
            "bgr8" | "8UC3" => Self::Bytes(&[2, 1, 0]),
            "rgba8" => Self::Bytes(&[0, 1, 2, 3]),
            "bgra8" | "8UC4" => Self::Bytes(&[2, 1, 0, 3]),
            "mono8" | "8UC1" | "bayer_rggb8" | "bayer_bggr8" | "bayer_gbrg8" | "bayer_grbg8" => {
                Self::Bytes(&[0])
            }
            "mono16" | "bayer_rggb16" | "bayer_bggr16" | "bayer_gbrg16" | "bayer_grbg16" => Self::Grey16,
            "16UC1" => Self::Distance16,
            "32FC1" => Self::Distance32,
            _ => return None,
        })
    }

    /// Bytes of a pixel.
    fn width(self) -> usize {
        match self {
            Self::Bytes(places) => places.len(),
            Self::Grey16 | Self::Distance16 => 2,
            Self::Distance32 => 4,
        }
    }
}

/// Converts an image.
pub(super) fn of(image: &Image) -> Result<Pixels, String> {
    let form = Form::of(&image.encoding)
        .ok_or_else(|| format!("the encoding `{}` can't be made a picture", image.encoding))?;
    let number = |value: u32| usize::try_from(value).unwrap_or(usize::MAX);
    let (width, height, step) = (number(image.width), number(image.height), number(image.step));
    let row = width.saturating_mul(form.width());
    let has_all = step >= row && image.data.len() / step.max(1) >= height;
    if !has_all || width == 0 || height == 0 {
        let (width, height, bytes) = (image.width, image.height, image.data.len());
        return Err(format!("{width} x {height} pixels with a step of {step} are not in {bytes} bytes"));
    }
    let pixels = image.data.chunks_exact(step).take(height).flat_map(|line| line[..row].chunks(form.width()));
    let u16_of = |bytes: &[u8]| match *bytes {
        [first, second] if image.is_bigendian != 0 => u16::from_be_bytes([first, second]),
        [first, second] => u16::from_le_bytes([first, second]),
        _ => 0,
    };
    let (colour, depth, bytes) = match form {
        Form::Bytes(places) => {
            let colour = match places.len() {
                1 => ColorType::Grayscale,
                3 => ColorType::Rgb,
                _ => ColorType::Rgba,
            };
            (colour, BitDepth::Eight, pixels.flat_map(|pixel| places.iter().map(|at| pixel[*at])).collect())
        }
        Form::Grey16 => {
            let bytes = pixels.flat_map(|pixel| u16_of(pixel).to_be_bytes()).collect();
            (ColorType::Grayscale, BitDepth::Sixteen, bytes)
        }
        Form::Distance16 => {
            let distances = pixels.map(|pixel| f32::from(u16_of(pixel)));
            (ColorType::Grayscale, BitDepth::Eight, scaled(&distances.collect::<Vec<_>>()))
        }
        Form::Distance32 => {
            let distances = pixels.map(|pixel| {
                let bytes = pixel.try_into().unwrap_or_default();
                if image.is_bigendian != 0 { f32::from_be_bytes(bytes) } else { f32::from_le_bytes(bytes) }
            });
            (ColorType::Grayscale, BitDepth::Eight, scaled(&distances.collect::<Vec<_>>()))
        }
    };
    Ok(Pixels { size: (image.width, image.height), colour, depth, bytes })
}

/// Scales distances to grey: near is bright. Black is a pixel without one: 0, or not finite.
fn scaled(distances: &[f32]) -> Vec<u8> {
    let is_known = |distance: &f32| distance.is_finite() && *distance != 0.0;
    let known = distances.iter().copied().filter(is_known);
    let (low, high) = known.fold((f32::MAX, f32::MIN), |(low, high), one| (low.min(one), high.max(one)));
    let grey = |distance: &f32| {
        let far = (distance - low) / (high - low).max(f32::MIN_POSITIVE);
        let bright = crate::chart::whole(f64::from(255.0 - far * 223.0));
        if is_known(distance) { u8::try_from(bright).unwrap_or(u8::MAX) } else { 0 }
    };
    distances.iter().map(grey).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(encoding: &str, width: u32, step: u32, data: &[u8]) -> Image {
        Image {
            width,
            height: 1,
            step,
            encoding: encoding.to_owned(),
            data: data.to_vec(),
            ..Image::default()
        }
    }

    #[test]
    fn colours_are_put_in_order_and_lines_lose_their_padding() {
        let of = |encoding, data: &[u8]| of(&image(encoding, 1, 5, data)).unwrap();
        assert_eq!(of("rgb8", &[1, 2, 3, 9, 9]).bytes, [1, 2, 3]);
        assert_eq!(of("bgr8", &[1, 2, 3, 9, 9]).bytes, [3, 2, 1]);
        assert_eq!(of("bgra8", &[1, 2, 3, 4, 9]).bytes, [3, 2, 1, 4]);
        assert_eq!(of("rgba8", &[1, 2, 3, 4, 9]).colour, ColorType::Rgba);
        assert_eq!(of("bayer_rggb8", &[7, 9, 9, 9, 9]).bytes, [7]);
        let grey = of("mono16", &[0x34, 0x12, 9, 9, 9]);
        assert_eq!((grey.depth, grey.bytes), (BitDepth::Sixteen, vec![0x12, 0x34]));
    }

    #[test]
    fn distances_are_scaled_and_unknown_ones_are_black() {
        let data: Vec<u8> = [1.0_f32, 3.0, f32::NAN, 0.0].into_iter().flat_map(f32::to_le_bytes).collect();
        assert_eq!(of(&image("32FC1", 4, 16, &data)).unwrap().bytes, [255, 32, 0, 0]);
        assert_eq!(of(&image("16UC1", 2, 4, &[0, 0, 5, 0])).unwrap().bytes, [0, 255]);
    }

    #[test]
    fn wrong_sizes_and_encodings_are_errors() {
        for (image, problem) in [
            (image("yuv422", 1, 3, &[0; 3]), "`yuv422`"),
            (image("rgb8", 2, 5, &[0; 5]), "are not in 5 bytes"),
            (image("rgb8", 1, 3, &[0; 2]), "are not in 2 bytes"),
            (image("rgb8", 0, 3, &[0; 3]), "0 x 1"),
            (image("rgba8", u32::MAX, u32::MAX, &[0; 3]), "4294967295"),
        ] {
            let error = of(&image).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }
}
