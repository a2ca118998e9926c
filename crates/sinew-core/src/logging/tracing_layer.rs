//! The `tracing` crate's events as log lines.

use super::front;
use super::line::Place;
use crate::sys::logging::{self, LogLevel};
use std::fmt::{self, Write as _};
use tracing_core::field::{Field, Visit};
use tracing_core::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

/// Writes events of the `tracing` crate as log lines, once [`init`](super::init) was called: an
/// event's target is the logger, and the text contains its fields and the names of its spans. With
/// the feature `tracing`.
///
/// ```
/// use tracing_subscriber::layer::SubscriberExt as _;
/// # let directory = tempfile::tempdir().unwrap();
/// # sinew::logging::builder().directory(directory.path()).init().unwrap();
/// // after sinew::logging::init()
/// let subscriber = tracing_subscriber::registry().with(sinew::logging::TracingLayer);
/// tracing::subscriber::set_global_default(subscriber).unwrap();
/// ```
///
/// (Don't use the subscriber's `init`: with the feature `tracing-log` of `tracing-subscriber`,
/// which zenoh turns on, that would be a second logger for the `log` crate, beside this one.)
#[derive(Debug, Clone, Copy, Default)]
pub struct TracingLayer;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for TracingLayer {
    fn enabled(&self, metadata: &Metadata<'_>, _context: Context<'_, S>) -> bool {
        metadata.is_span() || level_of(metadata) >= logging::level(metadata.target())
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let Some(front) = front::installed() else { return };
        let mut text = String::new();
        for span in context.event_scope(event).into_iter().flat_map(|scope| scope.from_root()) {
            let _ = write!(text, "{}: ", span.name()); // a string takes everything
        }
        event.record(&mut Fields(&mut text));
        let metadata = event.metadata();
        let place = Place {
            module: metadata.module_path().unwrap_or(""),
            file: metadata.file().unwrap_or(""),
            line: metadata.line().unwrap_or(0),
        };
        front.say(level_of(metadata), metadata.target(), format_args!("{text}"), place);
    }
}

fn level_of(metadata: &Metadata<'_>) -> LogLevel {
    match *metadata.level() {
        Level::ERROR => LogLevel::Error,
        Level::WARN => LogLevel::Warn,
        Level::INFO => LogLevel::Info,
        _ => LogLevel::Debug,
    }
}

/// Writes the message, followed by the other fields.
struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.0, "{value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}
