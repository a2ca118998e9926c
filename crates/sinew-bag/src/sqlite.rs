//! A database of SQLite, as rosbag2 wrote bags before ROS 2 Iron: read only, schema versions 1 to
//! 4.
//!
//! A cursor has a connection of its own, so files are shared between threads without a lock. It
//! reads the times and ids of some messages ahead, by the index, and each message by its id. So
//! memory is used for one message, and a message that can't be read costs no other.

use crate::error::BagError;
use crate::message::Stamps;
use crate::metadata::BagMetadata;
use crate::piece::MessageBytes;
use crate::qos_yaml;
use crate::schema::Schema;
use crate::stored_file::{BagFile, FileCursor, Found, Last, Step, StoredFile, Wanted};
use crate::topic::BagTopic;
use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The newest schema of the tables that is read.
const NEWEST: i64 = 4;
/// Messages for which time and id are read at once.
const AHEAD: i64 = 512;
/// The byte of a database that tells whether it has a write-ahead log, and its value for yes.
const LOG: (usize, u8) = (18, 2);
/// Maximum number of problems of a database that a check, or a search for retained messages, lists.
const MAX_PROBLEMS: usize = 20;

/// The part of a file that all cursors share.
#[derive(Debug)]
pub(crate) struct SqliteFile {
    /// The path under which it is opened.
    place: PathBuf,
    /// Its name in errors: it may have been uncompressed to another place.
    path: PathBuf,
    size: u64,
    /// The topics with their ids, in the order of these.
    topics: Vec<(i64, BagTopic)>,
    bounds: Option<(u64, u64)>,
    metadata: Option<BagMetadata>,
    problems: Vec<String>,
}

impl SqliteFile {
    /// Opens the file at `place`, which errors call `path`. Reads the topics and the time of each
    /// message.
    pub(crate) fn open(place: &Path, path: &Path) -> Result<Self, BagError> {
        let size = std::fs::metadata(place).map_err(BagError::file("open", path))?.len();
        let failed = |error: rusqlite::Error| database(path, error.to_string());
        let connection = connect(place, path)?;
        let version = version(&connection).map_err(failed)?;
        if version > NEWEST {
            return Err(BagError::Version {
                path: path.to_owned(),
                what: "schema of the database",
                version: version.to_string(),
                known: format!("1 to {NEWEST}"),
            });
        }
        let topics = topics(&connection).map_err(failed)?;
        let text: Option<String> = if has(&connection, "metadata", "metadata").map_err(failed)? {
            let newest = "SELECT metadata FROM metadata ORDER BY id DESC LIMIT 1";
            connection.query_row(newest, [], |row| row.get(0)).optional().map_err(failed)?
        } else {
            None
        };
        let metadata = text.and_then(|text| BagMetadata::from_yaml(&text, path).ok());
        let (place, path) = (place.to_owned(), path.to_owned());
        let mut file = Self { place, path, size, topics, bounds: None, metadata, problems: Vec::new() };
        file.count(&connection);
        Ok(file)
    }

    /// Counts the messages of the topics.
    fn count(&mut self, connection: &Connection) {
        let mut counts: BTreeMap<i64, u64> = BTreeMap::new();
        let mut bounds: Option<(u64, u64)> = None;
        let read = || -> rusqlite::Result<()> {
            let mut statement = connection.prepare("SELECT topic_id, timestamp FROM messages")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let time = time(row.get(1)?);
                *counts.entry(row.get(0)?).or_default() += 1;
                bounds = Some(bounds.map_or((time, time), |(from, to)| (from.min(time), to.max(time))));
            }
            Ok(())
        };
        if let Err(error) = { read }() {
            self.problems.push(error.to_string());
        }
        self.bounds = bounds;
        for (id, topic) in &mut self.topics {
            topic.message_count = counts.remove(id).unwrap_or_default();
        }
        for (id, lost) in counts {
            self.problems.push(format!("{lost} messages are of topic {id}, which it doesn't describe"));
        }
    }
}

