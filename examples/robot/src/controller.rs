//! The controller: follows a path, a thousand times a second, and stops before what is in the way.
//!
//! | takes | `path` (nav_msgs/Path) in the frame `map`; an empty one stops |
//! |---|---|
//! | | `scan` (sensor_msgs/LaserScan), tf |
//! | publishes | `cmd_vel` (geometry_msgs/Twist) |

use sinew::interfaces::geometry_msgs::msg::{Twist, Vector3};
use sinew::interfaces::nav_msgs::msg::Path;
use sinew::interfaces::sensor_msgs::msg::LaserScan;
use sinew::parameters::{ParameterSet, Parameters};
use sinew::prelude::*;
use sinew::tf::{At, Buffer, TransformListener};
use std::f64::consts::PI;

/// How it drives. `sinew param list /controller` shows these, with their descriptions and ranges.
#[derive(Parameters)]
pub struct Gains {
    /// The highest speed, in m/s.
    #[parameter(default = 0.8, range = 0.0..=2.0)]
    speed: f64,
    /// rad/s for each rad that it is off.
    #[parameter(default = 3.0, range = 0.1..=20.0)]
    turn: f64,
    /// How far ahead it looks for where to go, in m.
    #[parameter(default = 0.4, range = 0.1..=2.0)]
    look_ahead: f64,
    /// How near something before it may come, in m.
    #[parameter(default = 0.25, range = 0.0..=2.0)]
    stop: f64,
}

struct Control {
    buffer: Buffer,
    gains: ParameterSet<Gains>,
    commands: Publisher<Twist>,
    /// What is left of it.
    path: Vec<[f64; 2]>,
    /// The nearest thing before the robot, in m.
    nearest: f64,
    is_moving: bool,
}

impl Control {
    fn see(&mut self, scan: &LaserScan) {
        let angle = |ray: usize| f64::from(scan.angle_min) + ray as f64 * f64::from(scan.angle_increment);
        let ahead = scan.ranges.iter().enumerate().filter(|(ray, _)| angle(*ray).abs() < PI / 10.0);
        self.nearest = ahead.map(|(_, range)| f64::from(*range)).fold(f64::INFINITY, f64::min);
    }

    /// The heart of it: a lookup, some arithmetic and a message. Nothing of it allocates.
    fn tick(&mut self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let [forward, left] = self.command().unwrap_or([0.0; 2]);
        let is_moving = forward != 0.0 || left != 0.0;
        if is_moving || self.is_moving {
            let linear = Vector3 { x: forward, ..Vector3::default() };
            self.commands.publish(Twist { linear, angular: Vector3 { z: left, ..Vector3::default() } })?;
        }
        self.is_moving = is_moving;
        Ok(())
    }

    /// Forward and to the left. None: it is there, or nobody knows where it is.
    fn command(&mut self) -> Option<[f64; 2]> {
        let goal = *self.path.last()?;
        let found = self.buffer.lookup("base_link", "map", At::Latest).ok()?;
        let seen_from_here = |[x, y]: [f64; 2]| {
            let [x, y, _] = found.transform.apply([x, y, 0.0]);
            [x, y]
        };
        let gains = self.gains.get();
        let left = distance(seen_from_here(goal));
        if left < 0.05 {
            self.path.clear();
            return None;
        }
        // What is near is behind us soon.
        while self.path.len() > 1 && distance(seen_from_here(self.path[0])) < gains.look_ahead {
            self.path.remove(0);
        }
        let [x, y] = seen_from_here(self.path[0]);
        let off = y.atan2(x);
        // Slower the more it has to turn, and before the end.
        let speed = (gains.speed * off.cos().max(0.0)).min(0.1 + left);
        let is_blocked = self.nearest < gains.stop && off.abs() < PI / 4.0;
        Some([if is_blocked { 0.0 } else { speed }, gains.turn * off])
    }
}

fn distance([x, y]: [f64; 2]) -> f64 {
    x.hypot(y)
}

/// The node's entities.
pub struct Controller {
    _frames: TransformListener,
    _path: Subscription<Path>,
    _scan: Subscription<LaserScan>,
    _tick: Timer,
}

/// The node.
///
/// # Errors
/// What can't be made.
pub fn controller(node: &Node) -> sinew::Result<Controller> {
    let buffer = Buffer::new();
    let frames = TransformListener::new(node, &buffer)?;
    let control = node.group(Control {
        buffer,
        gains: node.parameters()?,
        commands: node.publisher("cmd_vel").create()?,
        path: Vec::new(),
        nearest: f64::INFINITY,
        is_moving: false,
    });
    Ok(Controller {
        _frames: frames,
        _path: control.subscription("path").callback(|control: &mut Control, path: &Path| {
            let points = path.poses.iter().map(|pose| [pose.pose.position.x, pose.pose.position.y]);
            control.path = points.collect();
        })?,
        _scan: control.subscription("scan").qos(QoS::sensor_data()).callback(Control::see)?,
        _tick: control.timer(Duration::from_millis(1)).callback(Control::tick)?,
    })
}
