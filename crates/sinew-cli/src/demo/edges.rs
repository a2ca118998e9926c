//! The filter of the demonstration: darkens an image and draws its edges over it, in place.

/// Finds edges with Sobel's operator. Keeps only three rows of brightness, so a frame is filtered
/// in place.
#[derive(Default)]
pub(super) struct Edges {
    above: Vec<i16>,
    here: Vec<i16>,
    below: Vec<i16>,
}

/// The colour of a full edge.
const EDGE: [u8; 3] = [255, 214, 128];

impl Edges {
    /// Filters rows of `width` pixels of three bytes, with edges of `strength` percent; an
    /// incomplete last row is left unchanged. Allocates only when an image is wider than any
    /// before.
    pub(super) fn draw(&mut self, width: usize, pixels: &mut [u8], strength: u16) {
        let row_bytes = width * 3;
        let Some(rows) = pixels.len().checked_div(row_bytes).filter(|&rows| rows > 0) else { return };
        brightness(&pixels[..row_bytes], &mut self.here);
        self.above.clone_from(&self.here); // the first row is repeated above the image
        for row in 0..rows {
            let (this, rest) = pixels[row * row_bytes..].split_at_mut(row_bytes);
            // The row below is still as the camera made it: only the rows above have been changed.
            match rest.get(..row_bytes) {
                Some(next) => brightness(next, &mut self.below),
                None => self.below.clone_from(&self.here),
            }
            self.draw_row(this, strength);
            std::mem::swap(&mut self.above, &mut self.here);
            std::mem::swap(&mut self.here, &mut self.below);
        }
    }

    fn draw_row(&self, row: &mut [u8], percent: u16) {
        let windows = self.above.windows(3).zip(self.here.windows(3)).zip(self.below.windows(3));
        for (pixel, ((above, here), below)) in row.chunks_exact_mut(3).zip(windows) {
            let across = (above[2] + 2 * here[2] + below[2]) - (above[0] + 2 * here[0] + below[0]);
            let down = (below[0] + 2 * below[1] + below[2]) - (above[0] + 2 * above[1] + above[2]);
            // Each is at most 4 * 255, so their sum times any percentage fits.
            let gradient = u32::from(across.unsigned_abs() + down.unsigned_abs());
            let strength = u16::try_from(gradient * u32::from(percent) / 100).unwrap_or(u16::MAX).min(255);
            for (byte, edge) in pixel.iter_mut().zip(EDGE) {
                let dark = u16::from(*byte) / 2;
                // A mean of the two, weighted by the strength: never above 255.
                let mixed = (dark * (255 - strength) + u16::from(edge) * strength) / 255;
                *byte = u8::try_from(mixed).unwrap_or(u8::MAX);
            }
        }
    }
}

/// Computes the brightness of each pixel of a row; its first and last values are repeated beyond
/// the ends.
fn brightness(row: &[u8], into: &mut Vec<i16>) {
    let of = |pixel: &[u8]| {
        let [red, green, blue] = [0, 1, 2].map(|channel| u16::from(pixel[channel]));
        // At most 255 * 256 before the division, so it fits.
        ((red * 77 + green * 150 + blue * 29) / 256).cast_signed()
    };
    let pixels = row.chunks_exact(3).map(of);
    into.clear();
    into.extend(pixels.clone().next());
    into.extend(pixels.clone());
    into.extend(pixels.clone().next_back());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_image_only_darkens() {
        let mut pixels = vec![100; 4 * 3 * 3];
        Edges::default().draw(4, &mut pixels, 100);
        assert_eq!(pixels, vec![50; 4 * 3 * 3]);
    }

    #[test]
    fn a_step_becomes_an_edge_on_both_its_sides_and_nowhere_else() {
        let (width, height) = (6, 3);
        let mut pixels: Vec<u8> =
            (0..width * height).flat_map(|pixel| [if pixel % width < 3 { 0 } else { 255 }; 3]).collect();
        Edges::default().draw(width, &mut pixels, 100);
        for row in pixels.chunks_exact(width * 3) {
            assert_eq!(row[..6], [0; 6]);
            assert_eq!((&row[6..9], &row[9..12]), (EDGE.as_slice(), EDGE.as_slice()));
            assert_eq!(row[12..], [127; 6]);
        }
    }

    #[test]
    fn edges_are_as_strong_as_asked_for() {
        // Brightness 100 below 110: a gradient of 40, on both rows.
        let step = [[100; 9], [110; 9]].concat();
        let brightest = |percent| {
            let mut pixels = step.clone();
            Edges::default().draw(3, &mut pixels, percent);
            pixels.into_iter().max()
        };
        // 55 without an edge; else 40 or 160 parts of 255 of the edge's red.
        assert_eq!([0, 100, 400, u16::MAX].map(brightest), [Some(55), Some(86), Some(180), Some(255)]);
    }

    #[test]
    fn the_last_row_is_filtered_by_what_it_was() {
        // The step lies between two rows: the lower one must still see the original upper one.
        let mut pixels = [[0; 9], [255; 9]].concat();
        Edges::default().draw(3, &mut pixels, 100);
        assert_eq!(pixels, EDGE.repeat(6));
    }

    #[test]
    fn odd_sizes_do_no_harm() {
        Edges::default().draw(0, &mut [1, 2, 3], 100);
        let mut short = [1, 2, 3];
        Edges::default().draw(2, &mut short, 100);
        assert_eq!(short, [1, 2, 3]);
        let mut edges = Edges::default();
        for width in [1, 7, 2] {
            edges.draw(width, &mut vec![9; width * 3 * 2 + 1], 100);
        }
    }
}
