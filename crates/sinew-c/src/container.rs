//! Containers: they make nodes of components while the program runs.

use crate::array::{Texts, texts};
use crate::component::{components, sinew_component};
use crate::component_library::{load, of_package};
use crate::context::sinew_context;
use crate::handle::{self, handle};
use crate::logging::sinew_log_level;
use crate::parameter_list::{sinew_parameter_list, values_of};
use crate::status::{Failure, Result, answer, sinew_status, status};
use crate::strings::sinew_strings;
use crate::structure::{Structure, structure};
use crate::text::{c_text, optional_text, text};
use ::sinew_component::{Component, Container, ContainerBuilder};
use sinew::Context;
use sinew::parameters::NamedValue;
use sinew_interfaces::composition_interfaces::srv::LoadNodeRequest;
use sinew_interfaces::rcl_interfaces::msg::Parameter;
use std::ffi::{CString, c_char};

/// A container: a node with the services `~/_container/load_node`, `unload_node` and `list_nodes`
/// of ROS 2's `composition_interfaces`, which make nodes of components in this process. The
/// services run in the executor to which the context, or the container's node, was added.
pub struct sinew_container {
    _opaque: (),
}
handle!(sinew_container: ContainerHandle);

/// A container with its name as C reads it.
pub(crate) struct ContainerHandle {
    container: Container,
    full_name: CString,
}

/// The options of [`sinew_container_new`]. Zero is the default of every field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_container_options {
    /// `sizeof(struct sinew_container_options)`.
    pub size: usize,
    /// The first of the program's own components; null: it has none. They and what they name live
    /// as long as the process.
    pub components: *const sinew_component,
    /// Shared libraries with components, as `sinew_container_add_library` takes them.
    pub libraries: *const *const c_char,
    /// The number of libraries.
    pub library_count: usize,
}

// SAFETY: C's layout, beginning with the size; zeros are null, a number.
unsafe impl Structure for sinew_container_options {
    const NAME: &str = "sinew_container_options";
}

/// The options of [`sinew_container_load_node`]. Zero is the default of every field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_load_node_options {
    /// `sizeof(struct sinew_load_node_options)`.
    pub size: usize,
    /// The package in which the component is searched if the container doesn't have it: its
    /// libraries are those that it lists in ROS 2's index, in the directories of
    /// `AMENT_PREFIX_PATH`. With a slash in it: the path of a library. Null: nothing is searched.
    pub package: *const c_char,
    /// The node's name. Null: that of the component.
    pub node_name: *const c_char,
    /// The node's namespace. Null: that of the component.
    pub node_namespace: *const c_char,
    /// Rules that rename, as `from:=to`.
    pub remap: *const *const c_char,
    /// The number of rules.
    pub remap_count: usize,
    /// Values for its parameters. Null: none.
    pub parameters: *const sinew_parameter_list,
    /// The level of its logger. `SINEW_LOG_LEVEL_UNSET`: that of the process.
    pub log_level: sinew_log_level,
}

// SAFETY: C's layout, beginning with the size; zeros are null, numbers.
unsafe impl Structure for sinew_load_node_options {
    const NAME: &str = "sinew_load_node_options";
}

/// Makes a container with this node name, and loads the nodes that the context's command line
/// names: `--component TYPE` or `--component TYPE=NODE`, outside `--ros-args`.
///
/// `options` may be null. The caller frees `*container` with `sinew_container_free`.
///
/// Fails with `SINEW_ERROR_INVALID_LIBRARY` if a library can't be used,
/// `SINEW_ERROR_COMPONENT_FAILED` if a node can't be made, and as `sinew_node_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_container_new(
    context: *const sinew_context,
    name: *const c_char,
    options: *const sinew_container_options,
    container: Option<&mut *mut sinew_container>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let context = unsafe { handle::get(context, "context") }?;
        // SAFETY: the caller's text.
        let name = unsafe { text(name, "name") }?;
        // SAFETY: the caller's structure.
        let options = unsafe { structure(options) }?;
        // SAFETY: the caller's list.
        let mut all = unsafe { components(options.components) }?;
        // SAFETY: the caller's array of texts.
        for path in unsafe { texts(options.libraries, options.library_count, "libraries") }? {
            all.extend(load(path)?);
        }
        let made = made(context, name, all)?;
        let full_name = c_text(made.node().full_name().to_owned());
        handle::put(container, "container", ContainerHandle { container: made, full_name })
    })
}

/// Makes a container that finds libraries by itself.
pub(crate) fn made(context: &Context, name: &str, components: Vec<Component>) -> Result<Container> {
    let find = |package: &str, type_name: &str| {
        of_package(package, Some(type_name)).map_err(|failure| failure.sentence())
    };
    let builder = Container::builder(context, name).loader(find);
    let builder = components.into_iter().fold(builder, ContainerBuilder::register);
    Ok(builder.build()?)
}

/// Frees a container; null is allowed. Its nodes are unloaded: each component is destroyed on this
/// thread, or on the thread that loads or unloads a node now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_container_free(container: *mut sinew_container) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(container, "container") };
}

