//! The graph at one moment, as plain data.

use crate::array::{Texts, beyond};
use crate::handle::{self, handle};
use crate::message_info::sinew_gid;
use crate::qos::sinew_qos;
use crate::status::{Failure, Result, answer, sinew_status, status};
use crate::structure::{Place as Output, Structure, structure};
use crate::text::{c_text, optional_text};
use sinew::graph::{EndpointInfo, EndpointKind, GraphSnapshot, NameAndTypes, Place};
use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr;

/// The kind of an endpoint: `SINEW_ENDPOINT_..`.
pub type sinew_endpoint_kind = c_int;

/// In a filter: every kind.
pub const SINEW_ENDPOINT_ANY: sinew_endpoint_kind = 0;
/// Publishes messages on a topic.
pub const SINEW_ENDPOINT_PUBLISHER: sinew_endpoint_kind = 1;
/// Receives messages of a topic.
pub const SINEW_ENDPOINT_SUBSCRIPTION: sinew_endpoint_kind = 2;
/// Calls a service.
pub const SINEW_ENDPOINT_CLIENT: sinew_endpoint_kind = 3;
/// Answers requests of a service.
pub const SINEW_ENDPOINT_SERVER: sinew_endpoint_kind = 4;

fn kind_of(kind: EndpointKind) -> sinew_endpoint_kind {
    match kind {
        EndpointKind::Publisher => SINEW_ENDPOINT_PUBLISHER,
        EndpointKind::Subscription => SINEW_ENDPOINT_SUBSCRIPTION,
        EndpointKind::Client => SINEW_ENDPOINT_CLIENT,
        EndpointKind::Server => SINEW_ENDPOINT_SERVER,
        _ => SINEW_ENDPOINT_ANY, // of a newer core
    }
}

/// Where a node or an endpoint lives: `SINEW_PLACE_..`.
pub type sinew_place = c_int;

/// In the context that looks.
pub const SINEW_PLACE_HERE: sinew_place = 1;
/// In another context of this host: of another process, or of this one.
pub const SINEW_PLACE_PROCESS: sinew_place = 2;
/// On the network: another host, or a program of ROS 2. A gateway brings it to this host.
pub const SINEW_PLACE_NETWORK: sinew_place = 3;

/// A node of a snapshot. Its texts live as long as the snapshot.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_node_info {
    /// `sizeof(struct sinew_node_info)`.
    pub size: usize,
    /// The full name: namespace and name.
    pub name: *const c_char,
    /// Where it lives.
    pub place: sinew_place,
    /// The process id, in another process its own PID namespace's, on the network that of the
    /// gateway; 0 for `SINEW_PLACE_HERE`.
    pub pid: u64,
    /// The name of that process's program; null for `SINEW_PLACE_HERE`.
    pub program: *const c_char,
}

// SAFETY: C's layout, beginning with the size; zeros are null and numbers.
unsafe impl Structure for sinew_node_info {
    const NAME: &str = "sinew_node_info";
}

/// A topic, service or action of a snapshot. Its texts live as long as the snapshot.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_name_and_types {
    /// `sizeof(struct sinew_name_and_types)`.
    pub size: usize,
    /// The full name.
    pub name: *const c_char,
    /// The names of its types, sorted: one, if its endpoints agree.
    pub types: *const *const c_char,
    /// The number of types.
    pub type_count: usize,
    /// Whether tools hide it unless they are asked for it: a part of its name begins with an
    /// underscore.
    pub is_hidden: bool,
}

// SAFETY: C's layout, beginning with the size; zeros are null, `false`, numbers.
unsafe impl Structure for sinew_name_and_types {
    const NAME: &str = "sinew_name_and_types";
}

