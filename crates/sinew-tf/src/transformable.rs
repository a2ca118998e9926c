//! Values and messages that can be transformed to another frame.

use crate::transform::{StampedTransform, Transform};
use sinew::msg::Stamped;
use sinew_interfaces::geometry_msgs::msg::{
    Point, Point32, PointStamped, Polygon, PolygonStamped, Pose, PoseArray, PoseStamped, PoseWithCovariance,
    PoseWithCovarianceStamped, Quaternion, QuaternionStamped, Transform as TransformMsg, Twist, TwistStamped,
    Vector3, Vector3Stamped, Wrench, WrenchStamped,
};

/// A value with coordinates. ROS 2: `tf2::doTransform`.
///
/// ```
/// use sinew_interfaces::geometry_msgs::msg::{Point, Vector3};
/// use sinew_tf::{Transform, Transformable};
/// let by = Transform::from_roll_pitch_yaw([1.0, 0.0, 0.0], [0.0, 0.0, std::f64::consts::PI]);
/// let point = Point { x: 2.0, y: 0.0, z: 0.0 }.transformed(&by);
/// let velocity = Vector3 { x: 2.0, y: 0.0, z: 0.0 }.transformed(&by);
/// assert!((point.x + 1.0).abs() < 1e-12 && (velocity.x + 2.0).abs() < 1e-12);
/// ```
pub trait Transformable {
    /// Returns the value in the coordinates to which the transform leads.
    #[must_use]
    fn transformed(&self, by: &Transform) -> Self;
}

/// A message with a header that can be transformed to another frame.
pub trait TransformableStamped: Stamped {
    /// Returns the message in the frame `target`. The header gets the name of the frame and the
    /// transform's stamp, as in ROS 2; it keeps its stamp if the transform is made only from static
    /// ones.
    #[must_use]
    fn in_frame(&self, target: &str, by: &StampedTransform) -> Self;
}

impl Transformable for Point {
    fn transformed(&self, by: &Transform) -> Self {
        let [x, y, z] = by.apply([self.x, self.y, self.z]);
        Self { x, y, z }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "it has 32 bits")]
impl Transformable for Point32 {
    fn transformed(&self, by: &Transform) -> Self {
        let [x, y, z] = by.apply([self.x, self.y, self.z].map(f64::from)).map(|part| part as f32);
        Self { x, y, z }
    }
}

/// A direction, which is only rotated.
impl Transformable for Vector3 {
    fn transformed(&self, by: &Transform) -> Self {
        let [x, y, z] = by.rotate([self.x, self.y, self.z]);
        Self { x, y, z }
    }
}

impl Transformable for Quaternion {
    fn transformed(&self, by: &Transform) -> Self {
        let own = Transform { rotation: [self.x, self.y, self.z, self.w], ..Transform::IDENTITY };
        let [x, y, z, w] = (*by * own).rotation;
        Self { x, y, z, w }
    }
}

impl Transformable for Pose {
    fn transformed(&self, by: &Transform) -> Self {
        (*by * Transform::from(*self)).into()
    }
}

impl Transformable for TransformMsg {
    fn transformed(&self, by: &Transform) -> Self {
        (*by * Transform::from(*self)).into()
    }
}

/// The covariance is rotated as well.
impl Transformable for PoseWithCovariance {
    fn transformed(&self, by: &Transform) -> Self {
        Self { pose: self.pose.transformed(by), covariance: rotated(&self.covariance, by) }
    }
}

impl Transformable for Polygon {
    fn transformed(&self, by: &Transform) -> Self {
        Self { points: self.points.iter().map(|point| point.transformed(by)).collect() }
    }
}

/// Both vectors are rotated, as in tf2; the wrench keeps its reference point.
impl Transformable for Wrench {
    fn transformed(&self, by: &Transform) -> Self {
        Self { force: self.force.transformed(by), torque: self.torque.transformed(by) }
    }
}

/// Both vectors are rotated; the twist keeps its reference point.
impl Transformable for Twist {
    fn transformed(&self, by: &Transform) -> Self {
        Self { linear: self.linear.transformed(by), angular: self.angular.transformed(by) }
    }
}

/// Rotates a 6 by 6 matrix of position and rotation, in rows: each of its four blocks `B` becomes
/// `R B Rᵀ`.
fn rotated(covariance: &[f64; 36], by: &Transform) -> [f64; 36] {
    let mut turned = *covariance;
    for row in 0..6 {
        for half in [0, 3] {
            let at = row * 6 + half;
            let vector = by.rotate([turned[at], turned[at + 1], turned[at + 2]]);
            turned[at..at + 3].copy_from_slice(&vector);
        }
    }
    for column in 0..6 {
        for half in [0, 3] {
            let at = |row: usize| (half + row) * 6 + column;
            let vector = by.rotate([turned[at(0)], turned[at(1)], turned[at(2)]]);
            for (row, part) in vector.into_iter().enumerate() {
                turned[at(row)] = part;
            }
        }
    }
    turned
}

macro_rules! stamped {
    ($($message:ident: $field:ident;)*) => {$(
        impl TransformableStamped for $message {
            fn in_frame(&self, target: &str, by: &StampedTransform) -> Self {
                let mut message = Self { header: self.header.clone(), $field: self.$field.transformed(&by.transform) };
                target.clone_into(&mut message.header.frame_id);
                if by.stamp != sinew::time::Time::default() {
                    message.header.stamp = by.stamp.to_msg();
                }
                message
            }
        }
    )*};
}

stamped! {
    PointStamped: point;
    PolygonStamped: polygon;
    PoseArray: poses;
    PoseStamped: pose;
    PoseWithCovarianceStamped: pose;
    QuaternionStamped: quaternion;
    TwistStamped: twist;
    Vector3Stamped: vector;
    WrenchStamped: wrench;
}

impl<T: Transformable> Transformable for Vec<T> {
    fn transformed(&self, by: &Transform) -> Self {
        self.iter().map(|each| each.transformed(by)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_covariance_is_turned_on_both_sides() {
        // Certain along x, uncertain along y; a quarter turn about z swaps them, and flips their
        // signs with z.
        let mut covariance = [0.0; 36];
        (covariance[0], covariance[7], covariance[14]) = (1.0, 4.0, 9.0);
        (covariance[2], covariance[12]) = (0.5, 0.5); // x with z
        covariance[3] = 0.25; // x with roll
        let quarter =
            Transform::from_roll_pitch_yaw([5.0, 5.0, 5.0], [0.0, 0.0, std::f64::consts::FRAC_PI_2]);
        let turned = rotated(&covariance, &quarter);
        let mut expected = [0.0; 36];
        (expected[0], expected[7], expected[14]) = (4.0, 1.0, 9.0);
        (expected[8], expected[13]) = (0.5, 0.5); // y with z
        expected[10] = 0.25; // y with pitch
        for (found, expected) in turned.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{turned:?}");
        }
    }
}
