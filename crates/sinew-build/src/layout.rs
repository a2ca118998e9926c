//! The positions of fields in an encoded message, as far as they are fixed.

use super::known::Known;
use sinew_msg::definition::{
    ElementType, FieldDefinition, FieldType, Interface, Interfaces, Primitive, Shape, TypeName,
};

/// The layout of a type's encoding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Layout {
    /// Alignment of the first byte.
    pub(super) alignment: usize,
    /// Minimum length in bytes.
    pub(super) least: usize,
    /// Present if values are encoded as they are in memory.
    pub(super) plain: Option<Plain>,
}

/// The layout of a plain type in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plain {
    pub(super) size: usize,
    pub(super) alignment: usize,
}

/// The layouts of all types.
pub(super) struct Layouts<'a> {
    interfaces: &'a Interfaces,
    known: Known<Layout>,
}

/// A step of encoding or decoding.
pub(super) enum Step<'a> {
    /// Fields at fixed distances from the first.
    Run(Run<'a>),
    /// A field of any length.
    Field(&'a FieldDefinition),
}

/// Consecutive fields, each at a fixed distance from the first.
pub(super) struct Run<'a> {
    /// Alignment of the beginning; no field in the run needs more.
    pub(super) alignment: usize,
    pub(super) length: usize,
    pub(super) fields: Vec<RunField<'a>>,
    /// The gaps between fields: offset and length.
    pub(super) gaps: Vec<(usize, usize)>,
}

/// A field in a run.
pub(super) struct RunField<'a> {
    /// Offset from the beginning of the run.
    pub(super) offset: usize,
    pub(super) size: usize,
    pub(super) field: &'a FieldDefinition,
}

const STRING: Layout = Layout { alignment: 4, least: 4, plain: None };

impl<'a> Layouts<'a> {
    pub(super) fn new(interfaces: &'a Interfaces) -> Self {
        Self { interfaces, known: Known::new() }
    }

    pub(super) fn of_element(&self, element: &ElementType) -> Layout {
        match element {
            ElementType::Primitive(primitive) => of_primitive(*primitive),
            ElementType::String { .. } | ElementType::WString { .. } => STRING,
            ElementType::Message(name) => self.of_message(name),
        }
    }

    pub(super) fn of_field(&self, FieldType { element, shape }: &FieldType) -> Layout {
        let layout = self.of_element(element);
        match shape {
            Shape::Single => layout,
            Shape::BoundedSequence(_) | Shape::Sequence => STRING,
            Shape::Array(count) => {
                let count = usize::try_from(*count).unwrap_or(usize::MAX);
                let plain = layout.plain.and_then(|plain| {
                    Some(Plain { size: plain.size.checked_mul(count)?, alignment: plain.alignment })
                });
                Layout { least: layout.least.saturating_mul(count), plain, ..layout }
            }
        }
    }

    fn of_message(&self, name: &TypeName) -> Layout {
        let interface = self.interfaces.find(name).expect("resolved interfaces are complete");
        self.known.of(name, || self.of_interface(interface))
    }

    pub(super) fn of_interface(&self, interface: &Interface) -> Layout {
        let fields: Vec<Layout> =
            interface.fields.iter().map(|field| self.of_field(&field.field_type)).collect();
        let Some(first) = fields.first() else {
            return Layout { alignment: 1, least: 1, plain: None }; // one byte, which is not a field
        };
        let least = fields.iter().fold(0_usize, |least, field| least.saturating_add(field.least));
        Layout { alignment: first.alignment, least, plain: plain(&fields) }
    }

