//! Generates the packages whose features are on.

use sinew_msg::build::{GenerateError, generate};
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), GenerateError> {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("interfaces");
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut packages: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|package| is_on(package))
        .collect();
    packages.sort();
    // For `sinew_msg::build` in the build scripts of dependents.
    println!("cargo::metadata=FOLDER={}", folder.display());
    println!("cargo::metadata=PACKAGES={}", packages.join(","));
    generate(packages.iter().map(|package| folder.join(package)))
}

/// Whether the package's feature is on.
fn is_on(package: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{}", package.to_uppercase())).is_some()
}
