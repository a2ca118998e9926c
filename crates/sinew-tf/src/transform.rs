//! Transforms: a rotation, then a translation.

use glam::{DQuat, DVec3, EulerRot};
use sinew::time::Time;
use sinew_interfaces::geometry_msgs::msg;
use sinew_interfaces::std_msgs::msg::Header;
use std::ops::Mul;

/// The pose of a frame in another one, which transforms a point's coordinates in the former to
/// those in the latter: first it rotates, then it translates.
///
/// ```
/// use sinew_tf::Transform;
/// // The lidar stands 0.3 m above the base and looks to the left.
/// let lidar = Transform::from_roll_pitch_yaw([0.0, 0.0, 0.3], [0.0, 0.0, std::f64::consts::FRAC_PI_2]);
/// let seen = lidar.apply([2.0, 0.0, 0.0]); // 2 m before the lidar
/// assert!((seen[0].abs() < 1e-12) && (seen[1] - 2.0).abs() < 1e-12 && seen[2] == 0.3);
/// assert!((lidar * lidar.inverse()).translation.iter().all(|part| part.abs() < 1e-12));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transform {
    /// x, y and z in m.
    pub translation: [f64; 3],
    /// A unit quaternion: x, y, z and w.
    pub rotation: [f64; 4],
}

impl Transform {
    /// The identity.
    pub const IDENTITY: Self = Self { translation: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0] };

    /// Returns a pure translation, in m.
    #[must_use]
    pub const fn from_translation(translation: [f64; 3]) -> Self {
        Self { translation, ..Self::IDENTITY }
    }

    /// Returns a translation in m with a rotation about the fixed axes x, y and z, in this order,
    /// in rad.
    #[must_use]
    pub fn from_roll_pitch_yaw(translation: [f64; 3], [roll, pitch, yaw]: [f64; 3]) -> Self {
        let rotation = DQuat::from_euler(EulerRot::ZYX, yaw, pitch, roll);
        Self { translation, rotation: rotation.to_array() }
    }

    /// Returns the angles about the fixed axes x, y and z, in rad.
    #[must_use]
    pub fn roll_pitch_yaw(&self) -> [f64; 3] {
        let (yaw, pitch, roll) = self.quaternion().to_euler(EulerRot::ZYX);
        [roll, pitch, yaw]
    }

    /// Returns the inverse transform.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let back = self.quaternion().conjugate();
        Self { translation: (back * -self.vector()).to_array(), rotation: back.to_array() }
    }

    /// Transforms a point: rotates and translates it.
    #[must_use]
    pub fn apply(&self, point: [f64; 3]) -> [f64; 3] {
        (self.vector() + self.quaternion() * DVec3::from_array(point)).to_array()
    }

    /// Transforms a direction, velocity or force: only rotates it.
    #[must_use]
    pub fn rotate(&self, vector: [f64; 3]) -> [f64; 3] {
        (self.quaternion() * DVec3::from_array(vector)).to_array()
    }

    /// Interpolates between this (`ratio` 0) and `other` (1), as tf2 does: the translation on the
    /// line between them (lerp), the rotation on the shorter arc at a constant rate (slerp).
    #[must_use]
    #[inline]
    pub fn interpolate(&self, other: &Self, ratio: f64) -> Self {
        let translation = self.vector().lerp(other.vector(), ratio);
        let rotation = slerp(self.quaternion(), other.quaternion(), ratio);
        Self { translation: translation.to_array(), rotation: rotation.to_array() }
    }

    pub(crate) fn vector(&self) -> DVec3 {
        DVec3::from_array(self.translation)
    }

    pub(crate) fn quaternion(&self) -> DQuat {
        DQuat::from_array(self.rotation)
    }

    /// Returns the squared length of the quaternion: 1 for a rotation.
    pub(crate) fn norm_squared(&self) -> f64 {
        self.quaternion().length_squared()
    }

    /// Returns the transform with the quaternion normalised as exactly as possible.
    pub(crate) fn normalized(self) -> Self {
        const ROUNDED: f64 = 4.0 * f64::EPSILON;
        if (self.norm_squared() - 1.0).abs() <= ROUNDED {
            return self;
        }
        Self { rotation: self.quaternion().normalize().to_array(), ..self }
    }
}

impl Default for Transform {
    fn default() -> Self {
        Self::IDENTITY
    }
}

/// `a_in_b * c_in_a` is `c_in_b`.
impl Mul for Transform {
    type Output = Self;

    #[inline]
    fn mul(self, inner: Self) -> Self {
        let translation = self.vector() + self.quaternion() * inner.vector();
        Self {
            translation: translation.to_array(),
            rotation: (self.quaternion() * inner.quaternion()).to_array(),
        }
    }
}

