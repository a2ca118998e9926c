//! Parses a text into a definition, line by line.

use super::error::{ParseError, Problem, shortened};
use super::field_type::field_type;
use super::model::{Constant, Content, Definition, ElementType, FieldDefinition, Place, Section, Shape};
use super::names::{Kind, TypeName, is_constant, is_defined, is_field};
use super::piece::{LineFault, Piece};
use super::values::value;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

const SEPARATOR: &str = "---";
const OPTIONAL: &str = "@optional";

pub(super) fn parse(name: &TypeName, file: &str, text: &[u8]) -> Result<Definition, ParseError> {
    let file: Arc<str> = file.into();
    let text = match str::from_utf8(text) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text), // a byte order mark
        Err(error) => return Err(not_utf8(file, text, error.valid_up_to())),
    };
    let begin = Place { file: file.clone(), line: 1, column: 1 };
    if !is_defined(name.base()) {
        let problem = Problem::TypeName { found: shortened(name.base()) };
        return Err(ParseError { place: begin, problem });
    }
    let lines = lines(text);
    let separators: Vec<usize> = (0..lines.len()).filter(|line| is_separator(lines[*line])).collect();
    let section = |from: usize, to: usize| {
        let mut parser = Parser::new(name.package(), file.clone(), from + 1);
        lines[from..to].iter().try_for_each(|line| parser.line(line))?;
        parser.finish()
    };
    let end = lines.len();
    let content = match (name.kind(), separators.as_slice()) {
        (Kind::Message, []) => Content::Message(section(0, end)?),
        (Kind::Service, &[at]) => {
            Content::Service { request: section(0, at)?, response: section(at + 1, end)? }
        }
        (Kind::Action, &[first, second]) => Content::Action {
            goal: section(0, first)?,
            result: section(first + 1, second)?,
            feedback: section(second + 1, end)?,
        },
        (kind, _) => {
            let expected = expected_separators(kind);
            let line = separators.get(expected).map_or(end.max(1), |surplus| surplus + 1);
            let problem = Problem::Sections { found: separators.len(), expected, kind };
            return Err(ParseError { place: Place { line, ..begin }, problem });
        }
    };
    Ok(Definition { name: name.clone(), file, content })
}

fn expected_separators(kind: Kind) -> usize {
    match kind {
        Kind::Message => 0,
        Kind::Service => 1,
        Kind::Action => 2,
    }
}

fn is_separator(line: &str) -> bool {
    line.trim_end() == SEPARATOR
}

/// Returns the lines of a text with any kind of line ending.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive(['\n', '\r'])
        // A `\r
        // ` is split into a line that ends with `\r`, and a `
        // `.
        .scan('\0', |previous, line| {
            let is_rest_of_end = *previous == '\r' && line == "\n";
            *previous = line.chars().next_back().unwrap_or_default();
            Some((!is_rest_of_end).then(|| line.trim_end_matches(['\n', '\r'])))
        })
        .flatten()
        .collect()
}

fn not_utf8(file: Arc<str>, text: &[u8], at: usize) -> ParseError {
    let through = String::from_utf8_lossy(&text[..=at]); // the byte has become one character
    let lines = lines(&through);
    let (line, column) = (lines.len(), lines.last().map_or(1, |last| last.chars().count()));
    ParseError { place: Place { file, line, column }, problem: Problem::NotUtf8 { byte: text[at] } }
}

/// The parser of one section.
struct Parser<'a> {
    package: &'a str,
    file: Arc<str>,
    /// Number of the next line.
    line: usize,
    section: Section,
    /// Line of each name so far.
    names: HashMap<String, usize>,
    /// Set while all lines so far are comments, which belong to the section.
    is_heading: bool,
    /// Comments that belong to the next field or constant.
    comments: Vec<&'a str>,
    /// Line of an `@optional` that belongs to the next field.
    optional: Option<usize>,
    last: Option<Last>,
}

/// The item to which an indented comment belongs.
#[derive(Clone, Copy)]
enum Last {
    Field,
    Constant,
}

impl<'a> Parser<'a> {
    fn new(package: &'a str, file: Arc<str>, line: usize) -> Self {
        Self {
            package,
            file,
            line,
            section: Section::default(),
            names: HashMap::new(),
            is_heading: true,
            comments: Vec::new(),
            optional: None,
            last: None,
        }
    }

    fn line(&mut self, text: &'a str) -> Result<(), ParseError> {
        self.take(text).map_err(|fault| self.error(text, fault))?;
        self.line += 1;
        Ok(())
    }

    fn take(&mut self, text: &'a str) -> Result<(), LineFault> {
        // Comments begin at the first `#`, wherever it is.
        let (content, comment) = Piece::line(text).split_before(|c| c == '#');
        let comment = comment.text.trim_start_matches('#').trim_end();
        let has_comment = content.text.len() < text.len();
        if self.is_heading && has_comment && content.is_empty() {
            append(&mut self.section.documentation, comment);
            return Ok(());
        }
        self.is_heading = false;
        if content.trim().is_empty() {
            if has_comment && content.is_indented() {
                self.comment_last(comment);
            } else if has_comment {
                self.comments.push(comment);
            }
            return Ok(());
        }
        if content.is_indented() {
            return Err(content.fault(Problem::Indented));
        }
        if has_comment {
            self.comments.push(comment);
        }
        let content = content.trim_end();
        if content.text.starts_with(SEPARATOR) {
            return Err(content.fault(Problem::Separator { found: content.found() }));
        }
        match self.annotation(content)? {
            rest if rest.is_empty() => Ok(()),
            rest => self.field_or_constant(rest),
        }
    }

