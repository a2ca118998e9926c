use sinew_msg::Message;

#[derive(Message)]
struct Box {
    größe: f64,
}

fn main() {}
