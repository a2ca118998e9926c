//! Parameters of nodes for viewers, named `/node.parameter`; on a thread of their own, since nodes
//! may take their time to answer.

use crate::hub::Hub;
use crate::job::Job;
use crate::session::Session;
use crate::wire::{Level, Parameter, ServerText};
use data_encoding::BASE64;
use serde_json::{Number, Value, json};
use sinew::error::ParameterClientError;
use sinew::graph::EndpointKind;
use sinew::parameters::{NamedValue, ParameterEvent, ParameterValue};
use sinew::time::Time;
use sinew::{QoS, Subscription};
use sinew_interfaces::rcl_interfaces::msg;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

/// Time in which a node has to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Time for a job, whatever the number of nodes that don't answer: other clients wait for it.
const JOB_TIME: Duration = Duration::from_secs(10);

/// The service, below its name, of a node with parameters.
const SERVICE: (&str, &str) = ("/list_parameters", "rcl_interfaces/srv/ListParameters");

pub(crate) struct Parameters {
    hub: Arc<Hub>,
    /// As [`Hub::ask`] sends them.
    jobs: Receiver<Option<Arc<Session>>>,
    events: Option<Subscription<ParameterEvent>>,
}

impl Parameters {
    pub(crate) fn new(hub: Arc<Hub>, jobs: Receiver<Option<Arc<Session>>>) -> Self {
        Self { hub, jobs, events: None }
    }

    pub(crate) fn run(mut self) {
        while let Ok(session) = self.jobs.recv() {
            if self.hub.is_ending() {
                return;
            }
            if let Some(session) = session
                && let Some((job, has_more)) = session.take_job()
            {
                if has_more {
                    self.hub.ask(Some(session.clone()));
                }
                let asking = Asking::new(&self.hub, &session, JOB_TIME);
                match job {
                    Job::Get { names, id } => asking.get(names, id),
                    Job::Set { parameters, id } => asking.set(parameters, id),
                    Job::Watch { names } => self.watch(&session, names),
                }
            }
            if self.hub.take_parameters_changed() {
                self.tell_changes();
            }
        }
    }

    fn watch(&mut self, session: &Session, names: Vec<String>) {
        if self.events.is_none() {
            let hub = Arc::downgrade(&self.hub);
            let events = self.hub.node.subscription::<ParameterEvent>("/parameter_events");
            let events = events.qos(QoS::parameter_events()).listener(move |_| {
                if let Some(hub) = hub.upgrade() {
                    hub.parameters_changed();
                }
            });
            match events.create() {
                Ok(events) => self.events = Some(events),
                Err(error) => return session.status(Level::Error, &error.to_string(), None),
            }
        }
        session.watch_parameters(names);
    }

    fn tell_changes(&self) {
        let Some(events) = &self.events else { return };
        let sessions = self.hub.sessions();
        while let Some((event, _)) = events.take() {
            let changed = event.new_parameters.iter().chain(&event.changed_parameters);
            let changed = changed.map(|one| parameter(&event.node, &one.name, &of_message(&one.value)));
            let gone = event.deleted_parameters.iter();
            let gone = gone.map(|one| parameter(&event.node, &one.name, &ParameterValue::NotSet));
            let all: Vec<Parameter> = changed.chain(gone).collect();
            for session in &sessions {
                let is_wanted = |one: &&Parameter| {
                    session.watches_parameter(&one.name) && self.hub.settings.parameters.passes(&one.name)
                };
                let parameters: Vec<Parameter> = all.iter().filter(is_wanted).cloned().collect();
                if !parameters.is_empty() {
                    session.send_text(ServerText::ParameterValues { parameters, id: None }.to_json());
                }
            }
        }
    }
}

/// A job that asks nodes.
struct Asking<'a> {
    hub: &'a Hub,
    session: &'a Session,
    /// Steady time.
    deadline: Time,
    /// The client was told that the time is up.
    has_told: Cell<bool>,
}

impl<'a> Asking<'a> {
    fn new(hub: &'a Hub, session: &'a Session, time: Duration) -> Self {
        Self { hub, session, deadline: Time::steady() + time, has_told: Cell::new(false) }
    }

    fn fail(&self, problem: &str) {
        self.session.status(Level::Error, problem, None);
    }

