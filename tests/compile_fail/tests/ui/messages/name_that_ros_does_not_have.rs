use sinew_msg::Message;

#[derive(Message)]
#[allow(non_camel_case_types)]
struct point {
    x: f64,
}

fn main() {}