impl StoredFile for SqliteFile {
    fn about(&self) -> BagFile {
        BagFile {
            path: self.path.clone(),
            storage: "sqlite3",
            size: self.size,
            message_count: self.topics.iter().map(|(_, topic)| topic.message_count).sum(),
            times: self.bounds,
            compression: String::new(),
            has_summary: true,
            attachments: 0,
            library: String::new(),
        }
    }

    fn topics(&self) -> Vec<(usize, BagTopic)> {
        self.topics.iter().map(|(_, topic)| topic.clone()).enumerate().collect()
    }

    fn metadata(&self) -> Option<BagMetadata> {
        self.metadata.clone()
    }

    fn problems(&self) -> Vec<BagError> {
        self.problems.iter().map(|problem| database(&self.path, problem.clone())).collect()
    }

    fn check(&self) -> Vec<BagError> {
        let lines = connect(&self.place, &self.path).and_then(|connection| {
            let read = || -> rusqlite::Result<Vec<String>> {
                let mut statement = connection.prepare("PRAGMA integrity_check")?;
                let lines = statement.query_map([], |row| row.get(0))?;
                lines.take(MAX_PROBLEMS).collect()
            };
            read().map_err(|error| database(&self.path, error.to_string()))
        });
        let mut problems = self.problems();
        match lines {
            Ok(lines) => {
                let wrong = lines.into_iter().filter(|line| line != "ok");
                problems.extend(wrong.map(|line| database(&self.path, line)));
            }
            Err(error) => problems.push(error),
        }
        problems
    }

    fn cursor(&self, topics: Vec<Option<usize>>) -> Box<dyn FileCursor> {
        let topics = self.topics.iter().zip(topics).filter_map(|((id, _), topic)| Some((*id, topic?)));
        Box::new(SqliteCursor {
            place: self.place.clone(),
            path: self.path.clone(),
            topics: topics.collect(),
            state: Mutex::new(State::Unopened),
            last: None,
            ahead: VecDeque::new(),
        })
    }

    fn latest(
        &self,
        topics: &[Option<usize>],
        wanted: &[usize],
        last: Last,
        problems: &mut Vec<BagError>,
    ) -> Vec<Found> {
        let topics = self.topics.iter().zip(topics);
        let topics = topics.filter(|(_, topic)| topic.is_some_and(|topic| wanted.contains(&topic)));
        let (mut wanted, mut known) = (BTreeMap::new(), 0_u64);
        for ((id, topic), place) in topics {
            wanted.extend(place.map(|place| (*id, place)));
            known = known.saturating_add(topic.message_count);
        }
        // There are no more to look for before those.
        let count = last.count.min(usize::try_from(known).unwrap_or(usize::MAX));
        // The cursor that reads on reports a database that can't be opened.
        let Ok(connection) = open_in_time(&self.place, &self.path) else { return Vec::new() };
        let mut found = self.read_backwards(&connection, &wanted, Last { count, ..last }, problems);
        found.reverse();
        found
    }
}

impl SqliteFile {
    /// Reads the last messages before a time, the last one first.
    fn read_backwards(
        &self,
        connection: &Connection,
        wanted: &BTreeMap<i64, usize>,
        Last { count, before }: Last,
        problems: &mut Vec<BagError>,
    ) -> Vec<Found> {
        let (mut found, mut damaged) = (Vec::new(), Vec::new());
        let before = i64::try_from(before).unwrap_or(i64::MAX);
        let mut read = || -> rusqlite::Result<()> {
            let mut keys = connection.prepare(
                "SELECT timestamp, id FROM in_time WHERE timestamp < ?1 ORDER BY timestamp DESC, id DESC",
            )?;
            let mut message = connection.prepare("SELECT topic_id, data FROM messages WHERE id = ?1")?;
            let mut keys = keys.query([before])?;
            while found.len() < count
                && let Some(key) = keys.next()?
            {
                let (received, id): Key = (key.get(0)?, key.get(1)?);
                let bytes = message.query_row([id], |row| {
                    let Some(topic) = wanted.get(&row.get(0)?) else { return Ok(None) };
                    Ok(Some((*topic, row.get_ref(1)?.as_blob()?.to_vec())))
                });
                let received = time(received);
                match bytes {
                    Ok(Some((topic, bytes))) => {
                        found.push((Stamps::at(received), topic, MessageBytes::from(bytes)));
                    }
                    Ok(None) => {}
                    Err(error) if damaged.len() < MAX_PROBLEMS => damaged.push(BagError::DamagedMessage {
                        path: self.path.clone(),
                        received,
                        problem: error.to_string(),
                    }),
                    Err(_) => {}
                }
            }
            Ok(())
        };
        let outcome = read();
        problems.append(&mut damaged);
        problems.extend(outcome.err().map(|error| database(&self.path, error.to_string())));
        found
    }
}