    /// Returns the time for this node's answer; `None` if the job ends here: its time is up, which
    /// the client is told, or the client or the server goes.
    fn patience(&self, node: &str) -> Option<Duration> {
        if self.hub.is_ending() || self.session.is_ending() {
            return None;
        }
        let rest = self.deadline - Time::steady();
        if !rest.is_zero() {
            return Some(rest.min(PATIENCE));
        }
        if !self.has_told.replace(true) {
            let problem = format!(
                "a request for parameters ends after {JOB_TIME:?}, so {node} isn't asked, nor nodes after it: \
                 ask for those of fewer nodes"
            );
            self.fail(&problem);
        }
        None
    }

    fn get(&self, names: Vec<String>, id: Option<String>) {
        let found = match names.is_empty() {
            true => self.all(),
            false => self.values(names),
        };
        self.session.send_text(ServerText::ParameterValues { parameters: found, id }.to_json());
    }

    /// Returns the names of the nodes that serve their parameters.
    fn nodes(&self) -> BTreeSet<String> {
        let snapshot = self.hub.node.graph().snapshot();
        let servers = snapshot.endpoints().iter().filter(|endpoint| endpoint.kind == EndpointKind::Server);
        let of_type = servers.filter(|endpoint| endpoint.type_name == SERVICE.1);
        of_type.filter_map(|endpoint| endpoint.name.strip_suffix(SERVICE.0)).map(str::to_owned).collect()
    }

    /// Returns the parameters of all nodes that serve them.
    fn all(&self) -> Vec<Parameter> {
        let mut names = Vec::new();
        for node in self.nodes() {
            let Some(patience) = self.patience(&node) else { break };
            let client = self.hub.node.parameter_client(&node);
            match client.list(Vec::<String>::new(), 0).wait(patience) {
                Ok(listed) => names.extend(listed.names.iter().map(|name| format!("{node}.{name}"))),
                Err(error) => self.session.status(Level::Warning, &error.to_string(), None),
            }
        }
        names.retain(|name| self.hub.settings.parameters.passes(name));
        self.values(names)
    }

    /// Returns the values of parameters; tells the client of those that can't be had.
    fn values(&self, names: Vec<String>) -> Vec<Parameter> {
        let mut found = Vec::new();
        let by_node = self.by_node(names.into_iter().map(|name| (name, ())));
        for (node, names) in by_node {
            let names: Vec<String> = names.into_iter().map(|(name, ())| name).collect();
            let client = self.hub.node.parameter_client(&node);
            let mut take = |names: &[String]| {
                let Some(patience) = self.patience(&node) else { return Ok(()) };
                let values = client.get(names).wait(patience)?;
                found.extend(names.iter().zip(values).map(|(name, value)| parameter(&node, name, &value)));
                Ok(())
            };
            let problems: Vec<ParameterClientError> = match take(&names) {
                Ok(()) => Vec::new(),
                // The node doesn't say which.
                Err(ParameterClientError::NotDeclared { .. }) if names.len() > 1 => {
                    names.iter().filter_map(|name| take(std::slice::from_ref(name)).err()).collect()
                }
                Err(error) => vec![error],
            };
            for problem in problems {
                self.session.status(Level::Warning, &problem.to_string(), None);
            }
        }
        found
    }

    fn set(&self, parameters: Vec<Parameter>, id: Option<String>) {
        if !self.hub.settings.allowed.parameters {
            let problem = "parameters can't be set through this server: it was not started with that";
            return self.fail(problem);
        }
        let mut given = Vec::new();
        for Parameter { name, kind, value } in parameters {
            match value_of(kind.as_deref(), value) {
                Ok(value) => given.push((name, value)),
                Err(problem) => self.fail(&format!("{name}: {problem}")),
            }
        }
        let names: Vec<String> = given.iter().map(|(name, _)| name.clone()).collect();
        let by_node = self.by_node(given);
        for (node, values) in by_node {
            let Some(patience) = self.patience(&node) else { break };
            let client = self.hub.node.parameter_client(&node);
            let named = values.iter().map(|(name, value)| NamedValue::new(name, value.clone()));
            match client.set(named.collect::<Vec<_>>()).wait(patience) {
                Ok(outcomes) => {
                    for ((name, _), outcome) in values.iter().zip(outcomes) {
                        if let Err(reason) = outcome {
                            self.fail(&format!("{node}.{name} isn't set: {reason}"));
                        }
                    }
                }
                Err(error) => self.fail(&error.to_string()),
            }
        }
        if id.is_some() {
            self.get(names, id);
        }
    }

