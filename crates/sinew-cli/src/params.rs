//! `sinew param`: the parameters of nodes, through the services that any node could call.

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use serde_json::{Map, Value, json};
use sinew::Context;
use sinew::error::ParameterClientError;
use sinew::graph::EndpointKind;
use sinew::names::is_hidden;
use sinew::parameters::{
    NamedValue, ParameterClient, ParameterDescriptor, ParameterFile, ParameterType, ParameterValue,
};

use crate::cli::params::{
    AskOptions, DeleteOptions, DescribeOptions, GetOptions, ListOptions, LoadOptions, NodeOptions,
    ParamCommand, SetOptions,
};
use crate::cli::tools::Where;
use crate::error::Error;
use crate::harmless::{indented, lines, one_line};
use crate::observed::Observed;
use crate::output::{Listing, print, print_json, says};
use crate::similar::{self, suggestion};

/// The service, below its name, of a node with parameters.
const SERVICE: (&str, &str) = ("/list_parameters", "rcl_interfaces/srv/ListParameters");

pub(crate) fn run(command: &ParamCommand) -> Result<(), Error> {
    match command {
        ParamCommand::List(options) => list(options),
        ParamCommand::Get(options) => get(options),
        ParamCommand::Set(options) => set(options),
        ParamCommand::Delete(options) => delete(options),
        ParamCommand::Describe(options) => describe(options),
        ParamCommand::Dump(options) => dump(options),
        ParamCommand::Load(options) => load(options),
    }
}

/// A participant that sends requests in the domain.
struct Asking<'a> {
    options: &'a AskOptions,
    domain: u32,
    /// The nodes that already serve their parameters, in the order of their names.
    serving: Vec<String>,
    /// The other nodes of this host. They start serving parameters at the first request, if they
    /// support that.
    silent: Vec<String>,
    node: sinew::Node,
}

impl<'a> Asking<'a> {
    fn new(options: &'a AskOptions) -> Result<Self, Error> {
        let mut observed = Observed::open(&options.place)?;
        let seen = observed.read()?;
        let serving = |name: &str, type_name: &str| {
            Some(name.strip_suffix(SERVICE.0).filter(|_| type_name == SERVICE.1)?.to_owned())
        };
        let servers = seen.endpoints().iter().filter(|end| end.kind == EndpointKind::Server);
        let serving = servers.filter_map(|end| serving(&end.name, &end.type_name));
        let serving = sorted(serving.collect());
        let of_host = seen.nodes().iter().filter(|node| !node.place.is_network());
        let of_host = of_host.map(|node| &node.name).filter(|name| !serving.contains(name));
        let silent = sorted(of_host.cloned().collect());
        let mut context = Context::builder().domain(observed.domain());
        if let Some(directory) = &options.place.dir {
            context = context.directory(directory);
        }
        let name = format!("_sinew_param_{}", std::process::id());
        let node = context.build().map_err(sinew::Error::from)?.node(&name).map_err(sinew::Error::from)?;
        Ok(Self { options, domain: observed.domain(), serving, silent, node })
    }

    /// Prepares requests for the parameters of a node.
    fn of(&self, node: &str) -> Result<ParameterClient, Error> {
        let nodes = || self.serving.iter().chain(&self.silent).map(String::as_str);
        if !nodes().any(|known| known == node) {
            let similar = similar::to(node, nodes());
            let what = "node with parameters";
            return Err(Error::NotFound { what, name: node.to_owned(), domain: self.domain, similar });
        }
        Ok(self.node.parameter_client(node))
    }

    /// Returns all parameter names of a node.
    fn names(&self, client: &ParameterClient, prefixes: &[String]) -> Result<Vec<String>, Error> {
        let listed = client.list(prefixes.iter().cloned(), 0).wait(self.options.timeout);
        Ok(listed.map_err(failed)?.names)
    }

    /// Returns the type that a parameter keeps; `None` if it has dynamic typing, or isn't declared
    /// (the node may allow that).
    fn fixed_kind(&self, client: &ParameterClient, name: &str) -> Option<ParameterType> {
        let described = client.describe([name]).wait(self.options.timeout).ok()?;
        described.first().filter(|one| !one.dynamic_typing).map(|one| one.kind)
    }

