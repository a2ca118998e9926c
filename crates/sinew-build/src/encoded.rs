//! Generates the code that encodes and decodes a message.

use super::code::Code;
use super::expression::Expression;
use super::layout::{Plain, Run, RunField, Step};
use super::message::header;
use super::names::{Module, identifier};
use super::package::Generation;
use sinew_msg::definition::{ElementType, FieldDefinition, Interface, Primitive, Shape};

impl Generation<'_> {
    pub(super) fn encoded(&self, code: &mut Code, module: &Module<'_>, interface: &Interface) {
        let plain = self.layouts.of_interface(interface).plain;
        self.type_of(code, module, interface, plain.is_some());
        if interface.fields.is_empty() {
            self.empty(code, module, interface);
        } else {
            self.fields(code, module, interface);
        }
        if let Some(plain) = plain {
            self.plain(code, module, interface, plain);
        }
    }

    /// Writes the name, hash and description.
    fn type_of(&self, code: &mut Code, module: &Module<'_>, interface: &Interface, is_plain: bool) {
        let name = self.names.own(&interface.name);
        let hash = self.interfaces.hash(&interface.name).expect("resolved interfaces are complete");
        code.add(
            "
            impl sinew::Message for $name {
            const ENCODING: $option<&'static sinew::Encoding<Self>> = {
",
            &[("name", name), ("option", &self.names.prelude(module, "Option", "::core::option::Option"))],
        );
        let encoding = if is_plain { "plain_encoding" } else { "encoding" };
        code.binding(
            &format!("const TABLE: sinew::Encoding<{name}> ="),
            &Expression::Atom(format!("cdr::{encoding}::<{name}>()")),
            ";",
        );
        code.add(
            "Some(&TABLE)
            };
            }

            impl cdr::Structure for $name {
            ",
            &[("name", name)],
        );
        let ros = Expression::Atom(format!("{:?}", interface.name.as_str()));
        code.binding("const NAME: &'static str =", &ros, ";");
        code.add(
            "const HASH: sinew::TypeHash = sinew::TypeHash::from_rihs01(
            \"$hash\",
            );
            ",
            &[("hash", &hash.to_string())],
        );
        let fields = interface.fields.iter().map(|field| {
            let name = Expression::Atom(format!("{:?}", field.name));
            Expression::Call(String::new(), vec![name, self.description(module, field)])
        });
        let description = vec![
            Expression::Field("name".to_owned(), Box::new(ros)),
            Expression::Field("fields".to_owned(), Box::new(Expression::List("&", fields.collect()))),
        ];
        let of = "&cdr::description::ConstDescription".to_owned();
        let before = "const DESCRIPTION: &'static cdr::description::ConstDescription =";
        code.binding(before, &Expression::Structure(of, description), ";");
        if header(interface).is_some() {
            code.add(
                "const STAMP: $option<fn(&Self) -> i64> = Some(sinew::Stamped::stamp_nanoseconds);",
                &[("option", &self.names.prelude(module, "Option", "::core::option::Option"))],
            );
        }
        code.add("}", &[]);
    }

    /// Returns the description of a field's type. Only for `byte` does it differ from that of the
    /// Rust type.
    fn description(&self, module: &Module<'_>, field: &FieldDefinition) -> Expression {
        const BYTE: &str = "cdr::description::ConstFieldType::BYTE";
        if field.field_type.element != ElementType::Primitive(Primitive::Byte) {
            let field_type = self.names.field(module, &field.field_type);
            return Expression::Atom(format!("<{field_type} as cdr::Field>::TYPE"));
        }
        let (function, count) = match field.field_type.shape {
            Shape::Single => return Expression::atom(BYTE),
            Shape::Array(count) => ("array", Some(count)),
            Shape::Sequence => ("sequence", None),
            Shape::BoundedSequence(bound) => ("bounded_sequence", Some(bound)),
        };
        let count = count.map(|count| Expression::atom(count.to_string()));
        let arguments = [Expression::Atom(format!("&{BYTE}"))].into_iter().chain(count);
        Expression::Call(format!("cdr::description::ConstFieldType::{function}"), arguments.collect())
    }

    fn opening(&self, code: &mut Code, interface: &Interface) {
        let layout = self.layouts.of_interface(interface);
        code.add(
            "
            impl cdr::Field for $name {
            const TYPE: cdr::description::ConstFieldType =
            cdr::description::ConstFieldType::structure(<Self as cdr::Structure>::DESCRIPTION);
            const ALIGNMENT: usize = $alignment;
            const LEAST: usize = $least;
            ",
            &[
                ("name", self.names.own(&interface.name)),
                ("alignment", &layout.alignment.to_string()),
                ("least", &layout.least.to_string()),
            ],
        );
    }

    /// A struct without fields is encoded as one byte.
    fn empty(&self, code: &mut Code, module: &Module<'_>, interface: &Interface) {
        self.opening(code, interface);
        code.add(
            "
            fn end(&self, at: usize) -> usize {
            at + 1
            }

            fn encode(&self, encoder: &mut cdr::Encoder<'_>) {
            encoder.write(&[0]);
            }

            fn decode(decoder: &mut cdr::Decoder<'_>) -> $result<Self, cdr::Fault> {
            const NAME: &str = \"$ros\";
            decoder
            .take(1)
            .map_err(|fault| fault.in_field(NAME, \"structure_needs_at_least_one_member\"))?;
            Ok(Self {})
            }
            }",
            &[("result", &self.result(module)), ("ros", interface.name.as_str())],
        );
    }

    fn fields(&self, code: &mut Code, module: &Module<'_>, interface: &Interface) {
        let steps = self.layouts.steps(interface);
        self.opening(code, interface);
        code.add("\n#[inline]\nfn end(&self, at: usize) -> usize {", &[]);
        for step in &steps {
            match step {
                Step::Run(run) => code.add("let at = $end;", &[("end", &end_of_run(run))]),
                Step::Field(field) => {
                    let arguments = [format!("&self.{}", identifier(&field.name)), "at".to_owned()];
                    let end = Expression::Call(
                        "cdr::Field::end".to_owned(),
                        arguments.map(Expression::Atom).into(),
                    );
                    code.binding("let at =", &end, ";");
                }
            }
        }
        code.add("at\n}\n\n#[inline]\nfn encode(&self, encoder: &mut cdr::Encoder<'_>) {", &[]);
        for step in &steps {
            match step {
                Step::Run(run) => encode_run(code, run),
                Step::Field(field) => encode_field(code, field),
            }
        }
        code.add(
            "}

            #[inline]
            fn decode(decoder: &mut cdr::Decoder<'_>) -> $result<Self, cdr::Fault> {
            let mut value = <Self as ::core::default::Default>::default();
            cdr::Field::decode_into(&mut value, decoder)?;
            Ok(value)
            }

",
            &[("result", &self.result(module))],
        );
        let parameters = ["&mut self", "decoder: &mut cdr::Decoder<'_>"];
        code.function("decode_into", &parameters, &format!("{}<(), cdr::Fault>", self.result(module)));
        code.add("const NAME: &str = \"$ros\";", &[("ros", interface.name.as_str())]);
        for step in &steps {
            match step {
                Step::Run(run) => decode_run(code, run),
                Step::Field(field) => {
                    let value = format!("&mut self.{}", identifier(&field.name));
                    let arguments =
                        [value, "decoder".to_owned(), "NAME".to_owned(), format!("{:?}", field.name)];
                    let decoded = Expression::Call(
                        "cdr::decode_field".to_owned(),
                        arguments.map(Expression::Atom).into(),
                    );
                    code.expression("", &decoded, "?;");
                }
            }
        }
        code.add("Ok(())\n}", &[]);
        if self.layouts.of_interface(interface).plain.is_some() {
            code.add("\nsinew::plain_slices!();", &[]);
        }
        code.add("}", &[]);
    }

    /// Writes the proof that the struct is plain, and the promise that rests on it.
    fn plain(&self, code: &mut Code, module: &Module<'_>, interface: &Interface, plain: Plain) {
        let name = self.names.own(&interface.name);
        code.add(
            "
            const _: () = {
            const fn needs_plain<T: sinew::Plain>() {}
            use ::core::mem::offset_of;",
            &[("name", name)],
        );
        code.assertion(&Expression::Atom(format!("size_of::<{name}>()")), plain.size);
        code.assertion(&Expression::Atom(format!("align_of::<{name}>()")), plain.alignment);
        let mut offset = 0;
        for field in &interface.fields {
            let field_type = self.names.field(module, &field.field_type);
            code.add("needs_plain::<$type>();", &[("type", &field_type)]);
            let names = [name.to_owned(), identifier(&field.name)];
            let begin = Expression::Call("offset_of!".to_owned(), names.map(Expression::Atom).into());
            code.assertion(&begin, offset);
            let size = self.layouts.of_field(&field.field_type).plain.map_or(0, |plain| plain.size);
            offset += size;
        }
        code.add(
            "};

            // SAFETY: the constant above does not compile unless all fields are plain, so all zeros
            // are a value.
            unsafe impl sinew::bytemuck::Zeroable for $name {}

            // SAFETY: as above, all fields are plain, and each begins where the one before ends, as
            // does the struct's end: there is no padding.
            unsafe impl sinew::bytemuck::Pod for $name {}

            // SAFETY: as above. In encoded bytes that begin at a multiple of the struct's alignment
            // each field lies at a multiple of its own, where CDR needs no padding either.
            unsafe impl sinew::Plain for $name {}",
            &[("name", name)],
        );
    }

    pub(super) fn result(&self, module: &Module<'_>) -> String {
        self.names.prelude(module, "Result", "::core::result::Result")
    }
}

pub(super) fn end_of_run(run: &Run<'_>) -> String {
    format!("cdr::aligned(at, {}) + {}", run.alignment, run.length)
}

pub(super) fn is_bool(field: &FieldDefinition) -> bool {
    field.field_type.element == ElementType::Primitive(Primitive::Bool)
}

pub(super) fn encode_run(code: &mut Code, run: &Run<'_>) {
    let (alignment, length) = (run.alignment.to_string(), run.length.to_string());
    code.add(
        "let mut run = encoder.run::<$length>($alignment);",
        &[("length", &length), ("alignment", &alignment)],
    );
    for RunField { offset, field, .. } in &run.fields {
        let template = if is_bool(field) {
            "run.put_bools($offset, &[self.$field]);"
        } else {
            "run.put($offset, &self.$field);"
        };
        code.add(template, &[("offset", &offset.to_string()), ("field", &identifier(&field.name))]);
    }
    for (offset, length) in &run.gaps {
        let zeros = format!("run.put({offset}, &[0_u8; {length}]);");
        code.add(&zeros, &[]);
    }
}

pub(super) fn encode_field(code: &mut Code, field: &FieldDefinition) {
    let arguments = [format!("&self.{}", identifier(&field.name)), "encoder".to_owned()];
    let encoded = Expression::Call("cdr::Field::encode".to_owned(), arguments.map(Expression::Atom).into());
    code.expression("", &encoded, ";");
}

/// Writes the code that takes a run to decode, with the fields' ends and names.
pub(super) fn take_run(code: &mut Code, run: &Run<'_>) {
    let ends = run.fields.iter().map(|RunField { offset, size, field }| {
        let end = [(offset + size).to_string(), format!("{:?}", field.name)];
        Expression::Call(String::new(), end.map(Expression::Atom).into())
    });
    let ends = Expression::List("&", ends.collect());
    let arguments = vec![Expression::atom(run.alignment.to_string()), Expression::atom("NAME"), ends];
    let taken = Expression::Call(format!("decoder.run::<{}>", run.length), arguments);
    code.binding("let run =", &taken, "?;");
}

fn decode_run(code: &mut Code, run: &Run<'_>) {
    take_run(code, run);
    for RunField { offset, field, .. } in &run.fields {
        let template = if is_bool(field) {
            "self.$field = run.bool($offset)?;"
        } else {
            "run.copy($offset, &mut self.$field);"
        };
        code.add(template, &[("offset", &offset.to_string()), ("field", &identifier(&field.name))]);
    }
}
