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
pub(crate) use file::{Problem, read, value};
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
