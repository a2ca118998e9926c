//! All values that were given, and the marks of those that are used.

use super::value_block::Block;
use crate::parameters::value::{NamedValue, ParameterValue};
use crate::ros::similar::alike;
use crate::ros::unmatched::{Mark, NodeNames, Unmatched, missing_parameter, nodes_instead, resembles_a_node};
use crate::sys::sync::Arc;
use std::collections::{BTreeMap, BTreeSet};

/// All values, in their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Overrides(Vec<Said>);

/// A block, its place, and whether it was used.
#[derive(Debug, Clone)]
struct Said {
    block: Block,
    /// Its file; `None` on the command line.
    file: Option<Arc<str>>,
    /// Other processes have it as well, so it may be meant for those.
    is_shared: bool,
    /// Set once a node of its pattern exists.
    matched: Mark,
    /// One for each value: set once a node has declared the parameter.
    used: Vec<Mark>,
}

/// The marks of the values for a node, by the parameters' names.
pub(crate) type Uses = BTreeMap<String, Vec<Mark>>;

impl Overrides {
    /// Adds blocks; `file`: their file, if they are not from the command line.
    pub(crate) fn extend(&mut self, blocks: impl IntoIterator<Item = Block>, file: Option<&Arc<str>>) {
        self.0.extend(blocks.into_iter().map(|block| {
            let used = block.values.iter().map(|_| Mark::default()).collect();
            Said { block, file: file.cloned(), is_shared: false, matched: Mark::default(), used }
        }));
    }

    /// Marks parameters of these names as given to other processes as well.
    pub(crate) fn are_shared(&mut self, names: &[&str]) {
        for said in self.0.iter_mut().filter(|said| said.file.is_none()) {
            said.is_shared |= said.block.values.iter().any(|value| names.contains(&value.name.as_str()));
        }
    }

