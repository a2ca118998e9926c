//! Packages of definitions in several sources, of which types are read when they are needed.

use super::derived::FOUNDATIONS;
use super::error::ReadError;
use super::model::{Content, Definition, ElementType};
use super::names::{Kind, TypeName};
use super::resolve::Interfaces;
use super::set::{Definitions, IDL};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Packages of definitions: in folders, of a ROS 2 installation, and compiled into the program.
///
/// A package is taken from the source that was added first; those compiled in come last. A type is
/// read when it is needed, with the types in it: a broken definition affects only its users.
///
/// ```
/// use sinew_msg::definition::Packages;
///
/// static BUILT_IN: &[(&str, &str)] =
///     &[("example_msgs/msg/Broken", "float63 x"), ("example_msgs/msg/Point", "float64 x\nfloat64 y")];
/// let packages = Packages::new(BUILT_IN);
/// let point = "example_msgs/msg/Point".parse()?;
/// assert_eq!(packages.load(&point)?.find(&point).unwrap().fields.len(), 2);
/// assert!(packages.load(&"example_msgs/msg/Broken".parse()?).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Packages {
    folders: BTreeMap<String, PathBuf>,
    built_in: &'static [(&'static str, &'static str)],
}

/// The text of a definition.
struct Source {
    /// The file, or the name of a type that is compiled in.
    place: String,
    text: Cow<'static, [u8]>,
}

impl Packages {
    /// Returns the packages that are compiled in: the full names of their types, in order, and the
    /// texts of their definitions.
    #[must_use]
    pub fn new(built_in: &'static [(&'static str, &'static str)]) -> Self {
        debug_assert!(built_in.is_sorted_by_key(|(name, _)| name));
        Self { folders: BTreeMap::new(), built_in }
    }

    /// Adds the packages in a folder, or the package that the folder is: one with `msg`, `srv` or
    /// `action` in it. Returns the names of those that were found; an earlier source counts more.
    /// A folder that can't be read has none.
    pub fn add(&mut self, folder: &Path) -> Vec<String> {
        let found = packages_in(folder);
        let names = found.iter().map(|(name, _)| name.clone()).collect();
        for (name, folder) in found {
            self.folders.entry(name).or_insert(folder);
        }
        names
    }

    /// Adds the packages of a ROS 2 installation: those in the folder `share` of each prefix in
    /// `AMENT_PREFIX_PATH`. Returns false if the variable is not set.
    pub fn add_installed(&mut self) -> bool {
        let Some(prefixes) = env::var_os("AMENT_PREFIX_PATH").filter(|value| !value.is_empty()) else {
            return false;
        };
        for prefix in env::split_paths(&prefixes).filter(|prefix| !prefix.as_os_str().is_empty()) {
            self.add(&prefix.join("share"));
        }
        true
    }

    /// Returns the names of all packages.
    #[must_use]
    pub fn names(&self) -> BTreeSet<&str> {
        let built_in = self.built_in.iter().filter_map(|(name, _)| name.split('/').next());
        self.folders.keys().map(String::as_str).chain(built_in).collect()
    }

    /// Returns the names of the types that a package defines, in order. Nothing is read but names.
    #[must_use]
    pub fn types(&self, package: &str) -> Vec<TypeName> {
        let Some(folder) = self.folders.get(package) else {
            let names = self.built_in.iter().filter(|(name, _)| name.split('/').next() == Some(package));
            return names.filter_map(|(name, _)| name.parse().ok()).collect();
        };
        let mut names = Vec::new();
        for kind in [Kind::Action, Kind::Message, Kind::Service] {
            let files = fs::read_dir(folder.join(kind.name())).into_iter().flatten().flatten();
            let paths = files.map(|file| file.path());
            let of_kind = paths.filter(|path| path.extension().is_some_and(|end| end == kind.name()));
            let name = |path: PathBuf| TypeName::new(package, kind, path.file_stem()?.to_str()?).ok();
            names.extend(of_kind.filter_map(name));
        }
        names.sort();
        names
    }

