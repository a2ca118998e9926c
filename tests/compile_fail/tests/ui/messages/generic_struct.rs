use sinew_msg::Message;

#[derive(Message)]
struct Stamped<T> {
    value: T,
}

fn main() {}
