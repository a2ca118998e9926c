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
    let _server = node.server::<Describe>("describe").callback(|text: &Text| Text(text.0.clone()))?;
    Ok(())
}
