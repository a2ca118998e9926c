//! A robot's graph with messages that a peer carries: the publishers with their rates, the
//! subscriptions, and the arrivals with their delays. As in `sinew bench topology`, every publisher
//! has a timer of its own, no message causes another, and each is newly made. The rules for what
//! counts are the same on both sides ([`sinew_bench::topology::seen`]).

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sinew_bench::graph::Graph;
use sinew_bench::machine::resident_bytes;
use sinew_bench::process::await_all;
use sinew_bench::rounds::Meter;
use sinew_bench::topology::seen::{RunSpan, Seen, figures, room_for};

use crate::{Figures, Result, now_ns};

/// Bytes in front of a message's data: stamp, number and publisher.
const HEAD: usize = 16;

/// A graph, and the log of a run.
pub struct Robot {
    graph: Graph,
    span: RunSpan,
    log: Log,
    /// Number of messages that each publisher has sent, in the order of [`Robot::sources`].
    published: Vec<Arc<AtomicU32>>,
}

/// The observations of all subscriptions.
type Log = Arc<Mutex<Vec<Seen>>>;

/// A publisher with a timer of `period`, at which it publishes the next message.
#[derive(Debug)]
pub struct Source {
    /// Its topic.
    pub topic: String,
    /// Its period.
    pub period: Duration,
    size: usize,
    /// Its index among the topic's publishers.
    place: u16,
    published: Arc<AtomicU32>,
}

/// A subscription.
#[derive(Clone)]
pub struct Listener {
    /// Its topic.
    pub topic: String,
    subscription: u16,
    log: Log,
}

impl Source {
    /// Returns the next message, stamped.
    pub fn message(&mut self) -> Vec<u8> {
        let mut bytes = vec![0; HEAD + self.size];
        let number = self.published.fetch_add(1, Ordering::Relaxed); // a count of its own
        bytes[8..12].copy_from_slice(&number.to_le_bytes());
        bytes[12..14].copy_from_slice(&self.place.to_le_bytes());
        bytes[..8].copy_from_slice(&now_ns().to_le_bytes());
        bytes
    }
}

impl Listener {
    /// Records a message: call it first. A message without a head counts as lost.
    pub fn arrive(&self, message: &[u8]) {
        let now = now_ns();
        let Some(&head) = message.first_chunk::<HEAD>() else { return };
        let [stamp, rest] = head.as_chunks::<8>().0 else { return };
        let (number, place) = rest.split_at(4);
        self.log().push(Seen {
            subscription: self.subscription,
            publisher: u16::from_le_bytes([place[0], place[1]]),
            number: u32::from_le_bytes([number[0], number[1], number[2], number[3]]),
            latency_ns: now - i64::from_le_bytes(*stamp),
        });
    }

    fn log(&self) -> MutexGuard<'_, Vec<Seen>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Robot {
    /// Loads the graph of that name, for a run of `time`.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn load(name: &str, time: Duration) -> Result<Self> {
        let (graph, span) = (Graph::load(name)?, RunSpan::of(time));
        let log = Arc::new(Mutex::new(room_for(&graph, 1.0, span)));
        let publishers = graph.nodes.iter().map(|node| node.publishers.len()).sum();
        let published = std::iter::repeat_with(Arc::default).take(publishers).collect();
        Ok(Self { graph, span, log, published })
    }

    /// Returns all topics, each once.
    pub fn topics(&self) -> impl Iterator<Item = &str> {
        self.graph.periods_by_topic().into_keys()
    }

    /// Returns all subscriptions.
    pub fn listeners(&self) -> Vec<Listener> {
        let topics = self.graph.nodes.iter().flat_map(|node| &node.subscribers);
        let listener = |(subscription, topic): (u16, &String)| Listener {
            topic: topic.clone(),
            subscription,
            log: self.log.clone(),
        };
        (0..).zip(topics.map(|subscriber| &subscriber.topic)).map(listener).collect()
    }

    /// Returns all publishers.
    pub fn sources(&self) -> Vec<Source> {
        let mut sources: Vec<Source> = Vec::new();
        let plans = self.graph.nodes.iter().flat_map(|node| &node.publishers);
        for (plan, published) in plans.zip(&self.published) {
            let before = sources.iter().filter(|source| source.topic == plan.topic).count();
            sources.push(Source {
                topic: plan.topic.clone(),
                period: plan.period(),
                size: plan.data_size(),
                place: u16::try_from(before).unwrap_or(u16::MAX),
                published: published.clone(),
            });
        }
        sources
    }

    /// Lets the graph run for its time, after its timers have been started; stops its timers by
    /// calling `stop`, waits for messages in transit, and returns the figures.
    pub fn measure(self, stop: impl FnOnce()) -> Figures {
        let rss_start_bytes = resident_bytes();
        std::thread::sleep(self.span.warm_up());
        let meter = Meter::start();
        std::thread::sleep(self.span.rest());
        let usage = meter.usage();
        stop();
        let sent: Vec<_> = self.published.iter().map(|count| count.load(Ordering::Relaxed).into()).collect();
        let listeners = self.listeners();
        let subscriptions =
            |topic: &str| listeners.iter().filter(|listener| listener.topic == topic).count() as u64;
        let sources = self.sources();
        let expected = sources.iter().zip(&sent).map(|(source, sent)| sent * subscriptions(&source.topic));
        let log = || self.log.lock().unwrap_or_else(PoisonError::into_inner);
        await_all(expected.sum(), || log().len() as u64);
        let figures = figures(&self.graph, 1.0, self.span, &log(), &sent);
        Figures { rss_start_bytes, ..figures.using(usage) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_arrives_once_for_each_listener_and_what_is_not_passed_on_is_lost() {
        let robot = Robot::load("sierra_nevada", Duration::from_millis(1)).unwrap();
        let (listeners, sources) = (robot.listeners(), robot.sources());
        assert_eq!((listeners.len(), sources.len(), robot.topics().count()), (17, 13, 13));
        let danube = sources.iter().find(|source| source.topic == "danube").unwrap();

        // Four periods; two of them warm up.
        let robot = Robot::load("sierra_nevada", 4 * danube.period).unwrap();
        let (listeners, mut sources) = (robot.listeners(), robot.sources());
        let danube = sources.iter_mut().find(|source| source.topic == "danube").unwrap();
        let messages: Vec<_> = (0..4).map(|_| danube.message()).collect();
        assert_eq!(messages[0].len(), HEAD + 8);
        let to_danube: Vec<_> = listeners.iter().filter(|listener| listener.topic == "danube").collect();
        for listener in &to_danube {
            [0, 1, 3].into_iter().for_each(|passed_on| listener.arrive(&messages[passed_on]));
        }
        let figures = robot.measure(|| ());
        assert_eq!((to_danube.len(), figures.messages, figures.lost), (4, Some(4), Some(4)));
        assert_eq!((figures.reordered, figures.too_late), (None, Some(0)));
    }
}
