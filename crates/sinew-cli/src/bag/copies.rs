//! New bags from others.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use sinew_bag::{
    BagError, BagReader, BagTopic, BagWriter, Copied, Selection, StorageOptions, WriterOptions, copy,
};

use super::info::{count, seconds, size};
use super::losses::texts;
use super::opening::open;
use crate::cli::bag::{ConvertOptions, CutOptions, FilterOptions, MergeOptions, NewBag};
use crate::cli::bag_files::FileOptions;
use crate::cli::pictures::PartOptions;
use crate::error::Error;
use crate::output::{print, print_json, says};

/// Runs `sinew bag convert`.
pub(super) fn convert(options: &ConvertOptions) -> Result<(), Error> {
    write(&[(open(&options.bag)?, Selection::all())], &options.new)
}

/// Runs `sinew bag merge`.
pub(super) fn merge(options: &MergeOptions) -> Result<(), Error> {
    let open = |path: &PathBuf| Ok((open(path)?, Selection::all()));
    write(&options.bags.iter().map(open).collect::<Result<Vec<_>, Error>>()?, &options.new)
}

/// Runs `sinew bag filter`.
pub(super) fn filter(options: &FilterOptions) -> Result<(), Error> {
    let bag = open(&options.bag)?;
    for name in options.topics.iter().chain(&options.exclude_topics) {
        bag.messages(&Selection::all().topic(name))?; // names are checked
    }
    let chosen: Vec<&str> = bag
        .topics()
        .iter()
        .filter(|topic| is_chosen(topic, options))
        .map(|topic| topic.name.as_str())
        .collect();
    if chosen.is_empty() {
        return Err(Error::NothingChosen { bag: options.bag.clone() });
    }
    let selection = chosen.iter().fold(Selection::all(), |selection, name| selection.topic(*name));
    write(&[(bag, selection)], &options.new)
}

fn is_chosen(topic: &BagTopic, options: &FilterOptions) -> bool {
    let FilterOptions { topics, topic_types, exclude_topics, exclude_topic_types, .. } = options;
    let is_named = topics.contains(&topic.name) || topic_types.contains(&topic.type_name);
    let is_excluded = exclude_topics.contains(&topic.name) || exclude_topic_types.contains(&topic.type_name);
    (is_named || topics.is_empty() && topic_types.is_empty()) && !is_excluded
}

/// Runs `sinew bag cut`.
pub(super) fn cut(options: &CutOptions) -> Result<(), Error> {
    let bag = open(&options.bag)?;
    let (start, until) = part(&bag, &options.bag, &options.part)?;
    // Attachments may be older than the first message.
    let start = if options.part.start_offset.is_some() { start } else { 0 };
    write(&[(bag, Selection::all().from(start).until(until))], &options.new)
}

/// Returns the first time of a part of a bag, and the first that is too late.
pub(super) fn part(bag: &BagReader, path: &Path, options: &PartOptions) -> Result<(u64, u64), Error> {
    let (begin, end) = bag.times().unwrap_or_default();
    let nanoseconds = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let start = begin.saturating_add(options.start_offset.map_or(0, nanoseconds));
    if start > end {
        let length = seconds(end - begin);
        return Err(Error::BeyondBag { bag: path.to_owned(), length });
    }
    let until =
        options.playback_duration.map_or(u64::MAX, |length| start.saturating_add(nanoseconds(length)));
    Ok((start, until))
}

/// Writes the new bag.
fn write(bags: &[(BagReader, Selection)], new: &NewBag) -> Result<(), Error> {
    let distro = bags.iter().filter_map(|(bag, _)| Some(bag.metadata()?.ros_distro.clone()));
    let options = WriterOptions {
        ros_distro: distro.into_iter().find(|distro| !distro.is_empty()).unwrap_or_default(),
        ..writer_options(&new.files)?
    };
    let mut writer = BagWriter::create(&new.output, options)?;
    let mut copied = copy(bags, &mut writer)?;
    let metadata = writer.close()?;
    // A missing file is found when a bag is opened, damage also when it is read.
    let missing = bags.iter().flat_map(|(bag, _)| bag.problems());
    let missing = missing.filter(|problem| matches!(problem, BagError::File { .. })).map(ToString::to_string);
    let mut lost: Vec<String> = missing.collect();
    lost.extend(texts(&std::mem::take(&mut copied.lost)));
    report(new, &copied, metadata.files.len(), &lost)
}

fn report(new: &NewBag, copied: &Copied, files: usize, lost: &[String]) -> Result<(), Error> {
    let Copied { messages, attachments, .. } = *copied;
    if new.json {
        let output = new.output.to_string_lossy();
        print_json(&json!({
            "output": output, "messages": messages, "attachments": attachments, "files": files, "lost": lost,
        }))?;
    } else {
        for problem in lost {
            says(&format!("warning: {problem}"));
        }
        let length = size(length(&new.output));
        let (messages, files) = (count(messages, "message"), count(files as u64, "file"));
        let attachments = match attachments {
            0 => String::new(),
            number => format!(" and {}", count(number, "attachment")),
        };
        print(&format!("{}: {messages}{attachments} in {files}, {length}\n", new.output.display()))?;
    }
    if lost.is_empty() { Ok(()) } else { Err(Error::DamagedBag { count: lost.len() }) }
}

fn length(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
}

/// Returns the options for a bag's files.
pub(super) fn writer_options(files: &FileOptions) -> Result<WriterOptions, Error> {
    Ok(WriterOptions {
        storage: storage(files)?,
        max_size: files.max_bag_size.unwrap_or(u64::MAX),
        max_duration: files.max_bag_duration.unwrap_or(Duration::MAX),
        metadata_version: files.metadata_version,
        ..WriterOptions::default()
    })
}

fn storage(files: &FileOptions) -> Result<StorageOptions, Error> {
    let Some(path) = &files.storage_config_file else { return Ok(files.storage_preset_profile.into()) };
    let text = fs::read_to_string(path).map_err(|source| Error::File {
        action: "read",
        path: path.clone(),
        source,
    })?;
    Ok(StorageOptions::from_yaml(&text, files.storage_preset_profile, path)?)
}
