use sinew_msg::Message;

#[derive(Message, Clone, Copy)]
#[message(plain)]
#[repr(C, packed)]
struct Point {
    tag: u8,
    x: f64,
}

fn main() {}
