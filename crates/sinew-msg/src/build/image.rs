//! A message's way into its image and back.

use super::code::Code;
use super::layout::{Plain, Run, RunField, Step};
use super::names::{Module, identifier};
use super::package::Generation;
use crate::definition::{Element, Field, Interface, Primitive, Shape};

impl Generation<'_> {
    pub(super) fn image(&self, code: &mut Code, module: &Module<'_>, interface: &Interface) {
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

    /// Name, hash and description.
    fn type_of(&self, code: &mut Code, module: &Module<'_>, interface: &Interface, is_plain: bool) {
        let hash = self.interfaces.hash(&interface.name).expect("resolved interfaces are complete");
        code.add(
            "
            impl sinew::Message for $name {
            const ENCODING: $option<&'static sinew::Encoding<Self>> = {
            const TABLE: sinew::Encoding<$name> = cdr::$encoding::<$name>();
            Some(&TABLE)
            };
            }

            impl cdr::Structure for $name {
            const NAME: &'static str = \"$ros\";
            const HASH: sinew::TypeHash = sinew::TypeHash::from_rihs01(
            \"$hash\",
            );
            const DESCRIPTION: &'static cdr::description::ConstDescription = &cdr::description::ConstDescription {
            name: \"$ros\",
            fields: &[",
            &[
                ("name", self.names.own(&interface.name)),
                ("option", &self.names.prelude(module, "Option", "::core::option::Option")),
                ("encoding", if is_plain { "plain_encoding" } else { "encoding" }),
                ("ros", interface.name.as_str()),
                ("hash", &hash.to_string()),
            ],
        );
        for field in &interface.fields {
            let description = self.description(module, field);
            code.add("(\"$field\", $description),", &[("field", &field.name), ("description", &description)]);
        }
        code.add("],\n};\n}", &[]);
    }

    /// The type of a field. Only that of a `byte` is not that of its Rust type.
    fn description(&self, module: &Module<'_>, field: &Field) -> String {
        const BYTE: &str = "cdr::description::ConstFieldType::BYTE";
        let of = "cdr::description::ConstFieldType";
        match (&field.field_type.element, field.field_type.shape) {
            (Element::Primitive(Primitive::Byte), Shape::Single) => BYTE.to_owned(),
            (Element::Primitive(Primitive::Byte), Shape::Array(count)) => {
                format!("{of}::array(&{BYTE}, {count})")
            }
            (Element::Primitive(Primitive::Byte), Shape::Sequence) => format!("{of}::sequence(&{BYTE})"),
            (Element::Primitive(Primitive::Byte), Shape::BoundedSequence(bound)) => {
                format!("{of}::bounded_sequence(&{BYTE}, {bound})")
            }
            _ => format!("<{} as cdr::Field>::TYPE", self.names.field(module, &field.field_type)),
        }
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

    /// A struct without fields has a byte.
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
            decoder
            .take(1)
            .map_err(|fault| fault.in_field(\"$ros\", \"structure_needs_at_least_one_member\"))?;
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
                Step::Field(field) => code.add(
                    "let at = cdr::Field::end(&self.$field, at);",
                    &[("field", &identifier(&field.name))],
                ),
            }
        }
        code.add("at\n}\n\n#[inline]\nfn encode(&self, encoder: &mut cdr::Encoder<'_>) {", &[]);
        for step in &steps {
            match step {
                Step::Run(run) => encode_run(code, run),
                Step::Field(field) => code.add(
                    "cdr::Field::encode(&self.$field, encoder);",
                    &[("field", &identifier(&field.name))],
                ),
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

            fn decode_into(&mut self, decoder: &mut cdr::Decoder<'_>) -> $result<(), cdr::Fault> {
            const NAME: &str = \"$ros\";",
            &[("result", &self.result(module)), ("ros", interface.name.as_str())],
        );
        for step in &steps {
            match step {
                Step::Run(run) => decode_run(code, run),
                Step::Field(field) => code.add(
                    "cdr::Field::decode_into(&mut self.$field, decoder)
                    .map_err(|fault| fault.in_field(NAME, \"$name\"))?;",
                    &[("field", &identifier(&field.name)), ("name", &field.name)],
                ),
            }
        }
        code.add("Ok(())\n}", &[]);
        if self.layouts.of_interface(interface).plain.is_some() {
            code.add("\nsinew::plain_slices!();", &[]);
        }
        code.add("}", &[]);
    }

    /// The proof that it is plain, and the promise that rests on it.
    fn plain(&self, code: &mut Code, module: &Module<'_>, interface: &Interface, plain: Plain) {
        let name = self.names.own(&interface.name);
        code.add(
            "
            const _: () = {
            const fn needs_plain<T: sinew::Plain>() {}
            assert!(size_of::<$name>() == $size && align_of::<$name>() == $alignment);",
            &[("name", name), ("size", &plain.size.to_string()), ("alignment", &plain.alignment.to_string())],
        );
        let mut offset = 0;
        for field in &interface.fields {
            let field_type = self.names.field(module, &field.field_type);
            code.add(
                "needs_plain::<$type>();
                assert!(::core::mem::offset_of!($name, $field) == $offset);",
                &[
                    ("type", &field_type),
                    ("name", name),
                    ("field", &identifier(&field.name)),
                    ("offset", &offset.to_string()),
                ],
            );
            let size = self.layouts.of_field(&field.field_type).plain.map_or(0, |plain| plain.size);
            offset += size;
        }
        code.add(
            "};

            // SAFETY: the constant above does not compile unless all fields are plain, so all zeros are a value.
            unsafe impl sinew::bytemuck::Zeroable for $name {}

            // SAFETY: as above, all fields are plain, and each begins where the one before ends, as does the struct's end:
            // there is no padding.
            unsafe impl sinew::bytemuck::Pod for $name {}

            // SAFETY: as above. In an image that begins at a multiple of the struct's alignment each field lies at a
            // multiple of its own, where CDR needs no padding either.
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

pub(super) fn is_bool(field: &Field) -> bool {
    field.field_type.element == Element::Primitive(Primitive::Bool)
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

/// Takes a run to decode, with the fields' ends and names.
pub(super) fn take_run(code: &mut Code, run: &Run<'_>) {
    let places = run.fields.iter();
    let ends: Vec<String> =
        places.map(|place| format!("({}, {:?})", place.offset + place.size, place.field.name)).collect();
    let ends = match ends.as_slice() {
        [one] => one.clone(),
        several => format!("\n{},\n", several.join(",\n")),
    };
    code.add(
        "let run = decoder.run::<$length>($alignment, NAME, &[$ends])?;",
        &[("length", &run.length.to_string()), ("alignment", &run.alignment.to_string()), ("ends", &ends)],
    );
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
