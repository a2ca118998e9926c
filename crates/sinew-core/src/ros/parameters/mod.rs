//! What is said of parameters outside the program: in files and on the command line.
//!
//! | file | what |
//! |---|---|
//! | `file` | parameter files, and the values of `-p` |
//! | `word` | what a word without quotes is |
//! | `pattern` | for which nodes something is said |
//!
//! Everything that is said is kept in its order, and looked through when a node with parameters is
//! made: what comes later wins.

mod file;
mod pattern;
mod word;

use crate::parameters::value::{NamedValue, ParameterValue};
pub use file::ParameterTextError;
pub(crate) use file::{read, value};
pub(crate) use pattern::NodePattern;
use std::collections::BTreeMap;

/// What is said of the parameters of some nodes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block {
    pub(crate) nodes: NodePattern,
    pub(crate) values: Vec<NamedValue>,
}

/// All that is said, in its order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Overrides(Vec<Block>);

impl Overrides {
    pub(crate) fn extend(&mut self, blocks: impl IntoIterator<Item = Block>) {
        self.0.extend(blocks);
    }

    /// Whether the last word on a parameter is that it is true, of whichever node.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        let mut values = self.0.iter().flat_map(|block| &block.values);
        let last = values.rfind(|said| said.name == name);
        last.is_some_and(|said| said.value == ParameterValue::Bool(true))
    }

    /// Nothing is said of that parameter.
    pub(crate) fn forget(&mut self, name: &str) {
        self.0.iter_mut().for_each(|block| block.values.retain(|said| said.name != name));
    }

    /// What is said of a node, by its full name.
    pub(crate) fn of(&self, node: &str) -> BTreeMap<String, ParameterValue> {
        let blocks = self.0.iter().filter(|block| block.nodes.matches(node));
        let values = blocks.flat_map(|block| &block.values);
        values.map(|said| (said.name.clone(), said.value.clone())).collect()
    }
}

/// A parameter file that was read: what it gives the parameters of nodes.
///
/// Nodes read those that their command line names themselves; this is for programs that load one
/// later, and tools.
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
        read(text).map(|blocks| Self(Overrides(blocks)))
    }

    /// What it gives the parameters of a node with this full name, in the order of their names.
    pub fn of(&self, node: &str) -> Vec<NamedValue> {
        self.0.of(node).into_iter().map(|(name, value)| NamedValue { name, value }).collect()
    }

    /// Reads one value, as behind `-p NAME:=`.
    ///
    /// # Errors
    /// [`ParameterTextError`].
    pub fn value(text: &str) -> Result<ParameterValue, ParameterTextError> {
        value(text)
    }
}
