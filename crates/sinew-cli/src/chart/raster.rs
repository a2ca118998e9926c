//! Drawings as PNG, on a light page.
//!
//! Lines are drawn three times as large and made smaller, which smooths them; letters are drawn
//! as they are.

use std::io;

use embedded_graphics::Pixel;
use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{OriginDimensions, Point as Place, Size};
use embedded_graphics::mono_font::MonoTextStyle;
use embedded_graphics::mono_font::iso_8859_1::FONT_7X13;
use embedded_graphics::pixelcolor::{Rgb888, RgbColor};
use embedded_graphics::prelude::{Drawable, Primitive};
use embedded_graphics::primitives::{Line, PrimitiveStyle, Rectangle};
use embedded_graphics::text::{Alignment, Text};
use png::{BitDepth, ColorType, Encoder};

use super::canvas::{Anchor, Canvas, Drawing, Ink, Point, heat};
use super::ticks::whole;
use crate::svg::COLOURS;

/// Pixels of the large drawing for one of the picture, in each direction.
const SCALE: usize = 3;

/// Encodes pixels.
pub(crate) fn encode(
    (width, height): (u32, u32),
    (color, depth): (ColorType, BitDepth),
    pixels: &[u8],
) -> io::Result<Vec<u8>> {
    let mut png = Vec::new();
    let mut encoder = Encoder::new(&mut png, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    let mut writer = encoder.write_header().map_err(io::Error::other)?;
    writer.write_image_data(pixels).map_err(io::Error::other)?;
    writer.finish().map_err(io::Error::other)?;
    Ok(png)
}

/// Returns the drawing as PNG.
pub(crate) fn png(drawing: &dyn Drawing) -> io::Result<Vec<u8>> {
    let (width, height) = drawing.size();
    let (width, height) = (whole(width.ceil()), whole(height.ceil()));
    let mut raster = Raster { large: Pixels::new(width * SCALE, height * SCALE), texts: Vec::new() };
    drawing.draw(&mut raster);
    let mut small = raster.large.smaller();
    for (at, text, anchor, ink) in &raster.texts {
        let alignment = match anchor {
            Anchor::Start => Alignment::Left,
            Anchor::Middle => Alignment::Center,
            Anchor::End => Alignment::Right,
        };
        let style = MonoTextStyle::new(&FONT_7X13, colour(*ink));
        let Ok(_) = Text::with_alignment(text, place(*at, 1.0), style, alignment).draw(&mut small);
    }
    let number = |length: usize| u32::try_from(length).map_err(io::Error::other);
    encode((number(width)?, number(height)?), (ColorType::Rgb, BitDepth::Eight), small.bytes.as_flattened())
}

fn colour(ink: Ink) -> Rgb888 {
    if let Ink::Heat(value) = ink {
        let [red, green, blue] = heat(value);
        return Rgb888::new(red, green, blue);
    }
    let text = match ink {
        Ink::Text => "#1d2329",
        Ink::Faint => "#5f6b77",
        Ink::Grid => "#e3e8ed",
        Ink::Series(number) => COLOURS[number % COLOURS.len()],
        Ink::Heat(_) => "", // above
    };
    let part = |at| text.get(at..at + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok()).unwrap_or(0);
    Rgb888::new(part(1), part(3), part(5))
}

#[expect(clippy::cast_possible_truncation, reason = "places are in the picture, and it is smaller")]
fn place((x, y): Point, scale: f64) -> Place {
    Place::new((x * scale).round() as i32, (y * scale).round() as i32)
}

struct Raster {
    large: Pixels,
    texts: Vec<(Point, String, Anchor, Ink)>,
}

impl Canvas for Raster {
    fn line(&mut self, points: &[Point], ink: Ink, width: f64) {
        if let [(x, y)] = points {
            return self.rectangle((x - 2.0, y - 2.0), (5.0, 5.0), ink);
        }
        let width = u32::try_from(whole(width * SCALE as f64)).unwrap_or(1);
        let style = PrimitiveStyle::with_stroke(colour(ink), width.max(1));
        for pair in points.windows(2) {
            let (from, to) = (place(pair[0], SCALE as f64), place(pair[1], SCALE as f64));
            let Ok(()) = Line::new(from, to).into_styled(style).draw(&mut self.large);
        }
    }

    fn rectangle(&mut self, corner: Point, size: Point, ink: Ink) {
        let opposite = place((corner.0 + size.0, corner.1 + size.1), SCALE as f64);
        let corner = place(corner, SCALE as f64);
        let style = PrimitiveStyle::with_fill(colour(ink));
        let rectangle = Rectangle::with_corners(corner, opposite - Place::new(1, 1));
        let Ok(()) = rectangle.into_styled(style).draw(&mut self.large);
    }

    fn text(&mut self, at: Point, text: &str, anchor: Anchor, ink: Ink) {
        self.texts.push((at, text.to_owned(), anchor, ink));
    }
}

struct Pixels {
    width: usize,
    bytes: Vec<[u8; 3]>,
}

impl Pixels {
    fn new(width: usize, height: usize) -> Self {
        Self { width, bytes: vec![[0xff; 3]; width * height] }
    }

    /// Returns the picture of which each pixel is the mean of `SCALE` times `SCALE` of these.
    fn smaller(&self) -> Self {
        let (width, height) = (self.width / SCALE, self.bytes.len() / self.width / SCALE);
        let mut small = Self::new(width, height);
        for (at, pixel) in small.bytes.iter_mut().enumerate() {
            let begin = at / width * SCALE * self.width + at % width * SCALE;
            for (part, byte) in pixel.iter_mut().enumerate() {
                let rows = (0..SCALE).map(|row| begin + row * self.width);
                let of_row =
                    |row: usize| self.bytes[row..row + SCALE].iter().map(|large| usize::from(large[part]));
                let sum: usize = rows.flat_map(of_row).sum();
                *byte = u8::try_from(sum / (SCALE * SCALE)).unwrap_or(u8::MAX);
            }
        }
        small
    }
}

impl OriginDimensions for Pixels {
    fn size(&self) -> Size {
        let length = |pixels: usize| u32::try_from(pixels).unwrap_or(u32::MAX);
        Size::new(length(self.width), length(self.bytes.len() / self.width.max(1)))
    }
}

impl DrawTarget for Pixels {
    type Color = Rgb888;
    type Error = std::convert::Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(&mut self, pixels: I) -> Result<(), Self::Error> {
        for Pixel(Place { x, y }, colour) in pixels {
            let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { continue };
            let inside = (x < self.width).then(|| y * self.width + x);
            if let Some(pixel) = inside.and_then(|at| self.bytes.get_mut(at)) {
                *pixel = [colour.r(), colour.g(), colour.b()];
            }
        }
        Ok(())
    }
}
