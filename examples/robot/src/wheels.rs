//! The wheels, simulated: they turn as `cmd_vel` says, and the robot moves as they turn. A managed
//! node, as a driver of real wheels would be.
//!
//! | takes | `cmd_vel` (geometry_msgs/Twist); they stop if none comes for `cmd_vel_timeout` seconds |
//! |---|---|
//! | publishes | `joint_states` (sensor_msgs/JointState), how far each wheel has turned, 100 times a second |
//! | | `ground_truth` (geometry_msgs/PoseStamped), which a real robot doesn't know: for the simulated lidar |

use crate::map::START;
use parking_lot::Mutex;
use sinew::error::CreateError;
use sinew::interfaces::geometry_msgs::msg::{PoseStamped, Twist};
use sinew::interfaces::sensor_msgs::msg::JointState;
use sinew::interfaces::std_msgs::msg::Header;
use sinew::lifecycle::{FromFn, LifecycleNode, ManagedPublisher, from_fn};
use sinew::parameters::Parameter;
use sinew::prelude::*;
use sinew::tf::Transform;
use sinew::time::Time;
use std::sync::Arc;

/// A wheel's radius, in m.
pub const RADIUS: f64 = 0.1;
/// From one wheel to the other, in m.
pub const TRACK: f64 = 0.4;

const PERIOD: Duration = Duration::from_millis(10);

/// What is simulated. It is there whatever the state of the driver is.
struct Motion {
    /// How far each wheel has turned, left and right, in rad.
    turned: [f64; 2],
    /// x, y and heading.
    pose: [f64; 3],
}

/// What was commanded last.
#[derive(Clone, Copy)]
struct Command {
    /// Forward in m/s, and to the left in rad/s.
    speeds: [f64; 2],
    /// When it came.
    at: Time,
}

/// Nothing moves.
const STOP: Command = Command { speeds: [0.0; 2], at: Time::from_nanoseconds(0) };

/// What the wheels' callbacks share. They are in one group, which runs one of them at a time.
struct Drive {
    node: Node,
    command: Arc<Mutex<Command>>,
    motion: Arc<Mutex<Motion>>,
    slip: Parameter<f64>,
    timeout: Parameter<f64>,
    joints: ManagedPublisher<JointState>,
    truth: ManagedPublisher<PoseStamped>,
}

impl Drive {
    fn step(&mut self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let dt = PERIOD.as_secs_f64();
        let now = self.node.now();
        let [forward, left] = {
            let mut command = self.command.lock();
            // Who commanded may be gone, and would be driven on for.
            if command.speeds != STOP.speeds && (now - command.at).as_secs_f64() > self.timeout.get() {
                let seconds = self.timeout.get();
                sinew::warn!(self.node, "no cmd_vel for {seconds} s: the wheels stop");
                *command = STOP;
            }
            command.speeds
        };
        let speeds = [forward - left * TRACK / 2.0, forward + left * TRACK / 2.0];
        let mut motion = self.motion.lock();
        for (turned, speed) in motion.turned.iter_mut().zip(speeds) {
            *turned += speed / RADIUS * dt;
        }
        // Wheels that slip turn further than the robot moves.
        let grip = 1.0 - self.slip.get();
        let [x, y, heading] = &mut motion.pose;
        *heading += left * grip * dt;
        *x += forward * grip * dt * heading.cos();
        *y += forward * grip * dt * heading.sin();

        let stamp = now.to_msg();
        let header = |frame: &str| Header { stamp, frame_id: frame.to_owned() };
        self.joints.publish(JointState {
            header: header(""),
            name: vec!["left_wheel".to_owned(), "right_wheel".to_owned()],
            position: motion.turned.to_vec(),
            velocity: speeds.map(|speed| speed / RADIUS).to_vec(),
            ..JointState::default()
        })?;
        let [x, y, heading] = motion.pose;
        let pose = Transform::from_roll_pitch_yaw([x, y, 0.0], [0.0, 0.0, heading]).into();
        self.truth.publish(PoseStamped { header: header("map"), pose })?;
        Ok(())
    }
}

/// What there is while the node is configured. It rests unless it is active.
pub struct Wheels {
    command: Arc<Mutex<Command>>,
    _commands: Subscription<Twist>,
    _step: Timer,
}

/// The node.
///
/// # Errors
/// [`CreateError`]
pub fn wheels(node: &Node) -> Result<LifecycleNode<FromFn<Wheels>>, CreateError> {
    // Made once. What is inside the closure is made each time the node is configured.
    let slip = node.parameter("slip").default(0.0).range(0.0..=0.5);
    let slip = slip.description("Part of each turn that is lost.").create()?;
    let timeout = node.parameter("cmd_vel_timeout").default(0.5).range(0.0..=10.0);
    let timeout = timeout.description("After so many seconds without cmd_vel the wheels stop.").create()?;
    let motion = Arc::new(Mutex::new(Motion { turned: [0.0; 2], pose: [START[0], START[1], 0.0] }));
    LifecycleNode::new(
        node,
        from_fn(move |node| {
            let command = Arc::new(Mutex::new(STOP));
            let drive = node.managed_group(Drive {
                node: (**node).clone(),
                command: command.clone(),
                motion: motion.clone(),
                slip: slip.clone(),
                timeout: timeout.clone(),
                joints: node.manage(node.publisher("joint_states").create()?),
                truth: node.manage(node.publisher("ground_truth").create()?),
            });
            Ok(Wheels {
                command,
                _commands: drive.subscription("cmd_vel").callback(|drive: &mut Drive, twist: &Twist| {
                    let (speeds, at) = ([twist.linear.x, twist.angular.z], drive.node.now());
                    *drive.command.lock() = Command { speeds, at };
                })?,
                _step: drive.timer(PERIOD).callback(Drive::step)?,
            })
        })
        .on_deactivate(|wheels: &mut Wheels| {
            *wheels.command.lock() = STOP; // what was commanded before isn't when they are activated
            Ok(())
        }),
    )
}
