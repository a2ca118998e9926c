use sinew_msg::Message;

#[derive(Message)]
struct Number(u32);

fn main() {}
