//! `/statistics`: the age of a subscription's messages, and the period between them.
//!
//! Names, units and kinds of data are those of `libstatistics_collector`, which `rclcpp` uses to
//! measure.

use crate::api::callback::InAnyGroup;
use crate::api::publisher::PublisherBuilder;
use crate::api::timer::{Timer, TimerBuilder};
use crate::executor::group::CallbackGroup;
use crate::ros::failure::CreateError;
use crate::ros::qos::QoS;
use crate::sys::clock::ClockKind;
use crate::sys::sync::Arc;
use crate::topic::statistics_collector::{Moments, StatisticsCollector};
use sinew_interfaces::statistics_msgs::msg::{MetricsMessage, StatisticDataPoint, StatisticDataType};
use std::time::Duration;

/// The topic, period and QoS with which a subscription publishes statistics about its messages. For
/// [`SubscriptionBuilder::topic_statistics`](crate::msg::SubscriptionBuilder::topic_statistics).
#[derive(Debug, Clone)]
pub struct TopicStatistics {
    topic: String,
    period: Duration,
    qos: QoS,
}

impl Default for TopicStatistics {
    /// Publishes on `/statistics`, each second, with the [default QoS](QoS::default).
    fn default() -> Self {
        Self { topic: "/statistics".to_owned(), period: Duration::from_secs(1), qos: QoS::default() }
    }
}

impl TopicStatistics {
    /// Publishes on this topic.
    #[must_use]
    pub fn topic(mut self, topic: &str) -> Self {
        topic.clone_into(&mut self.topic);
        self
    }

    /// Publishes with this period of steady time; each report covers the messages since the last
    /// one.
    #[must_use]
    pub fn period(mut self, period: Duration) -> Self {
        self.period = period;
        self
    }

    /// Publishes with this QoS.
    #[must_use]
    pub fn qos(mut self, qos: QoS) -> Self {
        self.qos = qos;
        self
    }

    /// Publishes the collected statistics, until the timer is dropped.
    pub(in crate::api) fn publish(
        self,
        group: &impl CallbackGroup,
        node_name: &str,
        collector: Arc<StatisticsCollector>,
    ) -> Result<Timer, CreateError> {
        let publisher =
            PublisherBuilder::<MetricsMessage, _>::new(group, &self.topic).qos(self.qos).create()?;
        let name = node_name.to_owned();
        TimerBuilder::new(group, self.period).clock(ClockKind::Steady).callback(InAnyGroup(move || {
            let window = collector.close_window();
            for (source, moments) in [("message_age", window.age), ("message_period", window.period)] {
                publisher.publish(MetricsMessage {
                    measurement_source_name: name.clone(),
                    metrics_source: source.to_owned(),
                    unit: "ms".to_owned(),
                    window_start: window.start.to_msg(),
                    window_stop: window.stop.to_msg(),
                    statistics: points(&moments),
                })?;
            }
            Ok(())
        }))
    }
}

#[expect(clippy::cast_precision_loss, reason = "more than 2^53 messages don't come")]
fn points(moments: &Moments) -> Vec<StatisticDataPoint> {
    let [mean, least, most, deviation] = moments.summary();
    let points = [
        (StatisticDataType::STATISTICS_DATA_TYPE_AVERAGE, mean),
        (StatisticDataType::STATISTICS_DATA_TYPE_MINIMUM, least),
        (StatisticDataType::STATISTICS_DATA_TYPE_MAXIMUM, most),
        (StatisticDataType::STATISTICS_DATA_TYPE_STDDEV, deviation),
        (StatisticDataType::STATISTICS_DATA_TYPE_SAMPLE_COUNT, moments.count() as f64),
    ];
    points.map(|(data_type, data)| StatisticDataPoint { data_type, data }).into()
}
