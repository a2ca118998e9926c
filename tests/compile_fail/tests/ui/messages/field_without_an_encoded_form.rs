use sinew_msg::Message;

struct Plug;

#[derive(Message)]
struct Device {
    id: u32,
    plug: Plug,
}

#[derive(Message)]
struct Sizes {
    size: usize,
}

fn main() {}
