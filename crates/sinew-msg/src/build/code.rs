//! Rust code in the making: lines, indented by their brackets.

/// The text of a file.
#[derive(Default)]
pub(super) struct Code {
    text: String,
    depth: usize,
}

impl Code {
    /// Adds the template's lines, with each `$name` replaced by its value. A value may have several lines.
    ///
    /// What opens a bracket at its end indents the lines behind it; what begins with `.`, or is behind `=`, is indented by itself.
    pub(super) fn add(&mut self, template: &str, values: &[(&str, &str)]) {
        fill(template, values).lines().for_each(|line| self.line(line.trim()));
    }

    /// Adds the lines of a comment, which may contain anything.
    pub(super) fn comment(&mut self, lines: &[String]) {
        for line in lines {
            self.indented(format!("/// {line}").trim_end(), self.depth);
        }
    }

    fn line(&mut self, line: &str) {
        if line.is_empty() {
            self.blank();
            return;
        }
        if line.starts_with("//") {
            self.indented(line, self.depth);
            return;
        }
        if line.starts_with(['}', ')', ']']) {
            self.depth = self.depth.saturating_sub(1);
            // No blank line before it.
            while self.text.ends_with("\n\n") {
                self.text.pop();
            }
        }
        let is_continued = line.starts_with('.') || self.text.ends_with("=\n");
        self.indented(line, self.depth + usize::from(is_continued));
        if line.ends_with(['{', '(', '[']) {
            self.depth += 1;
        }
    }

    fn indented(&mut self, line: &str, depth: usize) {
        self.text.extend(std::iter::repeat_n("    ", depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// One blank line, but for the beginning of a block.
    fn blank(&mut self) {
        let is_beginning = self.text.is_empty() || self.text.ends_with("{\n") || self.text.ends_with("\n\n");
        if !is_beginning {
            self.text.push('\n');
        }
    }

    pub(super) fn finish(mut self) -> String {
        self.text.truncate(self.text.trim_end().len());
        self.text.push('\n');
        self.text
    }
}

/// Replaces names by values in one go, so that values may contain dollars.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut parts = template.split('$');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !(c.is_ascii_lowercase() || c == '_')).unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        let value = values.iter().find(|(known, _)| *known == name);
        text.push_str(value.unwrap_or_else(|| panic!("the template has no value for `{name}`")).1);
        text.push_str(rest);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_indent() {
        let mut code = Code::default();
        code.add("fn $name() {\n\na(\nb,\n)\n.c();\n\n}\n\n\nstruct $name;", &[("name", "f$name")]);
        let expected = "fn f$name() {\n    a(\n        b,\n    )\n        .c();\n}\n\nstruct f$name;\n";
        assert_eq!(code.finish(), expected);
    }
}