/// A publisher, subscription, server or client of a snapshot. What it points to lives as long as
/// the snapshot.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_endpoint_info {
    /// `sizeof(struct sinew_endpoint_info)`.
    pub size: usize,
    /// Its kind.
    pub kind: sinew_endpoint_kind,
    /// The full name of its node.
    pub node_name: *const c_char,
    /// The full name of its topic or service.
    pub name: *const c_char,
    /// The name of its type.
    pub type_name: *const c_char,
    /// The hash of its type, `RIHS01_..`; null for a type without one, which stays in its process.
    pub type_hash: *const c_char,
    /// Its QoS: offered by a publisher or a server, requested by the others.
    pub qos: *const sinew_qos,
    /// Its identity. For a publisher of the network, that of the gateway's publisher that stands
    /// for it.
    pub gid: sinew_gid,
    /// Whether its messages can leave its process.
    pub leaves_process: bool,
    /// Where it lives.
    pub place: sinew_place,
    /// As in `sinew_node_info`.
    pub pid: u64,
    /// As in `sinew_node_info`.
    pub program: *const c_char,
}

// SAFETY: C's layout, beginning with the size; zeros are null, `false`, numbers.
unsafe impl Structure for sinew_endpoint_info {
    const NAME: &str = "sinew_endpoint_info";
}

/// Which endpoints are wanted. Zero is the default of every field: all.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_endpoint_filter {
    /// `sizeof(struct sinew_endpoint_filter)`.
    pub size: usize,
    /// Only those of this kind.
    pub kind: sinew_endpoint_kind,
    /// Only those of this topic or service, by its full name. Null: of all.
    pub name: *const c_char,
    /// Only those of nodes with this full name. Null: of all.
    pub node_name: *const c_char,
}

// SAFETY: C's layout, beginning with the size; zeros are null and numbers.
unsafe impl Structure for sinew_endpoint_filter {
    const NAME: &str = "sinew_endpoint_filter";
}

/// The nodes and endpoints that there were at one moment. Lists are sorted: nodes by name,
/// endpoints by kind, name and node, names by themselves. Lists are counted from 0, and have the
/// parameter services of nodes and other hidden names.
pub struct sinew_graph_snapshot {
    _opaque: (),
}
handle!(sinew_graph_snapshot: Snapshot);

/// A snapshot with its texts as C reads them.
pub(crate) struct Snapshot {
    of: GraphSnapshot,
    nodes: Vec<(CString, Lives)>,
    topics: Vec<Named>,
    services: Vec<Named>,
    actions: Vec<Named>,
    endpoints: Vec<Endpoint>,
    unreadable: Texts,
}

/// Where something lives.
struct Lives {
    place: sinew_place,
    pid: u64,
    program: Option<CString>,
}

impl Lives {
    fn new(place: &Place) -> Self {
        let (place, pid, program) = match place {
            Place::Process { pid, program, .. } => (SINEW_PLACE_PROCESS, *pid, Some(program)),
            Place::Network { gateway, program, .. } => (SINEW_PLACE_NETWORK, *gateway, Some(program)),
            _ => (SINEW_PLACE_HERE, 0, None),
        };
        Self { place, pid, program: program.map(|program| c_text(program.clone())) }
    }

    fn program(&self) -> *const c_char {
        self.program.as_deref().map_or(ptr::null(), CStr::as_ptr)
    }
}

struct Named {
    name: CString,
    types: Texts,
    is_hidden: bool,
}

impl Named {
    fn all(all: Vec<NameAndTypes>) -> Vec<Self> {
        let one = |of: NameAndTypes| Self {
            is_hidden: of.is_hidden(),
            types: Texts::new(of.types),
            name: c_text(of.name),
        };
        all.into_iter().map(one).collect()
    }
}

struct Endpoint {
    node_name: CString,
    name: CString,
    type_name: CString,
    type_hash: Option<CString>,
    qos: sinew_qos,
    lives: Lives,
}

impl Endpoint {
    fn new(of: &EndpointInfo) -> Self {
        let [node_name, name, type_name] =
            [&of.node, &of.name, &of.type_name].map(|text| c_text(text.clone()));
        let type_hash = of.type_hash.map(|hash| c_text(hash.to_string()));
        Self {
            node_name,
            name,
            type_name,
            type_hash,
            qos: sinew_qos::of(&of.qos),
            lives: Lives::new(&of.place),
        }
    }

