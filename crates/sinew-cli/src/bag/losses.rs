//! Damage in bags.

use sinew_bag::BagError;

/// Returns the problems as sentences.
pub(super) fn texts(problems: &[BagError]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}
