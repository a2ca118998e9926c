//! Generates the messages of the benchmarks.

use sinew_build::{GenerateError, Generator};
use std::env;
use std::path::Path;

fn main() -> Result<(), GenerateError> {
    println!("cargo::rerun-if-changed=build.rs");
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("interfaces/sinew_bench_msgs");
    let out = env::var_os("OUT_DIR").ok_or(GenerateError::NoBuildScript)?;
    Generator::new().root("::sinew").package(package).write_to(Path::new(&out))
}
