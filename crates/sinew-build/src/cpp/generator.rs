//! Reads definitions, and writes their headers.

use super::header::Headers;
use super::names::header_path;
use crate::error::GenerateError;
use crate::files::{package_name, write};
use sinew_msg::definition::{
    Content, Definition, Definitions, ElementType, Interfaces, Kind, Section, TypeName,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Generates C++ headers from interface definitions, with the structs of ROS 2's
/// `rosidl_generator_cpp` and Sinew's encoding. The program `sinew-generate-cpp` is this type with
/// arguments.
///
/// The headers include `sinew/message.hpp`, which is in `crates/sinew-c/include` of Sinew's
/// repository, and need C++17.
///
/// ```no_run
/// use sinew_build::CppGenerator;
/// use std::path::Path;
///
/// // Writes generated/arm_msgs/msg/joint.hpp and so on.
/// CppGenerator::new()
///     .package("interfaces/arm_msgs")
///     .search("/opt/ros/jazzy/share") // types in its fields
///     .write_to(Path::new("generated"))?;
/// # Ok::<(), sinew_build::GenerateError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct CppGenerator {
    packages: Vec<PathBuf>,
    definitions: Vec<PathBuf>,
    search: Vec<PathBuf>,
}

impl CppGenerator {
    /// Returns a generator without packages.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a package to generate. The folder has the name of the package, and contains
    /// `msg/*.msg`, `srv/*.srv` and `action/*.action`.
    #[must_use]
    pub fn package(mut self, folder: impl Into<PathBuf>) -> Self {
        self.packages.push(folder.into());
        self
    }

    /// Adds a single definition to generate, e.g. `interfaces/arm_msgs/msg/Joint.msg`. Its fields
    /// may have types of the same package, which are not generated.
    #[must_use]
    pub fn definition(mut self, file: impl Into<PathBuf>) -> Self {
        self.definitions.push(file.into());
        self
    }

    /// Adds a folder of packages: one that is not added itself but has types of fields is read from
    /// `folder/package`. It is not generated. Folders are searched in the order of these calls.
    #[must_use]
    pub fn search(mut self, folder: impl Into<PathBuf>) -> Self {
        self.search.push(folder.into());
        self
    }

    /// Writes the headers into this folder, each as `package/msg/name.hpp`. A header that would be
    /// the same is left alone, so that nothing is compiled needlessly.
    ///
    /// # Errors
    /// [`GenerateError`], except [`NoBuildScript`](GenerateError::NoBuildScript).
    pub fn write_to(&self, folder: &Path) -> Result<(), GenerateError> {
        for (path, text) in self.texts()? {
            let path = folder.join(path);
            if let Some(parent) = path.parent() {
                let unwritten = |error| GenerateError::Write { path: parent.to_owned(), error };
                fs::create_dir_all(parent).map_err(unwritten)?;
            }
            write(path, &text)?;
        }
        Ok(())
    }

    /// Returns the text of each header, by the path with which programs include it.
    ///
    /// # Errors
    /// As [`write_to`](Self::write_to), except [`Write`](GenerateError::Write).
    pub fn texts(&self) -> Result<BTreeMap<String, String>, GenerateError> {
        let (interfaces, selection) = self.read()?;
        let headers = Headers::new(&interfaces);
        let (mut texts, mut names) = (BTreeMap::new(), BTreeMap::new());
        for definition in interfaces.definitions().filter(|one| selection.has(&one.name)) {
            check_action(definition, &interfaces)?;
            let (name, header) = (&definition.name, header_path(&definition.name));
            if let Some(first) = names.insert(header.clone(), name) {
                return Err(GenerateError::Header { first: first.clone(), second: name.clone(), header });
            }
            let _ = texts.insert(header, headers.header(definition));
        }
        Ok(texts)
    }

