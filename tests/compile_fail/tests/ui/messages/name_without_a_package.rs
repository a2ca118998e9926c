use sinew_msg::Message;

#[derive(Message)]
#[message(name = "Point")]
struct Point {
    x: f64,
}

fn main() {}
