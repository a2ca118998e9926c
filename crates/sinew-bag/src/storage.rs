//! Opening the files of a bag, of every format.

use crate::attachment::{Attachment, MetadataRecord};
use crate::error::BagError;
use crate::mcap_file::McapFile;
use crate::metadata::BagMetadata;
#[cfg(feature = "sqlite3")]
use crate::sqlite::SqliteFile;
use crate::stored_file::{BagFile, FileCursor, Found, Last, StoredFile};
use crate::topic::BagTopic;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::{NamedTempFile, TempPath};

/// The first bytes of a file that rosbag2 has compressed as a whole.
const ZSTD: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];
/// The first bytes of a database.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// The ends of the names of files that a bag may have.
const EXTENSIONS: [&str; 4] = [".mcap", ".db3", ".mcap.zstd", ".db3.zstd"];

/// Opens a file. Its format follows from its first bytes.
pub(crate) fn open(path: &Path) -> Result<Box<dyn StoredFile>, BagError> {
    if !begins_with(path, ZSTD)? {
        return open_plain(path, path);
    }
    let size = std::fs::metadata(path).map_err(BagError::file("open", path))?.len();
    let (temporary, problem) = uncompress(path)?;
    let file = open_plain(&temporary, path)?;
    // A mapped file needs no name, so nothing stays behind if this process is killed.
    let temporary = begins_with(&temporary, SQLITE)?.then_some(temporary);
    Ok(Box::new(Uncompressed { file, size, problem, _temporary: temporary }))
}

/// Opens a file that is named `name` in errors.
fn open_plain(path: &Path, name: &Path) -> Result<Box<dyn StoredFile>, BagError> {
    if !begins_with(path, SQLITE)? {
        return Ok(Box::new(Arc::new(McapFile::open(path, name)?)));
    }
    #[cfg(feature = "sqlite3")]
    return Ok(Box::new(SqliteFile::open(path, name)?));
    #[cfg(not(feature = "sqlite3"))]
    Err(BagError::Unsupported {
        path: name.to_owned(),
        what: "the storage",
        name: "sqlite3".to_owned(),
        hint: "only programs with the feature `sqlite3` of sinew-bag read it, as the command `sinew` does",
    })
}

fn begins_with(path: &Path, magic: &[u8]) -> Result<bool, BagError> {
    let mut begin = Vec::new();
    let length = magic.len() as u64;
    File::open(path)
        .and_then(|file| file.take(length).read_to_end(&mut begin))
        .map_err(BagError::file("open", path))?;
    Ok(begin == magic)
}

/// Uncompresses a file into the directory for temporary files. The end of a file that was cut off
/// is missing there as well: the place in the bag's file and the problem say so.
fn uncompress(path: &Path) -> Result<(TempPath, Option<(u64, String)>), BagError> {
    let mut from = File::open(path).and_then(zstd::Decoder::new).map_err(BagError::file("open", path))?;
    let directory = std::env::temp_dir();
    let failed = |source| BagError::File { action: "uncompress a bag into", path: directory.clone(), source };
    let mut file = NamedTempFile::with_prefix("sinew-bag-").map_err(failed)?;
    let damage = copy(&mut from, &mut file).map_err(failed)?;
    let at = from.get_mut().stream_position().unwrap_or_default();
    let problem = damage.map(|error| (at, format!("the rest can't be uncompressed: {error}")));
    Ok((file.into_temp_path(), problem))
}

/// Copies until the end, or until the input can't be read: returns why.
fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<Option<io::Error>> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return to.flush().map(|()| None),
            Ok(length) => to.write_all(&buffer[..length])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return to.flush().map(|()| Some(error)),
        }
    }
}

/// A file that was compressed as a whole.
#[derive(Debug)]
struct Uncompressed {
    file: Box<dyn StoredFile>,
    /// Its length as it is in the bag.
    size: u64,
    /// Why its end is missing, and the place in the bag's file.
    problem: Option<(u64, String)>,
    _temporary: Option<TempPath>,
}

impl Uncompressed {
    /// Adds the damage of the compressed form.
    fn with_own(&self, mut problems: Vec<BagError>) -> Vec<BagError> {
        let path = self.file.about().path;
        let own = self.problem.clone().map(|(at, problem)| BagError::Damaged { path, at, problem });
        problems.extend(own);
        problems
    }
}

impl StoredFile for Uncompressed {
    fn about(&self) -> BagFile {
        BagFile { size: self.size, compression: "zstd".to_owned(), ..self.file.about() }
    }

    fn topics(&self) -> Vec<(usize, BagTopic)> {
        self.file.topics()
    }

