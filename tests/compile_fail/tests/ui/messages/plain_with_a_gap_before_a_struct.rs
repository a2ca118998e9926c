use sinew_msg::Message;

#[derive(Message, Clone, Copy)]
#[message(plain)]
#[repr(C)]
struct Inner {
    id: u32,
    filler: u32,
    value: f64,
}

// CDR would encode `inner` without a gap: it aligns the first number in it, to 4 bytes.
#[derive(Message, Clone, Copy)]
#[message(plain)]
#[repr(C)]
struct Outer {
    first: u32,
    inner: Inner,
}

fn main() {}
