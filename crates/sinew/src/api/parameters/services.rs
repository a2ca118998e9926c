//! How others reach a node's parameters: the six services, and the events on `/parameter_events`.
//!
//! They are there from the node's first parameter on (or from its start, or never, as its builder
//! says), under ROS 2's names, types and QoS. The servers have listeners: a request is answered on
//! the thread that brings it, whether or not an executor spins the node, and an idle node costs
//! nothing. A change that comes while another thread declares or sets is left to that thread
//! ([`ParameterTable::in_turn`]).
//!
//! What is said where a parameter doesn't exist is what `rclcpp` says: an empty list.

use super::convert::{descriptor_to_msg, named_of_msg, named_to_msg, value_to_msg};
use crate::api::node::{Advertised, NodeCore};
use crate::api::server::NodeServer;
use crate::event::match_listeners::MatchListeners;
use crate::mailbox::waiters::contain;
use crate::message::Unique;
use crate::message::block::Pool;
use crate::message::type_support::TypeSupport;
use crate::parameters::descriptor::ParameterDescriptor;
use crate::parameters::table::{Change, ParameterTable, Refusal, Turn};
use crate::parameters::value::{NamedValue, ParameterType, ParameterValue};
use crate::remote::shm::sender::ShmEndpoint;
use crate::ros::failure::CreateError;
use crate::ros::qos::QoS;
use crate::service::responder::Responder;
use crate::sys::clock::{ClockKind, Time};
use crate::sys::logging::{About, Level, tell};
use crate::sys::sync::{Arc, next_serial};
use crate::topic::copy_plan::Ownership;
use crate::topic::publisher_core::{PublisherConfig, PublisherCore, WatchedPromises};
use crate::topic::strategy::Form;
use sinew_interfaces::rcl_interfaces::{msg, srv};
use sinew_msg::Service;
use sinew_shm::EndpointKind;

use super::super::context::ContextCore;

/// Where all nodes tell of their parameters.
pub(in crate::api) const EVENTS: &str = "/parameter_events";

/// How many events a node's pool keeps room for.
const POOL_CAPACITY: usize = 4;

/// What a node is reached by; it goes with the node.
pub(super) struct ParameterServices {
    _servers: Vec<NodeServer>,
    pub(super) events: Option<Arc<EventPublisher>>,
}

impl ParameterServices {
    pub(super) fn start(node: &NodeCore, table: &Arc<ParameterTable>) -> Result<Self, CreateError> {
        let servers = match node.parameter_options.services {
            Some(false) => Vec::new(),
            _ => match serve(node, table) {
                Ok(servers) => servers,
                // Names of nodes needn't be unique, those of services are.
                Err(CreateError::ServiceTaken { service, .. }) => {
                    let about = About { node: &node.full_name, subject: &service };
                    tell!(
                        Level::Warn; about,
                        "the parameters of this node {} can't be reached from outside: another node of that name has {service}; give each a name of its own",
                        node.full_name
                    );
                    Vec::new()
                }
                Err(error) => return Err(error),
            },
        };
        let events = node.parameter_options.events.then(|| EventPublisher::new(node)).transpose()?;
        Ok(Self { _servers: servers, events: events.map(Arc::new) })
    }
}

fn serve(node: &NodeCore, table: &Arc<ParameterTable>) -> Result<Vec<NodeServer>, CreateError> {
    Ok(vec![
        reading::<srv::DescribeParameters>(node, table, "~/describe_parameters", |table, request| {
            srv::DescribeParametersResponse { descriptors: describe(table, &request.names) }
        })?,
        reading::<srv::GetParameterTypes>(node, table, "~/get_parameter_types", |table, request| {
            let types = all_or_none(table, &request.names, |value, _| value.kind() as u8, |_| 0);
            srv::GetParameterTypesResponse { types }
        })?,
        reading::<srv::GetParameters>(node, table, "~/get_parameters", |table, request| {
            srv::GetParametersResponse { values: values(table, &request.names) }
        })?,
        reading::<srv::ListParameters>(node, table, "~/list_parameters", |table, request| {
            let (names, prefixes) = table.list(&request.prefixes, request.depth);
            srv::ListParametersResponse { result: msg::ListParametersResult { names, prefixes } }
        })?,
        setting::<srv::SetParameters>(node, table, "~/set_parameters", |turn, request| {
            let results = request.parameters.into_iter().map(|one| set_one(turn, one)).collect();
            srv::SetParametersResponse { results }
        })?,
        setting::<srv::SetParametersAtomically>(
            node,
            table,
            "~/set_parameters_atomically",
            |turn, request| srv::SetParametersAtomicallyResponse {
                result: set_all(turn, request.parameters),
            },
        )?,
    ])
}

