use sinew::parameters::Parameters;

#[derive(Parameters)]
struct Settings {
    #[parameter(readonly)]
    name: String,
    #[parameter(step = 2)]
    count: i64,
}

fn main() {}
