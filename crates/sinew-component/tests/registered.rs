//! Components registered next to their definitions.

use sinew::{Context, Node};
use sinew_component::{Container, ContainerError, component};

fn camera(node: Node) -> sinew::Result<Node> {
    Ok(node)
}

component!("drivers::Camera", "camera", camera);

mod lidar {
    pub(super) struct Lidar;

    impl Lidar {
        fn new(_: sinew::Node) -> Result<Self, String> {
            Err("no lidar is connected".to_owned())
        }
    }

    sinew_component::component!("drivers::Lidar", "lidar", Lidar::new);
}

#[test]
fn every_container_has_what_the_program_registers() {
    let context = |line: &'static str| {
        let line = ["program", "--component", line];
        Context::builder().shared_memory(false).arguments(line).build().unwrap()
    };
    let container = Container::builder(&context("drivers::Camera=/left"), "one").build().unwrap();
    assert_eq!(container.types(), ["drivers::Camera", "drivers::Lidar"]);
    let refused = Container::builder(&context("drivers::Lidar"), "two").build().map(drop).unwrap_err();
    assert!(
        matches!(&refused, ContainerError::Load(why) if why.ends_with("no lidar is connected")),
        "{refused}"
    );
    // A kind registered with the container replaces it.
    let own = |node: Node| -> sinew::Result<Node> { Ok(node) };
    let builder = Container::builder(&context("drivers::Lidar"), "three");
    assert_eq!(builder.component("drivers::Lidar", "lidar", own).build().unwrap().types().len(), 2);
}
