//! Numbers where they lie: an object with Python's buffer protocol, and numpy's arrays over it.

use super::class::width;
use super::dlpack::{self, Numbers};
use parking_lot::Mutex;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyMemoryView};
use sinew::erased::Message;
use sinew::msg::EncodedDraft;
use sinew_msg::definition::Primitive;
use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::Arc;

/// The memory of a draft until it is published, and the number of buffers that Python has of it.
pub(super) struct Unsent {
    pub(super) draft: Option<EncodedDraft>,
    pub(super) exports: usize,
    /// Whether it was published or dropped: what is left of it is for the buffers that there are.
    pub(super) has_ended: bool,
}

/// What keeps the numbers where they are.
enum Backing {
    /// A received message, which is never changed.
    Received(Message),
    Draft(Arc<Mutex<Unsent>>),
}

const GONE: &str = "the draft was published or dropped: its memory is gone";

/// An export of a draft without a buffer of Python.
struct Export(Arc<Mutex<Unsent>>);

impl Export {
    /// Counts one more, unless the draft has ended.
    fn begin(unsent: &Arc<Mutex<Unsent>>) -> PyResult<Self> {
        let mut state = unsent.lock();
        if state.has_ended {
            return Err(PyBufferError::new_err(GONE));
        }
        state.exports += 1;
        Ok(Self(Arc::clone(unsent)))
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        self.0.lock().exports -= 1;
    }
}

/// Numbers in a message or a draft, for `memoryview(..)` and `numpy.frombuffer(..)`.
#[pyclass(frozen, name = "ArrayView", module = "sinew")]
pub(super) struct ArrayView {
    address: *mut u8,
    primitive: Primitive,
    /// Number of elements, and of bytes from one to the next: buffers point here.
    extent: [ffi::Py_ssize_t; 2],
    backing: Backing,
}

// SAFETY: the memory is that of `backing`, which is `Send`; nothing in this struct changes.
unsafe impl Send for ArrayView {}
// SAFETY: Rust doesn't access the memory through this struct. Python's readers of a message don't
// change it; a draft's writers are Python's, which answers for their order.
unsafe impl Sync for ArrayView {}

impl ArrayView {
    /// Returns a view of numbers that lie in `message`, in this machine's byte order.
    pub(super) fn of_received(message: &Message, numbers: &[u8], primitive: Primitive) -> Self {
        let address = numbers.as_ptr().cast_mut();
        let extent = [to_ssize(numbers.len() / width(primitive)), to_ssize(width(primitive))];
        Self { address, primitive, extent, backing: Backing::Received(message.clone()) }
    }

    /// Returns a writable view of `count` numbers at `offset` of a draft, which is long enough;
    /// `None` if the draft is gone.
    pub(super) fn of_draft(
        unsent: &Arc<Mutex<Unsent>>,
        (offset, count): (usize, usize),
        primitive: Primitive,
    ) -> Option<Self> {
        let mut state = unsent.lock();
        if state.has_ended {
            return None;
        }
        let address = state.draft.as_mut()?.get_mut(offset..)?.as_mut_ptr();
        drop(state);
        let extent = [to_ssize(count), to_ssize(width(primitive))];
        Some(Self { address, primitive, extent, backing: Backing::Draft(Arc::clone(unsent)) })
    }
}

/// Returns the error of a buffer that there is not. Python then expects no object in its place.
///
/// # Safety
/// `view` is Python's place for a buffer.
unsafe fn refuse(view: *mut ffi::Py_buffer, reason: &'static str) -> PyResult<()> {
    // SAFETY: as the caller says.
    unsafe { (*view).obj = ptr::null_mut() };
    Err(PyBufferError::new_err(reason))
}

#[pymethods]
impl ArrayView {
    fn __len__(&self) -> usize {
        self.extent[0].unsigned_abs()
    }

    /// Returns where the numbers lie, to check that they were not copied.
    #[getter]
    fn address(&self) -> usize {
        self.address.addr()
    }

