use sinew_msg::Message;

#[derive(Message, Clone, Copy)]
#[message(plain)]
#[repr(C)]
struct Sample {
    channel: u8,
    value: f64,
}

fn main() {}
