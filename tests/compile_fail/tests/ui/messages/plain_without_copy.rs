use sinew_msg::Message;

#[derive(Message)]
#[message(plain)]
#[repr(C)]
struct Point {
    x: f64,
}

fn main() {}