    /// If the node lacks one of the names, the error names it, with a suggestion.
    fn unknown(&self, client: &ParameterClient, asked: &[String], error: ParameterClientError) -> Error {
        let ParameterClientError::NotDeclared { .. } = &error else { return failed(error) };
        let Ok(names) = self.names(client, &[]) else { return failed(error) };
        let Some(name) = asked.iter().find(|name| !names.contains(name)) else {
            return failed(error); // the names exist: their parameters have no value
        };
        let similar = similar::to(name, names.iter().map(String::as_str));
        let similar = similar.iter().map(|name| one_line(name)).collect();
        Error::NotFound { what: "parameter of the node", name: name.clone(), domain: self.domain, similar }
    }

    /// Adds information that a node's refusal lacks: for a range error of `rclcpp` the range, and
    /// for an unknown name a suggestion.
    fn hint(&self, client: &ParameterClient, name: &str, reason: &str) -> String {
        if reason.contains("doesn't comply with") {
            let described = client.describe([name]).wait(self.options.timeout).ok();
            let range = described.as_ref().and_then(|all| range(all.first()?));
            return range.map(|range| format!(" (its range is {range})")).unwrap_or_default();
        }
        let Ok(names) = self.names(client, &[]) else { return String::new() };
        match names.iter().any(|known| known == name) {
            true => String::new(),
            false => suggestion(&similar::to(name, names.iter().map(String::as_str))),
        }
    }
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names.dedup();
    names
}

/// Returns the names of a node's parameters, if they come in time.
pub(crate) fn names(place: &Where, node: &str, timeout: Duration) -> Option<Vec<String>> {
    let options = AskOptions { timeout, place: place.clone(), json: false };
    let asking = Asking::new(&options).ok()?;
    // Completing a name must not make a node start serving them.
    asking.serving.iter().any(|serving| serving == node).then_some(())?;
    asking.names(&asking.of(node).ok()?, &[]).ok()
}

fn failed(error: ParameterClientError) -> Error {
    sinew::Error::from(error).into()
}

fn list(options: &ListOptions) -> Result<(), Error> {
    let asking = Asking::new(&options.ask)?;
    let is_shown = |node: &&String| options.all || !is_hidden(node);
    // The other nodes would start serving them: a list must change nothing.
    let nodes: Vec<&String> = match &options.node {
        Some(node) => vec![node],
        None => asking.serving.iter().filter(is_shown).collect(),
    };
    if options.node.is_none() {
        let without = asking.silent.iter().filter(is_shown).count();
        tell_of_others(asking.domain, nodes.len(), without);
    }
    // All requests are sent before the first wait.
    let asked = nodes.into_iter().map(|node| {
        let client = asking.of(node)?;
        let names = client.list(options.prefixes.iter().cloned(), 0);
        Ok((node, client, names))
    });
    let asked: Vec<_> = asked.collect::<Result<_, Error>>()?;
    let (mut text, mut all, mut listing) = (String::new(), Vec::new(), Listing::default());
    for (node, client, names) in asked {
        let names_and_types = names.wait(options.ask.timeout).and_then(|listed| {
            let types = match options.types && !listed.names.is_empty() {
                true => client.types(listed.names.clone()).wait(options.ask.timeout)?,
                false => Vec::new(),
            };
            Ok((listed.names, types))
        });
        let (names, types) = match options.node {
            Some(_) => names_and_types.map_err(failed)?,
            None => match listing.keep(names_and_types) {
                Some(both) => both,
                None => continue,
            },
        };
        let indent = if options.node.is_some() { "" } else { "  " };
        if options.node.is_none() {
            let _ = writeln!(text, "{node}:"); // writing to a string can't fail
        }
        for (index, name) in names.iter().enumerate() {
            let of_type = types.get(index).map(|kind| format!(" (type: {kind})")).unwrap_or_default();
            let _ = writeln!(text, "{indent}{}{of_type}", one_line(name)); // can't fail
        }
        all.push(json!({"node": node, "parameters": names}));
        if let (true, Some(last)) = (options.types, all.last_mut()) {
            last["types"] = types.iter().map(ToString::to_string).collect();
        }
    }
    if options.ask.json {
        print_json(&all)?
    } else {
        print(&text)?
    }
    listing.end()
}

/// Reports which nodes are missing in a list of parameters.
fn tell_of_others(domain: u32, listed: usize, without: usize) {
    let asks = "`sinew param list NODE` asks one";
    match (listed, without) {
        (0, 0) => says(&format!("there is no node in domain {domain}")),
        (0, 1) => says(&format!("the one node in domain {domain} has declared no parameters; {asks}")),
        (0, _) => {
            says(&format!("the {without} nodes in domain {domain} have declared no parameters; {asks}"))
        }
        (_, 0) => {}
        (_, 1) => says(&format!("one other node has declared no parameters; {asks}")),
        _ => says(&format!("{without} other nodes have declared no parameters; {asks}")),
    }
}

