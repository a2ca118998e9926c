//! The sources of definitions: folders that the program adds, those of a ROS 2 installation, and the
//! definitions that come with Sinew.
//!
//! A package is taken from the first source that has it. Definitions are read when a type is asked
//! for, with the packages that they refer to: a broken package affects only its users.

use super::class::Class;
use parking_lot::Mutex;
use sinew::error::GenericTypeError;
use sinew_interfaces::DEFINITIONS;
use sinew_msg::TypeHash;
use sinew_msg::definition::{
    Content, Definition, Definitions, ElementType, Interfaces, Kind, NameError, ReadError, ResolveError,
    Role, TypeName,
};
use sinew_msg::description::TypeDescription;
use sinew_msg::dynamic;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::{env, fs};

/// The reason why there is no class for a type.
#[derive(Debug)]
pub(crate) enum Unusable {
    Name(NameError),
    Unknown { name: String, looked: String },
    NoPackages { path: PathBuf },
    Read(ReadError),
    Resolve(ResolveError),
    Description(dynamic::TypeError),
    Library(GenericTypeError),
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(error) => error.fmt(f),
            Self::Unknown { name, looked } => write!(
                f,
                "{name} is not defined in any of: {looked}; add the folder of its package by sinew.interfaces.add_path"
            ),
            Self::NoPackages { path } => write!(
                f,
                "{} has no packages of interfaces: there is no msg, srv or action folder in it or in its folders",
                path.display()
            ),
            Self::Read(error) => error.fmt(f),
            Self::Resolve(error) => error.fmt(f),
            Self::Description(error) => error.fmt(f),
            Self::Library(error) => error.fmt(f),
        }
    }
}

macro_rules! from {
    ($($error:ty => $variant:ident),*) => {
        $(impl From<$error> for Unusable {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        })*
    };
}
from!(NameError => Name, ReadError => Read, ResolveError => Resolve);
from!(dynamic::TypeError => Description, GenericTypeError => Library);

/// A type by its name.
pub(super) enum Known {
    Message(Arc<Class>),
    Service(Service),
    /// An action's description, and its name.
    Action(TypeDescription),
}

/// A service: the types of its messages, and what stands for it in the library.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) request: Arc<Class>,
    pub(crate) response: Arc<Class>,
    pub(super) event: Arc<Class>,
    pub(crate) description: TypeDescription,
}

/// All packages, and the definitions of those that were asked for.
#[derive(Default)]
struct Sources {
    /// Folders of packages that the program added, the newest first.
    added: Vec<PathBuf>,
    /// Found when first needed.
    folders: Option<BTreeMap<String, PathBuf>>,
    loaded: BTreeMap<String, Arc<Interfaces>>,
}

static SOURCES: LazyLock<Mutex<Sources>> = LazyLock::new(Mutex::default);

/// Adds a folder of packages, or the folder of a package, before all others.
///
/// # Errors
/// There are no packages.
pub(super) fn add_path(path: &Path) -> Result<Vec<String>, Unusable> {
    let found = packages_in(path);
    if found.is_empty() {
        return Err(Unusable::NoPackages { path: path.to_owned() });
    }
    let mut sources = SOURCES.lock();
    sources.added.insert(0, path.to_owned());
    (sources.folders, sources.loaded) = (None, BTreeMap::new());
    Ok(found.into_iter().map(|(package, _)| package).collect())
}

/// Returns the names of all packages.
pub(super) fn packages() -> Vec<String> {
    let mut sources = SOURCES.lock();
    let mut all: BTreeSet<String> = sources.folders().keys().cloned().collect();
    all.extend(DEFINITIONS.iter().filter_map(|(name, _)| Some(name.split('/').next()?.to_owned())));
    all.into_iter().collect()
}

/// Returns the names that a package defines, e.g. `msg/Image`.
///
/// # Errors
/// The package or one that it refers to can't be read; it is unknown.
pub(super) fn names(package: &str) -> Result<Vec<String>, Unusable> {
    let interfaces = SOURCES.lock().load(package)?;
    let of_package = interfaces.definitions().filter(|definition| definition.name.package() == package);
    Ok(of_package
        .map(|definition| format!("{}/{}", definition.name.kind(), definition.name.base()))
        .collect())
}

