//! A message with a header has a stamp and a frame.

use sinew_interfaces::builtin_interfaces::msg::Time;
use sinew_interfaces::geometry_msgs::msg::TransformStamped;
use sinew_interfaces::sensor_msgs::msg::Imu;
use sinew_interfaces::std_msgs::msg::Header;
use sinew_msg::Stamped;
use std::sync::Arc;

fn told(message: &impl Stamped) -> (i64, &str) {
    (message.stamp_nanoseconds(), message.frame_id())
}

#[test]
fn messages_with_headers_are_stamped() {
    let header =
        |sec, nanosec, frame: &str| Header { stamp: Time { sec, nanosec }, frame_id: frame.to_owned() };
    assert_eq!(told(&header(-1, 1, "map")), (-999_999_999, "map"));
    let imu = Imu { header: header(2, 5, "imu_link"), ..Imu::default() };
    assert_eq!(told(&imu), (2_000_000_005, "imu_link"));
    let transform =
        TransformStamped { header: header(i32::MAX, u32::MAX, "odom"), ..TransformStamped::default() };
    assert_eq!(told(&transform), (2_147_483_647 * 1_000_000_000 + 4_294_967_295, "odom"));
    assert_eq!(told(&&imu), told(&Box::new(imu.clone())));
    assert_eq!(told(&Arc::new(imu)), (2_000_000_005, "imu_link"));
}
