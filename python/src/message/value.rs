//! From the bytes of a received message, or the defaults of a definition, to Python's values.

use super::class::{Class, Element, Field, extent};
use super::object::Source;
use super::reader::{Broken, Reader};
use super::view::{ArrayView, array_over, format};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyList, PyMemoryView, PyString};
use sinew_msg::definition::{Literal, Primitive, Shape};
use std::sync::Arc;

/// The reason why a field has no value.
pub(super) enum Failure {
    Broken(Broken),
    Python(PyErr),
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

type Result<'py> = std::result::Result<Bound<'py, PyAny>, Failure>;

/// Reads a field from a received message.
pub(super) fn read<'py>(
    py: Python<'py>,
    field: &Field,
    reader: &mut Reader<'_>,
    source: &Source,
) -> Result<'py> {
    if matches!(field.shape, Shape::Single) {
        return read_element(py, &field.element, reader, source);
    }
    let count = reader.count(field)?;
    let Element::Number(primitive) = field.element else {
        let list = PyList::empty(py);
        for _ in 0..count {
            list.append(read_element(py, &field.element, reader, source)?)?;
        }
        return Ok(list.into_any());
    };
    let numbers = reader.numbers(primitive, count)?;
    let exporter = if reader.is_native() {
        Bound::new(py, ArrayView::of_received(&source.message, numbers, primitive))?.into_any()
    } else {
        let mut swapped = numbers.to_vec();
        swapped.chunks_exact_mut(super::class::width(primitive)).for_each(<[u8]>::reverse);
        PyBytes::new(py, &swapped).into_any()
    };
    let array = array_over(&exporter, primitive, count)?;
    Ok(if source.copies { own(&array, primitive)? } else { array })
}

/// Returns a writable copy of a numpy array, or of a `memoryview`.
fn own<'py>(array: &Bound<'py, PyAny>, primitive: Primitive) -> PyResult<Bound<'py, PyAny>> {
    if is_memoryview(array) { of_memoryview(array, primitive) } else { array.call_method0("copy") }
}

pub(super) fn is_memoryview(array: &Bound<'_, PyAny>) -> bool {
    array.is_instance_of::<PyMemoryView>()
}

/// Returns an array with a copy of the numbers of a `memoryview`, which has no copies of its own.
pub(super) fn of_memoryview<'py>(
    view: &Bound<'py, PyAny>,
    primitive: Primitive,
) -> PyResult<Bound<'py, PyAny>> {
    array_of(&view.call_method0("tobytes")?, primitive) // all at once: bytes are taken as they lie
}

fn read_element<'py>(
    py: Python<'py>,
    element: &Element,
    reader: &mut Reader<'_>,
    source: &Source,
) -> Result<'py> {
    match element {
        Element::Number(primitive) => Ok(number(py, *primitive, reader.number(*primitive)?)),
        Element::Text(bound) => {
            let text = text(py, reader.text()?)?;
            check_bound(&text, *bound)?;
            Ok(text.into_any())
        }
        Element::WideText(bound) => {
            let text = wide_text(py, &reader.wide_text()?)?;
            check_bound(&text, *bound)?;
            Ok(text.into_any())
        }
        Element::Message(class) => {
            let start = reader.position();
            reader.skip_message(class)?;
            Ok(class.over(py, Source { start, ..source.clone() })?)
        }
    }
}

fn check_bound(text: &Bound<'_, PyString>, bound: Option<usize>) -> std::result::Result<(), Failure> {
    match (bound, text.len()?) {
        (Some(bound), count) if count > bound => Err(Broken::Bound { count, bound }.into()),
        _ => Ok(()),
    }
}

/// Returns the value of a number's bytes in this machine's order. The bool was checked.
pub(super) fn number<'py>(py: Python<'py>, primitive: Primitive, all: [u8; 8]) -> Bound<'py, PyAny> {
    let [a, b, c, d, ..] = all;
    match primitive {
        Primitive::Bool => PyBool::new(py, a != 0).to_owned().into_any(),
        Primitive::Byte => PyBytes::new(py, &[a]).into_any(),
        Primitive::Char | Primitive::Uint8 => integer(py, a.into()),
        Primitive::Int8 => integer(py, i8::from_ne_bytes([a]).into()),
        Primitive::Int16 => integer(py, i16::from_ne_bytes([a, b]).into()),
        Primitive::Uint16 => integer(py, u16::from_ne_bytes([a, b]).into()),
        Primitive::Int32 => integer(py, i32::from_ne_bytes([a, b, c, d]).into()),
        Primitive::Uint32 => integer(py, u32::from_ne_bytes([a, b, c, d]).into()),
        Primitive::Int64 => integer(py, i64::from_ne_bytes(all)),
        Primitive::Uint64 => PyInt::new(py, u64::from_ne_bytes(all)).into_any(),
        Primitive::Float32 => PyFloat::new(py, f32::from_ne_bytes([a, b, c, d]).into()).into_any(),
        Primitive::Float64 => PyFloat::new(py, f64::from_ne_bytes(all)).into_any(),
    }
}