#[derive(Debug)]
struct SqliteCursor {
    place: PathBuf,
    path: PathBuf,
    /// The bag's topic for each id.
    topics: BTreeMap<i64, usize>,
    /// In a lock only so that cursors are `Sync`, which connections aren't: no thread takes it.
    state: Mutex<State>,
    /// The last key that was read ahead.
    last: Option<Key>,
    ahead: VecDeque<Key>,
}

/// The time of a message and its id.
type Key = (i64, i64);

#[derive(Debug)]
enum State {
    Unopened,
    Open(Connection),
    /// The times can't be read: the error, until it has been returned.
    Failed(Option<BagError>),
    /// All keys are read.
    Ended(Connection),
}

impl FileCursor for SqliteCursor {
    fn rewind(&mut self) {
        self.last = None;
        self.ahead.clear();
        let state = self.state.get_mut();
        *state = match std::mem::replace(state, State::Unopened) {
            State::Open(connection) | State::Ended(connection) => State::Open(connection),
            // Opening it may have failed for a while only.
            State::Unopened | State::Failed(_) => State::Unopened,
        };
    }

    fn bound(&mut self, wanted: &Wanted) -> Option<u64> {
        if self.ahead.is_empty() {
            self.read_ahead(wanted);
        }
        if let State::Failed(Some(_)) = self.state.get_mut() {
            return Some(self.last.map_or(wanted.from, |(received, _)| time(received)));
        }
        self.ahead.front().map(|(received, _)| time(*received)).filter(|time| *time < wanted.until)
    }

    fn step(&mut self, wanted: &Wanted) -> Step {
        if let State::Failed(error) = self.state.get_mut()
            && let Some(error) = error.take()
        {
            return Step::Damaged(error);
        }
        let (State::Open(connection) | State::Ended(connection), Some((received, id))) =
            (self.state.get_mut(), self.ahead.pop_front())
        else {
            return Step::Read;
        };
        let received = time(received);
        let is_wanted = |topic: &usize| wanted.topics[*topic];
        let message = |row: &Row<'_>| {
            let topic = self.topics.get(&row.get(0)?).copied().filter(is_wanted);
            // The bytes of a message that isn't wanted are not even read.
            let Some(topic) = topic else { return Ok(None) };
            Ok(Some((topic, row.get_ref(1)?.as_blob()?.to_vec())))
        };
        let row = connection
            .prepare_cached("SELECT topic_id, data FROM messages WHERE id = ?1")
            .and_then(|mut statement| statement.query_row([id], message));
        match row {
            Ok(Some((topic, bytes))) => Step::Message(Stamps::at(received), topic, MessageBytes::from(bytes)),
            Ok(None) => Step::Read,
            Err(error) => Step::Damaged(BagError::DamagedMessage {
                path: self.path.clone(),
                received,
                problem: error.to_string(),
            }),
        }
    }
}

impl SqliteCursor {
    /// Reads some keys.
    fn read_ahead(&mut self, wanted: &Wanted) {
        let state = self.state.get_mut();
        if let State::Unopened = state {
            *state = match open_in_time(&self.place, &self.path) {
                Ok(connection) => State::Open(connection),
                Err(error) => State::Failed(Some(error)),
            };
        }
        let State::Open(connection) = state else { return };
        // A time beyond those that the database can have selects nothing.
        let (from, id) = self.last.unwrap_or((i64::try_from(wanted.from).unwrap_or(i64::MAX), i64::MIN));
        match keys(connection, (from, id)) {
            Ok(keys) => {
                self.last = keys.back().copied().or(self.last);
                self.ahead = keys;
                if self.ahead.is_empty()
                    && let State::Open(connection) = std::mem::replace(state, State::Unopened)
                {
                    *state = State::Ended(connection);
                }
            }
            Err(error) => *state = State::Failed(Some(database(&self.path, error.to_string()))),
        }
    }
}

