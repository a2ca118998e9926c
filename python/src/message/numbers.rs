//! Numbers of Python: checked, and as bytes.

use super::class::width;
use super::output::Output;
use super::wrong::Wrong;
use pyo3::exceptions::PyOverflowError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt};
use sinew_msg::definition::Primitive;
use std::ffi::CStr;
use std::slice;

/// Converts a value to Python's own type for a number of this type: `float`, `int`, `bool`, and
/// `bytes` of length 1 for a `byte`.
pub(super) fn accept<'py>(
    value: &Bound<'py, PyAny>,
    primitive: Primitive,
) -> Result<Bound<'py, PyAny>, Wrong> {
    let py = value.py();
    let all = bytes_of(value, primitive)?;
    let is_exact = match primitive {
        Primitive::Float32 | Primitive::Float64 => value.is_exact_instance_of::<PyFloat>(),
        Primitive::Bool => value.is_exact_instance_of::<PyBool>(),
        Primitive::Byte => value.is_exact_instance_of::<PyBytes>(),
        _ => value.is_exact_instance_of::<PyInt>(),
    };
    if is_exact {
        return Ok(value.clone());
    }
    Ok(match primitive {
        Primitive::Float64 => PyFloat::new(py, f64::from_ne_bytes(all)).into_any(),
        Primitive::Float32 => {
            // Not rounded: it may be read again before it is published.
            let float = value.extract::<f64>().map_err(|_| Wrong::kind(value, primitive))?;
            PyFloat::new(py, float).into_any()
        }
        _ => super::value::number(py, primitive, all),
    })
}

/// Returns a number as its bytes in this machine's order; the others are 0.
#[inline]
pub(super) fn bytes_of(value: &Bound<'_, PyAny>, primitive: Primitive) -> Result<[u8; 8], Wrong> {
    match primitive {
        Primitive::Float64 => Ok(float(value, primitive)?.to_ne_bytes()),
        Primitive::Float32 => {
            let wide = float(value, primitive)?;
            #[expect(clippy::cast_possible_truncation, reason = "rounding is what is wanted")]
            let rounded = wide as f32;
            if rounded.is_infinite() && wide.is_finite() {
                return Err(Wrong::range(value, primitive));
            }
            Ok(padded(rounded.to_ne_bytes()))
        }
        Primitive::Bool => {
            let is_true = value.extract::<bool>().map_err(|_| Wrong::kind(value, primitive))?;
            Ok(padded([u8::from(is_true)]))
        }
        Primitive::Uint64 => match value.extract::<u64>() {
            Ok(integer) => Ok(integer.to_ne_bytes()),
            Err(error) => Err(integer_error(value, primitive, &error)),
        },
        Primitive::Byte => match value.cast::<PyBytes>() {
            Ok(bytes) => match bytes.as_bytes() {
                &[byte] => Ok(padded([byte])),
                _ => Err(Wrong::range(value, primitive)),
            },
            Err(_) => narrow::<u8, 1>(value, primitive, u8::to_ne_bytes),
        },
        Primitive::Char | Primitive::Uint8 => narrow::<u8, 1>(value, primitive, u8::to_ne_bytes),
        Primitive::Int8 => narrow::<i8, 1>(value, primitive, i8::to_ne_bytes),
        Primitive::Int16 => narrow::<i16, 2>(value, primitive, i16::to_ne_bytes),
        Primitive::Uint16 => narrow::<u16, 2>(value, primitive, u16::to_ne_bytes),
        Primitive::Int32 => narrow::<i32, 4>(value, primitive, i32::to_ne_bytes),
        Primitive::Uint32 => narrow::<u32, 4>(value, primitive, u32::to_ne_bytes),
        Primitive::Int64 => narrow::<i64, 8>(value, primitive, i64::to_ne_bytes),
    }
}

fn padded<const N: usize>(bytes: [u8; N]) -> [u8; 8] {
    let mut all = [0; 8];
    all[..N].copy_from_slice(&bytes);
    all
}

#[inline]
fn float(value: &Bound<'_, PyAny>, primitive: Primitive) -> Result<f64, Wrong> {
    value.extract::<f64>().map_err(|_| Wrong::kind(value, primitive))
}

#[inline]
fn narrow<T: TryFrom<i64>, const N: usize>(
    value: &Bound<'_, PyAny>,
    primitive: Primitive,
    bytes: impl Fn(T) -> [u8; N],
) -> Result<[u8; 8], Wrong> {
    let wide = value.extract::<i64>().map_err(|error| integer_error(value, primitive, &error))?;
    T::try_from(wide).map(|one| padded(bytes(one))).map_err(|_| Wrong::range(value, primitive))
}