    fn info(&self, of: &EndpointInfo) -> sinew_endpoint_info {
        sinew_endpoint_info {
            size: size_of::<sinew_endpoint_info>(),
            kind: kind_of(of.kind),
            node_name: self.node_name.as_ptr(),
            name: self.name.as_ptr(),
            type_name: self.type_name.as_ptr(),
            type_hash: self.type_hash.as_deref().map_or(ptr::null(), CStr::as_ptr),
            qos: &raw const self.qos,
            gid: of.gid.into(),
            leaves_process: of.leaves_process(),
            place: self.lives.place,
            pid: self.lives.pid,
            program: self.lives.program(),
        }
    }
}

impl Snapshot {
    pub(crate) fn new(of: GraphSnapshot) -> Self {
        let node = |node: &sinew::graph::NodeInfo| (c_text(node.name.clone()), Lives::new(&node.place));
        Self {
            nodes: of.nodes().iter().map(node).collect(),
            topics: Named::all(of.topics()),
            services: Named::all(of.services()),
            actions: Named::all(of.actions()),
            endpoints: of.endpoints().iter().map(Endpoint::new).collect(),
            unreadable: Texts::new(of.unreadable().iter().cloned()),
            of,
        }
    }

    /// Returns an endpoint.
    pub(crate) fn endpoint(&self, index: usize) -> Result<&EndpointInfo> {
        self.of.endpoints().get(index).ok_or_else(|| beyond(index, self.endpoints.len()))
    }
}

/// Frees a snapshot; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_snapshot_free(snapshot: *mut sinew_graph_snapshot) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(snapshot, "snapshot") };
}

/// Returns the snapshot of a handle of the caller's, for as long as the caller's pointer is there.
fn borrow(snapshot: &*const sinew_graph_snapshot) -> Result<&Snapshot> {
    // SAFETY: the caller's handle, which no thread frees during the call.
    unsafe { handle::get(*snapshot, "snapshot") }
}

/// Returns the number of nodes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_snapshot_node_count(snapshot: *const sinew_graph_snapshot) -> usize {
    answer(0, || Ok(borrow(&snapshot)?.nodes.len()))
}

/// Gets a node. The caller sets the `size` of `*node`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_snapshot_node(
    snapshot: *const sinew_graph_snapshot,
    index: usize,
    node: *mut sinew_node_info,
) -> sinew_status {
    status(|| {
        let nodes = &borrow(&snapshot)?.nodes;
        // SAFETY: the caller's structure.
        let output = unsafe { Output::new(node, "node") }?;
        let (name, lives) = nodes.get(index).ok_or_else(|| beyond(index, nodes.len()))?;
        output.fill(sinew_node_info {
            size: size_of::<sinew_node_info>(),
            name: name.as_ptr(),
            place: lives.place,
            pid: lives.pid,
            program: lives.program(),
        });
        Ok(())
    })
}

/// Gets an element of a list of names.
///
/// # Safety
/// As of [`Output::new`].
unsafe fn get_named(
    list: &[Named],
    index: usize,
    (place, argument): (*mut sinew_name_and_types, &str),
) -> Result {
    // SAFETY: the caller's structure.
    let output = unsafe { Output::new(place, argument) }?;
    let named = list.get(index).ok_or_else(|| beyond(index, list.len()))?;
    output.fill(sinew_name_and_types {
        size: size_of::<sinew_name_and_types>(),
        name: named.name.as_ptr(),
        types: named.types.pointers(),
        type_count: named.types.len(),
        is_hidden: named.is_hidden,
    });
    Ok(())
}

/// Returns the number of topics that have a publisher or a subscription.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_snapshot_topic_count(snapshot: *const sinew_graph_snapshot) -> usize {
    answer(0, || Ok(borrow(&snapshot)?.topics.len()))
}

/// Gets a topic. The caller sets the `size` of `*topic`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_snapshot_topic(
    snapshot: *const sinew_graph_snapshot,
    index: usize,
    topic: *mut sinew_name_and_types,
) -> sinew_status {
    // SAFETY: the caller's structure.
    status(|| unsafe { get_named(&borrow(&snapshot)?.topics, index, (topic, "topic")) })
}

/// Returns the number of services that have a server or a client. Those of parameters and of
/// actions are services as well.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_snapshot_service_count(snapshot: *const sinew_graph_snapshot) -> usize {
    answer(0, || Ok(borrow(&snapshot)?.services.len()))
}

