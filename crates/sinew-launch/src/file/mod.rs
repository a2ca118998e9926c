//! Reading files: each format has its reader, and all readers return the same items.

mod element;
mod ros;
mod toml;
mod xml;
mod yaml;

use std::fs::OpenOptions;
use std::io::{Error, ErrorKind, Read as _, Result as IoResult};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

use crate::description::Item;
use crate::error::{LoadError, Problem};
use crate::place::Source;

/// Reads the items of a launch file, and its length in bytes. The extension decides the format.
pub(crate) fn read(path: &Path) -> Result<(Vec<Item>, usize), LoadError> {
    let text = regular(path).map_err(|source| LoadError::Read { path: path.to_owned(), source })?;
    let source = Source::new(path, text);
    let items = match path.extension().and_then(|end| end.to_str()) {
        Some("toml") => toml::read(&source),
        Some("xml") => ros::items(&xml::read(&source)?),
        Some("yaml" | "yml") => ros::items(&yaml::read(&source)?),
        Some("py") => Err(Problem::NotUnderstood {
            what: "a launch file in Python".to_owned(),
            remedy: "it is a program; write what it starts in TOML, XML or YAML".to_owned(),
        }
        .at(&source.at(1, 1))),
        _ => Err(Problem::NotUnderstood {
            what: "a launch file that ends so".to_owned(),
            remedy: "`.toml` is Sinew's own form, `.xml`, `.yaml` and `.yml` are ROS 2's".to_owned(),
        }
        .at(&source.at(1, 1))),
    };
    Ok((items?, source.text.len()))
}

/// Largest accepted file, in bytes.
const LARGEST: u64 = 4 << 20;

/// Reads a regular file of bounded size. Other files (a device, a pipe) may never end, or never
/// begin.
pub(crate) fn regular(path: &Path) -> IoResult<String> {
    // Before it is opened, as opening a device may have effects; and again afterwards, as it may be
    // another file by then. Opening a pipe without a writer must not block.
    check(&std::fs::metadata(path)?)?;
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    check(&file.metadata()?)?;
    let mut text = String::new();
    file.take(LARGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LARGEST {
        return Err(too_large());
    }
    Ok(text)
}

fn check(found: &std::fs::Metadata) -> IoResult<()> {
    let kind = found.file_type();
    let what = match () {
        () if kind.is_file() && found.len() <= LARGEST => return Ok(()),
        () if kind.is_file() => return Err(too_large()),
        () if kind.is_dir() => "a directory",
        () if kind.is_fifo() => "a pipe",
        () if kind.is_char_device() || kind.is_block_device() => "a device",
        () if kind.is_socket() => "a socket",
        () => "something else",
    };
    Err(Error::new(ErrorKind::InvalidInput, format!("it is {what}, and has to be a regular file")))
}

fn too_large() -> Error {
    let text = format!("it has more than {} MiB, the most that is read of one file", LARGEST >> 20);
    Error::new(ErrorKind::FileTooLarge, text)
}
