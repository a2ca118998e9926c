//! A robot's graph, of which a peer carries the messages: who publishes what how often, who
//! listens, what arrives and how late. As `sinew bench topology` does it: every publisher has a
//! timer of its own, no message leads to another, and each is made anew.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sinew_bench::clock::nanoseconds;
use sinew_bench::histogram::Histogram;
use sinew_bench::machine::resident_bytes;
use sinew_bench::process::await_all;
use sinew_bench::report::{hundredth, tenth};
use sinew_bench::rounds::CpuUse;
use sinew_bench::topology::graph::Graph;
use sinew_bench::topology::tracker::{Arrival, Tracker};

use crate::{Figures, Result, now_ns};

/// Bytes in front of a message's data: stamp, number and publisher.
const HEAD: usize = 16;

/// A graph, and what is noted of a run.
pub struct Robot {
    graph: Graph,
    time: Duration,
    log: Log,
    /// How many messages each publisher has sent, in the order of [`Robot::sources`].
    published: Vec<Arc<AtomicU32>>,
}

/// What all subscriptions see, one behind the other: it is looked at afterwards.
type Log = Arc<Mutex<Vec<Seen>>>;

/// A message that arrived.
#[derive(Clone, Copy)]
struct Seen {
    subscription: u16,
    publisher: u16,
    number: u32,
    latency_ns: i64,
}

/// A publisher: has a timer of `period`, at which it publishes the next message.
#[derive(Debug)]
pub struct Source {
    /// Where.
    pub topic: String,
    /// How often.
    pub period: Duration,
    size: usize,
    /// Its place among the topic's publishers.
    place: u16,
    published: Arc<AtomicU32>,
}

/// A subscription.
#[derive(Clone)]
pub struct Listener {
    /// To what.
    pub topic: String,
    subscription: u16,
    log: Log,
}

impl Source {
    /// The next message, stamped.
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
    /// A message arrived: call it first thing. One without a head counts as lost.
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
    /// The graph of that name, to be run for so long.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn load(name: &str, time: Duration) -> Result<Self> {
        let graph = Graph::load(name)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a guess at memory to reserve"
        )]
        let room = (graph.deliveries_per_second() * time.as_secs_f64() * 1.1) as usize + 1000;
        // A non-zero fill, so that its memory is there already.
        let mut log = vec![Seen { subscription: 0, publisher: 0, number: 1, latency_ns: 0 }; room];
        log.clear();
        let publishers = graph.nodes.iter().map(|node| node.publishers.len()).sum();
        let published = std::iter::repeat_with(Arc::default).take(publishers).collect();
        Ok(Self { graph, time, log: Arc::new(Mutex::new(log)), published })
    }

    /// All topics, each once.
    pub fn topics(&self) -> impl Iterator<Item = &str> {
        self.graph.periods_by_topic().into_keys()
    }

    /// All subscriptions.
    pub fn listeners(&self) -> Vec<Listener> {
        let topics = self.graph.nodes.iter().flat_map(|node| &node.subscribers);
        let listener = |(subscription, topic): (u16, &String)| Listener {
            topic: topic.clone(),
            subscription,
            log: self.log.clone(),
        };
        (0..).zip(topics.map(|subscriber| &subscriber.topic)).map(listener).collect()
    }

    /// All publishers.
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

    /// Lets the graph, whose timers have just been started, run for its time; has its timers
    /// stopped by `stop`, waits for what is still under way, and gives the figures.
    ///
    /// # Errors
    ///
    /// None but those of waiting.
    pub fn measure(self, stop: impl FnOnce()) -> Result<Figures> {
        let rss_start_bytes = resident_bytes();
        let cpu = CpuUse::start();
        std::thread::sleep(self.time);
        let cpu_percent = cpu.percent();
        let rss_bytes = resident_bytes();
        stop();
        let sources = self.sources();
        let sent = |source: &Source| u64::from(source.published.load(Ordering::Relaxed));
        let listeners = self.listeners();
        let subscriptions =
            |topic: &str| listeners.iter().filter(|listener| listener.topic == topic).count() as u64;
        let expected = sources.iter().map(|source| sent(source) * subscriptions(&source.topic)).sum();
        let received = || self.log.lock().unwrap_or_else(PoisonError::into_inner).len() as u64;
        let pause = || {
            std::thread::sleep(Duration::from_millis(1));
            Ok(())
        };
        await_all(expected, received, pause)?;

        let mut arrivals = Arrivals::of(&listeners);
        let log = std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner));
        let periods = self.graph.periods_by_topic();
        for seen in log {
            let topic = listeners[usize::from(seen.subscription)].topic.as_str();
            let period = periods.get(topic).and_then(|periods| periods.get(usize::from(seen.publisher)));
            arrivals.scan(seen, period.map_or(i64::MAX, |&period| nanoseconds(period)));
        }
        for source in &sources {
            arrivals.finish(&listeners, source, sent(source));
        }
        let cpu_percent = Some(hundredth(cpu_percent));
        Ok(Figures { cpu_percent, rss_bytes, rss_start_bytes, ..arrivals.figures() })
    }
}

