//! Generates the packages with enabled features, with the feature `definitions` the table of all
//! definitions, and with `hashes` that of all hashes.

use sinew_build::{GenerateError, generate};
use sinew_msg::definition::Definitions;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("interfaces");
    let to = PathBuf::from(env::var_os("OUT_DIR").ok_or(GenerateError::NoBuildScript)?);
    if is_on("definitions") || is_on("hashes") {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    if is_on("definitions") {
        fs::write(to.join("definitions.rs"), table(&folder)?)?;
    }
    if is_on("hashes") {
        fs::write(to.join("hashes.rs"), hashes(&folder)?)?;
    }
    let names = sorted(&folder)?.into_iter().map(|package| name(&package));
    let packages: Vec<String> = names.filter(|package| is_on(package)).collect();
    // Read by `sinew_build` in the build scripts of dependents.
    println!("cargo::metadata=FOLDER={}", folder.display());
    println!("cargo::metadata=PACKAGES={}", packages.join(","));
    Ok(generate(packages.iter().map(|package| folder.join(package)))?)
}

/// Returns whether the feature, or the one with the package's name, is enabled.
fn is_on(feature: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{}", feature.to_uppercase())).is_some()
}

/// Returns the names and texts of all definitions, as a Rust slice.
fn table(folder: &Path) -> io::Result<String> {
    let mut text = "&[\n".to_owned();
    for package in sorted(folder)? {
        for kind in sorted(&package)?.into_iter().filter(|kind| kind.is_dir()) {
            for file in sorted(&kind)? {
                let (package, kind, base) = (name(&package), name(&kind), name(&file));
                let path = file.display().to_string();
                writeln!(text, "    (\"{package}/{kind}/{base}\", include_str!({path:?})),")
                    .map_err(io::Error::other)?;
            }
        }
    }
    Ok(text + "]")
}

/// Returns the names and hashes of all definitions, in order, as a Rust slice.
fn hashes(folder: &Path) -> Result<String, Box<dyn Error>> {
    let mut definitions = Definitions::new();
    for package in sorted(folder)? {
        definitions.read_package(&name(&package), &package)?;
    }
    let interfaces = definitions.resolve()?;
    let mut text = "&[\n".to_owned();
    for definition in interfaces.definitions() {
        let hash = interfaces.hash(&definition.name).ok_or("a definition without a type")?;
        writeln!(text, "    (\"{}\", sinew_msg::TypeHash::from_rihs01(\"{hash}\")),", definition.name)?;
    }
    Ok(text + "]")
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
