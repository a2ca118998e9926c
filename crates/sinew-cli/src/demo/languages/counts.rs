//! How many images there were, and how many of them were copied.

use std::collections::HashMap;

use sinew::Context;
use sinew_shm::inspect::Snapshot;
use sinew_shm::{Counter, Domain, EndpointKind};

use crate::error::Error;
use crate::observed::EndpointId;

/// Width and height of an image; its pixels are red, green and blue.
pub(super) const SIZE: (u32, u32) = (1920, 1440);

/// Bytes of an image's pixels: 8.3 MB.
const BYTES: usize = SIZE.0 as usize * SIZE.1 as usize * 3;

/// The topics from the camera to the filter, and from there to the viewer.
const TOPICS: [&str; 2] = ["image", "negative"];

/// The counters of the ends of both topics in all processes, as any tool sees them. An end that has
/// gone keeps its last known counts.
pub(super) struct Counts {
    census: Snapshot,
    ends: HashMap<EndpointId, End>,
}

/// An end of a topic.
#[derive(Clone, Copy)]
struct End {
    /// The place of its topic in [`TOPICS`].
    topic: usize,
    publishes: bool,
    matched: u64,
    /// Messages that were published, or taken.
    images: u64,
    copies: u64,
    encodings: u64,
    decodings: u64,
    lost: u64,
}

impl Counts {
    pub(super) fn of(context: &Context) -> Result<Self, Error> {
        let domain = Domain::open(None, context.domain())?;
        Ok(Self { census: Snapshot::take(&domain)?, ends: HashMap::new() })
    }

    /// Reads the counters again.
    fn look(&mut self) {
        // If the directory can't be read any more, the known participants count.
        let _ = self.census.refresh();
        for peer in self.census.peers() {
            for (key, entity) in peer.endpoints() {
                let publishes = entity.kind == EndpointKind::Publisher;
                let name = entity.name.trim_start_matches('/');
                let topic = TOPICS.iter().position(|topic| *topic == name);
                let is_end = publishes || entity.kind == EndpointKind::Subscription;
                let (Some(topic), true, Some(counts)) = (topic, is_end, peer.counts(key)) else { continue };
                let of = |counter| counts.get(counter);
                let end = End {
                    topic,
                    publishes,
                    matched: of(Counter::Matched),
                    images: of(if publishes { Counter::Messages } else { Counter::Taken }),
                    copies: of(Counter::Copies),
                    encodings: of(Counter::Encodings),
                    decodings: of(Counter::Decodings),
                    lost: of(Counter::Overwritten) + of(Counter::Missed),
                };
                self.ends.insert((peer.id(), key), end);
            }
        }
    }

    /// Returns the images that one end of a topic published or took; if there are several, all.
    fn images(&self, topic: usize, publishes: bool) -> u64 {
        let ends = self.ends.values().filter(|end| end.topic == topic && end.publishes == publishes);
        ends.map(|end| end.images).sum()
    }

    /// Returns `true` if both topics have a publisher that has found a subscription.
    pub(super) fn are_matched(&mut self) -> bool {
        self.look();
        let has =
            |topic| self.ends.values().any(|end| end.topic == topic && end.publishes && end.matched > 0);
        has(0) && has(1)
    }

    fn lost(&self) -> u64 {
        self.ends.values().map(|end| end.lost).sum()
    }

    /// Returns `true` if the viewer has all images that were not lost.
    pub(super) fn have_arrived(&mut self) -> bool {
        self.look();
        self.images(1, false) + self.lost() >= self.images(0, true)
    }

    /// Reads the counters, and describes them.
    pub(super) fn line(&mut self) -> String {
        self.look();
        self.last_line()
    }

    pub(super) fn last_line(&self) -> String {
        let sum = |of: fn(&End) -> u64| self.ends.values().map(of).sum::<u64>();
        let (copies, encodings, decodings) =
            (sum(|end| end.copies), sum(|end| end.encodings), sum(|end| end.decodings));
        format!(
            "{} images of {:.1} MB from the camera, {} filtered, {} viewed: {copies} copies, {encodings} encodings, \
             {decodings} decodings, {} lost",
            self.images(0, true),
            BYTES as f64 / 1e6,
            self.images(1, true),
            self.images(1, false),
            self.lost(),
        )
    }
}