    /// Sorts parameters by their nodes; tells the client of names that are none, or are not shown,
    /// and of nodes that don't serve theirs: it would wait for each.
    fn by_node<T>(&self, named: impl IntoIterator<Item = (String, T)>) -> BTreeMap<String, Vec<(String, T)>> {
        let nodes = self.nodes();
        let mut by_node: BTreeMap<String, Vec<(String, T)>> = BTreeMap::new();
        for (name, value) in named {
            match name.split_once('.') {
                Some((node, parameter)) if self.hub.settings.parameters.passes(&name) => {
                    by_node.entry(node.to_owned()).or_default().push((parameter.to_owned(), value));
                }
                Some(_) => self.fail(&format!("{name} isn't shown by this server")),
                None => {
                    let problem = format!("`{name}` is no parameter's name, such as /node.parameter");
                    self.fail(&problem);
                }
            }
        }
        by_node.retain(|node, _| {
            let is_there = nodes.contains(node);
            if !is_there {
                let problem = format!("there is no node {node} that serves its parameters");
                self.fail(&problem);
            }
            is_there
        });
        by_node
    }
}

/// Writes a parameter as viewers read it.
fn parameter(node: &str, name: &str, value: &ParameterValue) -> Parameter {
    let (kind, value) = match value {
        ParameterValue::Bool(value) => (None, Some(json!(value))),
        ParameterValue::Integer(value) => (None, Some(json!(value))),
        ParameterValue::Double(value) => (Some("float64"), Some(json!(value))),
        ParameterValue::String(value) => (None, Some(json!(value))),
        ParameterValue::ByteArray(value) => (Some("byte_array"), Some(json!(BASE64.encode(value)))),
        ParameterValue::BoolArray(value) => (None, Some(json!(value))),
        ParameterValue::IntegerArray(value) => (None, Some(json!(value))),
        ParameterValue::DoubleArray(value) => (Some("float64_array"), Some(json!(value))),
        ParameterValue::StringArray(value) => (None, Some(json!(value))),
        _ => (None, None),
    };
    Parameter { name: format!("{node}.{name}"), kind: kind.map(str::to_owned), value }
}

/// Reads the value of a parameter from a viewer.
///
/// # Errors
/// The problem as a sentence.
fn value_of(kind: Option<&str>, value: Option<Value>) -> Result<ParameterValue, String> {
    let Some(value) = value else { return Ok(ParameterValue::NotSet) };
    let unfit = || format!("there is no parameter with the value {value}");
    match (kind, &value) {
        (Some("byte_array"), Value::String(text)) => {
            BASE64.decode(text.as_bytes()).map(ParameterValue::ByteArray).map_err(|error| error.to_string())
        }
        (Some("float64"), Value::Number(number)) => {
            number.as_f64().map(ParameterValue::Double).ok_or_else(unfit)
        }
        (Some("float64_array"), Value::Array(values)) => {
            all(values, Value::as_f64).map(ParameterValue::DoubleArray).ok_or_else(unfit)
        }
        (_, Value::Bool(value)) => Ok(ParameterValue::Bool(*value)),
        (_, Value::Number(number)) => number_of(number).ok_or_else(unfit),
        (_, Value::String(text)) => Ok(ParameterValue::String(text.clone())),
        (_, Value::Array(values)) => {
            let texts =
                || all(values, |one| one.as_str().map(str::to_owned)).map(ParameterValue::StringArray);
            let numbers = || all(values, Value::as_f64).map(ParameterValue::DoubleArray);
            let whole = || all(values, Value::as_i64).map(ParameterValue::IntegerArray);
            let truths = || all(values, Value::as_bool).map(ParameterValue::BoolArray);
            texts().or_else(truths).or_else(whole).or_else(numbers).ok_or_else(unfit)
        }
        _ => Err(unfit()),
    }
}

fn number_of(number: &Number) -> Option<ParameterValue> {
    number.as_i64().map(ParameterValue::Integer).or_else(|| number.as_f64().map(ParameterValue::Double))
}

