//! The type of a message: its fields as the encoding and Python's classes need them.

use super::sources::Unusable;
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};
use sinew::erased::MessageType;
use sinew::msg::GenericType;
use sinew_msg::TypeHash;
use sinew_msg::definition::{Constant, ElementType, Interface, Interfaces, Literal, Primitive, Shape};
use sinew_msg::description::{
    FieldTypeDescription, IndividualTypeDescription, PLACEHOLDER, TypeDescription, type_id,
};
use sinew_msg::dynamic;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, LazyLock, OnceLock};

/// A message type. There is one for each name and hash in a process.
pub(crate) struct Class {
    pub(super) fields: Vec<Field>,
    pub(super) constants: Vec<Constant>,
    pub(super) documentation: String,
    description: TypeDescription,
    hash: TypeHash,
    /// Minimum length of an encoded message in bytes, at least 1. Padding isn't counted.
    pub(super) least: usize,
    /// Whether the defaults of all fields are zero or empty.
    is_zero: bool,
    /// Whether its fields have the defaults of a definition, which no description has.
    is_defined: bool,
    known: OnceLock<MessageType>,
    pub(super) python: PyOnceLock<Py<PyType>>,
}

/// A field of a message.
pub(super) struct Field {
    pub(super) name: String,
    pub(super) element: Element,
    pub(super) shape: Shape,
    pub(super) default: Option<Literal>,
    /// The comment of the definition; empty if there is none.
    pub(super) documentation: String,
    /// The name as Python's interned text.
    pub(super) interned: PyOnceLock<Py<PyString>>,
}

/// The type of a field, or of each of its elements.
pub(super) enum Element {
    Number(Primitive),
    /// With the maximum number of characters.
    Text(Option<usize>),
    WideText(Option<usize>),
    Message(Arc<Class>),
}

/// All types that were used so far.
type Classes = HashMap<(String, TypeHash), Arc<Class>>;

static CLASSES: LazyLock<Mutex<Classes>> = LazyLock::new(Mutex::default);

impl Class {
    /// Returns the type with this description. `interfaces` has the definitions of the type, if it
    /// was defined and not seen in another process.
    ///
    /// # Errors
    /// The description contradicts itself, or exceeds a limit.
    pub(super) fn of(
        description: TypeDescription,
        interfaces: Option<&Interfaces>,
    ) -> Result<Arc<Self>, Unusable> {
        dynamic::MessageType::new(&description)?; // it is finite, and all of its types are there
        Ok(Self::of_checked(description, interfaces))
    }

    fn of_checked(description: TypeDescription, interfaces: Option<&Interfaces>) -> Arc<Self> {
        let hash = description.hash();
        let key = (description.type_description.type_name.clone(), hash);
        let is_defined = interfaces.is_some();
        if let Some(class) = CLASSES.lock().get(&key)
            && (class.is_defined || !is_defined)
        {
            return Arc::clone(class);
        }
        let all: BTreeMap<&str, &IndividualTypeDescription> = description
            .referenced_type_descriptions
            .iter()
            .map(|one| (one.type_name.as_str(), one))
            .collect();
        let interface = key.0.parse().ok().and_then(|name| interfaces?.find(&name));
        let described = description.type_description.fields.iter().filter(|field| field.name != PLACEHOLDER);
        let fields = described.enumerate().map(|(index, field)| {
            let (element, shape) =
                element(&field.field_type, |nested| Self::of_checked(inside(&all, nested), interfaces));
            let defined = interface.and_then(|interface| interface.fields.get(index));
            Field {
                name: field.name.clone(),
                element,
                shape,
                default: defined.and_then(|defined| defined.default.clone()),
                documentation: defined.map(|defined| defined.documentation.clone()).unwrap_or_default(),
                interned: PyOnceLock::new(),
            }
        });
        let fields: Vec<Field> = fields.collect();
        let least = fields.iter().map(Field::least).fold(0, usize::saturating_add).max(1);
        let (constants, documentation) = interface.map(kept).unwrap_or_default();
        let (known, python) = (OnceLock::new(), PyOnceLock::new());
        let is_zero = fields.iter().all(Field::is_zero);
        let class = Arc::new(Self {
            is_zero,
            fields,
            constants,
            documentation,
            description,
            hash,
            least,
            is_defined,
            known,
            python,
        });
        let mut classes = CLASSES.lock();
        match classes.get(&key) {
            // Another thread was faster: there is one class for all.
            Some(known) if known.is_defined || !is_defined => Arc::clone(known),
            _ => {
                classes.insert(key, Arc::clone(&class));
                class
            }
        }
    }

    /// Returns the full name, e.g. `sensor_msgs/msg/Image`.
    pub(crate) fn name(&self) -> &str {
        &self.description.type_description.type_name
    }

    /// Returns the RIHS01 hash of its description.
    pub(crate) fn hash(&self) -> TypeHash {
        self.hash
    }

    pub(crate) fn description(&self) -> &TypeDescription {
        &self.description
    }

    /// Returns the library's type of these messages, which are encoded bytes to it.
    ///
    /// # Errors
    /// There are too many types in this process.
    pub(crate) fn message_type(&self) -> Result<MessageType, Unusable> {
        if let Some(known) = self.known.get() {
            return Ok(*known);
        }
        let known = MessageType::known(GenericType::described(self.description.clone())?);
        Ok(*self.known.get_or_init(|| known))
    }

    pub(super) fn index_of(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }
}

