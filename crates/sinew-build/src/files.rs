//! Names of folders, and files that are written.

use super::error::GenerateError;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the name of the package in this folder.
pub(super) fn package_name(folder: &Path) -> Result<String, GenerateError> {
    let name = folder.file_name().and_then(|name| name.to_str());
    name.map(str::to_owned).ok_or_else(|| GenerateError::PackageName { folder: folder.to_owned() })
}

/// Writes a file only if it changes, to avoid needless recompilation.
pub(super) fn write(path: PathBuf, text: &str) -> Result<(), GenerateError> {
    if fs::read(&path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    fs::write(&path, text).map_err(|error| GenerateError::Write { path, error })
}
