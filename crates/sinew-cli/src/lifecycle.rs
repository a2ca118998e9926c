//! `sinew lifecycle`: managed nodes, by ROS 2's services.

use serde_json::json;
use sinew::Context;
use sinew::graph::{GraphSnapshot, NameAndTypes};
use sinew_interfaces::lifecycle_msgs::msg::TransitionDescription;
use sinew_lifecycle::{LifecycleClient, LifecycleClientError};

use crate::cli::tools::lifecycle::{
    Asking, GetStateOptions, LifecycleCommand, ManagedNodesOptions, SetStateOptions, TransitionsOptions,
};
use crate::error::Error;
use crate::harmless::one_line;
use crate::observed::Observed;
use crate::output::{Listing, print, print_json};
use crate::similar::{self, suggestion};

/// Suffixes of the names of their services, and the types.
const STATE: &str = "/get_state";
const STATE_TYPE: &str = "lifecycle_msgs/srv/GetState";

pub(crate) fn run(command: &LifecycleCommand) -> Result<(), Error> {
    match command {
        LifecycleCommand::Nodes(options) => nodes(options),
        LifecycleCommand::Get(options) => get(options),
        LifecycleCommand::List(options) => list(options),
        LifecycleCommand::Set(options) => set(options),
    }
}

/// Returns the existing managed nodes.
pub(crate) fn managed_in(seen: &GraphSnapshot) -> Vec<String> {
    let is_of_type = |service: &NameAndTypes| service.types.iter().any(|name| name == STATE_TYPE);
    let of_type = seen.services().into_iter().filter(is_of_type);
    let served = of_type.filter(|service| seen.servers(&service.name).next().is_some());
    served.filter_map(|service| Some(service.name.strip_suffix(STATE)?.to_owned())).collect()
}

/// A node of this program that sends requests.
struct Asker<'a> {
    context: Context,
    all: Vec<String>,
    asking: &'a Asking,
}

impl<'a> Asker<'a> {
    fn new(asking: &'a Asking) -> Result<Self, Error> {
        let place = &asking.place;
        let all = managed_in(&Observed::open(place)?.read()?);
        let builder = Context::builder().domain(place.domain().map_err(Error::DomainNumber)?);
        let context = match &place.dir {
            Some(directory) => builder.directory(directory).build(),
            None => builder.build(),
        };
        Ok(Self { context: context.map_err(sinew::Error::from)?, all, asking })
    }

    /// Prepares requests to a node, which has to exist.
    fn of(&self, name: &str) -> Result<LifecycleClient, Error> {
        if !self.all.iter().any(|known| known == name) {
            let similar = suggestion(&similar::to(name, self.all.iter().map(String::as_str)));
            return Err(Error::NotManaged { name: name.to_owned(), similar });
        }
        let node = self.context.node("_sinew_lifecycle").map_err(sinew::Error::from)?;
        let client = LifecycleClient::new(&node, name).map_err(sinew::Error::from)?;
        client.wait_until_ready(self.asking.timeout); // if it isn't ready, its answers report that
        Ok(client)
    }
}

fn nodes(ManagedNodesOptions { asking, count_nodes }: &ManagedNodesOptions) -> Result<(), Error> {
    let all = managed_in(&Observed::open(&asking.place)?.read()?);
    match (count_nodes, asking.json) {
        (true, true) => print_json(&all.len()),
        (true, false) => print(&format!("{}\n", all.len())),
        (false, true) => print_json(&all),
        (false, false) => print(&all.iter().map(|name| format!("{name}\n")).collect::<String>()),
    }
}

fn get(GetStateOptions { node, asking }: &GetStateOptions) -> Result<(), Error> {
    let asker = Asker::new(asking)?;
    let names = node.clone().map_or_else(|| asker.all.clone(), |name| vec![name]);
    let (mut states, mut listing) = (Vec::new(), Listing::default());
    for name in &names {
        let state = asker.of(name).and_then(|client| Ok(client.state(asking.timeout)?));
        match node {
            Some(_) => states.push((name, state?)),
            None => states.extend(listing.keep(state).map(|state| (name, state))),
        }
    }
    if asking.json {
        let told = |(name, state): &(&String, sinew_lifecycle::State)| json!({ "node": name, "id": state.id(), "label": state.label() });
        print_json(&states.iter().map(told).collect::<Vec<_>>())?;
    } else {
        for (name, state) in states {
            match node {
                Some(_) => print(&format!("{state} [{}]\n", state.id()))?,
                None => print(&format!("{name}: {state} [{}]\n", state.id()))?,
            }
        }
    }
    listing.end()
}

fn list(TransitionsOptions { node, all, asking }: &TransitionsOptions) -> Result<(), Error> {
    let client = Asker::new(asking)?.of(node)?;
    let found = match all {
        true => client.transition_graph(asking.timeout)?,
        false => client.available_transitions(asking.timeout)?,
    };
    if asking.json {
        let told = |TransitionDescription { transition, start_state, goal_state }: &TransitionDescription| {
            json!({
                "id": transition.id,
                "label": transition.label,
                "start": start_state.label,
                "goal": goal_state.label,
            })
        };
        return print_json(&found.iter().map(told).collect::<Vec<_>>());
    }
    for TransitionDescription { transition, start_state, goal_state } in found {
        let [label, start, goal] =
            [transition.label, start_state.label, goal_state.label].map(|label| one_line(&label));
        print(&format!("{label} [{}]: {start} -> {goal}\n", transition.id))?;
    }
    Ok(())
}

fn set(SetStateOptions { node, transition, asking }: &SetStateOptions) -> Result<(), Error> {
    let client = Asker::new(asking)?.of(node)?;
    let offered = client.available_transitions(asking.timeout)?;
    if !offered.iter().any(|step| step.transition.label == transition.label()) {
        let labels: Vec<&str> = offered.iter().map(|step| step.transition.label.as_str()).collect();
        return Err(Error::NotOffered {
            name: node.clone(),
            transition: transition.label(),
            state: client.state(asking.timeout)?.label(),
            offered: if labels.is_empty() { "nothing".to_owned() } else { labels.join(", ") },
        });
    }
    client.change(*transition, asking.timeout)?;
    let state = client.state(asking.timeout)?;
    if asking.json {
        return print_json(&json!({ "node": node, "id": state.id(), "label": state.label() }));
    }
    print(&format!("{node} is {state} now\n"))
}

impl From<LifecycleClientError> for Error {
    fn from(error: LifecycleClientError) -> Self {
        Self::Managed(error)
    }
}
