//! A parameter file for programs that load one themselves.

use super::file::{ParameterTextError, read, value};
use super::overrides::Overrides;
use super::pattern::NodePattern;
use crate::parameters::value::{NamedValue, ParameterValue};

/// A parsed parameter file: values for the parameters of nodes.
///
/// Nodes read the files that their command line names; this type is for programs that load one
/// later, and for tools.
///
/// ```
/// use sinew::parameters::{NamedValue, ParameterFile, ParameterValue};
/// let file = ParameterFile::parse("/**: {ros__parameters: {rate: 30}}")?;
/// assert_eq!(file.of("/left/camera"), [NamedValue::new("rate", 30)]);
/// assert_eq!(file.patterns(), ["/**"]);
/// assert_eq!(file.under("/**"), [NamedValue::new("rate", 30)]);
/// assert!(ParameterFile::matches("/**", "/left/camera"));
/// assert_eq!(ParameterFile::value("[1.5, 2.5]")?, ParameterValue::DoubleArray(vec![1.5, 2.5]));
/// let wrong = ParameterFile::parse("camera: {ros__parameters: {rate: [1, on]}}").unwrap_err();
/// assert_eq!((wrong.line(), wrong.column()), (1, 38));
/// # Ok::<(), sinew::parameters::ParameterTextError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ParameterFile(Overrides);

impl ParameterFile {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// [`ParameterTextError`].
    pub fn parse(text: &str) -> Result<Self, ParameterTextError> {
        let mut overrides = Overrides::default();
        overrides.extend(read(text)?, None);
        Ok(Self(overrides))
    }

    /// Returns the values for the parameters of a node with this full name, in the order of their
    /// names.
    pub fn of(&self, node: &str) -> Vec<NamedValue> {
        self.0.of(node).into_iter().map(|(name, value)| NamedValue { name, value }).collect()
    }

    /// Returns the names and patterns of nodes in the file, each once and with the first `/`, in
    /// their order: `/left/camera`, `/**`.
    pub fn patterns(&self) -> Vec<String> {
        self.0.patterns()
    }

    /// Returns the values that stand under a pattern of [`patterns`](Self::patterns), in the order
    /// of their names. Unlike [`of`](Self::of), without those of other patterns.
    pub fn under(&self, pattern: &str) -> Vec<NamedValue> {
        self.0.under(pattern).into_iter().map(|(name, value)| NamedValue { name, value }).collect()
    }

    /// Returns `true` if a [pattern](Self::patterns) stands for the node with this full name.
    pub fn matches(pattern: &str, node: &str) -> bool {
        NodePattern::parse(pattern).is_ok_and(|pattern| pattern.matches(node))
    }

    /// Reads one value, written as after `-p NAME:=`.
    ///
    /// # Errors
    /// [`ParameterTextError`].
    pub fn value(text: &str) -> Result<ParameterValue, ParameterTextError> {
        value(text)
    }
}
