//! The QoS that the recorder's subscriptions request.

use sinew::QoS;
use sinew::qos::Reliability;

/// Messages that wait in a subscription until the recorder looks: at 5 ms, those of a topic with
/// 200 kHz.
const DEPTH: usize = 1000;

/// Returns the QoS for a topic with these publishers, as rosbag2 adapts it: reliable if all of them
/// are, and with their retained messages if all of them retain any. One that a publisher can wait
/// for only if it `is_lossless`.
pub(super) fn adapted(offered: &[QoS], is_lossless: bool) -> QoS {
    let is_reliable = offered.iter().all(|qos| qos.reliability == Reliability::Reliable);
    let request = if is_reliable { QoS::default().reliable() } else { QoS::default().best_effort() };
    let is_retained = offered.iter().all(is_retaining);
    let request = if is_retained { request.transient_local() } else { request.volatile() };
    if is_lossless { request.keep_all().max_samples(DEPTH) } else { request.keep_last(DEPTH) }
}

/// Returns whether a publisher retains messages for late joiners.
pub(super) fn is_retaining(qos: &QoS) -> bool {
    qos.durability == sinew::qos::Durability::TransientLocal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weakest_offer_counts() {
        let strong = QoS::default().reliable().transient_local();
        let plain = QoS::default().reliable();
        assert_eq!(adapted(&[strong], false), strong.keep_last(DEPTH));
        assert_eq!(adapted(&[strong, plain], false), plain.keep_last(DEPTH));
        assert_eq!(adapted(&[plain, QoS::sensor_data()], false), plain.best_effort().keep_last(DEPTH));
        assert_eq!(adapted(&[plain], true), plain.keep_all().max_samples(DEPTH));
    }
}
