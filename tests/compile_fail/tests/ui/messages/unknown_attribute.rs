use sinew_msg::Message;

#[derive(Message)]
#[message(plian)]
struct Point {
    x: f64,
}

fn main() {}
