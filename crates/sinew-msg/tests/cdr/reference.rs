//! Images made by ROS 2 Jazzy's own serialisers (Cyclone DDS and Fast-CDR agree on each).

use super::types::{
    BasicTypes, Empty, Header, Imu, PointCloud2, PointField, Quaternion, Text, Time, Vector3,
};
use super::{decode, decode_into, encode};
use sinew_msg::Message;
use std::fmt::Debug;

fn bytes(hex: &str) -> Vec<u8> {
    let hex: String = hex.split_whitespace().collect();
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hex")).collect()
}

/// The value has this image, and the image this value.
fn agree<T: Message + Debug + Default + PartialEq>(value: &T, hex: &str) {
    let image = bytes(hex);
    assert_eq!(encode(value), image, "of {value:?}");
    assert_eq!(decode::<T>(&image).as_ref(), Ok(value));
    let mut other = T::default();
    assert_eq!(decode_into(&image, &mut other), Ok(()));
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
