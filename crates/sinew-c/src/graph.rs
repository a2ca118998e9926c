//! The graph: nodes, topics, services and endpoints of the domain, and its changes.

use crate::array::Texts;
use crate::closure::Closure;
use crate::context::sinew_context;
use crate::graph_snapshot::{Snapshot, sinew_graph_snapshot};
use crate::handle::{self, handle};
use crate::node::sinew_node;
use crate::owned::sinew_drop;
use crate::parameter::node_of;
use crate::status::{Failure, Result, answer, sinew_status, status};
use crate::strings::sinew_strings;
use crate::text::{optional_text, text};
use crate::time::sinew_duration;
use parking_lot::Mutex;
use sinew::error::ErrorCode;
use sinew::graph::{Graph, GraphChanges, GraphListener, GraphReader};
use std::ffi::{c_char, c_void};
use std::path::PathBuf;

/// The graph as a program sees it that takes part: its own context, all others of the domain on
/// this host, and what gateways have brought in from the network. It keeps its context alive, but
/// no node.
///
/// Names are full names, after remapping: `/scan`, not `scan`. Each query looks for changes
/// elsewhere on the calling thread, on which listeners may run meanwhile.
pub struct sinew_graph {
    _opaque: (),
}
handle!(sinew_graph: Graph);

/// Returns the graph of a handle of the caller's, for as long as the caller's pointer is there.
fn borrow(graph: &*const sinew_graph) -> Result<&Graph> {
    // SAFETY: the caller's handle, which no thread frees during the call.
    unsafe { handle::get(*graph, "graph") }
}

/// Gets the graph that a node is part of. The caller frees `*graph`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_graph(
    node: *const sinew_node,
    graph: Option<&mut *mut sinew_graph>,
) -> sinew_status {
    status(|| {
        let node = node_of(&node)?;
        handle::put(graph, "graph", node.graph())
    })
}

/// Gets the graph of a context's domain. A context without a node joins the domain first. The
/// caller frees `*graph`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_context_graph(
    context: *const sinew_context,
    graph: Option<&mut *mut sinew_graph>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let context = unsafe { handle::get(context, "context") }?;
        handle::put(graph, "graph", context.graph()?)
    })
}

/// Frees a handle to a graph; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_free(graph: *mut sinew_graph) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(graph, "graph") };
}

/// Returns the number of publishers on a topic, of any type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_publisher_count(
    graph: *const sinew_graph,
    topic: *const c_char,
) -> usize {
    // SAFETY: the caller's text.
    answer(0, || Ok(borrow(&graph)?.publisher_count(unsafe { text(topic, "topic") }?)))
}

/// Returns the number of subscriptions to a topic, of any type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_subscription_count(
    graph: *const sinew_graph,
    topic: *const c_char,
) -> usize {
    // SAFETY: the caller's text.
    answer(0, || Ok(borrow(&graph)?.subscription_count(unsafe { text(topic, "topic") }?)))
}

/// Returns the number of servers of a service.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_server_count(
    graph: *const sinew_graph,
    service: *const c_char,
) -> usize {
    // SAFETY: the caller's text.
    answer(0, || Ok(borrow(&graph)?.server_count(unsafe { text(service, "service") }?)))
}

/// Returns the number of clients of a service.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_client_count(
    graph: *const sinew_graph,
    service: *const c_char,
) -> usize {
    // SAFETY: the caller's text.
    answer(0, || Ok(borrow(&graph)?.client_count(unsafe { text(service, "service") }?)))
}

/// Gets all nodes and endpoints as they are now. The caller frees `*snapshot`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_snapshot_new(
    graph: *const sinew_graph,
    snapshot: Option<&mut *mut sinew_graph_snapshot>,
) -> sinew_status {
    status(|| {
        let graph = borrow(&graph)?;
        handle::put(snapshot, "snapshot", Snapshot::new(graph.snapshot()))
    })
}

