//! The rows of a case.

use super::hosts::Gateways;
use crate::report::{Figures, Row, hundredth};
use crate::rounds::{Round, ratio};

/// Returns the rows of bare zenoh and of gateways, each with its ratio to zenoh in the same round.
pub(super) fn rows(
    case: &'static str,
    parts: u32,
    raw: &[Round],
    ours: &[(Gateways, Vec<Round>)],
    finish: impl Fn(Figures) -> Figures,
) -> Vec<Row> {
    let row = |row: Row| row.with("case", case);
    let mut rows = vec![row(Row::floor("net", "zenoh", finish(Figures::over(raw, parts))))];
    for (gateways, rounds) in ours {
        let floor_ratio = ratio(rounds, parts, raw, parts).map(hundredth);
        let figures = Figures { floor_ratio, ..finish(Figures::over(rounds, parts)) };
        rows.push(row(Row::sinew("net", figures)).with("gateways", gateways.name()));
    }
    rows
}