/// The figures of a log.
struct Arrivals {
    /// One per subscription.
    trackers: Vec<Tracker>,
    latencies: Histogram,
    /// Of those that were not too late.
    sum_ns: f64,
    in_time: u64,
}

impl Arrivals {
    fn of(listeners: &[Listener]) -> Self {
        let trackers = listeners.iter().map(|_| Tracker::new(usize::from(u8::MAX))).collect();
        Self { trackers, latencies: Histogram::empty(), sum_ns: 0.0, in_time: 0 }
    }

    fn scan(&mut self, Seen { subscription, publisher, number, latency_ns }: Seen, period_ns: i64) {
        self.latencies.record(latency_ns);
        let arrival = Arrival { publisher: usize::from(publisher), number, period_ns, latency_ns };
        if self.trackers[usize::from(subscription)].scan(&arrival) {
            self.sum_ns += latency_ns as f64;
            self.in_time += 1;
        }
    }

    /// Counts what a publisher sent last and didn't come.
    fn finish(&mut self, listeners: &[Listener], source: &Source, sent: u64) {
        for (listener, tracker) in listeners.iter().zip(&mut self.trackers) {
            if listener.topic == source.topic {
                tracker.finish(usize::from(source.place), sent);
            }
        }
    }

    fn figures(&self) -> Figures {
        let count = |of: fn(&Tracker) -> u64| Some(self.trackers.iter().map(of).sum::<u64>());
        Figures {
            mean_ns: (self.in_time > 0).then(|| tenth(self.sum_ns / self.in_time as f64)),
            messages: count(|tracker| tracker.received),
            lost: count(|tracker| tracker.lost),
            reordered: count(|tracker| tracker.reordered).filter(|&count| count > 0),
            late: count(|tracker| tracker.late),
            too_late: count(|tracker| tracker.too_late),
            ..Figures::of(self.latencies.summary())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_arrives_once_for_each_listener_and_what_is_not_passed_on_is_lost() {
        let robot = Robot::load("sierra_nevada", Duration::from_millis(1)).unwrap();
        let (listeners, mut sources) = (robot.listeners(), robot.sources());
        assert_eq!((listeners.len(), sources.len(), robot.topics().count()), (17, 13, 13));
        let danube = sources.iter_mut().find(|source| source.topic == "danube").unwrap();
        let (first, _lost, third) = (danube.message(), danube.message(), danube.message());
        assert_eq!(first.len(), HEAD + 8);
        let to_danube: Vec<_> = listeners.iter().filter(|listener| listener.topic == "danube").collect();
        for listener in &to_danube {
            listener.arrive(&first);
            listener.arrive(&third);
        }
        let figures = robot.measure(|| ()).unwrap();
        assert_eq!((to_danube.len(), figures.messages, figures.lost), (4, Some(8), Some(4)));
        assert_eq!((figures.reordered, figures.too_late), (None, Some(0)));
    }
}
