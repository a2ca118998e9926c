//! The lidar, simulated: rays from where the robot really is to the walls. A managed node.
//!
//! | takes | `ground_truth` (geometry_msgs/PoseStamped) |
//! |---|---|
//! | publishes | `scan` (sensor_msgs/LaserScan) in the frame `lidar`, 10 times a second, as sensors do: the last few, best effort |

use crate::map::Map;
use sinew::error::CreateError;
use sinew::interfaces::geometry_msgs::msg::PoseStamped;
use sinew::interfaces::sensor_msgs::msg::LaserScan;
use sinew::interfaces::std_msgs::msg::Header;
use sinew::lifecycle::{FromFn, LifecycleNode, ManagedPublisher, from_fn};
use sinew::prelude::*;
use sinew::tf::Transform;
use std::f64::consts::PI;

const PERIOD: Duration = Duration::from_millis(100);
const RAYS: u16 = 90;
const FURTHEST: f64 = 8.0;

struct Scanner {
    node: Node,
    map: Map,
    pose: Option<Transform>,
    scans: ManagedPublisher<LaserScan>,
}

impl Scanner {
    #[expect(clippy::cast_possible_truncation, reason = "the message has 32 bits")]
    fn scan(&mut self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let Some(pose) = self.pose else { return Ok(()) }; // nothing is known yet
        let ([x, y, _], [.., heading]) = (pose.translation, pose.roll_pitch_yaw());
        let increment = 2.0 * PI / f64::from(RAYS);
        let ray =
            |number| self.map.range([x, y], heading - PI + f64::from(number) * increment, FURTHEST) as f32;
        let header = Header { stamp: self.node.now().to_msg(), frame_id: "lidar".to_owned() };
        self.scans.publish(LaserScan {
            header,
            angle_min: -PI as f32,
            angle_max: (PI - increment) as f32,
            angle_increment: increment as f32,
            range_max: FURTHEST as f32,
            ranges: (0..RAYS).map(ray).collect(),
            ..LaserScan::default()
        })?;
        Ok(())
    }
}

/// What there is while the node is configured.
pub struct Lidar {
    _pose: Subscription<PoseStamped>,
    _scan: Timer,
}

/// The node.
///
/// # Errors
/// [`CreateError`]
pub fn lidar(node: &Node) -> Result<LifecycleNode<FromFn<Lidar>>, CreateError> {
    LifecycleNode::new(
        node,
        from_fn(|node| {
            let scans = node.manage(node.publisher("scan").qos(QoS::sensor_data()).create()?);
            let scanner = node.managed_group(Scanner {
                node: (**node).clone(),
                map: Map::example(),
                pose: None,
                scans,
            });
            Ok(Lidar {
                _pose: scanner.subscription("ground_truth").qos(QoS::default().keep_last(1)).callback(
                    |scanner: &mut Scanner, pose: &PoseStamped| scanner.pose = Some(pose.pose.into()),
                )?,
                _scan: scanner.timer(PERIOD).callback(Scanner::scan)?,
            })
        }),
    )
}
