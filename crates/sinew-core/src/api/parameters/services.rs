//! Access to a node's parameters from outside: the six services, and the events on
//! `/parameter_events`.
//!
//! The node creates them with its first parameter, at its start, or never: its builder decides.
//! Their names, types and QoS are those of ROS 2. The servers have immediate callbacks: a request
//! is answered on the thread that brings it, whether or not an executor spins the node, and an idle
//! node costs nothing. If a change arrives while another thread declares or sets parameters, that
//! thread makes the change afterwards ([`ParameterTable::in_turn`]).
//!
//! For a parameter that doesn't exist, the answer is an empty list, as in `rclcpp`.

use super::convert::{descriptor_to_msg, named_of_msg, named_to_msg, value_to_msg};
use crate::api::node::NodeCore;
use crate::api::publisher::{Publisher, PublisherBuilder};
use crate::api::server::ServerBuilder;
use crate::executor::group::Group;
use crate::mailbox::waiters::contain;
use crate::message::Unique;
use crate::parameters::descriptor::ParameterDescriptor;
use crate::parameters::table::{Change, ParameterTable, Refusal, Turn};
use crate::parameters::value::{NamedValue, ParameterType, ParameterValue};
use crate::ros::failure::CreateError;
use crate::ros::qos::QoS;
use crate::service::responder::Responder;
use crate::sys::clock::{ClockKind, Time};
use crate::sys::logging::{About, Level, log_line};
use crate::sys::sync::Arc;
use sinew_interfaces::rcl_interfaces::{msg, srv};
use sinew_msg::Service;
use std::any::Any;

/// The topic on which all nodes publish changes of their parameters.
pub(in crate::api) const EVENTS: &str = "/parameter_events";

/// Number of events that a node's pool has room for.
const POOL_CAPACITY: usize = 4;

/// The services and the publisher of a node's parameters. The node keeps them, and they keep a
/// stand-in of the node ([`NodeCore::stand_in`]): so they end with the node.
pub(super) struct ParameterServices {
    _servers: Vec<Box<dyn Any + Send>>,
    pub(super) events: Option<Arc<EventPublisher>>,
}

impl ParameterServices {
    pub(super) fn start(node: &NodeCore, table: &Arc<ParameterTable>) -> Result<Self, CreateError> {
        let group = Group::new(node.stand_in(), ());
        let servers = match node.parameter_options.services {
            Some(false) => Vec::new(),
            _ => match serve(&group, table) {
                Ok(servers) => servers,
                // Nodes may share a name, services may not.
                Err(CreateError::ServiceTaken { service, .. }) => {
                    let about = About { node: &node.full_name, subject: &service };
                    log_line!(
                        Level::Warn; about,
                        "the parameters of this node {} can't be reached from outside: another node of that name has {service}; give each a name of its own",
                        node.full_name
                    );
                    Vec::new()
                }
                Err(error) => return Err(error),
            },
        };
        let events = node
            .parameter_options
            .events
            .then(|| EventPublisher::new(&group, node.own_publishers.parameter_event_qos));
        let events = events.transpose()?;
        Ok(Self { _servers: servers, events: events.map(Arc::new) })
    }
}

fn serve(group: &Group, table: &Arc<ParameterTable>) -> Result<Vec<Box<dyn Any + Send>>, CreateError> {
    Ok(vec![
        reading::<srv::DescribeParameters>(group, table, "~/describe_parameters", |table, request| {
            srv::DescribeParametersResponse { descriptors: describe(table, &request.names) }
        })?,
        reading::<srv::GetParameterTypes>(group, table, "~/get_parameter_types", |table, request| {
            let types = all_or_none(table, &request.names, |value, _| value.kind() as u8, |_| 0);
            srv::GetParameterTypesResponse { types }
        })?,
        reading::<srv::GetParameters>(group, table, "~/get_parameters", |table, request| {
            srv::GetParametersResponse { values: values(table, &request.names) }
        })?,
        reading::<srv::ListParameters>(group, table, "~/list_parameters", |table, request| {
            let (names, prefixes) = table.list(&request.prefixes, request.depth);
            srv::ListParametersResponse { result: msg::ListParametersResult { names, prefixes } }
        })?,
        setting::<srv::SetParameters>(group, table, "~/set_parameters", |turn, request| {
            let results = request.parameters.into_iter().map(|one| set_one(turn, one)).collect();
            srv::SetParametersResponse { results }
        })?,
        setting::<srv::SetParametersAtomically>(
            group,
            table,
            "~/set_parameters_atomically",
            |turn, request| srv::SetParametersAtomicallyResponse {
                result: set_all(turn, request.parameters),
            },
        )?,
    ])
}

/// Creates a service that reads parameters.
fn reading<S: Service>(
    group: &Group,
    table: &Arc<ParameterTable>,
    name: &str,
    answer: impl Fn(&ParameterTable, &S::Request) -> S::Response + Send + Sync + 'static,
) -> Result<Box<dyn Any + Send>, CreateError> {
    let table = table.clone();
    let server = ServerBuilder::<S>::new(group, name).qos(QoS::parameters());
    Ok(Box::new(server.immediate_callback(move |request: &S::Request| answer(&table, request))?))
}

