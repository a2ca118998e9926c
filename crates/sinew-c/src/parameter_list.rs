//! Values of parameters, and lists of them with their names.

use crate::array::{Texts, array, beyond, texts};
use crate::handle::{self, handle};
use crate::status::{Failure, Result, answer, put, sinew_status, status};
use crate::strings::sinew_strings;
use crate::text::{c_text, text};
use parking_lot::Mutex;
use sinew::error::ErrorCode;
use sinew::parameters::{NamedValue, ParameterFile, ParameterType, ParameterValue};
use std::ffi::{CString, c_char, c_int};
use std::ptr;

/// The type of a parameter: `SINEW_PARAMETER_..`. The numbers are those of
/// `rcl_interfaces/msg/ParameterType`.
pub type sinew_parameter_type = c_int;

/// No value.
pub const SINEW_PARAMETER_NOT_SET: sinew_parameter_type = 0;
/// A boolean.
pub const SINEW_PARAMETER_BOOL: sinew_parameter_type = 1;
/// A signed integer of 64 bits.
pub const SINEW_PARAMETER_INTEGER: sinew_parameter_type = 2;
/// A floating-point number of 64 bits.
pub const SINEW_PARAMETER_DOUBLE: sinew_parameter_type = 3;
/// A text.
pub const SINEW_PARAMETER_STRING: sinew_parameter_type = 4;
/// Bytes.
pub const SINEW_PARAMETER_BYTE_ARRAY: sinew_parameter_type = 5;
/// Booleans.
pub const SINEW_PARAMETER_BOOL_ARRAY: sinew_parameter_type = 6;
/// Integers.
pub const SINEW_PARAMETER_INTEGER_ARRAY: sinew_parameter_type = 7;
/// Floating-point numbers.
pub const SINEW_PARAMETER_DOUBLE_ARRAY: sinew_parameter_type = 8;
/// Texts.
pub const SINEW_PARAMETER_STRING_ARRAY: sinew_parameter_type = 9;

/// Returns the type with a number.
pub(crate) fn parameter_type(kind: sinew_parameter_type, argument: &str) -> Result<ParameterType> {
    let known = u8::try_from(kind).ok().and_then(ParameterType::from_number);
    known.ok_or_else(|| Failure::enumerator(argument, kind))
}

/// The value of a parameter: its type, and the field of that type. So `{.kind =
/// SINEW_PARAMETER_DOUBLE, .double_value = 1.5}` is one, and `{.kind =
/// SINEW_PARAMETER_INTEGER_ARRAY, .integer_array = numbers, .length = 3}` is another.
///
/// What a value points to belongs to the caller, if the caller made it; the library copies it. In a
/// value from the library it belongs to the list that the value is from.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_parameter_value {
    /// The type.
    pub kind: sinew_parameter_type,
    /// For `SINEW_PARAMETER_BOOL`.
    pub bool_value: bool,
    /// For `SINEW_PARAMETER_INTEGER`.
    pub integer_value: i64,
    /// For `SINEW_PARAMETER_DOUBLE`.
    pub double_value: f64,
    /// For `SINEW_PARAMETER_STRING`.
    pub string_value: *const c_char,
    /// The number of elements of an array.
    pub length: usize,
    /// For `SINEW_PARAMETER_BYTE_ARRAY`.
    pub byte_array: *const u8,
    /// For `SINEW_PARAMETER_BOOL_ARRAY`.
    pub bool_array: *const bool,
    /// For `SINEW_PARAMETER_INTEGER_ARRAY`.
    pub integer_array: *const i64,
    /// For `SINEW_PARAMETER_DOUBLE_ARRAY`.
    pub double_array: *const f64,
    /// For `SINEW_PARAMETER_STRING_ARRAY`.
    pub string_array: *const *const c_char,
}

impl sinew_parameter_value {
    const NOT_SET: Self = Self {
        kind: SINEW_PARAMETER_NOT_SET,
        bool_value: false,
        integer_value: 0,
        double_value: 0.0,
        string_value: ptr::null(),
        length: 0,
        byte_array: ptr::null(),
        bool_array: ptr::null(),
        integer_array: ptr::null(),
        double_array: ptr::null(),
        string_array: ptr::null(),
    };
}

