use sinew::erased::{MessageRef, MessageType};
use sinew::prelude::*;
use std::sync::Mutex;

struct Number(u64);
impl Message for Number {}

static KEPT: Mutex<Vec<MessageRef<'static>>> = Mutex::new(Vec::new());

fn main() {
    let context = Context::new().unwrap();
    let node = context.node("number").unwrap();
    let filtered = node.erased_subscription("numbers", MessageType::of::<Number>());
    let _filtered = filtered.filter_erased(|message| {
        KEPT.lock().unwrap().push(message);
        false
    });
}
