//! What Sinew says to the person who runs a program: see [`sinew_shm::logging`], by which all of it
//! goes. And what command lines say of where lines go.

use super::sync::TableLock;

pub(crate) use log::Level;
pub(crate) use sinew_shm::logging::{
    About, LogLevel, Source, later, level, level_of, logger_of, own_level, parse_level, set_front, set_level,
    set_levels,
};
pub(crate) use sinew_shm::tell;

/// Where lines of this process go, as the command line of the last context that had one says.
pub(crate) static OUTPUTS: TableLock<Outputs> = TableLock::new(Outputs::ALL);

/// Where lines go.
#[derive(Debug, Clone)]
pub(crate) struct Outputs {
    /// `--disable-stdout-logs`.
    pub(crate) console: bool,
    /// `--disable-external-lib-logs`.
    pub(crate) file: bool,
    /// `--log-file-name`.
    pub(crate) file_name: Option<String>,
}

impl Outputs {
    /// Everywhere.
    const ALL: Self = Self { console: true, file: true, file_name: None };
}

impl Default for Outputs {
    fn default() -> Self {
        Self::ALL
    }
}
