//! Texts with places for values.

/// Replaces names by values in one pass, so that values may contain dollars. A name is written as
/// `$name`, or as `${name}` before a letter or an underscore. Panics if a name has no value.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut parts = template.split('$');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_letter = |c: char| c.is_ascii_lowercase() || c == '_';
        let braced = part.strip_prefix('{').and_then(|part| part.split_once('}'));
        let (name, rest) =
            braced.unwrap_or_else(|| part.split_at(part.find(|c: char| !is_letter(c)).unwrap_or(part.len())));
        let value = values.iter().find(|(known, _)| *known == name);
        text.push_str(value.unwrap_or_else(|| panic!("the template has no value for `{name}`")).1);
        text.push_str(rest);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn values_are_not_read_again() {
        let values = [("a", "$b"), ("b", "x")];
        assert_eq!(fill("$a ${b}_c $b{}", &values), "$b x_c x{}");
    }
}
