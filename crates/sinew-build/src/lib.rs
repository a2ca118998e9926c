//! Generates Rust from interface definitions, in a build script.
//!
//! `Cargo.toml` of the package (`docs/book/messages.md` in Sinew's repository goes through a whole
//! program):
//!
//! ```toml
//! [dependencies]
//! sinew = { version = "0.1", features = ["std_msgs", "service_msgs"] }
//!
//! [build-dependencies]
//! sinew-build = "0.1"
//! ```
//!
//! (Before the first release, `path = ".."` replaces the version.) `build.rs`:
//!
//! ```no_run
//! fn main() -> Result<(), sinew_build::GenerateError> {
//!     sinew_build::generate(["interfaces/arm_msgs"])
//! }
//! ```
//!
//! And the library:
//!
//! ```text
//! sinew::include_interfaces!(); // pub mod arm_msgs { pub mod msg { pub struct Joint { .. } } }
//! ```
//!
//! A folder has the name of its package and contains `msg/*.msg`, `srv/*.srv` and
//! `action/*.action`. ROS 2 packages that the definitions need come from the crate `sinew`, with a
//! feature for each; services need `service_msgs`. A crate that contains only interfaces may depend
//! on `sinew-msg` and `sinew-interfaces` instead, and call `sinew_msg::include_interfaces!()`.
//! These crates must be direct dependencies: Cargo tells build scripts nothing about indirect ones.
//!
//! A module with types that are [`Plain`] contains `unsafe impl`s and allows `unsafe_code` for
//! itself, so it doesn't compile in a crate with `#![forbid(unsafe_code)]`. Put the interfaces into
//! a separate crate.
//!
//! | definition | Rust |
//! |---|---|
//! | a message | a struct with public fields, in the package's module `msg`; its constants |
//! | | its default values as `Default` |
//! | | [`Message`], and [`Plain`] if it is encoded as it is in memory |
//! | | [`Stamped`], if it has a `header` |
//! | | [`Viewed`], with a struct `JointView` that borrows from an encoded message |
//! | | [`Built`], with `JointLengths` and `JointParts`, if it contains sequences of numbers |
//! | a service `Move` | [`Service`] for an empty type `Move` |
//! | | `MoveRequest`, `MoveResponse` and `MoveEvent` |
//! | an action `Reach` | [`Action`] for an empty type `Reach` |
//! | | `ReachGoal`, `ReachResult`, `ReachFeedback` and the types that ROS 2 derives from these |
//!
//! Names are those of the definitions in camel case. If that would be the name of another
//! definition, the name contains an underscore (`Move_Request`). Fields named like a keyword are
//! raw identifiers (`r#type`).
//!
//! [`Message`]: sinew_msg::Message
//! [`Plain`]: sinew_msg::Plain
//! [`Stamped`]: sinew_msg::Stamped
//! [`Viewed`]: sinew_msg::view::Viewed
//! [`Built`]: sinew_msg::loan::Built
//! [`Service`]: sinew_msg::Service
//! [`Action`]: sinew_msg::Action

mod code;
mod comment;
mod expression;
mod image;
mod layout;
mod loan;
mod message;
mod names;
mod package;
mod ros;
mod services;
mod view;

use names::{Names, identifier};
use ros::RosInterfaces;
use sinew_msg::definition::{Definitions, ElementType, Interfaces, ReadError, ResolveError, TypeName};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fmt, fs, io};

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
            let path = folder.join(format!("{package}.rs"));
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
        let interfaces =
            definitions.resolve().map_err(|error| ros::with_hint(error, ros.as_ref(), is_known))?;
        add_needed(&mut own, &interfaces, &elsewhere);
        let names = Names::new(&interfaces, elsewhere)?;
        let mut generation = package::Generation::new(&self.root, &interfaces, names);
        Ok(own.into_iter().map(|package| (package.clone(), generation.package(&package))).collect())
    }
}

/// Adds the packages that only derived types need; every set of definitions has them built in.
fn add_needed(own: &mut BTreeSet<String>, interfaces: &Interfaces, elsewhere: &BTreeMap<String, String>) {
    let mut unseen: Vec<String> = own.iter().cloned().collect();
    while let Some(package) = unseen.pop() {
        let types = interfaces.iter().filter(|interface| interface.name.package() == package);
        for field in types.flat_map(|interface| &interface.fields) {
            if let ElementType::Message(name) = &field.field_type.element
                && !elsewhere.contains_key(name.package())
                && own.insert(name.package().to_owned())
            {
                unseen.push(name.package().to_owned());
            }
        }
    }
}

fn package_name(folder: &Path) -> Result<String, GenerateError> {
    let name = folder.file_name().and_then(|name| name.to_str());
    name.map(str::to_owned).ok_or_else(|| GenerateError::PackageName { folder: folder.to_owned() })
}

/// Writes a file only if it changes, to avoid needless recompilation.
fn write(path: PathBuf, text: &str) -> Result<(), GenerateError> {
    if fs::read(&path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    fs::write(&path, text).map_err(|error| GenerateError::Write { path, error })
}

/// The reason why code could not be generated. `Debug` shows the same sentence, for `main` to
/// return.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// A package's definitions cannot be read, or a definition is wrong.
    #[error(transparent)]
    Read(Box<ReadError>),
    /// The definitions don't belong together.
    #[error(transparent)]
    Resolve(Box<ResolveError>),
    /// The folder has no name to use as the package name.
    #[error("{folder:?} has no name that a package could have; give a folder that is called as its package")]
    PackageName {
        /// The folder.
        folder: PathBuf,
    },
    /// The name is reserved in Rust, even as a raw identifier.
    #[error(
        "{file}:1:1: found a definition of `{}`, expected another name, since Rust uses that; rename the file",
        .name.base()
    )]
    Name {
        /// The type.
        name: TypeName,
        /// The file of its definition.
        file: String,
    },
    /// A file cannot be written.
    #[error("{path} can't be written: {error}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// `OUT_DIR` is not set.
    #[error(
        "there is no OUT_DIR; call this in a build script, or write to a folder of your choice with `Generator`"
    )]
    NoBuildScript,
}

impl From<ReadError> for GenerateError {
    fn from(error: ReadError) -> Self {
        Self::Read(Box::new(error))
    }
}

impl From<ResolveError> for GenerateError {
    fn from(error: ResolveError) -> Self {
        Self::Resolve(Box::new(error))
    }
}

impl fmt::Debug for GenerateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
