//! How much a plan may be.
//!
//! A few lines can ask for more than any machine has: an argument that is twice another one, a file
//! that includes the next one twice, a setting for thousands of processes. So everything that a plan
//! makes out of a file is counted, and what is too much is an error at the place that asks for it.

use std::cell::Cell;
use std::rc::Rc;

use crate::error::{LoadError, Problem};
use crate::place::Place;

/// How many processes a plan starts at most.
pub(super) const MOST_PROCESSES: usize = 4000;

/// How many launch files are read at most, each as often as it is included.
const MOST_FILES: usize = 1000;

/// How deep files include each other at most.
pub(super) const DEEPEST: usize = 32;

/// The longest value in bytes: Linux takes no longer word of a command line or environment
/// (`MAX_ARG_STRLEN`, without the byte behind it).
pub(super) const LONGEST_VALUE: usize = 131_071;

/// How many bytes all values, and what is copied of them, have at most.
const MOST_BYTES: usize = 64 << 20;

/// What a plan has used. Clones count together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Budget(Rc<Used>);

#[derive(Debug, Default)]
struct Used {
    bytes: Cell<usize>,
    files: Cell<usize>,
}

impl Budget {
    /// Counts bytes that the text at `place` has made.
    pub(super) fn charge(&self, bytes: usize, place: &Place) -> Result<(), LoadError> {
        let used = self.0.bytes.get().saturating_add(bytes);
        self.0.bytes.set(used);
        if used <= MOST_BYTES {
            return Ok(());
        }
        let what = format!("all values of this plan together are longer than {} MiB", MOST_BYTES >> 20);
        let remedy = "are large values, or settings for many processes, repeated again and again?";
        Err(Problem::TooMuch { what, remedy }.at(place))
    }

    /// Counts a launch file that is about to be read.
    pub(super) fn file(&self, place: &Place) -> Result<(), LoadError> {
        self.0.files.set(self.0.files.get() + 1);
        if self.0.files.get() <= MOST_FILES {
            return Ok(());
        }
        let what = format!("more than {MOST_FILES} launch files are included");
        let remedy = "one that is included twice is read twice: do files that include others multiply?";
        Err(Problem::TooMuch { what, remedy }.at(place))
    }
}
