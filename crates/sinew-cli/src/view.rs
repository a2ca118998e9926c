//! `sinew view`: a server for Foxglove and Lichtblick.

use std::path::PathBuf;
use std::sync::mpsc;

use sinew::Context;
use sinew::msg::TypeHash;
use sinew_bag::{Player, Schema};
use sinew_msg::definition::TypeName;
use sinew_view::{TypeDefinition, ViewServer};

use crate::bag::{self, play::Output, play::Session};
use crate::cli::view::{Permission, ViewOptions};
use crate::error::Error;
use crate::interfaces::PackageSources;
use crate::output::{print, says};
use crate::terminal;

/// The token, for those who don't want it in the list of processes.
const TOKEN: &str = "SINEW_VIEW_TOKEN";

/// Serves viewers until Ctrl-C.
pub(crate) fn run(options: &ViewOptions) -> Result<(), Error> {
    let number = options.place.domain().map_err(Error::DomainNumber)?;
    let context = Context::builder().domain(number).interrupts(false);
    let context = match &options.place.dir {
        _ if !options.bags.is_empty() => context.shared_memory(false),
        Some(directory) => context.directory(directory),
        None => context,
    };
    let context = context.build().map_err(sinew::Error::from)?;
    let player = if options.bags.is_empty() { None } else { Some(player(&context, options)?) };
    let (shown, name) = match &player {
        None => (format!("domain {number}"), format!("sinew, domain {number}")),
        Some(_) => {
            let bags: Vec<_> = options.bags.iter().map(|bag| bag.display().to_string()).collect();
            (bags.join(" "), format!("sinew, {}", bags.join(" ")))
        }
    };
    let in_bags = Definitions::of(&options.bags)?;
    let sources = PackageSources::open(&options.definitions)?;
    let may = |what| options.allow.contains(&what);
    let mut server = ViewServer::builder()
        .address(options.address)
        .port(options.port)
        .name(&name)
        .hidden(options.include_hidden)
        .allow_publish(may(Permission::Publish))
        .allow_services(may(Permission::Services))
        .allow_parameters(may(Permission::Parameters))
        .depth(usize::from(options.depth))
        .image_quality(options.image_quality)
        .use_sim_time(options.use_sim_time)
        .definitions(move |name, hash| in_bags.find(name, hash).or_else(|| definition(&sources, name, hash)));
    server = options.topics.iter().fold(server, |server, pattern| server.topics(pattern));
    server = options.exclude.iter().fold(server, |server, pattern| server.exclude_topics(pattern));
    server = options.services.iter().fold(server, |server, pattern| server.services(pattern));
    server = options.params.iter().fold(server, |server, pattern| server.parameters(pattern));
    server = options.origin.iter().fold(server, |server, origin| server.origin(origin));
    server = options.assets.iter().fold(server, |server, directory| server.assets(directory));
    if let Some(player) = &player {
        server = server.playback(player.clone()).allow_playback(true);
    }
    if let Some(pixels) = options.image_width {
        server = server.image_width(pixels);
    }
    if let Some(rate) = options.max_rate {
        server = server.max_rate(rate);
    }
    let token = options.token.clone().or_else(|| std::env::var(TOKEN).ok()).filter(|token| !token.is_empty());
    if let Some(token) = &token {
        server = server.token(token);
    }
    let server = server.start(&context)?;
    if !options.address.is_loopback() && token.is_none() {
        warn_of_others(options);
    }
    let query = if token.is_some() { "/?token=.." } else { "" };
    let address = format!("ws://{}{query}", server.address());
    // Signals are waited for from here on, before the address is known outside.
    let wait: Box<dyn FnOnce() -> Result<(), Error>> = match player {
        Some(player) => {
            let session = Session::new(player, true, &format!("{address} | "))?;
            Box::new(move || session.run(Output::Nothing))
        }
        None => {
            let stopped = on_signal()?;
            Box::new(move || {
                let _ = stopped.recv(); // the sender lives as long as the process
                Ok(())
            })
        }
    };
    print(&format!("{shown}: open {address} in Foxglove or Lichtblick (as Foxglove WebSocket)\n"))?;
    let outcome = wait();
    let statistics = server.close();
    print(&format!("{} messages sent, {} lost by slow viewers\n", statistics.messages, statistics.dropped))?;
    outcome
}

