use sinew::prelude::*;

#[derive(Clone)]
struct Number(u64);
impl Message for Number {}
struct Double;
impl Service for Double {
    type Request = Number;
    type Response = Number;
}

fn answer(number: Shared<Number>, responder: Responder<Double>) {
    let _ = responder.respond(number);
}

fn main() -> sinew::Result<()> {
    let node = Context::new()?.node("node")?;
    let number: Shared<Number> = Unique::new(Number(7)).into_shared();
    node.publisher::<Number>("numbers").create()?.publish(number.clone())?;

    let client = node.client::<Double>("double").create()?;
    let _call = client.call_async(number.clone());
    let _call = client.call_async(&*number);
    let _server = node.server::<Double>("double").async_callback(|number: Unique<Number>| async move { number.into_shared() })?;
    Ok(())
}
