//! `sinew bag record`.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use sinew::Context;
use sinew_bag::{ChunkCompression, Recorded, Recorder, RecorderBuilder, Schema, Snapshot, WriterOptions};
use sinew_bench::clock::{nanoseconds, now_ns};
use sinew_shm::Domain;

use super::copies::writer_options;
use super::info::count;
use super::record_screen::{Figures, summary};
use super::session;
use crate::cli::record::{Compression, RecordOptions};
use crate::error::Error;
use crate::interfaces::{PackageSources, Types};
use crate::output::{print, print_json};
use crate::terminal::{self, Terminal};

/// Time between two looks at the recording.
const PERIOD: Duration = Duration::from_secs(1);

/// Runs `sinew bag record`.
pub(super) fn run(options: &RecordOptions) -> Result<(), Error> {
    let (context, number) = session::context(&options.session)?;
    let output = options.output.clone().unwrap_or_else(default_name);
    let recorder = configured(&context, options, number)?;
    Session::begin(options, || Ok(recorder.start(&output)?))?.run(options.session.json)
}

/// Returns rosbag2's name for a bag that begins now.
fn default_name() -> PathBuf {
    let now = u64::try_from(sinew::time::Time::wall().nanoseconds()).unwrap_or_default();
    let date = humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_nanos(now)).to_string();
    let date = date.trim_end_matches('Z').replace(['-', ':'], "_").replace('T', "-");
    format!("rosbag2_{date}").into()
}

/// Returns a recorder that does what the options say.
fn configured(context: &Context, options: &RecordOptions, domain: u32) -> Result<RecorderBuilder, Error> {
    let mut builder = Recorder::builder(context)
        .topics(options.topics.iter().chain(&options.named_topics))
        .types(&options.topic_types)
        .services(&options.services)
        .actions(&options.actions)
        .exclude(&options.exclude_topics)
        .exclude_types(&options.exclude_topic_types)
        .hidden(options.include_hidden_topics)
        .custom_data(options.custom_data.iter().cloned())
        .storage(storage(options)?)
        .qos_overrides(session::qos_overrides(&options.session)?)
        .control_services();
    if let Some(name) = &options.session.node_name {
        builder = builder.node_name(name);
    }
    if options.all || options.all_topics {
        builder = builder.all_topics();
    }
    if options.all || options.all_services {
        builder = builder.all_services();
    }
    if options.all || options.all_actions {
        builder = builder.all_actions();
    }
    if let Some(pattern) = &options.regex {
        builder = builder.pattern(pattern);
    }
    if let Some(pattern) = &options.exclude_regex {
        builder = builder.exclude_pattern(pattern);
    }
    if let Some(bytes) = options.max_cache_size {
        builder = builder.cache(bytes);
    }
    if options.lossless {
        builder = builder.lossless();
    }
    if options.start_paused {
        builder = builder.start_paused();
    }
    if options.snapshot_mode {
        builder = builder.snapshot(Snapshot { duration: options.snapshot_duration.unwrap_or(Duration::MAX) });
    }
    if let Some(topic) = &options.snapshot_trigger {
        builder = builder.trigger(topic);
    }
    let domain = Domain::find(options.session.place.dir.as_deref(), domain).ok().flatten();
    let types = Types::new(PackageSources::open(&options.definitions)?, domain);
    Ok(builder.definitions(move |name, hash| {
        let found = types.description(&name.parse().ok()?, Some(hash)).ok()?;
        Some(Schema::of(&found))
    }))
}

fn storage(options: &RecordOptions) -> Result<WriterOptions, Error> {
    let mut storage = writer_options(&options.files)?;
    storage.max_files = options.max_bag_files.map_or(usize::MAX, |files| files as usize);
    storage.storage.compression = match options.compression {
        None => storage.storage.compression,
        Some(Compression::None) => ChunkCompression::None,
        Some(Compression::Lz4) => ChunkCompression::Lz4,
        Some(Compression::Zstd) => ChunkCompression::Zstd,
    };
    storage.storage.threads = options.compression_threads.unwrap_or(storage.storage.threads);
    Ok(storage)
}