    /// Returns the rest of the line after the annotation, if there is one.
    fn annotation<'b>(&mut self, content: Piece<'b>) -> Result<Piece<'b>, LineFault> {
        if !content.text.starts_with('@') {
            return Ok(content);
        }
        let (word, rest) = content.split_word();
        if word.text != OPTIONAL || self.optional.is_some() {
            return Err(word.fault(Problem::Annotation { found: word.found() }));
        }
        self.optional = Some(self.line);
        Ok(rest)
    }

    fn field_or_constant(&mut self, content: Piece<'_>) -> Result<(), LineFault> {
        let (type_word, rest) = content.split_word();
        if rest.is_empty() {
            return Err(content.fault(Problem::NoName { found: content.found() }));
        }
        let (name, behind) = rest.split_before(|c| c == '=' || c == ' ' || c == '\t');
        match behind.trim().strip_prefix("=") {
            Some(constant) => self.constant(type_word, name, constant.trim()),
            None => self.field(type_word, name, behind.trim()),
        }
    }

    fn constant(&mut self, type_word: Piece<'_>, name: Piece<'_>, text: Piece<'_>) -> Result<(), LineFault> {
        if self.optional.is_some() {
            return Err(
                type_word.fault(Problem::Annotation { found: format!("{OPTIONAL} {}", type_word.found()) })
            );
        }
        let field_type = field_type(type_word, self.package)?;
        let has_constants = match &field_type.element {
            ElementType::Primitive(_) => true,
            ElementType::String { bound } | ElementType::WString { bound } => bound.is_none(),
            ElementType::Message(_) => false,
        };
        if !has_constants || field_type.shape != Shape::Single {
            return Err(type_word.fault(Problem::ConstantType { found: type_word.found() }));
        }
        if !is_constant(name.text) {
            return Err(name.fault(Problem::ConstantName { found: name.found() }));
        }
        let place = self.named(type_word, name)?;
        let value = value(&field_type, text)?;
        let (name, element) = (name.text.to_owned(), field_type.element);
        let documentation = self.documentation();
        self.section.constants.push(Constant { name, element, value, documentation, place });
        self.last = Some(Last::Constant);
        Ok(())
    }

    fn field(&mut self, type_word: Piece<'_>, name: Piece<'_>, text: Piece<'_>) -> Result<(), LineFault> {
        let field_type = field_type(type_word, self.package)?;
        if !is_field(name.text) {
            return Err(name.fault(Problem::FieldName { found: name.found() }));
        }
        let place = self.named(type_word, name)?;
        let default = match (text.is_empty(), &field_type.element) {
            (true, _) => None,
            (false, ElementType::Message(_)) => {
                return Err(text.fault(Problem::DefaultOfMessage { found: text.found() }));
            }
            (false, _) => Some(value(&field_type, text)?),
        };
        let (name, optional) = (name.text.to_owned(), self.optional.take().is_some());
        let documentation = self.documentation();
        self.section.fields.push(FieldDefinition {
            name,
            field_type,
            default,
            optional,
            documentation,
            place,
        });
        self.last = Some(Last::Field);
        Ok(())
    }

    /// Records a name, which must be new. Returns the place of the type before it.
    fn named(&mut self, type_word: Piece<'_>, name: Piece<'_>) -> Result<Place, LineFault> {
        match self.names.entry(name.text.to_owned()) {
            Entry::Occupied(first) => {
                Err(name.fault(Problem::Duplicate { name: name.found(), first: *first.get() }))
            }
            Entry::Vacant(entry) => {
                entry.insert(self.line);
                // An annotation in the same line stands before the type, and is ASCII.
                Ok(Place { file: self.file.clone(), line: self.line, column: type_word.offset() + 1 })
            }
        }
    }

    fn documentation(&mut self) -> String {
        self.comments.drain(..).fold(String::new(), |mut text, comment| {
            append(&mut text, comment);
            text
        })
    }

    fn comment_last(&mut self, comment: &str) {
        let documentation = match self.last {
            None => return,
            Some(Last::Field) => self.section.fields.last_mut().map(|field| &mut field.documentation),
            Some(Last::Constant) => {
                self.section.constants.last_mut().map(|constant| &mut constant.documentation)
            }
        };
        if let Some(documentation) = documentation {
            append(documentation, comment);
        }
    }

    fn finish(mut self) -> Result<Section, ParseError> {
        if let Some(line) = self.optional {
            let place = Place { file: self.file, line, column: 1 };
            return Err(ParseError { place, problem: Problem::Annotation { found: OPTIONAL.to_owned() } });
        }
        tidy(&mut self.section.documentation);
        self.section.fields.iter_mut().for_each(|field| tidy(&mut field.documentation));
        self.section.constants.iter_mut().for_each(|constant| tidy(&mut constant.documentation));
        Ok(self.section)
    }

    fn error(&self, text: &str, fault: LineFault) -> ParseError {
        let column = text[..fault.offset].chars().count() + 1;
        let place = Place { file: self.file.clone(), line: self.line, column };
        ParseError { place, problem: fault.problem }
    }
}

fn append(documentation: &mut String, comment: &str) {
    documentation.push_str(comment);
    documentation.push('\n');
}

/// Removes the common indentation, empty lines at both ends, and repeated empty lines.
fn tidy(documentation: &mut String) {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let common = documentation.lines().filter(|line| !line.is_empty()).map(indent).min().unwrap_or(0);
    let mut tidy = String::with_capacity(documentation.len());
    for line in documentation.trim_matches('\n').lines() {
        let is_second_empty = line.is_empty() && (tidy.is_empty() || tidy.ends_with("\n\n"));
        if !is_second_empty {
            // The common indentation may consist of other blanks in this line.
            append(&mut tidy, line.get(common..).unwrap_or_else(|| line.trim_start()));
        }
    }
    tidy.truncate(tidy.trim_end().len());
    *documentation = tidy;
}
