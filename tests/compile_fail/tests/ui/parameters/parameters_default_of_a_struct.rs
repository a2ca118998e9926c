use sinew::parameters::Parameters;

#[derive(Parameters)]
struct Settings {
    #[parameter(default = Limits { speed: 1.0 })]
    limits: Limits,
}

#[derive(Parameters)]
struct Limits {
    speed: f64,
}

fn main() {}
