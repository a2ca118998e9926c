//! Messages encoded by ROS 2 Jazzy's own serialisers (Cyclone DDS and Fast-CDR agree on each).
#![allow(clippy::approx_constant, reason = "the fixtures have 3.1415 and mean it")]
#![allow(clippy::too_many_lines, reason = "fixtures: values and bytes, nothing to follow")]

use super::types::{
    Arrays, BasicTypes, Defaults, Empty, Header, Imu, PointCloud2, PointField, Quaternion, Text, Time,
    UnboundedSequences, Vector3,
};
use super::{decode, decode_into, encode};
use sinew_msg::Message;
use std::fmt::Debug;

fn bytes(hex: &str) -> Vec<u8> {
    let hex: String = hex.split_whitespace().collect();
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hex")).collect()
}

/// The value is encoded to these bytes, and decoded from them.
fn agree<T: Message + Debug + Default + PartialEq>(value: &T, hex: &str) {
    let encoded = bytes(hex);
    assert_eq!(encode(value), encoded, "of {value:?}");
    assert_eq!(decode::<T>(&encoded).as_ref(), Ok(value));
    let mut other = T::default();
    assert_eq!(decode_into(&encoded, &mut other), Ok(()));
    assert_eq!(other, *value);
}

#[test]
fn headers() {
    agree(
        &Header { stamp: Time { sec: 0, nanosec: 0 }, frame_id: "".into() },
        "0001000000000000000000000100000000",
    );
    agree(
        &Header { stamp: Time { sec: 1700000000, nanosec: 999999999 }, frame_id: "base_link".into() },
        "0001000000f15365ffc99a3b0a000000626173655f6c696e6b00",
    );
    agree(
        &Header { stamp: Time { sec: -1, nanosec: 4294967295 }, frame_id: "a".into() },
        "00010000ffffffffffffffff020000006100",
    );
}

#[test]
fn strings() {
    agree(&Text { data: "".into() }, "000100000100000000");
    agree(&Text { data: "Hello, world: 42".into() }, "000100001100000048656c6c6f2c20776f726c643a20343200");
    agree(
        &Text { data: "naïve 三 😀 \"quoted\" back\\slash\ttab\n".into() },
        "00010000290000006e61c3af766520e4b88920f09f9880202271756f74656422206261636b5c736c61736809 \
         7461620a00",
    );
    agree(&Text { data: "abc".into() }, "000100000400000061626300");
}

#[test]
fn a_struct_without_fields_is_one_byte() {
    agree(&Empty {}, "0001000000");
}

#[test]
fn basic_types() {
    agree(
        &BasicTypes {
            bool_value: false,
            byte_value: 0,
            char_value: 0,
            float32_value: 0.0,
            float64_value: 0.0,
            int8_value: 0,
            uint8_value: 0,
            int16_value: 0,
            uint16_value: 0,
            int32_value: 0,
            uint32_value: 0,
            int64_value: 0,
            uint64_value: 0,
        },
        "0001000000000000000000000000000000000000000000000000000000000000000000000000000000000000 \
         0000000000000000",
    );
    agree(
        &BasicTypes {
            bool_value: true,
            byte_value: 255,
            char_value: 255,
            float32_value: 1.125,
            float64_value: 1.125,
            int8_value: 127,
            uint8_value: 255,
            int16_value: 32767,
            uint16_value: 65535,
            int32_value: 2147483647,
            uint32_value: 4294967295,
            int64_value: 9223372036854775807,
            uint64_value: 18446744073709551615,
        },
        "0001000001ffff000000903f000000000000f23f7fffff7fffff0000ffffff7fffffffffffffffffffffff7f \
         ffffffffffffffff",
    );
    agree(
        &BasicTypes {
            bool_value: false,
            byte_value: 0,
            char_value: 0,
            float32_value: -2.125,
            float64_value: -2.125,
            int8_value: -128,
            uint8_value: 0,
            int16_value: -32768,
            uint16_value: 0,
            int32_value: -2147483648,
            uint32_value: 0,
            int64_value: -9223372036854775808,
            uint64_value: 0,
        },
        "0001000000000000000008c000000000000001c0800000800000000000000080000000000000000000000080 \
         0000000000000000",
    );
    agree(
        &BasicTypes {
            bool_value: true,
            byte_value: 1,
            char_value: 1,
            float32_value: 1.0,
            float64_value: 1.0,
            int8_value: 1,
            uint8_value: 1,
            int16_value: 1,
            uint16_value: 1,
            int32_value: 1,
            uint32_value: 1,
            int64_value: 1,
            uint64_value: 1,
        },
        "00010000010101000000803f000000000000f03f010101000100000001000000010000000100000000000000 \
         0100000000000000",
    );
}

