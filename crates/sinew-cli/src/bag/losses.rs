//! What a new bag doesn't have of an old one.

use sinew_bag::{BagError, BagReader};

use super::info::count;
use crate::output::says;

/// Returns the problems as sentences.
pub(super) fn texts(problems: &[BagError]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

/// Says what a new bag won't have.
pub(super) fn warn_of_attachments(bag: &BagReader) {
    for file in bag.files().iter().filter(|file| file.attachments > 0) {
        let attachments = count(file.attachments.into(), "attachment");
        says(&format!("warning: {} has {attachments}, which new files don't have", file.path.display()));
    }
}
