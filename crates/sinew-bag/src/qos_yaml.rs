//! The QoS of a topic's publishers, in the form that rosbag2 keeps it: numbers of rmw up to version
//! 8 of the metadata, words since.

use crate::yaml::Yaml;
use sinew::QoS;
use sinew::qos::{Durability, History, Liveliness, Reliability};
use std::fmt::Write as _;
use std::time::Duration;

/// The first version of the metadata with words.
const WORDS: u32 = 9;

/// rmw's infinite duration: the most that 64 bits of nanoseconds have.
const INFINITE: Span = Span { sec: 9_223_372_036, nsec: 854_775_807 };
/// The infinite durations of Fast DDS and Connext before rmw had one, in bags of 2020. (Cyclone's
/// was the number that rmw's is now.)
const FORMER_INFINITES: [Span; 2] =
    [Span { sec: 0x7fff_ffff, nsec: 0xffff_ffff }, Span { sec: 0x7fff_ffff, nsec: 0x7fff_ffff }];

/// rmw's names of a policy's values; their places are its numbers.
const HISTORY: &[&str] = &["system_default", "keep_last", "keep_all", "unknown"];
const RELIABILITY: &[&str] = &["system_default", "reliable", "best_effort", "unknown", "best_available"];
const DURABILITY: &[&str] = &["system_default", "transient_local", "volatile", "unknown", "best_available"];
const LIVELINESS: &[&str] =
    &["system_default", "automatic", "manual_by_node", "manual_by_topic", "unknown", "best_available"];

/// The QoS that a publisher had when its messages were recorded, with all that rmw can say of it.
///
/// ```
/// use sinew::QoS;
/// use sinew_bag::RecordedQos;
///
/// let recorded = RecordedQos::from(QoS::default().keep_last(1).transient_local());
/// assert_eq!(recorded.qos(), QoS::default().keep_last(1).transient_local());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RecordedQos {
    history: u8,
    depth: u64,
    reliability: u8,
    durability: u8,
    deadline: Span,
    lifespan: Span,
    liveliness: u8,
    lease: Span,
    avoids_ros_names: bool,
}

/// A duration as rmw writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Span {
    sec: u64,
    nsec: u64,
}

impl Span {
    fn of(duration: Option<Duration>) -> Self {
        duration.map_or(INFINITE, |duration| Self {
            sec: duration.as_secs(),
            nsec: duration.subsec_nanos().into(),
        })
    }

    /// Zero is rmw's "not set", which means no limit as well, as do more than 292 years.
    fn duration(self) -> Option<Duration> {
        let Self { sec, nsec } = self;
        let is_limit = sec < INFINITE.sec && (sec, nsec) != (0, 0);
        is_limit.then(|| Duration::from_secs(sec).saturating_add(Duration::from_nanos(nsec)))
    }

    fn read(yaml: &Yaml) -> Option<Self> {
        let number = |name| yaml.get(name)?.text()?.parse().ok();
        let span = Self { sec: number("sec")?, nsec: number("nsec")? };
        Some(if FORMER_INFINITES.contains(&span) { INFINITE } else { span })
    }
}

impl From<QoS> for RecordedQos {
    fn from(qos: QoS) -> Self {
        let (history, depth) = match qos.history {
            History::KeepLast(depth) => (1, depth as u64),
            History::KeepAll => (2, 0),
        };
        Self {
            history,
            depth,
            reliability: if qos.reliability == Reliability::Reliable { 1 } else { 2 },
            durability: if qos.durability == Durability::TransientLocal { 1 } else { 2 },
            deadline: Span::of(qos.deadline),
            lifespan: Span::of(qos.lifespan),
            liveliness: if qos.liveliness == Liveliness::ManualByTopic { 3 } else { 1 },
            lease: Span::of(qos.lease),
            avoids_ros_names: false,
        }
    }
}

impl RecordedQos {
    /// Returns the QoS with which such a publisher is made again. A policy that rmw didn't know, or
    /// left to the system, has Sinew's default.
    pub fn qos(&self) -> QoS {
        let qos = QoS::default();
        let qos = match (self.history, usize::try_from(self.depth)) {
            (1, Ok(depth)) if depth > 0 => qos.keep_last(depth),
            (2, _) => qos.keep_all(),
            _ => qos,
        };
        let qos = if self.reliability == 2 { qos.best_effort() } else { qos.reliable() };
        let qos = if self.durability == 1 { qos.transient_local() } else { qos.volatile() };
        let qos = if self.liveliness == 3 { qos.liveliness(Liveliness::ManualByTopic) } else { qos };
        let qos = self.deadline.duration().map_or(qos, |period| qos.deadline(period));
        let qos = self.lifespan.duration().map_or(qos, |age| qos.lifespan(age));
        self.lease.duration().map_or(qos, |lease| qos.lease(lease))
    }

    /// The names of all policies.
    const POLICIES: [&str; 9] = [
        "history",
        "depth",
        "reliability",
        "durability",
        "deadline",
        "lifespan",
        "liveliness",
        "liveliness_lease_duration",
        "avoid_ros_namespace_conventions",
    ];

