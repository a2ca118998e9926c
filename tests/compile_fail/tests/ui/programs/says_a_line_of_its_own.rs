use sinew::prelude::*;

struct Driver {
    node: Node,
}

fn main() -> sinew::Result<()> {
    let driver = Driver { node: Context::new()?.node("node")? };
    sinew::info!(driver.node, "fine");
    sinew::info!(driver, "not a node");
    Ok(())
}
