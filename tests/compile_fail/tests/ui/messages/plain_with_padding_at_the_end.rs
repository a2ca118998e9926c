use sinew_msg::Message;

#[derive(Message, Clone, Copy)]
#[message(plain)]
#[repr(C)]
struct Sample {
    value: f64,
    channel: u32,
}

fn main() {}
