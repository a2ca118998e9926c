//! Looking for damage, and mending it.

use crate::error::BagError;
use crate::mcap_file::McapFile;
use crate::metadata::{self, BagMetadata, FileMetadata, TopicMetadata};
use crate::options::{StorageOptions, StoragePreset, WriterOptions};
use crate::reader::{BagReader, read_metadata};
use crate::selection::Selection;
use crate::storage::files_in;
use crate::stored_file::StoredFile;
use crate::topic::TopicDefinition;
use crate::writer::{OpenFile, replace_for_good};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reads a whole bag, and returns everything that is wrong with it: files that are missing, damaged
/// or without a summary, wrong checksums and indexes, and counts that differ from those in
/// `metadata.yaml`. An empty list: the bag is sound.
///
/// Blocks while the files are read; uses memory for one chunk.
///
/// # Errors
/// [`BagError`] if there is no bag, as [`BagReader::open`].
pub fn check(path: impl AsRef<Path>) -> Result<Vec<BagError>, BagError> {
    let reader = BagReader::open(path)?;
    let mut problems = Vec::new();
    for file in &reader.bag().files {
        problems.extend(file.check());
    }
    if reader.bag().has_compressed_messages {
        let is_of_message = |error: &BagError| matches!(error, BagError::DamagedMessage { .. });
        let errors = reader.messages(&Selection::all())?.filter_map(Result::err);
        problems.extend(errors.filter(is_of_message));
    }
    // Damage is in the list already; a missing file is not.
    let missing = reader.problems().iter().filter_map(|problem| match problem {
        BagError::File { path, source, .. } => Some(BagError::Metadata {
            path: path.clone(),
            problem: format!("metadata.yaml names this file, but it can't be opened: {source}"),
        }),
        _ => None,
    });
    problems.extend(missing);
    if reader.path().is_dir() {
        check_metadata(&reader, &mut problems);
    }
    Ok(problems)
}

fn check_metadata(reader: &BagReader, problems: &mut Vec<BagError>) {
    let path = reader.path().join(metadata::FILE_NAME);
    let mut problem = |problem| problems.push(BagError::Metadata { path: path.clone(), problem });
    let Some(metadata) = reader.metadata().filter(|_| path.exists()) else {
        return problem("it is missing: `reindex` makes it".to_owned());
    };
    let messages = reader.message_count();
    if metadata.message_count != messages {
        problem(format!("it counts {} messages, but the files have {messages}", metadata.message_count));
    }
    for topic in reader.topics() {
        let known = metadata.topics.iter().find(|known| known.name == topic.name);
        match known {
            None => problem(format!("it lacks the topic {}", topic.name)),
            Some(known) if known.message_count != topic.message_count => problem(format!(
                "it counts {} messages of {}, but the files have {}",
                known.message_count, topic.name, topic.message_count
            )),
            Some(_) => {}
        }
    }
}

/// The result of [`reindex`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Reindexed {
    /// The metadata that was written.
    pub metadata: BagMetadata,
    /// Names of the files that were written anew because they had no summary.
    pub rewritten: Vec<String>,
    /// Damage in them. The messages that it cost are not in the new files.
    pub lost: Vec<BagError>,
}

/// Mends the bag of a recorder that was killed: writes each file without a summary anew, with all
/// its topics and all messages that can be read, and makes `metadata.yaml` from the files.
///
/// The new file replaces the old one when it is complete, and needs as much room until then. It has
/// the old one's attachments and metadata records behind the messages.
///
/// # Errors
/// [`BagError::NotABag`] if the directory has no files of a bag; [`BagError::Unsupported`], with
/// nothing written, if one of them is no MCAP file or compressed as a whole, or if rosbag2 has
/// compressed each message: [`copy`](crate::copy) makes a sound bag of those. Otherwise
/// [`BagError`] if a file can't be read or written.
pub fn reindex(directory: impl AsRef<Path>) -> Result<Reindexed, BagError> {
    let directory = directory.as_ref();
    let (mut rewritten, mut lost) = (Vec::new(), Vec::new());
    let paths = mcap_files(directory)?;
    let known = read_metadata(directory).ok().flatten();
    if let Some(known) = &known {
        check_compression(known, &directory.join(metadata::FILE_NAME))?;
    }
    let mut files = Vec::new();
    for path in &paths {
        let file = Arc::new(McapFile::open(path, path)?);
        if let Some(own) = file.metadata() {
            check_compression(&own, path)?;
        }
        files.push(file);
    }
    // The losses up to the last flush: the end of the file, which would have them, is missing.
    let losses = BagMetadata::losses_of(known.as_ref());
    for file in files.into_iter().filter(|file| !file.index.is_from_summary) {
        rewrite(&file, &losses, &mut lost)?;
        rewritten.push(name_of(&file.path));
    }
    let reader = BagReader::of_files(directory, &paths)?;
    let metadata = describe(&reader);
    replace_for_good(directory, &metadata)?;
    Ok(Reindexed { metadata, rewritten, lost })
}