fn get(options: &GetOptions) -> Result<(), Error> {
    let asking = Asking::new(&options.ask)?;
    let (client, name) = (asking.of(&options.node)?, options.parameter.as_str());
    let got = client.get([name]).wait(options.ask.timeout);
    let values = got.map_err(|error| asking.unknown(&client, &[name.to_owned()], error))?;
    for value in &values {
        let kind = value.kind();
        if options.ask.json {
            let told = json!({"node": options.node, "name": name, "type": kind.to_string(), "value": as_json(value)});
            return print_json(&told);
        }
        let plain = if let ParameterValue::String(text) = value { lines(text) } else { value.to_string() };
        match options.hide_type {
            true => print(&format!("{plain}\n"))?,
            false => print(&format!("{} value is: {plain}\n", title(kind)))?,
        }
    }
    Ok(())
}

/// Returns the name of a type in `ros2 param get`.
fn title(kind: ParameterType) -> &'static str {
    match kind {
        ParameterType::NotSet => "Parameter not set;",
        ParameterType::Bool => "Boolean",
        ParameterType::Integer => "Integer",
        ParameterType::Double => "Double",
        ParameterType::String => "String",
        ParameterType::ByteArray => "Byte",
        ParameterType::BoolArray => "Boolean array",
        ParameterType::IntegerArray => "Integer array",
        ParameterType::DoubleArray => "Double array",
        ParameterType::StringArray => "String array",
    }
}

fn set(options: &SetOptions) -> Result<(), Error> {
    let asking = Asking::new(&options.ask)?;
    let (client, name) = (asking.of(&options.node)?, options.parameter.as_str());
    let value = value_for(asking.fixed_kind(&client, name), &options.value)?;
    let outcomes = client.set([NamedValue::new(name, value)]).wait(options.ask.timeout).map_err(failed)?;
    tell(&asking, &client, &[name.to_owned()], outcomes)
}

/// Parses a typed value as the type that the parameter keeps, so that a node of `rclcpp`, which
/// doesn't convert integers to doubles, gets a double as well.
fn value_for(kind: Option<ParameterType>, text: &str) -> Result<ParameterValue, Error> {
    Ok(match (kind, ParameterFile::value(text)) {
        (Some(ParameterType::String), Ok(ParameterValue::String(text))) => text.into(),
        (Some(ParameterType::String), _) => text.into(),
        (Some(kind), Ok(value)) => value.widened(kind),
        (None, Ok(value)) => value,
        (_, Err(problem)) => return Err(Error::ParameterText { what: "the value".to_owned(), problem }),
    })
}

fn delete(options: &DeleteOptions) -> Result<(), Error> {
    let asking = Asking::new(&options.ask)?;
    let (client, name) = (asking.of(&options.node)?, options.parameter.as_str());
    let unset = NamedValue::new(name, ParameterValue::NotSet);
    let outcomes = client.set([unset]).wait(options.ask.timeout).map_err(failed)?;
    tell(&asking, &client, &[name.to_owned()], outcomes)
}

/// Prints the outcome of setting; fails if a value was refused.
fn tell(
    asking: &Asking<'_>,
    client: &ParameterClient,
    names: &[String],
    outcomes: Vec<Result<(), String>>,
) -> Result<(), Error> {
    let (mut text, mut all, mut refused) = (String::new(), Vec::new(), Vec::new());
    for (name, outcome) in names.iter().zip(outcomes) {
        let reason = outcome.as_ref().err().map_or("", String::as_str);
        all.push(json!({"name": name, "successful": outcome.is_ok(), "reason": reason}));
        let outcome = outcome.map_err(|reason| {
            let hint = asking.hint(client, name, &reason);
            one_line(&(reason + &hint))
        });
        match &outcome {
            Ok(()) if names.len() == 1 => text.push_str("Set parameter successful\n"),
            Ok(()) => _ = writeln!(text, "Set parameter {name} successful"),
            Err(reason) if names.len() > 1 => _ = writeln!(text, "Set parameter {name} failed: {reason}"),
            Err(_) => {}
        }
        refused.extend(outcome.err());
    }
    if asking.options.json {
        print_json(&all)?
    } else {
        print(&text)?
    }
    let why = if let [reason] = &refused[..] { format!(": {reason}") } else { String::new() };
    match refused.len() {
        0 => Ok(()),
        count => Err(Error::NotSet { node: client.node_name().to_owned(), count, why }),
    }
}

