use sinew_msg::Message;

#[derive(Message)]
struct Nothing {
    values: [u32; 0],
}

fn main() {}
