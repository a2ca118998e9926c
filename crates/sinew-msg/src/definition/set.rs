//! Definitions that belong together.

use super::error::{ReadError, ResolveError};
use super::model::Definition;
use super::names::{Kind, TypeName};
use super::resolve::{Interfaces, resolve};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::path::{Path, PathBuf, absolute};

/// The extension of definitions in IDL.
pub(super) const IDL: &str = "idl";

/// The definitions of one or several packages, to be [resolved](Self::resolve) together.
///
/// ```
/// use sinew_msg::definition::{Definition, Definitions};
///
/// let mut definitions = Definitions::new();
/// for (name, text) in [
///     ("example_msgs/msg/Point", "float64 x\nfloat64 y"),
///     ("example_msgs/srv/Nearest", "Point to\n---\nPoint[<=3] nearest"),
/// ] {
///     definitions.add(Definition::parse(&name.parse()?, name, text)?)?;
/// }
/// let interfaces = definitions.resolve()?;
/// let response = interfaces.find(&"example_msgs/srv/Nearest_Response".parse()?).unwrap();
/// assert_eq!(response.fields[0].field_type.to_string(), "example_msgs/Point[<=3]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Definitions {
    by_name: BTreeMap<TypeName, Definition>,
}

impl Definitions {
    /// Returns an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a definition.
    ///
    /// # Errors
    /// [`ResolveError::Duplicate`] if the set has a definition of the same type.
    pub fn add(&mut self, definition: Definition) -> Result<(), ResolveError> {
        match self.by_name.entry(definition.name.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(definition);
                Ok(())
            }
            Entry::Occupied(first) => Err(ResolveError::Duplicate {
                name: definition.name,
                first: first.get().file.to_string(),
                second: definition.file.to_string(),
            }),
        }
    }

    /// Reads the interfaces of a package from its folder: `msg/*.msg`, `srv/*.srv` and
    /// `action/*.action`.
    ///
    /// # Errors
    /// [`ReadError`] if the folder doesn't exist or has no such files, or if a file cannot be read,
    /// is wrong, is a duplicate, or defines a type in IDL that has no other definition.
    pub fn read_package(&mut self, package: &str, folder: &Path) -> Result<(), ReadError> {
        let mut found = false;
        for kind in [Kind::Message, Kind::Service, Kind::Action] {
            for path in files(&folder.join(kind.name()), kind)? {
                found = true;
                self.read(package, kind, path)?;
            }
        }
        if found {
            Ok(())
        } else if folder.is_dir() {
            Err(ReadError::NoInterfaces { path: folder.to_owned() })
        } else {
            // The absolute path, since a relative one may refer to another folder than intended.
            Err(ReadError::NoFolder { path: absolute(folder).unwrap_or_else(|_| folder.to_owned()) })
        }
    }

    fn read(&mut self, package: &str, kind: Kind, path: PathBuf) -> Result<(), ReadError> {
        let base = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = match TypeName::new(package, kind, &base) {
            Ok(name) => name,
            Err(error) => return Err(ReadError::Name { path, error }),
        };
        match fs::read(&path) {
            Ok(text) => Ok(self.add(Definition::parse(&name, &path.to_string_lossy(), text)?)?),
            Err(error) => Err(ReadError::File { path, error }),
        }
    }

    /// Returns all definitions, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Definition> {
        self.by_name.values()
    }

    /// Resolves each field's type and derives the types of services and actions.
    ///
    /// Derived types have fields of `builtin_interfaces/Time`, `service_msgs/ServiceEventInfo` and
    /// `unique_identifier_msgs/UUID`, which are built in if the set lacks them.
    ///
    /// # Errors
    /// [`ResolveError`] if a type is missing or contains itself.
    pub fn resolve(self) -> Result<Interfaces, ResolveError> {
        resolve(self.by_name)
    }
}

/// Returns the definitions in a folder, if it exists, ordered by name.
fn files(folder: &Path, kind: Kind) -> Result<Vec<PathBuf>, ReadError> {
    let unreadable = |error| ReadError::File { path: folder.to_owned(), error };
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries =
        fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(unreadable)?;
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    if let Some(path) = paths.iter().find(|path| is_only_in_idl(path, kind)) {
        return Err(ReadError::Idl { path: path.clone(), kind });
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == kind.name()));
    Ok(paths)
}

/// Returns whether a file defines a type in IDL that has no other definition. An installation of
/// ROS 2 has both.
fn is_only_in_idl(path: &Path, kind: Kind) -> bool {
    path.extension().is_some_and(|extension| extension == IDL) && !path.with_extension(kind.name()).is_file()
}
