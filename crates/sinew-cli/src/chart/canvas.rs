//! What drawings are drawn on.

/// A place or a size, in pixels; y grows downwards.
pub(crate) type Point = (f64, f64);

/// The colour of something.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    Text,
    Faint,
    Grid,
    /// The colour of a series or row, by its number.
    Series(usize),
    /// From blue by green to red.
    Heat(u8),
}

/// Returns the parts of [`Ink::Heat`].
pub(super) fn heat(value: u8) -> [u8; 3] {
    let part = |middle: i32| {
        let far = (i32::from(value) - middle).abs();
        u8::try_from((330 - far * 2).clamp(0, 220)).unwrap_or(0)
    };
    [part(235), part(130), part(20)]
}

/// The part of a text that is at the given place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A surface.
pub(crate) trait Canvas {
    /// Draws a line through these points, `width` pixels wide. One point is a dot.
    fn line(&mut self, points: &[Point], ink: Ink, width: f64);

    /// Fills a rectangle.
    fn rectangle(&mut self, corner: Point, size: Point, ink: Ink);

    /// Writes a text; `at` is on its base line.
    fn text(&mut self, at: Point, text: &str, anchor: Anchor, ink: Ink);
}

/// Something that can be drawn.
pub(crate) trait Drawing {
    /// Its title.
    fn title(&self) -> &str;

    /// Its width and height.
    fn size(&self) -> (f64, f64);

    /// Draws it.
    fn draw(&self, canvas: &mut dyn Canvas);
}
