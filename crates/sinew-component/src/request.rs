//! Requests: the node that a container is asked to load.

use crate::error::{ContainerError, LoadError};
use sinew::parameters::{NodeBuilder, ParameterValue};

use sinew::{Context, LogLevel, Node};
use sinew_interfaces::composition_interfaces::srv::LoadNodeRequest;
use sinew_interfaces::rcl_interfaces::msg::Parameter;

/// The settings with which a component makes its node: name and namespace, remap rules, parameters,
/// log level. A container passes them to a [`Component`](crate::Component) that makes its node
/// itself.
#[derive(Clone)]
pub struct NodeRequest {
    context: Context,
    settings: LoadNodeRequest,
}

impl NodeRequest {
    pub(crate) fn new(context: &Context, settings: &LoadNodeRequest) -> Self {
        Self { context: context.clone(), settings: settings.clone() }
    }

    /// Returns the container's context.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Makes the node of a builder with the requested settings, which take precedence over those of
    /// the builder and of the command line.
    ///
    /// # Errors
    /// [`LoadError`] if a setting is invalid, or as for [`NodeBuilder::create`].
    pub fn create(&self, builder: NodeBuilder) -> Result<Node, LoadError> {
        let LoadNodeRequest { node_name, plugin_name, .. } = &self.settings;
        let name = if node_name.is_empty() { plugin_name } else { node_name };
        let level = match self.settings.log_level {
            0 => None,
            number => match LogLevel::of_number(number.into()) {
                Some(level) => Some(level),
                None => return Err(LoadError::Level { level: number, node: name.clone() }),
            },
        };
        let mut builder = self.named(builder);
        builder = with_arguments(builder, &self.settings.extra_arguments, name)?;
        for Parameter { name: parameter, value } in &self.settings.parameters {
            let kind = value.r#type;
            let Some(value) = ParameterValue::from_msg(value.clone()) else {
                return Err(LoadError::Parameter { name: parameter.clone(), node: name.clone(), kind });
            };
            builder = builder.parameter_override(parameter, value);
        }
        let node = builder.create()?;
        if level.is_some() {
            node.logger().set_level(level);
        }
        Ok(node)
    }

    fn named(&self, mut builder: NodeBuilder) -> NodeBuilder {
        let LoadNodeRequest { node_name, node_namespace, remap_rules, .. } = &self.settings;
        for rule in remap_rules {
            builder = builder.remap(rule);
        }
        if !node_namespace.is_empty() {
            builder = builder.namespace(node_namespace).remap(&format!("__ns:={node_namespace}"));
        }
        // The name that the command line gives to all nodes is the container's.
        let name = if node_name.is_empty() { builder.name() } else { node_name };
        let rule = format!("__node:={name}");
        builder.remap(&rule)
    }
}

/// Sets what the extra arguments of a request say.
fn with_arguments(
    mut builder: NodeBuilder,
    arguments: &[Parameter],
    name: &str,
) -> Result<NodeBuilder, LoadError> {
    for Parameter { name: argument, value } in arguments {
        let known = ParameterValue::from_msg(value.clone());
        builder = match (argument.as_str(), known) {
            ("use_intra_process_comms", Some(ParameterValue::Bool(_))) => builder, // messages always move
            ("forward_global_arguments", Some(ParameterValue::Bool(value))) => {
                builder.global_arguments(value)
            }
            ("allow_undeclared_parameters", Some(ParameterValue::Bool(value))) => {
                builder.allow_undeclared(value)
            }
            ("automatically_declare_parameters_from_overrides", Some(ParameterValue::Bool(value))) => {
                builder.declare_overrides(value)
            }
            ("start_parameter_services", Some(ParameterValue::Bool(value))) => {
                builder.start_parameter_services(value)
            }
            ("start_parameter_event_publisher", Some(ParameterValue::Bool(value))) => {
                builder.start_parameter_event_publisher(value)
            }
            _ => return Err(LoadError::Extra { argument: argument.clone(), node: name.to_owned() }),
        };
    }
    Ok(builder)
}

/// Returns the load requests on a command line.
pub(crate) fn wanted(line: &[String]) -> Result<Vec<LoadNodeRequest>, ContainerError> {
    let mut words = line.iter();
    let mut wanted = Vec::new();
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--component") {
            Some("") => words.next().ok_or(ContainerError::MissingValue)?,
            Some(rest) if rest.starts_with('=') => &rest[1..],
            _ => continue,
        };
        let (type_name, node) = value.split_once('=').unwrap_or((value, ""));
        let (namespace, name) = match node.rsplit_once('/') {
            Some(("", name)) => ("/", name),
            Some(both) => both,
            None => ("", node),
        };
        wanted.push(LoadNodeRequest {
            plugin_name: type_name.into(),
            node_name: name.into(),
            node_namespace: namespace.into(),
            ..LoadNodeRequest::default()
        });
    }
    Ok(wanted)
}
