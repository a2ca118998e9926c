//! What is in a bag, and which bags there are.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};
use sinew_bag::{Attachment, BagReader, BagTopic, MetadataRecord, is_file_of_bag};

use crate::cli::bag::{BagInfoOptions, BagListOptions};
use crate::error::Error;
use crate::harmless::one_line;
use crate::output::{print, print_json, says};

/// Deepest directory below the given one that is searched for bags.
const MAX_DEPTH: usize = 8;

/// Runs `sinew bag info`.
pub(super) fn info(options: &BagInfoOptions) -> Result<(), Error> {
    let bag = BagReader::open(&options.path.bag)?;
    if options.path.json {
        return print_json(&as_json(&bag));
    }
    for problem in bag.problems() {
        says(&format!("warning: {problem}"));
    }
    print(&as_text(&bag, options.verbose))
}

fn as_text(bag: &BagReader, is_verbose: bool) -> String {
    let files = bag.files();
    let names: Vec<String> = files.iter().map(|file| one_line(&name(&file.path))).collect();
    let mut text = String::new();
    let mut line = |label: &str, value: &str| {
        let _ = writeln!(text, "{label:<18} {value}"); // writing to a string can't fail
    };
    line("Files:", &names.join(&format!("\n{:19}", "")));
    line("Bag size:", &size(files.iter().map(|file| file.size).sum()));
    line("Storage id:", files.first().map_or("", |file| file.storage));
    line("Compression:", &compression(bag));
    let distro = bag.metadata().map_or("", |metadata| metadata.ros_distro.as_str());
    if !distro.is_empty() {
        line("ROS Distro:", &one_line(distro));
    }
    if let Some((start, end)) = bag.times() {
        line("Duration:", &seconds(end - start));
        line("Start:", &date(start));
        line("End:", &date(end));
    }
    line("Messages:", &bag.message_count().to_string());
    let mut label = "Lost:";
    for (topic, lost) in bag.losses() {
        line(label, &format!("{} | {}", one_line(&topic), count(lost, "message")));
        label = "";
    }
    let mut label = "Attachments:";
    for Attachment { name, media_type, bytes, .. } in bag.attachments() {
        let media_type = if media_type.is_empty() { "unknown type" } else { &media_type };
        let length = size(bytes.len() as u64);
        line(label, &format!("{} | {} | {length}", one_line(&name), one_line(media_type)));
        label = "";
    }
    let mut label = "Metadata records:";
    for MetadataRecord { name, texts } in bag.metadata_records() {
        line(label, &format!("{} | {}", one_line(&name), count(texts.len() as u64, "text")));
        label = "";
    }
    let mut label = "Topics:";
    for topic in bag.topics() {
        line(label, &about(topic, bag, is_verbose));
        label = "";
    }
    text
}

/// Returns the compression, of chunks or of what rosbag2 has compressed.
fn compression(bag: &BagReader) -> String {
    let mode = bag.metadata().map_or(String::new(), |metadata| metadata.compression_mode.to_lowercase());
    let files = bag.files();
    let name = files.iter().map(|file| file.compression.as_str()).find(|name| !name.is_empty());
    match mode.as_str() {
        "message" => "zstd (each message)".to_owned(),
        "file" => "zstd (whole files)".to_owned(),
        _ => name.unwrap_or("none").to_owned(),
    }
}

fn about(topic: &BagTopic, bag: &BagReader, is_verbose: bool) -> String {
    let BagTopic { name, type_name, message_count, .. } = topic;
    let mut about =
        format!("{} | {} | {}", one_line(name), one_line(type_name), count(*message_count, "message"));
    if let Some(rate) = rate(topic, bag) {
        let digits = if rate < 1.0 { 3 } else { 1 };
        let _ = write!(about, " | {rate:.digits$} Hz");
    }
    if topic.encoding != "cdr" {
        let _ = write!(about, " | {}", one_line(&topic.encoding));
    }
    if is_verbose {
        for qos in &topic.qos {
            let qos = qos.qos();
            let _ =
                write!(about, "\n{:21}{:?}, {:?}, {:?}", "", qos.reliability, qos.durability, qos.history);
        }
    }
    about
}

/// Returns the messages per second over the whole bag.
#[expect(clippy::cast_precision_loss, reason = "it is printed with few digits")]
fn rate(topic: &BagTopic, bag: &BagReader) -> Option<f64> {
    let (start, end) = bag.times()?;
    (end > start && topic.message_count > 1).then(|| topic.message_count as f64 * 1e9 / (end - start) as f64)
}

