//! Rules that rename nodes, topics and services.
//!
//! The rules are those of the design article "Remapping Names" (on design.ros2.org). Three things
//! differ: the names in a rule may contain everything that a topic name may, so `{node}` and `__`
//! as well; a rule may also be restricted to a node by its full name, which distinguishes two nodes
//! of one name in different namespaces; and a rule for the name of an action applies to all of its
//! topics and services, which are called `ACTION/_action/..`.

use super::name::{
    NameError, NameKind, expand, fully_qualified, validate_name, validate_namespace, validate_node_name,
};
use super::similar::alike;
use super::unmatched::{Mark, NodeNames, Unmatched, instead, names_of, nodes_instead};

/// The part between the name of an action and those of its topics and services.
pub(crate) const ACTION: &str = "/_action/";

/// The reason why a remap rule is invalid.
///
/// ```
/// use sinew::prelude::*;
/// let context = Context::builder().shared_memory(false).build()?;
/// let error = context.node_builder("camera").remap("image").create().unwrap_err();
/// assert_eq!(error.to_string(), "remap rule `image` has no `:=`; it is written like `image:=left/image`");
/// # Ok::<(), sinew::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RemapError {
    /// The rule isn't made of two parts.
    #[error("remap rule `{}` has no `:=`; it is written like `image:=left/image`", .rule.escape_debug())]
    MissingSeparator {
        /// The rule.
        rule: String,
    },
    /// The rule changes something that starts with `__`, but is neither a node's name nor its
    /// namespace.
    #[error(
        "remap rule `{}` changes something unknown; besides the names of topics and services it can change \
         `__node` (or `__name`) and `__ns`; a topic of that name is written `rostopic://__...`",
        .rule.escape_debug()
    )]
    UnknownSpecialName {
        /// The rule.
        rule: String,
    },
    /// One of the names in the rule is invalid.
    #[error("remap rule `{}` contains an invalid name: {error}", .rule.escape_debug())]
    InvalidName {
        /// The rule.
        rule: String,
        /// The name, and the reason.
        error: NameError,
    },
}

crate::sys::says::debug_says!(RemapError:
    MissingSeparator { rule }, UnknownSpecialName { rule }, InvalidName { rule, error });

/// Rules in their order: the first that matches counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct RemapRules(Vec<Rule>);

#[derive(Debug, Clone)]
struct Rule {
    /// As the user wrote it.
    text: String,
    /// Set once it has changed a name.
    used: Mark,
    /// Other processes have it as well, so it may be meant for those.
    is_shared: bool,
    /// The node that the rule applies to, by its name or its full name; `None` for every node.
    node: Option<String>,
    change: Change,
}

#[derive(Debug, Clone)]
enum Change {
    NodeName(String),
    Namespace(String),
    Name {
        scope: Scope,
        /// As the user wrote it, like `to`: valid, but not expanded.
        from: String,
        to: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Topics,
    Services,
    Both,
}

impl RemapRules {
    /// Adds a rule, written as after `-r`.
    pub(crate) fn push(&mut self, rule: &str) -> Result<(), RemapError> {
        self.0.push(Rule::parse(rule)?);
        Ok(())
    }

