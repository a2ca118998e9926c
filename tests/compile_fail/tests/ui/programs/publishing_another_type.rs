use sinew::prelude::*;

struct Number(u64);
impl Message for Number {}

fn main() -> sinew::Result<()> {
    let node = Context::new()?.node("node")?;
    let numbers = node.publisher::<Number>("numbers").create()?;
    numbers.publish(7_u64)?;
    Ok(())
}
