//! Reads packages, and writes their modules.

use crate::error::GenerateError;
use crate::files::{package_name, write};
use crate::names::{Names, identifier};
use crate::package;
use crate::ros::{self, RosInterfaces};
use sinew_msg::definition::{Definitions, ElementType, Interfaces, ResolveError};
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::path::{Path, PathBuf};

/// Generates the modules of these packages in a build script. The same as a [`Generator`] for these
/// folders that writes to Cargo's `OUT_DIR`.
///
/// # Errors
/// [`GenerateError`]. Returned from `main`, it stops the build and shows the file, line and column.
pub fn generate<P: Into<PathBuf>>(packages: impl IntoIterator<Item = P>) -> Result<(), GenerateError> {
    let generator =
        packages.into_iter().fold(Generator::new(), |generator, folder| generator.package(folder));
    let out = env::var_os("OUT_DIR").ok_or(GenerateError::NoBuildScript)?;
    generator.write_to(Path::new(&out))
}

/// Generates the modules of packages.
#[derive(Debug, Clone)]
pub struct Generator {
    root: String,
    /// The folders of the packages to generate.
    packages: Vec<PathBuf>,
    /// Folders of packages that other crates provide, with the path of their module.
    elsewhere: Vec<(PathBuf, String)>,
}

impl Default for Generator {
    fn default() -> Self {
        Self::new()
    }
}

impl Generator {
    /// Returns a generator without packages. In a build script it knows the ROS 2 packages of
    /// `sinew` or `sinew-interfaces`, if one of these is a dependency.
    #[must_use]
    pub fn new() -> Self {
        let ros = RosInterfaces::of_dependency();
        let elsewhere = ros.iter().flat_map(RosInterfaces::modules).collect();
        Self { root: ros::root().to_owned(), packages: Vec::new(), elsewhere }
    }

    /// Adds a package to generate. The folder has the name of the package.
    #[must_use]
    pub fn package(mut self, folder: impl Into<PathBuf>) -> Self {
        self.packages.push(folder.into());
        self
    }

    /// Takes the types of the package in this folder from another crate, where it is the module
    /// `path`, e.g. `::arm_interfaces::arm_msgs`.
    #[must_use]
    pub fn elsewhere(mut self, folder: impl Into<PathBuf>, path: &str) -> Self {
        self.elsewhere.push((folder.into(), path.to_owned()));
        self
    }

    /// Sets the path under which the generated code finds the items of `sinew-msg`, if another
    /// crate exports them. The default is `::sinew` in the build script of a package that depends
    /// on `sinew`, otherwise `::sinew_msg`.
    #[must_use]
    pub fn root(mut self, path: &str) -> Self {
        path.clone_into(&mut self.root);
        self
    }

    /// Writes the packages into this folder, and `interfaces.rs` with a module for each. Tells
    /// Cargo to run the build script again if a definition changes.
    ///
    /// # Errors
    /// [`GenerateError`].
    pub fn write_to(&self, folder: &Path) -> Result<(), GenerateError> {
        for package in self.packages.iter().chain(self.elsewhere.iter().map(|(package, _)| package)) {
            println!("cargo::rerun-if-changed={}", package.display());
        }
        let texts = self.texts()?;
        let mut modules = String::new();
        for (package, text) in &texts {
            // A package may be called `interfaces`.
            let path = folder.join(format!("{package}.package.rs"));
            // The folder's path may contain any character; the debug form is a valid Rust string.
            let name = identifier(package);
            modules += &format!(
                "/// The package `{package}`.\npub mod {name} {{\n    include!({:?});\n}}\n",
                path.display().to_string()
            );
            write(path, text)?;
        }
        write(folder.join("interfaces.rs"), &modules)
    }

    /// Returns the text of each package's module, by package name.
    ///
    /// # Errors
    /// [`GenerateError`], except [`Write`](GenerateError::Write).
    pub fn texts(&self) -> Result<BTreeMap<String, String>, GenerateError> {
        let mut definitions = Definitions::new();
        let mut own = BTreeSet::new();
        for folder in &self.packages {
            let package = package_name(folder)?;
            definitions.read_package(&package, folder)?;
            own.insert(package);
        }
        let mut elsewhere = BTreeMap::new();
        for (folder, path) in &self.elsewhere {
            let package = package_name(folder)?;
            if !own.contains(&package) {
                definitions.read_package(&package, folder)?;
                elsewhere.insert(package, path.clone());
            }
        }
        let is_known = |package: &str| own.contains(package) || elsewhere.contains_key(package);
        let ros = RosInterfaces::of_dependency();
        let hinted = |error| ros::with_hint(error, ros.as_ref(), is_known);
        let interfaces = definitions.resolve().map_err(hinted)?;
        check_provided(&own, &interfaces, is_known).map_err(hinted)?;
        let names = Names::new(&interfaces, elsewhere.clone())?;
        let mut generation = package::Generation::new(&self.root, &interfaces, names);
        Ok(own.iter().map(|package| (package.clone(), generation.package(package))).collect())
    }
}

/// Checks that each type of a field is generated now or comes from another crate. Every set of
/// definitions has the types built in that only derived types need; they are ROS 2's all the same,
/// and generated here they would be types beside those of `sinew-interfaces`.
fn check_provided(
    own: &BTreeSet<String>,
    interfaces: &Interfaces,
    is_known: impl Fn(&str) -> bool,
) -> Result<(), ResolveError> {
    for interface in interfaces.iter().filter(|interface| own.contains(interface.name.package())) {
        for field in &interface.fields {
            if let ElementType::Message(unknown) = &field.field_type.element
                && !is_known(unknown.package())
            {
                return Err(ResolveError::Unknown {
                    place: field.place.clone(),
                    name: interface.name.clone(),
                    field: field.name.clone(),
                    unknown: unknown.clone(),
                    hint: format!("add the definitions of {}", unknown.package()).into(),
                });
            }
        }
    }
    Ok(())
}
