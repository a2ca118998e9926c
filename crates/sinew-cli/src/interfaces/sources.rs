//! The sources of definitions: folders that the user names, those of a ROS 2 installation, and
//! those built into the command.
//!
//! A package is taken from the first source that has it. Definitions are read only when they are
//! needed, with the packages that they refer to: a broken package affects only its users.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use sinew_msg::definition::{Content, Definition, Definitions, ElementType, Interfaces, Kind, TypeName};

use crate::cli::interfaces::DefinitionOptions;
use crate::error::TypesError;

/// The definitions of ROS 2's packages, by the names of their types.
use sinew_interfaces::DEFINITIONS as BUILT_IN;

/// The available packages.
pub(crate) struct PackageSources {
    packages: BTreeMap<String, PackageSource>,
    /// The searched sources, for errors.
    looked: Vec<String>,
}

/// The source of a package's definitions.
enum PackageSource {
    /// In this folder, in its `msg`, `srv` and `action`.
    Folder(PathBuf),
    BuiltIn,
}

impl PackageSources {
    /// Finds packages.
    pub(crate) fn open(options: &DefinitionOptions) -> Result<Self, TypesError> {
        let mut sources = Self { packages: BTreeMap::new(), looked: Vec::new() };
        for folder in &options.interfaces {
            let found = packages_in(folder);
            if found.is_empty() {
                return Err(TypesError::NoPackages { path: folder.clone() });
            }
            sources.looked.push(folder.display().to_string());
            sources.add(found);
        }
        let prefixes = env::var_os("AMENT_PREFIX_PATH").filter(|value| !value.is_empty());
        if let Some(prefixes) = prefixes {
            env::split_paths(&prefixes).for_each(|prefix| sources.add(packages_in(&prefix.join("share"))));
            sources.looked.push("AMENT_PREFIX_PATH".to_owned());
        } else {
            sources.looked.push("AMENT_PREFIX_PATH (not set)".to_owned());
        }
        let mut built_in: BTreeSet<&str> = BTreeSet::new();
        built_in.extend(BUILT_IN.iter().filter_map(|(name, _)| name.split('/').next()));
        sources.looked.push(format!("the {} packages built in", built_in.len()));
        for package in built_in {
            sources.packages.entry(package.to_owned()).or_insert(PackageSource::BuiltIn);
        }
        Ok(sources)
    }

    fn add(&mut self, found: Vec<(String, PathBuf)>) {
        for (package, folder) in found {
            self.packages.entry(package).or_insert(PackageSource::Folder(folder));
        }
    }

    /// Returns the searched sources.
    pub(super) fn looked(&self) -> String {
        self.looked.join(", ")
    }

    /// Returns the names of all defined types.
    pub(crate) fn names(&self) -> Vec<TypeName> {
        self.packages.iter().flat_map(|(package, source)| names_in(package, source)).collect()
    }

    /// Returns the names of all packages.
    pub(super) fn packages(&self) -> impl Iterator<Item = &str> {
        self.packages.keys().map(String::as_str)
    }

    /// Returns `true` if the type, or the one that it is derived from, is defined.
    pub(crate) fn has(&self, name: &TypeName) -> bool {
        let base = name.base().split('_').next().unwrap_or_default();
        let source = self.packages.get(name.package());
        source.is_some_and(|source| {
            names_in(name.package(), source).iter().any(|one| one.kind() == name.kind() && one.base() == base)
        })
    }

    /// Returns the text of the file that defines the type.
    pub(crate) fn text(&self, name: &TypeName) -> Result<Option<String>, TypesError> {
        match self.packages.get(name.package()) {
            None => Ok(None),
            Some(PackageSource::BuiltIn) => {
                let found = BUILT_IN.iter().find(|(built_in, _)| *built_in == name.as_str());
                Ok(found.map(|(_, text)| (*text).to_owned()))
            }
            Some(PackageSource::Folder(folder)) => {
                let path = folder.join(name.kind().name()).join(format!("{}.{}", name.base(), name.kind()));
                if !path.is_file() {
                    return Ok(None);
                }
                let read = fs::read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                let unreadable = |error| sinew_msg::definition::ReadError::File { path, error };
                Ok(Some(read.map_err(unreadable)?))
            }
        }
    }

    /// Loads the definitions of this package, and of all packages that they refer to.
    pub(crate) fn load(&self, package: &str) -> Result<Interfaces, TypesError> {
        // The packages that every service and action refers to.
        let foundations = ["builtin_interfaces", "service_msgs", "unique_identifier_msgs"];
        let mut wanted: Vec<String> = foundations.iter().map(|&package| package.to_owned()).collect();
        wanted.push(package.to_owned());
        let (mut seen, mut definitions) = (BTreeSet::new(), Definitions::new());
        while let Some(package) = wanted.pop() {
            let Some(source) = self.packages.get(&package).filter(|_| seen.insert(package.clone())) else {
                continue;
            };
            read(&mut definitions, &package, source)?;
            let of_package = definitions.iter().filter(|definition| definition.name.package() == package);
            wanted.extend(of_package.flat_map(needed).filter(|package| !seen.contains(package)));
        }
        Ok(definitions.resolve()?)
    }
}

fn read(definitions: &mut Definitions, package: &str, source: &PackageSource) -> Result<(), TypesError> {
    match source {
        PackageSource::Folder(folder) => definitions.read_package(package, folder)?,
        PackageSource::BuiltIn => {
            for (name, text) in BUILT_IN.iter().filter(|(name, _)| name.split('/').next() == Some(package)) {
                let Ok(name) = name.parse::<TypeName>() else { continue }; // all are valid: see the test
                let definition = Definition::parse(&name, name.as_str(), text)
                    .map_err(sinew_msg::definition::ReadError::from)?;
                definitions.add(definition)?;
            }
        }
    }
    Ok(())
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
    let mut found: Vec<_> =
        entries.filter(|path| is_package(path)).filter_map(|path| Some((name(&path)?, path))).collect();
    found.sort();
    found
}

fn names_in(package: &str, source: &PackageSource) -> Vec<TypeName> {
    match source {
        PackageSource::BuiltIn => {
            let names = BUILT_IN.iter().filter(|(name, _)| name.split('/').next() == Some(package));
            names.filter_map(|(name, _)| name.parse().ok()).collect()
        }
        PackageSource::Folder(folder) => {
            let mut names = Vec::new();
            for kind in [Kind::Action, Kind::Message, Kind::Service] {
                let files = fs::read_dir(folder.join(kind.name())).into_iter().flatten().flatten();
                let paths = files.map(|file| file.path());
                let of_kind = paths.filter(|path| path.extension().is_some_and(|end| end == kind.name()));
                let base = |path: PathBuf| TypeName::new(package, kind, path.file_stem()?.to_str()?).ok();
                names.extend(of_kind.filter_map(base));
            }
            names.sort();
            names
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_built_in_is_right() {
        let sources = PackageSources::open(&DefinitionOptions { interfaces: Vec::new() }).unwrap();
        assert!(BUILT_IN.len() >= 235);
        for package in sources.packages.keys() {
            sources.load(package).unwrap();
        }
        assert!(sources.has(&"std_srvs/srv/SetBool_Request".parse().unwrap()));
        assert!(!sources.has(&"std_srvs/srv/Nothing".parse().unwrap()));
        let string: TypeName = "std_msgs/msg/String".parse().unwrap();
        assert!(sources.text(&string).unwrap().unwrap().contains("string data"));
    }
}
