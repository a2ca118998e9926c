//! Values in the terminal, in dots of braille letters: two by four in each.

use super::series::Series;
use super::ticks::{ticks, whole};
use super::values::Values;

/// The first braille letter, which has no dots.
const EMPTY: u32 = 0x2800;
/// The bits of a letter's dots, by row and column.
const DOTS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
/// Codes of the series' colours.
const COLOURS: [u8; 6] = [34, 33, 32, 35, 36, 31];

/// Returns the lines of a chart for a terminal of this many columns and rows. Series differ by
/// colours, unless there are to be none.
pub(crate) fn lines(values: &Values, (columns, rows): (usize, usize), has_colours: bool) -> Vec<String> {
    let (low, high) = values.range();
    let (from, to) = values.times();
    let (marks, decimals) = ticks(low, high, 5.0);
    let label = |value: f64| format!("{value:.decimals$}");
    let margin = marks.iter().map(|mark| label(*mark).len()).max().unwrap_or(0);
    let width = columns.saturating_sub(margin + 3).max(10);
    let height = rows.saturating_sub(values.series.len() + 2).max(4);
    let mut grid = Grid { width, height, cells: vec![(0, None); width * height] };
    for (number, series) in values.series.iter().enumerate() {
        grid.draw(series, number, (low, high), (from, to));
    }
    let colour = |text: &str, number: Option<usize>| match number {
        Some(number) if has_colours => {
            format!("\u{1b}[{}m{text}\u{1b}[0m", COLOURS[number % COLOURS.len()])
        }
        _ => text.to_owned(),
    };
    let unit = if values.unit.is_empty() { String::new() } else { format!(" [{}]", values.unit) };
    let mut lines = vec![format!("{}{unit}", values.title)];
    lines.extend(values.series.iter().enumerate().map(|(number, series)| {
        let digits = decimals + 2;
        let last =
            series.samples().last().map_or(String::new(), |(_, value)| format!("  last {value:.digits$}"));
        format!("{} {}{last}", colour("──", Some(number)), series.name)
    }));
    let row_of = |value: f64| whole((high - value) / (high - low) * (height as f64 - 1.0) + 0.5);
    for row in 0..height {
        let mark = marks.iter().find(|mark| row_of(**mark) == row);
        let text = mark.map_or(String::new(), |mark| label(*mark));
        let cells = &grid.cells[row * width..(row + 1) * width];
        let letters = cells.iter().map(|(dots, number)| {
            let letter = char::from_u32(EMPTY + u32::from(*dots)).unwrap_or(' ');
            if *dots == 0 { " ".to_owned() } else { colour(&letter.to_string(), *number) }
        });
        let axis = if mark.is_some() { '┤' } else { '│' };
        lines.push(format!("{text:>margin$} {axis}{}", letters.collect::<String>()).trim_end().to_owned());
    }
    let (begin, end) = (format!("{from:.1}"), format!("{to:.1} s"));
    lines.push(format!("{:margin$} └{begin}{end:>rest$}", "", rest = width.saturating_sub(begin.len())));
    lines
}

struct Grid {
    width: usize,
    height: usize,
    /// The dots of each letter, and the series that was drawn last there.
    cells: Vec<(u8, Option<usize>)>,
}

impl Grid {
    fn draw(&mut self, series: &Series, number: usize, (low, high): (f64, f64), (from, to): (f64, f64)) {
        let (wide, tall) = ((self.width * 2 - 1) as f64, (self.height * 4 - 1) as f64);
        let places: Vec<(f64, f64)> = series
            .samples()
            .iter()
            .map(|(time, value)| ((time - from) / (to - from) * wide, (high - value) / (high - low) * tall))
            .collect();
        if let [only] = places.as_slice() {
            self.dot(*only, number);
        }
        for pair in places.windows(2) {
            let [(x, y), (to_x, to_y)] = [pair[0], pair[1]];
            let steps = (to_x - x).abs().max((to_y - y).abs()).ceil().max(1.0);
            for step in 0..=whole(steps) {
                let part = step as f64 / steps;
                self.dot((x + (to_x - x) * part, y + (to_y - y) * part), number);
            }
        }
    }

    fn dot(&mut self, (x, y): (f64, f64), number: usize) {
        let (x, y) = (whole(x + 0.5), whole(y + 0.5));
        if x / 2 < self.width && y / 4 < self.height {
            let cell = &mut self.cells[y / 4 * self.width + x / 2];
            *cell = (cell.0 | DOTS[y % 4][x % 2], Some(number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_goes_from_the_lower_left_to_the_upper_right() {
        let mut series = Series::new("/a.x", (0.0, 9.0));
        (0..10).for_each(|number| series.add(f64::from(number), f64::from(number)));
        let values = Values { title: "drive".to_owned(), unit: "ms".to_owned(), series: vec![series] };
        let lines = lines(&values, (24, 9), false);
        assert_eq!(lines[0], "drive [ms]");
        assert_eq!(lines[1], "── /a.x  last 9.00");
        assert_eq!(lines.len(), 9);
        let begin = |line: &str| line.chars().position(|c| u32::from(c) > EMPTY).unwrap();
        assert!(begin(&lines[2]) > begin(&lines[6]), "{lines:#?}");
        assert!(lines[8].starts_with("  └0.0") && lines[8].ends_with("9.0 s"), "{lines:#?}");
    }
}
