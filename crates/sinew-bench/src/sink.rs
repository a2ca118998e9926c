//! The output of results: rows as `--json` writes them, and a table for people.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::Error;
use crate::bar::Outcome;
use crate::machine::Host;
use crate::report::Row;
use crate::table;

/// The report of one run.
#[derive(Debug, Serialize)]
struct Report<'a> {
    host: &'a Host,
    results: &'a [Row],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    bars: &'a [Outcome],
}

/// The destinations of results: a table on standard output and, on request, a file. Opened before
/// anything is measured, so that an unusable name costs no time.
pub(crate) struct ResultSink {
    host: Host,
    json: Json,
}

/// The destination of results as JSON.
enum Json {
    Nowhere,
    /// The table goes to standard error instead.
    StandardOutput,
    File(File, PathBuf),
}

impl ResultSink {
    /// Opens `json`, and keeps its content until there are results to replace it. `-` is standard
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

    /// Writes the JSON first: a table with a reader that leaves early must not cost the results.
    pub(crate) fn write(self, rows: &[Row], bars: &[Outcome]) -> Result<(), Error> {
        let report = Report { host: &self.host, results: rows, bars };
        let mut table = format!("{}\n{}\n", table::host_line(&self.host), table::of(rows));
        // Times of a debug build say nothing about them.
        for bar in bars.iter().filter(|_| self.host.build != "debug") {
            table.push_str(&bar.line());
            table.push('\n');
        }
        match &self.json {
            Json::StandardOutput => {
                let mut to = io::stdout().lock();
                json_of(&report).and_then(|text| to.write_all(&text)).map_err(Error::Output)?;
                // For people only, like the progress: a failure to write it is ignored.
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
    // A pipe, for example, can't be truncated.
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    file.write_all(text)
}
