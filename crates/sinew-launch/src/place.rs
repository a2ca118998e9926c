//! Where something is written: a file, a line and a column.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A place in a launch file. Lines and columns count from 1, columns in characters.
///
/// ```
/// let place = sinew_launch::Place::new("robot.toml".as_ref(), 3, 7);
/// assert_eq!(place.to_string(), "robot.toml:3:7");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    file: Arc<Path>,
    line: usize,
    column: usize,
}

impl Place {
    /// That line and column of a file.
    pub fn new(file: &Path, line: usize, column: usize) -> Self {
        Self { file: file.into(), line, column }
    }

    /// The file, as it was named on the command line or in the file that includes it.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The line.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column.
    pub fn column(&self) -> usize {
        self.column
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

/// The text of a launch file.
pub(crate) struct Source {
    pub(crate) file: Arc<Path>,
    pub(crate) text: String,
}

impl Source {
    /// Where the byte at `offset` is.
    pub(crate) fn place(&self, offset: usize) -> Place {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        self.at(line, column)
    }

    /// That line and column.
    pub(crate) fn at(&self, line: usize, column: usize) -> Place {
        Place { file: Arc::clone(&self.file), line, column }
    }
}
