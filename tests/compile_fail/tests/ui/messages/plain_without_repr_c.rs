use sinew_msg::Message;

#[derive(Message, Clone, Copy)]
#[message(plain)]
struct Point {
    x: f64,
}

fn main() {}