/// Returns the container's full node name. The text lives as long as the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_container_full_name(container: *const sinew_container) -> *const c_char {
    // SAFETY: the caller's handle.
    answer(std::ptr::null(), || Ok(unsafe { handle::get(container, "container") }?.full_name.as_ptr()))
}

/// Loads a shared library, which is never unloaded, and adds its components; they replace others of
/// the same names. `path` is that of a file, or a name without a slash that the system's linker
/// finds.
///
/// Fails with `SINEW_ERROR_INVALID_LIBRARY` if it can't be loaded, has no components, or is built
/// for another version of Sinew or with a copy of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_container_add_library(
    container: *const sinew_container,
    path: *const c_char,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let container = &unsafe { handle::get(container, "container") }?.container;
        // SAFETY: the caller's text.
        let path = unsafe { text(path, "path") }?;
        load(path)?.into_iter().for_each(|component| container.register(component));
        Ok(())
    })
}

/// Makes a node of a component, on this thread, as the service `load_node` does. `*id` is its
/// number for `sinew_container_unload_node`.
///
/// `options` may be null. Fails with `SINEW_ERROR_UNKNOWN_COMPONENT`,
/// `SINEW_ERROR_COMPONENT_FAILED`, `SINEW_ERROR_BUSY` if another thread makes a node of the same
/// component, and as `sinew_node_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_container_load_node(
    container: *const sinew_container,
    type_name: *const c_char,
    options: *const sinew_load_node_options,
    id: Option<&mut u64>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let container = &unsafe { handle::get(container, "container") }?.container;
        // SAFETY: the caller's text.
        let type_name = unsafe { text(type_name, "type_name") }?;
        // SAFETY: the caller's structure, with what it names.
        let request = unsafe { request(type_name, options) }?;
        let id = id.ok_or_else(|| Failure::null("id"))?;
        *id = container.load(&request)?.0;
        Ok(())
    })
}

/// Returns the request that options describe.
///
/// # Safety
/// The structure and what it names are the caller's.
unsafe fn request(type_name: &str, options: *const sinew_load_node_options) -> Result<LoadNodeRequest> {
    // SAFETY: the caller's structure.
    let options = unsafe { structure(options) }?;
    // SAFETY: the caller's text.
    let package = unsafe { optional_text(options.package, "package") }?;
    // SAFETY: the caller's text.
    let name = unsafe { optional_text(options.node_name, "node_name") }?;
    // SAFETY: the caller's text.
    let namespace = unsafe { optional_text(options.node_namespace, "node_namespace") }?;
    // SAFETY: the caller's array of texts.
    let rules = unsafe { texts(options.remap, options.remap_count, "remap") }?;
    let values = if options.parameters.is_null() {
        Vec::new()
    } else {
        // SAFETY: the caller's handle.
        unsafe { values_of(options.parameters, "parameters") }?
    };
    let owned = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let value = |NamedValue { name, value, .. }: NamedValue| Parameter { name, value: value.to_msg() };
    let level = options.log_level;
    Ok(LoadNodeRequest {
        package_name: owned(package),
        plugin_name: type_name.to_owned(),
        node_name: owned(name),
        node_namespace: owned(namespace),
        log_level: u8::try_from(level).map_err(|_| Failure::enumerator("log_level", level))?,
        remap_rules: rules.into_iter().map(str::to_owned).collect(),
        parameters: values.into_iter().map(value).collect(),
        ..LoadNodeRequest::default()
    })
}

/// Unloads a node: destroys its component, on this thread. Fails with
/// `SINEW_ERROR_UNKNOWN_COMPONENT` if no node has the number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_container_unload_node(
    container: *const sinew_container,
    id: u64,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let container = &unsafe { handle::get(container, "container") }?.container;
        Ok(container.unload(id)?)
    })
}

/// Gets the names of its components, sorted. The caller frees `*types`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_container_types(
    container: *const sinew_container,
    types: Option<&mut *mut sinew_strings>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let container = &unsafe { handle::get(container, "container") }?.container;
        handle::put(types, "types", Texts::new(container.types()))
    })
}

/// Gets the full names of its nodes, in the order of their numbers. The caller frees `*names`.
///
/// `ids` may be null; otherwise it has `capacity` places, which get the numbers, as far as they
/// suffice.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_container_nodes(
    container: *const sinew_container,
    names: Option<&mut *mut sinew_strings>,
    ids: *mut u64,
    capacity: usize,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let container = &unsafe { handle::get(container, "container") }?.container;
        let nodes = container.nodes();
        if !ids.is_null() {
            for (place, (id, _)) in nodes.iter().take(capacity).enumerate() {
                // SAFETY: within the caller's places.
                let place = unsafe { ids.add(place) };
                // SAFETY: as above.
                unsafe { place.write(*id) };
            }
        }
        handle::put(names, "names", Texts::new(nodes.into_iter().map(|(_, name)| name)))
    })
}
