//! Making nodes.

use super::context::Context;
use super::hints;
use super::node::{Node, NodeOptions};
use super::parameters;
use crate::parameters::value::{NamedValue, ParameterValue};
use crate::ros::failure::CreateError;
use crate::ros::origin::Origin;
use crate::ros::qos::QoS;
use crate::ros::remap::RemapError;

impl Context {
    /// Makes a node in the root namespace (unless the command line says otherwise).
    ///
    /// # Errors
    /// [`CreateError`]: a name breaks the rules, or the context is shut down. Two nodes may have
    /// the same name.
    pub fn node(&self, name: &str) -> Result<Node, CreateError> {
        self.node_in("/", name)
    }

    /// Makes a node in a namespace, which begins with a slash.
    ///
    /// # Errors
    /// As [`node`](Self::node).
    pub fn node_in(&self, namespace: &str, name: &str) -> Result<Node, CreateError> {
        self.node_builder(name).namespace(namespace).create()
    }

    /// Returns a builder for a node with settings of its own.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// let context = Context::new()?;
    /// let node = context.node_builder("driver").namespace("/left").parameter_override("rate", 50).create()?;
    /// assert_eq!(node.full_name(), "/left/driver");
    /// assert_eq!(node.parameter("rate").default(30).create()?.get(), 50);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn node_builder(&self, name: &str) -> NodeBuilder {
        NodeBuilder {
            context: self.clone(),
            name: name.to_owned(),
            namespace: "/".to_owned(),
            options: NodeOptions::default(),
            refused: None,
            has_hints: true,
        }
    }
}

/// Makes a [`Node`] with settings of its own; from [`Context::node_builder`].
#[must_use = "there is no node before `create`"]
pub struct NodeBuilder {
    context: Context,
    name: String,
    namespace: String,
    options: NodeOptions,
    /// The error of the first invalid remap rule.
    refused: Option<RemapError>,
    has_hints: bool,
}

impl NodeBuilder {
    /// Returns the name that it was made with, before remapping.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets its namespace, which begins with a slash; the root by default.
    pub fn namespace(mut self, namespace: &str) -> Self {
        namespace.clone_into(&mut self.namespace);
        self
    }

    /// Makes a bare node: a name for its endpoints, and nothing besides. For a binding that brings
    /// a node's parameters, time and logging itself, such as an rmw below ROS 2's client libraries.
    ///
    /// It takes nothing from the command line and from parameter files: no rule renames it or its
    /// topics and services, so a full name (`/scan`) is taken exactly as it is; the builder's own
    /// [`remap`](Self::remap) rules still count. It has no endpoint that the program didn't make:
    /// no services of parameters or type descriptions, no publisher on `/parameter_events` or
    /// `/rosout` (its log lines go to the console and the file). Later calls to
    /// [`start_parameter_services`](Self::start_parameter_services),
    /// [`start_parameter_event_publisher`](Self::start_parameter_event_publisher),
    /// [`rosout`](Self::rosout) and [`global_arguments`](Self::global_arguments) ask for these
    /// again.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// # #[derive(Clone)] struct Scan; impl Message for Scan {}
    /// let line = ["driver", "--ros-args", "-r", "__node:=other", "-r", "/scan:=/left/scan"];
    /// let context = Context::builder().arguments(line).shared_memory(false).build()?;
    /// let node = context.node_builder("driver").bare().create()?;
    /// assert_eq!(node.full_name(), "/driver");
    /// assert_eq!(node.publisher::<Scan>("/scan").create()?.topic(), "/scan");
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn bare(mut self) -> Self {
        self.options.ignores_arguments = true;
        self.options.publishers.has_rosout = false;
        self.options.parameters.services = Some(false);
        self.options.parameters.events = false;
        self
    }

    /// Adds a rule that renames the node, or its topics and services, written as after `-r` on the
    /// command line: `image:=left/image`. The node's rules come before those of the command line,
    /// and the first that matches counts. (ROS 2: `-r` in the arguments of the node's options.)
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew_interfaces::sensor_msgs::msg::Image;
    /// let context = Context::builder().shared_memory(false).build()?;
    /// let node = context.node_builder("camera").remap("image:=left/image").create()?;
    /// let publisher = node.publisher::<Image>("image").create()?;
    /// assert_eq!(publisher.topic(), "/left/image");
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn remap(mut self, rule: &str) -> Self {
        if let Err(error) = self.options.remap.push(rule) {
            self.refused.get_or_insert(error);
        }
        self
    }

