//! Generates C++ headers from interface definitions.

use clap::Parser;
use sinew_build::{CppGenerator, GenerateError};
use std::path::PathBuf;

/// Generates C++ headers from ROS 2's interface definitions
///
/// Each definition becomes a header, OUT/package/msg/name.hpp, with the structs of
/// rosidl_generator_cpp. A header that would be the same is left alone.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Folders of packages, called as the packages, or single definitions: package/msg/Name.msg
    #[arg(required = true, value_name = "PACKAGE")]
    packages: Vec<PathBuf>,

    /// The folder to write to, which programs have among their include directories
    #[arg(short, long, value_name = "FOLDER")]
    out: PathBuf,

    /// A folder of packages, e.g. /opt/ros/jazzy/share: types of fields are looked up there, and
    /// not generated
    #[arg(short = 'I', long, value_name = "FOLDER")]
    search: Vec<PathBuf>,
}

/// Returns the error for `main` to print.
fn main() -> Result<(), GenerateError> {
    let Arguments { packages, out, search } = Arguments::parse();
    let mut generator = search.into_iter().fold(CppGenerator::new(), CppGenerator::search);
    for package in packages {
        let is_definition =
            package.extension().is_some_and(|it| ["msg", "srv", "action"].iter().any(|kind| it == *kind));
        generator = if is_definition { generator.definition(package) } else { generator.package(package) };
    }
    generator.write_to(&out)
}