fn describe(options: &DescribeOptions) -> Result<(), Error> {
    let asking = Asking::new(&options.ask)?;
    let client = asking.of(&options.node)?;
    let names = match &options.parameters[..] {
        [] => asking.names(&client, &[])?,
        names => names.to_vec(),
    };
    let described = client.describe(names.clone()).wait(options.ask.timeout);
    let described = described.map_err(|error| asking.unknown(&client, &names, error))?;
    if options.ask.json {
        return print_json(&described.iter().map(descriptor_as_json).collect::<Vec<_>>());
    }
    print(&described.iter().map(descriptor_as_text).collect::<String>())
}

fn descriptor_as_text(descriptor: &ParameterDescriptor) -> String {
    let mut text = format!("Parameter name: {}\n  Type: {}\n", one_line(&descriptor.name), descriptor.kind);
    let mut line = |name: &str, value: String| _ = writeln!(text, "  {name}: {value}");
    if !descriptor.description.is_empty() {
        line("Description", indented(&descriptor.description, "    "));
    }
    if let Some(range) = range(descriptor) {
        line("Range", range);
    }
    if !descriptor.additional_constraints.is_empty() {
        line("Constraints", indented(&descriptor.additional_constraints, "    "));
    }
    if descriptor.read_only {
        line("Read only", "true".to_owned());
    }
    if descriptor.dynamic_typing {
        line("Dynamic typing", "true".to_owned());
    }
    text
}

/// Formats a range, if there is one: `0.0 to 10.0, in steps of 0.5`.
fn range(descriptor: &ParameterDescriptor) -> Option<String> {
    let double = descriptor.double_range.map(|range| range.to_string());
    double.or_else(|| descriptor.integer_range.map(|range| range.to_string()))
}

fn descriptor_as_json(descriptor: &ParameterDescriptor) -> Value {
    let double = descriptor.double_range.map(|range| {
        let [from, to, step] = [range.from, range.to, range.step].map(|end| as_json(&end.into()));
        json!({"from": from, "to": to, "step": step})
    });
    let integer =
        descriptor.integer_range.map(|range| json!({"from": range.from, "to": range.to, "step": range.step}));
    json!({
        "name": descriptor.name,
        "type": descriptor.kind.to_string(),
        "description": descriptor.description,
        "additional_constraints": descriptor.additional_constraints,
        "read_only": descriptor.read_only,
        "dynamic_typing": descriptor.dynamic_typing,
        "floating_point_range": double,
        "integer_range": integer,
    })
}

fn dump(options: &NodeOptions) -> Result<(), Error> {
    let asking = Asking::new(&options.ask)?;
    let client = asking.of(&options.node)?;
    let names = asking.names(&client, &[])?;
    // One by one: a request for all returns none if one has no value.
    let value = |name: &String| match client.get([name]).wait(options.ask.timeout) {
        Ok(values) => Ok((name.clone(), values.into_iter().next().unwrap_or_default())),
        Err(ParameterClientError::NotDeclared { .. }) => Ok((name.clone(), ParameterValue::NotSet)),
        Err(error) => Err(failed(error)),
    };
    let values = names.iter().map(value).collect::<Result<Vec<_>, Error>>()?;
    if options.ask.json {
        let values: Map<_, _> = values.iter().map(|(name, value)| (name.clone(), as_json(value))).collect();
        return print_json(&json!({"node": options.node, "parameters": values}));
    }
    print(&as_file(&options.node, &values))
}

/// Formats a parameter file. Values that files can't express become comments.
fn as_file(node: &str, values: &[(String, ParameterValue)]) -> String {
    let mut text = format!("{node}:\n  ros__parameters:\n");
    for (name, value) in values {
        let is_plain =
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/'));
        let key = if is_plain { name.clone() } else { ParameterValue::from(name.as_str()).to_string() };
        let printed = value.to_string();
        let is_said =
            ParameterFile::value(&printed).is_ok_and(|read| is_same(value, &read.widened(value.kind())));
        let _ = match is_said {
            true => writeln!(text, "    {key}: {printed}"),
            false => writeln!(text, "    # {key}: {printed}"),
        }; // writing to a string can't fail
    }
    text
}

