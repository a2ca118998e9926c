//! Generated expressions, broken into lines as rustfmt breaks them.

/// rustfmt's default widths: `max_width`, `fn_call_width` and `array_width`, `struct_lit_width`,
/// and `short_array_element_width_threshold`.
pub(super) const WIDTH: usize = 100;
const ITEMS: usize = 60;
const FIELDS: usize = 18;
const SHORT: usize = 10;

/// An expression. Its text has no indentation: [`Code`](super::code::Code) does that.
#[derive(Clone)]
pub(super) enum Expression {
    /// Text that stays on one line.
    Atom(String),
    /// `function(arguments)`; a tuple has no function.
    Call(String, Vec<Expression>),
    /// `[items]`, with the text before the bracket.
    List(&'static str, Vec<Expression>),
    /// `Name { fields }`.
    Structure(String, Vec<Expression>),
    /// `field: value` in a structure.
    Field(String, Box<Expression>),
    /// `receiver.method()`.
    Method(Box<Expression>, &'static str),
}

/// The text after a `=` or `:`.
pub(super) enum Right {
    /// On the same line.
    Same(String),
    /// On the next line, indented.
    Next(String),
}

impl Expression {
    pub(super) fn atom(text: impl Into<String>) -> Self {
        Self::Atom(text.into())
    }

    /// Returns the text, indented by `indent`, if `before` columns of its first line and `behind`
    /// columns of its last line are taken.
    pub(super) fn text(&self, indent: usize, before: usize, behind: usize) -> String {
        let line = self.line();
        if self.is_short() && before + width(&line) + behind <= WIDTH {
            return line;
        }
        match self {
            Self::Atom(text) => text.clone(),
            // Move the value to the next line only if its first line does not fit into this one.
            Self::Field(name, value) => {
                let same = value.text(indent, before + width(name) + 2, behind);
                let first = width(same.lines().next().unwrap_or_default());
                let next = value.text(indent + 4, indent + 4, behind);
                let is_next = before + width(name) + 2 + first > WIDTH && !next.contains('\n');
                if is_next { format!("{name}:\n{next}") } else { format!("{name}: {same}") }
            }
            Self::Method(receiver, method) => format!("{}\n.{method}()", receiver.text(indent, before, 0)),
            Self::Structure(name, fields) => format!("{name} {{\n{}}}", each(fields, indent)),
            Self::Call(function, arguments) => match arguments.as_slice() {
                [one] if one.hugs() => {
                    let before = before + width(function) + 1;
                    format!("{function}({})", one.text(indent, before, behind + 1))
                }
                _ => match function.split_once("::<") {
                    // A type name that is this long gets a line of its own. (rustfmt asks whether
                    // the arguments would fit into the first line.)
                    Some((name, of)) if before + width(function) >= WIDTH => {
                        let of = of.strip_suffix('>').unwrap_or(of);
                        let rest = Self::Call(String::new(), arguments.clone());
                        format!("{name}::<\n{of},\n>{}", rest.text(indent, before, behind))
                    }
                    _ => format!("{function}(\n{})", lines(arguments, indent)),
                },
            },
            Self::List(before_bracket, items) => match items.as_slice() {
                [one] if one.hugs() => {
                    let before = before + width(before_bracket) + 1;
                    format!("{before_bracket}[{}]", one.text(indent, before, behind + 1))
                }
                _ => format!("{before_bracket}[\n{}]", lines(items, indent)),
            },
        }
    }

    /// Returns the text after a `=` or `:` that ends at column `before`.
    pub(super) fn right(&self, indent: usize, before: usize, behind: usize) -> Right {
        let same = self.text(indent, before, behind);
        let next = self.text(indent + 4, indent + 4, behind);
        let fits = |text: &str, before: usize| match text.split_once('\n') {
            Some((first, _)) => before + width(first) <= WIDTH,
            None => before + width(text) + behind <= WIDTH,
        };
        let line_breaks = |text: &str| text.matches('\n').count();
        let opens = |text: &str| text.lines().next().is_some_and(|first| first.ends_with(['(', '{', '[']));
        let is_same = match (fits(&same, before), fits(&next, indent + 4)) {
            (true, true) => {
                line_breaks(&same) == 0
                    || line_breaks(&next) > 0
                        && line_breaks(&same) <= line_breaks(&next) + 1
                        && (!opens(&same) || opens(&next))
            }
            (same_fits, next_fits) => same_fits || !next_fits,
        };
        if is_same { Right::Same(same) } else { Right::Next(next) }
    }

    /// Returns the text as one line.
    pub(super) fn line(&self) -> String {
        let all = |items: &[Self]| items.iter().map(Self::line).collect::<Vec<_>>().join(", ");
        match self {
            Self::Atom(text) => text.clone(),
            Self::Call(function, arguments) => format!("{function}({})", all(arguments)),
            Self::List(before, items) => format!("{before}[{}]", all(items)),
            Self::Structure(name, fields) if fields.is_empty() => format!("{name} {{}}"),
            Self::Structure(name, fields) => format!("{name} {{ {} }}", all(fields)),
            Self::Field(name, value) => format!("{name}: {}", value.line()),
            Self::Method(receiver, method) => format!("{}.{method}()", receiver.line()),
        }
    }

    /// Returns whether it may be on one line if the line has room.
    fn is_short(&self) -> bool {
        let fits = |items: &[Self], limit: usize| {
            let separators = 2 * items.len().saturating_sub(1);
            items.iter().map(|item| width(&item.line())).sum::<usize>() + separators <= limit
                && items.iter().all(Self::is_short)
        };
        match self {
            Self::Atom(_) => true,
            Self::Call(_, arguments) | Self::List(_, arguments) if arguments.len() == 1 => {
                arguments[0].is_short()
            }
            Self::Call(_, items) | Self::List(_, items) => fits(items, ITEMS),
            Self::Structure(_, fields) => fits(fields, FIELDS),
            Self::Field(_, value) | Self::Method(value, _) => value.is_short(),
        }
    }

    /// Returns whether its brackets stay beside those around it.
    fn hugs(&self) -> bool {
        matches!(self, Self::List(..) | Self::Structure(..) | Self::Call(..))
    }

    /// Returns whether several such items share a line.
    fn is_tiny(&self) -> bool {
        matches!(self, Self::Atom(text) if width(text) <= SHORT)
    }
}

/// Returns one item per line, or several if all are tiny.
fn lines(items: &[Expression], indent: usize) -> String {
    if items.iter().all(Expression::is_tiny) {
        return filled(items, indent);
    }
    each(items, indent)
}

/// Returns one item per line.
fn each(items: &[Expression], indent: usize) -> String {
    let indent = indent + 4;
    items.iter().fold(String::new(), |text, item| text + &item.text(indent, indent, 1) + ",\n")
}

/// Returns as many items per line as fit.
fn filled(items: &[Expression], indent: usize) -> String {
    let mut text = String::new();
    let width_of_lines = WIDTH - 1; // rustfmt leaves this one free
    let mut used = WIDTH;
    for item in items.iter().map(Expression::line) {
        if used + width(&item) + 2 > width_of_lines {
            text += if text.is_empty() { "" } else { "\n" };
            used = indent + 4;
        } else {
            text += " ";
            used += 1;
        }
        used += width(&item) + 1;
        text = text + &item + ",";
    }
    text + "\n"
}

/// Returns the width in columns.
pub(super) fn width(text: &str) -> usize {
    text.chars().count()
}
