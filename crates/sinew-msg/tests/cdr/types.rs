//! ROS 2 messages, as one would write them by hand.

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
#[message(name = "test_msgs/msg/Empty")] // as are the constants of `test_msgs/msg/Constants`
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

#[derive(Message, Debug, Default, Clone, PartialEq)]
#[message(name = "test_msgs/msg/Defaults")]
pub(crate) struct Defaults {
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

#[derive(Message, Debug, Default, Clone, PartialEq)]
#[message(name = "test_msgs/msg/Arrays")]
pub(crate) struct Arrays {
    pub(crate) bool_values: [bool; 3],
    pub(crate) byte_values: [u8; 3],
    pub(crate) char_values: [u8; 3],
    pub(crate) float32_values: [f32; 3],
    pub(crate) float64_values: [f64; 3],
    pub(crate) int8_values: [i8; 3],
    pub(crate) uint8_values: [u8; 3],
    pub(crate) int16_values: [i16; 3],
    pub(crate) uint16_values: [u16; 3],
    pub(crate) int32_values: [i32; 3],
    pub(crate) uint32_values: [u32; 3],
    pub(crate) int64_values: [i64; 3],
    pub(crate) uint64_values: [u64; 3],
    pub(crate) string_values: [String; 3],
    pub(crate) basic_types_values: [BasicTypes; 3],
    pub(crate) constants_values: [Empty; 3],
    pub(crate) defaults_values: [Defaults; 3],
    pub(crate) bool_values_default: [bool; 3],
    pub(crate) byte_values_default: [u8; 3],
    pub(crate) char_values_default: [u8; 3],
    pub(crate) float32_values_default: [f32; 3],
    pub(crate) float64_values_default: [f64; 3],
    pub(crate) int8_values_default: [i8; 3],
    pub(crate) uint8_values_default: [u8; 3],
    pub(crate) int16_values_default: [i16; 3],
    pub(crate) uint16_values_default: [u16; 3],
    pub(crate) int32_values_default: [i32; 3],
    pub(crate) uint32_values_default: [u32; 3],
    pub(crate) int64_values_default: [i64; 3],
    pub(crate) uint64_values_default: [u64; 3],
    pub(crate) string_values_default: [String; 3],
    pub(crate) alignment_check: i32,
}

#[derive(Message, Debug, Default, Clone, PartialEq)]
#[message(name = "test_msgs/msg/UnboundedSequences")]
pub(crate) struct UnboundedSequences {
    pub(crate) bool_values: Vec<bool>,
    pub(crate) byte_values: Vec<u8>,
    pub(crate) char_values: Vec<u8>,
    pub(crate) float32_values: Vec<f32>,
    pub(crate) float64_values: Vec<f64>,
    pub(crate) int8_values: Vec<i8>,
    pub(crate) uint8_values: Vec<u8>,
    pub(crate) int16_values: Vec<i16>,
    pub(crate) uint16_values: Vec<u16>,
    pub(crate) int32_values: Vec<i32>,
    pub(crate) uint32_values: Vec<u32>,
    pub(crate) int64_values: Vec<i64>,
    pub(crate) uint64_values: Vec<u64>,
    pub(crate) string_values: Vec<String>,
    pub(crate) basic_types_values: Vec<BasicTypes>,
    pub(crate) constants_values: Vec<Empty>,
    pub(crate) defaults_values: Vec<Defaults>,
    pub(crate) bool_values_default: Vec<bool>,
    pub(crate) byte_values_default: Vec<u8>,
    pub(crate) char_values_default: Vec<u8>,
    pub(crate) float32_values_default: Vec<f32>,
    pub(crate) float64_values_default: Vec<f64>,
    pub(crate) int8_values_default: Vec<i8>,
    pub(crate) uint8_values_default: Vec<u8>,
    pub(crate) int16_values_default: Vec<i16>,
    pub(crate) uint16_values_default: Vec<u16>,
    pub(crate) int32_values_default: Vec<i32>,
    pub(crate) uint32_values_default: Vec<u32>,
    pub(crate) int64_values_default: Vec<i64>,
    pub(crate) uint64_values_default: Vec<u64>,
    pub(crate) string_values_default: Vec<String>,
    pub(crate) alignment_check: i32,
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