/// Copies the caller's value.
///
/// # Safety
/// It is null, or a structure with a valid field of its type.
pub(crate) unsafe fn value_of(value: *const sinew_parameter_value) -> Result<ParameterValue> {
    // SAFETY: as the caller says.
    let value = unsafe { value.as_ref() }.ok_or_else(|| Failure::null("value"))?;
    let length = value.length;
    Ok(match parameter_type(value.kind, "kind")? {
        ParameterType::NotSet => ParameterValue::NotSet,
        ParameterType::Bool => ParameterValue::Bool(value.bool_value),
        ParameterType::Integer => ParameterValue::Integer(value.integer_value),
        ParameterType::Double => ParameterValue::Double(value.double_value),
        ParameterType::String => {
            // SAFETY: the caller's text.
            ParameterValue::String(unsafe { text(value.string_value, "string_value") }?.to_owned())
        }
        ParameterType::ByteArray => {
            // SAFETY: the caller's array.
            ParameterValue::ByteArray(unsafe { array(value.byte_array, length, "byte_array") }?.to_vec())
        }
        ParameterType::BoolArray => {
            // SAFETY: the caller's array.
            ParameterValue::BoolArray(unsafe { array(value.bool_array, length, "bool_array") }?.to_vec())
        }
        ParameterType::IntegerArray => {
            // SAFETY: the caller's array.
            let integers = unsafe { array(value.integer_array, length, "integer_array") }?;
            ParameterValue::IntegerArray(integers.to_vec())
        }
        ParameterType::DoubleArray => {
            // SAFETY: the caller's array.
            let doubles = unsafe { array(value.double_array, length, "double_array") }?;
            ParameterValue::DoubleArray(doubles.to_vec())
        }
        ParameterType::StringArray => {
            // SAFETY: the caller's array.
            let texts = unsafe { texts(value.string_array, length, "string_array") }?;
            ParameterValue::StringArray(texts.into_iter().map(str::to_owned).collect())
        }
    })
}

/// Names and values of parameters, in an order. Functions return and take them, and callers make
/// some.
///
/// Any thread may use a list. What it returned is valid until the list is changed or freed.
pub struct sinew_parameter_list {
    _opaque: (),
}
handle!(sinew_parameter_list: Mutex<Vec<Entry>>);

/// A parameter of a list, with the texts of its value as C reads them.
pub(crate) struct Entry {
    name: CString,
    of: NamedValue,
    texts: Texts,
}

impl Entry {
    fn new(of: NamedValue) -> Self {
        let texts = match &of.value {
            ParameterValue::String(text) => Texts::new([text.clone()]),
            ParameterValue::StringArray(texts) => Texts::new(texts.iter().cloned()),
            _ => Texts::default(),
        };
        Self { name: c_text(of.name.clone()), of, texts }
    }

    /// Returns the value for C; what it points to lives as long as this entry, wherever that is
    /// moved.
    fn value(&self) -> sinew_parameter_value {
        let mut value = sinew_parameter_value::NOT_SET;
        value.kind = sinew_parameter_type::from(self.of.value.kind() as u8);
        match &self.of.value {
            ParameterValue::NotSet => {}
            ParameterValue::Bool(one) => value.bool_value = *one,
            ParameterValue::Integer(one) => value.integer_value = *one,
            ParameterValue::Double(one) => value.double_value = *one,
            ParameterValue::String(_) => value.string_value = self.texts.at(0).unwrap_or(ptr::null()),
            ParameterValue::ByteArray(all) => (value.byte_array, value.length) = (all.as_ptr(), all.len()),
            ParameterValue::BoolArray(all) => (value.bool_array, value.length) = (all.as_ptr(), all.len()),
            ParameterValue::IntegerArray(all) => {
                (value.integer_array, value.length) = (all.as_ptr(), all.len())
            }
            ParameterValue::DoubleArray(all) => {
                (value.double_array, value.length) = (all.as_ptr(), all.len())
            }
            ParameterValue::StringArray(all) => {
                (value.string_array, value.length) = (self.texts.pointers(), all.len());
            }
        }
        value
    }
}

/// Returns the list for a handle.
pub(crate) fn list_of(values: impl IntoIterator<Item = NamedValue>) -> Mutex<Vec<Entry>> {
    Mutex::new(values.into_iter().map(Entry::new).collect())
}

/// Copies a list of C.
///
/// # Safety
/// As of [`handle::get`].
pub(crate) unsafe fn values_of(list: *const sinew_parameter_list, argument: &str) -> Result<Vec<NamedValue>> {
    // SAFETY: as the caller says.
    Ok(unsafe { handle::get(list, argument) }?.lock().iter().map(|entry| entry.of.clone()).collect())
}

/// Makes an empty list. The caller frees `*list`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_list_new(
    list: Option<&mut *mut sinew_parameter_list>,
) -> sinew_status {
    status(|| handle::put(list, "list", list_of([])))
}

/// Makes a list of the values that the text of a parameter file, YAML as ROS 2 has it, gives to the
/// node with this full name, in the order of their names. The caller frees `*list`.
///
/// Fails with `SINEW_ERROR_INVALID_PARAMETER_TEXT`, and the line and column in the sentence.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_list_parse(
    file_text: *const c_char,
    node_name: *const c_char,
    list: Option<&mut *mut sinew_parameter_list>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let file_text = unsafe { text(file_text, "file_text") }?;
        // SAFETY: the caller's text.
        let node_name = unsafe { text(node_name, "node_name") }?;
        handle::put(list, "list", list_of(ParameterFile::parse(file_text)?.of(node_name)))
    })
}

