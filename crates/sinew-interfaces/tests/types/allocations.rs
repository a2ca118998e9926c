//! Allocations of decoding: none into a value with room, and never more than the length of the
//! message.

use super::counting::allocations;
use super::{decode_into, encode};
use sinew_interfaces::{diagnostic_msgs, nav_msgs, sensor_msgs, test_msgs, tf2_msgs};
use sinew_msg::Message;

/// Decodes all messages in turn into one value, and encodes the values into one buffer.
fn steady<T: Message + Default + PartialEq + std::fmt::Debug>(values: &[T]) {
    let encoded: Vec<Vec<u8>> = values.iter().map(encode).collect();
    let mut buffers = encoded.clone();
    let mut value = T::default();
    encoded.iter().for_each(|encoded| decode_into(encoded, &mut value).unwrap());
    let ((), count, _) = allocations(|| {
        for encoded in encoded.iter().cycle().take(3 * encoded.len()) {
            decode_into(encoded, &mut value).unwrap();
        }
        for (value, buffer) in values.iter().zip(&mut buffers) {
            (super::encoding::<T>().encode)(value, buffer);
        }
    });
    assert_eq!(count, 0, "{value:?}");
    assert_eq!((Some(&value), buffers), (values.last(), encoded));
}

#[test]
fn nothing_is_allocated_for_a_value_with_room() {
    use diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus, KeyValue};
    let mut cloud = sensor_msgs::msg::PointCloud2::default();
    cloud.header.frame_id = "lidar".to_owned();
    cloud.fields = vec![sensor_msgs::msg::PointField { name: "x".to_owned(), ..Default::default() }; 4];
    cloud.data = vec![7; 4096];
    let shorter = sensor_msgs::msg::PointCloud2 { data: vec![1; 16], ..cloud.clone() };
    steady(&[cloud, shorter]);

    let mut transforms = tf2_msgs::msg::TFMessage { transforms: vec![Default::default(); 10] };
    transforms.transforms[3].child_frame_id = "gripper".to_owned();
    steady(&[transforms]);

    let joints = sensor_msgs::msg::JointState {
        name: (0..20).map(|joint| format!("joint_{joint}")).collect(),
        position: vec![1.0; 20],
        ..Default::default()
    };
    steady(&[joints]);

    let frame = "base_link".to_owned();
    steady(&[nav_msgs::msg::Odometry { child_frame_id: frame, ..Default::default() }]);

    let value = |key: &str| KeyValue { key: key.to_owned(), value: "1".to_owned() };
    let status = DiagnosticStatus { values: vec![value("a"), value("bc")], ..Default::default() };
    steady(&[DiagnosticArray { status: vec![status.clone(), status], ..Default::default() }]);

    steady(&[test_msgs::msg::BoundedSequences {
        float64_values: vec![1.0, 2.0].try_into().unwrap(),
        string_values: vec!["a".to_owned()].try_into().unwrap(),
        ..Default::default()
    }]);
    steady(&[test_msgs::msg::WStrings::default()]);
}
