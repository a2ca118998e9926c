//! Names that may have been meant.

/// The end of a sentence that names what may have been meant instead of `wanted`; empty if nothing
/// is like it.
pub(crate) fn suggestion<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    // One mistyped letter in three, two at most: as of clap's suggestions, no wild guesses.
    let near = wanted.chars().count().div_ceil(3).min(2);
    let distance = |name: &'a str| {
        let letters = strsim::damerau_levenshtein(wanted, name);
        (letters <= near || last(name) == last(wanted)).then_some((letters, name))
    };
    let best = names.into_iter().filter_map(distance).min();
    best.map_or_else(String::new, |(_, name)| format!("; did you mean `{name}`?"))
}

/// The right name in another namespace is a likely one.
fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::suggestion;

    #[test]
    fn only_what_is_near_is_suggested() {
        let names = ["program", "parameters", "robot/camera"];
        assert_eq!(suggestion("progam", names), "; did you mean `program`?");
        assert_eq!(suggestion("camera", names), "; did you mean `robot/camera`?");
        assert_eq!(suggestion("env", names), "");
    }
}
