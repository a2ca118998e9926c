//! `sinew topic delay`: the age of `header.stamp` when a message arrives, as in `ros2 topic delay`.
//!
//! The command takes part in the domain: it subscribes to all types that the publishers have, and
//! never makes one wait. If a message's first field is its header, it reads only the stamp.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Value, json};
use sinew::MessageInfo;
use sinew::QoS;
use sinew::graph::EndpointInfo;
use sinew::msg::TypeHash;
use sinew_msg::dynamic::{DynamicMessage, FieldPath, MessageType, Scalar};
use sinew_shm::Domain;

use super::list::TOPICS;
use super::listening::{Listener, Listening, context};
use crate::cli::tools::DelayOptions;
use crate::error::{Error, TypesError};
use crate::interfaces::{PackageSources, Types};
use crate::observed::Observed;
use crate::output::{print, print_json, says};
use sinew_bench::clock::{nanoseconds, now_ns};

/// Most messages that a report covers, as in `ros2 topic delay`.
const MOST: usize = 10_000;

/// Messages that wait for this command: older ones would be read too late.
const WAITING: usize = 10;

/// Reports until the end.
pub(super) fn run(options: &DelayOptions) -> Result<(), Error> {
    let watch = &options.watch;
    let (place, name) = (&watch.info.place, &watch.info.name);
    let mut observed = Observed::open(place)?;
    let seen = observed.read()?;
    let topics = seen.topics();
    if !topics.iter().any(|topic| topic.name == *name) {
        let names = topics.iter().map(|topic| topic.name.as_str());
        return Err(TOPICS.missing(&observed, names, name));
    }
    let domain = Domain::open(place.dir.as_deref(), observed.domain())?;
    let types = Types::new(PackageSources::open(&options.definitions)?, Some(domain));
    let builder = context(place, observed.domain()).interrupts(true).use_sim_time(options.use_sim_time);
    let mut listening = Listening::new(builder.build()?, "delay")?;
    let mut arrived = Arrived { types, node: listening.node().clone(), ages: VecDeque::new(), unstamped: 0 };
    listening.subscribe(name, &seen, &mut arrived)?;
    let mut due_ns = now_ns();
    for _ in 0..watch.count.unwrap_or(u64::MAX) {
        // After a long stop (Ctrl-Z), missed reports are not all made up for.
        due_ns = (due_ns + nanoseconds(watch.interval)).max(now_ns());
        if !listening.listen_until(due_ns, &mut arrived)? {
            return Ok(());
        }
        listening.subscribe(name, &observed.read()?, &mut arrived)?;
        let ages = arrived.of_the_last(nanoseconds(watch.window));
        match watch.info.json {
            true => print_json(&ages.json(name))?,
            false => print(&ages.text())?,
        }
    }
    Ok(())
}

/// The position of a type's stamp.
enum Stamp {
    /// Behind the first 4 bytes of the encoded form.
    First,
    /// Elsewhere: the message is decoded.
    Inside { message_type: Arc<MessageType>, paths: [FieldPath; 2] },
}

impl Stamp {
    /// Returns `None` if the type has no stamp.
    fn of(description: &sinew_msg::description::TypeDescription) -> Option<Self> {
        let message_type = Arc::new(MessageType::new(description).ok()?);
        let path = |text: &str| message_type.path(text).ok();
        let paths = [path("header.stamp.sec")?, path("header.stamp.nanosec")?];
        let first = description.type_description.fields.first()?;
        let is_first = first.name == "header" && first.field_type.nested_type_name == "std_msgs/msg/Header";
        Some(if is_first { Self::First } else { Self::Inside { message_type, paths } })
    }

    /// Returns the stamp in nanoseconds; `None` if the encoded form is invalid, or the stamp isn't
    /// set.
    fn in_encoded(&self, encoded: &[u8]) -> Option<i64> {
        let (seconds, nanoseconds) = match self {
            Self::First => {
                let is_little = encoded.get(1)? & 1 == 1;
                let word = |at: usize| {
                    let bytes = encoded.get(at..at + 4)?.try_into().ok()?;
                    Some(if is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
                };
                (i64::from(word(4)?.cast_signed()), i64::from(word(8)?))
            }
            Self::Inside { message_type, paths } => {
                let message = DynamicMessage::decode(message_type, encoded).ok()?;
                let number = |path| match message.part(path)?.value() {
                    sinew_msg::dynamic::Value::Scalar(Scalar::Signed(value)) => Some(*value),
                    sinew_msg::dynamic::Value::Scalar(Scalar::Unsigned(value)) => i64::try_from(*value).ok(),
                    _ => None,
                };
                (number(&paths[0])?, number(&paths[1])?)
            }
        };
        ((seconds, nanoseconds) != (0, 0))
            .then(|| seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds))
    }
}

/// The messages that have arrived.
struct Arrived {
    types: Types,
    /// With the clock that ages refer to.
    node: sinew::Node,
    /// Time of arrival, in steady nanoseconds, and age, in nanoseconds.
    ages: VecDeque<(i64, i64)>,
    /// Number without a stamp, since the last report.
    unstamped: u64,
}

impl Listener for Arrived {
    type Known = Stamp;

    fn qos(&self, _: &EndpointInfo) -> QoS {
        QoS::new().best_effort().keep_last(WAITING)
    }

