//! The sources of definitions: folders that the program adds, those of a ROS 2 installation, and the
//! definitions that come with Sinew.
//!
//! A package is taken from the first source that has it. Definitions are read when a type is asked
//! for, with those of the types in it.

use super::class::Class;
use parking_lot::Mutex;
use sinew::error::GenericTypeError;
use sinew_interfaces::DEFINITIONS;
use sinew_msg::TypeHash;
use sinew_msg::definition::{Interfaces, NameError, Packages, ReadError, Role, TypeName};
use sinew_msg::description::TypeDescription;
use sinew_msg::dynamic;
use std::collections::{BTreeMap, HashMap};
use std::env;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

/// The reason why there is no class for a type.
#[derive(Debug)]
pub(crate) enum Unusable {
    Name(NameError),
    Unknown { name: String, looked: String },
    NoPackages { path: PathBuf },
    Read(ReadError),
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
from!(NameError => Name, ReadError => Read);
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

/// All packages, and the definitions of types that were asked for.
#[derive(Default)]
struct Sources {
    /// Folders of packages that the program added, the newest first.
    added: Vec<PathBuf>,
    /// Found when first needed.
    packages: Option<Packages>,
    loaded: HashMap<TypeName, Arc<Interfaces>>,
}

static SOURCES: LazyLock<Mutex<Sources>> = LazyLock::new(Mutex::default);

/// Adds a folder of packages, or the folder of a package, before all others.
///
/// # Errors
/// There are no packages.
pub(super) fn add_path(path: &Path) -> Result<Vec<String>, Unusable> {
    let found = Packages::new(&[]).add(path);
    if found.is_empty() {
        return Err(Unusable::NoPackages { path: path.to_owned() });
    }
    let mut sources = SOURCES.lock();
    sources.added.insert(0, path.to_owned());
    (sources.packages, sources.loaded) = (None, HashMap::new());
    Ok(found)
}

/// Returns the names of all packages.
pub(super) fn packages() -> Vec<String> {
    SOURCES.lock().packages().names().into_iter().map(str::to_owned).collect()
}

/// Returns whether there is a package of this name.
pub(super) fn has_package(name: &str) -> bool {
    SOURCES.lock().packages().names().contains(name)
}

/// Returns the names that a package defines, e.g. `msg/Image`.
///
/// # Errors
/// It is unknown.
pub(super) fn names(package: &str) -> Result<Vec<String>, Unusable> {
    let mut sources = SOURCES.lock();
    if !sources.packages().names().contains(package) {
        return Err(sources.unknown(package));
    }
    let types = sources.packages().types(package);
    Ok(types.iter().map(|name| format!("{}/{}", name.kind(), name.base())).collect())
}

/// Returns the stubs of a package: the names of the files and their texts.
///
/// # Errors
/// It is unknown; a definition is wrong.
pub(super) fn stubs(package: &str) -> Result<BTreeMap<String, String>, Unusable> {
    let packages = SOURCES.lock().packages().clone();
    let files = sinew_build::python_stubs(&packages, package)?;
    if files.is_empty() { Err(SOURCES.lock().unknown(package)) } else { Ok(files) }
}

/// Returns the type of this name.
///
/// # Errors
/// It is unknown; its definition, or that of a type in it, can't be read.
pub(super) fn find(name: &str) -> Result<Known, Unusable> {
    let name: TypeName = name.parse()?;
    let interfaces = SOURCES.lock().load(&name)?;
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
    fn packages(&mut self) -> &Packages {
        let added = &self.added;
        self.packages.get_or_insert_with(|| {
            let mut packages = Packages::new(DEFINITIONS);
            for folder in added {
                packages.add(folder);
            }
            packages.add_installed();
            packages
        })
    }

    fn unknown(&self, name: &str) -> Unusable {
        let mut looked: Vec<String> = self.added.iter().map(|path| path.display().to_string()).collect();
        let is_set = env::var_os("AMENT_PREFIX_PATH").is_some_and(|value| !value.is_empty());
        looked.push(if is_set { "AMENT_PREFIX_PATH" } else { "AMENT_PREFIX_PATH (not set)" }.to_owned());
        looked.push("the packages that come with Sinew".to_owned());
        Unusable::Unknown { name: name.to_owned(), looked: looked.join(", ") }
    }

    /// Loads the definition of a type, and those of all types in it.
    fn load(&mut self, name: &TypeName) -> Result<Arc<Interfaces>, Unusable> {
        let original = name.original();
        if let Some(loaded) = self.loaded.get(&original) {
            return Ok(Arc::clone(loaded));
        }
        let loaded = Arc::new(self.packages().load(&original)?);
        if loaded.find(&original).is_none() {
            return Err(self.unknown(name.as_str()));
        }
        self.loaded.insert(original, Arc::clone(&loaded));
        Ok(loaded)
    }
}
