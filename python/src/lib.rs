//! `sinew._sinew`: the extension module of the Python package `sinew`, over the library `sinew`.
//!
//! The package's Python files (`../sinew`) say what users see; this crate holds what has to be fast or touches the
//! library. No thread of the library takes the GIL unless a callback of Python is due.

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _sinew {
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