/// Returns the files in a directory, which must all be MCAP: only these have an index that can be
/// made anew, and the new metadata would not name the others.
fn mcap_files(directory: &Path) -> Result<Vec<PathBuf>, BagError> {
    let paths = files_in(directory)?;
    if paths.is_empty() {
        let why = "it has no files that end with `.mcap`";
        return Err(BagError::NotABag { path: directory.to_owned(), why });
    }
    match paths.iter().find(|path| path.extension().is_none_or(|extension| extension != "mcap")) {
        None => Ok(paths),
        Some(other) => Err(BagError::Unsupported {
            path: directory.to_owned(),
            what: "reindexing",
            name: name_of(other),
            hint: "all files of the bag must end with `.mcap`; `sinew bag convert` makes such a bag of them",
        }),
    }
}

/// Refuses a bag of messages that are each compressed, as the new metadata would not say so. In a
/// bag of compressed files those that end with `.mcap` are not compressed yet, so nothing is
/// wrong with them.
fn check_compression(metadata: &BagMetadata, path: &Path) -> Result<(), BagError> {
    let mode = &metadata.compression_mode;
    if ["", "none", "file"].contains(&mode.to_lowercase().as_str()) {
        return Ok(());
    }
    Err(BagError::Unsupported {
        path: path.to_owned(),
        what: "reindexing a bag of the compression mode",
        name: mode.clone(),
        hint: "`sinew bag convert` makes a bag without it",
    })
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Writes a file anew.
fn rewrite(
    damaged: &McapFile,
    losses: &BTreeMap<String, u64>,
    lost: &mut Vec<BagError>,
) -> Result<(), BagError> {
    let path = &damaged.path;
    let reader = BagReader::open(path)?;
    let compressions = &damaged.index.compressions;
    let preset = if compressions.contains("zstd") { StoragePreset::ZstdFast } else { StoragePreset::None };
    let options = WriterOptions { storage: StorageOptions::from(preset), ..WriterOptions::default() };
    let new = path.with_extension("mcap.new");
    if let Err(error) = fs::remove_file(&new)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        return Err(BagError::file("remove", new)(error));
    }
    // In the order of the reader's topics.
    let topics: Vec<TopicDefinition> = reader.topics().iter().map(|topic| (&**topic).into()).collect();
    let mut file = OpenFile::create(new.clone(), &options, reader.times().map_or(0, |(start, _)| start))?;
    for (place, topic) in topics.iter().enumerate() {
        file.channel(place, topic)?;
    }
    // Opening has found the damage, too.
    for message in reader.messages(&Selection::all())?.flatten() {
        // Not by name and type: a type that has changed has the same ones.
        let place = reader.topics().iter().position(|topic| Arc::ptr_eq(topic, &message.topic));
        if let Some(place) = place {
            let channel = file.channel(place, &topics[place])?;
            file.write(channel, message.stamps, &message.bytes)?;
        }
    }
    for attachment in damaged.attachments().iter().filter(|attachment| attachment.verify().is_ok()) {
        file.attach(attachment)?;
    }
    for record in reader.metadata_records() {
        file.write_metadata_record(&record)?;
    }
    lost.extend(damaged.index.problems.iter().map(|(at, problem)| damaged.damaged(*at, problem.clone())));
    let mut metadata = describe(&reader);
    // The file's own record, if it is still there, is the newer one.
    let own = reader.losses();
    for (topic, count) in losses {
        metadata.set_lost(topic, *own.get(topic).unwrap_or(&0).max(count));
    }
    file.finish(&metadata)?;
    // The old file goes: so the new one must be on the disk, not only in memory.
    File::open(&new).and_then(|file| file.sync_all()).map_err(BagError::file("write to", &new))?;
    fs::rename(&new, path).map_err(BagError::file("replace", path))
}

/// Makes the metadata of a bag from its files. Facts that only the recorder knows are kept.
pub(crate) fn describe(reader: &BagReader) -> BagMetadata {
    let files: Vec<FileMetadata> = reader
        .files()
        .iter()
        .map(|file| {
            let (start, end) = file.times.unwrap_or_default();
            FileMetadata {
                path: name_of(&file.path),
                starting_time: start,
                duration: end - start,
                message_count: file.message_count,
            }
        })
        .collect();
    let topic = |topic: &Arc<crate::BagTopic>| TopicMetadata {
        name: topic.name.clone(),
        type_name: topic.type_name.clone(),
        serialization_format: topic.encoding.clone(),
        offered_qos_profiles: topic.qos.clone(),
        type_description_hash: topic.type_hash.map_or(String::new(), |hash| hash.to_string()),
        message_count: topic.message_count,
    };
    let (start, end) = reader.times().unwrap_or_default();
    let known = reader.metadata();
    let mut metadata = BagMetadata {
        duration: end - start,
        starting_time: start,
        message_count: reader.message_count(),
        topics: reader.topics().iter().map(topic).collect(),
        relative_file_paths: files.iter().map(|file| file.path.clone()).collect(),
        files,
        custom_data: known.map(|known| known.custom_data.clone()).unwrap_or_default(),
        ros_distro: known.map(|known| known.ros_distro.clone()).unwrap_or_default(),
        ..BagMetadata::default()
    };
    for (topic, count) in reader.losses() {
        metadata.set_lost(&topic, count);
    }
    metadata
}
