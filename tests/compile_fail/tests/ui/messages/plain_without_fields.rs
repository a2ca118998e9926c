use sinew_msg::Message;

#[derive(Message, Clone, Copy)]
#[message(plain)]
#[repr(C)]
struct Nothing {}

fn main() {}