    fn read(yaml: &Yaml) -> Option<Self> {
        let mut read = Self::from(QoS::default());
        for policy in Self::POLICIES {
            read.set(policy, yaml.get(policy)?)?;
        }
        Some(read)
    }

    /// Sets a policy by its name; `None` if there is no such policy, or it has no such value.
    pub(crate) fn set(&mut self, policy: &str, value: &Yaml) -> Option<()> {
        let among = |words: &[&str]| {
            let text = value.text()?;
            let place = words.iter().position(|word| *word == text);
            let number = place.or_else(|| text.parse().ok().filter(|number| *number < words.len()))?;
            u8::try_from(number).ok()
        };
        match policy {
            "history" => self.history = among(HISTORY)?,
            "depth" => self.depth = value.text()?.parse().ok()?,
            "reliability" => self.reliability = among(RELIABILITY)?,
            "durability" => self.durability = among(DURABILITY)?,
            "deadline" => self.deadline = Span::read(value)?,
            "lifespan" => self.lifespan = Span::read(value)?,
            "liveliness" => self.liveliness = among(LIVELINESS)?,
            "liveliness_lease_duration" => self.lease = Span::read(value)?,
            "avoid_ros_namespace_conventions" => self.avoids_ros_names = value.text()? == "true",
            _ => return None,
        }
        Some(())
    }

    /// Writes an element of a list, each line behind `indent`.
    fn write(&self, text: &mut String, indent: &str, version: u32) {
        let policy = |number: u8, words: &[&str]| match words.get(usize::from(number)) {
            Some(word) if version >= WORDS => (*word).to_owned(),
            _ => number.to_string(),
        };
        let span = |text: &mut String, name, Span { sec, nsec }: Span| {
            let _ = write!(text, "{indent}  {name}:\n{indent}    sec: {sec}\n{indent}    nsec: {nsec}\n");
        };
        // Writing to a string can't fail.
        let _ = write!(
            text,
            "{indent}- history: {}\n{indent}  depth: {}\n{indent}  reliability: {}\n{indent}  durability: {}\n",
            policy(self.history, HISTORY),
            self.depth,
            policy(self.reliability, RELIABILITY),
            policy(self.durability, DURABILITY),
        );
        span(text, "deadline", self.deadline);
        span(text, "lifespan", self.lifespan);
        let _ = writeln!(text, "{indent}  liveliness: {}", policy(self.liveliness, LIVELINESS));
        span(text, "liveliness_lease_duration", self.lease);
        let _ = writeln!(text, "{indent}  avoid_ros_namespace_conventions: {}", self.avoids_ros_names);
    }
}

/// Reads the list of a topic's publishers, in either form; `None` if it is none.
pub(crate) fn read_all(yaml: &Yaml) -> Option<Vec<RecordedQos>> {
    yaml.list()?.iter().map(RecordedQos::read).collect()
}

/// Reads the list from a text of its own.
pub(crate) fn read_text(text: &str) -> Option<Vec<RecordedQos>> {
    read_all(&Yaml::read(text).ok()?)
}

/// Writes a list in the form of a version of the metadata, each line behind `indent`; empty if the
/// list is.
pub(crate) fn write_all(all: &[RecordedQos], indent: &str, version: u32) -> String {
    let mut text = String::new();
    for qos in all {
        qos.write(&mut text, indent, version);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_say_the_same() {
        let all = [
            RecordedQos::from(
                QoS::default().keep_last(7).transient_local().deadline(Duration::from_millis(5)),
            ),
            RecordedQos::from(QoS::sensor_data().keep_all().lease(Duration::from_secs(3))),
        ];
        for version in [8, 9] {
            let text = write_all(&all, "", version);
            assert_eq!(read_text(&text).unwrap(), all, "{text}");
            let inside = Yaml::read(&format!("x:\n{}", write_all(&all, "  ", version))).unwrap();
            assert_eq!(read_all(inside.get("x").unwrap()).unwrap(), all);
        }
        assert!(
            write_all(&all, "", 9).starts_with("- history: keep_last\n  depth: 7\n  reliability: reliable\n")
        );
        assert!(
            write_all(&all, "", 8)
                .starts_with("- history: 1\n  depth: 7\n  reliability: 1\n  durability: 1\n")
        );
    }

    #[test]
    fn what_middlewares_called_infinite_is_no_limit() {
        let mut qos = RecordedQos::from(QoS::default());
        for (sec, nsec) in
            [(9_223_372_036, 854_775_807), (0x7fff_ffff, 0xffff_ffff), (0x7fff_ffff, 0x7fff_ffff)]
        {
            qos.deadline = Span { sec, nsec };
            let read = read_text(&write_all(&[qos], "", 8)).unwrap();
            assert_eq!(read[0].qos().deadline, None);
        }
    }

    #[test]
    fn unknown_policies_stay_and_mean_the_default() {
        let mut qos = RecordedQos::from(QoS::default());
        (qos.history, qos.depth, qos.liveliness) = (3, 0, 4);
        let text = write_all(&[qos], "", 9);
        assert!(text.contains("history: unknown") && text.contains("liveliness: unknown"), "{text}");
        assert_eq!(read_text(&text).unwrap(), [qos]);
        assert_eq!(qos.qos(), QoS::default());
        assert_eq!(read_text("- history: 77"), None);
    }
}
