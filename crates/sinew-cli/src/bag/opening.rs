//! Opening bags for commands that need the definitions of types.

use std::path::Path;

use sinew_bag::{BagReader, Schema};

use crate::cli::interfaces::DefinitionOptions;
use crate::error::Error;
use crate::interfaces::PackageSources;

/// Opens a bag. Definitions that it lacks, as all bags of SQLite do that are older than ROS 2 Iron,
/// are those of `$AMENT_PREFIX_PATH` or the built-in ones.
pub(crate) fn open(path: &Path) -> Result<BagReader, Error> {
    let sources = PackageSources::open(&DefinitionOptions::default())?;
    // A definition that can't be read is missing, like one that isn't there.
    let text = |name: &str| sources.text(&name.parse().ok()?).ok()?;
    Ok(BagReader::open_with(path, &|name| Schema::from_texts(name, text))?)
}
