use sinew::parameters::Parameters;

#[derive(Parameters)]
enum Mode {
    Stop,
    Go(f64),
}

fn main() {}
