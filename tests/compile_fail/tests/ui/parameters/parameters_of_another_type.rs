use sinew::parameters::Parameters;

#[derive(Parameters)]
struct Settings {
    when: std::time::Duration,
}

fn main() {}