/// A service that reads.
fn reading<S: Service>(
    node: &NodeCore,
    table: &Arc<ParameterTable>,
    name: &str,
    answer: impl Fn(&ParameterTable, &S::Request) -> S::Response + Send + Sync + 'static,
) -> Result<NodeServer, CreateError> {
    let table = table.clone();
    NodeServer::new::<S>(node, name, QoS::parameters(), move |request, responder: Responder<S>| {
        drop(responder.respond(answer(&table, &request))); // a caller that has given up doesn't miss it
    })
}

/// A service that sets. `answer` in a turn; without (`None`) it says that there is none.
fn setting<S: Service>(
    node: &NodeCore,
    table: &Arc<ParameterTable>,
    name: &str,
    answer: impl Fn(Option<&Turn<'_>>, S::Request) -> S::Response + Send + Sync + 'static,
) -> Result<NodeServer, CreateError> {
    let (table, answer) = (table.clone(), Arc::new(answer));
    NodeServer::new::<S>(node, name, QoS::parameters(), move |request: Unique<S::Request>, responder| {
        let answer = answer.clone();
        table.in_turn(move |turn| {
            // A callback of the program's that panics is reported, and the caller told.
            contain(
                || drop(responder.respond(answer(turn, request.into_inner()))),
                || "a callback for parameters".to_owned(),
            );
        });
    })
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

/// What is known of each; nothing if there is one that isn't declared, unless that is allowed.
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

/// What `rclcpp` says to a callback that sets parameters.
const IN_CALLBACK: &str =
    "cannot set or declare a parameter, or change the callback from within set callback";

fn result(outcome: Result<(), String>) -> msg::SetParametersResult {
    msg::SetParametersResult { successful: outcome.is_ok(), reason: outcome.err().unwrap_or_default() }
}

fn unknown_type(name: &str) -> String {
    format!("parameter '{name}' cannot be set because its type is unknown")
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
        Ok(named) => turn.set(named).map_err(|refusal| match refusal {
            Refusal::NotDeclared(_) => "One or more parameters were not declared before setting".to_owned(),
            Refusal::Because(reason) => reason,
        }),
        Err(name) => Err(unknown_type(&name)),
    })
}

/// Tells of a node's changes. It belongs to the node, instead of keeping it.
pub(super) struct EventPublisher {
    core: Arc<PublisherCore>,
    context: Arc<ContextCore>,
}

impl EventPublisher {
    fn new(node: &NodeCore) -> Result<Self, CreateError> {
        let qos = QoS::parameter_events();
        let topic = node.place(EVENTS, &qos)?;
        let (context, table) = (node.context.clone(), TypeSupport::of::<msg::ParameterEvent>());
        let offered = PublisherConfig {
            number: next_serial(),
            topic: topic.as_str().into(),
            node: node.full_name.clone(),
            node_number: node.number,
            qos,
            origin: node.origin,
            table,
            pool: Pool::of_table(table, POOL_CAPACITY),
            session: context.session.clone(),
            promised: WatchedPromises { deadline: None, lease: None },
        };
        let about = Advertised { number: offered.number, name: &topic, table, qos };
        let entity = node.advertise(EndpointKind::Publisher, &about, None)?;
        let endpoint = entity.map(|entity| ShmEndpoint::boxed(entity, qos, table));
        let listeners = MatchListeners::new(None, None, None);
        let core = context.graph.add_publisher(&topic, offered, listeners, endpoint.into_iter().collect());
        Ok(Self { core, context })
    }

    /// Publishes what changed, if there is one who listens.
    pub(super) fn publish(&self, values: &[NamedValue], changes: &[Change]) {
        if self.core.match_listeners.matched_now() == 0 {
            return;
        }
        let all = |kind: Change| {
            let of_kind = values.iter().zip(changes).filter(move |(_, change)| **change == kind);
            of_kind.map(|(value, _)| named_to_msg(value)).collect()
        };
        let stamp = Time::from_nanoseconds(self.context.session.clock.now(ClockKind::Ros));
        let event = msg::ParameterEvent {
            stamp: stamp.to_msg(),
            node: self.core.node.to_string(),
            new_parameters: all(Change::New),
            changed_parameters: all(Change::Changed),
            deleted_parameters: all(Change::Deleted),
        };
        let message = self.core.pool.put(event);
        if let Err((_, reason)) = self.core.publish(message, Form::of_value(Ownership::Unique)) {
            let about = About { node: &self.core.node, subject: EVENTS };
            tell!(Level::Debug; about, "an event of parameters isn't published: {reason:?}");
        }
    }
}

impl Drop for EventPublisher {
    fn drop(&mut self) {
        self.context.graph.remove_publisher(&self.core);
        self.core.close();
    }
}