    fn metadata(&self) -> Option<BagMetadata> {
        self.file.metadata()
    }

    fn attachments(&self) -> Vec<Attachment> {
        self.file.attachments()
    }

    fn metadata_records(&self) -> Vec<MetadataRecord> {
        self.file.metadata_records()
    }

    fn losses(&self) -> BTreeMap<String, u64> {
        self.file.losses()
    }

    fn problems(&self) -> Vec<BagError> {
        self.with_own(self.file.problems())
    }

    fn check(&self) -> Vec<BagError> {
        self.with_own(self.file.check())
    }

    fn cursor(&self, topics: Vec<Option<usize>>) -> Box<dyn FileCursor> {
        self.file.cursor(topics)
    }

    fn latest(
        &self,
        topics: &[Option<usize>],
        wanted: &[usize],
        last: Last,
        problems: &mut Vec<BagError>,
    ) -> Vec<Found> {
        self.file.latest(topics, wanted, last, problems)
    }
}

/// Returns the files in a directory that a bag may have, in the order of the numbers in their
/// names. A compressed file that is there in its uncompressed form as well is left out.
pub(crate) fn files_in(directory: &Path) -> Result<Vec<PathBuf>, BagError> {
    let entries = std::fs::read_dir(directory)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(BagError::file("read", directory))?;
    let all: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    let mut paths: Vec<PathBuf> = all
        .iter()
        .filter(|path| is_file_of_bag(path))
        .filter(|path| !is_compressed(path) || !all.contains(&path.with_extension("")))
        .cloned()
        .collect();
    paths.sort_by_key(|path| numbers_in(path));
    Ok(paths)
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zstd")
}

/// Returns whether a file of this name may be one of a bag: MCAP or a database, perhaps compressed.
///
/// ```
/// assert!(sinew_bag::is_file_of_bag("drive_0.mcap".as_ref()));
/// assert!(!sinew_bag::is_file_of_bag("drive_0.mcap.new".as_ref()));
/// ```
#[must_use]
pub fn is_file_of_bag(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    EXTENSIONS.iter().any(|extension| name.ends_with(extension))
}

/// Splits a file's name into texts and numbers, so that `bag_10` comes after `bag_9`.
fn numbers_in(path: &Path) -> Vec<(String, u64)> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut parts = vec![(String::new(), 0_u64)];
    let mut in_number = false;
    for c in name.chars() {
        let digit = c.to_digit(10);
        if in_number && digit.is_none() {
            parts.push((String::new(), 0));
        }
        in_number = digit.is_some();
        if let Some((text, number)) = parts.last_mut() {
            match digit {
                Some(digit) => *number = number.saturating_mul(10).saturating_add(digit.into()),
                None => text.push(c),
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_ordered_by_their_numbers() {
        let mut names = ["bag_10.mcap", "bag_9.mcap", "bag_1_b.mcap", "bag_1_a.mcap"];
        names.sort_by_key(|name| numbers_in(name.as_ref()));
        assert_eq!(names, ["bag_1_a.mcap", "bag_1_b.mcap", "bag_9.mcap", "bag_10.mcap"]);
    }

    #[test]
    fn the_missing_end_of_a_compressed_file_is_a_problem() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("bag");
        let bag = crate::BagWriter::create(&path, crate::WriterOptions::default()).unwrap();
        bag.close().unwrap();
        let plain = std::fs::read(path.join("bag_0.mcap")).unwrap();
        let compressed = directory.path().join("a.mcap.zstd");
        // Two frames, so that the first one is whole.
        let (begin, end) = plain.split_at(plain.len() / 2);
        let whole = [begin, end].map(|part| zstd::encode_all(part, 1).unwrap()).concat();
        for (lost, problems) in [(0, 0), (1, 1)] {
            std::fs::write(&compressed, &whole[..whole.len() - lost]).unwrap();
            let found = open(&compressed).unwrap().problems();
            let own = found.iter().filter(|error| error.to_string().contains("can't be uncompressed"));
            assert_eq!(own.count(), problems, "{found:?}");
        }
    }

    #[test]
    fn a_compressed_file_beside_its_uncompressed_form_is_left_out() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["a_0.db3", "a_0.db3.zstd", "a_1.db3.zstd", "a_1.db3.zstd.part", "metadata.yaml"] {
            std::fs::write(directory.path().join(name), b"").unwrap();
        }
        let names: Vec<_> = files_in(directory.path())
            .unwrap()
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(names, ["a_0.db3", "a_1.db3.zstd"]);
    }
}
