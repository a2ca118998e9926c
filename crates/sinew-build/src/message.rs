//! The struct of a message: its fields, defaults and constants.

use super::code::Code;
use super::comment;
use super::expression::Expression;
use super::names::{Module, identifier, rust_primitive};
use super::package::Generation;
use sinew_msg::definition::{ElementType, FieldDefinition, FieldType, Interface, Literal, Shape};

/// Up to here arrays have a `Default` of their own.
const LONGEST_WITH_DEFAULT: u32 = 32;

impl Generation<'_> {
    pub(super) fn message(&mut self, code: &mut Code, module: &Module<'_>, interface: &Interface) {
        self.structure(code, module, interface);
        self.constants(code, interface);
        self.stamped(code, interface);
        self.image(code, module, interface);
        self.view(code, module, interface);
        self.loan(code, module, interface);
    }

    fn structure(&self, code: &mut Code, module: &Module<'_>, interface: &Interface) {
        let name = self.names.own(&interface.name);
        code.add("\n", &[]);
        code.comment(&documentation(&format!("`{}`", interface.name), &interface.documentation));
        let is_plain = self.layouts.of_interface(interface).plain.is_some();
        let derives_default = interface.fields.iter().all(has_default_of_type);
        let copy = if is_plain { " Copy," } else { "" };
        let default = if derives_default { " Default," } else { "" };
        let derive = "#[derive(Clone,$copy Debug,$default PartialEq)]";
        code.add(derive, &[("copy", copy), ("default", default)]);
        if is_plain {
            code.add("#[repr(C)]", &[]);
        }
        if interface.fields.is_empty() {
            code.add("pub struct $name {}", &[("name", name)]);
            return;
        }
        code.add("pub struct $name {", &[("name", name)]);
        for field in &interface.fields {
            code.comment(&documentation(&format!("`{}`", field.field_type), &field.documentation));
            let field_type = self.names.field(module, &field.field_type);
            code.binding(&format!("pub {}:", identifier(&field.name)), &Expression::Atom(field_type), ",");
        }
        code.add("}", &[]);
        if !derives_default {
            self.default(code, module, interface);
        }
    }

    fn default(&self, code: &mut Code, module: &Module<'_>, interface: &Interface) {
        let default = self.names.prelude(module, "Default", "::core::default::Default");
        let name = self.names.own(&interface.name);
        let opening = "\nimpl $default for $name {\nfn default() -> Self {";
        code.add(opening, &[("default", &default), ("name", name)]);
        let value = |field: &FieldDefinition| match &field.default {
            Some(value) => value_of(&field.field_type, value),
            None if has_default_of_type(field) => Expression::Atom(format!("{default}::default()")),
            None => Expression::Atom(format!("::core::array::from_fn(|_| {default}::default())")),
        };
        let fields = interface.fields.iter();
        let fields = fields.map(|field| Expression::Field(identifier(&field.name), Box::new(value(field))));
        code.expression("", &Expression::Structure("Self".to_owned(), fields.collect()), "");
        code.add("}\n}", &[]);
    }

    /// What has a header has a stamp. (By its fields, so that it is the same for headers that are
    /// generated elsewhere.)
    fn stamped(&self, code: &mut Code, interface: &Interface) {
        let Some(header) = header(interface) else { return };
        code.add(
            "
            impl sinew::Stamped for $name {
            fn stamp_nanoseconds(&self) -> i64 {
            let stamp = &self.$header_stamp;
            i64::from(stamp.sec) * 1_000_000_000 + i64::from(stamp.nanosec)
            }

            fn frame_id(&self) -> &str {
            &self.$header_frame_id
            }
            }",
            &[
                ("name", self.names.own(&interface.name)),
                ("header_stamp", &format!("{header}stamp")),
                ("header_frame_id", &format!("{header}frame_id")),
            ],
        );
    }

    fn constants(&self, code: &mut Code, interface: &Interface) {
        if interface.constants.is_empty() {
            return;
        }
        code.add("\nimpl $name {", &[("name", self.names.own(&interface.name))]);
        for constant in &interface.constants {
            let (constant_type, value) = match (&constant.element, &constant.value) {
                (ElementType::Primitive(primitive), value) => {
                    let single =
                        FieldType { element: ElementType::Primitive(*primitive), shape: Shape::Single };
                    (rust_primitive(*primitive), value_of(&single, value))
                }
                (_, Literal::String(text)) => ("&'static str", Expression::Atom(format!("{text:?}"))),
                (_, other) => unreachable!("the parser gives a text the value {other:?}"),
            };
            let what = format!("`{}`", constant.element);
            code.comment(&documentation(&what, &constant.documentation));
            let before = format!("pub const {}: {constant_type} =", constant.name);
            code.binding(&before, &value, ";");
        }
        code.add("}", &[]);
    }
}

/// Where a message has its header: `header.` if that is a field, nothing if it is one itself.
pub(super) fn header(interface: &Interface) -> Option<&'static str> {
    const HEADER: &str = "std_msgs/msg/Header";
    let is_header = |field: &&FieldDefinition| {
        let of_type =
            matches!(&field.field_type.element, ElementType::Message(name) if name.as_str() == HEADER);
        field.name == "header" && of_type && field.field_type.shape == Shape::Single
    };
    if interface.name.as_str() == HEADER {
        return Some("");
    }
    interface.fields.iter().find(is_header).map(|_| "header.")
}

/// The expression for a default value.
fn value_of(FieldType { element, shape }: &FieldType, value: &Literal) -> Expression {
    match value {
        Literal::Bool(value) => Expression::atom(value.to_string()),
        Literal::Integer(value) => Expression::atom(value.to_string()),
        Literal::Float(value) => Expression::Atom(format!("{value:?}")),
        Literal::String(text) => {
            let text = Expression::Atom(format!("{text:?}"));
            match element {
                ElementType::String { bound: None } => Expression::Method(Box::new(text), "to_owned"),
                ElementType::WString { bound: None } => {
                    Expression::Call("cdr::WString::from".to_owned(), vec![text])
                }
                _ => Expression::Call("cdr::bounded_text".to_owned(), vec![text]),
            }
        }
        Literal::Sequence(values) => {
            let single = FieldType { element: element.clone(), shape: Shape::Single };
            let values = values.iter().map(|value| value_of(&single, value)).collect();
            match shape {
                Shape::Single | Shape::Array(_) => Expression::List("", values),
                Shape::Sequence => Expression::List("::std::vec!", values),
                Shape::BoundedSequence(_) => {
                    Expression::Call("cdr::bounded_sequence".to_owned(), vec![Expression::List("", values)])
                }
            }
        }
    }
}

/// What it is in ROS 2, and what is said of it.
fn documentation(what: &str, text: &str) -> Vec<String> {
    let mut lines = vec![what.to_owned()];
    if !text.is_empty() {
        lines.push(String::new());
        lines.extend(comment::lines(text));
    }
    lines
}

/// Whether the field's default is that of its Rust type, which has one.
fn has_default_of_type(field: &FieldDefinition) -> bool {
    let is_short = !matches!(field.field_type.shape, Shape::Array(count) if count > LONGEST_WITH_DEFAULT);
    field.default.is_none() && is_short
}
