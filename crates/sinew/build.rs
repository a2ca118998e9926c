//! Hands on what `sinew-interfaces` tells the build scripts of its dependents: Cargo tells them only of
//! direct dependencies, and a program has none but this crate.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for key in ["FOLDER", "PACKAGES"] {
        let name = format!("DEP_SINEW_INTERFACES_{key}");
        println!("cargo::rerun-if-env-changed={name}");
        if let Ok(value) = std::env::var(&name) {
            println!("cargo::metadata={key}={value}");
        }
    }
}
