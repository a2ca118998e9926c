use sinew_msg::Message;

#[derive(Message)]
struct View<'a> {
    pixels: &'a [u8],
}

fn main() {}
