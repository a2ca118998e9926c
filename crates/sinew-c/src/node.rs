//! Nodes.

use crate::array::{Texts, texts};
use crate::context::{choice, sinew_choice, sinew_context};
use crate::handle::{self, handle};
use crate::node_request::sinew_node_request;
use crate::parameter_list::{sinew_parameter_list, values_of};
use crate::qos::{self, sinew_qos};
use crate::status::{Result, answer, sinew_status, status};
use crate::strings::sinew_strings;
use crate::structure::{Structure, structure};
use crate::text::{c_text, optional_text, text};
use sinew::Node;
use sinew::logging::LoggerServices;
use sinew::parameters::{NamedValue, NodeBuilder};
use std::ffi::{CString, c_char};

/// A node: a name under which publishers, subscriptions, services and timers are made.
pub struct sinew_node {
    _opaque: (),
}
handle!(sinew_node: NodeHandle);

/// A node with its names as C reads them.
pub(crate) struct NodeHandle {
    pub(crate) node: Node,
    name: CString,
    namespace: CString,
    full_name: CString,
    /// They end with it.
    _logger_services: Option<LoggerServices>,
}

/// The options of [`sinew_node_new`]. Zero is the default of every field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_node_options {
    /// `sizeof(struct sinew_node_options)`.
    pub size: usize,
    /// The namespace. Null: `/`, or that of the command line.
    pub node_namespace: *const c_char,
    /// Whether the node takes its names exactly as they are given, has nothing from the command
    /// line, and no parameters or services of its own: for a binding below another client library.
    pub is_bare: bool,
    /// Whether parameters can be set that were not declared. By default they can't.
    pub allow_undeclared_parameters: sinew_choice,
    /// Whether parameters of the command line and of files are declared by themselves. By default
    /// they aren't.
    pub declare_overrides: sinew_choice,
    /// Whether the node has the services with which others read and set its parameters. By default
    /// it has.
    pub parameter_services: sinew_choice,
    /// Whether the node publishes changes of its parameters. By default it does.
    pub parameter_events: sinew_choice,
    /// Whether the node logs hints about endpoints without a counterpart. By default it does.
    pub hints: sinew_choice,
    /// Rules that rename, as `from:=to`, for this node.
    pub remap: *const *const c_char,
    /// The number of rules.
    pub remap_count: usize,
    /// Values for the node's parameters, which come before their defaults, the command line and
    /// files. Null: none.
    pub parameter_overrides: *const sinew_parameter_list,
    /// The settings of a container, for the node of a component, which take precedence. Null: none.
    pub request: *const sinew_node_request,
    /// Whether names, remapping and parameters of the context's command line are used. By default
    /// they are.
    pub use_global_arguments: sinew_choice,
    /// Whether log lines of the node go to `/rosout`. By default they do, unless the command line
    /// has `--disable-rosout-logs`.
    pub rosout: sinew_choice,
    /// The QoS of these lines. Null: `sinew_qos_rosout()`.
    pub rosout_qos: *const sinew_qos,
    /// The QoS with which changes of parameters are published. Null:
    /// `sinew_qos_parameter_events()`.
    pub parameter_event_qos: *const sinew_qos,
    /// Whether other processes read and set levels of loggers through services of the node, until
    /// its handle is freed. By default they don't.
    pub logger_services: sinew_choice,
}

// SAFETY: C's layout, beginning with the size; zeros are null, `false`, numbers.
unsafe impl Structure for sinew_node_options {
    const NAME: &str = "sinew_node_options";
}

