//! Names that may have been meant.

/// The names most like `wanted`, best first; none if none is like it.
pub(crate) fn to<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    sinew::names::similar(wanted, names).into_iter().map(str::to_owned).collect()
}

/// The end of a sentence that names what may have been meant.
pub(crate) fn suggestion(similar: &[String]) -> String {
    match similar {
        [] => String::new(),
        similar => format!("; did you mean {}?", similar.join(" or ")),
    }
}
