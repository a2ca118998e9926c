use sinew_msg::Message;

#[derive(Message)]
struct Point {
    #[message(name = "x")]
    horizontal: f64,
}

fn main() {}