    /// Returns `true` if the last value for that parameter, for any node, is true.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        let mut values = self.0.iter().flat_map(|said| &said.block.values);
        let last = values.rfind(|said| said.name == name);
        last.is_some_and(|said| said.value == ParameterValue::Bool(true))
    }

    /// Removes all values for that parameter.
    pub(crate) fn forget(&mut self, name: &str) {
        for Said { block, used, .. } in &mut self.0 {
            let mut kept = block.values.iter().map(|said| said.name != name);
            used.retain(|_| kept.next().unwrap_or(true));
            block.values.retain(|said| said.name != name);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn for_node(&self, node: &str) -> impl Iterator<Item = &Said> {
        self.0.iter().filter(move |said| said.block.nodes.matches(node))
    }

    /// Returns the patterns, each once, in their order.
    pub(crate) fn patterns(&self) -> Vec<String> {
        let mut patterns = Vec::new();
        for pattern in self.0.iter().map(|said| said.block.nodes.to_string()) {
            if !patterns.contains(&pattern) {
                patterns.push(pattern);
            }
        }
        patterns
    }

    /// Returns the values of one pattern's blocks.
    pub(crate) fn under(&self, pattern: &str) -> BTreeMap<String, ParameterValue> {
        let said = self.0.iter().filter(|said| said.block.nodes.to_string() == pattern);
        let values = said.flat_map(|said| &said.block.values);
        values.map(|said| (said.name.clone(), said.value.clone())).collect()
    }

    /// Returns the values for an existing node, by its full name.
    pub(crate) fn of(&self, node: &str) -> BTreeMap<String, ParameterValue> {
        let said = self.for_node(node).inspect(|said| said.matched.set());
        let values = said.flat_map(|said| &said.block.values);
        values.map(|said| (said.name.clone(), said.value.clone())).collect()
    }

    /// Returns the marks to be set when the node declares a parameter.
    pub(crate) fn uses(&self, node: &str) -> Uses {
        let mut uses = Uses::new();
        for said in self.for_node(node) {
            for (value, mark) in said.block.values.iter().zip(&said.used) {
                uses.entry(value.name.clone()).or_default().push(mark.clone());
            }
        }
        uses
    }

    /// Returns the unused values and blocks. `nodes`: all existing nodes.
    pub(crate) fn unmatched(&self, nodes: &[NodeNames]) -> Vec<Unmatched> {
        let files: BTreeSet<&Arc<str>> = self.0.iter().filter_map(|said| said.file.as_ref()).collect();
        let on_the_line = self.0.iter().filter(|said| said.file.is_none());
        let mut all: Vec<Unmatched> = on_the_line.filter_map(|said| said.unmatched(nodes)).collect();
        for file in files {
            let blocks = || self.0.iter().filter(|said| said.file.as_ref() == Some(file));
            all.extend(blocks().filter_map(|said| said.undeclared(nodes)));
            let (near, far): (Vec<_>, Vec<_>) = blocks()
                .filter(|said| !said.matched.is_set())
                .partition(|said| resembles_a_node(&said.block.nodes.to_string(), nodes));
            all.extend(near.iter().map(|said| said.for_nobody(nodes)));
            // A file may be for several programs: then its other blocks are for those.
            let is_for_nobody = blocks().all(|said| !said.matched.is_set());
            if let Some((first, rest)) = far.split_first() {
                let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
                all.push(Unmatched {
                    text: format!(
                        "parameter file {}: no node here matches its block {}{more}{}",
                        file.escape_debug(),
                        first.block.nodes,
                        nodes_instead(&first.block.nodes.to_string(), nodes)
                    ),
                    is_likely_wrong: is_for_nobody && near.is_empty(),
                    marks: far.iter().map(|said| said.matched.clone()).collect(),
                });
            }
        }
        all
    }
}

impl Said {
    /// Its values that no node has declared.
    fn unused(&self) -> impl Iterator<Item = (&NamedValue, &Mark)> {
        self.block.values.iter().zip(&self.used).filter(|(_, used)| !used.is_set())
    }

    /// Reports unused values of the command line, where each block has one value.
    fn unmatched(&self, nodes: &[NodeNames]) -> Option<Unmatched> {
        let (value, used) = self.unused().next()?;
        let node = if self.block.nodes.is_all() { String::new() } else { format!("{}:", self.block.nodes) };
        let why = match self.matched.is_set() {
            true => missing_parameter(&value.name, &self.nodes(nodes)),
            false => {
                let instead = nodes_instead(&self.block.nodes.to_string(), nodes);
                format!("no node is called {}{instead}", self.block.nodes)
            }
        };
        let text = format!("`-p {node}{}:=..` has set nothing so far: {why}", value.name.escape_debug());
        let mut known = self.nodes(nodes).into_iter().flat_map(|node| &node.parameters);
        let is_likely_wrong = !self.is_shared || known.any(|known| alike(&value.name, known).is_some());
        Some(Unmatched { text, is_likely_wrong, marks: vec![used.clone()] })
    }

    /// The existing nodes that match its pattern.
    fn nodes<'a>(&self, nodes: &'a [NodeNames]) -> Vec<&'a NodeNames> {
        nodes.iter().filter(|node| self.block.nodes.matches(&node.full_name)).collect()
    }

    /// For a file: a block with matching nodes that haven't declared all of its parameters.
    fn undeclared(&self, nodes: &[NodeNames]) -> Option<Unmatched> {
        let (file, unused) = (self.file.as_ref()?, self.unused().collect::<Vec<_>>());
        if !self.matched.is_set() || unused.is_empty() {
            return None;
        }
        let known: Vec<_> = self.nodes(nodes).into_iter().flat_map(|node| &node.parameters).collect();
        let is_near = |value: &NamedValue| known.iter().any(|known| alike(&value.name, known).is_some());
        // The most likely misspelt one stands for all.
        let near = unused.iter().find(|(value, _)| is_near(value));
        let (first, _) = near.or(unused.first())?;
        let more = match unused.len() - 1 {
            0 => String::new(),
            1 => "; one more of the block is not declared either".to_owned(),
            count => format!("; {count} more of the block are not declared either"),
        };
        let text = format!(
            "parameter file {}, block {}: {}{more}",
            file.escape_debug(),
            self.block.nodes,
            missing_parameter(&first.name, &self.nodes(nodes))
        );
        let marks = unused.iter().map(|(_, mark)| (*mark).clone()).collect();
        Some(Unmatched { text, is_likely_wrong: near.is_some(), marks })
    }

    /// For a file: a block without a matching node, while one with a similar name exists.
    fn for_nobody(&self, nodes: &[NodeNames]) -> Unmatched {
        let pattern = self.block.nodes.to_string();
        let file = self.file.as_deref().unwrap_or_default().escape_debug();
        let text = format!(
            "parameter file {file}: no node has the name of its block {pattern}{}",
            nodes_instead(&pattern, nodes)
        );
        Unmatched { text, is_likely_wrong: true, marks: vec![self.matched.clone()] }
    }
}
