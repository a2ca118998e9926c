//! Two components of one name. (A separate program, since all containers of a program have both.)

use sinew::{Context, Node};
use sinew_component::{Container, ContainerError, component};

fn node(node: Node) -> sinew::Result<Node> {
    Ok(node)
}

component!("demo::Same", "one", node);
component!("demo::Same", "other", node);

#[test]
fn a_name_that_two_modules_register_is_an_error() {
    let context = Context::builder().shared_memory(false).build().unwrap();
    let refused = Container::builder(&context, "container").build().map(drop).unwrap_err();
    assert!(matches!(refused, ContainerError::Twice("demo::Same")), "{refused}");
}
