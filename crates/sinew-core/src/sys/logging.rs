//! Sinew's own log lines: see [`sinew_shm::logging`], through which all of them go. And the outputs
//! that command lines choose.

use super::sync::TableLock;

pub(crate) use super::log_level::{LogLevel, level, own_level, parse_level, set_level, set_levels};
pub(crate) use log::Level;
pub(crate) use sinew_shm::log_line;
pub(crate) use sinew_shm::logging::{About, Source, later, level_of, logger_of, set_front};

/// The outputs of this process's lines, from the command line of the last context that had one.
pub(crate) static OUTPUTS: TableLock<Outputs> = TableLock::new(Outputs::ALL);

/// The outputs of lines.
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
    /// All outputs.
    const ALL: Self = Self { console: true, file: true, file_name: None };
}

impl Default for Outputs {
    fn default() -> Self {
        Self::ALL
    }
}