impl Field {
    /// Returns the name as Python's interned text.
    pub(super) fn interned<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        self.interned.get_or_init(py, || PyString::intern(py, &self.name).unbind()).bind(py)
    }

    fn least(&self) -> usize {
        match self.shape {
            Shape::Single => self.element.least(),
            Shape::Array(count) => self.element.least().saturating_mul(extent(count)),
            Shape::Sequence | Shape::BoundedSequence(_) => 4,
        }
    }

    /// Returns whether its default is zero or empty, and its length fixed.
    pub(super) fn is_zero(&self) -> bool {
        let is_zero = match (self.shape, &self.element) {
            (Shape::Array(_), _) => false,
            (Shape::Single, Element::Message(class)) => class.is_zero,
            _ => true,
        };
        is_zero && self.default.is_none()
    }

    /// Returns the type as in a definition, with the package: `geometry_msgs/Point[3]`.
    pub(super) fn shown(&self) -> String {
        let element = match &self.element {
            Element::Number(primitive) => primitive.name().to_owned(),
            Element::Text(None) => "string".to_owned(),
            Element::Text(Some(bound)) => format!("string<{bound}>"),
            Element::WideText(None) => "wstring".to_owned(),
            Element::WideText(Some(bound)) => format!("wstring<{bound}>"),
            Element::Message(class) => class.name().replacen("/msg/", "/", 1),
        };
        match self.shape {
            Shape::Single => element,
            Shape::Array(count) => format!("{element}[{count}]"),
            Shape::BoundedSequence(bound) => format!("sequence<{element}, {bound}>"),
            Shape::Sequence => format!("sequence<{element}>"),
        }
    }
}

impl Element {
    /// Returns the minimum encoded length in bytes, at least 1. Padding isn't counted.
    pub(super) fn least(&self) -> usize {
        match self {
            Self::Number(primitive) => width(*primitive),
            Self::Text(_) | Self::WideText(_) => 4, // some writers leave out the NUL of an empty string
            Self::Message(class) => class.least,
        }
    }
}

/// Returns the size of a number in bytes, which is its alignment.
pub(super) const fn width(primitive: Primitive) -> usize {
    match primitive {
        Primitive::Bool | Primitive::Byte | Primitive::Char | Primitive::Int8 | Primitive::Uint8 => 1,
        Primitive::Int16 | Primitive::Uint16 => 2,
        Primitive::Int32 | Primitive::Uint32 | Primitive::Float32 => 4,
        Primitive::Int64 | Primitive::Uint64 | Primitive::Float64 => 8,
    }
}

/// Returns a number of elements as a size in memory.
pub(super) fn extent(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn kept(interface: &Interface) -> (Vec<Constant>, String) {
    (interface.constants.clone(), interface.documentation.clone())
}

/// Returns the description of a type inside another one, with the types that it needs.
fn inside(all: &BTreeMap<&str, &IndividualTypeDescription>, name: &str) -> TypeDescription {
    let (mut needed, mut unseen) = (BTreeSet::new(), vec![name]);
    while let Some(one) = unseen.pop() {
        let fields = all.get(one).into_iter().flat_map(|description| &description.fields);
        let nested = fields.map(|field| field.field_type.nested_type_name.as_str());
        unseen.extend(nested.filter(|nested| !nested.is_empty() && needed.insert(*nested)));
    }
    let found = |name: &str| all.get(name).map(|&one| one.clone());
    TypeDescription {
        type_description: found(name).unwrap_or_default(), // it is there: the whole was checked
        referenced_type_descriptions: needed.into_iter().filter_map(found).collect(),
    }
}

/// Returns the parts of a field's type, which was checked.
fn element(described: &FieldTypeDescription, class: impl Fn(&str) -> Arc<Class>) -> (Element, Shape) {
    let FieldTypeDescription { type_id, capacity, string_capacity, nested_type_name } = described;
    let capacity = u32::try_from(*capacity).unwrap_or(u32::MAX);
    let (base, shape) = match *type_id {
        id @ 0..=type_id::ARRAY => (id, Shape::Single),
        id @ ..=type_id::BOUNDED_SEQUENCE => (id - type_id::ARRAY, Shape::Array(capacity)),
        id @ ..=type_id::SEQUENCE => (id - type_id::BOUNDED_SEQUENCE, Shape::BoundedSequence(capacity)),
        id => (id - type_id::SEQUENCE, Shape::Sequence),
    };
    let bound = Some(usize::try_from(*string_capacity).unwrap_or(usize::MAX));
    let element = match base {
        type_id::NESTED => Element::Message(class(nested_type_name)),
        type_id::STRING => Element::Text(None),
        type_id::BOUNDED_STRING => Element::Text(bound),
        type_id::WSTRING => Element::WideText(None),
        type_id::BOUNDED_WSTRING => Element::WideText(bound),
        type_id::INT8 => Element::Number(Primitive::Int8),
        type_id::INT16 => Element::Number(Primitive::Int16),
        type_id::UINT16 => Element::Number(Primitive::Uint16),
        type_id::INT32 => Element::Number(Primitive::Int32),
        type_id::UINT32 => Element::Number(Primitive::Uint32),
        type_id::INT64 => Element::Number(Primitive::Int64),
        type_id::UINT64 => Element::Number(Primitive::Uint64),
        type_id::FLOAT => Element::Number(Primitive::Float32),
        type_id::DOUBLE => Element::Number(Primitive::Float64),
        type_id::BOOLEAN => Element::Number(Primitive::Bool),
        type_id::BYTE => Element::Number(Primitive::Byte),
        // `char` has the number of `uint8` in descriptions; all others were refused.
        _ => Element::Number(Primitive::Uint8),
    };
    (element, shape)
}

/// Returns the type of a constant.
pub(super) fn constant_element(constant: &Constant) -> Element {
    match &constant.element {
        ElementType::Primitive(primitive) => Element::Number(*primitive),
        _ => Element::Text(None), // the others are no types of constants
    }
}
