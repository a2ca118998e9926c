//! A bag's topics over time as a picture, with the gaps between their messages.

use std::path::Path;

use sinew_bag::{BagReader, Selection};

use super::info::{count, seconds, size};
use crate::chart::{self, Row, Timeline};
use crate::cli::bag::BagInfoOptions;
use crate::error::Error;
use crate::harmless::one_line;
use crate::output::says;

/// Most topics in a picture.
const TOPICS: usize = 200;
/// Most parts of the time between which a gap can be seen.
const PARTS: u64 = 800;
/// A gap is longer than this many times the mean time between two messages.
const MISSING: u64 = 4;

/// Writes the picture, if one is asked for.
pub(super) fn picture(options: &BagInfoOptions) -> Result<(), Error> {
    match &options.picture {
        Some(path) => save(&BagReader::open(&options.path.bag)?, path),
        None => Ok(()),
    }
}

fn save(bag: &BagReader, path: &Path) -> Result<(), Error> {
    let (begin, end) = bag.times().unwrap_or_default();
    let least = (end - begin) / PARTS;
    let mut presences: Vec<Presence> = Vec::new();
    for topic in bag.topics().iter().take(TOPICS) {
        let mean = (end - begin) / topic.message_count.max(1);
        presences.push(Presence { longest: (mean * MISSING).max(least), spans: Vec::new() });
    }
    let mut lost = 0;
    for message in bag.messages(&Selection::all())? {
        let Ok(message) = message.inspect_err(|error| says(&format!("warning: {error}"))) else {
            lost += 1;
            continue;
        };
        let place = bag.topics().iter().position(|topic| std::sync::Arc::ptr_eq(topic, &message.topic));
        if let Some(presence) = place.and_then(|place| presences.get_mut(place)) {
            presence.add(message.stamps.received);
        }
    }
    let since = |time: u64| (time - begin) as f64 / 1e9;
    let rows = bag.topics().iter().zip(&presences).map(|(topic, presence)| Row {
        name: one_line(&topic.name),
        about: count(topic.message_count, "message"),
        spans: presence.spans.iter().map(|(from, to)| (since(*from), since(*to))).collect(),
    });
    let name = bag.path().file_name().unwrap_or_default().to_string_lossy();
    let bytes = bag.files().iter().map(|file| file.size).sum();
    let (messages, length) = (count(bag.message_count(), "message"), seconds(end - begin));
    let others = bag.topics().len().saturating_sub(TOPICS);
    let timeline = Timeline {
        title: format!("{}: {length}, {messages}, {}", one_line(&name), size(bytes)),
        times: (0.0, since(end)),
        rows: rows.collect(),
        note: if others == 0 {
            String::new()
        } else {
            format!("and {}", count(others as u64, "other topic"))
        },
    };
    chart::save(&timeline, path)?;
    if lost == 0 { Ok(()) } else { Err(Error::DamagedBag { count: lost }) }
}

/// When a topic's messages were there.
struct Presence {
    /// Longest time between two messages that is no gap.
    longest: u64,
    spans: Vec<(u64, u64)>,
}

impl Presence {
    fn add(&mut self, time: u64) {
        match self.spans.last_mut() {
            Some((_, end)) if time - *end <= self.longest => *end = time,
            _ => self.spans.push((time, time)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_ends_a_span() {
        let mut presence = Presence { longest: 4, spans: Vec::new() };
        [1, 3, 7, 12, 12].into_iter().for_each(|time| presence.add(time));
        assert_eq!(presence.spans, [(1, 7), (12, 12)]);
    }
}