    /// Gives a parameter a value that takes precedence over its default, the command line and
    /// files. (ROS 2: `parameter_overrides`.)
    pub fn parameter_override(mut self, name: &str, value: impl Into<ParameterValue>) -> Self {
        self.options.parameters.overrides.push(NamedValue::new(name, value));
        self
    }

    /// Sets whether setting an undeclared parameter declares it, with dynamic typing, and reading
    /// one yields that it is not set. Default: no.
    pub fn allow_undeclared(mut self, allowed: bool) -> Self {
        self.options.parameters.allow_undeclared = allowed;
        self
    }

    /// Sets whether all parameters with a value from the command line, files or overrides are
    /// declared when the node is made, with dynamic typing. Default: no. (ROS 2:
    /// `automatically_declare_parameters_from_overrides`.)
    pub fn declare_overrides(mut self, declared: bool) -> Self {
        self.options.parameters.declare_overrides = declared;
        self
    }

    /// Sets whether other nodes reach the node's parameters through six services: from the start
    /// (`true`) or never (`false`). By default the services start with its first parameter, or once
    /// another node has a client of one of them, so that a node without parameters costs nothing
    /// until asked.
    pub fn start_parameter_services(mut self, started: bool) -> Self {
        self.options.parameters.services = Some(started);
        self
    }

    /// Sets whether changes of the node's parameters are published on `/parameter_events`. Default:
    /// yes, from its first parameter on.
    pub fn start_parameter_event_publisher(mut self, started: bool) -> Self {
        self.options.parameters.events = started;
        self
    }

    /// Sets the QoS with which changes of the node's parameters are published. Default:
    /// [`QoS::parameter_events`]. (ROS 2: `parameter_event_qos`.)
    pub fn parameter_event_qos(mut self, qos: QoS) -> Self {
        self.options.publishers.parameter_event_qos = qos;
        self
    }

    /// Sets whether the node takes names, remap rules and parameters from the context's command
    /// line and its parameter files. Default: yes. Without them its own rules and overrides count.
    /// (ROS 2: `use_global_arguments`.)
    ///
    /// ```
    /// use sinew::prelude::*;
    /// let line = ["driver", "--ros-args", "-r", "__node:=other"];
    /// let context = Context::builder().arguments(line).shared_memory(false).build()?;
    /// let node = context.node_builder("driver").global_arguments(false).create()?;
    /// assert_eq!(node.name(), "driver");
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn global_arguments(mut self, used: bool) -> Self {
        self.options.ignores_arguments = !used;
        self
    }

    /// Sets whether log lines of the node go to `/rosout`. Default: yes, unless the context's command
    /// line has `--disable-rosout-logs`. (ROS 2: `enable_rosout`.)
    pub fn rosout(mut self, wanted: bool) -> Self {
        self.options.publishers.has_rosout = wanted;
        self
    }

    /// Sets the QoS of the node's log lines on `/rosout`. Default: [`QoS::rosout`]. (ROS 2:
    /// `rosout_qos`.)
    pub fn rosout_qos(mut self, qos: QoS) -> Self {
        self.options.publishers.rosout_qos = qos;
        self
    }

    /// Sets whether the node logs hints about missing endpoints and unused options, see
    /// [`ContextBuilder::hints_after`](crate::ContextBuilder::hints_after). Default: yes.
    pub fn hints(mut self, wanted: bool) -> Self {
        self.has_hints = wanted;
        self
    }

    /// Makes the node.
    ///
    /// # Errors
    /// As [`Context::node`]; [`CreateError::Parameter`] for an overridden parameter;
    /// [`CreateError::Remap`] for a rule; and [`CreateError::Qos`] for the QoS of `/rosout` or
    /// `/parameter_events`.
    pub fn create(self) -> Result<Node, CreateError> {
        let Self { context, name, namespace, options, refused, has_hints } = self;
        if let Some(error) = refused {
            return Err(error.into());
        }
        let node = Node::new(&context, &name, &namespace, Origin::Local, options)?;
        parameters::node::begin(node.core())?;
        hints::begin(node.core(), has_hints);
        Ok(node)
    }
}
