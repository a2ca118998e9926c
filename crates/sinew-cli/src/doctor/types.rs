//! Checks the descriptions of types, which participants keep beside the domains.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use sinew_shm::Domain;

use super::finding::Finding;
use crate::interfaces::kept_in;
use sinew_bench::units::bytes;

const CHECK: &str = "types";

/// The content of the directory of descriptions.
#[derive(Debug, Default)]
struct Kept {
    files: usize,
    /// Memory of the files, in bytes.
    bytes: u64,
    /// Names of files that don't describe the type in their name.
    wrong: Vec<String>,
}

/// Counts the descriptions, and names invalid ones. Nothing is removed, with any options: a type
/// may be used in any domain, and its user has checked only once that the description exists.
pub(super) fn check(domain: &Domain) -> Finding {
    let directory = domain.descriptions();
    match look(domain, &directory) {
        Ok(kept) => kept.told(&directory),
        Err(error) if error.kind() == ErrorKind::NotFound => Finding::fine(CHECK, "no descriptions yet"),
        Err(error) => {
            let remedy =
                "tools can't read messages of types that they don't know; see the rights of the directory";
            Finding::advice(CHECK, format!("{}: {error}", directory.display()), remedy)
        }
    }
}

fn look(domain: &Domain, directory: &Path) -> std::io::Result<Kept> {
    let mut kept = Kept::default();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        kept.files += 1;
        kept.bytes += entry.metadata().as_ref().map_or(0, memory);
        if kept_in(domain, &name).is_none() {
            kept.wrong.push(name);
        }
    }
    kept.wrong.sort_unstable();
    Ok(kept)
}

/// Returns the size of a file. `stat` counts in blocks of 512 bytes.
fn memory(found: &Metadata) -> u64 {
    found.blocks() * 512
}

impl Kept {
    fn told(&self, directory: &Path) -> Finding {
        let Self { files, bytes: size, wrong } = self;
        let size = bytes(*size as f64);
        let Some(first) = wrong.first() else {
            let noun = if *files == 1 { "description" } else { "descriptions" };
            return Finding::fine(CHECK, format!("{files} {noun} ({size}), which stay for tools"));
        };
        let are = if wrong.len() == 1 { "is no description" } else { "are no descriptions" };
        Finding::advice(
            CHECK,
            format!(
                "{} of {files} files in {} {are} of the type whose hash is the name, {first} for one",
                wrong.len(),
                directory.display()
            ),
            "remove them; tools ignore them, and the next program with such a type writes the right one",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;
    use sinew_msg::description::TypeDescription;

    #[test]
    fn right_and_wrong_ones_are_told_apart() {
        let base = tempfile::tempdir_in("/dev/shm").unwrap();
        let domain = Domain::open(Some(base.path()), 0).unwrap();
        assert_eq!(check(&domain).found, "no descriptions yet");
        let description = TypeDescription::default();
        domain.keep_description(&description.hash().0, &description.to_json()).unwrap();
        let found = check(&domain);
        assert_eq!(found.state, State::Fine);
        assert!(found.found.starts_with("1 description (4.00 KB)"), "{found:?}");

        domain.keep_description(&[7; 32], &description.to_json()).unwrap();
        let found = check(&domain);
        assert_eq!(found.state, State::Advice);
        let name = "07".repeat(32) + ".json";
        assert!(found.found.starts_with("1 of 2 files in ") && found.found.contains(&name), "{found:?}");

        for other in ["note.txt", "ä.json", &("+7".repeat(32) + ".json"), &("AB".repeat(32) + ".json")] {
            fs::write(domain.descriptions().join(other), "").unwrap();
        }
        assert!(check(&domain).found.starts_with("5 of 6 files in "), "{:?}", check(&domain));
    }
}
