//! A presence among the names of a domain.

use crate::handle::{self, handle};
use crate::status::{Result, answer, sinew_status, status};
use crate::structure::{Structure, structure};
use crate::text::optional_text;
use sinew_shm::Domain;
use sinew_shm::raw::{OpenError, Space};
use std::ffi::c_char;
use std::path::Path;

/// A process's presence among the raw names of a domain. Few programs need one: without one, names
/// are opened in the process's default space, that of `SINEW_DIR` and `SINEW_DOMAIN_ID` (else
/// `ROS_DOMAIN_ID`, else 0) of the environment.
pub struct sinew_raw_space {
    _opaque: (),
}
handle!(sinew_raw_space: Space);

/// The options of [`sinew_raw_space_join`]. Zero is the default of every field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_raw_space_options {
    /// `sizeof(struct sinew_raw_space_options)`.
    pub size: usize,
    /// The domain. The environment does not change it.
    pub domain: u32,
    /// The directory in which each domain has its own. Null: `SINEW_DIR` of the environment, else
    /// `/dev/shm/sinew-<uid>`.
    pub directory: *const c_char,
}

// SAFETY: C's layout, beginning with the size; zeros are a number and no text.
unsafe impl Structure for sinew_raw_space_options {
    const NAME: &str = "sinew_raw_space_options";
}

/// Joins a domain with a presence of its own, which sees others of the same process like those of
/// other processes. Starts a thread, which sleeps while nothing changes; takes up to a millisecond.
///
/// `options` may be null. The caller frees `*space` with `sinew_raw_space_free`. After a `fork`,
/// the child joins a space of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_raw_space_join(
    options: *const sinew_raw_space_options,
    space: Option<&mut *mut sinew_raw_space>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's structure.
        let options = unsafe { structure(options) }?;
        // SAFETY: the caller's text.
        let directory = unsafe { optional_text(options.directory, "directory") }?;
        let domain = Domain::open(directory.map(Path::new), options.domain).map_err(OpenError::from)?;
        handle::put(space, "space", Space::join(&domain).map_err(OpenError::from)?)
    })
}

/// Frees a handle to a space; null is allowed. The space ends with its last handle and everything
/// that was opened in it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_raw_space_free(space: *mut sinew_raw_space) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(space, "space") };
}

/// Returns the id that values written in the space have as their `writer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_raw_space_id(space: *const sinew_raw_space) -> u64 {
    // SAFETY: the caller's handle.
    answer(0, || Ok(unsafe { handle::get(space, "space") }?.id()))
}

/// Returns the caller's space, or the process's default one.
///
/// # Safety
/// As of [`handle::get`].
pub(super) unsafe fn space_or_default(space: *const sinew_raw_space) -> Result<Space> {
    // SAFETY: as the caller says.
    match unsafe { handle::get_optional(space, "space") }? {
        Some(space) => Ok(space.clone()),
        None => Ok(Space::shared()?),
    }
}
