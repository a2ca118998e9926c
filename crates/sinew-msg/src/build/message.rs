//! The struct of a message: its fields, defaults and constants.

use super::code::Code;
use super::comment;
use super::names::{Module, identifier, rust_primitive};
use super::package::Generation;
use crate::definition::{Element, Field, FieldType, Interface, Shape, Value};

/// Up to here arrays have a `Default` of their own.
const LONGEST_WITH_DEFAULT: u32 = 32;

impl Generation<'_> {
    pub(super) fn message(&mut self, code: &mut Code, module: &Module<'_>, interface: &Interface) {
        self.structure(code, module, interface);
        self.constants(code, module, interface);
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
            code.add("pub $field: $type,", &[("field", &identifier(&field.name)), ("type", &field_type)]);
        }
        code.add("}", &[]);
        if !derives_default {
            self.default(code, module, interface);
        }
    }

    fn default(&self, code: &mut Code, module: &Module<'_>, interface: &Interface) {
        let default = self.names.prelude(module, "Default", "::core::default::Default");
        let name = self.names.own(&interface.name);
        let opening = "\nimpl $default for $name {\nfn default() -> Self {\nSelf {";
        code.add(opening, &[("default", &default), ("name", name)]);
        for field in &interface.fields {
            let value = match &field.default {
                Some(value) => self.value(module, &field.field_type, value),
                None if has_default_of_type(field) => format!("{default}::default()"),
                None => format!("::core::array::from_fn(|_| {default}::default())"),
            };
            code.add("$field: $value,", &[("field", &identifier(&field.name)), ("value", &value)]);
        }
        code.add("}\n}\n}", &[]);
    }

    /// The expression for a default value.
    fn value(&self, module: &Module<'_>, FieldType { element, shape }: &FieldType, value: &Value) -> String {
        let bounded =
            |value: String| format!("{value}.try_into().expect(\"a default value within its bound\")");
        match value {
            Value::Bool(value) => value.to_string(),
            Value::Integer(value) => value.to_string(),
            Value::Float(value) => format!("{value:?}"),
            Value::String(text) => match element {
                Element::String { bound: None } => format!("{text:?}.to_owned()"),
                Element::WString { bound: None } => format!("cdr::WString::from({text:?})"),
                _ => bounded(format!("{text:?}")),
            },
            Value::Sequence(values) => {
                let single = FieldType { element: element.clone(), shape: Shape::Single };
                let values: Vec<String> =
                    values.iter().map(|value| self.value(module, &single, value)).collect();
                let values = values.join(", ");
                match shape {
                    Shape::Single | Shape::Array(_) => format!("[{values}]"),
                    Shape::Sequence => format!("::std::vec![{values}]"),
                    Shape::BoundedSequence(_) => {
                        let element = self.names.element(module, element);
                        bounded(format!("<::std::vec::Vec<{element}>>::from([{values}])"))
                    }
                }
            }
        }
    }

    fn constants(&self, code: &mut Code, module: &Module<'_>, interface: &Interface) {
        if interface.constants.is_empty() {
            return;
        }
        code.add("\nimpl $name {", &[("name", self.names.own(&interface.name))]);
        for constant in &interface.constants {
            let (constant_type, value) = match (&constant.element, &constant.value) {
                (Element::Primitive(primitive), value) => {
                    let single = FieldType { element: Element::Primitive(*primitive), shape: Shape::Single };
                    (rust_primitive(*primitive), self.value(module, &single, value))
                }
                (_, Value::String(text)) => ("&'static str", format!("{text:?}")),
                (_, other) => unreachable!("the parser gives a text the value {other:?}"),
            };
            let what = format!("`{}`", constant.element);
            code.comment(&documentation(&what, &constant.documentation));
            code.add(
                "pub const $name: $type = $value;",
                &[("name", &constant.name), ("type", constant_type), ("value", &value)],
            );
        }
        code.add("}", &[]);
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
fn has_default_of_type(field: &Field) -> bool {
    let is_short = !matches!(field.field_type.shape, Shape::Array(count) if count > LONGEST_WITH_DEFAULT);
    field.default.is_none() && is_short
}