fn all<T>(values: &[Value], read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    values.iter().map(read).collect()
}

/// Reads a value from an event.
fn of_message(value: &msg::ParameterValue) -> ParameterValue {
    match value.r#type {
        msg::ParameterType::PARAMETER_BOOL => ParameterValue::Bool(value.bool_value),
        msg::ParameterType::PARAMETER_INTEGER => ParameterValue::Integer(value.integer_value),
        msg::ParameterType::PARAMETER_DOUBLE => ParameterValue::Double(value.double_value),
        msg::ParameterType::PARAMETER_STRING => ParameterValue::String(value.string_value.clone()),
        msg::ParameterType::PARAMETER_BYTE_ARRAY => ParameterValue::ByteArray(value.byte_array_value.clone()),
        msg::ParameterType::PARAMETER_BOOL_ARRAY => ParameterValue::BoolArray(value.bool_array_value.clone()),
        msg::ParameterType::PARAMETER_INTEGER_ARRAY => {
            ParameterValue::IntegerArray(value.integer_array_value.clone())
        }
        msg::ParameterType::PARAMETER_DOUBLE_ARRAY => {
            ParameterValue::DoubleArray(value.double_array_value.clone())
        }
        msg::ParameterType::PARAMETER_STRING_ARRAY => {
            ParameterValue::StringArray(value.string_array_value.clone())
        }
        _ => ParameterValue::NotSet,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use sinew::{Context, Executor};
    use std::net::{TcpListener, TcpStream};
    use std::sync::mpsc;

    #[test]
    fn a_job_asks_only_for_its_time_and_for_a_client_that_is_there() {
        let context = Context::builder().shared_memory(false).build().unwrap();
        let robot = context.node("robot").unwrap();
        let _rate = robot.parameter("rate").default(30).create().unwrap();
        let executor = Executor::single();
        executor.add(&context).unwrap();
        let stop = executor.stop_handle();
        let spins = std::thread::spawn(move || executor.spin());

        let node = context.node("view").unwrap();
        let hub = Hub::new(node, Settings::default(), "a".to_owned(), mpsc::channel().0);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let session = Session::new(1, Arc::new(TcpStream::connect(listener.local_addr().unwrap()).unwrap()));
        let texts = || -> Vec<String> {
            let frames = session.take_frames().into_iter();
            frames.map(|frame| String::from_utf8(frame.bytes).unwrap()).collect()
        };
        let ask = |time| Asking::new(&hub, &session, time).values(vec!["/robot.rate".to_owned()]);
        assert_eq!(ask(Duration::from_secs(60)).len(), 1);
        assert!(texts().is_empty());
        assert!(Asking::new(&hub, &session, Duration::ZERO).all().is_empty());
        let told = texts();
        assert!(told.len() == 1 && told[0].contains("so /robot isn't asked"), "{told:?}");
        session.end(crate::socket::GOING_AWAY);
        assert!(ask(Duration::from_secs(60)).is_empty());
        stop.stop();
        spins.join().unwrap().unwrap();
    }

    #[test]
    fn values_come_back_as_they_went() {
        for value in [
            ParameterValue::NotSet,
            ParameterValue::Bool(true),
            ParameterValue::Integer(-7),
            ParameterValue::Double(2.0),
            ParameterValue::String("a".to_owned()),
            ParameterValue::ByteArray(vec![0, 255]),
            ParameterValue::BoolArray(vec![true, false]),
            ParameterValue::IntegerArray(vec![1, 2]),
            ParameterValue::DoubleArray(vec![1.0, 2.5]),
            ParameterValue::StringArray(vec!["a".to_owned(), String::new()]),
        ] {
            let Parameter { name, kind, value: written } = parameter("/arm", "gain", &value);
            assert_eq!(name, "/arm.gain");
            let text = serde_json::to_string(&written).unwrap();
            let read = serde_json::from_str(&text).unwrap();
            assert_eq!(value_of(kind.as_deref(), read), Ok(value));
        }
    }

    #[test]
    fn values_that_no_parameter_has_are_refused() {
        for (kind, value) in [
            (None, json!({"a": 1})),
            (None, json!([1, "a"])),
            (Some("byte_array"), json!("?")),
            (None, json!([[1]])),
        ] {
            assert!(value_of(kind, Some(value)).is_err());
        }
    }
}