#[test]
fn arrays_of_an_imu() {
    agree(
        &Imu {
            header: Header { stamp: Time { sec: 0, nanosec: 0 }, frame_id: "".into() },
            orientation: Quaternion { x: 0.0, y: 0.0, z: 0.0, w: 1.0 },
            orientation_covariance: [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            angular_velocity: Vector3 { x: 0.0, y: 0.0, z: 0.0 },
            angular_velocity_covariance: [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            linear_acceleration: Vector3 { x: 0.0, y: 0.0, z: 0.0 },
            linear_acceleration_covariance: [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        },
        "0001000000000000000000000100000000000000000000000000000000000000000000000000000000000000 \
         000000000000f03f000000000000000000000000000000000000000000000000000000000000000000000000 \
         0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000 \
         0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000 \
         0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000 \
         0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000 \
         0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000 \
         0000000000000000",
    );
    agree(
        &Imu {
            header: Header { stamp: Time { sec: 1700000003, nanosec: 1 }, frame_id: "imu_link".into() },
            orientation: Quaternion { x: -0.5, y: 0.5, z: -0.5, w: 0.5 },
            orientation_covariance: [-1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            angular_velocity: Vector3 { x: 0.01, y: -0.02, z: 0.03 },
            angular_velocity_covariance: [1e-06, 0.0, 0.0, 0.0, 1e-06, 0.0, 0.0, 0.0, 1e-06],
            linear_acceleration: Vector3 { x: 0.0, y: -0.0, z: 9.80665 },
            linear_acceleration_covariance: [0.125, 1.125, 2.125, 3.125, 4.125, 5.125, 6.125, 7.125, 8.125],
        },
        "0001000003f153650100000009000000696d755f6c696e6b00000000000000000000e0bf000000000000e03f \
         000000000000e0bf000000000000e03f000000000000f0bf0000000000000000000000000000000000000000 \
         0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000 \
         7b14ae47e17a843f7b14ae47e17a94bfb81e85eb51b89e3f8dedb5a0f7c6b03e000000000000000000000000 \
         0000000000000000000000008dedb5a0f7c6b03e000000000000000000000000000000000000000000000000 \
         8dedb5a0f7c6b03e0000000000000000000000000000008005a3923a019d2340000000000000c03f00000000 \
         0000f23f00000000000001400000000000000940000000000080104000000000008014400000000000801840 \
         0000000000801c400000000000402040",
    );
}

#[test]
fn sequences_of_a_point_cloud() {
    agree(
        &PointCloud2 {
            header: Header { stamp: Time { sec: 0, nanosec: 0 }, frame_id: "".into() },
            height: 0,
            width: 0,
            fields: vec![],
            is_bigendian: false,
            point_step: 0,
            row_step: 0,
            data: vec![],
            is_dense: false,
        },
        "0001000000000000000000000100000000000000000000000000000000000000000000000000000000000000 \
         0000000000",
    );
    agree(
        &PointCloud2 {
            header: Header { stamp: Time { sec: 1700000002, nanosec: 250000000 }, frame_id: "lidar".into() },
            height: 1,
            width: 5,
            fields: vec![
                PointField { name: "x".into(), offset: 0, datatype: 7, count: 1 },
                PointField { name: "y".into(), offset: 4, datatype: 7, count: 1 },
                PointField { name: "z".into(), offset: 8, datatype: 7, count: 1 },
                PointField { name: "intensity".into(), offset: 12, datatype: 7, count: 1 },
            ],
            is_bigendian: false,
            point_step: 16,
            row_step: 80,
            data: vec![
                0, 0, 0, 0, 0, 0, 160, 191, 0, 0, 32, 192, 0, 0, 112, 192, 0, 0, 0, 63, 0, 0, 64, 191, 0, 0,
                0, 192, 0, 0, 80, 192, 0, 0, 128, 63, 0, 0, 128, 190, 0, 0, 192, 191, 0, 0, 48, 192, 0, 0,
                192, 63, 0, 0, 128, 62, 0, 0, 128, 191, 0, 0, 16, 192, 0, 0, 0, 64, 0, 0, 64, 63, 0, 0, 0,
                191, 0, 0, 224, 191,
            ],
            is_dense: true,
        },
        "0001000002f1536580b2e60e060000006c696461720000000100000005000000040000000200000078000000 \
         0000000007000000010000000200000079000000040000000700000001000000020000007a00000008000000 \
         07000000010000000a000000696e74656e736974790000000c00000007000000010000000000000010000000 \
         5000000050000000000000000000a0bf000020c0000070c00000003f000040bf000000c0000050c00000803f \
         000080be0000c0bf000030c00000c03f0000803e000080bf000010c0000000400000403f000000bf0000e0bf \
         01",
    );
    agree(
        &PointCloud2 {
            header: Header { stamp: Time { sec: 1700000002, nanosec: 250000000 }, frame_id: "l".into() },
            height: 1,
            width: 5,
            fields: vec![
                PointField { name: "x".into(), offset: 0, datatype: 7, count: 1 },
                PointField { name: "y".into(), offset: 4, datatype: 7, count: 1 },
                PointField { name: "z".into(), offset: 8, datatype: 7, count: 1 },
                PointField { name: "ring".into(), offset: 12, datatype: 4, count: 1 },
            ],
            is_bigendian: true,
            point_step: 16,
            row_step: 80,
            data: vec![
                0, 0, 0, 0, 0, 0, 160, 191, 0, 0, 32, 192, 0, 0, 112, 192, 0, 0, 0, 63, 0, 0, 64, 191, 0, 0,
                0, 192, 0, 0, 80, 192, 0, 0, 128, 63, 0, 0, 128, 190, 0, 0, 192, 191, 0, 0, 48, 192, 0, 0,
                192, 63, 0, 0, 128, 62, 0, 0, 128, 191, 0, 0, 16, 192, 0, 0, 0, 64, 0, 0, 64, 63, 0, 0, 0,
                191, 0, 0, 224, 191,
            ],
            is_dense: false,
        },
        "0001000002f1536580b2e60e020000006c000000010000000500000004000000020000007800000000000000 \
         07000000010000000200000079000000040000000700000001000000020000007a0000000800000007000000 \
         010000000500000072696e67000000000c000000040000000100000001000000100000005000000050000000 \
         000000000000a0bf000020c0000070c00000003f000040bf000000c0000050c00000803f000080be0000c0bf \
         000030c00000c03f0000803e000080bf000010c0000000400000403f000000bf0000e0bf00",
    );
}

#[test]
fn arrays() {
    agree(
        &Arrays {
            bool_values: [false, true, false],
            byte_values: [0, 255, 0],
            char_values: [0, 255, 0],
            float32_values: [0.0, 1.125, -2.125],
            float64_values: [0.0, 1.125, -2.125],
            int8_values: [0, 127, -128],
            uint8_values: [0, 255, 0],
            int16_values: [0, 32767, -32768],
            uint16_values: [0, 65535, 0],
            int32_values: [0, 2147483647, -2147483648],
            uint32_values: [0, 4294967295, 0],
            int64_values: [0, 9223372036854775807, -9223372036854775808],
            uint64_values: [0, 18446744073709551615, 0],
            string_values: ["".into(), "max value".into(), "min value".into()],
            basic_types_values: [
                BasicTypes {
                    bool_value: false,
                    byte_value: 0,
                    char_value: 0,
                    float32_value: 0.0,
                    float64_value: 0.0,
                    int8_value: 0,
                    uint8_value: 0,
                    int16_value: 0,
                    uint16_value: 0,
                    int32_value: 0,
                    uint32_value: 0,
                    int64_value: 0,
                    uint64_value: 0,
                },
                BasicTypes {
                    bool_value: true,
                    byte_value: 255,
                    char_value: 255,
                    float32_value: 1.125,
                    float64_value: 1.125,
                    int8_value: 127,
                    uint8_value: 255,
                    int16_value: 32767,
                    uint16_value: 65535,
                    int32_value: 2147483647,
                    uint32_value: 4294967295,
                    int64_value: 9223372036854775807,
                    uint64_value: 18446744073709551615,
                },
                BasicTypes {
                    bool_value: false,
                    byte_value: 0,
                    char_value: 0,
                    float32_value: -2.125,
                    float64_value: -2.125,
                    int8_value: -128,
                    uint8_value: 0,
                    int16_value: -32768,
                    uint16_value: 0,
                    int32_value: -2147483648,
                    uint32_value: 0,
                    int64_value: -9223372036854775808,
                    uint64_value: 0,
                },
            ],
            constants_values: [Empty {}, Empty {}, Empty {}],
            defaults_values: [
                Defaults {
                    bool_value: true,
                    byte_value: 50,
                    char_value: 100,
                    float32_value: 1.125,
                    float64_value: 1.125,
                    int8_value: -50,
                    uint8_value: 200,
                    int16_value: -1000,
                    uint16_value: 2000,
                    int32_value: -30000,
                    uint32_value: 60000,
                    int64_value: -40000000,
                    uint64_value: 50000000,
                },
                Defaults {
                    bool_value: true,
                    byte_value: 50,
                    char_value: 100,
                    float32_value: 1.125,
                    float64_value: 1.125,
                    int8_value: -50,
                    uint8_value: 200,
                    int16_value: -1000,
                    uint16_value: 2000,
                    int32_value: -30000,
                    uint32_value: 60000,
                    int64_value: -40000000,
                    uint64_value: 50000000,
                },
                Defaults {
                    bool_value: true,
                    byte_value: 50,
                    char_value: 100,
                    float32_value: 1.125,
                    float64_value: 1.125,
                    int8_value: -50,
                    uint8_value: 200,
                    int16_value: -1000,
                    uint16_value: 2000,
                    int32_value: -30000,
                    uint32_value: 60000,
                    int64_value: -40000000,
                    uint64_value: 50000000,
                },
            ],
            bool_values_default: [false, true, false],
            byte_values_default: [0, 1, 255],
            char_values_default: [0, 1, 127],
            float32_values_default: [1.125, 0.0, -1.125],
            float64_values_default: [3.1415, 0.0, -3.1415],
            int8_values_default: [0, 127, -128],
            uint8_values_default: [0, 1, 255],
            int16_values_default: [0, 32767, -32768],
            uint16_values_default: [0, 1, 65535],
            int32_values_default: [0, 2147483647, -2147483648],
            uint32_values_default: [0, 1, 4294967295],
            int64_values_default: [0, 9223372036854775807, -9223372036854775808],
            uint64_values_default: [0, 1, 18446744073709551615],
            string_values_default: ["".into(), "max value".into(), "min value".into()],
            alignment_check: 0,
        },
        "0001000000010000ff0000ff00000000000000000000903f000008c00000000000000000000000000000f23f \
         00000000000001c0007f8000ff000000ff7f00800000ffff0000000000000000ffffff7f0000008000000000 \
         ffffffff00000000000000000000000000000000ffffffffffffff7f00000000000000800000000000000000 \
         ffffffffffffffff000000000000000001000000000000000a0000006d61782076616c75650000000a000000 \
         6d696e2076616c75650000000000000000000000000000000000000000000000000000000000000000000000 \
         0000000000000000000000000000000001ffff000000903f000000000000f23f7fffff7fffff0000ffffff7f \
         ffffffffffffffffffffff7fffffffffffffffff00000000000008c000000000000001c08000008000000000 \
         00000080000000000000000000000080000000000000000000000001326400000000903f0000000000000000 \
         0000f23fcec818fcd0070000d08affff60ea000000a69dfdffffffff80f0fa0200000000013264000000903f \
         000000000000f23fcec818fcd0070000d08affff60ea000000a69dfdffffffff80f0fa020000000001326400 \
         0000903f000000000000f23fcec818fcd0070000d08affff60ea000000a69dfdffffffff80f0fa0200000000 \
         0001000001ff00017f0000000000903f00000000000090bf6f1283c0ca21094000000000000000006f1283c0 \
         ca2109c0007f800001ff0000ff7f008000000100ffff000000000000ffffff7f000000800000000001000000 \
         ffffffff000000000000000000000000ffffffffffffff7f0000000000000080000000000000000001000000 \
         00000000ffffffffffffffff01000000000000000a0000006d61782076616c75650000000a0000006d696e20 \
         76616c756500000000000000",
    );
}

#[test]
fn sequences() {
    agree(
        &UnboundedSequences {
            bool_values: vec![],
            byte_values: vec![],
            char_values: vec![],
            float32_values: vec![],
            float64_values: vec![],
            int8_values: vec![],
            uint8_values: vec![],
            int16_values: vec![],
            uint16_values: vec![],
            int32_values: vec![],
            uint32_values: vec![],
            int64_values: vec![],
            uint64_values: vec![],
            string_values: vec![],
            basic_types_values: vec![],
            constants_values: vec![],
            defaults_values: vec![],
            bool_values_default: vec![false, true, false],
            byte_values_default: vec![0, 1, 255],
            char_values_default: vec![0, 1, 127],
            float32_values_default: vec![1.125, 0.0, -1.125],
            float64_values_default: vec![3.1415, 0.0, -3.1415],
            int8_values_default: vec![0, 127, -128],
            uint8_values_default: vec![0, 1, 255],
            int16_values_default: vec![0, 32767, -32768],
            uint16_values_default: vec![0, 1, 65535],
            int32_values_default: vec![0, 2147483647, -2147483648],
            uint32_values_default: vec![0, 1, 4294967295],
            int64_values_default: vec![0, 9223372036854775807, -9223372036854775808],
            uint64_values_default: vec![0, 1, 18446744073709551615],
            string_values_default: vec!["".into(), "max value".into(), "min value".into()],
            alignment_check: 0,
        },
        "0001000000000000000000000000000000000000000000000000000000000000000000000000000000000000 \
         000000000000000000000000000000000000000000000000000000000300000000010000030000000001ff00 \
         0300000000017f00030000000000903f00000000000090bf030000006f1283c0ca2109400000000000000000 \
         6f1283c0ca2109c003000000007f8000030000000001ff00030000000000ff7f008000000300000000000100 \
         ffff00000300000000000000ffffff7f00000080030000000000000001000000ffffffff0300000000000000 \
         0000000000000000ffffffffffffff7f00000000000000800300000000000000000000000000000001000000 \
         00000000ffffffffffffffff0300000001000000000000000a0000006d61782076616c75650000000a000000 \
         6d696e2076616c756500000000000000",
    );
    agree(
        &UnboundedSequences {
            bool_values: vec![true],
            byte_values: vec![255],
            char_values: vec![255],
            float32_values: vec![1.125],
            float64_values: vec![1.125],
            int8_values: vec![127],
            uint8_values: vec![255],
            int16_values: vec![32767],
            uint16_values: vec![65535],
            int32_values: vec![2147483647],
            uint32_values: vec![4294967295],
            int64_values: vec![9223372036854775807],
            uint64_values: vec![18446744073709551615],
            string_values: vec!["max value".into()],
            basic_types_values: vec![BasicTypes {
                bool_value: false,
                byte_value: 0,
                char_value: 0,
                float32_value: 0.0,
                float64_value: 0.0,
                int8_value: 0,
                uint8_value: 0,
                int16_value: 0,
                uint16_value: 0,
                int32_value: 0,
                uint32_value: 0,
                int64_value: 0,
                uint64_value: 0,
            }],
            constants_values: vec![],
            defaults_values: vec![],
            bool_values_default: vec![false, true, false],
            byte_values_default: vec![0, 1, 255],
            char_values_default: vec![0, 1, 127],
            float32_values_default: vec![1.125, 0.0, -1.125],
            float64_values_default: vec![3.1415, 0.0, -3.1415],
            int8_values_default: vec![0, 127, -128],
            uint8_values_default: vec![0, 1, 255],
            int16_values_default: vec![0, 32767, -32768],
            uint16_values_default: vec![0, 1, 65535],
            int32_values_default: vec![0, 2147483647, -2147483648],
            uint32_values_default: vec![0, 1, 4294967295],
            int64_values_default: vec![0, 9223372036854775807, -9223372036854775808],
            uint64_values_default: vec![0, 1, 18446744073709551615],
            string_values_default: vec!["".into(), "max value".into(), "min value".into()],
            alignment_check: 1,
        },
        "00010000010000000100000001000000ff00000001000000ff000000010000000000903f0100000000000000 \
         000000000000f23f010000007f00000001000000ff00000001000000ff7f000001000000ffff000001000000 \
         ffffff7f01000000ffffffff0100000000000000ffffffffffffff7f0100000000000000ffffffffffffffff \
         010000000a0000006d61782076616c7565000000010000000000000000000000000000000000000000000000 \
         0000000000000000000000000000000000000000000000000000000000000000000000000300000000010000 \
         030000000001ff000300000000017f00030000000000903f00000000000090bf03000000000000006f1283c0 \
         ca21094000000000000000006f1283c0ca2109c003000000007f8000030000000001ff00030000000000ff7f \
         008000000300000000000100ffff00000300000000000000ffffff7f00000080030000000000000001000000 \
         ffffffff03000000000000000000000000000000ffffffffffffff7f00000000000000800300000000000000 \
         00000000000000000100000000000000ffffffffffffffff0300000001000000000000000a0000006d617820 \
         76616c75650000000a0000006d696e2076616c756500000001000000",
    );
    agree(
        &UnboundedSequences {
            bool_values: vec![false, true],
            byte_values: vec![0, 255],
            char_values: vec![0, 255],
            float32_values: vec![0.0, 1.125, -2.125],
            float64_values: vec![0.0, 1.125, -2.125],
            int8_values: vec![0, 127, -128],
            uint8_values: vec![0, 255],
            int16_values: vec![0, 32767, -32768],
            uint16_values: vec![0, 65535],
            int32_values: vec![0, 2147483647, -2147483648],
            uint32_values: vec![0, 4294967295],
            int64_values: vec![0, 9223372036854775807, -9223372036854775808],
            uint64_values: vec![0, 18446744073709551615],
            string_values: vec!["".into(), "max value".into(), "optional min value".into()],
            basic_types_values: vec![
                BasicTypes {
                    bool_value: false,
                    byte_value: 0,
                    char_value: 0,
                    float32_value: 0.0,
                    float64_value: 0.0,
                    int8_value: 0,
                    uint8_value: 0,
                    int16_value: 0,
                    uint16_value: 0,
                    int32_value: 0,
                    uint32_value: 0,
                    int64_value: 0,
                    uint64_value: 0,
                },
                BasicTypes {
                    bool_value: true,
                    byte_value: 255,
                    char_value: 255,
                    float32_value: 1.125,
                    float64_value: 1.125,
                    int8_value: 127,
                    uint8_value: 255,
                    int16_value: 32767,
                    uint16_value: 65535,
                    int32_value: 2147483647,
                    uint32_value: 4294967295,
                    int64_value: 9223372036854775807,
                    uint64_value: 18446744073709551615,
                },
                BasicTypes {
                    bool_value: false,
                    byte_value: 0,
                    char_value: 0,
                    float32_value: -2.125,
                    float64_value: -2.125,
                    int8_value: -128,
                    uint8_value: 0,
                    int16_value: -32768,
                    uint16_value: 0,
                    int32_value: -2147483648,
                    uint32_value: 0,
                    int64_value: -9223372036854775808,
                    uint64_value: 0,
                },
            ],
            constants_values: vec![],
            defaults_values: vec![],
            bool_values_default: vec![false, true, false],
            byte_values_default: vec![0, 1, 255],
            char_values_default: vec![0, 1, 127],
            float32_values_default: vec![1.125, 0.0, -1.125],
            float64_values_default: vec![3.1415, 0.0, -3.1415],
            int8_values_default: vec![0, 127, -128],
            uint8_values_default: vec![0, 1, 255],
            int16_values_default: vec![0, 32767, -32768],
            uint16_values_default: vec![0, 1, 65535],
            int32_values_default: vec![0, 2147483647, -2147483648],
            uint32_values_default: vec![0, 1, 4294967295],
            int64_values_default: vec![0, 9223372036854775807, -9223372036854775808],
            uint64_values_default: vec![0, 1, 18446744073709551615],
            string_values_default: vec!["".into(), "max value".into(), "min value".into()],
            alignment_check: 2,
        },
        "0001000002000000000100000200000000ff00000200000000ff000003000000000000000000903f000008c0 \
         03000000000000000000000000000000000000000000f23f00000000000001c003000000007f800002000000 \
         00ff0000030000000000ff7f00800000020000000000ffff0300000000000000ffffff7f0000008002000000 \
         00000000ffffffff03000000000000000000000000000000ffffffffffffff7f000000000000008002000000 \
         000000000000000000000000ffffffffffffffff0300000001000000000000000a0000006d61782076616c75 \
         65000000130000006f7074696f6e616c206d696e2076616c7565000003000000000000000000000000000000 \
         00000000000000000000000000000000000000000000000000000000000000000000000001ffff000000903f \
         000000000000f23f7fffff7fffff0000ffffff7fffffffffffffffffffffff7fffffffffffffffff00000000 \
         000008c000000000000001c08000008000000000000000800000000000000000000000800000000000000000 \
         00000000000000000300000000010000030000000001ff000300000000017f00030000000000903f00000000 \
         000090bf03000000000000006f1283c0ca21094000000000000000006f1283c0ca2109c003000000007f8000 \
         030000000001ff00030000000000ff7f008000000300000000000100ffff00000300000000000000ffffff7f \
         00000080030000000000000001000000ffffffff03000000000000000000000000000000ffffffffffffff7f \
         0000000000000080030000000000000000000000000000000100000000000000ffffffffffffffff03000000 \
         01000000000000000a0000006d61782076616c75650000000a0000006d696e2076616c756500000002000000",
    );
}