/// A recording, and the terminal that shows it.
struct Session {
    recorder: Recorder,
    /// The first signal closes the other end.
    ended: UnixStream,
    /// Given back when the session ends.
    terminal: Option<Terminal>,
    has_keys: bool,
}

impl Session {
    /// Starts the recorder once signals end it properly.
    fn begin(
        options: &RecordOptions,
        start: impl FnOnce() -> Result<Recorder, Error>,
    ) -> Result<Self, Error> {
        let terminal = if options.session.has_screen() { Terminal::take()? } else { None };
        let ended = terminal::ended_on_signal(terminal.as_ref())?;
        let recorder = start()?;
        let has_keys = terminal.as_ref().is_some_and(Terminal::has_keys);
        Ok(Self { recorder, ended, terminal, has_keys })
    }

    /// Shows the recording each second until it ends.
    fn run(mut self, is_json: bool) -> Result<(), Error> {
        let (mut before, mut looked_ns) = (self.recorder.progress(), now_ns());
        while self.recorder.is_running() {
            if self.is_over(looked_ns + nanoseconds(PERIOD)) {
                break;
            }
            let (now, now_ns) = (self.recorder.progress(), now_ns());
            #[expect(clippy::cast_precision_loss, reason = "it is printed with few digits")]
            let figures = Figures::new(before, now.clone(), (now_ns - looked_ns) as f64 / 1e9);
            (before, looked_ns) = (now, now_ns);
            if self.show(&figures, is_json).is_err() {
                break; // the reader of the output is gone: the bag is ended properly all the same
            }
        }
        drop(self.terminal.take());
        end(self.recorder.stop(), before, is_json)
    }

    /// Waits for the time, and meanwhile does what keys say. Returns `true` if the recording is to
    /// end.
    fn is_over(&mut self, due_ns: i64) -> bool {
        while now_ns() < due_ns {
            let heard = terminal::wait_for_key(&self.ended, self.has_keys, Some(due_ns));
            if heard.end || heard.keys && self.read_keys() {
                return true;
            }
            if heard.keys {
                break; // shows what the key has done
            }
        }
        false
    }

    /// Handles the keys. Returns `true` if one ends the recording.
    fn read_keys(&mut self) -> bool {
        let mut typed = [0; 64];
        let Ok(count @ 1..) = rustix::io::read(io::stdin(), &mut typed) else {
            self.has_keys = false; // the terminal is gone
            return true;
        };
        for key in &typed[..count] {
            match key {
                b' ' if self.recorder.progress().is_paused => self.recorder.resume(),
                b' ' => self.recorder.pause(),
                b'n' => self.recorder.split(),
                b's' => drop(self.recorder.take_snapshot()),
                b'q' | b'Q' => return true,
                _ => {}
            }
        }
        false
    }

    fn show(&self, figures: &Figures, is_json: bool) -> Result<(), Error> {
        if is_json {
            return print_json(&figures.json());
        }
        if self.terminal.is_none() {
            return print(&format!("{}\n", figures.line()));
        }
        self.draw(figures).map_err(Error::Output)
    }

    fn draw(&self, figures: &Figures) -> io::Result<()> {
        let (columns, rows) = crossterm::terminal::size()?;
        let keys =
            if self.has_keys { "space: pause, n: new file, s: snapshot, q: end" } else { "Ctrl-C: end" };
        let path = figures.now.path.display().to_string();
        terminal::draw(&figures.screen(&path, keys, (columns.into(), rows.into())), rows)
    }
}

/// Reports the end of a recording.
fn end(recorded: Recorded, before: Recorded, is_json: bool) -> Result<(), Error> {
    if is_json {
        print_json(&Figures::new(before, recorded.clone(), PERIOD.as_secs_f64()).json())?;
    } else {
        print(&summary(&recorded))?;
    }
    let lost = count(recorded.lost(), "message");
    match (recorded.failure, recorded.topics.iter().any(|topic| topic.lost() > 0)) {
        (Some(source), _) => Err(Error::RecordingFailed { source, count: lost }),
        (None, true) => Err(Error::LostMessages { count: lost }),
        (None, false) => Ok(()),
    }
}
