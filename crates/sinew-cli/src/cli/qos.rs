//! The options of a QoS: names and values as in `ros2`.

use std::time::Duration;

use clap::{Args, ValueEnum};
use sinew::QoS;
use sinew::qos::{Durability, History, Liveliness, Reliability};
use sinew_bench::options::seconds;

/// The parts of a QoS that the user sets.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "QoS")]
pub(crate) struct QosOptions {
    /// A whole QoS; the other options change parts of it.
    #[arg(long, value_enum, value_name = "PROFILE")]
    qos_profile: Option<Profile>,

    /// Whether messages may be lost.
    #[arg(long, value_enum, value_name = "KIND")]
    qos_reliability: Option<ReliabilityKind>,

    /// Whether subscriptions get messages that were published before they existed.
    #[arg(long, value_enum, value_name = "KIND")]
    qos_durability: Option<DurabilityKind>,

    /// The messages that wait for their reader.
    #[arg(long, value_enum, value_name = "KIND")]
    qos_history: Option<HistoryKind>,

    /// Number of messages that wait (with keep_last).
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    qos_depth: Option<u16>,

    /// Longest time between two messages.
    #[arg(long, allow_negative_numbers = true, value_name = "S", value_parser = seconds)]
    qos_deadline: Option<Duration>,

    /// Time after its publication for which a message may be taken.
    #[arg(long, allow_negative_numbers = true, value_name = "S", value_parser = seconds)]
    qos_lifespan: Option<Duration>,

    /// How a publisher shows that it is alive: by its process's existence, or by publishing.
    #[arg(long, value_enum, value_name = "KIND")]
    qos_liveliness: Option<LivelinessKind>,

    /// Time after its last sign of life for which a publisher counts as alive.
    #[arg(
        long,
        visible_alias = "qos-liveliness-lease-duration-seconds",
        allow_negative_numbers = true,
        value_name = "S",
        value_parser = seconds
    )]
    qos_liveliness_lease_duration: Option<Duration>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Profile {
    /// Reliable, volatile, the last 10.
    Default,
    SystemDefault,
    /// Best effort, volatile, the last 5.
    SensorData,
    ServicesDefault,
    /// Reliable, volatile, the last 1000.
    Parameters,
    ParameterEvents,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum ReliabilityKind {
    SystemDefault,
    Reliable,
    BestEffort,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum DurabilityKind {
    SystemDefault,
    TransientLocal,
    Volatile,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum HistoryKind {
    SystemDefault,
    KeepLast,
    KeepAll,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum LivelinessKind {
    SystemDefault,
    Automatic,
    ManualByTopic,
}

impl QosOptions {
    /// Returns the requested QoS; parts that aren't set come from `otherwise`.
    pub(crate) fn qos(self, otherwise: QoS) -> QoS {
        let system = QoS::system_default();
        let mut qos = match self.qos_profile {
            None => otherwise,
            Some(Profile::Default) => QoS::default(),
            Some(Profile::SystemDefault) => system,
            Some(Profile::SensorData) => QoS::sensor_data(),
            Some(Profile::ServicesDefault) => QoS::services(),
            Some(Profile::Parameters) => QoS::parameters(),
            Some(Profile::ParameterEvents) => QoS::parameter_events(),
        };
        qos.reliability = match self.qos_reliability {
            None => qos.reliability,
            Some(ReliabilityKind::SystemDefault) => system.reliability,
            Some(ReliabilityKind::Reliable) => Reliability::Reliable,
            Some(ReliabilityKind::BestEffort) => Reliability::BestEffort,
        };
        qos.durability = match self.qos_durability {
            None => qos.durability,
            Some(DurabilityKind::SystemDefault) => system.durability,
            Some(DurabilityKind::TransientLocal) => Durability::TransientLocal,
            Some(DurabilityKind::Volatile) => Durability::Volatile,
        };
        qos.liveliness = match self.qos_liveliness {
            None => qos.liveliness,
            Some(LivelinessKind::SystemDefault) => system.liveliness,
            Some(LivelinessKind::Automatic) => Liveliness::Automatic,
            Some(LivelinessKind::ManualByTopic) => Liveliness::ManualByTopic,
        };
        qos.deadline = self.qos_deadline.or(qos.deadline);
        qos.lifespan = self.qos_lifespan.or(qos.lifespan);
        qos.lease = self.qos_liveliness_lease_duration.or(qos.lease);
        let depth = self.qos_depth.map(usize::from);
        qos.history = match (self.qos_history, qos.history) {
            (Some(HistoryKind::KeepAll), _) => History::KeepAll,
            (None, History::KeepAll) if depth.is_none() => History::KeepAll,
            (None | Some(HistoryKind::KeepLast), History::KeepLast(usual)) => {
                History::KeepLast(depth.unwrap_or(usual))
            }
            (_, _) => match (depth, system.history) {
                (Some(depth), _) => History::KeepLast(depth),
                (None, history) => history,
            },
        };
        qos
    }

    /// Checks rules that the parser doesn't know: options that exclude each other.
    pub(super) fn check(self) -> Result<(), String> {
        match (self.qos_history, self.qos_depth) {
            (Some(HistoryKind::KeepAll), Some(depth)) => {
                Err(format!("--qos-depth {depth} needs --qos-history keep_last: keep_all has no depth"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_isnt_said_stays_as_it_is() {
        let latched = QoS::default().keep_last(1).transient_local();
        assert_eq!(QosOptions::default().qos(latched), latched);
        let deeper = QosOptions { qos_depth: Some(7), ..QosOptions::default() };
        assert_eq!(deeper.qos(latched), latched.keep_last(7));
        assert_eq!(deeper.qos(latched.keep_all()), latched.keep_last(7));
        let sensor = QosOptions {
            qos_profile: Some(Profile::SensorData),
            qos_reliability: Some(ReliabilityKind::Reliable),
            ..deeper
        };
        assert_eq!(sensor.qos(latched), QoS::sensor_data().reliable().keep_last(7));
    }

    #[test]
    fn times_and_liveliness() {
        let second = Duration::from_secs(1);
        let asked = QosOptions {
            qos_deadline: Some(second),
            qos_lifespan: Some(2 * second),
            qos_liveliness: Some(LivelinessKind::ManualByTopic),
            qos_liveliness_lease_duration: Some(3 * second),
            ..QosOptions::default()
        };
        let expected =
            QoS::default().deadline(second).lifespan(2 * second).liveliness(Liveliness::ManualByTopic);
        assert_eq!(asked.qos(QoS::default()), expected.lease(3 * second));
        assert_eq!(QosOptions::default().qos(expected), expected, "what isn't said stays");
    }

    #[test]
    fn keep_all_has_no_depth() {
        let all = QosOptions { qos_history: Some(HistoryKind::KeepAll), ..QosOptions::default() };
        assert_eq!(all.qos(QoS::default()), QoS::default().keep_all());
        assert!(all.check().is_ok());
        assert!(
            QosOptions { qos_depth: Some(1), ..all }.check().unwrap_err().contains("--qos-depth 1 needs")
        );
        let last = QosOptions { qos_history: Some(HistoryKind::KeepLast), ..QosOptions::default() };
        assert_eq!(last.qos(QoS::default().keep_all()), QoS::default());
    }
}
