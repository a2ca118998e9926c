//! Reading files: each form has its reader, and all yield the same items.

mod element;
mod ros;
mod toml;
mod xml;
mod yaml;

use std::path::Path;

use crate::description::Item;
use crate::error::{LoadError, Problem};
use crate::place::Source;

/// Reads the items of a launch file; its end says what it is written in.
pub(crate) fn read(path: &Path) -> Result<Vec<Item>, LoadError> {
    let text =
        std::fs::read_to_string(path).map_err(|source| LoadError::Read { path: path.to_owned(), source })?;
    let source = Source { file: path.into(), text };
    match path.extension().and_then(|end| end.to_str()) {
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
    }
}