/// Gets all nodes and endpoints of a domain as a program sees them that takes no part: it joins
/// nothing, no process notices it, and a domain that doesn't exist is empty. For tools. `directory`
/// may be null; it is that of `sinew_context_options`. The caller frees `*snapshot`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_snapshot_read(
    domain: u32,
    directory: *const c_char,
    snapshot: Option<&mut *mut sinew_graph_snapshot>,
) -> sinew_status {
    status(|| {
        let mut reader = GraphReader::new(domain);
        // SAFETY: the caller's text.
        if let Some(directory) = unsafe { optional_text(directory, "directory") }? {
            reader = reader.directory(PathBuf::from(directory));
        }
        handle::put(snapshot, "snapshot", Snapshot::new(reader.read()?))
    })
}

/// Gets the description of the type of an endpoint of a snapshot, as ROS 2's JSON text: one text,
/// or none if it is unknown. For a type of another process it reads a file. The caller frees
/// `*description`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_describe(
    graph: *const sinew_graph,
    snapshot: *const sinew_graph_snapshot,
    index: usize,
    description: Option<&mut *mut sinew_strings>,
) -> sinew_status {
    status(|| {
        let graph = borrow(&graph)?;
        // SAFETY: the caller's handle.
        let endpoint = unsafe { handle::get(snapshot, "snapshot") }?.endpoint(index)?;
        handle::put(
            description,
            "description",
            Texts::new(graph.description_of(endpoint).map(|known| known.to_json())),
        )
    })
}

/// Waits for changes of the graph. It counts from when it was made: a change between two waits ends
/// the second one at once.
pub struct sinew_graph_changes {
    _opaque: (),
}
handle!(sinew_graph_changes: Mutex<GraphChanges>);

/// Makes a receiver of the changes from now on, for one thread. The caller frees `*changes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_changes_new(
    graph: *const sinew_graph,
    changes: Option<&mut *mut sinew_graph_changes>,
) -> sinew_status {
    status(|| {
        let graph = borrow(&graph)?;
        handle::put(changes, "changes", Mutex::new(graph.changes()))
    })
}

/// Frees a receiver of changes; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_changes_free(changes: *mut sinew_graph_changes) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(changes, "changes") };
}

/// Blocks until a node, publisher, subscription, server or client has come or gone since the last
/// call. `*has_changed` is false if none did within `timeout` (negative: for ever), or if the
/// context was shut down. A change that no list shows may count as well, and several changes may
/// end one wait.
///
/// Fails with `SINEW_ERROR_BUSY` if another thread waits with the same `changes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_changes_wait(
    changes: *const sinew_graph_changes,
    timeout: sinew_duration,
    has_changed: Option<&mut bool>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let changes = unsafe { handle::get(changes, "changes") }?;
        let place = has_changed.ok_or_else(|| Failure::null("has_changed"))?;
        let sentence = "another thread waits with these changes: make some for each thread";
        let mut changes = changes.try_lock().ok_or_else(|| Failure::new(ErrorCode::Busy, sentence))?;
        *place = changes.wait(crate::time::timeout(timeout));
        Ok(())
    })
}

/// A listener of the graph's changes.
pub struct sinew_graph_listener {
    _opaque: (),
}
handle!(sinew_graph_listener: GraphListener);

/// Is called after a change of the graph.
pub type sinew_graph_callback = Option<unsafe extern "C" fn(context: *mut c_void)>;

/// Calls a function after each change, on the thread that made or noticed it, under no lock;
/// several threads may call it at once. It should be short: it may look at the graph and make
/// endpoints, and is called again for those once it has returned. One call may stand for several
/// changes, or for one that no list shows.
///
/// The caller frees `*listener`, which ends the calls; a thread that notices a change just then may
/// still call it. The library drops the context with `drop_context` after the last call, and also
/// if this function fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_on_change(
    graph: *const sinew_graph,
    callback: sinew_graph_callback,
    context: *mut c_void,
    drop_context: sinew_drop,
    listener: Option<&mut *mut sinew_graph_listener>,
) -> sinew_status {
    status(|| {
        let callback = Closure::new(callback, context, drop_context)?;
        let graph = borrow(&graph)?;
        handle::put(
            listener,
            "listener",
            graph.on_change(move || {
                let (function, context) = callback.parts();
                // SAFETY: the caller's function, with its context.
                unsafe { function(context) };
            }),
        )
    })
}

/// Ends a listener; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_listener_free(listener: *mut sinew_graph_listener) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(listener, "listener") };
}