    /// Returns whether the type, or the one from which it is derived, is defined.
    #[must_use]
    pub fn has(&self, name: &TypeName) -> bool {
        let name = name.original();
        match self.folders.get(name.package()) {
            Some(folder) => file(folder, &name).is_file(),
            None => self.text_built_in(&name).is_some(),
        }
    }

    /// Returns the text that defines a type. `None` if there is none; a derived type has none.
    ///
    /// # Errors
    /// [`ReadError::File`] if there is a file that can't be read, [`ReadError::Idl`] if there is
    /// only a definition in IDL.
    pub fn text(&self, name: &TypeName) -> Result<Option<Cow<'static, str>>, ReadError> {
        let source = self.source(name)?;
        Ok(source.map(|source| match source.text {
            Cow::Borrowed(text) => String::from_utf8_lossy(text),
            Cow::Owned(text) => String::from_utf8_lossy(&text).into_owned().into(),
        }))
    }

    /// Reads the type of this name, or that from which it is derived, with all types in it. An
    /// unknown type is not in the result.
    ///
    /// # Errors
    /// A file can't be read, a definition is wrong, or a type in it is unknown.
    pub fn load(&self, name: &TypeName) -> Result<Interfaces, ReadError> {
        let mut wanted = vec![name.original()];
        let (mut seen, mut definitions) = (BTreeSet::new(), Definitions::new());
        while let Some(name) = wanted.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            let Some(Source { place, text }) = self.source(&name)? else {
                if seen.len() > 1 {
                    wanted.extend(self.types(name.package())); // for the error, which says what is meant
                }
                continue;
            };
            let definition = Definition::parse(&name, &place, text)?;
            wanted.extend(needed(&definition));
            definitions.add(definition)?;
        }
        Ok(definitions.resolve()?)
    }

    fn source(&self, name: &TypeName) -> Result<Option<Source>, ReadError> {
        let Some(folder) = self.folders.get(name.package()) else {
            let found = self.text_built_in(name);
            let of = |text: &'static str| Source { place: name.to_string(), text: text.as_bytes().into() };
            return Ok(found.map(of));
        };
        let path = file(folder, name);
        if !path.is_file() {
            let (path, kind) = (path.with_extension(IDL), name.kind());
            return if path.is_file() { Err(ReadError::Idl { path, kind }) } else { Ok(None) };
        }
        match fs::read(&path) {
            Ok(text) => Ok(Some(Source { place: path.to_string_lossy().into_owned(), text: text.into() })),
            Err(error) => Err(ReadError::File { path, error }),
        }
    }

    fn text_built_in(&self, name: &TypeName) -> Option<&'static str> {
        let found = self.built_in.binary_search_by_key(&name.as_str(), |(name, _)| name).ok()?;
        Some(self.built_in[found].1)
    }
}

/// Returns the file of a type's definition in the folder of its package.
fn file(folder: &Path, name: &TypeName) -> PathBuf {
    folder.join(name.kind().name()).join(format!("{}.{}", name.base(), name.kind()))
}

/// Returns the message types of a definition's fields, and those that derived types refer to.
fn needed(definition: &Definition) -> Vec<TypeName> {
    let (sections, is_derived) = match &definition.content {
        Content::Message(section) => (vec![section], false),
        Content::Service { request, response } => (vec![request, response], true),
        Content::Action { goal, result, feedback } => (vec![goal, result, feedback], true),
    };
    let fields = sections.into_iter().flat_map(|section| &section.fields);
    let messages = fields.filter_map(|field| match &field.field_type.element {
        ElementType::Message(name) => Some(name.clone()),
        _ => None,
    });
    let foundations = FOUNDATIONS.iter().filter_map(|(name, _)| name.parse().ok());
    messages.chain(foundations.filter(|_| is_derived)).collect()
}

/// Returns the packages in a folder, or the package that the folder is, by name.
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
    let mut found: Vec<_> =
        entries.filter(|path| is_package(path)).filter_map(|path| Some((name(&path)?, path))).collect();
    found.sort();
    found
}
