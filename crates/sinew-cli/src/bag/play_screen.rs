//! What `sinew bag play` shows: a screen, lines, or JSON.

use std::time::Duration;

use serde_json::{Value, json};
use sinew_bag::{PlayEnd, PlayedTopic, Player, PlayerStatistics, Progress, SkippedTopic};
use sinew_bench::clock::now_ns;

use super::info::{count, size};
use crate::harmless::one_line;

/// A look at a player, and the one before.
pub(super) struct Figures {
    statistics: PlayerStatistics,
    progress: Progress,
    rate: f64,
    is_paused: bool,
    at_ns: i64,
    before: Option<Box<Figures>>,
}

/// The end of a player: the reason, the damage that was found, and the topics that weren't played.
pub(super) type End<'a> = (PlayEnd, &'a [String], &'a [SkippedTopic]);

impl Figures {
    pub(super) fn of(player: &Player, before: Option<Self>) -> Self {
        let before = before.map(|before| Box::new(Self { before: None, ..before }));
        Self {
            statistics: player.statistics(),
            progress: player.progress(),
            rate: player.rate(),
            is_paused: player.is_paused(),
            at_ns: now_ns(),
            before,
        }
    }

    pub(super) fn lost(&self) -> u64 {
        self.statistics.lost()
    }

    /// Returns the growth of a number each second.
    #[expect(clippy::cast_precision_loss, reason = "it is printed with few digits")]
    fn growth(&self, number: impl Fn(&PlayerStatistics) -> u64) -> f64 {
        let Some(before) = &self.before else { return 0.0 };
        let span = (self.at_ns - before.at_ns).max(1) as f64 / 1e9;
        number(&self.statistics).saturating_sub(number(&before.statistics)) as f64 / span
    }

    /// Returns the real time that is left, in seconds.
    #[expect(clippy::cast_precision_loss, reason = "it is printed with few digits")]
    fn left(&self) -> f64 {
        let Progress { position, end, .. } = self.progress;
        end.saturating_sub(position) as f64 / 1e9 / self.rate
    }

    /// Returns the line of the whole player.
    #[expect(clippy::cast_precision_loss, reason = "it is printed with few digits")]
    pub(super) fn line(&self) -> String {
        let Progress { position, start, end, rounds, .. } = self.progress;
        let seconds = |from: u64, to: u64| to.saturating_sub(from) as f64 / 1e9;
        let mut line = format!("{:.1} of {:.1} s", seconds(start, position), seconds(start, end));
        if self.rate.is_finite() {
            line.push_str(&format!(" x {:.3}, {:.1} s left", self.rate, self.left()));
        }
        line.push_str(&format!(
            " | {}, {:.0} per second | {} lost",
            count(self.statistics.published(), "message"),
            self.growth(PlayerStatistics::published),
            self.lost()
        ));
        if rounds > 0 {
            line.push_str(&format!(" | round {}", rounds.saturating_add(1)));
        }
        if self.is_paused {
            line.push_str(" | paused");
        }
        line
    }

    /// Returns the lines of the screen.
    pub(super) fn screen(&self, keys: &str, (columns, rows): (usize, usize)) -> Vec<String> {
        let mut lines = vec![
            self.line(),
            self.bar(columns),
            String::new(),
            format!("{:>12} {:>10} {:>10} {:>9}  topic", "messages", "per second", "MB/s", "lost"),
        ];
        for (place, topic) in self.statistics.topics.iter().enumerate() {
            let of = |number: fn(&PlayedTopic) -> u64| {
                self.growth(|statistics| statistics.topics.get(place).map_or(0, number))
            };
            lines.push(format!(
                "{:>12} {:>10.1} {:>10.2} {:>9}  {}",
                topic.published,
                of(|topic| topic.published),
                of(|topic| topic.bytes) / 1e6,
                topic.lost,
                one_line(&topic.name)
            ));
        }
        lines.truncate(rows.saturating_sub(1));
        lines.push(keys.to_owned());
        let cut = |line: String| line.chars().take(columns).collect();
        lines.into_iter().map(cut).collect()
    }

    /// Draws the place in the bag.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a number of columns"
    )]
    fn bar(&self, columns: usize) -> String {
        let Progress { position, start, end, .. } = self.progress;
        let width = columns.saturating_sub(2);
        let share = (position - start) as f64 / (end - start).max(1) as f64;
        let done = ((width as f64 * share) as usize).min(width);
        format!("[{}{}]", "=".repeat(done), " ".repeat(width - done))
    }

    /// Returns the figures as JSON, at the end with what only shows then.
    pub(super) fn json(&self, end: Option<End<'_>>) -> Value {
        let topic = |topic: &PlayedTopic| {
            json!({
                "name": topic.name,
                "type": topic.type_name,
                "messages": topic.published,
                "restored": topic.restored,
                "lost": topic.lost,
                "bytes": topic.bytes,
            })
        };
        let lateness = &self.statistics.lateness;
        let nanoseconds = |late: Duration| u64::try_from(late.as_nanos()).unwrap_or(u64::MAX);
        let late = |percent| lateness.percentile(percent).map(nanoseconds);
        let mut value = json!({
            "position_ns": self.progress.position,
            "start_ns": self.progress.start,
            "end_ns": self.progress.end,
            "rounds": self.progress.rounds,
            "rate": self.rate.is_finite().then_some(self.rate),
            "paused": self.is_paused,
            "left_seconds": self.rate.is_finite().then(|| self.left()),
            "messages": self.statistics.published(),
            "lost": self.lost(),
            "delayed_ns": self.statistics.delayed,
            "late_ns": {"p50": late(50.0), "p99": late(99.0), "max": late(100.0)},
            "topics": self.statistics.topics.iter().map(topic).collect::<Vec<_>>(),
        });
        if let (Some((end, problems, skipped)), Value::Object(fields)) = (end, &mut value) {
            let end = match end {
                PlayEnd::Finished => "finished",
                PlayEnd::Failed => "failed",
                _ => "stopped",
            };
            let skipped = skipped
                .iter()
                .map(|topic| json!({"name": topic.name, "type": topic.type_name, "why": topic.why}));
            fields.insert("end".to_owned(), end.into());
            fields.insert("problems".to_owned(), problems.into());
            fields.insert("skipped".to_owned(), skipped.collect());
        }
        value
    }
}

/// Returns the lines that end a player.
pub(super) fn summary(figures: &Figures) -> String {
    let statistics = &figures.statistics;
    let bytes = statistics.topics.iter().map(|topic| topic.bytes).sum();
    let mut text = format!(
        "{} of {}, {}",
        count(statistics.published(), "message"),
        count(statistics.topics.len() as u64, "topic"),
        size(bytes)
    );
    if let Some(late) = statistics.lateness.percentile(99.0) {
        text.push_str(&format!(", 99 % of them less than {late:.1?} late"));
    }
    text.push('\n');
    for topic in statistics.topics.iter().filter(|topic| topic.lost > 0) {
        text.push_str(&format!("{}: {} lost\n", one_line(&topic.name), count(topic.lost, "message")));
    }
    text
}
