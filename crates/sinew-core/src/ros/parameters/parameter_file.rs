//! A parameter file for programs that load one themselves.

use super::file::{ParameterTextError, read, value};
use super::overrides::Overrides;
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

    /// Reads one value, written as after `-p NAME:=`.
    ///
    /// # Errors
    /// [`ParameterTextError`].
    pub fn value(text: &str) -> Result<ParameterValue, ParameterTextError> {
        value(text)
    }
}
