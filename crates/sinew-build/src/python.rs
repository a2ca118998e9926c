//! Stubs of message types for Python: the classes that the package `sinew` makes at run time, as
//! editors and type checkers read them.

use sinew_msg::definition::{
    Constant, ElementType, FieldDefinition, FieldType, Interface, Interfaces, Literal, Packages, Primitive,
    ReadError, Role, Shape, TypeName,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The first lines of each stub. Names of its own begin with an underscore: fields may be called
/// `int`.
const HEAD: &str = "# Written by `sinew interface stubs`.\n\
    import builtins as _b\n\
    from typing import Any as _Any, ClassVar as _ClassVar\n\
    from sinew._sinew import Message as _Message\n";

/// Words that can't be the name of an attribute.
const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// Returns the stubs of a package for Python: the names of the files, which belong into a folder
/// with the name of the package, and their texts. There are none for an unknown package.
///
/// # Errors
/// A definition is wrong, or a type in it is unknown.
pub fn python_stubs(packages: &Packages, package: &str) -> Result<BTreeMap<String, String>, ReadError> {
    let mut stubs: BTreeMap<&str, Stub> = BTreeMap::new();
    for name in packages.types(package) {
        let kind = name.kind().name();
        let stub = stubs.entry(kind).or_insert_with(|| Stub::new(package, kind));
        stub.add(&packages.load(&name)?, &name);
    }
    let modules: String = stubs.keys().map(|kind| format!("from . import {kind} as {kind}\n")).collect();
    let mut files: BTreeMap<String, String> =
        stubs.iter().map(|(kind, stub)| (format!("{kind}.pyi"), stub.text())).collect();
    if !files.is_empty() {
        files.insert("__init__.pyi".to_owned(), modules);
    }
    Ok(files)
}

/// Returns the name that a type's class has inside its module, from the type's name inside its
/// package: `AddTwoInts_Request` is `AddTwoInts.Request`, as in rclpy.
#[must_use]
pub fn python_class(base: &str) -> String {
    let parts: Vec<&str> = base.split('_').collect();
    match parts[..] {
        [action, "FeedbackMessage"] => format!("{action}.Impl.FeedbackMessage"),
        [action, service @ ("SendGoal" | "GetResult"), ref rest @ ..] => {
            let inside: String = rest.iter().map(|part| format!(".{part}")).collect();
            format!("{action}.Impl.{service}Service{inside}")
        }
        _ => parts.join("."),
    }
}

/// The stub of a module: the types of one kind in a package.
struct Stub {
    module: String,
    imports: BTreeSet<String>,
    lines: String,
}

impl Stub {
    fn new(package: &str, kind: &str) -> Self {
        let module = format!("{package}.{kind}");
        Self { module, imports: BTreeSet::new(), lines: String::new() }
    }

    fn text(&self) -> String {
        let imports: String = self.imports.iter().map(String::as_str).collect();
        format!("{HEAD}{imports}{}", self.lines)
    }

    fn line(&mut self, depth: usize, line: &str) {
        _ = writeln!(self.lines, "{:1$}{line}", "", 4 * depth); // writing to a string can't fail
    }

    /// Adds the class of a definition.
    fn add(&mut self, interfaces: &Interfaces, name: &TypeName) {
        self.lines.push('\n');
        match interfaces.find(name).map(|found| found.role) {
            Some(Role::Action) => self.action(interfaces, name),
            Some(Role::Service) => self.service(interfaces, name, name.base(), 0),
            _ => self.message(interfaces, name, name.base(), 0),
        }
    }

    fn action(&mut self, interfaces: &Interfaces, name: &TypeName) {
        self.line(0, &format!("class {}:", name.base()));
        for part in ["Goal", "Result", "Feedback"] {
            self.part(interfaces, name, part, 1);
        }
        self.line(1, "class Impl:");
        for service in ["SendGoal", "GetResult"] {
            let of = derived(name, service);
            if let Some(of) = of {
                self.service(interfaces, &of, &format!("{service}Service"), 2);
            }
        }
        self.part(interfaces, name, "FeedbackMessage", 2);
        for (attribute, other) in [
            ("CancelGoalService", "action_msgs/srv/CancelGoal"),
            ("GoalStatusMessage", "action_msgs/msg/GoalStatusArray"),
        ] {
            if let Ok(other) = other.parse() {
                let class = self.reference(&other);
                self.line(2, &format!("{attribute} = {class}"));
            }
        }
    }

    fn service(&mut self, interfaces: &Interfaces, name: &TypeName, class: &str, depth: usize) {
        self.line(depth, &format!("class {class}:"));
        for part in ["Request", "Response", "Event"] {
            self.part(interfaces, name, part, depth + 1);
        }
    }

    /// Adds the class of a message that ROS 2 derives from a type.
    fn part(&mut self, interfaces: &Interfaces, name: &TypeName, part: &str, depth: usize) {
        if let Some(of) = derived(name, part) {
            self.message(interfaces, &of, part, depth);
        }
    }

    fn message(&mut self, interfaces: &Interfaces, name: &TypeName, class: &str, depth: usize) {
        let Some(Interface { constants, fields, .. }) = interfaces.find(name) else { return };
        self.line(depth, &format!("class {class}(_Message):"));
        for Constant { name, element, value, .. } in constants {
            let (kind, value) = written(element, value);
            self.line(depth + 1, &format!("{name}: _ClassVar[_b.{kind}] = {value}"));
        }
        let mut keywords = String::new();
        for FieldDefinition { name, field_type, .. } in
            fields.iter().filter(|field| !KEYWORDS.contains(&field.name.as_str()))
        {
            let hint = self.hint(field_type);
            self.line(depth + 1, &format!("{name}: {hint}  # {field_type}"));
            _ = write!(keywords, ", {name}: {hint} = ...");
        }
        let star = if keywords.is_empty() { "" } else { ", *" };
        // No field begins with an underscore.
        let this = if fields.iter().any(|field| field.name == "self") { "_self" } else { "self" };
        self.line(depth + 1, &format!("def __init__({this}{star}{keywords}) -> None: ..."));
    }

    /// Returns the name by which this stub refers to a type's class.
    fn reference(&mut self, name: &TypeName) -> String {
        let (package, kind, class) = (name.package(), name.kind(), python_class(name.base()));
        if self.module == format!("{package}.{kind}") {
            return class;
        }
        self.imports.insert(format!("from sinew.interfaces.{package} import {kind} as _{package}_{kind}\n"));
        format!("_{package}_{kind}.{class}")
    }

    fn hint(&mut self, FieldType { element, shape }: &FieldType) -> String {
        let one = match element {
            ElementType::Message(name) => self.reference(name),
            ElementType::Primitive(primitive) if *shape == Shape::Single => {
                format!("_b.{}", scalar(*primitive))
            }
            // numpy's array, a memoryview or an array.array; any sequence may be assigned
            ElementType::Primitive(_) => return "_Any".to_owned(),
            _ => "_b.str".to_owned(),
        };
        if *shape == Shape::Single { one } else { format!("_b.list[{one}]") }
    }
}

/// Returns the name of a type that ROS 2 derives from this one.
fn derived(name: &TypeName, part: &str) -> Option<TypeName> {
    TypeName::new(name.package(), name.kind(), &format!("{}_{part}", name.base())).ok()
}

/// Returns Python's type for a number.
fn scalar(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Bool => "bool",
        Primitive::Byte => "bytes",
        Primitive::Float32 | Primitive::Float64 => "float",
        _ => "int",
    }
}