    fn know(&mut self, publisher: &EndpointInfo, hash: TypeHash) -> Result<Stamp, Error> {
        let EndpointInfo { name, type_name, .. } = publisher;
        let message_type = type_name.parse().map_err(TypesError::from);
        let description = message_type.and_then(|name| self.types.description(&name, Some(hash)))?;
        Stamp::of(&description)
            .ok_or_else(|| Error::NoStamp { name: name.clone(), type_name: type_name.clone() })
    }

    fn take(&mut self, stamp: &Stamp, encoded: &[u8], _: &MessageInfo) -> Result<bool, Error> {
        let now = self.node.now().nanoseconds();
        self.add(stamp.in_encoded(encoded), now);
        Ok(true)
    }
}

impl Arrived {
    /// Adds a message with its stamp and the current time.
    fn add(&mut self, stamp: Option<i64>, now: i64) {
        let Some(stamp) = stamp else {
            self.unstamped += 1;
            return;
        };
        self.ages.push_back((now_ns(), now.saturating_sub(stamp)));
        if self.ages.len() > MOST {
            self.ages.pop_front();
        }
    }

    fn of_the_last(&mut self, window_ns: i64) -> Figures {
        let begin = now_ns().saturating_sub(window_ns);
        while self.ages.front().is_some_and(|(at, _)| *at < begin) {
            self.ages.pop_front();
        }
        let ages = self.ages.iter().map(|(_, age)| *age).collect();
        Figures::of(ages, std::mem::take(&mut self.unstamped))
    }
}

/// Statistics of ages.
#[derive(Debug, PartialEq)]
struct Figures {
    /// In nanoseconds, sorted from the least.
    ages: Vec<i64>,
    mean: f64,
    deviation: f64,
    unstamped: u64,
}

impl Figures {
    fn of(mut ages: Vec<i64>, unstamped: u64) -> Self {
        ages.sort_unstable();
        let count = ages.len().max(1) as f64;
        let mean = ages.iter().map(|age| *age as f64).sum::<f64>() / count;
        let square = ages.iter().map(|age| (*age as f64 - mean).powi(2)).sum::<f64>() / count;
        Self { ages, mean, deviation: square.sqrt(), unstamped }
    }

    /// Returns the age that `percent` of the messages don't exceed; `None` if there are too few
    /// messages to tell.
    fn percentile(&self, percent: usize) -> Option<i64> {
        let count = self.ages.len();
        let is_told = count * (100 - percent) >= 100;
        let rank = (count * percent).div_ceil(100);
        is_told.then(|| self.ages.get(rank.max(1) - 1).copied()).flatten()
    }

    /// Formats the ages in seconds, as in `ros2 topic delay`, to the microsecond, which is what
    /// clocks are good for.
    fn text(&self) -> String {
        if self.unstamped > 0 {
            says(&format!(
                "{} messages have no stamp: their header.stamp is 0, or can't be read",
                self.unstamped
            ));
        }
        let (Some(least), Some(most)) = (self.ages.first(), self.ages.last()) else {
            return "no new messages\n".to_owned();
        };
        let seconds = |ns: f64| format!("{:.6}", ns / 1e9);
        let mut text = format!(
            "average delay: {}\n\tmin: {}s max: {}s std dev: {}s window: {}\n",
            seconds(self.mean),
            seconds(*least as f64),
            seconds(*most as f64),
            seconds(self.deviation),
            self.ages.len()
        );
        let told = [50, 90, 99].into_iter().filter_map(|percent| {
            Some(format!("P{percent}: {}s", seconds(self.percentile(percent)? as f64)))
        });
        let told: Vec<_> = told.collect();
        if !told.is_empty() {
            text.push_str(&format!("\t{}\n", told.join(" ")));
        }
        text
    }

    fn json(&self, topic: &str) -> Value {
        let is_some = !self.ages.is_empty();
        json!({
            "topic": topic, "messages": self.ages.len(), "unstamped": self.unstamped,
            "average_delay_ns": is_some.then_some(self.mean), "std_dev_ns": is_some.then_some(self.deviation),
            "min_ns": self.ages.first(), "max_ns": self.ages.last(),
            "p50_ns": self.percentile(50), "p90_ns": self.percentile(90), "p99_ns": self.percentile(99),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_say_no_more_than_they_know() {
        let few = Figures::of(vec![3_000_000, 1_000_000], 0);
        assert_eq!((few.mean, few.deviation, few.percentile(50)), (2e6, 1e6, Some(1_000_000)));
        assert_eq!((few.percentile(90), few.percentile(99)), (None, None));
        assert_eq!(
            few.text(),
            "average delay: 0.002000\n\tmin: 0.001000s max: 0.003000s std dev: 0.001000s window: 2\n\tP50: 0.001000s\n"
        );
        let many = Figures::of((1..=100).map(|n| n * 1000).collect(), 0);
        assert_eq!([50, 90, 99].map(|p| many.percentile(p)), [Some(50_000), Some(90_000), Some(99_000)]);
        assert_eq!(Figures::of(vec![], 0).text(), "no new messages\n");
        assert_eq!(Figures::of(vec![-5], 0).json("/t")["min_ns"], -5, "clocks of two hosts differ");
    }

    #[test]
    fn a_stamp_is_read_where_it_lies() {
        let little = [0, 1, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0];
        let big = [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 5];
        assert_eq!(Stamp::First.in_encoded(&little), Some(2_000_000_005));
        assert_eq!(Stamp::First.in_encoded(&big), Some(2_000_000_005));
        assert_eq!(Stamp::First.in_encoded(&little[..11]), None);
        assert_eq!(Stamp::First.in_encoded(&[0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), None, "not set");
    }
}