/// Reads the keys after this one.
fn keys(connection: &Connection, (from, id): Key) -> rusqlite::Result<VecDeque<Key>> {
    let mut statement = connection.prepare_cached(
        "SELECT timestamp, id FROM in_time WHERE (timestamp, id) > (?1, ?2) ORDER BY timestamp, id LIMIT ?3",
    )?;
    let keys = statement.query_map((from, id, AHEAD), |row| Ok((row.get(0)?, row.get(1)?)))?;
    keys.collect()
}

/// Opens a database with a view, or table, `in_time`. Without an index on the times, their order is
/// made in a temporary table, which SQLite moves from memory to a file if it grows.
fn open_in_time(place: &Path, path: &Path) -> Result<Connection, BagError> {
    let failed = |error: rusqlite::Error| database(path, error.to_string());
    let connection = connect(place, path)?;
    let has_index = "SELECT 1 FROM pragma_index_list('messages') AS list, pragma_index_info(list.name) AS part \
                     WHERE part.seqno = 0 AND part.name = 'timestamp' LIMIT 1";
    let has_index = connection.query_row(has_index, [], |_| Ok(())).optional().map_err(failed)?.is_some();
    let make = if has_index {
        "CREATE TEMP VIEW in_time AS SELECT timestamp, id FROM main.messages"
    } else {
        "CREATE TEMP TABLE in_time (timestamp, id, PRIMARY KEY (timestamp, id)) WITHOUT ROWID;
         INSERT OR IGNORE INTO in_time SELECT timestamp, id FROM main.messages"
    };
    connection.execute_batch(make).map_err(failed)?;
    Ok(connection)
}

/// Opens a database so that nothing beside it changes: no file is made for a log that it hasn't.
fn connect(place: &Path, path: &Path) -> Result<Connection, BagError> {
    let mut begin = Vec::new();
    File::open(place)
        .and_then(|file| file.take(LOG.0 as u64 + 1).read_to_end(&mut begin))
        .map_err(BagError::file("open", path))?;
    let log = std::fs::metadata(beside(place, "-wal")).is_ok_and(|log| log.len() > 0);
    let is_closed = begin.get(LOG.0) == Some(&LOG.1) && !log;
    let mode = if is_closed { "immutable=1" } else { "mode=ro" };
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(format!("{}?{mode}", uri(place)), flags)
        .and_then(|connection| {
            // The file is not trusted.
            connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")?;
            Ok(connection)
        })
        .map_err(|error| database(path, error.to_string()))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn uri(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => {
                uri.push(char::from(*byte))
            }
            other => _ = write!(uri, "%{other:02X}"), // can't fail
        }
    }
    uri
}

fn database(path: &Path, problem: String) -> BagError {
    BagError::Database { path: path.to_owned(), problem }
}

/// Returns a time as MCAP has it; times before 1970 are no times of robots.
fn time(timestamp: i64) -> u64 {
    u64::try_from(timestamp).unwrap_or(0)
}

fn has(connection: &Connection, table: &str, column: &str) -> rusqlite::Result<bool> {
    let find = "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2";
    Ok(connection.query_row(find, [table, column], |_| Ok(())).optional()?.is_some())
}

/// Returns the version that the database says it has; before version 3 it said nothing.
fn version(connection: &Connection) -> rusqlite::Result<i64> {
    if !has(connection, "schema", "schema_version")? {
        return Ok(2);
    }
    connection.query_row("SELECT max(schema_version) FROM schema", [], |row| row.get(0))
}

