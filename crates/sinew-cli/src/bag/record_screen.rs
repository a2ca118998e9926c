//! What `sinew bag record` shows: a screen, lines, or JSON.

use serde_json::{Value, json};
use sinew_bag::{Recorded, RecordedTopic};

use super::info::{count, size};
use crate::harmless::one_line;

/// Two looks at a recording.
pub(super) struct Figures {
    pub(super) now: Recorded,
    before: Recorded,
    /// Time between them, in seconds.
    span: f64,
}

impl Figures {
    pub(super) fn new(before: Recorded, now: Recorded, span: f64) -> Self {
        Self { now, before, span: span.max(1e-9) }
    }

    #[expect(clippy::cast_precision_loss, reason = "it is printed with few digits")]
    fn rate(&self, before: u64, now: u64) -> f64 {
        now.saturating_sub(before) as f64 / self.span
    }

    fn messages_per_second(&self) -> f64 {
        self.rate(self.before.messages(), self.now.messages())
    }

    fn bytes_per_second(&self) -> f64 {
        self.rate(self.before.bytes(), self.now.bytes())
    }

    /// Returns the line of the whole recording.
    pub(super) fn line(&self) -> String {
        let now = &self.now;
        let mut line = format!(
            "{} of {}, {} | {:.0} per second, {:.1} MB/s | {} lost",
            count(now.messages(), "message"),
            count(now.topics.len() as u64, "topic"),
            size(now.bytes()),
            self.messages_per_second(),
            self.bytes_per_second() / 1e6,
            now.lost()
        );
        if now.is_paused {
            line.push_str(" | paused");
        }
        line
    }

    /// Returns the lines of the screen.
    pub(super) fn screen(&self, path: &str, keys: &str, (columns, rows): (usize, usize)) -> Vec<String> {
        let mut lines = vec![
            format!("Recording to {}", one_line(path)),
            self.line(),
            format!("{} wait", size(self.now.waiting_bytes)),
            String::new(),
            format!("{:>12} {:>10} {:>10} {:>9}  topic", "messages", "per second", "MB/s", "lost"),
        ];
        let none = RecordedTopic::default();
        let mut topics: Vec<(usize, &RecordedTopic)> = self.now.topics.iter().enumerate().collect();
        topics.sort_by_key(|(_, topic)| (std::cmp::Reverse(topic.lost()), &topic.name));
        for (place, topic) in topics {
            let before = self.before.topics.get(place).unwrap_or(&none);
            lines.push(format!(
                "{:>12} {:>10.1} {:>10.2} {:>9}  {}",
                topic.messages,
                self.rate(before.messages, topic.messages),
                self.rate(before.bytes, topic.bytes) / 1e6,
                topic.lost(),
                one_line(&topic.name)
            ));
        }
        lines.truncate(rows.saturating_sub(1));
        lines.push(keys.to_owned());
        let cut = |line: String| line.chars().take(columns).collect();
        lines.into_iter().map(cut).collect()
    }

    pub(super) fn json(&self) -> Value {
        let topic = |topic: &RecordedTopic| {
            json!({
                "name": topic.name,
                "type": topic.type_name,
                "messages": topic.messages,
                "bytes": topic.bytes,
                "early": topic.early,
                "lost_in_transport": topic.lost_in_transport,
                "lost_in_recorder": topic.lost_in_recorder,
            })
        };
        json!({
            "output": self.now.path.to_string_lossy(),
            "messages": self.now.messages(),
            "bytes": self.now.bytes(),
            "lost": self.now.lost(),
            "files": self.now.files,
            "repeated": self.now.repeated,
            "messages_per_second": self.messages_per_second(),
            "bytes_per_second": self.bytes_per_second(),
            "waiting_bytes": self.now.waiting_bytes,
            "paused": self.now.is_paused,
            "topics": self.now.topics.iter().map(topic).collect::<Vec<_>>(),
            "failure": self.now.failure.as_ref().map(ToString::to_string),
        })
    }
}

/// Returns the lines that end a recording.
pub(super) fn summary(recorded: &Recorded) -> String {
    let mut text = format!(
        "{}: {} of {} in {}, {}\n",
        one_line(&recorded.path.to_string_lossy()),
        count(recorded.messages(), "message"),
        count(recorded.topics.len() as u64, "topic"),
        count(recorded.files, "file"),
        size(recorded.bytes())
    );
    for topic in recorded.topics.iter().filter(|topic| topic.lost() > 0) {
        let name = one_line(&topic.name);
        text.push_str(&format!(
            "{name}: {} lost, {} of them on the way and {} at the disk\n",
            count(topic.lost(), "message"),
            topic.lost_in_transport,
            topic.lost_in_recorder
        ));
    }
    for topic in recorded.topics.iter().filter(|topic| topic.early > 0) {
        let (name, early) = (one_line(&topic.name), count(topic.early, "message"));
        text.push_str(&format!("{name}: {early} came before the recorder could hear a new publisher\n"));
    }
    text
}
