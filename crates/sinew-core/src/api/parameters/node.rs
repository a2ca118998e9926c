//! The methods of a node for its parameters.

use super::services::ParameterServices;
use crate::api::context::ContextCore;
use crate::api::node::{Node, NodeCore};
use crate::api::type_descriptions;
use crate::executor::group::Group;
use crate::mailbox::deferred::Deferred;
use crate::mailbox::waiters::contain;
use crate::parameters::descriptor::ParameterDescriptor;
use crate::parameters::error::ParameterError;
use crate::parameters::options::{ParameterOptions, START_TYPE_DESCRIPTION_SERVICE, USE_SIM_TIME};
use crate::parameters::spec::Declaration;
use crate::parameters::table::{ParameterTable, Turn};
use crate::parameters::value::{NamedValue, ParameterType, ParameterValue};
use crate::ros::failure::CreateError;
use crate::ros::unmatched::Mark;
use crate::sys::logging::{About, Level, later, log_line};
use crate::sys::sync::Arc;
use std::sync::Weak;

/// Parameters that every node has without declaring them.
const STANDARD: [&str; 2] = [USE_SIM_TIME, START_TYPE_DESCRIPTION_SERVICE];

/// Returns a node's parameters. If the node has none yet, creates the table, and the services that
/// give access to it.
pub(in crate::api) fn table_of(node: &Arc<NodeCore>) -> Result<&Arc<ParameterTable>, CreateError> {
    if let Some(table) = node.parameters.get() {
        return Ok(table);
    }
    node.check_running("a parameter")?;
    let (overrides, uses) = match node.ignores_arguments {
        true => Default::default(),
        false => {
            let given = node.context.arguments.parameters();
            (given.of(&node.full_name), given.uses(&node.full_name))
        }
    };
    let table = ParameterTable::new(node.full_name.clone(), node.parameter_options.clone(), overrides);
    table.note_declared(move |name| uses.get(name).into_iter().flatten().for_each(Mark::set));
    // Until the table is complete, no other thread declares or sets parameters.
    let turn = table.turn()?;
    // Creating the services matches them with other endpoints. Work that this causes for those
    // endpoints, and lines for the program's logger, wait until the lock is free.
    let make = || {
        // No code of the program runs under this lock: there are no callbacks yet.
        let mut services = node.parameter_services.lock();
        let is_first = services.is_none();
        if is_first {
            declare_first(&turn, &table, node.context.session.follows_clock())?;
            *services = Some(Box::new(serve(node, &table)?));
            let _ = node.parameters.set(table.clone()); // only under this lock
        }
        Ok::<bool, CreateError>(is_first)
    };
    let is_first = Deferred::keep(|| later(make))?;
    if is_first {
        turn.notify_of_all();
        select_first_time(node, &table);
        start_type_descriptions(node, &table)?;
    }
    drop(turn);
    #[expect(clippy::expect_used, reason = "set above, or by another thread under the lock")]
    Ok(node.parameters.get().expect("the node has a table now"))
}

/// Makes a node's parameters reachable from outside, and publishes their changes.
fn serve(node: &Arc<NodeCore>, table: &Arc<ParameterTable>) -> Result<ParameterServices, CreateError> {
    let started = ParameterServices::start(node, table)?;
    let (events, context) = (started.events.as_ref().map(Arc::downgrade), Arc::downgrade(&node.context));
    table.take_effect_by(move |values| select_time(values, &context));
    table.observe(move |values, changes| {
        if let Some(events) = events.as_ref().and_then(Weak::upgrade) {
            events.publish(values, changes);
        }
    });
    Ok(started)
}

/// Declares the parameters that every node has and, if the options ask for it, the overridden ones.
fn declare_first(turn: &Turn<'_>, table: &ParameterTable, has_sim_time: bool) -> Result<(), CreateError> {
    let mut uses_sim_time = ParameterDescriptor::new(USE_SIM_TIME, ParameterType::Bool);
    "Whether the node's time is that of the topic /clock.".clone_into(&mut uses_sim_time.description);
    let mut first = vec![Declaration::new::<bool>(uses_sim_time, Ok(has_sim_time.into()))];
    if table.overrides.contains_key(START_TYPE_DESCRIPTION_SERVICE) {
        let mut starts = ParameterDescriptor::new(START_TYPE_DESCRIPTION_SERVICE, ParameterType::Bool);
        "Whether the node has the service ~/get_type_description.".clone_into(&mut starts.description);
        starts.read_only = true;
        first.push(Declaration::new::<bool>(starts, Ok(false.into())));
    }
    if table.options.declare_overrides {
        let others = table.overrides.iter().filter(|(name, _)| !STANDARD.contains(&name.as_str()));
        first.extend(others.map(|(name, value)| Declaration::dynamic(name, value.clone())));
    }
    turn.declare(first)?;
    Ok(())
}