fn integer(py: Python<'_>, value: i64) -> Bound<'_, PyAny> {
    PyInt::new(py, value).into_any()
}

/// Decodes UTF-8. A byte that is not becomes a lone surrogate, so that encoding gives it back.
fn text<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyString>> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(PyString::new(py, text));
    }
    let decoded = PyBytes::new(py, bytes).call_method1("decode", ("utf-8", "surrogateescape"))?;
    Ok(decoded.cast_into()?)
}

fn wide_text<'py>(py: Python<'py>, units: &[u16]) -> PyResult<Bound<'py, PyString>> {
    let bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let decoded = PyBytes::new(py, &bytes).call_method1("decode", ("utf-16-le", "surrogatepass"))?;
    Ok(decoded.cast_into()?)
}

/// Returns the default value of a field: of the definition, or zero or empty.
pub(super) fn default<'py>(py: Python<'py>, field: &Field) -> PyResult<Bound<'py, PyAny>> {
    let count = match (field.shape, &field.default) {
        (Shape::Single, Some(literal)) => return constant(py, &field.element, literal),
        (Shape::Single, None) => return default_element(py, &field.element),
        (_, Some(Literal::Sequence(literals))) => {
            let number = match &field.element {
                Element::Number(Primitive::Byte) => Some(Primitive::Uint8), // as in other arrays of bytes
                Element::Number(primitive) => Some(*primitive),
                _ => None,
            };
            let in_array = number.map(Element::Number);
            let element = in_array.as_ref().unwrap_or(&field.element);
            let values = literals.iter().map(|literal| constant(py, element, literal));
            let list = PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?;
            return number
                .map_or_else(|| Ok(list.clone().into_any()), |primitive| array_of(&list, primitive));
        }
        (Shape::Array(count), _) => extent(count),
        _ => 0,
    };
    match &field.element {
        Element::Number(primitive) => {
            let list = PyList::new(py, vec![0; count])?;
            array_of(&list, *primitive)
        }
        element => {
            let values = (0..count).map(|_| default_element(py, element));
            Ok(PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?.into_any())
        }
    }
}

fn default_element<'py>(py: Python<'py>, element: &Element) -> PyResult<Bound<'py, PyAny>> {
    match element {
        Element::Number(primitive) => Ok(number(py, *primitive, [0; 8])),
        Element::Text(_) | Element::WideText(_) => Ok(PyString::intern(py, "").into_any()),
        Element::Message(class) => new(py, class),
    }
}

/// Returns a message with the default values of its type.
pub(super) fn new<'py>(py: Python<'py>, class: &Arc<Class>) -> PyResult<Bound<'py, PyAny>> {
    class.python(py)?.bind(py).call0()
}

/// Returns the value of a constant or default, which fits its type.
pub(super) fn constant<'py>(
    py: Python<'py>,
    element: &Element,
    literal: &Literal,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match (literal, element) {
        (Literal::Bool(value), _) => PyBool::new(py, *value).to_owned().into_any(),
        (Literal::Integer(value), Element::Number(Primitive::Byte)) => {
            PyBytes::new(py, &[u8::try_from(*value).unwrap_or_default()]).into_any()
        }
        (Literal::Integer(value), Element::Number(Primitive::Float32 | Primitive::Float64)) => {
            PyInt::new(py, *value).call_method0("__float__")?
        }
        (Literal::Integer(value), _) => PyInt::new(py, *value).into_any(),
        // As it will be received: `float32` has fewer digits.
        (Literal::Float(value), Element::Number(Primitive::Float32)) => {
            #[expect(clippy::cast_possible_truncation, reason = "rounding is what is wanted")]
            let rounded = *value as f32;
            PyFloat::new(py, rounded.into()).into_any()
        }
        (Literal::Float(value), _) => PyFloat::new(py, *value).into_any(),
        (Literal::String(value), _) => PyString::new(py, value).into_any(),
        (Literal::Sequence(values), _) => {
            let values = values.iter().map(|value| constant(py, element, value));
            PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
    })
}

/// Returns an `array.array` of these numbers, or of the bytes of such numbers; a list of bools, for
/// which there is none.
///
/// # Errors
/// Python's, if one is no such number or is out of range.
pub(super) fn array_of<'py>(
    numbers: &Bound<'py, PyAny>,
    primitive: Primitive,
) -> PyResult<Bound<'py, PyAny>> {
    static ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = numbers.py();
    if primitive == Primitive::Bool {
        let bools = numbers.try_iter()?.map(|number| Ok(PyBool::new(py, number?.is_truthy()?).to_owned()));
        return Ok(PyList::new(py, bools.collect::<PyResult<Vec<_>>>()?)?.into_any());
    }
    let array = ARRAY.get_or_try_init(py, || py.import("array")?.getattr("array").map(Bound::unbind))?;
    array.bind(py).call1((format(primitive).to_str().unwrap_or_default(), numbers))
}