/// Creates a service that sets parameters. `answer` gets a turn, or `None` inside a callback for
/// parameters.
fn setting<S: Service>(
    group: &Group,
    table: &Arc<ParameterTable>,
    name: &str,
    answer: impl Fn(Option<&Turn<'_>>, S::Request) -> S::Response + Send + Sync + 'static,
) -> Result<Box<dyn Any + Send>, CreateError> {
    let (table, answer) = (table.clone(), Arc::new(answer));
    let server = ServerBuilder::<S>::new(group, name).qos(QoS::parameters());
    let server = server.immediate_callback(move |request: Unique<S::Request>, responder: Responder<S>| {
        let answer = answer.clone();
        table.in_turn(move |turn| {
            // A panic in the program's callback is reported, and the caller gets a failure.
            contain(
                || drop(responder.respond(answer(turn, request.into_inner()))),
                || "a callback for parameters".to_owned(),
            );
        });
    })?;
    Ok(Box::new(server))
}

fn describe(table: &ParameterTable, names: &[String]) -> Vec<msg::ParameterDescriptor> {
    let none = |name: &str| descriptor_to_msg(&ParameterDescriptor::new(name, ParameterType::NotSet));
    all_or_none(table, names, |_, descriptor| descriptor_to_msg(descriptor), none)
}

fn values(table: &ParameterTable, names: &[String]) -> Vec<msg::ParameterValue> {
    let lacks_one = |name: &String| {
        let is_empty = table
            .look(name, |entry| entry.value == ParameterValue::NotSet && !entry.descriptor.dynamic_typing);
        is_empty == Some(true)
    };
    if names.iter().any(lacks_one) {
        return Vec::new();
    }
    all_or_none(table, names, |value, _| value_to_msg(value.clone()), |_| msg::ParameterValue::default())
}

/// Returns the data of each parameter. If one isn't declared, returns nothing, unless the node
/// allows undeclared ones.
fn all_or_none<R>(
    table: &ParameterTable,
    names: &[String],
    known: impl Fn(&ParameterValue, &ParameterDescriptor) -> R,
    unknown: impl Fn(&str) -> R,
) -> Vec<R> {
    if table.options.allow_undeclared {
        let one = |name: &String| {
            let known = table.look(name, |entry| known(&entry.value, &entry.descriptor));
            known.unwrap_or_else(|| unknown(name))
        };
        return names.iter().map(one).collect();
    }
    table.look_at_all(names, |entry| known(&entry.value, &entry.descriptor)).unwrap_or_default()
}

/// The refusal for a callback for parameters that sets parameters by service.
const IN_CALLBACK: &str = "a callback for parameters of this node can't set any of them: do so later, in a timer or a guard condition";

fn result(outcome: Result<(), String>) -> msg::SetParametersResult {
    msg::SetParametersResult { successful: outcome.is_ok(), reason: outcome.err().unwrap_or_default() }
}

fn unknown_type(name: &str) -> String {
    let name = &name[..name.floor_char_boundary(255)];
    format!("parameter '{name}' is not set: the value's type is a number that ROS 2 doesn't have")
}

fn set_one(turn: Option<&Turn<'_>>, parameter: msg::Parameter) -> msg::SetParametersResult {
    let Some(turn) = turn else { return result(Err(IN_CALLBACK.to_owned())) };
    result(match named_of_msg(parameter) {
        Ok(named) => turn.set(vec![named]).map_err(Refusal::reason),
        Err(name) => Err(unknown_type(&name)),
    })
}

fn set_all(turn: Option<&Turn<'_>>, parameters: Vec<msg::Parameter>) -> msg::SetParametersResult {
    let Some(turn) = turn else { return result(Err(IN_CALLBACK.to_owned())) };
    let named: Result<Vec<NamedValue>, String> = parameters.into_iter().map(named_of_msg).collect();
    result(match named {
        Ok(named) => turn.set(named).map_err(Refusal::reason),
        Err(name) => Err(unknown_type(&name)),
    })
}

/// Publishes a node's changes.
pub(super) struct EventPublisher(Publisher<msg::ParameterEvent>);

impl EventPublisher {
    fn new(group: &Group, qos: QoS) -> Result<Self, CreateError> {
        let publisher = PublisherBuilder::new(group, EVENTS).qos(qos);
        Ok(Self(publisher.pool_capacity(POOL_CAPACITY).create()?))
    }

    /// Publishes the changes, if there is a subscription.
    pub(super) fn publish(&self, values: &[NamedValue], changes: &[Change]) {
        if self.0.subscription_count() == 0 {
            return;
        }
        let all = |kind: Change| {
            let of_kind = values.iter().zip(changes).filter(move |(_, change)| **change == kind);
            of_kind.map(|(value, _)| named_to_msg(value)).collect()
        };
        let core = self.0.core();
        let stamp = Time::from_nanoseconds(core.session.clock.now(ClockKind::Ros));
        let event = msg::ParameterEvent {
            stamp: stamp.to_msg(),
            node: core.node.to_string(),
            new_parameters: all(Change::New),
            changed_parameters: all(Change::Changed),
            deleted_parameters: all(Change::Deleted),
        };
        if let Err(error) = self.0.publish(event) {
            let about = About { node: &core.node, subject: EVENTS };
            log_line!(Level::Debug; about, "a parameter event was not published: {}", error.failure());
        }
    }
}
