//! Messages of ROS 2, as one would write them by hand.

use sinew_msg::Message;

#[derive(Message, Debug, Default, Clone, Copy, PartialEq)]
#[message(name = "builtin_interfaces/msg/Time", plain)]
#[repr(C)]
pub(crate) struct Time {
    pub(crate) sec: i32,
    pub(crate) nanosec: u32,
}

#[derive(Message, Debug, Default, Clone, PartialEq)]
#[message(name = "std_msgs/msg/Header")]
pub(crate) struct Header {
    pub(crate) stamp: Time,
    pub(crate) frame_id: String,
}

#[derive(Message, Debug, Default, Clone, PartialEq)]
#[message(name = "std_msgs/msg/String")]
pub(crate) struct Text {
    pub(crate) data: String,
}

#[derive(Message, Debug, Default, Clone, PartialEq)]
#[message(name = "test_msgs/msg/Empty")]
pub(crate) struct Empty {}

#[derive(Message, Debug, Default, Clone, PartialEq)]
#[message(name = "test_msgs/msg/BasicTypes")]
pub(crate) struct BasicTypes {
    pub(crate) bool_value: bool,
    pub(crate) byte_value: u8,
    pub(crate) char_value: u8,
    pub(crate) float32_value: f32,
    pub(crate) float64_value: f64,
    pub(crate) int8_value: i8,
    pub(crate) uint8_value: u8,
    pub(crate) int16_value: i16,
    pub(crate) uint16_value: u16,
    pub(crate) int32_value: i32,
    pub(crate) uint32_value: u32,
    pub(crate) int64_value: i64,
    pub(crate) uint64_value: u64,
}

#[derive(Message, Debug, Default, Clone, Copy, PartialEq)]
#[message(name = "geometry_msgs/msg/Vector3", plain)]
#[repr(C)]
pub(crate) struct Vector3 {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) z: f64,
}

#[derive(Message, Debug, Default, Clone, Copy, PartialEq)]
#[message(name = "geometry_msgs/msg/Quaternion", plain)]
#[repr(C)]
pub(crate) struct Quaternion {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) z: f64,
    pub(crate) w: f64,
}

#[derive(Message, Debug, Default, Clone, PartialEq)]
#[message(name = "sensor_msgs/msg/Imu")]
pub(crate) struct Imu {
    pub(crate) header: Header,
    pub(crate) orientation: Quaternion,
    pub(crate) orientation_covariance: [f64; 9],
    pub(crate) angular_velocity: Vector3,
    pub(crate) angular_velocity_covariance: [f64; 9],
    pub(crate) linear_acceleration: Vector3,
    pub(crate) linear_acceleration_covariance: [f64; 9],
}

#[derive(Message, Debug, Default, Clone, PartialEq)]
#[message(name = "sensor_msgs/msg/PointField")]
pub(crate) struct PointField {
    pub(crate) name: String,
    pub(crate) offset: u32,
    pub(crate) datatype: u8,
    pub(crate) count: u32,
}

#[derive(Message, Debug, Default, Clone, PartialEq)]
#[message(name = "sensor_msgs/msg/PointCloud2")]
pub(crate) struct PointCloud2 {
    pub(crate) header: Header,
    pub(crate) height: u32,
    pub(crate) width: u32,
    pub(crate) fields: Vec<PointField>,
    pub(crate) is_bigendian: bool,
    pub(crate) point_step: u32,
    pub(crate) row_step: u32,
    pub(crate) data: Vec<u8>,
    pub(crate) is_dense: bool,
}

/// Every kind of sequence and array.
#[derive(Message, Debug, Default, Clone, PartialEq)]
pub(crate) struct Sequences {
    pub(crate) bools: Vec<bool>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) floats: Vec<f32>,
    pub(crate) doubles: Vec<f64>,
    pub(crate) int8s: Vec<i8>,
    pub(crate) int16s: Vec<i16>,
    pub(crate) uint16s: Vec<u16>,
    pub(crate) int32s: Vec<i32>,
    pub(crate) uint32s: Vec<u32>,
    pub(crate) int64s: Vec<i64>,
    pub(crate) uint64s: Vec<u64>,
    pub(crate) strings: Vec<String>,
    pub(crate) times: Vec<Time>,
    pub(crate) vectors: Vec<Vector3>,
    pub(crate) basics: Vec<BasicTypes>,
    pub(crate) empties: Vec<Empty>,
    pub(crate) nested: Vec<Vec<u16>>,
    pub(crate) names: [String; 2],
    pub(crate) flags: [bool; 3],
    pub(crate) grid: [[i16; 2]; 3],
    pub(crate) stamps: [Time; 2],
    pub(crate) check: i32,
}
