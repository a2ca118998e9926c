//! Where results go: rows as `--json` writes them, and as a table for people.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::Error;
use crate::machine::Host;
use crate::report::Row;
use crate::table;

/// Everything one run reports.
#[derive(Debug, Serialize)]
struct Report<'a> {
    host: &'a Host,
    results: &'a [Row],
}

/// Where the results go: a table on standard output and, if asked for, a file. Opened before
/// anything is measured, so that a name that can't be written costs no time.
pub(crate) struct ResultSink {
    host: Host,
    json: Json,
}

/// Where the results go as JSON.
enum Json {
    Nowhere,
    /// The table makes room and goes to standard error.
    StandardOutput,
    File(File, PathBuf),
}

impl ResultSink {
    /// Opens `json`, keeping what it holds until there are results to replace it. `-` is standard
    /// output.
    pub(crate) fn open(json: Option<&Path>) -> Result<Self, Error> {
        let json = match json {
            None => Json::Nowhere,
            Some(path) if path.as_os_str() == "-" => Json::StandardOutput,
            Some(path) => {
                let opened = OpenOptions::new().create(true).write(true).truncate(false).open(path);
                Json::File(opened.map_err(|source| not_written(path, source))?, path.to_owned())
            }
        };
        Ok(Self { host: Host::read(), json })
    }

    /// Writes the JSON first: a table that nobody reads to its end must not cost the results.
    pub(crate) fn write(self, rows: &[Row]) -> Result<(), Error> {
        let report = Report { host: &self.host, results: rows };
        let table = format!("{}\n{}\n", table::host_line(&self.host), table::of(rows));
        match &self.json {
            Json::StandardOutput => {
                let mut to = io::stdout().lock();
                json_of(&report).and_then(|text| to.write_all(&text)).map_err(Error::Output)?;
                // For people only, as the progress is: when it can't be written, nobody misses it.
                let _ = io::stderr().write_all(table.as_bytes());
                return Ok(());
            }
            Json::File(file, path) => {
                json_of(&report)
                    .and_then(|text| replace(file, &text))
                    .map_err(|source| not_written(path, source))?;
            }
            Json::Nowhere => {}
        }
        io::stdout().lock().write_all(table.as_bytes()).map_err(Error::Output)
    }
}

fn not_written(path: &Path, source: io::Error) -> Error {
    Error::File { action: "write the results to", path: path.to_owned(), source }
}

fn json_of(report: &Report<'_>) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(report)?;
    text.push(b'\n');
    Ok(text)
}

fn replace(mut file: &File, text: &[u8]) -> io::Result<()> {
    // Not for what can't be cut, such as a pipe.
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    file.write_all(text)
}
