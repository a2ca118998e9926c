//! A frame as text: each character cell shows two pixels, the upper one in the foreground colour
//! and the lower one in the background colour.

use std::fmt::Write as _;

use super::frame::FrameView;

/// Smallest useful preview, in cells.
const LEAST: (usize, usize) = (32, 10);

/// Widest preview, in columns: drawing must stay cheap compared with filtering.
const WIDEST: usize = 120;

type Colour = [u8; 3];

/// Draws the frame in at most `columns` x `rows` cells with its proportions kept: one string with
/// colour codes per row; none if there is too little room.
pub(super) fn lines(frame: &FrameView<'_>, columns: usize, rows: usize) -> Vec<String> {
    let Some((width, height)) = fitting(frame, columns, rows) else { return Vec::new() };
    (0..height / 2)
        .map(|row| {
            let mut text = String::new();
            let mut before = None;
            for column in 0..width {
                let cell = [2 * row, 2 * row + 1].map(|line| mean(frame, (column, line), (width, height)));
                if before != Some(cell) {
                    let [[r, g, b], [below_r, below_g, below_b]] = cell;
                    let _ = write!(text, "\x1b[38;2;{r};{g};{b};48;2;{below_r};{below_g};{below_b}m");
                    before = Some(cell);
                }
                text.push('▀');
            }
            text.push_str("\x1b[0m");
            text
        })
        .collect()
}

/// Returns the width and (even) height of the preview in pixels. A half cell is about as high as it
/// is wide.
fn fitting(frame: &FrameView<'_>, columns: usize, rows: usize) -> Option<(usize, usize)> {
    let (own_width, own_height) = dimensions(frame);
    if columns < LEAST.0 || rows < LEAST.1 || own_width == 0 || own_height == 0 {
        return None;
    }
    let by_height = rows * 2 * own_width / own_height;
    let width = columns.min(by_height).min(WIDEST).min(own_width);
    let height = (width * own_height / own_width) & !1;
    (width > 0 && height > 0).then_some((width, height))
}

fn dimensions(frame: &FrameView<'_>) -> (usize, usize) {
    (frame.width as usize, frame.height as usize)
}

/// Returns the mean colour of the part of the frame that one pixel of a preview of `size` shows.
fn mean(frame: &FrameView<'_>, at: (usize, usize), size: (usize, usize)) -> Colour {
    let (width, height) = dimensions(frame);
    let span = |at: usize, of: usize, all: usize| {
        let first = at * all / of;
        first..((at + 1) * all / of).max(first + 1)
    };
    let columns = span(at.0, size.0, width);
    let mut sums = [0_usize; 3];
    let mut count = 0;
    for row in span(at.1, size.1, height) {
        let (start, end) = (row * width + columns.start, row * width + columns.end);
        for pixel in frame.pixels.get(start * 3..end * 3).unwrap_or_default().chunks_exact(3) {
            for (sum, &byte) in sums.iter_mut().zip(pixel) {
                *sum += usize::from(byte);
            }
            count += 1;
        }
    }
    sums.map(|sum| u8::try_from(sum / count.max(1)).unwrap_or(u8::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixels(width: u32, height: u32) -> Vec<u8> {
        let row = |row| [if row < height / 2 { 10 } else { 200 }; 3].repeat(width as usize);
        (0..height).flat_map(row).collect()
    }

    fn frame(width: u32, height: u32, pixels: &[u8]) -> FrameView<'_> {
        FrameView { name: "", width, height, pixels }
    }

    #[test]
    fn the_preview_keeps_proportions_and_fits() {
        let frame = frame(640, 480, &[]);
        for (columns, rows) in [(80, 20), (32, 10), (300, 100), (40, 60)] {
            let (width, height) = fitting(&frame, columns, rows).unwrap();
            assert!(width <= columns && height <= 2 * rows, "{width}x{height} in {columns}x{rows}");
            assert!(width.abs_diff(height * 4 / 3) <= 3, "{width}x{height}");
        }
    }

    #[test]
    fn too_little_room_means_none() {
        assert!(lines(&frame(640, 480, &[]), 31, 50).is_empty());
        assert!(lines(&frame(640, 480, &[]), 80, 9).is_empty());
        assert!(lines(&frame(0, 0, &[]), 80, 24).is_empty());
    }

    #[test]
    fn halves_of_a_cell_are_the_pixels_above_and_below() {
        let lines = lines(&frame(32, 22, &pixels(32, 22)), 40, 11);
        assert_eq!(lines.len(), 11);
        let middle = format!("\x1b[38;2;10;10;10;48;2;200;200;200m{}\x1b[0m", "▀".repeat(32));
        assert_eq!(lines[5], middle, "rows 10 and 11 of 22");
    }

    #[test]
    fn a_frame_with_fewer_pixels_than_it_says_does_no_harm() {
        let pixels = pixels(64, 48);
        assert!(!lines(&frame(64, 48, &pixels[..100]), 80, 24).is_empty());
    }
}