/// Starts the service if a parameter enables it. The node keeps the service, which keeps a stand-in
/// of the node, as the services of parameters do.
fn start_type_descriptions(node: &Arc<NodeCore>, table: &ParameterTable) -> Result<(), CreateError> {
    let value = table.look(START_TYPE_DESCRIPTION_SERVICE, |entry| entry.value.clone());
    if value == Some(ParameterValue::Bool(true)) {
        let server = type_descriptions::serve(&Group::new(node.stand_in(), ()), node)?;
        let _ = node.type_descriptions.set(Box::new(server)); // a node's parameters begin once
    }
    Ok(())
}

/// Has the context use the time that a value of the parameter selects.
fn select_time(values: &[NamedValue], context: &Weak<ContextCore>) -> Result<(), String> {
    let selected = values.iter().find(|one| one.name == USE_SIM_TIME).map(|one| &one.value);
    let (Some(&ParameterValue::Bool(uses)), Some(context)) = (selected, context.upgrade()) else {
        return Ok(());
    };
    let not_set = |error| format!("parameter '{USE_SIM_TIME}' is not set: {error}");
    context.on_use_sim_time(uses).map_err(not_set)
}

/// Has the context use the time that a new node's parameter selects. (With the default, which is
/// the context's current time, this changes nothing.)
fn select_first_time(node: &NodeCore, table: &Arc<ParameterTable>) {
    let context = &node.context;
    if let Some(&ParameterValue::Bool(uses)) = table.overrides.get(USE_SIM_TIME)
        && uses != context.session.follows_clock()
        && let Err(error) = context.on_use_sim_time(uses)
    {
        log_line!(Level::Warn, "parameter {USE_SIM_TIME} is {uses}, but {error}");
    }
    // Another thread may have changed the time before it could find the new table.
    update_time_of(table, context);
}

/// Updates the parameters of all nodes after the context has changed to another time.
pub(crate) fn update_sim_time(context: &Arc<ContextCore>) {
    for node in NodeCore::all_of(context) {
        if let Some(table) = node.parameters.get() {
            update_time_of(table, context);
        }
    }
}

/// Updates a node's parameter. The context's time is read in the turn: so the last update finds the
/// last change.
fn update_time_of(table: &Arc<ParameterTable>, context: &ContextCore) {
    let (its, session) = (table.clone(), context.session.clone());
    let update = move |turn: &Turn<'_>| {
        let uses = session.follows_clock();
        let differs = its.look(USE_SIM_TIME, |entry| entry.value != ParameterValue::Bool(uses));
        if differs == Some(true) {
            // A callback of the program may refuse the value: then its node keeps the old one.
            let _ = turn.update(NamedValue::new(USE_SIM_TIME, uses));
        }
    };
    table.at_turn(move |turn| contain(|| update(turn), || "a callback for parameters".to_owned()));
}

/// Starts a new node's parameters before it declares any, if options, given values or a client ask
/// for them.
pub(in crate::api) fn begin(node: &Arc<NodeCore>) -> Result<(), CreateError> {
    let NodeCore { parameter_options, context, full_name, .. } = &**node;
    context.parameter_clients.serve_by(|| {
        let context = Arc::downgrade(context);
        move |name: &str| serve_by_name(&context, name)
    });
    let ParameterOptions { services, declare_overrides, overrides, .. } = parameter_options;
    let given = (!node.ignores_arguments).then(|| context.arguments.parameters().of(full_name));
    let is_given = |name: &str| {
        given.as_ref().is_some_and(|given| given.contains_key(name))
            || overrides.iter().any(|one| one.name == name)
    };
    let is_standard_given = STANDARD.into_iter().any(is_given);
    let is_served = services.unwrap_or_else(|| context.parameter_clients.ask(full_name));
    if is_served || *declare_overrides || is_standard_given {
        table_of(node)?;
    }
    Ok(())
}

/// Starts the parameters of the nodes of that name, because a client of them was created.
fn serve_by_name(context: &Weak<ContextCore>, name: &str) {
    let (context, name) = (context.clone(), name.to_owned());
    Deferred::run(move || {
        let Some(context) = context.upgrade() else { return };
        for node in NodeCore::all_named(&context, &name) {
            if node.parameter_options.services == Some(false) {
                continue;
            }
            match table_of(&node) {
                Ok(_) | Err(CreateError::Shutdown { .. }) => {}
                Err(error) => {
                    let about = About { node: &node.full_name, subject: "" };
                    log_line!(Level::Warn; about, "node {name} doesn't serve its parameters: {error}");
                }
            }
        }
    });
}

