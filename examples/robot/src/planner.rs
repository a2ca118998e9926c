//! The planner: finds a way to a goal, has it driven, and tells how far it is.
//!
//! | serves | the action `navigate` (robot_interfaces/Navigate); a newer goal takes the place of an older one |
//! |---|---|
//! | takes | tf |
//! | publishes | `path` (nav_msgs/Path) |

use crate::map::Map;
use crate::robot_interfaces::action::{Navigate, NavigateFeedback, NavigateResult};
use sinew::action::{ActionServer, Actions, CancelReason, ExecutingGoal, Policy};
use sinew::interfaces::geometry_msgs::msg::PoseStamped;
use sinew::interfaces::nav_msgs::msg::Path;
use sinew::interfaces::std_msgs::msg::Header;
use sinew::parameters::Parameter;
use sinew::prelude::*;
use sinew::tf::{At, Buffer, Transform, TransformListener};
use sinew::time::ClockKind;
use std::error::Error;

/// Near enough, in m.
const TOLERANCE: f64 = 0.1;

#[derive(Clone)]
struct Planning {
    node: Node,
    buffer: Buffer,
    paths: Publisher<Path>,
    patience: Parameter<f64>,
}

impl Planning {
    /// Where the robot is in the map.
    fn here(&self) -> Option<[f64; 2]> {
        let [x, y, _] = self.buffer.lookup("map", "base_link", At::Latest).ok()?.transform.translation;
        Some([x, y])
    }

    fn drive(&self, way: &[[f64; 2]]) -> Result<(), Box<dyn Error + Send + Sync>> {
        let header = Header { stamp: self.node.now().to_msg(), frame_id: "map".to_owned() };
        let pose = |[x, y]: &[f64; 2]| PoseStamped {
            header: header.clone(),
            pose: Transform::from_translation([*x, *y, 0.0]).into(),
        };
        self.paths.publish(Path { poses: way.iter().map(pose).collect(), header: header.clone() })?;
        Ok(())
    }

    /// One goal, from its acceptance to its end. It is a task: while it sleeps it keeps no thread.
    async fn navigate(self, goal: ExecutingGoal<Navigate>) -> Result<(), Box<dyn Error + Send + Sync>> {
        let to = [goal.goal().x, goal.goal().y];
        let because = |message: &str| NavigateResult { message: message.to_owned() };
        let Some(here) = self.here() else {
            return Ok(goal.abort(because("it isn't known where the robot is: do the wheels work?"))?);
        };
        let Some(way) = Map::example().path(here, to) else {
            return Ok(goal.abort(because("there is no way to that place"))?);
        };
        self.drive(&way)?;
        // Where it was last when it had moved, and when.
        let mut moved = (here, self.node.now());
        loop {
            self.node.sleep_for_async(ClockKind::Ros, Duration::from_millis(100)).await?;
            if let Some(reason) = goal.cancel_reason() {
                self.drive(&[])?; // the robot stops
                let message = match reason {
                    CancelReason::Preempted => "a newer goal came",
                    CancelReason::ServerGone => "the planner ends",
                    _ => "it was cancelled",
                };
                return Ok(goal.canceled(because(message))?);
            }
            let (place, now) = (self.here(), self.node.now());
            if let Some([x, y]) = place
                && (moved.0[0] - x).hypot(moved.0[1] - y) > TOLERANCE
            {
                moved = ([x, y], now);
            }
            let patience = self.patience.get();
            if (now - moved.1).as_secs_f64() > patience {
                self.drive(&[])?;
                let message =
                    format!("it hasn't moved for {patience} s: does something block it, or not drive?");
                return Ok(goal.abort(because(&message))?);
            }
            let Some([x, y]) = place else { continue };
            let distance = (to[0] - x).hypot(to[1] - y);
            if distance < TOLERANCE {
                return Ok(goal.succeed(because("it is there"))?);
            }
            goal.publish_feedback(NavigateFeedback { distance })?;
        }
    }
}

/// The node's entities.
pub struct Planner {
    _frames: TransformListener,
    _navigate: ActionServer<Navigate>,
}

/// The node.
///
/// # Errors
/// What can't be made.
pub fn planner(node: &Node) -> sinew::Result<Planner> {
    let buffer = Buffer::new();
    let frames = TransformListener::new(node, &buffer)?;
    let patience = node.parameter("patience").default(5.0).range(0.1..=600.0);
    let patience =
        patience.description("A goal is aborted if nothing moves for so many seconds.").create()?;
    let paths = node.publisher("path").create()?;
    let planning = Planning { node: node.clone(), buffer, paths, patience };
    let navigate = node
        .action_server("navigate")
        .policy(Policy::NewestWins)
        .async_callback(move |goal| planning.clone().navigate(goal))?;
    Ok(Planner { _frames: frames, _navigate: navigate })
}
