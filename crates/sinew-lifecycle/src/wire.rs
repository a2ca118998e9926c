//! Converts states and transitions to ROS 2's messages.

use crate::machine::{State, Step, Transition};
use sinew_interfaces::lifecycle_msgs::msg;

impl From<State> for msg::State {
    fn from(state: State) -> Self {
        Self { id: state.id(), label: state.label().to_owned() }
    }
}

pub(crate) fn transition(step: &Step) -> msg::Transition {
    msg::Transition { id: step.id, label: step.label.to_owned() }
}

pub(crate) fn description(step: &Step) -> msg::TransitionDescription {
    msg::TransitionDescription {
        transition: transition(step),
        start_state: step.start.into(),
        goal_state: step.goal.into(),
    }
}

/// Makes an event as rclcpp does, without a time.
pub(crate) fn event(step: &Step) -> msg::TransitionEvent {
    let msg::TransitionDescription { transition, start_state, goal_state } = description(step);
    msg::TransitionEvent { timestamp: 0, transition, start_state, goal_state }
}

/// Makes a request by label, with any number: that of a shutdown depends on the state.
pub(crate) fn asked(transition: Transition) -> msg::Transition {
    msg::Transition { id: 0, label: transition.label().to_owned() }
}