    /// Lends the numbers to another library of arrays, without a copy.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    #[expect(clippy::too_many_arguments, reason = "the protocol's, by their names")]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'_, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if stream.is_some() || dl_device.is_some_and(|device| device != dlpack::CPU) || copy == Some(true) {
            return Err(PyBufferError::new_err("the numbers lie in memory of the CPU, and aren't copied"));
        }
        let (keep, is_readonly): (Box<dyn Send>, _) = match &self.backing {
            Backing::Received(message) => (Box::new(message.clone()), true),
            Backing::Draft(unsent) => (Box::new(Export::begin(unsent)?), false),
        };
        let count = self.extent[0].unsigned_abs();
        let numbers = Numbers { address: self.address, count, primitive: self.primitive, keep, is_readonly };
        dlpack::capsule(py, numbers, max_version)
    }

    #[expect(clippy::unused_self, reason = "the protocol's")]
    fn __dlpack_device__(&self) -> (i32, i32) {
        dlpack::CPU
    }

    /// # Safety
    /// Called by Python, with a place for the answer.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let this = slf.get();
        let has = |flag: c_int| flags & flag == flag;
        let is_readonly = matches!(this.backing, Backing::Received(_));
        if is_readonly && has(ffi::PyBUF_WRITABLE) {
            // SAFETY: Python's place.
            return unsafe { refuse(view, "a received message can't be changed: copy the array first") };
        }
        if let Backing::Draft(unsent) = &this.backing {
            let mut unsent = unsent.lock();
            if unsent.has_ended {
                drop(unsent);
                // SAFETY: Python's place.
                return unsafe { refuse(view, GONE) };
            }
            unsent.exports += 1;
        }
        let [count, width] = &this.extent;
        let given = |flag: c_int, place: *const ffi::Py_ssize_t| {
            if has(flag) { place.cast_mut() } else { ptr::null_mut() }
        };
        let format =
            if has(ffi::PyBUF_FORMAT) { format(this.primitive).as_ptr() } else { ptr::null() }.cast_mut();
        let buffer = ffi::Py_buffer {
            buf: this.address.cast::<c_void>(),
            obj: slf.clone().into_any().into_ptr(),
            len: count * width,
            itemsize: *width,
            readonly: c_int::from(is_readonly),
            ndim: 1,
            format,
            shape: given(ffi::PyBUF_ND, count),
            strides: given(ffi::PyBUF_STRIDES, width),
            ..ffi::Py_buffer::new()
        };
        // SAFETY: Python's place.
        unsafe { view.write(buffer) };
        Ok(())
    }

    /// # Safety
    /// Called by Python with a buffer from `__getbuffer__`, once.
    unsafe fn __releasebuffer__(&self, _view: *mut ffi::Py_buffer) {
        if let Backing::Draft(unsent) = &self.backing {
            unsent.lock().exports -= 1;
        }
    }
}

fn to_ssize(size: usize) -> ffi::Py_ssize_t {
    ffi::Py_ssize_t::try_from(size).unwrap_or(ffi::Py_ssize_t::MAX) // no memory is longer
}

/// Returns the format of a number, as the module `struct` names it.
pub(super) const fn format(primitive: Primitive) -> &'static CStr {
    match primitive {
        Primitive::Bool => c"?",
        Primitive::Byte | Primitive::Char | Primitive::Uint8 => c"B",
        Primitive::Int8 => c"b",
        Primitive::Int16 => c"h",
        Primitive::Uint16 => c"H",
        Primitive::Int32 => c"i",
        Primitive::Uint32 => c"I",
        Primitive::Int64 => c"q",
        Primitive::Uint64 => c"Q",
        Primitive::Float32 => c"f",
        Primitive::Float64 => c"d",
    }
}

/// The functions of numpy, if it is installed.
struct Numpy {
    frombuffer: Py<PyAny>,
    zeros: Py<PyAny>,
    /// The types of elements, by format.
    types: Vec<(&'static CStr, Py<PyAny>)>,
}

static NUMPY: PyOnceLock<Option<Numpy>> = PyOnceLock::new();

fn numpy(py: Python<'_>) -> PyResult<Option<&'static Numpy>> {
    let load = || {
        let Ok(module) = py.import("numpy") else { return Ok::<_, PyErr>(None) };
        let formats = [c"?", c"B", c"b", c"h", c"H", c"i", c"I", c"q", c"Q", c"f", c"d"];
        let dtype = module.getattr("dtype")?;
        let of = |format: &'static CStr| {
            Ok((format, dtype.call1((format.to_str().unwrap_or_default(),))?.unbind()))
        };
        Ok(Some(Numpy {
            frombuffer: module.getattr("frombuffer")?.unbind(),
            zeros: module.getattr("zeros")?.unbind(),
            types: formats.into_iter().map(of).collect::<PyResult<_>>()?,
        }))
    };
    Ok(NUMPY.get_or_try_init(py, load)?.as_ref())
}

impl Numpy {
    fn dtype(&self, primitive: Primitive) -> Option<&Py<PyAny>> {
        self.types.iter().find(|(of, _)| *of == format(primitive)).map(|(_, dtype)| dtype)
    }
}

/// Returns an array over an object with a buffer of these numbers: numpy's if that is installed,
/// otherwise a `memoryview`.
pub(super) fn array_over<'py>(
    exporter: &Bound<'py, PyAny>,
    primitive: Primitive,
    count: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let py = exporter.py();
    match numpy(py)? {
        Some(numpy) if count == 0 => numpy.zeros.bind(py).call1((0, numpy.dtype(primitive))),
        Some(numpy) => numpy.frombuffer.bind(py).call1((exporter, numpy.dtype(primitive))),
        None => {
            let view = PyMemoryView::from(exporter)?.into_any();
            if exporter.is_instance_of::<PyBytes>() {
                return view.call_method1("cast", (format(primitive).to_str().unwrap_or_default(),));
            }
            Ok(view)
        }
    }
}
