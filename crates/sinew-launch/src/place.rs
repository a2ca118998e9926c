//! A place in a file: a line and a column.

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
    /// Makes the place of that line and column of a file.
    pub fn new(file: &Path, line: usize, column: usize) -> Self {
        Self { file: file.into(), line, column }
    }

    /// Returns the file, by the path on the command line or in the including file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the line.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the column.
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
    /// The line and column of the first byte of each block, so that finding a place reads only one
    /// block, regardless of the length of the file or its lines.
    blocks: Vec<(usize, usize)>,
}

/// Bytes that are read at most to find a place.
const BLOCK: usize = 512;

impl Source {
    pub(crate) fn new(file: &Path, text: String) -> Self {
        let mut blocks = vec![(1, 1)];
        for block in text.as_bytes().chunks(BLOCK) {
            let first = blocks.last().copied().unwrap_or((1, 1));
            blocks.push(block.iter().fold(first, behind));
        }
        Self { file: file.into(), text, blocks }
    }

    /// Returns the place of the byte at `offset`.
    pub(crate) fn place(&self, offset: usize) -> Place {
        let bytes = self.text.as_bytes();
        let offset = offset.min(bytes.len());
        let block = offset / BLOCK;
        let (line, column) = bytes[block * BLOCK..offset].iter().fold(self.blocks[block], behind);
        self.at(line, column)
    }

    /// Returns the place of that line and column.
    pub(crate) fn at(&self, line: usize, column: usize) -> Place {
        Place { file: Arc::clone(&self.file), line, column }
    }
}

/// Returns the line and column behind a byte at this position. Only the first byte of a character
/// counts.
fn behind((line, column): (usize, usize), byte: &u8) -> (usize, usize) {
    match byte {
        b'\n' => (line + 1, 1),
        0x80..=0xbf => (line, column),
        _ => (line, column + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_wherever_blocks_begin() {
        for unit in ["x", "line\n", "ä€😀 \n", "a long line of text, without an end. "] {
            let text = unit.repeat(3000 / unit.len());
            let source = Source::new("a.toml".as_ref(), text.clone());
            let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            for offset in ends {
                let before = &text[..offset];
                let line = before.matches('\n').count() + 1;
                let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
                assert_eq!(source.place(offset), source.at(line, column), "{offset} of {unit:?}");
            }
            assert_eq!(source.place(usize::MAX), source.place(text.len()));
        }
    }
}
