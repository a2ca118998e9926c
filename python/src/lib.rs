//! `sinew._sinew`: the extension module of the Python package `sinew`, over the library `sinew`.
//!
//! The package's Python files (`../sinew`) say what users see; this crate holds what has to be fast or touches the
//! library. No thread of the library takes the GIL unless a callback of Python is due.

mod action;
mod bag;
mod callback;
mod context;
mod done;
mod error;
mod event;
mod executor;
mod graph;
mod group;
mod lifecycle;
mod logging;
mod message;
mod node;
mod parameter;
mod publisher;
mod qos;
mod service;
mod signals;
mod subscription;
mod tf;
mod timer;
mod virtual_clock;
mod wait;

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _sinew {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::action::{ActionClient, ActionServer, ClientGoal, SentGoal, ServerGoal};
    #[pymodule_export]
    use crate::callback::{in_callback, post_of};
    #[pymodule_export]
    use crate::context::{Context, end};
    #[pymodule_export]
    use crate::done::wait_until_done;
    #[pymodule_export]
    use crate::executor::Executor;
    #[pymodule_export]
    use crate::graph::{
        check_namespace, check_node_name, class_of_topic, count, endpoints, nodes, of_node, resolve_service,
        resolve_topic, services, topics, wait_for_node,
    };
    #[pymodule_export]
    use crate::group::Group;
    #[pymodule_export]
    use crate::lifecycle::Lifecycle;
    #[pymodule_export]
    use crate::logging::{Logger, flush_logging, init_logging};
    #[pymodule_export]
    use crate::node::Node;
    #[pymodule_export]
    use crate::parameter::{
        add_parameter_callback, declare_parameter, describe_parameter, get_parameter, has_parameter,
        list_parameters, set_parameters, undeclare_parameter,
    };
    #[pymodule_export]
    use crate::publisher::Publisher;
    #[pymodule_export]
    use crate::qos::{check_qos, qos_incompatibility};
    #[pymodule_export]
    use crate::service::{Client, Respond, Service};
    #[pymodule_export]
    use crate::subscription::{Info, Subscription};
    #[pymodule_export]
    use crate::tf::{PendingLookup, TfBroadcaster, TfBuffer, TfListener, transform_stamped};
    #[pymodule_export]
    use crate::timer::{GuardCondition, Timer};
    #[pymodule_export]
    use crate::virtual_clock::VirtualClock;
    #[pymodule_export]
    use crate::wait::is_blocking;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::check_interpreter()?;
        crate::error::add_to(module)?;
        crate::message::add_to(module)?;
        crate::bag::add_to(module)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// Refuses other interpreters than the main one: the library's threads take the GIL of that one.
fn check_interpreter() -> PyResult<()> {
    // SAFETY: this thread is attached to an interpreter, as Python runs this function.
    let interpreter = unsafe { pyo3::ffi::PyInterpreterState_Get() };
    // SAFETY: the pointer is that of the interpreter, which lives while the thread is attached.
    match unsafe { pyo3::ffi::PyInterpreterState_GetID(interpreter) } {
        0 => Ok(()),
        number => Err(PyImportError::new_err(format!(
            "sinew can't be imported into the sub-interpreter {number}, only into the main interpreter of a process: use processes or threads"
        ))),
    }
}
