//! What is compiled: the nodes of C and C++, and the program that makes nodes.

use std::path::PathBuf;
use std::process::Command;

use sinew::Message as _;
use sinew_bench::languages::{Language, Toolchain};
use sinew_build::CppGenerator;
use sinew_interfaces::DEFINITIONS;
use sinew_interfaces::sensor_msgs::msg::Image;

use super::counts::SIZE;
use crate::error::Error;

/// A node of the demonstration: its component and its name.
#[derive(Clone, Copy)]
pub(super) struct Part {
    component: &'static str,
    pub(super) name: &'static str,
}

/// All nodes, in the order in which they start: what an image comes to is there before it.
pub(super) const PARTS: [Part; 3] = [
    Part { component: "demo::Viewer", name: "viewer" },
    Part { component: "demo::Filter", name: "filter" },
    Part { component: "sinew::TestCamera", name: "camera" },
];

/// The compiled files.
pub(super) struct Built {
    /// The program that makes nodes.
    container: PathBuf,
    /// Shared libraries with the components of C++ and C.
    libraries: [PathBuf; 2],
}

impl Built {
    pub(super) fn compile(toolchain: &Toolchain) -> Result<Self, Error> {
        toolchain.add("image.h", include_str!("../../../demo/image.h"))?;
        // The headers of ROS 2's messages that the filter includes, from their definitions.
        let mut generator = CppGenerator::new();
        for name in ["builtin_interfaces/msg/Time", "std_msgs/msg/Header", "sensor_msgs/msg/Image"] {
            let text = DEFINITIONS.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text);
            generator = generator.definition(toolchain.add(&format!("interfaces/{name}.msg"), text)?);
        }
        for (path, text) in generator.texts()? {
            toolchain.add(&path, &text)?;
        }
        let hash = Image::ENCODING.map_or_else(String::new, |encoding| encoding.hash.to_string());
        let hash = format!("-DIMAGE_HASH=\"{hash}\"");
        let (filter, viewer) =
            (include_str!("../../../demo/filter.cpp"), include_str!("../../../demo/viewer.c"));
        let container = include_str!("../../../demo/container.c");
        Ok(Self {
            container: toolchain.compile(Language::C, "container.c", container)?,
            libraries: [
                toolchain.compile_with(Language::Cpp, "filter.cpp", filter, &["-fPIC", "-shared"])?,
                toolchain.compile_with(Language::C, "viewer.c", viewer, &["-fPIC", "-shared", &hash])?,
            ],
        })
    }

    /// Returns the command of a process with some nodes. The camera waits for its start.
    pub(super) fn command(&self, parts: &[Part], rate: f64) -> Command {
        let mut command = Command::new(&self.container);
        for library in &self.libraries {
            command.arg("--library").arg(library);
        }
        for Part { component, .. } in parts {
            command.args(["--component", component]);
        }
        command.arg("--ros-args");
        if let [Part { name, .. }] = parts {
            command.arg("-r").arg(format!("sinew_container:__node:={name}_process"));
        }
        if parts.iter().any(|part| part.name == "camera") {
            let values = [("width", SIZE.0.to_string()), ("height", SIZE.1.to_string())];
            let values =
                values.into_iter().chain([("rate", format!("{rate:?}")), ("running", "false".into())]);
            for (parameter, value) in values {
                command.arg("-p").arg(format!("camera:{parameter}:={value}"));
            }
        }
        command
    }
}