/// Gets a service. The caller sets the `size` of `*service`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_snapshot_service(
    snapshot: *const sinew_graph_snapshot,
    index: usize,
    service: *mut sinew_name_and_types,
) -> sinew_status {
    // SAFETY: the caller's structure.
    status(|| unsafe { get_named(&borrow(&snapshot)?.services, index, (service, "service")) })
}

/// Returns the number of actions that have a server or a client.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_snapshot_action_count(snapshot: *const sinew_graph_snapshot) -> usize {
    answer(0, || Ok(borrow(&snapshot)?.actions.len()))
}

/// Gets an action, which is recognized by its feedback topic. The caller sets the `size` of
/// `*action`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_snapshot_action(
    snapshot: *const sinew_graph_snapshot,
    index: usize,
    action: *mut sinew_name_and_types,
) -> sinew_status {
    // SAFETY: the caller's structure.
    status(|| unsafe { get_named(&borrow(&snapshot)?.actions, index, (action, "action")) })
}

/// Returns the number of endpoints.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_snapshot_endpoint_count(snapshot: *const sinew_graph_snapshot) -> usize {
    answer(0, || Ok(borrow(&snapshot)?.endpoints.len()))
}

/// Gets an endpoint. The caller sets the `size` of `*endpoint`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_snapshot_endpoint(
    snapshot: *const sinew_graph_snapshot,
    index: usize,
    endpoint: *mut sinew_endpoint_info,
) -> sinew_status {
    status(|| {
        let snapshot = borrow(&snapshot)?;
        // SAFETY: the caller's structure.
        let output = unsafe { Output::new(endpoint, "endpoint") }?;
        let of = snapshot.endpoint(index)?;
        output.fill(snapshot.endpoints[index].info(of));
        Ok(())
    })
}

/// Looks for the next endpoint that passes a filter, from `*index` on. `*index` gets the place of
/// the one that was found, and is the number of endpoints if there is none:
///
/// `for (size_t at = 0; sinew_graph_snapshot_find(snapshot, &filter, &at) == SINEW_OK && at <
/// count; ++at) ..`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_snapshot_find(
    snapshot: *const sinew_graph_snapshot,
    filter: *const sinew_endpoint_filter,
    index: Option<&mut usize>,
) -> sinew_status {
    status(|| {
        let snapshot = borrow(&snapshot)?;
        // SAFETY: the caller's structure.
        let filter = unsafe { structure(filter) }?;
        if !(SINEW_ENDPOINT_ANY..=SINEW_ENDPOINT_SERVER).contains(&filter.kind) {
            return Err(Failure::enumerator("kind", filter.kind));
        }
        // SAFETY: the caller's text.
        let name = unsafe { optional_text(filter.name, "name") }?;
        // SAFETY: the caller's text.
        let node_name = unsafe { optional_text(filter.node_name, "node_name") }?;
        let passes = |end: &EndpointInfo| {
            (filter.kind == SINEW_ENDPOINT_ANY || kind_of(end.kind) == filter.kind)
                && name.is_none_or(|name| end.name == name)
                && node_name.is_none_or(|node| end.node == node)
        };
        let index = index.ok_or_else(|| Failure::null("index"))?;
        let endpoints = snapshot.of.endpoints();
        let rest = endpoints.get(*index..).unwrap_or_default();
        *index = rest.iter().position(passes).map_or(endpoints.len(), |place| *index + place);
        Ok(())
    })
}

/// Returns the number of participants and endpoints that the lists leave out, because this program
/// may not read them, or they belong to another version of Sinew. 0 for the snapshot of a
/// `sinew_graph`: its context logs them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_snapshot_unreadable_count(
    snapshot: *const sinew_graph_snapshot,
) -> usize {
    answer(0, || Ok(borrow(&snapshot)?.unreadable.len()))
}

/// Returns a sentence about one of those. It lives as long as the snapshot.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_graph_snapshot_unreadable(
    snapshot: *const sinew_graph_snapshot,
    index: usize,
) -> *const c_char {
    answer(ptr::null(), || borrow(&snapshot)?.unreadable.at(index))
}
