//! Suggests similar names.

/// Returns the names most similar to `wanted`, the best first; none if none is similar.
pub(crate) fn to<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    sinew::names::similar(wanted, names).into_iter().map(str::to_owned).collect()
}

/// Returns the suggestion as the end of a sentence.
pub(crate) fn suggestion(similar: &[String]) -> String {
    match similar {
        [] => String::new(),
        similar => format!("; did you mean {}?", similar.join(" or ")),
    }
}
