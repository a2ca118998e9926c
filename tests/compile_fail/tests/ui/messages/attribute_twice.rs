use sinew_msg::Message;

#[derive(Message)]
#[message(name = "a/msg/Point", name = "b/msg/Point")]
struct Point {
    x: f64,
}

fn main() {}
