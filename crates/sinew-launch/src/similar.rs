//! Suggests similar names.

/// Returns the end of a sentence that suggests a name similar to `wanted`; empty if there is none.
pub(crate) fn suggestion<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let best = sinew::names::similar(wanted, names).into_iter().next();
    best.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
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
