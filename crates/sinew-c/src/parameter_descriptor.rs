//! Descriptions of parameters.

use crate::array::beyond;
use crate::handle::{self, handle};
use crate::parameter_list::sinew_parameter_type;
use crate::status::{answer, sinew_status, status};
use crate::structure::{Place, Structure};
use crate::text::c_text;
use sinew::parameters::ParameterDescriptor;
use std::ffi::{CString, c_char};

/// The description of a parameter. Its texts live as long as the list that it is from.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_parameter_descriptor {
    /// `sizeof(struct sinew_parameter_descriptor)`.
    pub size: usize,
    /// The parameter's name.
    pub name: *const c_char,
    /// The type, which values must have unless it is dynamic.
    pub kind: sinew_parameter_type,
    /// Its purpose, for people.
    pub description: *const c_char,
    /// Rules for the values beyond type and range, for people.
    pub constraints: *const c_char,
    /// Whether it can't be set.
    pub is_read_only: bool,
    /// Whether values may have any type.
    pub is_dynamic: bool,
    /// Whether it has a range: in the fields of integers for an integer, in those of doubles for a
    /// double.
    pub has_range: bool,
    /// The smallest integer.
    pub integer_from: i64,
    /// The greatest integer.
    pub integer_to: i64,
    /// A value is `integer_from` plus a multiple of this, or `integer_to`. 0: any value.
    pub integer_step: u64,
    /// The smallest double.
    pub double_from: f64,
    /// The greatest double.
    pub double_to: f64,
    /// A value is `double_from` plus a multiple of this, or `double_to`. 0: any value.
    pub double_step: f64,
}

// SAFETY: C's layout, beginning with the size; zeros are null, `false`, numbers.
unsafe impl Structure for sinew_parameter_descriptor {
    const NAME: &str = "sinew_parameter_descriptor";
}

/// Descriptions of parameters that a function returned.
pub struct sinew_parameter_descriptors {
    _opaque: (),
}
handle!(sinew_parameter_descriptors: Vec<Described>);

/// A description with its texts as C reads them.
pub(crate) struct Described {
    of: ParameterDescriptor,
    name: CString,
    description: CString,
    constraints: CString,
}

impl Described {
    fn new(of: ParameterDescriptor) -> Self {
        let [name, description, constraints] =
            [&of.name, &of.description, &of.additional_constraints].map(|text| c_text(text.clone()));
        Self { of, name, description, constraints }
    }

    fn descriptor(&self) -> sinew_parameter_descriptor {
        let of = &self.of;
        let mut descriptor = sinew_parameter_descriptor {
            size: size_of::<sinew_parameter_descriptor>(),
            name: self.name.as_ptr(),
            kind: sinew_parameter_type::from(of.kind as u8),
            description: self.description.as_ptr(),
            constraints: self.constraints.as_ptr(),
            is_read_only: of.read_only,
            is_dynamic: of.dynamic_typing,
            has_range: of.integer_range.is_some() || of.double_range.is_some(),
            integer_from: 0,
            integer_to: 0,
            integer_step: 0,
            double_from: 0.0,
            double_to: 0.0,
            double_step: 0.0,
        };
        if let Some(range) = of.integer_range {
            descriptor.integer_from = range.from;
            descriptor.integer_to = range.to;
            descriptor.integer_step = range.step;
        }
        if let Some(range) = of.double_range {
            descriptor.double_from = range.from;
            descriptor.double_to = range.to;
            descriptor.double_step = range.step;
        }
        descriptor
    }
}

/// Returns the list for a handle.
pub(crate) fn list_of(descriptors: impl IntoIterator<Item = ParameterDescriptor>) -> Vec<Described> {
    descriptors.into_iter().map(Described::new).collect()
}

/// Frees a list of descriptions; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_descriptors_free(descriptors: *mut sinew_parameter_descriptors) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(descriptors, "descriptors") };
}

/// Returns the number of descriptions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_descriptors_length(
    descriptors: *const sinew_parameter_descriptors,
) -> usize {
    // SAFETY: the caller's handle.
    answer(0, || Ok(unsafe { handle::get(descriptors, "descriptors") }?.len()))
}

/// Gets a description, counted from 0. The caller sets its `size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_descriptors_at(
    descriptors: *const sinew_parameter_descriptors,
    index: usize,
    descriptor: *mut sinew_parameter_descriptor,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let list = unsafe { handle::get(descriptors, "descriptors") }?;
        // SAFETY: the caller's structure.
        let place = unsafe { Place::new(descriptor, "descriptor") }?;
        place.fill(list.get(index).ok_or_else(|| beyond(index, list.len()))?.descriptor());
        Ok(())
    })
}
