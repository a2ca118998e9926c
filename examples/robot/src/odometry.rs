//! Odometry: from how far the wheels have turned to where the robot is.
//!
//! | takes | `joint_states` (sensor_msgs/JointState) |
//! |---|---|
//! | publishes | `odom` (nav_msgs/Odometry) |
//! | | tf: `odom` to `base_link`; static ones from `map` to `odom`, and from `base_link` to `lidar` |

use crate::map::START;
use crate::wheels::{RADIUS, TRACK};
use sinew::interfaces::nav_msgs::msg::Odometry as OdometryMsg;
use sinew::interfaces::sensor_msgs::msg::JointState;
use sinew::prelude::*;
use sinew::tf::{StampedTransform, StaticTransformBroadcaster, Transform, TransformBroadcaster};
use sinew::time::Time;

/// Faster than any wheel goes, in m/s.
const FASTEST: f64 = 5.0;

/// Wheels that tell nothing for longer have been away.
const SILENCE: Duration = Duration::from_secs(1);

struct Track {
    node: Node,
    /// How far each wheel had turned, and when.
    turned: Option<([f64; 2], Time)>,
    /// x, y and heading in `odom`.
    pose: [f64; 3],
    odometry: Publisher<OdometryMsg>,
    frames: TransformBroadcaster,
}

impl Track {
    fn follow(&mut self, joints: &JointState) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let (Some(&left), Some(&right)) = (joints.position.first(), joints.position.get(1)) else {
            return Err("joint_states has no two positions".into());
        };
        let stamp = Time::from(joints.header.stamp);
        let (before, at) = self.turned.replace(([left, right], stamp)).unwrap_or(([left, right], stamp));
        let [left, right] = [(left - before[0]) * RADIUS, (right - before[1]) * RADIUS];
        let most = FASTEST * (stamp - at).as_secs_f64();
        if stamp < at || stamp - at > SILENCE || left.abs() > most || right.abs() > most {
            // Their driver counts from zero again, and so does this, as all that was added up is gone.
            sinew::warn!(
                self.node,
                "the wheels were away, or turned by {left:.2} m and {right:.2} m at once: odometry begins anew"
            );
            self.pose = [0.0; 3];
            return Ok(());
        }
        let [x, y, heading] = &mut self.pose;
        let turn = (right - left) / TRACK;
        let middle = *heading + turn / 2.0; // the arc's direction on the way
        *x += f64::midpoint(left, right) * middle.cos();
        *y += f64::midpoint(left, right) * middle.sin();
        *heading += turn;

        let [x, y, heading] = self.pose;
        let transform = Transform::from_roll_pitch_yaw([x, y, 0.0], [0.0, 0.0, heading]);
        // The stamp is that of the wheels: the age isn't lost.
        let placed = StampedTransform { stamp, transform }.to_msg("odom", "base_link");
        let mut odometry = OdometryMsg { header: placed.header.clone(), ..OdometryMsg::default() };
        odometry.child_frame_id = "base_link".to_owned();
        odometry.pose.pose = transform.into();
        self.odometry.publish(odometry)?;
        self.frames.send([placed])?;
        Ok(())
    }
}

/// The node's entities.
pub struct Odometry {
    _joints: Subscription<JointState>,
    _fixed: StaticTransformBroadcaster,
}

/// The node.
///
/// # Errors
/// What can't be made, or sent.
pub fn odometry(node: &Node) -> Result<Odometry, Box<dyn std::error::Error + Send + Sync>> {
    let fixed = StaticTransformBroadcaster::new(node)?;
    let at =
        |x, y, z| StampedTransform { stamp: node.now(), transform: Transform::from_translation([x, y, z]) };
    fixed.send([
        at(START[0], START[1], 0.0).to_msg("map", "odom"), // a real robot has a localisation for this
        at(0.0, 0.0, 0.2).to_msg("base_link", "lidar"),
    ])?;
    let track = node.group(Track {
        node: node.clone(),
        turned: None,
        pose: [0.0; 3],
        odometry: node.publisher("odom").create()?,
        frames: TransformBroadcaster::new(node)?,
    });
    Ok(Odometry { _joints: track.subscription("joint_states").callback(Track::follow)?, _fixed: fixed })
}
