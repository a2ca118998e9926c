use sinew::parameters::Parameters;

#[derive(Parameters)]
struct Settings {
    #[parameter(range = 1..=2)]
    name: String,
}

fn main() {}
