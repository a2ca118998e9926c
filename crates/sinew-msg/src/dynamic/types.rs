//! Types that are known only at run time, checked once when they are created.

use super::error::TypeError;
use super::value::{Scalars, Value, scalar_of, width};
use crate::definition::{self, Interfaces, Primitive, Shape, TypeName};
use crate::description::{
    FieldDescription, FieldTypeDescription, IndividualTypeDescription, PLACEHOLDER, TypeDescription, type_id,
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum nesting of messages. (ROS 2's own types: 6.)
pub const MAX_DEPTH: usize = 64;
#[cfg(feature = "text")]
const _: () = assert!(crate::tree::MAX_NESTING == 2 * MAX_DEPTH);

/// Maximum length in bytes of the shortest encoding of a type: 256 MiB.
const MAX_LEAST: usize = 1 << 28;

/// Maximum number of values in the smallest message of a type, not counting numbers in arrays.
pub(super) const MAX_VALUES: usize = 1 << 20;

/// A message type that is known only at run time, with every type in it.
///
/// It is finite, and its smallest message has a reasonable size, although descriptions are
/// untrusted.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageType {
    /// The type itself, followed by the types in it.
    structures: Vec<DynamicStructure>,
}

/// A type.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DynamicStructure {
    pub(super) name: String,
    /// Empty for a type without fields, which is encoded as one byte.
    pub(super) fields: Vec<DynamicField>,
    size: Size,
}

/// The needs of the smallest message of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Size {
    /// Encoded bytes, at least 1. Padding isn't counted.
    least: usize,
    values: usize,
    /// Nesting of messages, including this one.
    depth: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct DynamicField {
    pub(super) name: String,
    pub(super) element: DynamicElement,
    pub(super) shape: Shape,
    /// The default value, if it differs from the default of the type.
    default: Option<Value>,
}

/// The type of a field, or of each of its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DynamicElement {
    Scalar(Primitive),
    /// With the maximum number of characters.
    String(Option<u64>),
    WString(Option<u64>),
    /// A struct, by index.
    Structure(usize),
}

impl MessageType {
    /// Returns the type of this description. The default values of its fields are zero or empty,
    /// since hashes don't cover other defaults.
    ///
    /// # Errors
    /// [`TypeError`] if the description is inconsistent or exceeds a limit.
    pub fn new(description: &TypeDescription) -> Result<Self, TypeError> {
        let TypeDescription { type_description, referenced_type_descriptions } = description;
        let all: Vec<_> = std::iter::once(type_description).chain(referenced_type_descriptions).collect();
        let mut indices = BTreeMap::new();
        for (index, one) in all.iter().enumerate() {
            if indices.insert(one.type_name.as_str(), index).is_some() {
                return Err(TypeError::Repeated { name: one.type_name.clone() });
            }
        }
        let structures = all.iter().map(|one| structure(one, &indices)).collect::<Result<_, _>>()?;
        let mut this = Self { structures };
        Measuring { sizes: vec![None; all.len()], path: Vec::new() }.measure(&mut this.structures, 0)?;
        Ok(this)
    }

    /// Returns the type of this name, with the default values of the definitions.
    ///
    /// # Errors
    /// [`TypeError::Unknown`] if the definitions lack the name, otherwise as [`new`](Self::new).
    pub fn of(interfaces: &Interfaces, name: &TypeName) -> Result<Self, TypeError> {
        let Some(description) = interfaces.description(name) else {
            return Err(TypeError::Unknown { name: name.to_string(), place: "the definitions".to_owned() });
        };
        let mut this = Self::new(&description)?;
        for structure in &mut this.structures {
            let Some(interface) = structure.name.parse().ok().and_then(|name| interfaces.find(&name)) else {
                continue;
            };
            for (field, defined) in structure.fields.iter_mut().zip(&interface.fields) {
                field.default = defined.default.as_ref().and_then(|value| field.default_of(value));
            }
        }
        Ok(this)
    }

