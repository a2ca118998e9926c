use sinew_msg::Message;

#[derive(Message)]
enum Mode {
    Manual,
    Automatic,
}

fn main() {}