/// Returns the type of this name.
///
/// # Errors
/// It is unknown; its package or one that it refers to can't be read.
pub(super) fn find(name: &str) -> Result<Known, Unusable> {
    let name: TypeName = name.parse()?;
    let interfaces = SOURCES.lock().load(name.package())?;
    let unknown = |name: &TypeName| SOURCES.lock().unknown(name.as_str());
    let interface = interfaces.find(&name).ok_or_else(|| unknown(&name))?;
    let description = |name: &TypeName| interfaces.description(name).ok_or_else(|| unknown(name));
    match interface.role {
        Role::Message => Ok(Known::Message(Class::of(description(&name)?, Some(&interfaces))?)),
        Role::Action => Ok(Known::Action(description(&name)?)),
        Role::Service => {
            let part = |suffix: &str| {
                let part: TypeName = format!("{name}{suffix}").parse()?;
                Class::of(description(&part)?, Some(&interfaces))
            };
            let (request, response, event) = (part("_Request")?, part("_Response")?, part("_Event")?);
            Ok(Known::Service(Service { request, response, event, description: description(&name)? }))
        }
    }
}

impl Service {
    /// Returns the full name, e.g. `example_interfaces/srv/AddTwoInts`.
    pub(crate) fn name(&self) -> &str {
        &self.description.type_description.type_name
    }

    /// Returns the RIHS01 hash of its description.
    pub(crate) fn hash(&self) -> TypeHash {
        self.description.hash()
    }
}

impl Sources {
    fn folders(&mut self) -> &BTreeMap<String, PathBuf> {
        let added = &self.added;
        self.folders.get_or_insert_with(|| {
            let prefixes = env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
            let installed = env::split_paths(&prefixes).filter(|prefix| !prefix.as_os_str().is_empty());
            let shares: Vec<PathBuf> = installed.map(|prefix| prefix.join("share")).collect();
            let mut folders = BTreeMap::new();
            for (package, folder) in added.iter().chain(&shares).flat_map(|path| packages_in(path)) {
                folders.entry(package).or_insert(folder);
            }
            folders
        })
    }

    fn unknown(&self, name: &str) -> Unusable {
        let mut looked: Vec<String> = self.added.iter().map(|path| path.display().to_string()).collect();
        let is_set = env::var_os("AMENT_PREFIX_PATH").is_some_and(|value| !value.is_empty());
        looked.push(if is_set { "AMENT_PREFIX_PATH" } else { "AMENT_PREFIX_PATH (not set)" }.to_owned());
        looked.push("the packages that come with Sinew".to_owned());
        Unusable::Unknown { name: name.to_owned(), looked: looked.join(", ") }
    }

    /// Loads the definitions of this package, and of all packages that they refer to.
    fn load(&mut self, package: &str) -> Result<Arc<Interfaces>, Unusable> {
        if let Some(loaded) = self.loaded.get(package) {
            return Ok(Arc::clone(loaded));
        }
        let mut wanted = vec![package.to_owned()];
        let (mut seen, mut definitions) = (BTreeSet::new(), Definitions::new());
        while let Some(package) = wanted.pop() {
            if !seen.insert(package.clone()) {
                continue;
            }
            self.read(&mut definitions, &package)?;
            let of_package = definitions.iter().filter(|definition| definition.name.package() == package);
            wanted.extend(of_package.flat_map(needed).filter(|package| !seen.contains(package)));
        }
        if !definitions.iter().any(|definition| definition.name.package() == package) {
            return Err(self.unknown(package));
        }
        let resolved = Arc::new(definitions.resolve()?);
        self.loaded.insert(package.to_owned(), Arc::clone(&resolved));
        Ok(resolved)
    }

    fn read(&mut self, definitions: &mut Definitions, package: &str) -> Result<(), Unusable> {
        if let Some(folder) = self.folders().get(package) {
            return Ok(definitions.read_package(package, folder)?);
        }
        let of_package = DEFINITIONS.iter().filter(|(name, _)| name.split('/').next() == Some(package));
        for (name, text) in of_package {
            let definition = Definition::parse(&name.parse()?, name, text).map_err(ReadError::from)?;
            definitions.add(definition)?;
        }
        Ok(())
    }
}

/// Returns the packages of a definition's fields.
fn needed(definition: &Definition) -> Vec<String> {
    let sections = match &definition.content {
        Content::Message(section) => vec![section],
        Content::Service { request, response } => vec![request, response],
        Content::Action { goal, result, feedback } => vec![goal, result, feedback],
    };
    let fields = sections.into_iter().flat_map(|section| &section.fields);
    let packages = fields.filter_map(|field| match &field.field_type.element {
        ElementType::Message(name) => Some(name.package().to_owned()),
        _ => None,
    });
    packages.collect()
}

/// Returns the packages in a folder, or the package that the folder is.
fn packages_in(folder: &Path) -> Vec<(String, PathBuf)> {
    let name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
    let is_package = |path: &Path| {
        [Kind::Message, Kind::Service, Kind::Action].iter().any(|kind| path.join(kind.name()).is_dir())
    };
    if is_package(folder) {
        let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()); // `.` has no name
        return name(&folder).map(|name| (name, folder)).into_iter().collect();
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| is_package(path)).filter_map(|path| Some((name(&path)?, path))).collect()
}