/// Interpolates between two unit quaternions on the shorter arc (Shoemake, "Animating rotation with
/// quaternion curves", 1985).
///
/// The weights are sin(wθ)/sin(θ). Transforms a few milliseconds apart are so close that a few
/// terms of the function's series around θ = 0 are as accurate, and several times faster than four
/// trigonometric functions: with θ² up to 0.002, the first omitted term is below 2e-11.
#[inline]
fn slerp(from: DQuat, to: DQuat, ratio: f64) -> DQuat {
    const CLOSE: f64 = 1e-3;
    let dot = from.dot(to);
    let (to, cos) = if dot < 0.0 { (-to, -dot) } else { (to, dot) };
    let far = 1.0 - cos;
    let weight = |w: f64| {
        if far < CLOSE {
            let square = far * (2.0 + far * (1.0 / 3.0 + far * (4.0 / 45.0))); // θ², of cos θ = 1 - far
            let left = 1.0 - w * w;
            w * (1.0 + left * square * (1.0 / 6.0 + square * (7.0 - 3.0 * w * w) / 360.0))
        } else {
            let angle = cos.acos();
            (w * angle).sin() / angle.sin()
        }
    };
    from * weight(1.0 - ratio) + to * weight(ratio)
}

/// A transform and its time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StampedTransform {
    /// The common time of all transforms that it was made from; 0 if all of them are static.
    pub stamp: Time,
    /// From the source frame's coordinates to the target frame's.
    pub transform: Transform,
}

impl StampedTransform {
    /// Converts to a message with the pose of `source` in `target`. Allocates the names.
    #[must_use]
    pub fn to_msg(&self, target: &str, source: &str) -> msg::TransformStamped {
        msg::TransformStamped {
            header: Header { stamp: self.stamp.to_msg(), frame_id: target.to_owned() },
            child_frame_id: source.to_owned(),
            transform: self.transform.into(),
        }
    }
}

impl From<msg::Vector3> for Transform {
    /// Returns a pure translation.
    fn from(vector: msg::Vector3) -> Self {
        Self { translation: [vector.x, vector.y, vector.z], ..Self::IDENTITY }
    }
}

impl From<msg::Transform> for Transform {
    fn from(msg::Transform { translation: t, rotation: r }: msg::Transform) -> Self {
        Self { translation: [t.x, t.y, t.z], rotation: [r.x, r.y, r.z, r.w] }
    }
}

impl From<Transform> for msg::Transform {
    fn from(Transform { translation: [x, y, z], rotation }: Transform) -> Self {
        let [qx, qy, qz, qw] = rotation;
        Self {
            translation: msg::Vector3 { x, y, z },
            rotation: msg::Quaternion { x: qx, y: qy, z: qz, w: qw },
        }
    }
}

impl From<msg::Pose> for Transform {
    fn from(msg::Pose { position: p, orientation: o }: msg::Pose) -> Self {
        Self { translation: [p.x, p.y, p.z], rotation: [o.x, o.y, o.z, o.w] }
    }
}

impl From<Transform> for msg::Pose {
    fn from(Transform { translation: [x, y, z], rotation }: Transform) -> Self {
        let [qx, qy, qz, qw] = rotation;
        Self { position: msg::Point { x, y, z }, orientation: msg::Quaternion { x: qx, y: qy, z: qz, w: qw } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Implements the definition.
    fn exact(from: DQuat, to: DQuat, ratio: f64) -> DQuat {
        let dot = from.dot(to);
        let to = if dot < 0.0 { -to } else { to };
        let angle = dot.abs().min(1.0).acos();
        let weight = |w: f64| if angle < 1e-9 { w } else { (w * angle).sin() / angle.sin() };
        from * weight(1.0 - ratio) + to * weight(ratio)
    }

    #[test]
    fn close_rotations_are_interpolated_as_exactly_as_far_ones() {
        let from = DQuat::from_euler(EulerRot::ZYX, 0.3, -1.1, 2.0);
        for angle in [0.0, 1e-9, 1e-6, 0.001, 0.01, 0.05, 0.08, 0.0894, 0.0895, 0.1, 1.0, 3.0, 3.1, -2.0] {
            let to = from * DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), angle);
            for ratio in [0.0, 0.1, 0.5, 0.73, 1.0] {
                for to in [to, -to] {
                    let (found, exact) = (slerp(from, to, ratio), exact(from, to, ratio));
                    let off = (found - exact).length();
                    assert!(off < 1e-7_f64.min(1e-10 + f64::EPSILON.sqrt() * 0.01), "{angle} {ratio}: {off}");
                    assert!((found.length() - 1.0).abs() < 1e-10, "{angle} {ratio}");
                }
            }
        }
    }

    #[test]
    fn angles_come_back() {
        let angles = [0.1, -0.7, 2.5];
        let transform = Transform::from_roll_pitch_yaw([1.0, 2.0, 3.0], angles);
        for (angle, found) in angles.into_iter().zip(transform.roll_pitch_yaw()) {
            assert!((angle - found).abs() < 1e-12);
        }
        // Roll about x first, then pitch about the fixed y: z goes to x.
        let turned = Transform::from_roll_pitch_yaw([0.0; 3], [0.3, std::f64::consts::FRAC_PI_2, 0.0]);
        let x = turned.rotate([1.0, 0.0, 0.0]);
        assert!((x[2] + 1.0).abs() < 1e-12, "{x:?}");
    }

    #[test]
    fn messages_come_back() {
        let transform = Transform { translation: [1.0, 2.0, 3.0], rotation: [0.5, -0.5, 0.5, -0.5] };
        assert_eq!(Transform::from(msg::Transform::from(transform)), transform);
        assert_eq!(Transform::from(msg::Pose::from(transform)), transform);
    }
}
