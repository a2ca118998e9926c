use sinew_msg::Message;

#[derive(Message, Clone, Copy)]
#[message(plain)]
#[repr(C)]
struct Inner {
    id: u32,
    filler: u32,
    value: f64,
}

// In the image `inner` would follow at once: what CDR aligns is its first number, to 4 bytes.
#[derive(Message, Clone, Copy)]
#[message(plain)]
#[repr(C)]
struct Outer {
    first: u32,
    inner: Inner,
}

fn main() {}
