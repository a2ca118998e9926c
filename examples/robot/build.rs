//! Generates the robot's own action.

fn main() -> Result<(), sinew_build::GenerateError> {
    sinew_build::generate(["interfaces/robot_interfaces"])
}