impl Node {
    /// Sets a parameter, as other nodes do by service; see
    /// [`Parameter::set`](crate::parameters::Parameter::set).
    ///
    /// # Errors
    /// [`ParameterError`].
    pub fn set_parameter(&self, name: &str, value: impl Into<ParameterValue>) -> Result<(), ParameterError> {
        self.set_parameters([NamedValue::new(name, value)])
    }

    /// Sets several parameters, all or none, and publishes one event. Of several values for one
    /// parameter, all must be allowed, and the last one is set. (ROS 2:
    /// `set_parameters_atomically`.)
    ///
    /// # Errors
    /// [`ParameterError`].
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::parameters::NamedValue;
    /// let node = Context::new()?.node("control")?;
    /// let p = node.parameter("p").default(1.0).create()?;
    /// let i = node.parameter("i").default(0.1).range(0.0..=1.0).create()?;
    /// assert!(node.set_parameters([NamedValue::new("p", 2.0), NamedValue::new("i", 5.0)]).is_err());
    /// assert_eq!((p.get(), i.get()), (1.0, 0.1));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn set_parameters(&self, values: impl IntoIterator<Item = NamedValue>) -> Result<(), ParameterError> {
        let values: Vec<_> = values.into_iter().collect();
        let table = self.table_to_set(&values)?;
        let turn = table.turn()?;
        turn.set(values).map_err(|refusal| turn.refused(refusal))
    }

    /// Returns the node's table. If the node has declared no parameter, the table is made for a
    /// name that every node has, or if undeclared parameters are allowed.
    fn table_to_set(&self, values: &[NamedValue]) -> Result<&Arc<ParameterTable>, ParameterError> {
        let is_standard = values.iter().any(|one| one.name == USE_SIM_TIME);
        if is_standard || self.core().parameter_options.allow_undeclared {
            let refused = |error: CreateError| {
                let (node, reason) = (self.full_name().to_owned(), error.to_string());
                ParameterError::Refused { node, reason }
            };
            return table_of(self.core()).map_err(refused);
        }
        let name = || values.first().map(|one| one.name.clone()).unwrap_or_default();
        self.core().parameters.get().ok_or_else(|| self.not_declared(name()))
    }

    /// Returns the table for reading a parameter; it is made for a name that every node has.
    fn table_with(&self, name: &str) -> Option<&Arc<ParameterTable>> {
        if name == USE_SIM_TIME { table_of(self.core()).ok() } else { self.core().parameters.get() }
    }

    fn not_declared(&self, name: String) -> ParameterError {
        ParameterError::NotDeclared { node: self.full_name().to_owned(), name }
    }

    /// Returns the value of a parameter of any type; `None` if it isn't declared. Takes a short
    /// lock and copies; a [`Parameter`](crate::parameters::Parameter) reads without a lock.
    ///
    /// Every node has `use_sim_time`: asking for it, describing or setting it gives the node its
    /// parameter services, as declaring a parameter does.
    pub fn parameter_value(&self, name: &str) -> Option<ParameterValue> {
        self.table_with(name)?.look(name, |entry| entry.value.clone())
    }

    /// Returns the description of a parameter; `None` if it isn't declared.
    pub fn describe_parameter(&self, name: &str) -> Option<ParameterDescriptor> {
        self.table_with(name)?.look(name, |entry| entry.descriptor.clone())
    }

    /// Returns the names of the node's parameters, sorted: those that equal a prefix or lie below
    /// one, or all names if `prefixes` is empty. If `depth` is not 0, only names with fewer than
    /// `depth` dots (counted below the prefix).
    ///
    /// ```
    /// use sinew::prelude::*;
    /// let node = Context::new()?.node("arm")?;
    /// let _gain = node.parameter("joint.gain").default(1.0).create()?;
    /// assert_eq!(node.list_parameters(&["joint"], 0), ["joint.gain"]);
    /// assert_eq!(node.list_parameters(&[], 1), ["use_sim_time"]);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn list_parameters(&self, prefixes: &[&str], depth: u64) -> Vec<String> {
        self.core().parameters.get().map_or_else(Vec::new, |table| table.list(prefixes, depth).0)
    }

    /// Removes a parameter with dynamic typing. Handles keep its last value. As in ROS 2, no
    /// callback runs and the node publishes no event.
    ///
    /// # Errors
    /// [`ParameterError`]: the parameter isn't declared, is read-only, or has a fixed type.
    pub fn undeclare_parameter(&self, name: &str) -> Result<(), ParameterError> {
        let table = self.core().parameters.get().ok_or_else(|| self.not_declared(name.to_owned()))?;
        table.turn()?.undeclare(name)
    }
}
