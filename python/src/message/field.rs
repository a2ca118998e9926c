//! The value of a field: checked when it is assigned, and written when its message is encoded.

use super::class::{Element, Field, extent, width};
use super::numbers::{self, Numbers};
use super::output::{Length, Output};
use super::value::array_of;
use super::wrong::Wrong;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use sinew_msg::definition::{Primitive, Shape};

/// Converts a value to the one that the field will have.
///
/// Arrays that have numbers of the right type stay as they are, without a copy; lists of numbers
/// become an `array.array`. Lists of others stay lists, whose elements are checked once more when
/// the message is encoded.
pub(super) fn accept<'py>(field: &Field, value: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Wrong> {
    if matches!(field.shape, Shape::Single) {
        return accept_element(&field.element, value);
    }
    let accepted = match &field.element {
        Element::Number(primitive) => accept_numbers(*primitive, value)?,
        element => {
            if value.is_instance_of::<PyString>() {
                return Err(Wrong::sequence(value)); // not one of its characters
            }
            let list = PyList::empty(value.py());
            for (index, one) in value.try_iter().map_err(|_| Wrong::sequence(value))?.enumerate() {
                let one = accept_element(element, &one.map_err(Wrong::Raised)?);
                list.append(one.map_err(|wrong| wrong.at(index))?).map_err(Wrong::Raised)?;
            }
            // The very list, unless elements were converted, so that it can be changed later.
            if value.is_exact_instance_of::<PyList>() && same_elements(value, &list) {
                value.clone()
            } else {
                list.into_any()
            }
        }
    };
    check_count(field, count(field, &accepted)?)?;
    Ok(accepted)
}

fn same_elements(value: &Bound<'_, PyAny>, list: &Bound<'_, PyList>) -> bool {
    let Ok(value) = value.cast::<PyList>() else { return false };
    value.len() == list.len() && value.iter().zip(list.iter()).all(|(one, other)| one.is(&other))
}

fn accept_numbers<'py>(primitive: Primitive, value: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Wrong> {
    if Numbers::of(value, primitive).is_some() {
        return Ok(value.clone());
    }
    if value.is_instance_of::<PyString>() {
        return Err(Wrong::sequence(value));
    }
    array_of(value, primitive).map_err(|error| {
        let py = value.py();
        if !error.is_instance_of::<PyTypeError>(py) && !error.is_instance_of::<PyOverflowError>(py) {
            return Wrong::Raised(error);
        }
        // Find the element, for its index and a sentence.
        match numbers::write(value, primitive, &mut Length(0), |_, _| Ok(())) {
            Err(wrong) => wrong,
            Ok(()) => Wrong::Raised(error),
        }
    })
}

fn accept_element<'py>(element: &Element, value: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Wrong> {
    match element {
        Element::Number(primitive) => numbers::accept(value, *primitive),
        Element::Text(bound) | Element::WideText(bound) => {
            let text = value.cast::<PyString>().map_err(|_| Wrong::other(value, "a str"))?;
            check_bound(text, *bound)?;
            Ok(value.clone())
        }
        Element::Message(class) => {
            if class.message_in(value).is_some() {
                return Ok(value.clone());
            }
            // A time or duration of a clock.
            if class.name().starts_with("builtin_interfaces/")
                && let Ok(converted) = value.call_method0(intern!(value.py(), "to_msg"))
            {
                return accept_element(element, &converted);
            }
            Err(Wrong::other(value, class.name()))
        }
    }
}

fn check_bound(text: &Bound<'_, PyString>, bound: Option<usize>) -> Result<(), Wrong> {
    match (bound, text.len().map_err(Wrong::Raised)?) {
        (Some(bound), count) if count > bound => {
            Err(Wrong::count(count, "characters", format!("at most {bound}")))
        }
        _ => Ok(()),
    }
}

/// Returns the number of elements of a field's value.
fn count(field: &Field, value: &Bound<'_, PyAny>) -> Result<usize, Wrong> {
    match field.element {
        Element::Number(primitive) => numbers::count(value, primitive),
        _ => value.len().map_err(|_| Wrong::sequence(value)),
    }
}