#[cold]
fn integer_error(value: &Bound<'_, PyAny>, primitive: Primitive, error: &PyErr) -> Wrong {
    if error.is_instance_of::<PyOverflowError>(value.py()) {
        Wrong::range(value, primitive)
    } else {
        Wrong::kind(value, primitive)
    }
}

/// A buffer of Python with numbers of the wanted type, one behind the other.
pub(super) struct Numbers {
    buffer: Box<ffi::Py_buffer>,
}

impl Numbers {
    /// Returns the numbers of an object with a buffer; `None` if it has none, or one of another
    /// type, or with gaps.
    pub(super) fn of(value: &Bound<'_, PyAny>, primitive: Primitive) -> Option<Self> {
        let mut buffer = Box::new(ffi::Py_buffer::new());
        // SAFETY: an object of Python.
        if unsafe { ffi::PyObject_CheckBuffer(value.as_ptr()) } == 0 {
            return None;
        }
        let flags = ffi::PyBUF_FORMAT | ffi::PyBUF_C_CONTIGUOUS;
        // SAFETY: the buffer stays at its place until it is released.
        if unsafe { ffi::PyObject_GetBuffer(value.as_ptr(), &raw mut *buffer, flags) } != 0 {
            drop(PyErr::take(value.py())); // it has gaps: its elements are taken one by one
            return None;
        }
        let this = Self { buffer };
        this.is_of(primitive).then_some(this)
    }

    fn is_of(&self, primitive: Primitive) -> bool {
        let format = if self.buffer.format.is_null() {
            c"B"
        } else {
            // SAFETY: the format of a buffer is a string that ends, and lasts as long as the buffer.
            unsafe { CStr::from_ptr(self.buffer.format) }
        };
        let code = match format.to_bytes() {
            [code] | [b'@' | b'=', code] => *code,
            [b'<', code] if cfg!(target_endian = "little") => *code,
            _ => return false,
        };
        let fits: &[u8] = match primitive {
            Primitive::Bool => b"?",
            Primitive::Float32 | Primitive::Float64 => b"fd",
            Primitive::Int8 | Primitive::Int16 | Primitive::Int32 | Primitive::Int64 => b"bhilqn",
            _ => b"BHILQNc",
        };
        fits.contains(&code) && usize::try_from(self.buffer.itemsize) == Ok(width(primitive))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        let length = usize::try_from(self.buffer.len).unwrap_or_default();
        if length == 0 {
            return &[];
        }
        // SAFETY: the memory of a C-contiguous buffer, which its exporter keeps until it is
        // released. That no thread of Python writes it meanwhile is the program's part, as for
        // `bytes(buffer)`.
        unsafe { slice::from_raw_parts(self.buffer.buf.cast::<u8>(), length) }
    }
}

impl Drop for Numbers {
    fn drop(&mut self) {
        // SAFETY: from `PyObject_GetBuffer`; a `Numbers` lives only while Python is attached, since
        // it isn't `Send` and no function here that has one detaches.
        unsafe { ffi::PyBuffer_Release(&raw mut *self.buffer) };
    }
}

/// Returns the number of numbers in a field's value.
pub(super) fn count(value: &Bound<'_, PyAny>, primitive: Primitive) -> Result<usize, Wrong> {
    match Numbers::of(value, primitive) {
        Some(numbers) => Ok(numbers.bytes().len() / width(primitive)),
        None => value.len().map_err(|_| Wrong::sequence(value)),
    }
}

/// Writes the numbers of a field's value, after `begin` has got their count. The buffer of an array
/// is asked for once, since that takes as long as a small message.
pub(super) fn write<O: Output>(
    value: &Bound<'_, PyAny>,
    primitive: Primitive,
    output: &mut O,
    begin: impl FnOnce(usize, &mut O) -> Result<(), Wrong>,
) -> Result<(), Wrong> {
    let width = width(primitive);
    if let Some(numbers) = Numbers::of(value, primitive) {
        let bytes = numbers.bytes();
        begin(bytes.len() / width, output)?;
        if !bytes.is_empty() {
            output.align(width); // an empty sequence has no alignment padding
            output.write(bytes);
        }
        return Ok(());
    }
    begin(value.len().map_err(|_| Wrong::sequence(value))?, output)?;
    let elements = value.try_iter().map_err(|_| Wrong::sequence(value))?;
    for (index, element) in elements.enumerate() {
        let element = element.map_err(Wrong::Raised)?;
        let all = bytes_of(&element, primitive).map_err(|wrong| wrong.at(index))?;
        output.align(width);
        output.write(&all[..width]);
    }
    Ok(())
}
