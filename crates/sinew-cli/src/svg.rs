//! The parts that all SVG pictures have.

/// Width of a letter of the names, and of the smaller text below them. In a fixed-width font all
/// letters are equally wide.
pub(crate) const LETTER: f64 = 7.9;
pub(crate) const SMALL: f64 = 6.1;

/// Width of the border.
pub(crate) const MARGIN: f64 = 24.0;

/// Colours of processes for both kinds of pages; no more than can be distinguished.
pub(crate) const COLOURS: [&str; 8] =
    ["#4c8dd6", "#d98a2b", "#3fa66b", "#c65b7c", "#8f6fd0", "#2ba5a5", "#a3873f", "#7f8794"];

/// The colours of both kinds of pages.
pub(crate) const STYLE: &str = "\
  svg { --page: #ffffff; --text: #1d2329; --faint: #5f6b77; --box: #f2f5f8; --line: #8a96a3; --wrong: #c62f2f }
  @media (prefers-color-scheme: dark) {
    svg { --page: #14181d; --text: #e4e9ee; --faint: #97a3b0; --box: #222a33; --line: #6d7986; --wrong: #ff7b72 }
  }
  .page { fill: var(--page) }
  text { font-family: ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: var(--text); text-anchor: middle }
  .name { font-size: 13px }
  .small { font-size: 10px; fill: var(--faint) }
  .wrong { fill: var(--wrong) }
  .node { fill: var(--box); stroke-width: 2 }
  .topic, .service { fill: var(--page); stroke: var(--line); stroke-width: 1.2 }
  .service { stroke-dasharray: 5 3 }
  .line { fill: none; stroke: var(--line); stroke-width: 1.4 }
  .still { opacity: .55 }
  .rate { font-size: 10px; paint-order: stroke; stroke: var(--page); stroke-width: 4px }
  .head { fill: var(--line) }
";

pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
