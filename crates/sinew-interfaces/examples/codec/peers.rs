//! The same messages for codecs that work with serde.

use byteorder::LittleEndian;
use cdr::{CdrLe, Infinite};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A message for the other codecs. The methods use the calls that allocate least.
pub(crate) trait Peer: Serialize + DeserializeOwned {
    fn from_encoded(encoded: &[u8]) -> Self {
        Self::decode_cdr(encoded)
    }

    fn encode_cdr(&self, encoded: &mut [u8]) {
        cdr::serialize_into::<_, _, _, CdrLe>(encoded, self, Infinite).expect("the buffer has room");
    }

    fn decode_cdr(encoded: &[u8]) -> Self {
        cdr::deserialize(encoded).expect("its image")
    }

    /// This codec has no header.
    fn encode_cdr_encoding(&self, encoded: &mut [u8]) {
        cdr_encoding::to_writer::<_, LittleEndian, _>(&mut &mut encoded[4..], self)
            .expect("the buffer has room");
    }

    fn decode_cdr_encoding(encoded: &[u8]) -> Self {
        let (value, _) = cdr_encoding::from_bytes::<Self, LittleEndian>(&encoded[4..]).expect("its image");
        value
    }
}

impl<T: Serialize + DeserializeOwned> Peer for T {}

macro_rules! structs {
    ($($name:ident { $($field:ident: $type:ty),* })*) => {$(
        #[derive(serde::Serialize, serde::Deserialize)]
        pub(crate) struct $name { $($field: $type),* }
    )*};
}

structs! {
    Time { sec: i32, nanosec: u32 }
    Header { stamp: Time, frame_id: String }
    Quaternion { x: f64, y: f64, z: f64, w: f64 }
    Vector3 { x: f64, y: f64, z: f64 }
    Transform { translation: Vector3, rotation: Quaternion }
    TransformStamped { header: Header, child_frame_id: String, transform: Transform }
    TFMessage { transforms: Vec<TransformStamped> }
    JointState { header: Header, name: Vec<String>, position: Vec<f64>, velocity: Vec<f64>, effort: Vec<f64> }
    Pose { position: Vector3, orientation: Quaternion }
    Twist { linear: Vector3, angular: Vector3 }
    // serde does not support arrays of 36.
    PoseWithCovariance { pose: Pose, covariance: [[f64; 6]; 6] }
    TwistWithCovariance { twist: Twist, covariance: [[f64; 6]; 6] }
    Odometry { header: Header, child_frame_id: String, pose: PoseWithCovariance, twist: TwistWithCovariance }
    Imu {
        header: Header,
        orientation: Quaternion,
        orientation_covariance: [f64; 9],
        angular_velocity: Vector3,
        angular_velocity_covariance: [f64; 9],
        linear_acceleration: Vector3,
        linear_acceleration_covariance: [f64; 9]
    }
}
