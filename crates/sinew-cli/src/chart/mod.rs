//! Charts: values over time, and the times at which something was there. One drawing for all forms:
//! SVG, HTML, PNG; values also in the terminal.

mod canvas;
mod cloud;
mod raster;
mod series;
mod terminal;
mod timeline;
mod values;
mod vector;

use std::fs;
use std::path::Path;

use crate::error::Error;
use canvas::Canvas;

pub(crate) use cloud::Cloud;
pub(crate) use raster::{encode, png};
pub(crate) use series::Series;
pub(crate) use terminal::lines;
pub(crate) use timeline::{Row, Timeline};
pub(crate) use values::Values;

/// Something that can be drawn.
pub(crate) trait Drawing {
    /// Its title.
    fn title(&self) -> &str;

    /// Its width and height.
    fn size(&self) -> (f64, f64);

    /// Draws it.
    fn draw(&self, canvas: &mut dyn Canvas);
}

/// Writes a picture in the format of the file's name: `.svg`, `.html` or `.png`.
pub(crate) fn save(drawing: &dyn Drawing, path: &Path) -> Result<(), Error> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let bytes = match extension.as_str() {
        "svg" => vector::svg(drawing).into_bytes(),
        "html" => vector::html(drawing).into_bytes(),
        "png" => raster::png(drawing).map_err(|source| Error::File {
            action: "make the picture",
            path: path.to_owned(),
            source,
        })?,
        _ => return Err(Error::PictureFormat { path: path.to_owned() }),
    };
    fs::write(path, bytes).map_err(|source| Error::File { action: "write", path: path.to_owned(), source })
}

/// Returns about `count` round numbers from `low` to `high`, and the number of their decimals.
pub(crate) fn ticks(low: f64, high: f64, count: f64) -> (Vec<f64>, usize) {
    let rough = ((high - low) / count).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(10.0 * power);
    // The margin is for sums that are rounded.
    let decimals = (-(step.log10() + 1e-9).floor()).clamp(0.0, 12.0);
    let first = (low / step - 1e-9).ceil();
    let ticks = (0..=2 * whole(count)).map(|number| (first + number as f64) * step);
    (ticks.take_while(|tick| *tick <= high + step * 1e-9).collect(), whole(decimals))
}

/// Returns a number without its decimals; 0 if it is negative or none.
#[expect(clippy::cast_possible_truncation, reason = "that is its purpose; `as` has no undefined results")]
pub(crate) fn whole(number: f64) -> usize {
    number as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(0.0, 10.0, 5.0), (vec![0.0, 2.0, 4.0, 6.0, 8.0, 10.0], 0));
        let (found, decimals) = ticks(-0.13, 0.31, 4.0);
        let texts: Vec<String> = found.iter().map(|tick| format!("{tick:.decimals$}")).collect();
        assert_eq!(texts, ["0.0", "0.2"]);
        let (found, decimals) = ticks(99.98, 100.02, 4.0);
        let texts: Vec<String> = found.iter().map(|tick| format!("{tick:.decimals$}")).collect();
        assert_eq!(texts, ["99.98", "99.99", "100.00", "100.01", "100.02"]);
    }

    #[test]
    fn pictures_are_named_by_their_format() {
        let directory = tempfile::tempdir().unwrap();
        let mut series = Series::new("a", (0.0, 1.0));
        series.add(0.5, 1.0);
        let values = Values { title: "<a>".to_owned(), unit: String::new(), series: vec![series] };
        for name in ["a.svg", "a.html", "a.PNG"] {
            save(&values, &directory.path().join(name)).unwrap();
        }
        let svg = fs::read_to_string(directory.path().join("a.svg")).unwrap();
        assert!(svg.starts_with("<svg ") && svg.contains("<title>&lt;a&gt;</title>"), "{svg}");
        assert!(fs::read(directory.path().join("a.PNG")).unwrap().starts_with(b"\x89PNG"));
        let error = save(&values, Path::new("a.jpg")).unwrap_err().to_string();
        assert!(error.contains("a.jpg") && error.contains(".png"), "{error}");
    }
}