/// Says what clients can do that come in from other hosts.
fn warn_of_others(options: &ViewOptions) {
    let also = match (options.allow.is_empty(), options.bags.is_empty()) {
        (true, true) => "",
        (true, false) => ", and control the playback",
        (false, true) => ", and use what is allowed",
        (false, false) => ", control the playback, and use what is allowed",
    };
    says(&format!("every client that reaches this port can look{also}: --token keeps others out"));
}

/// Returns a player of the bags, which stays at their end until it is stopped.
fn player(context: &Context, options: &ViewOptions) -> Result<Player, Error> {
    let player = Player::builder(context).bags(&options.bags).rate(options.rate).stay_at_end();
    let player = player.loops(if options.r#loop { u64::MAX } else { 1 });
    let player = if options.start_paused { player.start_paused() } else { player };
    Ok(player.start()?)
}

/// Returns a channel that gets a message at a signal to stop.
fn on_signal() -> Result<mpsc::Receiver<()>, Error> {
    let (told, tells) = mpsc::channel();
    let stop = move || {
        let _ = told.send(()); // the second time, nothing waits
    };
    terminal::stop_on_signal(stop, None)?;
    Ok(tells)
}

/// Definitions that bags have, with constants and comments.
struct Definitions(Vec<(String, TypeDefinition)>);

impl Definitions {
    fn of(bags: &[PathBuf]) -> Result<Self, Error> {
        let mut found = Vec::new();
        for bag in bags {
            for topic in bag::opening::open(bag)?.topics() {
                // Without a definition that is read, the topic isn't played, and the player says
                // so.
                let schema = topic.schema.clone();
                let read =
                    schema.and_then(|schema| Some((schema.description(&topic.type_name).ok()?, schema)));
                let Some((description, schema)) = read else { continue };
                let definition = TypeDefinition { description, schema: Some(schema) };
                found.push((topic.type_name.clone(), definition));
            }
        }
        Ok(Self(found))
    }

    fn find(&self, name: &str, hash: Option<TypeHash>) -> Option<TypeDefinition> {
        let fits = |(known, definition): &&(String, TypeDefinition)| {
            known == name && hash.is_none_or(|hash| definition.description.hash() == hash)
        };
        self.0.iter().find(fits).map(|(_, definition)| definition.clone())
    }
}

/// Returns a type as the definitions here have it: with constants and comments.
fn definition(sources: &PackageSources, name: &str, hash: Option<TypeHash>) -> Option<TypeDefinition> {
    let type_name: TypeName = name.parse().ok()?;
    // A type that can't be read here may still be described by its users; if not, viewers are
    // warned.
    let interfaces = sources.has(&type_name).then(|| sources.load(&type_name).ok()).flatten()?;
    let description = interfaces.description(&type_name)?;
    if hash.is_some_and(|hash| description.hash() != hash) {
        return None;
    }
    let referenced = description.referenced_type_descriptions.iter().map(|one| one.type_name.as_str());
    let texts: Option<Vec<(&str, String)>> = std::iter::once(name)
        .chain(referenced)
        .map(|name| Some((name, sources.text(&name.parse().ok()?).ok()??)))
        .collect();
    let schema = texts.and_then(|texts| {
        let find =
            |wanted: &str| texts.iter().find(|(name, _)| *name == wanted).map(|(_, text)| text.as_str());
        Schema::from_texts(name, find)
    });
    Some(TypeDefinition { schema, description })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::interfaces::DefinitionOptions;

    #[test]
    fn definitions_have_constants_and_the_wanted_hash() {
        let sources = PackageSources::open(&DefinitionOptions::default()).unwrap();
        let found = definition(&sources, "sensor_msgs/msg/PointField", None).unwrap();
        let text = found.schema.unwrap().text;
        assert!(text.contains("FLOAT32"), "{text}");
        let hash = found.description.hash();
        assert!(definition(&sources, "sensor_msgs/msg/PointField", Some(hash)).is_some());
        assert!(definition(&sources, "sensor_msgs/msg/PointField", Some(TypeHash([1; 32]))).is_none());
        assert!(definition(&sources, "std_srvs/srv/SetBool", None).unwrap().schema.is_none());
        assert!(definition(&sources, "other_msgs/msg/Unheard", None).is_none());
    }
}
