use sinew::prelude::*;

struct Number(u64);
impl Message for Number {}
struct Text(String);
impl Message for Text {}
struct Describe;
impl Service for Describe {
    type Request = Number;
    type Response = Text;
}

fn main() -> sinew::Result<()> {
    let node = Context::new()?.node("node")?;
    let client = node.client::<Describe>("describe").create()?;
    let _call = client.call_async(Text(String::new()));
    Ok(())
}