    /// Returns the full name, e.g. `sensor_msgs/msg/Image`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.structures[0].name
    }

    pub(super) fn structure(&self, index: usize) -> &DynamicStructure {
        &self.structures[index]
    }

    /// Returns whether this is ROS 2's time.
    #[cfg(feature = "text")]
    pub(super) fn is_time(&self, index: usize) -> bool {
        let DynamicStructure { name, fields, .. } = self.structure(index);
        let is = |field: &DynamicField, name, primitive| {
            field.name == name
                && (field.element, field.shape) == (DynamicElement::Scalar(primitive), Shape::Single)
        };
        name == "builtin_interfaces/msg/Time"
            && matches!(fields.as_slice(), [sec, nanosec]
                if is(sec, "sec", Primitive::Int32) && is(nanosec, "nanosec", Primitive::Uint32))
    }

    /// Returns the number of the field with the time if this is ROS 2's header.
    #[cfg(feature = "text")]
    pub(super) fn stamp_of_header(&self, index: usize) -> Option<usize> {
        let DynamicStructure { name, fields, .. } = self.structure(index);
        let is_stamp = |field: &DynamicField| match (field.element, field.shape) {
            (DynamicElement::Structure(inside), Shape::Single) => {
                field.name == "stamp" && self.is_time(inside)
            }
            _ => false,
        };
        (name == "std_msgs/msg/Header").then(|| fields.iter().position(is_stamp)).flatten()
    }

    /// Returns the minimum encoded length of an element in bytes, at least 1.
    pub(super) fn least(&self, element: DynamicElement) -> usize {
        least(element, |index| self.structures[index].size.least)
    }

    /// Returns the minimum memory of an element of a list in bytes, without the allocator's own.
    #[cfg(feature = "text")]
    pub(super) fn least_memory(&self, element: DynamicElement) -> usize {
        match element {
            DynamicElement::Scalar(primitive) => width(primitive),
            DynamicElement::String(_) | DynamicElement::WString(_) => size_of::<Value>(),
            // The numbers in arrays are no `Value`s; the encoded length is at least theirs.
            DynamicElement::Structure(index) => {
                let Size { least, values, .. } = self.structures[index].size;
                values.saturating_mul(size_of::<Value>()).saturating_add(least)
            }
        }
    }

    /// Returns the default values of a message's fields.
    pub(super) fn default_fields(&self, index: usize) -> Vec<Value> {
        self.structure(index).fields.iter().map(|field| self.default_value(field)).collect()
    }

    /// Returns the default value of a field.
    pub(super) fn default_value(&self, field: &DynamicField) -> Value {
        if let Some(value) = &field.default {
            return value.clone();
        }
        let count = match field.shape {
            Shape::Single => return self.default_element(field.element),
            Shape::Array(count) => usize::try_from(count).unwrap_or(usize::MAX), // bounded by `MAX_LEAST`
            Shape::BoundedSequence(_) | Shape::Sequence => 0,
        };
        match field.element {
            DynamicElement::Scalar(primitive) => Value::Scalars(Scalars::zeros(primitive, count)),
            element => Value::Values((0..count).map(|_| self.default_element(element)).collect()),
        }
    }

    fn default_element(&self, element: DynamicElement) -> Value {
        match element {
            DynamicElement::Scalar(primitive) => {
                Value::Scalar(super::Scalar::from_bytes(primitive, &[0; 8][..width(primitive)]))
            }
            DynamicElement::String(_) => Value::String(Vec::new()),
            DynamicElement::WString(_) => Value::WString(Vec::new()),
            DynamicElement::Structure(index) => Value::Structure(self.default_fields(index)),
        }
    }

    /// Returns the type of a field as in a definition.
    pub(super) fn show(&self, element: DynamicElement, shape: Shape) -> String {
        let element = match element {
            DynamicElement::Scalar(primitive) => primitive.name().to_owned(),
            DynamicElement::String(None) => "string".to_owned(),
            DynamicElement::String(Some(bound)) => format!("string<={bound}"),
            DynamicElement::WString(None) => "wstring".to_owned(),
            DynamicElement::WString(Some(bound)) => format!("wstring<={bound}"),
            DynamicElement::Structure(index) => self.structures[index].name.replace("/msg/", "/"),
        };
        format!("{element}{shape}")
    }
}

