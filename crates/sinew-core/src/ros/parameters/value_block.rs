//! Values for the parameters of some nodes, as they are written together.

use super::pattern::NodePattern;
use crate::parameters::value::NamedValue;

/// Values for the parameters of some nodes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block {
    pub(crate) nodes: NodePattern,
    pub(crate) values: Vec<NamedValue>,
}
