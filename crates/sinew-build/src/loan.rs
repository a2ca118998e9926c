//! Generates in-place building for messages with sequences of plain values, directly or in a nested
//! message.

use super::code::Code;
use super::encoded::{encode_field, encode_run, end_of_run};
use super::expression::Expression;
use super::layout::Step;
use super::names::{Module, identifier};
use super::package::Generation;
use super::view::{linked, local, of_locals};
use sinew_msg::definition::{ElementType, FieldDefinition, Interface, Shape, TypeName};

impl Generation<'_> {
    pub(super) fn loan(&self, code: &mut Code, module: &Module<'_>, interface: &Interface) {
        let parts: Vec<(&FieldDefinition, Part<'_>)> =
            interface.fields.iter().filter_map(|field| Some((field, self.in_place(field)?))).collect();
        if parts.is_empty() {
            return;
        }
        let name = self.names.own(&interface.name);
        let [lengths_name, parts_name] =
            [self.names.lengths(&interface.name), self.names.parts(&interface.name)];
        self.structures(code, module, interface, &parts);
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

            ",
            &values,
        );
        let parameter = format!("lengths: &{lengths_name}");
        let checked = format!("{}<(), sinew::loan::BuildError>", self.result(module));
        code.function("check", &[&parameter], &checked);
        code.add("const NAME: &str = \"$ros\";", &values);
        self.check(code, module, &parts);
        code.add(
            "Ok(())
            }

            ",
            &values,
        );
        code.function("end_with", &["&self", &parameter, "at: usize"], "usize");
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
        self.build(code, interface);
        let fields = parts.iter().map(|(field, _)| *field);
        code.expression("", &of_locals("Ok", parts_name, fields), "");
        code.add("}\n\n", &[]);
        self.find(code, module, interface, &parts);
        self.cut(code, module, interface, &parts);
        self.of_value(code, interface, &parts);
        code.add("}", &[]);
    }

    /// Writes the structs of lengths and of parts.
    fn structures(
        &self,
        code: &mut Code,
        module: &Module<'_>,
        interface: &Interface,
        parts: &[(&FieldDefinition, Part<'_>)],
    ) {
        let name = self.names.own(&interface.name);
        let [lengths_name, parts_name] =
            [self.names.lengths(&interface.name), self.names.parts(&interface.name)];
        code.add("\n", &[]);
        code.comment(&[format!("Of a [`{name}`], built in place: how many elements its sequences have.")]);
        code.add(
            "#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]\npub struct $lengths {",
            &[("lengths", lengths_name)],
        );
        for (field, part) in parts {
            code.comment(&[format!("Of [`{name}::{}`].", linked(field))]);
            let lengths = match part {
                Part::Sequence => "usize".to_owned(),
                Part::Message(of) => format!("{}{}", self.names.path(module, of), self.names.lengths(of)),
            };
            code.binding(&format!("pub {}:", identifier(&field.name)), &Expression::Atom(lengths), ",");
        }
        code.add("}\n\n", &[]);
        code.comment(&[format!("Of a [`{name}`], built in place: its sequences, for the caller to fill.")]);
        code.add("#[derive(Debug)]\npub struct $parts<'a> {", &[("parts", parts_name)]);
        for (field, part) in parts {
            code.comment(&[format!("See [`{name}::{}`].", linked(field))]);
            let part = match part {
                Part::Sequence => {
                    format!("&'a mut [{}]", self.names.element(module, &field.field_type.element))
                }
                Part::Message(of) => format!("{}{}<'a>", self.names.path(module, of), self.names.parts(of)),
            };
            code.binding(&format!("pub {}:", identifier(&field.name)), &Expression::Atom(part), ",");
        }
    }

    /// Writes the function that finds the sequences in a viewed message.
    fn find(
        &self,
        code: &mut Code,
        module: &Module<'_>,
        interface: &Interface,
        parts: &[(&FieldDefinition, Part<'_>)],
    ) {
        let view = format!("view: &{}<'_>", self.names.view(&interface.name));
        code.function("find_parts", &[&view, "found: sinew::loan::Found"], "sinew::loan::Found");
        for (field, part) in parts {
            let name = identifier(&field.name);
            let found = match part {
                Part::Sequence => Expression::Call(
                    "found.sequence".to_owned(),
                    vec![Expression::Atom(format!("&view.{name}"))],
                ),
                Part::Message(of) => {
                    let of = self.names.message(module, of);
                    let arguments = [format!("&view.{name}"), "found".to_owned()];
                    Expression::Call(
                        format!("<{of} as sinew::loan::Built>::find_parts"),
                        arguments.map(Expression::Atom).into(),
                    )
                }
            };
            code.binding("let found =", &found, ";");
        }
        code.add("found\n}\n\n", &[]);
    }

    /// Writes the function that takes the sequences found out of an encoded message.
    fn cut(
        &self,
        code: &mut Code,
        module: &Module<'_>,
        interface: &Interface,
        parts: &[(&FieldDefinition, Part<'_>)],
    ) {
        let parts_name = self.names.parts(&interface.name);
        let option = self.names.prelude(module, "Option", "::core::option::Option");
        let cut = format!("{option}<{parts_name}<'a>>");
        code.function("cut_parts<'a>", &["cutter: &mut sinew::loan::Cutter<'a>"], &cut);
        for (field, part) in parts {
            let part = match part {
                Part::Sequence => Expression::atom("cutter.sequence()"),
                Part::Message(of) => {
                    let of = self.names.message(module, of);
                    let of = format!("<{of} as sinew::loan::Built>::cut_parts");
                    Expression::Call(of, vec![Expression::atom("cutter")])
                }
            };
            code.binding(&format!("let {} =", local(field)), &part, "?;");
        }
        let fields = parts.iter().map(|(field, _)| *field);
        code.expression("", &of_locals("Some", parts_name, fields), "");
        code.add("}\n\n", &[]);
    }

    /// Writes the function that returns the sequences of a value.
    fn of_value(&self, code: &mut Code, interface: &Interface, parts: &[(&FieldDefinition, Part<'_>)]) {
        let parts_name = self.names.parts(&interface.name);
        code.function("parts_of_value", &["&mut self"], &format!("{parts_name}<'_>"));
        let fields = parts.iter().map(|(field, part)| {
            let name = identifier(&field.name);
            let of = match part {
                Part::Sequence => "sinew::loan::part",
                Part::Message(_) => "sinew::loan::Built::parts_of_value",
            };
            let value = Expression::Atom(format!("&mut self.{name}"));
            Expression::Field(name, Box::new(Expression::Call(of.to_owned(), vec![value])))
        });
        let of = Expression::Structure(parts_name.to_owned(), fields.collect());
        code.expression("", &of, "");
        code.add("}", &[]);
    }

    fn check(&self, code: &mut Code, module: &Module<'_>, parts: &[(&FieldDefinition, Part<'_>)]) {
        for (field, part) in parts {
            let name = identifier(&field.name);
            match part {
                Part::Sequence => {
                    let arguments =
                        [format!("lengths.{name}"), "NAME".to_owned(), format!("{:?}", field.name)];
                    let checked = Expression::Call(
                        format!("sinew::loan::check::<{}>", bound(field)),
                        arguments.map(Expression::Atom).into(),
                    );
                    code.expression("", &checked, "?;");
                }
                Part::Message(of) => {
                    let of = self.names.message(module, of);
                    let checked = Expression::Call(
                        format!("<{of} as sinew::loan::Built>::check"),
                        vec![Expression::Atom(format!("&lengths.{name}"))],
                    );
                    code.expression("", &checked, "?;");
                }
            }
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
            let name = identifier(&field.name);
            let (function, arguments) = match self.in_place(field) {
                Some(Part::Sequence) => {
                    let element = self.names.element(module, &field.field_type.element);
                    (format!("sinew::loan::end::<{element}>"), vec![format!("lengths.{name}")])
                }
                Some(Part::Message(_)) => {
                    let arguments = vec![format!("&self.{name}"), format!("&lengths.{name}")];
                    ("sinew::loan::Built::end_with".to_owned(), arguments)
                }
                None => ("cdr::Field::end".to_owned(), vec![format!("&self.{name}")]),
            };
            let arguments = arguments.into_iter().chain(["at".to_owned()]).map(Expression::Atom);
            code.binding("let at =", &Expression::Call(function, arguments.collect()), ";");
        }
    }

    fn build(&self, code: &mut Code, interface: &Interface) {
        for step in self.layouts.steps(interface) {
            let field = match step {
                Step::Run(run) => {
                    encode_run(code, &run);
                    continue;
                }
                Step::Field(field) => field,
            };
            let name = identifier(&field.name);
            let part = match self.in_place(field) {
                Some(Part::Sequence) => {
                    let lengths = format!("lengths.{name}");
                    let ros = format!("{:?}", field.name);
                    Expression::Call(
                        format!("sinew::loan::leave::<_, {}>", bound(field)),
                        ["encoder".to_owned(), lengths, "NAME".to_owned(), ros].map(Expression::Atom).into(),
                    )
                }
                Some(Part::Message(_)) => {
                    let arguments =
                        [format!("&self.{name}"), format!("&lengths.{name}"), "encoder".to_owned()];
                    Expression::Call(
                        "sinew::loan::Built::build_parts".to_owned(),
                        arguments.map(Expression::Atom).into(),
                    )
                }
                None => {
                    encode_field(code, field);
                    continue;
                }
            };
            code.binding(&format!("let {} =", local(field)), &part, "?;");
        }
    }

    /// Returns the part of this field that the caller fills.
    fn in_place<'f>(&self, field: &'f FieldDefinition) -> Option<Part<'f>> {
        let element = &field.field_type.element;
        match (field.field_type.shape, element) {
            (Shape::Sequence | Shape::BoundedSequence(_), _) => {
                // An encoded element is aligned as its first field is. If it needs more alignment
                // in memory, it has that only by chance.
                let layout = self.layouts.of_element(element);
                let lies = layout.plain.is_some_and(|plain| plain.alignment == layout.alignment);
                lies.then_some(Part::Sequence)
            }
            (Shape::Single, ElementType::Message(name)) => {
                let interface = self.interfaces.find(name)?;
                let has_parts = || interface.fields.iter().any(|field| self.in_place(field).is_some());
                self.built.of(name, has_parts).then_some(Part::Message(name))
            }
            _ => None,
        }
    }
}

/// Returns the maximum number of elements of a sequence.
fn bound(field: &FieldDefinition) -> u32 {
    match field.field_type.shape {
        Shape::BoundedSequence(bound) => bound,
        _ => u32::MAX,
    }
}

/// A part that the caller fills in place.
enum Part<'a> {
    /// A sequence of plain values.
    Sequence,
    /// A message that contains such sequences.
    Message(&'a TypeName),
}
