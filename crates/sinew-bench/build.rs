//! Generates the messages of the benchmarks.

use sinew_build::{CppGenerator, GenerateError, Generator};
use std::env;
use std::path::Path;

fn main() -> Result<(), GenerateError> {
    println!("cargo::rerun-if-changed=build.rs");
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("interfaces/sinew_bench_msgs");
    let out = env::var_os("OUT_DIR").ok_or(GenerateError::NoBuildScript)?;
    let out = Path::new(&out);
    // Cargo's name of the profile is only in its folder: PROFILE/build/PACKAGE-HASH/out.
    if let Some(profile) = out.ancestors().nth(3).and_then(Path::file_name) {
        println!("cargo::rustc-env=SINEW_PROFILE={}", profile.display());
    }
    CppGenerator::new().package(&package).write_to(&out.join("cpp"))?;
    Generator::new().root("::sinew").package(package).write_to(out)
}
