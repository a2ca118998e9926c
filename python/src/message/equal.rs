//! Whether messages are equal.

use super::class::{Class, Element, Field, width};
use super::numbers;
use super::object::PyMessage;
use super::output::Output;
use pyo3::prelude::*;
use sinew_msg::definition::{Primitive, Shape};
use std::sync::Arc;

/// Bytes that are collected.
struct Collected(Vec<u8>);

impl Output for Collected {
    fn align(&mut self, _: usize) {}

    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn reserve(&mut self, _: usize) -> usize {
        0
    }
}

/// Returns whether two messages have one type and equal fields. Numbers are compared as numbers: a
/// NaN differs from itself.
pub(super) fn equal(py: Python<'_>, one: &PyMessage, other: &PyMessage) -> PyResult<bool> {
    let class: &Class = one.class();
    if !Arc::ptr_eq(one.class(), other.class()) {
        return Ok(false);
    }
    for (index, field) in class.fields.iter().enumerate() {
        let (a, b) = (one.value(py, index)?, other.value(py, index)?);
        let is_equal = match (field.shape, &field.element) {
            (Shape::Single, _) => a.eq(b)?,
            (_, Element::Number(primitive)) => equal_numbers(field, *primitive, [&a, &b], class)?,
            _ => a.eq(b)?,
        };
        if !is_equal {
            return Ok(false);
        }
    }
    Ok(true)
}

fn equal_numbers(
    field: &Field,
    primitive: Primitive,
    values: [&Bound<'_, PyAny>; 2],
    class: &Class,
) -> PyResult<bool> {
    let mut collected = [Collected(Vec::new()), Collected(Vec::new())];
    for (value, collected) in values.into_iter().zip(&mut collected) {
        numbers::write(value, primitive, collected, |_, _| Ok(()))
            .map_err(|wrong| wrong.of(class, &field.name))?;
    }
    let [Collected(a), Collected(b)] = collected;
    if a.len() != b.len() {
        return Ok(false);
    }
    let pairs = || a.chunks_exact(width(primitive)).zip(b.chunks_exact(width(primitive)));
    Ok(match primitive {
        Primitive::Float32 => pairs().all(|(a, b)| float32(a) == float32(b)),
        Primitive::Float64 => pairs().all(|(a, b)| float64(a) == float64(b)),
        _ => a == b,
    })
}

fn float32(bytes: &[u8]) -> f32 {
    f32::from_ne_bytes(bytes.try_into().unwrap_or_default())
}

fn float64(bytes: &[u8]) -> f64 {
    f64::from_ne_bytes(bytes.try_into().unwrap_or_default())
}
