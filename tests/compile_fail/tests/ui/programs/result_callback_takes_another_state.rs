use sinew::prelude::*;
use sinew::service::CallResult;

struct Number(u64);
impl Message for Number {}
struct Double;
impl Service for Double {
    type Request = Number;
    type Response = Number;
}

fn main() -> sinew::Result<()> {
    let node = Context::new()?.node("node")?;
    let client = node.group(0_u64).client::<Double>("double").create()?;
    client.call_then(Number(1), |_: &mut String, _: CallResult<Double>| {})?;
    Ok(())
}
