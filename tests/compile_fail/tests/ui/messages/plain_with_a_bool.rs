use sinew_msg::Message;

#[derive(Message, Clone, Copy)]
#[message(plain)]
#[repr(C)]
struct Switch {
    id: u8,
    on: bool,
}

fn main() {}
