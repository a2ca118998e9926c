//! `sinew component`: the nodes in containers, by ROS 2's composition services.

use std::time::Duration;

use serde_json::json;
use sinew::graph::{EndpointKind, GraphSnapshot};
use sinew::parameters::ParameterFile;
use sinew::{Client, Context, Node, Service};
use sinew_interfaces::composition_interfaces::srv::{
    ListNodes, ListNodesRequest, LoadNode, LoadNodeRequest, UnloadNode, UnloadNodeRequest,
};
use sinew_interfaces::rcl_interfaces::msg::Parameter;
use sinew_interfaces::std_srvs::srv::{Trigger, TriggerRequest};

use crate::cli::tools::Where;
use crate::cli::{ComponentCommand, ComponentListOptions, ComponentTypesOptions, LoadOptions, UnloadOptions};
use crate::error::Error;
use crate::harmless::one_line;
use crate::observed::Observed;
use crate::output::{Listing, print, print_json};
use crate::similar::{self, suggestion};

/// Longest wait for a container's answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Suffixes of the names of their services.
const LIST: &str = "/_container/list_nodes";

/// Runs `sinew component`.
pub(crate) fn run(command: &ComponentCommand) -> Result<(), Error> {
    match command {
        ComponentCommand::List(options) => list(options),
        ComponentCommand::Types(options) => types(options),
        ComponentCommand::Load(options) => load(options),
        ComponentCommand::Unload(options) => unload(options),
    }
}

fn containers(place: &Where) -> Result<Vec<String>, Error> {
    Ok(containers_in(&Observed::open(place)?.read()?))
}

/// Returns the existing containers.
pub(crate) fn containers_in(seen: &GraphSnapshot) -> Vec<String> {
    let servers = seen.endpoints().iter().filter(|end| end.kind == EndpointKind::Server);
    let mut names: Vec<String> =
        servers.filter_map(|server| Some(server.name.strip_suffix(LIST)?.to_owned())).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A node of this program that sends requests.
struct Asker {
    node: Node,
    container: String,
    _context: Context,
}

impl Asker {
    /// Prepares requests to a container, which has to exist.
    fn of(place: &Where, container: &str) -> Result<Self, Error> {
        let all = containers(place)?;
        if !all.iter().any(|name| name == container) {
            let similar = suggestion(&similar::to(container, all.iter().map(String::as_str)));
            return Err(Error::NoContainer { name: container.to_owned(), similar });
        }
        let domain = place.domain().map_err(Error::DomainNumber)?;
        let builder = Context::builder().domain(domain);
        let builder = match &place.dir {
            Some(directory) => builder.directory(directory),
            None => builder,
        };
        let context = builder.build().map_err(sinew::Error::from)?;
        let node = context.node("_sinew_component").map_err(sinew::Error::from)?;
        Ok(Self { node, container: container.to_owned(), _context: context })
    }

    fn ask<S: Service>(
        &self,
        service: &str,
        request: S::Request,
    ) -> Result<sinew::Unique<S::Response>, Error> {
        let name = format!("{}/_container/{service}", self.container);
        let client: Client<S> = self.node.client::<S>(&name).create().map_err(sinew::Error::from)?;
        client.wait_for_server(PATIENCE);
        client.call(request, PATIENCE).map_err(|problem| Error::Container {
            name: self.container.clone(),
            problem: problem.to_string(),
        })
    }
}

fn list(options: &ComponentListOptions) -> Result<(), Error> {
    let mut names = containers(&options.place)?;
    if let Some(wanted) = &options.container {
        names = vec![wanted.clone()];
    }
    let (mut text, mut values, mut listing) = (String::new(), Vec::new(), Listing::default());
    for name in names {
        let asker = Asker::of(&options.place, &name);
        let listed =
            asker.and_then(|asker| asker.ask::<ListNodes>("list_nodes", ListNodesRequest::default()));
        let listed = match options.container {
            Some(_) => listed?,
            None => match listing.keep(listed) {
                Some(listed) => listed,
                None => continue,
            },
        };
        let all = listed.unique_ids.iter().zip(&listed.full_node_names);
        text += &format!("{name}\n");
        let mut components = Vec::new();
        for (id, node) in all {
            text += &format!("  {id}  {}\n", one_line(&node.to_string()));
            components.push(json!({"unique_id": id, "node": node.to_string()}));
        }
        values.push(json!({"container": name, "components": components}));
    }
    if options.json {
        print_json(&values)?
    } else {
        print(&text)?
    }
    listing.end()
}

fn types(options: &ComponentTypesOptions) -> Result<(), Error> {
    let asker = Asker::of(&options.place, &options.container)?;
    let known = asker.ask::<Trigger>("list_types", TriggerRequest::default())?;
    let names: Vec<String> = known.message.to_string().lines().map(str::to_owned).collect();
    if options.json {
        return print_json(&names);
    }
    print(&names.iter().map(|name| one_line(name) + "\n").collect::<String>())
}

fn load(options: &LoadOptions) -> Result<(), Error> {
    let asker = Asker::of(&options.place, &options.container)?;
    let request = LoadNodeRequest {
        package_name: options.package.as_str().into(),
        plugin_name: options.plugin.as_str().into(),
        node_name: options.node_name.as_deref().unwrap_or_default().into(),
        node_namespace: options.node_namespace.as_deref().unwrap_or_default().into(),
        parameters: options.parameter.iter().map(|text| parameter(text)).collect::<Result<_, _>>()?,
        log_level: options.log_level.map_or(0, sinew::LogLevel::number),
        extra_arguments: options
            .extra_argument
            .iter()
            .map(|text| parameter(text))
            .collect::<Result<_, _>>()?,
        remap_rules: options.remap_rule.iter().map(|rule| rule.as_str().into()).collect(),
    };
    let loaded = asker.ask::<LoadNode>("load_node", request)?;
    if !loaded.success {
        let problem = one_line(&loaded.error_message.to_string());
        return Err(Error::Container { name: options.container.clone(), problem });
    }
    let (id, node, container) = (loaded.unique_id, &loaded.full_node_name, &options.container);
    if options.json {
        return print_json(&json!({"unique_id": id, "node": node.to_string()}));
    }
    let node = one_line(&node.to_string());
    print(&format!("Loaded component {id} into '{container}' container node as '{node}'\n"))
}

/// Parses `name:=value`, with the value as in YAML.
fn parameter(text: &str) -> Result<Parameter, Error> {
    let Some((name, value)) = text.split_once(":=") else {
        return Err(Error::NoAssignment { text: text.to_owned() });
    };
    let value = ParameterFile::value(value)
        .map_err(|problem| Error::ParameterText { what: format!("the value of {name}"), problem })?;
    Ok(Parameter { name: name.to_owned(), value: value.to_msg() })
}

fn unload(options: &UnloadOptions) -> Result<(), Error> {
    let asker = Asker::of(&options.place, &options.container)?;
    for &unique_id in &options.unique_ids {
        let unloaded = asker.ask::<UnloadNode>("unload_node", UnloadNodeRequest { unique_id })?;
        if !unloaded.success {
            let problem = one_line(&unloaded.error_message.to_string());
            return Err(Error::Container { name: options.container.clone(), problem });
        }
        if !options.json {
            print(&format!("Unloaded component {unique_id} from '{}' container node\n", options.container))?;
        }
    }
    if options.json { print_json(&json!({"unloaded": options.unique_ids})) } else { Ok(()) }
}