pub(super) fn check_count(field: &Field, count: usize) -> Result<(), Wrong> {
    match field.shape {
        Shape::Array(size) if count != extent(size) => Err(Wrong::count(count, "elements", size)),
        Shape::BoundedSequence(bound) if count > extent(bound) => {
            Err(Wrong::count(count, "elements", format!("at most {bound}")))
        }
        _ if u32::try_from(count).is_err() => {
            Err(Wrong::count(count, "elements", format!("at most {}", u32::MAX)))
        }
        _ => Ok(()),
    }
}

/// Writes a field's value.
pub(super) fn write<O: Output>(field: &Field, value: &Bound<'_, PyAny>, output: &mut O) -> Result<(), Wrong> {
    if matches!(field.shape, Shape::Single) {
        return write_element(&field.element, value, output);
    }
    let begin = |count: usize, output: &mut O| {
        check_count(field, count)?;
        if !matches!(field.shape, Shape::Array(_)) {
            output.write_length(count);
        }
        Ok(())
    };
    let element = match &field.element {
        Element::Number(primitive) => return numbers::write(value, *primitive, output, begin),
        element => element,
    };
    begin(value.len().map_err(|_| Wrong::sequence(value))?, output)?;
    for (index, one) in value.try_iter().map_err(|_| Wrong::sequence(value))?.enumerate() {
        let one = one.map_err(Wrong::Raised)?;
        write_element(element, &one, output).map_err(|wrong| wrong.at(index))?;
    }
    Ok(())
}

#[inline]
fn write_element(element: &Element, value: &Bound<'_, PyAny>, output: &mut impl Output) -> Result<(), Wrong> {
    match element {
        Element::Number(primitive) => {
            let width = width(*primitive);
            output.align(width);
            output.write(&numbers::bytes_of(value, *primitive)?[..width]);
        }
        Element::Text(bound) => {
            let text = value.cast::<PyString>().map_err(|_| Wrong::other(value, "a str"))?;
            check_bound(text, *bound)?;
            match text.to_str() {
                Ok(text) => write_text(text.as_bytes(), output)?,
                // Bytes that were no UTF-8 when they were received.
                Err(_) => write_text(encoded(text, "utf-8", "surrogateescape")?.as_bytes(), output)?,
            }
        }
        Element::WideText(bound) => {
            let text = value.cast::<PyString>().map_err(|_| Wrong::other(value, "a str"))?;
            check_bound(text, *bound)?;
            let encoded = encoded(text, "utf-16-le", "surrogatepass")?;
            let (units, _) = encoded.as_bytes().as_chunks::<2>();
            output.write_length(units.len());
            units.iter().for_each(|[low, high]| output.write(&[*low, *high, 0, 0]));
        }
        Element::Message(class) => {
            let message = class.message_in(value).ok_or_else(|| Wrong::other(value, class.name()))?;
            message.write(value.py(), output).map_err(Wrong::Raised)?;
        }
    }
    Ok(())
}

fn write_text(text: &[u8], output: &mut impl Output) -> Result<(), Wrong> {
    if text.len() >= extent(u32::MAX) {
        return Err(Wrong::count(text.len(), "bytes", format!("at most {}", u32::MAX - 1)));
    }
    output.write_length(text.len() + 1);
    output.write(text);
    output.write(&[0]);
    Ok(())
}

fn encoded<'py>(
    text: &Bound<'py, PyString>,
    encoding: &str,
    errors: &str,
) -> Result<Bound<'py, PyBytes>, Wrong> {
    let bytes = text.call_method1("encode", (encoding, errors)).map_err(Wrong::Raised)?;
    bytes.cast_into().map_err(|error| Wrong::Raised(error.into()))
}

/// Writes the default of a field that was never touched, if it is zero or empty; otherwise returns
/// `false`: it has to be made first.
#[inline]
pub(super) fn write_default(field: &Field, output: &mut impl Output) -> bool {
    if !field.is_zero() {
        return false;
    }
    match (field.shape, &field.element) {
        (Shape::Single, Element::Number(primitive)) => {
            output.align(width(*primitive));
            output.write(&[0; 8][..width(*primitive)]);
        }
        (Shape::Single, Element::Text(_)) => {
            output.write_length(1);
            output.write(&[0]);
        }
        (Shape::Single, Element::Message(class)) => {
            if class.fields.is_empty() {
                output.write(&[0]);
            }
            class.fields.iter().for_each(|field| _ = write_default(field, output));
        }
        _ => output.write_length(0),
    }
    true
}