    /// Marks the rules that other processes have as well, by their texts.
    pub(crate) fn are_shared(&mut self, texts: &[&str]) {
        let shared = self.0.iter_mut().filter(|rule| texts.contains(&rule.text.as_str()));
        shared.for_each(|rule| rule.is_shared = true);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends the others.
    pub(crate) fn followed_by(mut self, others: &Self) -> Self {
        self.0.extend(others.0.iter().cloned());
        self
    }

    /// Returns the name of the node that the program calls `name` and puts into `namespace`.
    pub(crate) fn node_name<'a>(&'a self, name: &'a str, namespace: &str) -> &'a str {
        let renamed = self.of(name, namespace).find_map(|rule| match &rule.change {
            Change::NodeName(name) => Some(rule.uses(name.as_str())),
            _ => None,
        });
        renamed.unwrap_or(name)
    }

    /// Returns the namespace of the node that the program puts into `namespace`. As in `rcl`,
    /// `node` is the name that [`node_name`](Self::node_name) returned for it.
    pub(crate) fn namespace<'a>(&'a self, node: &str, namespace: &'a str) -> &'a str {
        let moved = self.of(node, namespace).find_map(|rule| match &rule.change {
            Change::Namespace(namespace) => Some(rule.uses(namespace.as_str())),
            _ => None,
        });
        moved.unwrap_or(namespace)
    }

    /// Returns the fully qualified name of a topic or service after the rules, or `None` if no rule
    /// matches; `name` is its fully qualified name before. `node` and `namespace` are already
    /// remapped.
    ///
    /// The name in a rule that matches can turn out too long, or otherwise invalid, in this
    /// namespace: that is an error and doesn't leave the topic where it was.
    pub(crate) fn remap(
        &self,
        kind: NameKind,
        name: &str,
        node: &str,
        namespace: &str,
    ) -> Result<Option<String>, NameError> {
        let others = if kind == NameKind::Service { Scope::Topics } else { Scope::Services };
        let action = name.split_once(ACTION);
        for rule in self.of(node, namespace) {
            let Change::Name { scope, from, to } = &rule.change else { continue };
            if *scope == others {
                continue;
            }
            // A `from` that can't be expanded here names no topic or service of this node.
            let Ok(from) = expand(kind, from, node, namespace) else { continue };
            if from == name {
                return expand(kind, to, node, namespace).map(|to| Some(rule.uses(to)));
            }
            // An action is renamed as a whole.
            if let Some((action, entity)) = action
                && *scope == Scope::Both
                && from == action
            {
                let to = expand(kind, to, node, namespace)? + ACTION + entity;
                return expand(kind, &to, node, namespace).map(|to| Some(rule.uses(to)));
            }
        }
        Ok(None)
    }

    /// Returns the rules for a node.
    fn of(&self, node: &str, namespace: &str) -> impl Iterator<Item = &Rule> {
        self.0.iter().filter(move |rule| rule.is_for(node, namespace))
    }

    /// Returns the rules that have changed nothing. `nodes`: all existing nodes.
    pub(crate) fn unmatched(&self, nodes: &[NodeNames]) -> Vec<Unmatched> {
        self.unused().map(|rule| rule.unmatched(nodes)).collect()
    }

    /// As [`unmatched`](Self::unmatched), without rules that the others have as well.
    pub(crate) fn unmatched_beside(&self, others: &Self, nodes: &[NodeNames]) -> Vec<Unmatched> {
        let is_own = |rule: &&Rule| !others.0.iter().any(|other| other.used.is(&rule.used));
        self.unused().filter(is_own).map(|rule| rule.unmatched(nodes)).collect()
    }

    fn unused(&self) -> impl Iterator<Item = &Rule> {
        self.0.iter().filter(|rule| !rule.used.is_set())
    }
}

impl Rule {
    fn is_for(&self, node: &str, namespace: &str) -> bool {
        self.node.as_deref().is_none_or(|wanted| match wanted.starts_with('/') {
            true => wanted == fully_qualified(node, namespace),
            false => wanted == node,
        })
    }

    /// Marks the rule as used, and returns `to`.
    fn uses<T>(&self, to: T) -> T {
        self.used.set();
        to
    }

    /// Explains why it has changed nothing.
    fn unmatched(&self, nodes: &[NodeNames]) -> Unmatched {
        let its: Vec<_> = nodes.iter().filter(|node| self.is_for(&node.name, &node.namespace)).collect();
        let mut is_likely_wrong = !self.is_shared;
        let why = match (&self.node, &self.change) {
            (None, _) if nodes.is_empty() => "there is no node".to_owned(),
            (Some(node), Change::Name { .. }) if its.is_empty() => {
                format!("no node is called {node}{}", nodes_instead(node, nodes))
            }
            (node, Change::Name { scope, from, .. }) => {
                let (why, is_near) = scope.unmatched(node.is_none(), from, &its);
                is_likely_wrong |= is_near;
                why
            }
            // Rules for nodes see the names before remapping.
            (Some(node), _) if its.is_empty() => {
                format!("the program gives no node the name {node}{}", nodes_instead(node, nodes))
            }
            _ => "a rule before it counts".to_owned(),
        };
        let text = format!("remap rule `{}` has matched nothing so far: {why}", self.text.escape_debug());
        Unmatched { text, is_likely_wrong, marks: vec![self.used.clone()] }
    }

