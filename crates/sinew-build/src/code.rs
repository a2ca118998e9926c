//! A writer of Rust code: lines indented by their brackets, and broken as rustfmt breaks them.

use super::expression::{Expression, Right, WIDTH, width};
use super::template::fill;

/// The text of a file.
#[derive(Default)]
pub(super) struct Code {
    text: String,
    depth: usize,
    /// Set if the last line ended with something that the next line continues.
    is_open: bool,
}

impl Code {
    /// Adds the template's lines, with each `$name` replaced by its value. A value may have several
    /// lines.
    ///
    /// A line that opens a bracket at its end indents the lines after it. A line that begins with
    /// `.`, or that follows `=` or `:`, is itself indented.
    pub(super) fn add(&mut self, template: &str, values: &[(&str, &str)]) {
        fill(template, values).lines().for_each(|line| self.line(line.trim()));
    }

    /// Adds `before`, the expression and `behind`.
    pub(super) fn expression(&mut self, before: &str, expression: &Expression, behind: &str) {
        let indent = 4 * self.depth;
        let text = expression.text(indent, indent + width(before), room(expression, behind));
        format!("{before}{text}{behind}").lines().for_each(|line| self.line(line));
    }

    /// Adds `before`, which ends with `=`, then the expression in the same or the next line, and
    /// `behind`.
    pub(super) fn binding(&mut self, before: &str, expression: &Expression, behind: &str) {
        let indent = 4 * self.depth;
        match expression.right(indent, indent + width(before) + 1, room(expression, behind)) {
            Right::Same(text) => format!("{before} {text}{behind}").lines().for_each(|line| self.line(line)),
            Right::Next(text) => {
                self.indented(before, self.depth);
                self.depth += 1;
                format!("{text}{behind}").lines().for_each(|line| self.line(line));
                self.depth -= 1;
            }
        }
    }

    /// Adds an `assert!` that the expression equals the number.
    pub(super) fn assertion(&mut self, expression: &Expression, number: usize) {
        let line = format!("assert!({} == {number});", expression.line());
        if 4 * self.depth + width(&line) <= WIDTH {
            self.line(&line);
        } else {
            self.line("assert!(");
            self.expression("", expression, &format!(" == {number}"));
            self.line(");");
        }
    }

    /// Adds the opening of a function.
    pub(super) fn function(&mut self, name: &str, parameters: &[&str], result: &str) {
        let line = format!("fn {name}({}) -> {result} {{", parameters.join(", "));
        if 4 * self.depth + width(&line) <= WIDTH {
            self.line(&line);
            return;
        }
        self.line(&format!("fn {name}("));
        parameters.iter().for_each(|parameter| self.line(&format!("{parameter},")));
        self.line(&format!(") -> {result} {{"));
    }

    /// Adds the lines of a comment, which may contain any text.
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
        if line.starts_with(['}', ')', ']']) || line.starts_with(">(") {
            self.depth = self.depth.saturating_sub(1);
            // No blank line comes before it.
            while self.text.ends_with("\n\n") {
                self.text.pop();
            }
        }
        // A continuation of a bracket that closes lines above is aligned with that bracket.
        let is_call = line.starts_with('.') && !self.last_line().trim_start().starts_with(['}', ')', ']']);
        let is_continued = is_call || self.is_open;
        self.indented(line, self.depth + usize::from(is_continued));
        self.is_open = line.ends_with(['=', ':']);
        if line.ends_with(['{', '(', '[']) || line.ends_with("::<") {
            self.depth += 1;
        }
    }

    fn last_line(&self) -> &str {
        self.text.lines().next_back().unwrap_or_default()
    }

    fn indented(&mut self, line: &str, depth: usize) {
        self.text.extend(std::iter::repeat_n("    ", depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Adds one blank line, except at the beginning of a block.
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

/// Returns the columns needed after the expression: rustfmt leaves one free after the `?` of a
/// method.
fn room(expression: &Expression, behind: &str) -> usize {
    let is_method = matches!(expression, Expression::Call(function, _) if function.contains('.'));
    width(behind) + usize::from(is_method && behind.starts_with('?'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_indent() {
        let mut code = Code::default();
        code.add("fn $name() {\n\na(\nb,\n)\n.c();\n\nd\n.e();\n}\n\n\nstruct $name;", &[("name", "f$name")]);
        let expected = "fn f$name() {\n    a(\n        b,\n    )\n    .c();\n\n    d\n        .e();\n}\n\nstruct f$name;\n";
        assert_eq!(code.finish(), expected);
    }
}