    /// Returns the steps of encoding or decoding such a message, in order.
    pub(super) fn steps(&self, interface: &'a Interface) -> Vec<Step<'a>> {
        let mut steps: Vec<Step<'a>> = Vec::new();
        for field in &interface.fields {
            let layout = self.of_field(&field.field_type);
            let Some(Plain { size, alignment }) = fixed(field, layout) else {
                steps.push(Step::Field(field));
                continue;
            };
            let last = steps.last_mut();
            if let Some(Step::Run(run)) = last
                && alignment <= run.alignment
                && let begin = run.length.next_multiple_of(layout.alignment)
                && begin.is_multiple_of(alignment)
                && let Some(end) = begin.checked_add(size)
            {
                if begin > run.length {
                    run.gaps.push((run.length, begin - run.length));
                }
                run.fields.push(RunField { offset: begin, size, field });
                run.length = end;
            } else if alignment == layout.alignment {
                let (fields, gaps) = (vec![RunField { offset: 0, size, field }], Vec::new());
                steps.push(Step::Run(Run { alignment, length: size, fields, gaps }));
            } else {
                steps.push(Step::Field(field)); // its padding depends on its offset
            }
        }
        steps
    }
}

/// Returns the size of a field of fixed length.
fn fixed(field: &FieldDefinition, layout: Layout) -> Option<Plain> {
    match (&field.field_type.element, field.field_type.shape) {
        (ElementType::Primitive(Primitive::Bool), Shape::Single) => Some(Plain { size: 1, alignment: 1 }),
        _ => layout.plain,
    }
}

/// Returns the layout of plain fields, if there are no gaps between or after them.
fn plain(fields: &[Layout]) -> Option<Plain> {
    let mut size = 0_usize;
    let mut alignment = 1;
    for field in fields {
        let plain = field.plain?;
        if !size.is_multiple_of(plain.alignment) {
            return None;
        }
        size = size.checked_add(plain.size)?;
        alignment = alignment.max(plain.alignment);
    }
    size.is_multiple_of(alignment).then_some(Plain { size, alignment })
}

fn of_primitive(primitive: Primitive) -> Layout {
    let size = match primitive {
        Primitive::Bool => return Layout { alignment: 1, least: 1, plain: None },
        Primitive::Byte | Primitive::Char | Primitive::Int8 | Primitive::Uint8 => 1,
        Primitive::Int16 | Primitive::Uint16 => 2,
        Primitive::Int32 | Primitive::Uint32 | Primitive::Float32 => 4,
        Primitive::Int64 | Primitive::Uint64 | Primitive::Float64 => 8,
    };
    Layout { alignment: size, least: size, plain: Some(Plain { size, alignment: size }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_msg::definition::{Definition, Definitions};

    /// Returns the steps of a message with these fields: runs as `alignment: offset+..=length`,
    /// other fields by name.
    fn steps(text: &str) -> String {
        let mut definitions = Definitions::new();
        let uneven = "uint32 a\nfloat32 b\nfloat64 c";
        for (name, text) in [("a/msg/Uneven", uneven), ("a/msg/A", text)] {
            let name = name.parse().unwrap();
            definitions.add(Definition::parse(&name, "", text).unwrap()).unwrap();
        }
        let interfaces = definitions.resolve().unwrap();
        let message = interfaces.find(&"a/msg/A".parse().unwrap()).unwrap();
        let steps = Layouts::new(&interfaces).steps(message);
        let shown = steps.iter().map(|step| match step {
            Step::Field(field) => field.name.clone(),
            Step::Run(run) => {
                let offsets: Vec<_> = run.fields.iter().map(|field| field.offset.to_string()).collect();
                format!("{}: {}={}", run.alignment, offsets.join("+"), run.length)
            }
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_run_ends_where_places_are_not_known() {
        assert_eq!(steps("uint32 a\nuint8 b\nuint16 c"), "4: 0+4+6=8");
        assert_eq!(steps("uint8 a\nuint16 b\nfloat64 c\nbool d"), "1: 0=1, 2: 0=2, 8: 0+8=9");
        assert_eq!(steps("float64 a\nstring b\nuint8[3] c\nbool[2] d"), "8: 0=8, b, 1: 0=3, d");
        // A struct with fields that need more alignment than its beginning is fixed only in a run
        // with that alignment.
        assert_eq!(steps("Uneven a\nUneven[2] b"), "a, b");
        assert_eq!(steps("float64 a\nUneven[2] b\nuint32 c\nUneven d"), "8: 0+8+40=44, d");
    }
}
