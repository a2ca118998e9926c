use sinew::prelude::*;

struct Number(u64);
impl Message for Number {}

fn main() -> sinew::Result<()> {
    let node = Context::new()?.node("node")?;
    node.timer(Duration::from_secs(1)).callback(|number: &Number| println!("{}", number.0))?;
    Ok(())
}