impl DynamicField {
    /// Converts a definition's default value for this field; `None` if it doesn't fit.
    fn default_of(&self, value: &definition::Literal) -> Option<Value> {
        match (value, self.element) {
            (definition::Literal::Sequence(values), DynamicElement::Scalar(primitive)) => {
                let mut scalars = Scalars::new(primitive, Vec::new());
                values
                    .iter()
                    .try_for_each(|value| scalar_of(primitive, value).map(|one| scalars.push(one)))?;
                Some(Value::Scalars(scalars))
            }
            (definition::Literal::Sequence(values), element) => Some(Value::Values(
                values.iter().map(|value| default_of(element, value)).collect::<Option<_>>()?,
            )),
            (value, element) => default_of(element, value),
        }
    }
}

/// Lists the names of fields for errors.
pub(super) fn names(fields: &[DynamicField]) -> String {
    if fields.is_empty() {
        return "none at all".to_owned();
    }
    let names: Vec<String> = fields.iter().map(|field| format!("`{}`", field.name)).collect();
    names.join(", ")
}

fn default_of(element: DynamicElement, value: &definition::Literal) -> Option<Value> {
    match (element, value) {
        (DynamicElement::Scalar(primitive), value) => scalar_of(primitive, value).map(Value::Scalar),
        (DynamicElement::String(_), definition::Literal::String(text)) => {
            Some(Value::String(text.as_bytes().to_vec()))
        }
        (DynamicElement::WString(_), definition::Literal::String(text)) => {
            Some(Value::WString(text.encode_utf16().collect()))
        }
        _ => None,
    }
}

/// Returns the minimum encoded length of an element in bytes. Padding isn't counted.
fn least(element: DynamicElement, of_structure: impl Fn(usize) -> usize) -> usize {
    match element {
        DynamicElement::Scalar(primitive) => width(primitive),
        // Not 5: some writers leave out the NUL of an empty string.
        DynamicElement::String(_) | DynamicElement::WString(_) => 4,
        DynamicElement::Structure(index) => of_structure(index),
    }
}

fn structure(
    description: &IndividualTypeDescription,
    indices: &BTreeMap<&str, usize>,
) -> Result<DynamicStructure, TypeError> {
    let IndividualTypeDescription { type_name, fields } = description;
    let wrong = |field: &FieldDescription, problem: String| TypeError::Field {
        name: type_name.clone(),
        field: field.name.clone(),
        problem,
    };
    let mut names = BTreeSet::new();
    let mut checked = Vec::with_capacity(fields.len());
    for field in fields {
        if !names.insert(&field.name) {
            return Err(wrong(field, "there is another of this name".to_owned()));
        }
        let (element, shape) =
            field_type(&field.field_type, indices).map_err(|problem| wrong(field, problem))?;
        checked.push(DynamicField { name: field.name.clone(), element, shape, default: None });
    }
    match checked.as_slice() {
        [] => return Err(TypeError::Empty { name: type_name.clone() }),
        [
            DynamicField {
                name,
                element: DynamicElement::Scalar(Primitive::Uint8),
                shape: Shape::Single,
                ..
            },
        ] if name == PLACEHOLDER => {
            checked.clear();
        }
        _ => {}
    }
    Ok(DynamicStructure { name: type_name.clone(), fields: checked, size: Size::default() })
}