/// Makes a node. The first one of a context joins the domain, which starts a thread.
///
/// `options` may be null. The caller frees `*node` with `sinew_node_free`; the node keeps its
/// context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_new(
    context: *const sinew_context,
    name: *const c_char,
    options: *const sinew_node_options,
    node: Option<&mut *mut sinew_node>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let context = unsafe { handle::get(context, "context") }?;
        // SAFETY: the caller's text.
        let name = unsafe { text(name, "name") }?;
        // SAFETY: the caller's structure.
        let options = unsafe { structure(options) }?;
        let has_logger_services = choice(options.logger_services, "logger_services")?;
        let mut builder = context.node_builder(name);
        if options.is_bare {
            builder = builder.bare();
        }
        // SAFETY: the caller's text.
        if let Some(namespace) = unsafe { optional_text(options.node_namespace, "node_namespace") }? {
            builder = builder.namespace(namespace);
        }
        if let Some(wanted) = choice(options.allow_undeclared_parameters, "allow_undeclared_parameters")? {
            builder = builder.allow_undeclared(wanted);
        }
        if let Some(wanted) = choice(options.declare_overrides, "declare_overrides")? {
            builder = builder.declare_overrides(wanted);
        }
        if let Some(wanted) = choice(options.hints, "hints")? {
            builder = builder.hints(wanted);
        }
        if let Some(wanted) = choice(options.use_global_arguments, "use_global_arguments")? {
            builder = builder.global_arguments(wanted);
        }
        // SAFETY: the caller's structures.
        builder = unsafe { options.apply_endpoints(builder) }?;
        if !options.remap.is_null() {
            // SAFETY: the caller's array of texts.
            for rule in unsafe { texts(options.remap, options.remap_count, "remap") }? {
                builder = builder.remap(rule);
            }
        }
        if !options.parameter_overrides.is_null() {
            // SAFETY: the caller's handle.
            let overrides = unsafe { values_of(options.parameter_overrides, "parameter_overrides") }?;
            for NamedValue { name, value } in overrides {
                builder = builder.parameter_override(&name, value);
            }
        }
        // SAFETY: the caller's handle.
        let made = match unsafe { handle::get_optional(options.request, "request") }? {
            Some(request) => request.create(builder)?,
            None => builder.create()?,
        };
        let logger_services = (has_logger_services == Some(true)).then(|| made.logger_services());
        handle::put(node, "node", NodeHandle::new(made, logger_services.transpose()?))
    })
}

impl sinew_node_options {
    /// Applies the choices of endpoints that the node makes by itself.
    ///
    /// # Safety
    /// The structures are null, or can be read for the number of bytes that they begin with.
    unsafe fn apply_endpoints(&self, mut builder: NodeBuilder) -> Result<NodeBuilder> {
        if let Some(wanted) = choice(self.parameter_services, "parameter_services")? {
            builder = builder.start_parameter_services(wanted);
        }
        if let Some(wanted) = choice(self.parameter_events, "parameter_events")? {
            builder = builder.start_parameter_event_publisher(wanted);
        }
        if !self.parameter_event_qos.is_null() {
            // SAFETY: as the caller says.
            builder = builder.parameter_event_qos(unsafe { qos::qos(self.parameter_event_qos) }?);
        }
        if let Some(wanted) = choice(self.rosout, "rosout")? {
            builder = builder.rosout(wanted);
        }
        if !self.rosout_qos.is_null() {
            // SAFETY: as the caller says.
            builder = builder.rosout_qos(unsafe { qos::qos(self.rosout_qos) }?);
        }
        Ok(builder)
    }
}

impl NodeHandle {
    fn new(node: Node, logger_services: Option<LoggerServices>) -> Self {
        let [name, namespace, full_name] =
            [node.name(), node.namespace(), node.full_name()].map(|text| c_text(text.to_owned()));
        Self { node, name, namespace, full_name, _logger_services: logger_services }
    }
}

/// Frees a handle to a node; null is allowed. What was made with the node keeps working.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_free(node: *mut sinew_node) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(node, "node") };
}

/// Returns the node's name without its namespace. The text lives as long as the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_name(node: *const sinew_node) -> *const c_char {
    // SAFETY: the caller's handle.
    answer(std::ptr::null(), || Ok(unsafe { handle::get(node, "node") }?.name.as_ptr()))
}

/// Returns the node's namespace, which begins with `/`. The text lives as long as the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_namespace(node: *const sinew_node) -> *const c_char {
    // SAFETY: the caller's handle.
    answer(std::ptr::null(), || Ok(unsafe { handle::get(node, "node") }?.namespace.as_ptr()))
}

/// Returns the node's name with its namespace. The text lives as long as the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_full_name(node: *const sinew_node) -> *const c_char {
    // SAFETY: the caller's handle.
    answer(std::ptr::null(), || Ok(unsafe { handle::get(node, "node") }?.full_name.as_ptr()))
}

/// Gets the full name that a publisher or subscription of the node has that is made with `topic`,
/// after remapping: one text. The caller frees `*name`. Fails with `SINEW_ERROR_INVALID_NAME`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_resolve_topic_name(
    node: *const sinew_node,
    topic: *const c_char,
    name: Option<&mut *mut sinew_strings>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(node, "node") }?;
        // SAFETY: the caller's text.
        let topic = unsafe { text(topic, "topic") }?;
        handle::put(name, "name", Texts::new([node.node.resolve_topic_name(topic)?]))
    })
}

/// Gets the full name of a service; otherwise as [`sinew_node_resolve_topic_name`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_resolve_service_name(
    node: *const sinew_node,
    service: *const c_char,
    name: Option<&mut *mut sinew_strings>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(node, "node") }?;
        // SAFETY: the caller's text.
        let service = unsafe { text(service, "service") }?;
        handle::put(name, "name", Texts::new([node.node.resolve_service_name(service)?]))
    })
}
