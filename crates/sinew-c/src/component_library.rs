//! Shared libraries with components.

use crate::component::{SINEW_COMPONENT_ABI, components, sinew_component_library};
use crate::status::{Failure, Result};
use crate::structure::structure;
use crate::version::sinew_version;
use sinew::error::ErrorCode;
use sinew_component::Component;
use std::ffi::{CStr, CString, c_void};
use std::path::{Path, PathBuf};

/// Loads a shared library, for ever, and returns its components.
pub(crate) fn load(path: &str) -> Result<Vec<Component>> {
    let failure = |sentence: std::fmt::Arguments<'_>| Failure::new(ErrorCode::InvalidLibrary, sentence);
    let name = CString::new(path).map_err(|_| failure(format_args!("{path:?} is no name of a file")))?;
    // SAFETY: the operator names the library, its constructors run as those of any library.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if library.is_null() {
        return Err(failure(format_args!("the library {path} can't be loaded: {}", error())));
    }
    // SAFETY: the handle of a library that is loaded, and never unloaded.
    let symbol = unsafe { libc::dlsym(library, c"sinew_components".as_ptr()) };
    if symbol.is_null() {
        let remedy = "write SINEW_COMPONENTS_REGISTER_NODE(..), or export the function sinew_components";
        return Err(failure(format_args!("{path} has no components for Sinew: {remedy}")));
    }
    type Table = unsafe extern "C" fn() -> *const sinew_component_library;
    // SAFETY: a function of this type has the name, as the header says.
    let table = unsafe { std::mem::transmute::<*mut c_void, Table>(symbol) };
    // SAFETY: as above.
    let table = unsafe { table() };
    if table.is_null() {
        return Err(failure(format_args!("{path} has no components: its sinew_components returns null")));
    }
    // SAFETY: the library's structure, which begins with its size and lives as long as the library.
    let table = unsafe { structure(table) }?;
    if table.abi != SINEW_COMPONENT_ABI {
        return Err(failure(format_args!(
            "{path} was compiled with a header for components of the form {}, but this program knows form {SINEW_COMPONENT_ABI}: build both with one version of Sinew",
            table.abi
        )));
    }
    let version = table.version.ok_or_else(|| Failure::null("version"))?();
    if version != sinew_version() {
        return Err(another_copy(path, version));
    }
    // SAFETY: the library's list, which lives as long as the library.
    unsafe { components(table.components) }
}

/// The library's calls would go to another copy of Sinew, which doesn't know the container's
/// context.
fn another_copy(path: &str, version: *const std::ffi::c_char) -> Failure {
    let theirs = if version.is_null() {
        "?".into()
    } else {
        // SAFETY: a text that lives as long as the process, as `sinew_version` says.
        unsafe { CStr::from_ptr(version) }.to_string_lossy()
    };
    let sentence = format_args!(
        "{path} has a copy of Sinew of its own, version {theirs}, beside version {} of this program: link it with the shared library libsinew that the program uses",
        env!("CARGO_PKG_VERSION")
    );
    Failure::new(ErrorCode::InvalidLibrary, sentence)
}

/// Returns the sentence of the linker's last failure.
fn error() -> String {
    // SAFETY: it takes nothing; the text is valid until the thread's next call of the linker.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "no reason is known".to_owned();
    }
    // SAFETY: as above.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Loads the libraries in which a package has a component: of a name with a slash, that file; else
/// those that ROS 2's index of packages names for the type, or for all types.
pub(crate) fn of_package(package: &str, type_name: Option<&str>) -> Result<Vec<Component>> {
    if package.contains('/') {
        return load(package);
    }
    let prefixes = std::env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    let mut found = Vec::new();
    for prefix in std::env::split_paths(&prefixes).filter(|prefix| !prefix.as_os_str().is_empty()) {
        for path in listed(&prefix, package, type_name) {
            if !found.contains(&path) {
                found.push(path);
            }
        }
    }
    if found.is_empty() {
        let what = type_name.map_or_else(String::new, |name| format!(" `{name}`"));
        let sentence = format_args!(
            "the package {package} lists no component{what} in share/ament_index/resource_index/rclcpp_components of a directory in AMENT_PREFIX_PATH"
        );
        return Err(Failure::new(ErrorCode::InvalidLibrary, sentence));
    }
    let mut all = Vec::new();
    for path in found {
        all.extend(load(&path.to_string_lossy())?);
    }
    Ok(all)
}

/// Returns the libraries in a package's list of components: lines of type and file.
fn listed(prefix: &Path, package: &str, type_name: Option<&str>) -> Vec<PathBuf> {
    let list = prefix.join("share/ament_index/resource_index/rclcpp_components").join(package);
    let text = std::fs::read_to_string(list).unwrap_or_default(); // most prefixes have other packages
    let lines = text.lines().filter_map(|line| line.split_once(';'));
    let wanted = lines.filter(|(listed, _)| type_name.is_none_or(|name| name == *listed));
    wanted.map(|(_, file)| prefix.join(file)).collect()
}
