//! The packages of ROS 2 that the crate `sinew-interfaces` has.

use sinew_msg::definition::{ResolveError, TypeName};
use std::env;
use std::path::PathBuf;

/// All of them; each is a feature of the crate.
const PACKAGES: [&str; 23] = [
    "action_msgs",
    "builtin_interfaces",
    "composition_interfaces",
    "diagnostic_msgs",
    "example_interfaces",
    "geometry_msgs",
    "lifecycle_msgs",
    "nav_msgs",
    "rcl_interfaces",
    "rosgraph_msgs",
    "sensor_msgs",
    "service_msgs",
    "shape_msgs",
    "statistics_msgs",
    "std_msgs",
    "std_srvs",
    "stereo_msgs",
    "test_msgs",
    "tf2_msgs",
    "trajectory_msgs",
    "type_description_interfaces",
    "unique_identifier_msgs",
    "visualization_msgs",
];

/// What the build script of `sinew-interfaces` tells those of its dependents.
pub(super) struct RosInterfaces {
    /// Where all its packages are, whichever features are on.
    folder: PathBuf,
    /// Those whose features are on.
    packages: String,
}

impl RosInterfaces {
    /// `None` if the crate is not a dependency.
    pub(super) fn of_dependency() -> Option<Self> {
        let folder = env::var_os("DEP_SINEW_INTERFACES_FOLDER")?.into();
        Some(Self { folder, packages: env::var("DEP_SINEW_INTERFACES_PACKAGES").ok()? })
    }

    /// The folders of the packages whose features are on, and the paths of their modules.
    pub(super) fn modules(&self) -> impl Iterator<Item = (PathBuf, String)> {
        let packages = self.packages.split(',').filter(|package| !package.is_empty());
        packages.map(|package| (self.folder.join(package), format!("::sinew_interfaces::{package}")))
    }

    fn has(&self, name: &TypeName) -> bool {
        self.folder.join(format!("{name}.{}", name.kind())).is_file()
    }
}

/// Where to find an unknown type, if `sinew-interfaces` has it. `is_known` says whether there are
/// definitions of a package.
pub(super) fn with_hint(
    error: ResolveError,
    interfaces: Option<&RosInterfaces>,
    is_known: impl Fn(&str) -> bool,
) -> ResolveError {
    let ResolveError::Unknown { place, name, field, unknown, hint } = error else { return error };
    let package = unknown.package();
    let hint = match interfaces {
        _ if is_known(package) || !PACKAGES.contains(&package) => hint,
        Some(interfaces) if interfaces.has(&unknown) => {
            format!("turn on the feature `{package}` of sinew-interfaces").into()
        }
        Some(_) => format!("{package} of sinew-interfaces has no message of this name").into(),
        None => format!("add sinew-interfaces with its feature `{package}` to the dependencies").into(),
    };
    ResolveError::Unknown { place, name, field, unknown, hint }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_msg::definition::{Definition, Definitions};
    use std::fs;
    use std::path::Path;

    fn folder() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../sinew-interfaces/interfaces")
    }

    #[test]
    fn these_are_its_packages() {
        let entries = fs::read_dir(folder()).unwrap();
        let mut packages: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        packages.sort();
        assert_eq!(packages, PACKAGES);
    }

    #[test]
    fn an_unknown_type_is_found_in_its_packages() {
        let hint = |field: &str, interfaces: Option<&RosInterfaces>| {
            let mut definitions = Definitions::new();
            for (name, text) in [("a/msg/A", field), ("a/msg/Image", ""), ("std_msgs/msg/B", "")] {
                let definition = Definition::parse(&name.parse().unwrap(), name, text).unwrap();
                definitions.add(definition).unwrap();
            }
            let error = definitions.resolve().unwrap_err();
            match with_hint(error, interfaces, |package| ["a", "std_msgs"].contains(&package)) {
                ResolveError::Unknown { hint, .. } => hint.into_string(),
                other => panic!("{other}"),
            }
        };
        let interfaces = RosInterfaces { folder: folder(), packages: "std_msgs".to_owned() };
        let there = Some(&interfaces);
        let feature = "turn on the feature `nav_msgs` of sinew-interfaces";
        assert_eq!(hint("nav_msgs/Odometry x", there), feature);
        let feature = "turn on the feature `sensor_msgs` of sinew-interfaces";
        assert_eq!(hint("sensor_msgs/Image x", there), feature); // not: perhaps `a/Image` is meant
        let dependency = "add sinew-interfaces with its feature `nav_msgs` to the dependencies";
        assert_eq!(hint("nav_msgs/Odometry x", None), dependency);
        let nothing = "nav_msgs of sinew-interfaces has no message of this name";
        assert_eq!(hint("nav_msgs/Odometer x", there), nothing);
        assert_eq!(hint("std_msgs/Odometry x", there), "std_msgs has no message of this name");
        assert_eq!(hint("moveit_msgs/Grasp x", there), "add the definitions of moveit_msgs");
        assert_eq!(hint("moveit_msgs/Grasp x", None), "add the definitions of moveit_msgs");
    }

    #[test]
    fn modules_are_those_of_the_features_that_are_on() {
        let folder = PathBuf::from("i");
        let modules = |packages: &str| -> Vec<String> {
            let interfaces = RosInterfaces { folder: folder.clone(), packages: packages.to_owned() };
            interfaces.modules().map(|(folder, path)| format!("{} {path}", folder.display())).collect()
        };
        assert_eq!(modules("a,b"), ["i/a ::sinew_interfaces::a", "i/b ::sinew_interfaces::b"]);
        assert!(modules("").is_empty());
    }
}
