//! The ROS 2 packages in the crate `sinew-interfaces`.

use sinew_msg::definition::{ResolveError, TypeName};
use std::env;
use std::path::PathBuf;

/// All packages; each is a feature of the crate.
const PACKAGES: [&str; 24] = [
    "action_msgs",
    "builtin_interfaces",
    "composition_interfaces",
    "diagnostic_msgs",
    "example_interfaces",
    "geometry_msgs",
    "lifecycle_msgs",
    "nav_msgs",
    "rcl_interfaces",
    "rosbag2_interfaces",
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

/// A crate that announces its packages to the build scripts of its dependents.
#[derive(Clone, Copy)]
struct Source {
    /// The crate's `links` key, in capitals.
    links: &'static str,
    /// The crate's name in `Cargo.toml`.
    dependency: &'static str,
    /// The path of the packages' modules.
    modules: &'static str,
}

/// `sinew` comes first: it exports everything that generated code names, so a program needs no
/// other dependency.
const SOURCES: [Source; 2] = [
    Source { links: "SINEW", dependency: "sinew", modules: "::sinew::interfaces" },
    Source { links: "SINEW_INTERFACES", dependency: "sinew-interfaces", modules: "::sinew_interfaces" },
];

/// Returns the path under which generated code finds the items of `sinew-msg`: it depends on
/// whether the package depends on `sinew`.
pub(super) fn root() -> &'static str {
    if env::var_os("DEP_SINEW_FOLDER").is_some() { "::sinew" } else { "::sinew_msg" }
}

/// The information that the build script of `sinew` or `sinew-interfaces` passes to those of its
/// dependents.
pub(super) struct RosInterfaces {
    source: Source,
    /// Folder of all its packages, whichever features are enabled.
    folder: PathBuf,
    /// The packages with enabled features.
    packages: String,
}

impl RosInterfaces {
    /// Returns `None` if neither crate is a dependency.
    pub(super) fn of_dependency() -> Option<Self> {
        SOURCES.into_iter().find_map(|source| {
            let folder = env::var_os(format!("DEP_{}_FOLDER", source.links))?.into();
            let packages = env::var(format!("DEP_{}_PACKAGES", source.links)).ok()?;
            Some(Self { source, folder, packages })
        })
    }

    /// Returns the folders of the packages with enabled features, and the paths of their modules.
    pub(super) fn modules(&self) -> impl Iterator<Item = (PathBuf, String)> {
        let packages = self.packages.split(',').filter(|package| !package.is_empty());
        packages.map(|package| (self.folder.join(package), format!("{}::{package}", self.source.modules)))
    }

    fn has(&self, name: &TypeName) -> bool {
        self.folder.join(format!("{name}.{}", name.kind())).is_file()
    }
}

/// Adds a hint to the error of an unknown type, if `sinew-interfaces` has the type. `is_known`
/// returns whether there are definitions of a package.
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
            format!("turn on the feature `{package}` of {}", interfaces.source.dependency).into()
        }
        Some(interfaces) => {
            format!("{package} of {} has no message of this name", interfaces.source.dependency).into()
        }
        None => format!("add sinew with its feature `{package}` to the dependencies").into(),
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
        let [sinew, interfaces] =
            SOURCES.map(|source| RosInterfaces { source, folder: folder(), packages: "std_msgs".to_owned() });
        let there = Some(&interfaces);
        let feature = "turn on the feature `nav_msgs` of sinew-interfaces";
        assert_eq!(hint("nav_msgs/Odometry x", there), feature);
        assert_eq!(hint("nav_msgs/Odometry x", Some(&sinew)), "turn on the feature `nav_msgs` of sinew");
        let feature = "turn on the feature `sensor_msgs` of sinew-interfaces";
        assert_eq!(hint("sensor_msgs/Image x", there), feature); // not: perhaps `a/Image` is meant
        let dependency = "add sinew with its feature `nav_msgs` to the dependencies";
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
        let modules = |source: Source, packages: &str| -> Vec<String> {
            let interfaces = RosInterfaces { source, folder: folder.clone(), packages: packages.to_owned() };
            interfaces.modules().map(|(folder, path)| format!("{} {path}", folder.display())).collect()
        };
        let [sinew, interfaces] = SOURCES;
        assert_eq!(modules(interfaces, "a,b"), ["i/a ::sinew_interfaces::a", "i/b ::sinew_interfaces::b"]);
        assert_eq!(modules(sinew, "a,b"), ["i/a ::sinew::interfaces::a", "i/b ::sinew::interfaces::b"]);
        assert!(modules(sinew, "").is_empty());
    }
}
