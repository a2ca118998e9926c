//! Files for viewers: meshes and textures of packages.

use std::fs;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

/// The longest file that is sent, in bytes.
const LONGEST: u64 = 64 << 20;

/// Reads the file of `package://PACKAGE/PATH`, below one of the directories: in `PACKAGE`, or in
/// `share/PACKAGE` as in an installation of ROS 2.
///
/// # Errors
/// The problem as a sentence.
pub(crate) fn read(uri: &str, directories: &[PathBuf]) -> Result<Vec<u8>, String> {
    let Some(path) = uri.strip_prefix("package://") else {
        return Err(format!("{uri} can't be had: only package://PACKAGE/PATH can"));
    };
    let path = Path::new(path);
    if !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(format!("{uri} is no path below a package"));
    }
    let places =
        directories.iter().flat_map(|directory| [directory.join(path), directory.join("share").join(path)]);
    let Some(found) = places.into_iter().find(|place| place.is_file()) else {
        return Err(format!("{uri} is not below the directories that viewers may read"));
    };
    // A link may lead out of the directory.
    let real = found.canonicalize().map_err(|error| format!("{uri}: {error}"))?;
    let is_below =
        |directory: &PathBuf| directory.canonicalize().is_ok_and(|directory| real.starts_with(directory));
    if !directories.iter().any(is_below) {
        return Err(format!("{uri} leads out of the directories that viewers may read"));
    }
    let mut data = Vec::new();
    let file = fs::File::open(&real).map_err(|error| format!("{uri}: {error}"))?;
    file.take(LONGEST + 1).read_to_end(&mut data).map_err(|error| format!("{uri}: {error}"))?;
    if data.len() as u64 > LONGEST {
        return Err(format!("{uri} is longer than {} MiB", LONGEST >> 20));
    }
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_below_the_directories_are_read() {
        let base = tempfile::tempdir().unwrap();
        let (shown, secret) = (base.path().join("shown"), base.path().join("secret"));
        fs::create_dir_all(shown.join("arm/meshes")).unwrap();
        fs::create_dir_all(shown.join("share/leg")).unwrap();
        fs::write(shown.join("arm/meshes/a.stl"), "solid").unwrap();
        fs::write(shown.join("share/leg/b.stl"), "leg").unwrap();
        fs::write(&secret, "secret").unwrap();
        std::os::unix::fs::symlink(&secret, shown.join("arm/link")).unwrap();
        let directories = [shown];
        assert_eq!(read("package://arm/meshes/a.stl", &directories).unwrap(), b"solid");
        assert_eq!(read("package://leg/b.stl", &directories).unwrap(), b"leg");
        for (uri, problem) in [
            ("package://arm/../../secret", "no path below"),
            ("package:///etc/passwd", "no path below"),
            ("package://arm/link", "leads out"),
            ("package://arm/nothing", "is not below"),
            ("file:///etc/passwd", "only package://"),
        ] {
            let error = read(uri, &directories).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }
}
