//! Types of messages: where their definitions are, and `sinew interface`.

mod known;
mod show;
mod sources;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::json;
use sinew_msg::definition::{Kind, TypeName};
use sinew_msg::dynamic::{DynamicMessage, Style};
use sinew_shm::Domain;

use crate::cli::interfaces::{InterfaceCommand, ListOptions, PackageOptions, ShowOptions, TypeOptions};
use crate::error::{Error, suggestion};
use crate::graph::{print, print_json, similar};
pub(crate) use known::{Types, kept_in};
use show::Comments;
pub(crate) use sources::Sources;

/// What keeps a type from being known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TypesError {
    /// A folder that the user named has no packages.
    #[error(
        "{} has no interfaces: name the folder of a package (with `msg`, `srv` or `action` in it), or one with packages",
        path.display()
    )]
    NoPackages {
        /// As the user named it.
        path: PathBuf,
    },

    /// A definition can't be read.
    #[error(transparent)]
    Read(#[from] sinew_msg::definition::ReadError),

    /// Definitions don't go together.
    #[error(transparent)]
    Resolve(#[from] sinew_msg::definition::ResolveError),

    /// What isn't the name of a type.
    #[error("{error}{similar}")]
    Name {
        /// What is wrong with it.
        error: sinew_msg::definition::NameError,
        /// What may have been meant, as the end of a sentence.
        similar: String,
    },

    /// Nobody knows it.
    #[error("{name} is not known (looked at: {looked}); --interfaces DIR adds definitions{similar}")]
    Unknown {
        /// The type.
        name: String,
        /// What may have been meant, as the end of a sentence.
        similar: String,
        /// Where it was looked for.
        looked: String,
    },

    /// It is known, but not as it is in use.
    #[error(
        "{name} with the hash {hash} is not known: its definition here has the hash {here} (looked at: {looked}); \
         --interfaces DIR adds the definitions that are in use"
    )]
    Other {
        /// The type.
        name: String,
        /// Its hash, as those who use it say.
        hash: String,
        /// The hash of what is known.
        here: String,
        /// Where it was looked for.
        looked: String,
    },

    /// It is none of what is needed.
    #[error("{name} is of the kind `{is}`, but {wanted}")]
    Kind {
        /// The type.
        name: String,
        /// What it is.
        is: &'static str,
        /// What it should be.
        wanted: &'static str,
    },

    /// It is known, but would fill the screen for hours.
    #[error(
        "{name} with all that is in it is longer than {most} bytes, so it is not shown; show the types of its fields by \
         themselves, or --json, which has each type once"
    )]
    TooLong {
        /// The type, or one in it.
        name: String,
        /// What is shown at most.
        most: usize,
    },

    /// It is known, but can't be read.
    #[error(transparent)]
    Type(#[from] sinew_msg::dynamic::TypeError),
}

impl From<sinew_msg::definition::NameError> for TypesError {
    fn from(error: sinew_msg::definition::NameError) -> Self {
        Self::Name { error, similar: String::new() }
    }
}

/// `sinew interface`.
pub(crate) fn run(command: &InterfaceCommand) -> Result<(), Error> {
    match command {
        InterfaceCommand::List(options) => list(options),
        InterfaceCommand::Packages(options) => packages(options),
        InterfaceCommand::Package(options) => package(options),
        InterfaceCommand::Show(options) => show(options),
        InterfaceCommand::Proto(options) => proto(options),
        InterfaceCommand::Hash(options) => hash(options),
    }
}

/// The names of types of the kinds that are asked for.
fn names(options: &ListOptions, sources: &Sources) -> Vec<TypeName> {
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

/// `ros2 interface list`.
fn list(options: &ListOptions) -> Result<(), Error> {
    let names = names(options, &Sources::open(&options.definitions)?);
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
            let _ = writeln!(text, "    {name}"); // a string takes everything
        }
    }
    print(&text)
}

/// `ros2 interface packages`.
fn packages(options: &ListOptions) -> Result<(), Error> {
    let names = names(options, &Sources::open(&options.definitions)?);
    let packages: BTreeSet<&str> = names.iter().map(TypeName::package).collect();
    lines(packages.into_iter(), options.json)
}

/// `ros2 interface package`.
fn package(options: &PackageOptions) -> Result<(), Error> {
    let sources = Sources::open(&options.list.definitions)?;
    if !sources.packages().any(|package| package == options.name) {
        let similar = suggestion(&similar::to(&options.name, sources.packages()));
        return Err(Error::NoPackage { name: options.name.clone(), looked: sources.looked(), similar });
    }
    let names = names(&options.list, &sources);
    let of_package = names.iter().filter(|name| name.package() == options.name);
    lines(of_package.map(TypeName::as_str), options.list.json)
}

fn lines<'a>(names: impl Iterator<Item = &'a str>, json: bool) -> Result<(), Error> {
    match json {
        true => print_json(&names.collect::<Vec<_>>()),
        false => print(&names.map(|name| format!("{name}\n")).collect::<String>()),
    }
}

/// `ros2 interface show`.
fn show(options: &ShowOptions) -> Result<(), Error> {
    let types = types(&options.of)?;
    let name = name(&options.of.name, types.sources())?;
    if options.of.json {
        return print(&(types.in_use(&name, &options.of.place)?.to_json() + "\n"));
    }
    let comments = match (options.all_comments, options.no_comments) {
        (true, _) => Comments::All,
        (_, true) => Comments::None,
        _ => Comments::Own,
    };
    print(&types.text(&name, &options.of.place, comments)?)
}

/// `ros2 interface proto`.
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

/// The RIHS01 hash.
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
    Ok(Types::new(Sources::open(&options.definitions)?, domain))
}

/// The name of a type; `package/Type` is short for a message's, or whatever else there is of that name.
pub(crate) fn name(text: &str, sources: &Sources) -> Result<TypeName, TypesError> {
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