/// Gets the names and patterns of nodes in the text of a parameter file, each once and with the
/// first `/`, in their order: `/left/camera`, or one with `*` for any part. The caller frees
/// `*patterns`. Fails as [`sinew_parameter_list_parse`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_file_patterns(
    file_text: *const c_char,
    patterns: Option<&mut *mut sinew_strings>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let file = ParameterFile::parse(unsafe { text(file_text, "file_text") }?)?;
        handle::put(patterns, "patterns", Texts::new(file.patterns()))
    })
}

/// Returns whether one of the [`sinew_parameter_file_patterns`] stands for the node with this full
/// name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_file_pattern_matches(
    pattern: *const c_char,
    node_name: *const c_char,
) -> bool {
    answer(false, || {
        // SAFETY: the caller's text.
        let pattern = unsafe { text(pattern, "pattern") }?;
        // SAFETY: the caller's text.
        Ok(ParameterFile::matches(pattern, unsafe { text(node_name, "node_name") }?))
    })
}

/// Makes a list of the values that stand in the text of a parameter file under one of its
/// [`sinew_parameter_file_patterns`], without those of other patterns. Otherwise as
/// [`sinew_parameter_list_parse`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_list_parse_under(
    file_text: *const c_char,
    pattern: *const c_char,
    list: Option<&mut *mut sinew_parameter_list>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let file_text = unsafe { text(file_text, "file_text") }?;
        // SAFETY: the caller's text.
        let pattern = unsafe { text(pattern, "pattern") }?;
        handle::put(list, "list", list_of(ParameterFile::parse(file_text)?.under(pattern)))
    })
}

/// Frees a list; null is allowed. The list that a callback gets is not the callback's to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_list_free(list: *mut sinew_parameter_list) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(list, "list") };
}

/// Returns the number of parameters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_list_length(list: *const sinew_parameter_list) -> usize {
    // SAFETY: the caller's handle.
    answer(0, || Ok(unsafe { handle::get(list, "list") }?.lock().len()))
}

/// Gets a parameter, counted from 0. `name` and `value` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_list_at(
    list: *const sinew_parameter_list,
    index: usize,
    name: Option<&mut *const c_char>,
    value: Option<&mut sinew_parameter_value>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let list = unsafe { handle::get(list, "list") }?.lock();
        let entry = list.get(index).ok_or_else(|| beyond(index, list.len()))?;
        if let Some(name) = name {
            *name = entry.name.as_ptr();
        }
        if let Some(value) = value {
            *value = entry.value();
        }
        Ok(())
    })
}

/// Gets the value of a parameter by its name. Fails with `SINEW_ERROR_PARAMETER_NOT_DECLARED` if
/// the list doesn't have it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_list_get(
    list: *const sinew_parameter_list,
    name: *const c_char,
    value: Option<&mut sinew_parameter_value>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let name = unsafe { text(name, "name") }?;
        // SAFETY: the caller's handle.
        let list = unsafe { handle::get(list, "list") }?.lock();
        let entry = list.iter().find(|entry| entry.of.name == name);
        let sentence = format_args!("the list has no parameter '{name}'");
        let entry = entry.ok_or_else(|| Failure::new(ErrorCode::ParameterNotDeclared, sentence))?;
        put(value, "value", entry.value())
    })
}

/// Sets a parameter of the list: its value if the list has it, otherwise it is added at the end. No
/// node is changed by that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_list_set(
    list: *mut sinew_parameter_list,
    name: *const c_char,
    value: *const sinew_parameter_value,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let name = unsafe { text(name, "name") }?;
        // SAFETY: the caller's value.
        let value = unsafe { value_of(value) }?;
        // SAFETY: the caller's handle.
        set(unsafe { handle::get(list, "list") }?, NamedValue::new(name, value));
        Ok(())
    })
}

/// Sets a parameter of the list to a value that is written as after `-p NAME:=` on a command line;
/// otherwise as [`sinew_parameter_list_set`]. Fails with `SINEW_ERROR_INVALID_PARAMETER_TEXT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_list_set_text(
    list: *mut sinew_parameter_list,
    name: *const c_char,
    value_text: *const c_char,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let name = unsafe { text(name, "name") }?;
        // SAFETY: the caller's text.
        let value = ParameterFile::value(unsafe { text(value_text, "value_text") }?)?;
        // SAFETY: the caller's handle.
        set(unsafe { handle::get(list, "list") }?, NamedValue::new(name, value));
        Ok(())
    })
}

fn set(list: &Mutex<Vec<Entry>>, value: NamedValue) {
    let mut list = list.lock();
    match list.iter_mut().find(|entry| entry.of.name == value.name) {
        Some(entry) => *entry = Entry::new(value),
        None => list.push(Entry::new(value)),
    }
}

/// Removes a parameter from the list. Returns false if the list doesn't have it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_list_remove(
    list: *mut sinew_parameter_list,
    name: *const c_char,
) -> bool {
    answer(false, || {
        // SAFETY: the caller's text.
        let name = unsafe { text(name, "name") }?;
        // SAFETY: the caller's handle.
        let mut list = unsafe { handle::get(list, "list") }?.lock();
        let before = list.len();
        list.retain(|entry| entry.of.name != name);
        Ok(list.len() < before)
    })
}
