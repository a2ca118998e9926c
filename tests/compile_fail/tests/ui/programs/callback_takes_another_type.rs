use sinew::prelude::*;

struct Number(u64);
impl Message for Number {}

fn main() -> sinew::Result<()> {
    let node = Context::new()?.node("node")?;
    node.subscription::<Number>("numbers").callback(|number: &u64| println!("{number}"))?;
    Ok(())
}
