//! Limits of a plan.
//!
//! A few lines can ask for more than any machine has: an argument that is twice another one, a file
//! that includes the next one twice, a setting for thousands of processes. So everything that a
//! plan makes out of a file is counted, and an item that exceeds a limit is reported at its place.

use std::cell::Cell;
use std::rc::Rc;

use crate::error::{LoadError, Problem};
use crate::place::Place;

/// Most processes of a plan.
pub(super) const MOST_PROCESSES: usize = 4000;

/// Most launch files that are read; a file counts each time it is included.
const MOST_FILES: usize = 1000;

/// Deepest nesting of includes.
pub(super) const DEEPEST: usize = 32;

/// Longest value in bytes: Linux accepts no longer word in a command line or environment
/// (`MAX_ARG_STRLEN`, without the byte behind it).
pub(super) const LONGEST_VALUE: usize = 131_071;

/// Most bytes of all values together, including copies.
const MOST_BYTES: usize = 64 << 20;

/// The resources that a plan has used. Clones share their counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Budget(Rc<Used>);

#[derive(Debug, Default)]
struct Used {
    bytes: Cell<usize>,
    files: Cell<usize>,
}

impl Budget {
    /// Charges bytes that the text at `place` has made.
    pub(super) fn charge(&self, bytes: usize, place: &Place) -> Result<(), LoadError> {
        let used = self.0.bytes.get().saturating_add(bytes);
        self.0.bytes.set(used);
        if used <= MOST_BYTES {
            return Ok(());
        }
        let what = format!("all values of this plan together are longer than {} MiB", MOST_BYTES >> 20);
        let remedy = "check for large values, or settings for many processes, that are repeated";
        Err(Problem::TooMuch { what, remedy }.at(place))
    }

    /// Charges a launch file that is about to be read.
    pub(super) fn file(&self, place: &Place) -> Result<(), LoadError> {
        self.0.files.set(self.0.files.get() + 1);
        if self.0.files.get() <= MOST_FILES {
            return Ok(());
        }
        let what = format!("more than {MOST_FILES} launch files are included");
        let remedy = "a file that is included twice is read twice: check for files that multiply by including each other's files";
        Err(Problem::TooMuch { what, remedy }.at(place))
    }
}