    /// Parses `[NODE:]__node:=NAME`, `[NODE:]__ns:=NAMESPACE` or
    /// `[NODE:][rostopic://|rosservice://]FROM:=TO`.
    fn parse(text: &str) -> Result<Self, RemapError> {
        let rule = || text.to_owned();
        let invalid = |error| RemapError::InvalidName { rule: rule(), error };

        let (from, to) =
            text.split_once(":=").ok_or_else(|| RemapError::MissingSeparator { rule: rule() })?;
        let (node, from) = match from.split_once(':') {
            Some(("rostopic" | "rosservice", name)) if name.starts_with("//") => (None, from),
            Some((node, from)) => (Some(node), from),
            None => (None, from),
        };
        if let Some(node) = node {
            validate_node(node).map_err(invalid)?;
        }

        let change = match from {
            "__node" | "__name" => {
                validate_node_name(to).map_err(invalid)?;
                Change::NodeName(to.to_owned())
            }
            "__ns" => {
                validate_namespace(to).map_err(invalid)?;
                Change::Namespace(to.to_owned())
            }
            _ if from.starts_with("__") => {
                return Err(RemapError::UnknownSpecialName { rule: rule() });
            }
            _ => {
                let (scope, from) = if let Some(from) = from.strip_prefix("rostopic://") {
                    (Scope::Topics, from)
                } else if let Some(from) = from.strip_prefix("rosservice://") {
                    (Scope::Services, from)
                } else {
                    (Scope::Both, from)
                };
                let kind = if scope == Scope::Services { NameKind::Service } else { NameKind::Topic };
                validate_name(kind, from).map_err(invalid)?;
                validate_name(kind, to).map_err(invalid)?;
                Change::Name { scope, from: from.to_owned(), to: to.to_owned() }
            }
        };
        let (text, used, node) = (rule(), Mark::default(), node.map(str::to_owned));
        Ok(Self { text, used, is_shared: false, node, change })
    }
}

impl Scope {
    /// Explains why these nodes have nothing of that name, and returns whether something has a
    /// similar name.
    fn unmatched(self, is_for_all: bool, from: &str, nodes: &[&NodeNames]) -> (String, bool) {
        let (kind, what) = match self {
            Self::Topics => (NameKind::Topic, "topic"),
            Self::Services => (NameKind::Service, "service"),
            Self::Both => (NameKind::Topic, "topic, service or action"),
        };
        let expanded = |node: &NodeNames| expand(kind, from, &node.name, &node.namespace).ok();
        let wanted = nodes.first().and_then(|node| expanded(node)).unwrap_or_else(|| from.to_owned());
        let topics = nodes.iter().filter(|_| self != Self::Services).flat_map(|node| &node.topics);
        let services = nodes.iter().filter(|_| self != Self::Topics).flat_map(|node| &node.services);
        // An action is known by its own name.
        let names = topics.chain(services).map(|name| name.split_once(ACTION).map_or(&**name, |both| both.0));
        let names: Vec<&str> = names.collect();
        let is_near = names.iter().any(|name| alike(&wanted, name).is_some());
        let namespace = nodes.first().map_or("/", |node| &node.namespace);
        // Written as in the rule: a name without a slash belongs to the namespace.
        let shown = |name: &'_ str| match name.strip_prefix(namespace) {
            Some(rest) if !from.starts_with(['/', '~']) && (namespace == "/" || rest.starts_with('/')) => {
                rest.trim_start_matches('/').len()
            }
            _ => name.len(),
        };
        let has = if nodes.len() == 1 { "it has" } else { "they have" };
        let of =
            if is_for_all && nodes.len() > 1 { format!("the {}", names_of(nodes)) } else { names_of(nodes) };
        let instead = instead(has, &wanted, names, |name| &name[name.len() - shown(name)..]);
        (format!("no {what} of {of} is called {from}{instead}"), is_near)
    }
}

/// Checks the name of a node, or its full name.
fn validate_node(node: &str) -> Result<(), NameError> {
    match node.rsplit_once('/').filter(|_| node.starts_with('/')) {
        // A full name has the form of a namespace.
        Some((_, name)) => validate_namespace(node).and_then(|()| validate_node_name(name)),
        None => validate_node_name(node),
    }
}
