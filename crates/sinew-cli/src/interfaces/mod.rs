//! Message types: their definitions, and `sinew interface`.

mod known;
mod show;
mod sources;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::json;
use sinew_msg::definition::{Kind, TypeName};
use sinew_msg::dynamic::{DynamicMessage, Style};
use sinew_shm::Domain;

use crate::cli::interfaces::{
    InterfaceCommand, InterfaceListOptions, PackageOptions, ShowOptions, StubsOptions, TypeOptions,
};
use crate::error::{Error, TypesError};
use crate::harmless;
use crate::output::{print, print_json};
use crate::similar::{self, suggestion};
pub(crate) use known::{Types, fixed_size, kept_in};
use show::Comments;
pub(crate) use sources::PackageSources;

/// Runs `sinew interface`.
pub(crate) fn run(command: &InterfaceCommand) -> Result<(), Error> {
    match command {
        InterfaceCommand::List(options) => list(options),
        InterfaceCommand::Packages(options) => packages(options),
        InterfaceCommand::Package(options) => package(options),
        InterfaceCommand::Show(options) => show(options),
        InterfaceCommand::Proto(options) => proto(options),
        InterfaceCommand::Hash(options) => hash(options),
        InterfaceCommand::Stubs(options) => stubs(options),
    }
}

/// Returns the names of types of the requested kinds.
fn names(options: &InterfaceListOptions, sources: &PackageSources) -> Vec<TypeName> {
    let wanted = |name: &TypeName| match (options.only_msgs, options.only_srvs, options.only_actions) {
        (false, false, false) => true,
        (messages, services, actions) => match name.kind() {
            Kind::Message => messages,
            Kind::Service => services,
            Kind::Action => actions,
        },
    };
    sources.names().into_iter().filter(wanted).collect()
}

/// Runs the equivalent of `ros2 interface list`.
fn list(options: &InterfaceListOptions) -> Result<(), Error> {
    let names = names(options, &PackageSources::open(&options.definitions)?);
    if options.json {
        return print_json(&names.iter().map(TypeName::as_str).collect::<Vec<_>>());
    }
    let mut text = String::new();
    for (kind, title) in
        [(Kind::Message, "Messages:"), (Kind::Service, "Services:"), (Kind::Action, "Actions:")]
    {
        let of_kind: Vec<_> = names.iter().filter(|name| name.kind() == kind).collect();
        if !of_kind.is_empty() {
            text.push_str(title);
            text.push('\n');
        }
        for name in of_kind {
            let _ = writeln!(text, "    {name}"); // writing to a string can't fail
        }
    }
    print(&text)
}

/// Runs the equivalent of `ros2 interface packages`.
fn packages(options: &InterfaceListOptions) -> Result<(), Error> {
    let names = names(options, &PackageSources::open(&options.definitions)?);
    let packages: BTreeSet<&str> = names.iter().map(TypeName::package).collect();
    lines(packages.into_iter(), options.json)
}

/// Runs the equivalent of `ros2 interface package`.
fn package(options: &PackageOptions) -> Result<(), Error> {
    let sources = PackageSources::open(&options.list.definitions)?;
    check_package(&options.name, &sources)?;
    let names = names(&options.list, &sources);
    let of_package = names.iter().filter(|name| name.package() == options.name);
    lines(of_package.map(TypeName::as_str), options.list.json)
}

fn check_package(name: &str, sources: &PackageSources) -> Result<(), Error> {
    if sources.packages().contains(name) {
        return Ok(());
    }
    let similar = suggestion(&similar::to(name, sources.packages().into_iter()));
    Err(Error::NoPackage { name: name.to_owned(), looked: sources.looked(), similar })
}

/// Writes stubs for Python.
fn stubs(options: &StubsOptions) -> Result<(), Error> {
    let sources = PackageSources::open(&options.definitions)?;
    for name in &options.packages {
        check_package(name, &sources)?;
    }
    let all = || sources.packages().into_iter().map(str::to_owned).collect();
    let packages = if options.packages.is_empty() { all() } else { options.packages.clone() };
    let mut number = 0;
    for package in packages {
        let folder = options.output.join(&package);
        let unwritten =
            |path: &Path, error| Error::File { action: "write", path: path.to_owned(), source: error };
        fs::create_dir_all(&folder).map_err(|error| unwritten(&folder, error))?;
        for (name, text) in sources.stubs(&package)? {
            let path = folder.join(name);
            fs::write(&path, text).map_err(|error| unwritten(&path, error))?;
            number += 1;
        }
    }
    print(&format!("{number} files written\n"))
}

fn lines<'a>(names: impl Iterator<Item = &'a str>, json: bool) -> Result<(), Error> {
    match json {
        true => print_json(&names.collect::<Vec<_>>()),
        false => print(&names.map(|name| format!("{name}\n")).collect::<String>()),
    }
}

/// Runs the equivalent of `ros2 interface show`.
fn show(options: &ShowOptions) -> Result<(), Error> {
    let types = types(&options.of)?;
    let name = name(&options.of.name, types.sources())?;
    if options.of.json {
        return print(&harmless::json(types.in_use(&name, &options.of.place)?.to_json() + "\n"));
    }
    let comments = match (options.all_comments, options.no_comments) {
        (true, _) => Comments::All,
        (_, true) => Comments::None,
        _ => Comments::Own,
    };
    print(&harmless::lines(&types.text(&name, &options.of.place, comments)?))
}

/// Runs the equivalent of `ros2 interface proto`.
fn proto(options: &TypeOptions) -> Result<(), Error> {
    let types = types(options)?;
    let name = name(&options.name, types.sources())?;
    let hash = types.in_use(&name, &options.place)?.hash();
    let is_service = name.kind() == Kind::Service && !name.base().contains('_');
    let message_type = match is_service {
        true => {
            let [request, _] = types.service(&name, Some(hash))?;
            request
        }
        false => types.message(&name, Some(hash))?,
    };
    let message = DynamicMessage::new(&message_type);
    match options.json {
        true => print(&(message.to_json() + "\n")),
        false => print(&message.to_yaml(&Style::default())),
    }
}

/// Prints the RIHS01 hash.
fn hash(options: &TypeOptions) -> Result<(), Error> {
    let types = types(options)?;
    let name = name(&options.name, types.sources())?;
    let hash = types.in_use(&name, &options.place)?.hash().to_string();
    if options.json {
        return print_json(&json!({"type": name.as_str(), "hash": hash}));
    }
    print(&(hash + "\n"))
}

fn types(options: &TypeOptions) -> Result<Types, Error> {
    let number = options.place.domain().map_err(Error::DomainNumber)?;
    let domain = Domain::find(options.place.dir.as_deref(), number)?;
    Ok(Types::new(PackageSources::open(&options.definitions)?, domain))
}

/// Parses the name of a type; `package/Type` is short for a message type, or for any other type of
/// that name.
pub(crate) fn name(text: &str, sources: &PackageSources) -> Result<TypeName, TypesError> {
    if let Some((package, base)) = text.split_once('/').filter(|(_, base)| !base.contains('/')) {
        let of = |kind| TypeName::new(package, kind, base).ok();
        let kinds = [Kind::Message, Kind::Service, Kind::Action];
        let found = kinds.into_iter().filter_map(of).find(|name| sources.has(name));
        return found.map_or_else(|| Ok(TypeName::new(package, Kind::Message, base)?), Ok);
    }
    text.parse().map_err(|error| {
        let names = sources.names();
        let similar = suggestion(&similar::to(text, names.iter().map(TypeName::as_str)));
        TypesError::Name { error, similar }
    })
}
