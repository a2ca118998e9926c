//! Passes on what `sinew-interfaces` reports to the build scripts of its dependents: Cargo passes
//! it only to direct dependents, and a program depends only on this crate.

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
