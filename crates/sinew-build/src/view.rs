//! Generates the view of a message, made from its encoded form or from a value.

use super::code::Code;
use super::encoded::{is_bool, take_run};
use super::expression::Expression;
use super::layout::{RunField, Step};
use super::names::{Module, identifier};
use super::package::Generation;
use sinew_msg::definition::{ElementType, FieldDefinition, FieldType, Interface, Primitive, Shape};

impl Generation<'_> {
    pub(super) fn view(&self, code: &mut Code, module: &Module<'_>, interface: &Interface) {
        let name = self.names.own(&interface.name);
        let view = if self.borrows(interface) {
            self.view_structure(code, module, interface);
            format!("{}<'a>", self.names.view(&interface.name))
        } else {
            "Self".to_owned()
        };
        let is_plain = self.layouts.of_interface(interface).plain.is_some();
        let (sequence, of_values, slice) = if is_plain {
            ("::std::borrow::Cow<'a, [Self]>", "::std::borrow::Cow::Borrowed", "view::slice")
        } else {
            ("view::Views<'a, Self>", "view::Views::of", "view::Views::new")
        };
        // Inline, so that only programs that use them compile them.
        let values = [
            ("name", name),
            ("view", &view),
            ("view_here", &view.replace("'a", "'_")),
            ("sequence", sequence),
            ("sequence_here", &sequence.replace("'a", "'_")),
            ("of_values", of_values),
            ("slice", slice),
            ("result", &self.result(module)),
        ];
        code.add(
            "
            impl view::Viewed for $name {
            type View<'a> = $view;
            type Sequence<'a> = $sequence;

            #[inline]
            fn of(&self) -> $view_here {",
            &values,
        );
        if self.borrows(interface) {
            self.view_of_value(code, interface);
        } else {
            code.add(if is_plain { "*self" } else { "::core::clone::Clone::clone(self)" }, &[]);
        }
        code.add(
            "}

            #[inline]
            fn sequence_of(values: &[Self]) -> $sequence_here {
            $of_values(values)
            }

",
            &values,
        );
        let seen = format!("{}<{view}, cdr::Fault>", self.result(module));
        if view.contains("'a") {
            code.function("view<'a>", &["decoder: &mut cdr::Decoder<'a>"], &seen);
        } else {
            code.function("view", &["decoder: &mut cdr::Decoder<'_>"], &seen);
        }
        if self.borrows(interface) {
            self.view_fields(code, module, interface);
        } else {
            code.add("cdr::Field::decode(decoder)", &[]);
        }
        code.add(
            "}

            fn view_sequence<'a>(
            count: usize,
            decoder: &mut cdr::Decoder<'a>,
            ) -> $result<$sequence, cdr::Fault> {
            $slice(count, decoder)
            }
            }",
            &values,
        );
    }

    fn view_structure(&self, code: &mut Code, module: &Module<'_>, interface: &Interface) {
        let (name, view) = (self.names.own(&interface.name), self.names.view(&interface.name));
        code.add("\n", &[]);
        code.comment(&[format!("[`{name}`], as it is seen in an encoded message or a value.")]);
        code.add("#[derive(Clone, Debug)]\npub struct $view<'a> {", &[("view", view)]);
        for field in &interface.fields {
            let view = self.view_of_field(module, &field.field_type);
            code.comment(&[format!("See [`{name}::{}`].", linked(field))]);
            code.binding(&format!("pub {}:", identifier(&field.name)), &Expression::Atom(view), ",");
        }
        code.add("}", &[]);
    }

    fn view_of_value(&self, code: &mut Code, interface: &Interface) {
        let fields = interface.fields.iter().map(|field| {
            let FieldType { element, shape } = &field.field_type;
            let is_copied = !matches!(shape, Shape::Sequence | Shape::BoundedSequence(_))
                && (matches!(element, ElementType::Primitive(_))
                    || self.layouts.of_element(element).plain.is_some());
            let name = identifier(&field.name);
            let value = if is_copied {
                Expression::Atom(format!("self.{name}"))
            } else {
                Expression::Call(
                    "view::Viewed::of".to_owned(),
                    vec![Expression::Atom(format!("&self.{name}"))],
                )
            };
            Expression::Field(name, Box::new(value))
        });
        let view = self.names.view(&interface.name).to_owned();
        code.expression("", &Expression::Structure(view, fields.collect()), "");
    }

    fn view_fields(&self, code: &mut Code, module: &Module<'_>, interface: &Interface) {
        code.add("const NAME: &str = \"$ros\";", &[("ros", interface.name.as_str())]);
        for step in self.layouts.steps(interface) {
            match step {
                Step::Run(run) => {
                    take_run(code, &run);
                    for RunField { offset, field, .. } in run.fields {
                        let value = if is_bool(field) {
                            format!("bool({offset})?")
                        } else {
                            format!("value({offset})")
                        };
                        code.add("let $local = run.$value;", &[("local", &local(field)), ("value", &value)]);
                    }
                }
                Step::Field(field) => {
                    let field_type = self.names.field(module, &field.field_type);
                    let arguments = ["decoder".to_owned(), "NAME".to_owned(), format!("{:?}", field.name)];
                    let seen = Expression::Call(
                        format!("view::field::<{field_type}>"),
                        arguments.map(Expression::Atom).into(),
                    );
                    code.binding(&format!("let {} =", local(field)), &seen, "?;");
                }
            }
        }
        code.expression("", &of_locals("Ok", self.names.view(&interface.name), interface.fields.iter()), "");
    }

    /// Returns whether the view of such a message borrows.
    fn borrows(&self, interface: &Interface) -> bool {
        interface.fields.iter().any(|field| match (&field.field_type.element, field.field_type.shape) {
            (_, Shape::Sequence | Shape::BoundedSequence(_)) | (ElementType::String { .. }, _) => true,
            (ElementType::Message(name), _) => self.message_borrows(name),
            (ElementType::Primitive(_) | ElementType::WString { .. }, _) => false,
        })
    }

    fn message_borrows(&self, name: &sinew_msg::definition::TypeName) -> bool {
        let borrows = || self.interfaces.find(name).is_some_and(|interface| self.borrows(interface));
        self.borrowing.of(name, borrows)
    }

    fn view_of_field(&self, module: &Module<'_>, FieldType { element, shape }: &FieldType) -> String {
        let owned = || self.names.element(module, element);
        let single = match element {
            ElementType::String { .. } => "view::Text<'a>".to_owned(),
            ElementType::Message(name) if self.message_borrows(name) => {
                format!("{}{}<'a>", self.names.path(module, name), self.names.view(name))
            }
            _ => owned(),
        };
        match shape {
            Shape::Single => single,
            Shape::Array(count) => format!("[{single}; {count}]"),
            Shape::Sequence | Shape::BoundedSequence(_) => {
                use Primitive::{Bool, Byte, Char, Int8, Uint8};
                let is_bool = *element == ElementType::Primitive(Bool);
                if matches!(element, ElementType::Primitive(Byte | Char | Int8 | Uint8)) {
                    format!("&'a [{}]", owned())
                } else if is_bool || self.layouts.of_element(element).plain.is_some() {
                    format!("::std::borrow::Cow<'a, [{}]>", owned())
                } else {
                    format!("view::Views<'a, {}>", owned())
                }
            }
        }
    }
}

/// Returns rustdoc's name for a field.
pub(super) fn linked(field: &FieldDefinition) -> String {
    identifier(&field.name).trim_start_matches("r#").to_owned()
}

/// Returns a variable for a field that differs from all other variables in generated functions.
pub(super) fn local(field: &FieldDefinition) -> String {
    let is_taken = ["run", "decoder", "encoder", "cutter", "lengths", "at"].contains(&field.name.as_str());
    if is_taken { format!("{}_", field.name) } else { identifier(&field.name) }
}

/// Returns `Ok` or `Some` with a struct made from the variables of these fields.
pub(super) fn of_locals<'f>(
    around: &str,
    name: &str,
    fields: impl Iterator<Item = &'f FieldDefinition>,
) -> Expression {
    let fields = fields.map(|field| {
        let (name, local) = (identifier(&field.name), Expression::Atom(local(field)));
        match local {
            Expression::Atom(local) if local == name => Expression::Atom(name),
            local => Expression::Field(name, Box::new(local)),
        }
    });
    Expression::Call(around.to_owned(), vec![Expression::Structure(name.to_owned(), fields.collect())])
}