fn topics(connection: &Connection) -> rusqlite::Result<Vec<(i64, BagTopic)>> {
    let column =
        |name| -> rusqlite::Result<&str> { Ok(if has(connection, "topics", name)? { name } else { "''" }) };
    let (qos, hash) = (column("offered_qos_profiles")?, column("type_description_hash")?);
    let has_definitions = has(connection, "message_definitions", "encoded_message_definition")?;
    let select =
        format!("SELECT id, name, type, serialization_format, {qos}, {hash} FROM topics ORDER BY id");
    let mut statement = connection.prepare(&select)?;
    let rows = statement.query_map([], |row| {
        let (qos, hash): (String, String) = (row.get(4)?, row.get(5)?);
        let mut topic = BagTopic::new(row.get(1)?, row.get::<_, String>(2)?.as_str(), row.get(3)?);
        topic.qos = qos_yaml::read_text(&qos).unwrap_or_default();
        topic.type_hash = hash.parse().ok();
        if has_definitions {
            topic.schema = schema(connection, &topic.type_name)?;
        }
        Ok((row.get(0)?, topic))
    })?;
    rows.collect()
}

/// Returns the definition of a type. Of a service's events it is that of the service.
fn schema(connection: &Connection, type_name: &str) -> rusqlite::Result<Option<Schema>> {
    let find = |name: &str| {
        let find =
            "SELECT encoding, encoded_message_definition FROM message_definitions WHERE topic_type = ?1";
        let schema = |row: &Row<'_>| Ok(Schema { encoding: row.get(0)?, text: row.get(1)? });
        connection.query_row(find, [name], schema).optional()
    };
    let schema = match (find(type_name)?, type_name.strip_suffix("_Event")) {
        (None, Some(service)) => find(service)?.map(|schema| schema.of_events(service)),
        (found, _) => found,
    };
    Ok(schema.filter(|schema| !schema.text.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_messages_are_those_before_a_damaged_one_as_well() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.db3");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT);
                 CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB);
                 INSERT INTO topics VALUES (1, '/map', 'a/A', 'cdr'), (2, '/chatter', 'a/A', 'cdr');
                 INSERT INTO messages VALUES (1, 2, 10, 'older'), (2, 1, 20, x'01'), (3, 1, 30, 'damaged'),
                     (4, 1, 40, x'02'), (5, 2, 50, x'03'), (6, 1, 60, x'04')",
            )
            .unwrap();
        drop(connection);
        let file = SqliteFile::open(&path, &path).unwrap();
        let look = |before, count| {
            let mut problems = Vec::new();
            let found = file.latest(&[Some(0), Some(1)], &[0], Last { count, before }, &mut problems);
            let times: Vec<u64> = found.iter().map(|(stamps, ..)| stamps.received).collect();
            (times, problems.len())
        };
        assert_eq!(look(60, 1), (vec![40], 0));
        assert_eq!(look(60, 2), (vec![20, 40], 1));
        assert_eq!(look(100, usize::MAX), (vec![20, 40, 60], 1));
    }

    #[test]
    fn a_cursor_that_could_not_open_its_file_tries_again() {
        let directory = tempfile::tempdir().unwrap();
        let (path, moved) = (directory.path().join("a.db3"), directory.path().join("moved"));
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT);
                 CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB);
                 INSERT INTO topics VALUES (1, '/map', 'a/A', 'cdr');
                 INSERT INTO messages VALUES (1, 1, 10, x'01')",
            )
            .unwrap();
        drop(connection);
        let mut cursor = SqliteFile::open(&path, &path).unwrap().cursor(vec![Some(0)]);
        let wanted = Wanted { topics: vec![true], from: 0, until: u64::MAX };
        std::fs::rename(&path, &moved).unwrap();
        assert!(cursor.bound(&wanted).is_some());
        assert!(matches!(cursor.step(&wanted), Step::Damaged(_)));
        assert_eq!(cursor.bound(&wanted), None);
        std::fs::rename(&moved, &path).unwrap();
        cursor.rewind();
        assert_eq!(cursor.bound(&wanted), Some(10));
        assert!(matches!(cursor.step(&wanted), Step::Message(..)));
    }
}
