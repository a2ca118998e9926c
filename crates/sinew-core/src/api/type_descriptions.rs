//! `~/get_type_description`: the types that a node uses, described for others. (REP 2016)
//!
//! As in `rclcpp`, a type is looked up by its hash alone, among the types of the node's current
//! endpoints. ROS 2 sends a type's source, the file that defines it, which our programs do not
//! contain: they send a definition made from the description instead, without comments, constants
//! and default values.

use crate::api::node::{Node, NodeCore, RegisteredDescription};
use crate::api::server::{Server, ServerBuilder};
use crate::executor::group::Group;
use crate::ros::failure::CreateError;
use crate::sys::sync::{Arc, next_serial};
use sinew_interfaces::type_description::TypeNameTooLong;
use sinew_interfaces::type_description_interfaces::msg;
use sinew_interfaces::type_description_interfaces::srv::{
    GetTypeDescription, GetTypeDescriptionRequest, GetTypeDescriptionResponse,
};
use sinew_msg::description::{IndividualTypeDescription, TypeDescription};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Weak;

/// The service that describes a node's types to others; it ends when this handle is dropped. From
/// [`Node::type_description_service`].
#[derive(Debug, Clone)]
#[must_use = "the service ends when this is dropped, and `let _ = ..` drops it at once: name the variable, or `detach()` it"]
pub struct TypeDescriptionService(Server<GetTypeDescription>);

impl TypeDescriptionService {
    /// Keeps the service until the context ends.
    pub fn detach(self) {
        self.0.detach();
    }
}

/// A type that a node describes without an endpoint of it; dropping this handle removes the type.
/// From [`Node::register_type`].
#[must_use = "the type is forgotten when this is dropped: keep it beside what uses the type"]
pub struct RegisteredType {
    number: u64,
    node: Arc<NodeCore>,
}

impl Drop for RegisteredType {
    fn drop(&mut self) {
        self.node.registered_types.lock().remove(&self.number);
    }
}

impl fmt::Debug for RegisteredType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RegisteredType(of {})", self.node.full_name)
    }
}

impl Node {
    /// Creates the service `~/get_type_description` of `type_description_interfaces`. It describes
    /// the types that this node uses at the time of the call, in its publishers, subscriptions,
    /// servers, clients and actions. In `rclcpp` every node has the service. Here a node has it
    /// after this call, or if the program is started with
    /// `-p start_type_description_service:=true`; other nodes pay nothing for it.
    ///
    /// Sinew's own tools don't need the service: they find descriptions in the domain's directory,
    /// and a gateway brings them to other hosts. No executor is needed: the service answers on the
    /// thread that makes the call or receives it.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// let context = Context::builder().shared_memory(false).build()?;
    /// let node = context.node("camera")?;
    /// node.type_description_service()?.detach();
    /// # Ok::<(), sinew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`CreateError`]: as for [servers](crate::service::ServerBuilder::immediate_callback); the
    /// node has this service already, or another one of the same name.
    pub fn type_description_service(&self) -> Result<TypeDescriptionService, CreateError> {
        serve(self.default_group(), self.core()).map(TypeDescriptionService)
    }
}

/// The body of [`Node::register_type`].
pub(in crate::api) fn register(node: &Arc<NodeCore>, described: RegisteredDescription) -> RegisteredType {
    let number = next_serial();
    node.registered_types.lock().insert(number, described);
    RegisteredType { number, node: node.clone() }
}

/// Creates the service of a node in a group.
pub(in crate::api) fn serve(
    group: &Group,
    node: &Arc<NodeCore>,
) -> Result<Server<GetTypeDescription>, CreateError> {
    let node = Arc::downgrade(node);
    let server = ServerBuilder::<GetTypeDescription>::new(group, "~/get_type_description");
    server.immediate_callback(move |request: &GetTypeDescriptionRequest| {
        answer(&node, request).unwrap_or_else(|reason| GetTypeDescriptionResponse {
            successful: false,
            failure_reason: reason,
            ..Default::default()
        })
    })
}

/// The texts of failures are those of `rclcpp`.
fn answer(
    node: &Weak<NodeCore>,
    request: &GetTypeDescriptionRequest,
) -> Result<GetTypeDescriptionResponse, String> {
    const UNUSED: &str = "Type not currently in use by this node";
    let hash = request.type_hash.parse().map_err(|_| "Failed to parse type hash".to_owned())?;
    let described =
        node.upgrade().and_then(|node| node.description(hash)).ok_or_else(|| UNUSED.to_owned())?;
    let type_description = (&described).try_into().map_err(|error: TypeNameTooLong| error.to_string())?;
    let type_sources = if request.include_type_sources { sources(&described) } else { Vec::new() };
    Ok(GetTypeDescriptionResponse { successful: true, type_description, type_sources, ..Default::default() })
}

/// Returns a definition of each type. As in ROS 2, a type that is derived from another one has the
/// encoding `implicit` and no text.
fn sources(described: &TypeDescription) -> Vec<msg::TypeSource> {
    let others = &described.referenced_type_descriptions;
    let all: Vec<_> = [&described.type_description].into_iter().chain(others).collect();
    // The type of a service's or an action's field is derived from it.
    let derived: BTreeSet<&str> = all
        .iter()
        .filter(|one| !one.type_name.contains("/msg/"))
        .flat_map(|one| one.fields.iter().map(|field| field.field_type.nested_type_name.as_str()))
        .filter(|name| !name.contains("/msg/"))
        .collect();
    let definition = |name: String| {
        all.iter().find(|one| one.type_name == name).map(|one| one.to_definition()).unwrap_or_default()
    };
    let source = |one: &&IndividualTypeDescription| {
        let name = one.type_name.as_str();
        let (encoding, text) = match name.split('/').nth(1) {
            _ if derived.contains(name) => ("implicit", String::new()),
            Some("srv") => {
                let [request, response] =
                    ["_Request", "_Response"].map(|part| definition(format!("{name}{part}")));
                ("srv", format!("{request}---\n{response}"))
            }
            Some("action") => {
                let parts = ["_Goal", "_Result", "_Feedback"].map(|part| definition(format!("{name}{part}")));
                ("action", parts.join("---\n"))
            }
            _ => ("msg", one.to_definition()),
        };
        msg::TypeSource { type_name: name.to_owned(), encoding: encoding.to_owned(), raw_file_contents: text }
    };
    all.iter().map(source).collect()
}
