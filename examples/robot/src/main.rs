//! The robot's program: `robot NAME --component robot::Wheels --component robot::Lidar ..`, as
//! `robot.toml` starts it. The name is that of the container.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    sinew::logging::init()?;
    let context = sinew::Context::from_args()?;
    let name = std::env::args().nth(1).filter(|word| !word.starts_with('-'));
    let _container = robot::container(&context, name.as_deref().unwrap_or("robot"))?;
    Ok(sinew::spin(&context)?)
}
