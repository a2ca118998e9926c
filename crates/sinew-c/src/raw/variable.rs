//! Variables: one process writes, many read.

use super::space::{sinew_raw_space, space_or_default};
use super::value::{Bytes, Caller, Reader, sinew_raw_origin, value};
use crate::handle::{self, handle};
use crate::status::{Result, sinew_status, status};
use crate::text::text;
use sinew_shm::raw::{Master, Space, Variable};
use std::ffi::{c_char, c_void};

/// A reader of a variable, which one process, its master, writes. It may be opened before there is
/// a master, and gets the current value at any time, never a torn one. A variable lives as long as
/// its master. Readers map the master's memory read-only.
pub struct sinew_raw_variable {
    _opaque: (),
}
handle!(sinew_raw_variable: VariableHandle);

/// The only writer of a variable. When it is freed, or its process ends, the variable has no value
/// and may get another master.
pub struct sinew_raw_master {
    _opaque: (),
}
handle!(sinew_raw_master: MasterHandle);

/// A reader that several threads may use.
pub(crate) struct VariableHandle(Reader<Variable<Bytes>>);

impl VariableHandle {
    pub(super) fn open(space: &Space, name: &str) -> Result<Self> {
        Ok(Self(Reader::new(Variable::open_in(space, name)?)))
    }

    pub(super) fn read(&self, caller: Caller<'_>) -> Result {
        let nothing = c"the variable has no master yet, and so no value";
        self.0.read_current(caller, nothing, |variable, place| variable.read_shared(place))
    }

    fn read_newer(&self, caller: Caller<'_>) -> Result {
        let nothing = c"the variable has no value that wasn't read";
        self.0.read_latest(caller, nothing, |variable, place| variable.read_newer_into(place))
    }
}

pub(crate) struct MasterHandle(Master<Bytes>);

impl MasterHandle {
    pub(super) fn open(space: &Space, name: &str, first: &Bytes) -> Result<Self> {
        Ok(Self(Variable::master_in(space, name, first)?))
    }

    pub(super) fn write(&self, value: &Bytes) -> Result {
        Ok(self.0.write(value)?)
    }
}

/// Opens a variable for reading. Returns when its master, if there is one, knows that this handle
/// reads, or after half a second if it doesn't answer.
///
/// `space` may be null: the process's default one. A name has 1 to 255 bytes and is unique in its
/// domain across topics, queues and variables. The caller frees `*variable` with
/// `sinew_raw_variable_free`.
///
/// Fails with `SINEW_ERROR_NAME_IN_USE` if the name is something else for another process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_raw_variable_open(
    space: *const sinew_raw_space,
    name: *const c_char,
    variable: Option<&mut *mut sinew_raw_variable>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let name = unsafe { text(name, "name") }?;
        // SAFETY: the caller's handle.
        let space = unsafe { space_or_default(space) }?;
        handle::put(variable, "variable", VariableHandle::open(&space, name)?)
    })
}

/// Frees a handle to a reader of a variable; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_raw_variable_free(variable: *mut sinew_raw_variable) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(variable, "variable") };
}

/// Reads the current value into `data`, which has `capacity` bytes. Never blocks; copies the value
/// once. The value can be read any number of times. The end of a master is noticed within
/// milliseconds.
///
/// `*size` is the value's size. `size` may be null: then the value must have exactly `capacity`
/// bytes. `origin` may be null.
///
/// Fails with `SINEW_ERROR_TIMEOUT` while there is no master, and with `SINEW_ERROR_WRONG_CAPACITY`
/// if the value doesn't fit: then `*size` is its size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_raw_variable_read(
    variable: *const sinew_raw_variable,
    data: *mut c_void,
    capacity: usize,
    size: Option<&mut usize>,
    origin: Option<&mut sinew_raw_origin>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let variable = unsafe { handle::get(variable, "variable") }?;
        // SAFETY: the caller's memory.
        variable.read(unsafe { Caller::new(data, capacity, size, origin) }?)
    })
}

/// As `sinew_raw_variable_read`, for a reader that polls: a value is copied once. Fails with
/// `SINEW_ERROR_TIMEOUT` if this handle has read the current value already, too: nothing is written
/// then. A value that doesn't fit stays to be read until a newer one comes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_raw_variable_read_newer(
    variable: *const sinew_raw_variable,
    data: *mut c_void,
    capacity: usize,
    size: Option<&mut usize>,
    origin: Option<&mut sinew_raw_origin>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let variable = unsafe { handle::get(variable, "variable") }?;
        // SAFETY: the caller's memory.
        variable.read_newer(unsafe { Caller::new(data, capacity, size, origin) }?)
    })
}

/// Becomes a variable's master. The variable has the value in `data`, of `size` bytes, when this
/// returns.
///
/// `space` may be null: the process's default one. The caller frees `*master` with
/// `sinew_raw_master_free`.
///
/// Fails with `SINEW_ERROR_MASTER_TAKEN` if there is a master already; the sentence names its
/// process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_raw_master_open(
    space: *const sinew_raw_space,
    name: *const c_char,
    data: *const c_void,
    size: usize,
    master: Option<&mut *mut sinew_raw_master>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let name = unsafe { text(name, "name") }?;
        // SAFETY: the caller's memory.
        let first = unsafe { value(data, size) }?;
        // SAFETY: the caller's handle.
        let space = unsafe { space_or_default(space) }?;
        handle::put(master, "master", MasterHandle::open(&space, name, first)?)
    })
}

/// Frees a handle to a master, with which the variable's value ends; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_raw_master_free(master: *mut sinew_raw_master) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(master, "master") };
}

/// Writes a value of `size` bytes, which may be 0. Never blocks; several threads may write at once.
///
/// Fails with `SINEW_ERROR_NO_SPACE` if the shared memory has no room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_raw_master_write(
    master: *const sinew_raw_master,
    data: *const c_void,
    size: usize,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let master = unsafe { handle::get(master, "master") }?;
        // SAFETY: the caller's memory.
        master.write(unsafe { value(data, size) }?)
    })
}
