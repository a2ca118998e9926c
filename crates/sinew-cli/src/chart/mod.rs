//! Charts: values over time, and the times at which something was there. One drawing for all forms:
//! SVG, HTML, PNG; values also in the terminal.

mod canvas;
mod cloud;
mod raster;
mod series;
mod terminal;
mod ticks;
mod timeline;
mod values;
mod vector;

use std::fs;
use std::path::Path;

use crate::error::Error;
use canvas::Drawing;

pub(crate) use cloud::Cloud;
pub(crate) use raster::{encode, png};
pub(crate) use series::Series;
pub(crate) use terminal::lines;
pub(crate) use ticks::whole;
pub(crate) use timeline::{Row, Timeline};
pub(crate) use values::Values;

/// The format of a picture.
enum Format {
    Svg,
    Html,
    Png,
}

impl Format {
    /// Returns the format of a file's name.
    fn of(path: &Path) -> Result<Self, Error> {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        match extension.as_str() {
            "svg" => Ok(Self::Svg),
            "html" => Ok(Self::Html),
            "png" => Ok(Self::Png),
            _ => Err(Error::PictureFormat { path: path.to_owned() }),
        }
    }
}

/// Checks that a file's name has the format of a picture, before there is one to save.
pub(crate) fn check(path: &Path) -> Result<(), Error> {
    Format::of(path).map(drop)
}

/// Writes a picture in the format of the file's name: `.svg`, `.html` or `.png`.
pub(crate) fn save(drawing: &dyn Drawing, path: &Path) -> Result<(), Error> {
    let failed = |action| move |source| Error::File { action, path: path.to_owned(), source };
    let bytes = match Format::of(path)? {
        Format::Svg => vector::svg(drawing).into_bytes(),
        Format::Html => vector::html(drawing).into_bytes(),
        Format::Png => raster::png(drawing).map_err(failed("make the picture"))?,
    };
    fs::write(path, bytes).map_err(failed("write"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