fn field_type(
    field_type: &FieldTypeDescription,
    indices: &BTreeMap<&str, usize>,
) -> Result<(DynamicElement, Shape), String> {
    let FieldTypeDescription { type_id, capacity, string_capacity, nested_type_name } = field_type;
    let size = || match u32::try_from(*capacity) {
        Ok(size) if size > 0 => Ok(size),
        _ => Err(format!("its size is {capacity}, where 1 to {} can be", u32::MAX)),
    };
    let (element_id, shape) = match *type_id {
        id @ 0..=type_id::ARRAY => (id, Shape::Single),
        id @ ..=type_id::BOUNDED_SEQUENCE => (id - type_id::ARRAY, Shape::Array(size()?)),
        id @ ..=type_id::SEQUENCE => (id - type_id::BOUNDED_SEQUENCE, Shape::BoundedSequence(size()?)),
        id => (id - type_id::SEQUENCE, Shape::Sequence),
    };
    let element = match element_id {
        type_id::NESTED => match indices.get(nested_type_name.as_str()) {
            Some(index) => DynamicElement::Structure(*index),
            None => return Err(format!("its type {nested_type_name} is not described")),
        },
        type_id::STRING => DynamicElement::String(None),
        type_id::BOUNDED_STRING => DynamicElement::String(Some(*string_capacity)),
        type_id::WSTRING => DynamicElement::WString(None),
        type_id::BOUNDED_WSTRING => DynamicElement::WString(Some(*string_capacity)),
        id => match primitive(id) {
            Some(primitive) => DynamicElement::Scalar(primitive),
            None => {
                return Err(format!("its type has number {type_id}, which is none of a message definition"));
            }
        },
    };
    Ok((element, shape))
}

fn primitive(id: u8) -> Option<Primitive> {
    Some(match id {
        type_id::INT8 => Primitive::Int8,
        type_id::UINT8 => Primitive::Uint8,
        type_id::INT16 => Primitive::Int16,
        type_id::UINT16 => Primitive::Uint16,
        type_id::INT32 => Primitive::Int32,
        type_id::UINT32 => Primitive::Uint32,
        type_id::INT64 => Primitive::Int64,
        type_id::UINT64 => Primitive::Uint64,
        type_id::FLOAT => Primitive::Float32,
        type_id::DOUBLE => Primitive::Float64,
        type_id::CHAR => Primitive::Char,
        type_id::BOOLEAN => Primitive::Bool,
        type_id::BYTE => Primitive::Byte,
        _ => return None,
    })
}

/// Measures each type after the types in it, and detects types that contain themselves.
struct Measuring {
    /// Sizes of the measured types.
    sizes: Vec<Option<Size>>,
    /// The types being measured, from the outermost to the innermost. [`MAX_DEPTH`] ends the
    /// recursion.
    path: Vec<usize>,
}

impl Measuring {
    fn measure(&mut self, structures: &mut [DynamicStructure], index: usize) -> Result<Size, TypeError> {
        if let Some(size) = self.sizes[index] {
            return Ok(size);
        }
        let name = || structures[index].name.clone();
        if self.path.contains(&index) {
            return Err(TypeError::Recursive { name: name() });
        }
        if self.path.len() == MAX_DEPTH {
            return Err(TypeError::TooDeep { name: name(), limit: MAX_DEPTH });
        }
        self.path.push(index);
        let mut total = Size::default();
        for field in 0..structures[index].fields.len() {
            let DynamicField { element, shape, .. } = structures[index].fields[field];
            let one = match element {
                DynamicElement::Structure(inside) => self.measure(structures, inside)?,
                element => Size { least: least(element, |_| 0), values: 1, depth: 0 },
            };
            let (least, values) = match shape {
                Shape::Single => (one.least, one.values),
                Shape::Array(count) => {
                    let count = usize::try_from(count).unwrap_or(usize::MAX);
                    let is_scalar = matches!(element, DynamicElement::Scalar(_));
                    let values = if is_scalar { 1 } else { one.values.saturating_mul(count) };
                    (one.least.saturating_mul(count), values)
                }
                Shape::BoundedSequence(_) | Shape::Sequence => (4, 1),
            };
            total.least = total.least.saturating_add(least);
            total.values = total.values.saturating_add(values);
            total.depth = total.depth.max(one.depth);
        }
        total.least = total.least.max(1); // a type without fields is one byte
        total.values = total.values.saturating_add(1);
        total.depth += 1;
        if total.depth > MAX_DEPTH {
            return Err(TypeError::TooDeep { name: structures[index].name.clone(), limit: MAX_DEPTH });
        }
        if total.least > MAX_LEAST || total.values > MAX_VALUES {
            return Err(TypeError::TooLarge { name: structures[index].name.clone() });
        }
        self.path.pop();
        self.sizes[index] = Some(total);
        structures[index].size = total;
        Ok(total)
    }
}
