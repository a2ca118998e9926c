//! Messages whose images are built in place: those with sequences of plain values.

use super::code::Code;
use super::image::{encode_run, end_of_run};
use super::layout::Step;
use super::names::{Module, identifier};
use super::package::Generation;
use super::view::local;
use crate::definition::{Field, Interface, Shape};

impl Generation<'_> {
    pub(super) fn loan(&self, code: &mut Code, module: &Module<'_>, interface: &Interface) {
        let parts: Vec<&Field> = interface.fields.iter().filter(|field| self.is_part(field)).collect();
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
        for field in &parts {
            code.comment(&[format!("Of [`{name}::{}`].", field.name)]);
            code.add("pub $field: usize,", &[("field", &identifier(&field.name))]);
        }
        code.add("}\n\n", &[]);
        code.comment(&[format!("Of a [`{name}`], built in place: its sequences, for the caller to fill.")]);
        code.add("#[derive(Debug)]\npub struct $parts<'a> {", &[("parts", parts_name)]);
        for field in &parts {
            code.comment(&[format!("See [`{name}::{}`].", field.name)]);
            let element = self.names.element(module, &field.field_type.element);
            code.add(
                "pub $field: &'a mut [$element],",
                &[("field", &identifier(&field.name)), ("element", &element)],
            );
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
        for field in parts {
            let (field, local) = (identifier(&field.name), local(field));
            let entry = if field == local { field } else { format!("{field}: {local}") };
            code.add("$entry,", &[("entry", &entry)]);
        }
        code.add("})\n}\n}", &[]);
    }

    fn end_with(&self, code: &mut Code, module: &Module<'_>, interface: &Interface) {
        for step in self.layouts.steps(interface) {
            match step {
                Step::Run(run) => code.add("let at = $end;", &[("end", &end_of_run(&run))]),
                Step::Field(field) if self.is_part(field) => code.add(
                    "let at = sinew::loan::end::<$element>(lengths.$field, at);",
                    &[
                        ("element", &self.names.element(module, &field.field_type.element)),
                        ("field", &identifier(&field.name)),
                    ],
                ),
                Step::Field(field) => code.add(
                    "let at = cdr::Field::end(&self.$field, at);",
                    &[("field", &identifier(&field.name))],
                ),
            }
        }
    }

    fn build(&self, code: &mut Code, module: &Module<'_>, interface: &Interface) {
        for step in self.layouts.steps(interface) {
            match step {
                Step::Run(run) => encode_run(code, &run),
                Step::Field(field) if self.is_part(field) => {
                    let bound = match field.field_type.shape {
                        Shape::BoundedSequence(bound) => bound,
                        _ => u32::MAX,
                    };
                    code.add(
                        "let $local = sinew::loan::leave::<$element, $bound>(encoder, lengths.$field)
                        .map_err(|error| error.in_field(NAME, \"$name\"))?;",
                        &[
                            ("local", &local(field)),
                            ("element", &self.names.element(module, &field.field_type.element)),
                            ("bound", &bound.to_string()),
                            ("field", &identifier(&field.name)),
                            ("name", &field.name),
                        ],
                    );
                }
                Step::Field(field) => code.add(
                    "cdr::Field::encode(&self.$field, encoder);",
                    &[("field", &identifier(&field.name))],
                ),
            }
        }
    }

    /// Whether the caller fills this field: a sequence of plain values.
    fn is_part(&self, field: &Field) -> bool {
        let is_sequence = matches!(field.field_type.shape, Shape::Sequence | Shape::BoundedSequence(_));
        is_sequence && self.layouts.of_element(&field.field_type.element).plain.is_some()
    }
}
