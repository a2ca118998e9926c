//! Messages whose images are built in place: those with sequences of plain values, themselves or in a message that they contain.

use super::code::Code;
use super::image::{encode_run, end_of_run};
use super::layout::Step;
use super::names::{Module, identifier};
use super::package::Generation;
use super::view::local;
use crate::definition::{Element, Field, Interface, Shape, TypeName};

impl Generation<'_> {
    pub(super) fn loan(&self, code: &mut Code, module: &Module<'_>, interface: &Interface) {
        let parts: Vec<(&Field, Part<'_>)> =
            interface.fields.iter().filter_map(|field| Some((field, self.in_place(field)?))).collect();
        if parts.is_empty() {
            return;
        }
        let name = self.names.own(&interface.name);
        let [lengths_name, parts_name] =
            [self.names.lengths(&interface.name), self.names.parts(&interface.name)];
        code.add("\n", &[]);
        code.comment(&[format!("Of a [`{name}`], built in place: how many elements its sequences have.")]);
        code.add(
            "#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]\npub struct $lengths {",
            &[("lengths", lengths_name)],
        );
        for (field, part) in &parts {
            code.comment(&[format!("Of [`{name}::{}`].", field.name)]);
            let lengths = match part {
                Part::Sequence => "usize".to_owned(),
                Part::Message(of) => format!("{}{}", self.names.path(module, of), self.names.lengths(of)),
            };
            code.add("pub $field: $lengths,", &[("field", &identifier(&field.name)), ("lengths", &lengths)]);
        }
        code.add("}\n\n", &[]);
        code.comment(&[format!("Of a [`{name}`], built in place: its sequences, for the caller to fill.")]);
        code.add("#[derive(Debug)]\npub struct $parts<'a> {", &[("parts", parts_name)]);
        for (field, part) in &parts {
            code.comment(&[format!("See [`{name}::{}`].", field.name)]);
            let part = match part {
                Part::Sequence => {
                    format!("&'a mut [{}]", self.names.element(module, &field.field_type.element))
                }
                Part::Message(of) => format!("{}{}<'a>", self.names.path(module, of), self.names.parts(of)),
            };
            code.add("pub $field: $part,", &[("field", &identifier(&field.name)), ("part", &part)]);
        }
        let values = [
            ("name", name),
            ("lengths", lengths_name),
            ("parts", parts_name),
            ("ros", interface.name.as_str()),
            ("result", &self.result(module)),
        ];
        code.add(
            "}

            impl sinew::loan::Built for $name {
            type Lengths = $lengths;
            type Parts<'a> = $parts<'a>;

            fn check(lengths: &$lengths) -> $result<(), sinew::loan::BuildError> {
            const NAME: &str = \"$ros\";",
            &values,
        );
        self.check(code, module, &parts);
        code.add(
            "Ok(())
            }

            fn end_with(&self, lengths: &$lengths, at: usize) -> usize {",
            &values,
        );
        self.end_with(code, module, interface);
        code.add(
            "at
            }

            fn build_parts<'a>(
            &self,
            lengths: &$lengths,
            encoder: &mut cdr::Encoder<'a>,
            ) -> $result<$parts<'a>, sinew::loan::BuildError> {
            const NAME: &str = \"$ros\";",
            &values,
        );
        self.build(code, module, interface);
        code.add("Ok($parts {", &values);
        for (field, _) in parts {
            let (field, local) = (identifier(&field.name), local(field));
            let entry = if field == local { field } else { format!("{field}: {local}") };
            code.add("$entry,", &[("entry", &entry)]);
        }
        code.add("})\n}\n}", &[]);
    }

    fn check(&self, code: &mut Code, module: &Module<'_>, parts: &[(&Field, Part<'_>)]) {
        for (field, part) in parts {
            let values = [
                ("type", self.names.element(module, &field.field_type.element)),
                ("bound", bound(field).to_string()),
                ("field", identifier(&field.name)),
                ("name", field.name.clone()),
            ];
            let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
            let text = match part {
                Part::Sequence => {
                    "sinew::loan::check::<$bound>(lengths.$field)
                    .map_err(|error| error.in_field(NAME, \"$name\"))?;"
                }
                Part::Message(_) => "<$type as sinew::loan::Built>::check(&lengths.$field)?;",
            };
            code.add(text, &values);
        }
    }

    fn end_with(&self, code: &mut Code, module: &Module<'_>, interface: &Interface) {
        for step in self.layouts.steps(interface) {
            let field = match step {
                Step::Run(run) => {
                    code.add("let at = $end;", &[("end", &end_of_run(&run))]);
                    continue;
                }
                Step::Field(field) => field,
            };
            let values = [
                ("element", self.names.element(module, &field.field_type.element)),
                ("field", identifier(&field.name)),
            ];
            let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
            let text = match self.in_place(field) {
                Some(Part::Sequence) => "let at = sinew::loan::end::<$element>(lengths.$field, at);",
                Some(Part::Message(_)) => {
                    "let at = sinew::loan::Built::end_with(&self.$field, &lengths.$field, at);"
                }
                None => "let at = cdr::Field::end(&self.$field, at);",
            };
            code.add(text, &values);
        }
    }

    fn build(&self, code: &mut Code, module: &Module<'_>, interface: &Interface) {
        for step in self.layouts.steps(interface) {
            let field = match step {
                Step::Run(run) => {
                    encode_run(code, &run);
                    continue;
                }
                Step::Field(field) => field,
            };
            let values = [
                ("local", local(field)),
                ("element", self.names.element(module, &field.field_type.element)),
                ("bound", bound(field).to_string()),
                ("field", identifier(&field.name)),
                ("name", field.name.clone()),
            ];
            let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
            let text = match self.in_place(field) {
                Some(Part::Sequence) => {
                    "let $local = sinew::loan::leave::<$element, $bound>(encoder, lengths.$field)
                    .map_err(|error| error.in_field(NAME, \"$name\"))?;"
                }
                Some(Part::Message(_)) => {
                    "let $local = sinew::loan::Built::build_parts(&self.$field, &lengths.$field, encoder)?;"
                }
                None => "cdr::Field::encode(&self.$field, encoder);",
            };
            code.add(text, &values);
        }
    }

    /// What the caller fills of this field.
    fn in_place<'f>(&self, field: &'f Field) -> Option<Part<'f>> {
        let element = &field.field_type.element;
        match (field.field_type.shape, element) {
            (Shape::Sequence | Shape::BoundedSequence(_), _) => {
                // In an image an element is aligned as its first field is. One that needs more in memory lies there by chance.
                let layout = self.layouts.of_element(element);
                let lies = layout.plain.is_some_and(|plain| plain.alignment == layout.alignment);
                lies.then_some(Part::Sequence)
            }
            (Shape::Single, Element::Message(name)) => {
                let interface = self.interfaces.find(name)?;
                interface
                    .fields
                    .iter()
                    .any(|field| self.in_place(field).is_some())
                    .then_some(Part::Message(name))
            }
            _ => None,
        }
    }
}

/// How many elements a sequence may have.
fn bound(field: &Field) -> u32 {
    match field.field_type.shape {
        Shape::BoundedSequence(bound) => bound,
        _ => u32::MAX,
    }
}

/// What the caller fills in place.
enum Part<'a> {
    /// A sequence of plain values.
    Sequence,
    /// A message that has some.
    Message(&'a TypeName),
}
