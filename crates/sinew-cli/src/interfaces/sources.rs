//! The sources of definitions: folders that the user names, those of a ROS 2 installation, and
//! those built into the command.

use sinew_interfaces::DEFINITIONS as BUILT_IN;
use sinew_msg::definition::{Interfaces, Packages, ReadError, TypeName};
use std::collections::{BTreeMap, BTreeSet};

use crate::cli::interfaces::DefinitionOptions;
use crate::error::TypesError;

/// The available packages.
pub(crate) struct PackageSources {
    packages: Packages,
    /// The searched sources, for errors.
    looked: Vec<String>,
}

impl PackageSources {
    /// Finds packages.
    pub(crate) fn open(options: &DefinitionOptions) -> Result<Self, TypesError> {
        let (mut packages, mut looked) = (Packages::new(BUILT_IN), Vec::new());
        let built_in = packages.names().len();
        for folder in &options.interfaces {
            if packages.add(folder).is_empty() {
                return Err(TypesError::NoPackages { path: folder.clone() });
            }
            looked.push(folder.display().to_string());
        }
        let is_set = packages.add_installed();
        looked.push(if is_set { "AMENT_PREFIX_PATH" } else { "AMENT_PREFIX_PATH (not set)" }.to_owned());
        looked.push(format!("the {built_in} packages built in"));
        Ok(Self { packages, looked })
    }

    /// Returns the searched sources.
    pub(super) fn looked(&self) -> String {
        self.looked.join(", ")
    }

    /// Returns the names of all defined types.
    pub(crate) fn names(&self) -> Vec<TypeName> {
        self.packages().into_iter().flat_map(|package| self.packages.types(package)).collect()
    }

    /// Returns the names of all packages.
    pub(super) fn packages(&self) -> BTreeSet<&str> {
        self.packages.names()
    }

    /// Returns `true` if the type, or the one that it is derived from, is defined.
    pub(crate) fn has(&self, name: &TypeName) -> bool {
        self.packages.has(name)
    }

    /// Returns the text of the file that defines the type.
    pub(crate) fn text(&self, name: &TypeName) -> Result<Option<String>, TypesError> {
        Ok(self.packages.text(name)?.map(Into::into))
    }

    /// Returns the stubs of a package for Python: the names of the files and their texts.
    pub(super) fn stubs(&self, package: &str) -> Result<BTreeMap<String, String>, TypesError> {
        Ok(sinew_build::python_stubs(&self.packages, package)?)
    }

    /// Loads the definition of a type, and those of all types in it.
    pub(crate) fn load(&self, name: &TypeName) -> Result<Interfaces, ReadError> {
        self.packages.load(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_built_in_is_right() {
        let sources = PackageSources::open(&DefinitionOptions { interfaces: Vec::new() }).unwrap();
        assert!(BUILT_IN.len() >= 235);
        for name in sources.names() {
            assert!(sources.load(&name).unwrap().find(&name).is_some());
        }
        assert!(sources.has(&"std_srvs/srv/SetBool_Request".parse().unwrap()));
        assert!(!sources.has(&"std_srvs/srv/Nothing".parse().unwrap()));
        let string: TypeName = "std_msgs/msg/String".parse().unwrap();
        assert!(sources.text(&string).unwrap().unwrap().contains("string data"));
    }
}