/// Returns the type and the value of a constant, as Python writes them.
fn written(element: &ElementType, value: &Literal) -> (&'static str, String) {
    let kind = match element {
        ElementType::Primitive(primitive) => scalar(*primitive),
        _ => "str",
    };
    let text = match (kind, value) {
        (_, Literal::Bool(value)) => if *value { "True" } else { "False" }.to_owned(),
        ("bytes", Literal::Integer(value)) => format!("b\"\\x{value:02x}\""),
        ("float", Literal::Integer(value)) => format!("{value}.0"),
        (_, Literal::Integer(value)) => value.to_string(),
        (_, Literal::Float(value)) => format!("{value:?}"),
        (_, Literal::String(value)) => quoted(value),
        (_, Literal::Sequence(_)) => "...".to_owned(), // no constant has one
    };
    (kind, text)
}

/// Returns a text as Python writes it.
fn quoted(text: &str) -> String {
    let mut quoted = "\"".to_owned();
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            ' '..='~' => quoted.push(character),
            _ => _ = write!(quoted, "\\U{:08x}", u32::from(character)),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::python_stubs;
    use sinew_msg::definition::Packages;

    #[test]
    fn a_field_may_be_called_self() {
        static DEFINITIONS: &[(&str, &str)] = &[("a/msg/A", "int8 self\nint8 x"), ("a/msg/B", "int8 x")];
        let stub = &python_stubs(&Packages::new(DEFINITIONS), "a").unwrap()["msg.pyi"];
        for line in [
            "    def __init__(_self, *, self: _b.int = ..., x: _b.int = ...) -> None: ...\n",
            "    def __init__(self, *, x: _b.int = ...) -> None: ...\n",
        ] {
            assert!(stub.contains(line), "{stub}");
        }
    }
}