fn load(options: &LoadOptions) -> Result<(), Error> {
    let path = &options.file;
    let text = fs::read_to_string(path).map_err(|source| Error::File {
        action: "read",
        path: path.clone(),
        source,
    })?;
    let what = || path.display().to_string();
    let file =
        ParameterFile::parse(&text).map_err(|problem| Error::ParameterText { what: what(), problem })?;
    let values = file.of(&options.node);
    if values.is_empty() {
        return Err(Error::NothingToLoad { path: path.clone(), node: options.node.clone() });
    }
    let asking = Asking::new(&options.ask)?;
    let client = asking.of(&options.node)?;
    // One by one: a request for all returns none if one isn't declared.
    let kind = |name: &str| asking.fixed_kind(&client, name);
    let widened = |one: NamedValue| match needs_kind(&one.value).then(|| kind(&one.name)).flatten() {
        Some(kind) => NamedValue { value: one.value.widened(kind), ..one },
        None => one,
    };
    let values = but_for_unchanged(&asking, &client, values.into_iter().map(widened).collect());
    let names: Vec<_> = values.iter().map(|one| one.name.clone()).collect();
    let outcomes = client.set(values).wait(options.ask.timeout).map_err(failed)?;
    tell(&asking, &client, &names, outcomes)
}

/// Returns `true` if the meaning of a value depends on the parameter's type.
fn needs_kind(value: &ParameterValue) -> bool {
    matches!(value, ParameterValue::Integer(_) | ParameterValue::IntegerArray(_))
}

/// Returns the values of a file that must be set. Read-only parameters with an unchanged value are
/// left out, so that a dump can be loaded; the node refuses other read-only ones.
fn but_for_unchanged(
    asking: &Asking<'_>,
    client: &ParameterClient,
    values: Vec<NamedValue>,
) -> Vec<NamedValue> {
    let timeout = asking.options.timeout;
    // A node that gives no answer gets all of them.
    let Ok(declared) = asking.names(client, &[]) else { return values };
    let known: Vec<_> =
        values.iter().map(|one| one.name.clone()).filter(|name| declared.contains(name)).collect();
    let described = client.describe(known).wait(timeout).unwrap_or_default();
    let read_only: Vec<_> = described.into_iter().filter(|one| one.read_only).map(|one| one.name).collect();
    let is_unchanged = |one: &NamedValue| {
        let now = read_only.contains(&one.name).then(|| client.get([one.name.as_str()]).wait(timeout));
        now.and_then(Result::ok).is_some_and(|now| now.first().is_some_and(|now| is_same(now, &one.value)))
    };
    let (unchanged, rest): (Vec<_>, Vec<_>) = values.into_iter().partition(is_unchanged);
    if !unchanged.is_empty() {
        let names: Vec<_> = unchanged.iter().map(|one| one_line(&one.name)).collect();
        says(&format!("left out, as they are read-only and have these values: {}", names.join(", ")));
    }
    rest
}

/// Returns `true` if a file gives a parameter its current value. A NaN is the same as another.
fn is_same(now: &ParameterValue, given: &ParameterValue) -> bool {
    let same = |now: &f64, given: &f64| now == given || now.is_nan() && given.is_nan();
    match (now, given) {
        (ParameterValue::Double(now), ParameterValue::Double(given)) => same(now, given),
        (ParameterValue::DoubleArray(now), ParameterValue::DoubleArray(given)) => {
            now.len() == given.len() && now.iter().zip(given).all(|(now, given)| same(now, given))
        }
        (now, given) => now == given,
    }
}

/// Converts a value to JSON. Numbers that JSON lacks become texts, as in YAML.
fn as_json(value: &ParameterValue) -> Value {
    let double = |value: &f64| match value.is_finite() {
        true => json!(value),
        false => json!(ParameterValue::Double(*value).to_string()),
    };
    match value {
        ParameterValue::NotSet => Value::Null,
        ParameterValue::Bool(value) => json!(value),
        ParameterValue::Integer(value) => json!(value),
        ParameterValue::Double(value) => double(value),
        ParameterValue::String(value) => json!(value),
        ParameterValue::ByteArray(values) => json!(values),
        ParameterValue::BoolArray(values) => json!(values),
        ParameterValue::IntegerArray(values) => json!(values),
        ParameterValue::DoubleArray(values) => values.iter().map(double).collect(),
        ParameterValue::StringArray(values) => json!(values),
    }
}