fn as_json(bag: &BagReader) -> Value {
    let files: Vec<Value> = bag
        .files()
        .iter()
        .map(|file| {
            json!({
                "path": name(&file.path),
                "storage": file.storage,
                "bytes": file.size,
                "messages": file.message_count,
                "start_ns": file.times.map(|(start, _)| start),
                "end_ns": file.times.map(|(_, end)| end),
                "compression": file.compression,
                "summary": file.has_summary,
                "attachments": file.attachments,
                "library": file.library,
            })
        })
        .collect();
    let topics: Vec<Value> = bag
        .topics()
        .iter()
        .map(|topic| {
            json!({
                "name": topic.name,
                "type": topic.type_name,
                "encoding": topic.encoding,
                "messages": topic.message_count,
                "type_hash": topic.type_hash.map(|hash| hash.to_string()),
            })
        })
        .collect();
    let attachments: Vec<Value> = bag
        .attachments()
        .iter()
        .map(|Attachment { name, media_type, logged, created, bytes, .. }| {
            json!({
                "name": name,
                "media_type": media_type,
                "logged_ns": logged,
                "created_ns": created,
                "bytes": bytes.len(),
            })
        })
        .collect();
    let records: Vec<Value> = bag
        .metadata_records()
        .iter()
        .map(|MetadataRecord { name, texts }| json!({"name": name, "texts": texts}))
        .collect();
    let problems: Vec<String> = bag.problems().iter().map(ToString::to_string).collect();
    json!({
        "path": bag.path().to_string_lossy(),
        "bytes": bag.files().iter().map(|file| file.size).sum::<u64>(),
        "messages": bag.message_count(),
        "start_ns": bag.times().map(|(start, _)| start),
        "end_ns": bag.times().map(|(_, end)| end),
        "ros_distro": bag.metadata().map(|metadata| metadata.ros_distro.as_str()),
        "files": files,
        "topics": topics,
        "attachments": attachments,
        "metadata_records": records,
        "lost": bag.losses(),
        "problems": problems,
    })
}

/// Runs `sinew bag list`.
pub(super) fn list(options: &BagListOptions) -> Result<(), Error> {
    let mut paths = Vec::new();
    find(&options.directory, 0, &mut paths).map_err(|source| Error::File {
        action: "read",
        path: options.directory.clone(),
        source,
    })?;
    let (mut text, mut values) = (String::new(), Vec::new());
    for path in paths {
        match BagReader::open(&path) {
            Ok(bag) => {
                let (start, end) = bag.times().unwrap_or_default();
                let bytes = bag.files().iter().map(|file| file.size).sum();
                let path = one_line(&path.to_string_lossy());
                let (messages, topics) =
                    (count(bag.message_count(), "message"), count(bag.topics().len() as u64, "topic"));
                let (size, seconds) = (size(bytes), seconds(end - start));
                // Writing to a string can't fail.
                let _ = writeln!(text, "{path}: {seconds}, {messages} on {topics}, {size}");
                values.push(as_json(&bag));
            }
            Err(error) => says(&format!("warning: {error}")),
        }
    }
    if options.json { print_json(&values) } else { print(&text) }
}

/// Finds directories with a bag's metadata or files in them.
fn find(directory: &Path, depth: usize, bags: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let entries: Vec<PathBuf> =
        fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    let is_bag = |path: &PathBuf| path.ends_with("metadata.yaml") || is_file_of_bag(path);
    if entries.iter().any(is_bag) {
        bags.push(directory.to_owned());
        return Ok(());
    }
    let mut below: Vec<PathBuf> =
        entries.into_iter().filter(|path| path.is_dir() && !path.is_symlink()).collect();
    below.sort();
    for path in below.iter().filter(|_| depth < MAX_DEPTH) {
        // What can't be read is no place for this user's bags.
        let _ = find(path, depth + 1, bags);
    }
    Ok(())
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Formats a number of things.
pub(super) fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Formats a length as `ros2 bag info` does.
#[expect(clippy::cast_precision_loss, reason = "it is printed with one decimal")]
pub(super) fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut length, mut unit) = (bytes as f64, 0);
    while length >= 1024.0 && unit + 1 < units.len() {
        (length, unit) = (length / 1024.0, unit + 1);
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{length:.1} {}", units[unit]) }
}

pub(super) fn seconds(nanoseconds: u64) -> String {
    format!("{}.{:09} s", nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000)
}

fn date(nanoseconds: u64) -> String {
    let time = UNIX_EPOCH + Duration::from_nanos(nanoseconds);
    let number = seconds(nanoseconds);
    // Dates from the year 10,000 on have no form; 64 bits of nanoseconds end before.
    format!("{} ({})", humantime::format_rfc3339_nanos(time), number.trim_end_matches(" s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_times_have_their_units() {
        assert_eq!(
            [size(0), size(1023), size(1024), size(1536 << 20)],
            ["0 B", "1023 B", "1.0 KiB", "1.5 GiB"]
        );
        assert_eq!([count(1, "topic"), count(2, "topic")], ["1 topic", "2 topics"]);
        assert_eq!(seconds(1_500_000_000), "1.500000000 s");
        assert_eq!(date(1_000_000_001), "1970-01-01T00:00:01.000000001Z (1.000000001)");
        assert!(date(u64::MAX).starts_with("2554-"));
    }
}
