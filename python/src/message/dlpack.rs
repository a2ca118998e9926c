//! Numbers where they lie for other libraries of arrays, by DLPack: torch, jax and others take them without a
//! copy. <https://dmlc.github.io/dlpack/latest/c_api.html>
//!
//! A capsule holds a tensor with a function that ends it. A library that takes the tensor renames the capsule,
//! and calls that function when it is done with the memory, on any thread and perhaps without the GIL. So a
//! tensor holds what keeps the memory, which is of Rust, and nothing of Python.

use pyo3::exceptions::{PyBufferError, PyMemoryError};
use pyo3::ffi;
use pyo3::prelude::*;
use sinew_msg::definition::Primitive;
use std::ffi::{CStr, c_void};
use std::ptr;

/// `kDLCPU`, and its first device.
pub(super) const CPU: (i32, i32) = (1, 0);

/// The version whose layout is below.
const VERSION: Version = Version { major: 1, minor: 0 };

/// `DLPACK_FLAG_BITMASK_READ_ONLY`.
const READ_ONLY: u64 = 1;

/// `DLPackVersion`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Version {
    major: u32,
    minor: u32,
}

/// `DLDataType`.
#[derive(Clone, Copy)]
#[repr(C)]
struct DataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

/// `DLTensor`.
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: (i32, i32),
    dimensions: i32,
    data_type: DataType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensorVersioned`, which other libraries see, and what it points to.
#[repr(C)]
struct Versioned {
    version: Version,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Self)>,
    flags: u64,
    tensor: Tensor,
    // From here on it is ours.
    extent: [i64; 2],
    _keep: Box<dyn Send>,
}

/// `DLManagedTensor`, of libraries before version 1, likewise.
#[repr(C)]
struct Unversioned {
    tensor: Tensor,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Self)>,
    // From here on it is ours.
    extent: [i64; 2],
    _keep: Box<dyn Send>,
}

const _: () = assert!(std::mem::offset_of!(Versioned, tensor) == 32);
const _: () = assert!(std::mem::offset_of!(Unversioned, manager) == size_of::<Tensor>());
const _: () = assert!(size_of::<Tensor>() == 48);

/// A tensor as its library sees it.
trait Managed: Sized {
    /// Name of a capsule whose tensor nothing has taken.
    const NAME: &'static CStr;

    /// Has the tensor point to its own extent.
    fn settle(&mut self);
}

impl Managed for Versioned {
    const NAME: &'static CStr = c"dltensor_versioned";

    fn settle(&mut self) {
        (self.tensor.shape, self.tensor.strides) = pointers(&mut self.extent);
    }
}

impl Managed for Unversioned {
    const NAME: &'static CStr = c"dltensor";

    fn settle(&mut self) {
        (self.tensor.shape, self.tensor.strides) = pointers(&mut self.extent);
    }
}

fn pointers(extent: &mut [i64; 2]) -> (*mut i64, *mut i64) {
    let [shape, strides] = extent;
    (shape, strides)
}

/// Numbers to be shown to another library.
pub(super) struct Numbers {
    pub(super) address: *mut u8,
    pub(super) count: usize,
    pub(super) primitive: Primitive,
    /// What keeps the memory. It is of Rust, and may end on any thread.
    pub(super) keep: Box<dyn Send>,
    pub(super) is_readonly: bool,
}

/// Returns a capsule with the numbers, for a library that knows versions up to `max_version`.
pub(super) fn capsule(
    py: Python<'_>,
    numbers: Numbers,
    max_version: Option<(u32, u32)>,
) -> PyResult<Bound<'_, PyAny>> {
    let tensor = Tensor {
        data: numbers.address.cast(),
        device: CPU,
        dimensions: 1,
        data_type: data_type(numbers.primitive),
        shape: ptr::null_mut(),
        strides: ptr::null_mut(),
        byte_offset: 0,
    };
    let extent = [i64::try_from(numbers.count).unwrap_or(i64::MAX), 1];
    if max_version.is_some_and(|(major, _)| major >= VERSION.major) {
        return managed(
            py,
            Versioned {
                version: VERSION,
                manager: ptr::null_mut(),
                deleter: Some(end::<Versioned>),
                flags: if numbers.is_readonly { READ_ONLY } else { 0 },
                tensor,
                extent,
                _keep: numbers.keep,
            },
        );
    }
    if numbers.is_readonly {
        return Err(PyBufferError::new_err(
            "a received message can't be changed, which only version 1.0 of DLPack can say: ask with \
             max_version=(1, 0), or copy the array",
        ));
    }
    let deleter = Some(end::<Unversioned> as unsafe extern "C" fn(_));
    managed(py, Unversioned { tensor, manager: ptr::null_mut(), deleter, extent, _keep: numbers.keep })
}

fn managed<M: Managed>(py: Python<'_>, made: M) -> PyResult<Bound<'_, PyAny>> {
    let made = Box::into_raw(Box::new(made));
    // SAFETY: just made, and nothing else knows it.
    unsafe { &mut *made }.settle();
    // SAFETY: the name is static, and the destructor that of this type.
    let capsule = unsafe { ffi::PyCapsule_New(made.cast(), M::NAME.as_ptr(), Some(drop_untaken::<M>)) };
    if capsule.is_null() {
        // SAFETY: as above; no capsule has it.
        unsafe { end(made) };
        return Err(PyMemoryError::new_err("there is no memory for a capsule"));
    }
    // SAFETY: a new reference, of which there is no other owner.
    Ok(unsafe { Bound::from_owned_ptr(py, capsule) })
}

/// The tensor's `deleter`.
///
/// # Safety
/// `managed` is from [`managed`], and was not ended before.
unsafe extern "C" fn end<M>(managed: *mut M) {
    // SAFETY: a `Box`, as the caller says.
    drop(unsafe { Box::from_raw(managed) });
}

/// The capsule's destructor: ends a tensor that no library has taken.
///
/// # Safety
/// Called by Python with a capsule from [`managed`].
unsafe extern "C" fn drop_untaken<M: Managed>(capsule: *mut ffi::PyObject) {
    // SAFETY: Python's capsule. One that was taken has another name.
    if unsafe { ffi::PyCapsule_IsValid(capsule, M::NAME.as_ptr()) } == 0 {
        return;
    }
    // SAFETY: it is valid by this name.
    let managed = unsafe { ffi::PyCapsule_GetPointer(capsule, M::NAME.as_ptr()) };
    // SAFETY: the pointer that `managed` gave it, which nothing has ended.
    unsafe { end(managed.cast::<M>()) };
}

fn data_type(primitive: Primitive) -> DataType {
    /// `DLDataTypeCode`.
    const INT: u8 = 0;
    const UINT: u8 = 1;
    const FLOAT: u8 = 2;
    const BOOL: u8 = 6;
    let (code, bits) = match primitive {
        Primitive::Bool => (BOOL, 8),
        Primitive::Byte | Primitive::Char | Primitive::Uint8 => (UINT, 8),
        Primitive::Uint16 => (UINT, 16),
        Primitive::Uint32 => (UINT, 32),
        Primitive::Uint64 => (UINT, 64),
        Primitive::Int8 => (INT, 8),
        Primitive::Int16 => (INT, 16),
        Primitive::Int32 => (INT, 32),
        Primitive::Int64 => (INT, 64),
        Primitive::Float32 => (FLOAT, 32),
        Primitive::Float64 => (FLOAT, 64),
    };
    DataType { code, bits, lanes: 1 }
}