    fn read(&self) -> Result<(Interfaces, Selection), GenerateError> {
        let mut definitions = Definitions::new();
        let mut selection = Selection::default();
        for folder in &self.packages {
            let package = package_name(folder)?;
            definitions.read_package(&package, folder)?;
            selection.packages.insert(package);
        }
        selection.read = selection.packages.clone();
        for file in &self.definitions {
            let (name, folder) = place(file)?;
            if selection.read.insert(name.package().to_owned()) {
                definitions.read_package(name.package(), &folder)?;
            }
            if !definitions.iter().any(|definition| definition.name == name) {
                return Err(GenerateError::Definition { file: file.clone() });
            }
            selection.types.insert(name);
        }
        while let Some((package, folder)) = self.next_needed(&definitions, &selection.read) {
            definitions.read_package(&package, &folder)?;
            selection.read.insert(package);
        }
        // Those that were not found are built in, or resolving fails.
        let needed: BTreeSet<String> = definitions.iter().flat_map(packages_in).map(str::to_owned).collect();
        selection.packages.extend(needed.difference(&selection.read).cloned());
        Ok((definitions.resolve()?, selection))
    }

    /// Returns a package that was not read although fields need it, and where it was found.
    fn next_needed(&self, definitions: &Definitions, read: &BTreeSet<String>) -> Option<(String, PathBuf)> {
        let needed: BTreeSet<&str> = definitions.iter().flat_map(packages_in).collect();
        needed.into_iter().filter(|package| !read.contains(*package)).find_map(|package| {
            let mut folders = self.search.iter().map(|folder| folder.join(package));
            Some((package.to_owned(), folders.find(|folder| folder.is_dir())?))
        })
    }
}

/// The definitions to generate.
#[derive(Default)]
struct Selection {
    /// Packages of which all is generated.
    packages: BTreeSet<String>,
    /// Single definitions.
    types: BTreeSet<TypeName>,
    /// All packages that were read.
    read: BTreeSet<String>,
}

impl Selection {
    fn has(&self, name: &TypeName) -> bool {
        self.packages.contains(name.package()) || self.types.contains(name)
    }
}

/// Returns the packages of types in a definition, also of those that ROS 2 derives from it.
fn packages_in(definition: &Definition) -> impl Iterator<Item = &str> {
    let (sections, derived): (Vec<&Section>, &[&str]) = match &definition.content {
        Content::Message(section) => (vec![section], &[]),
        Content::Service { request, response } => {
            (vec![request, response], &["builtin_interfaces", "service_msgs"])
        }
        Content::Action { goal, result, feedback } => (
            vec![goal, result, feedback],
            &["action_msgs", "builtin_interfaces", "service_msgs", "unique_identifier_msgs"],
        ),
    };
    let fields = sections.into_iter().flat_map(|section| &section.fields);
    let of_fields = fields.filter_map(|field| match &field.field_type.element {
        ElementType::Message(name) => Some(name.package()),
        _ => None,
    });
    of_fields.chain(derived.iter().copied())
}

fn last(path: Option<&Path>) -> Option<&str> {
    path.and_then(Path::file_name).and_then(|name| name.to_str())
}

/// Returns the type that a file defines, and the folder of its package.
fn place(file: &Path) -> Result<(TypeName, PathBuf), GenerateError> {
    let folder = file.parent().and_then(Path::parent);
    let name = || {
        let (base, extension) = last(Some(file))?.split_once('.')?;
        let kind = Kind::from_name(last(file.parent())?).filter(|kind| kind.name() == extension)?;
        TypeName::new(last(folder)?, kind, base).ok()
    };
    let (Some(name), Some(folder)) = (name(), folder) else {
        return Err(GenerateError::Definition { file: file.to_owned() });
    };
    Ok((name, folder.to_owned()))
}

/// The header of an action names types of `action_msgs`, which none of its fields has.
fn check_action(definition: &Definition, interfaces: &Interfaces) -> Result<(), GenerateError> {
    let is_action = matches!(definition.content, Content::Action { .. });
    let has_cancel = interfaces.definitions().any(|one| one.name.as_str() == "action_msgs/srv/CancelGoal");
    if is_action && !has_cancel {
        return Err(GenerateError::NoActionMessages { name: definition.name.clone() });
    }
    Ok(())
}
