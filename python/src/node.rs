//! Nodes.

use crate::context::Context;
use crate::error::{raise, with_code};
use crate::group::{Owner, Place};
use crate::parameter::from_python;
use crate::wait;
use parking_lot::Mutex;
use pyo3::prelude::*;
use sinew::error::ErrorCode;
use sinew::logging::LoggerServices;
use sinew::parameters::{NodeBuilder, ParameterFile};
use std::collections::HashMap;
use std::sync::Arc;

/// A node. Its Python class is `sinew.Node`.
#[pyclass(frozen, module = "sinew._sinew")]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) context: sinew::Context,
    /// Its other callback groups.
    groups: Mutex<Vec<Place>>,
    name: String,
    namespace: String,
    full_name: Arc<str>,
    /// Kept: dropping them ends the services.
    logger_services: Mutex<Option<LoggerServices>>,
}

#[pymethods]
impl Node {
    #[new]
    #[pyo3(signature = (context, name, *, namespace=None, arguments=Vec::new(), use_global_arguments=true, rosout=true, parameter_services=true, logger_services=false, overrides=None, allow_undeclared=false, declare_overrides=false))]
    #[expect(clippy::too_many_arguments, reason = "options, by their names")]
    fn new(
        py: Python<'_>,
        context: &Context,
        name: &str,
        namespace: Option<&str>,
        arguments: Vec<(String, String)>,
        use_global_arguments: bool,
        rosout: bool,
        parameter_services: bool,
        logger_services: bool,
        overrides: Option<HashMap<String, Bound<'_, PyAny>>>,
        allow_undeclared: bool,
        declare_overrides: bool,
    ) -> PyResult<Self> {
        let mut builder = context.context.node_builder(name);
        if let Some(namespace) = namespace {
            builder = builder.namespace(namespace);
        }
        builder = options(builder, &arguments, name, namespace.unwrap_or("/"))?;
        for (name, value) in overrides.into_iter().flatten() {
            builder = builder.parameter_override(&name, from_python(&value)?);
        }
        let builder = builder
            .global_arguments(use_global_arguments)
            .rosout(rosout)
            .start_parameter_services(parameter_services)
            .allow_undeclared(allow_undeclared)
            .declare_overrides(declare_overrides);
        let (node, services) = wait::detached(py, || {
            let node = builder.create()?;
            let services = logger_services.then(|| node.logger_services()).transpose()?;
            Ok::<_, sinew::Error>((node, services))
        })
        .map_err(raise)?;
        let full_name = Arc::from(node.full_name());
        Ok(Self {
            name: node.name().to_owned(),
            namespace: node.namespace().to_owned(),
            place: Place::new(Arc::clone(&full_name), Owner::Node(node)),
            full_name,
            context: context.context.clone(),
            groups: Mutex::default(),
            logger_services: Mutex::new(services),
        })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    #[getter]
    fn namespace(&self) -> &str {
        &self.namespace
    }

    #[getter]
    fn full_name(&self) -> &str {
        &self.full_name
    }

    /// Returns the node's ROS time in nanoseconds.
    fn now(&self) -> PyResult<i64> {
        Ok(self.get()?.now().nanoseconds())
    }

    /// Takes it out of the graph, once its entities are destroyed. It makes no others.
    fn destroy(&self, py: Python<'_>) {
        let services = self.logger_services.lock().take();
        let groups = std::mem::take(&mut *self.groups.lock());
        wait::detached(py, || {
            drop(services);
            groups.iter().for_each(Place::clear);
            self.place.clear();
        });
    }
}

impl Node {
    /// # Errors
    /// It is destroyed.
    pub(crate) fn get(&self) -> PyResult<sinew::Node> {
        match self.place.owner()? {
            Owner::Node(node) => Ok(node),
            Owner::Exclusive(_) | Owner::Reentrant(_) => unreachable!("a node's own place is the node"),
        }
    }

    /// Keeps a callback group of it.
    pub(crate) fn add_place(&self, owner: Owner) -> Place {
        let place = Place::new(Arc::clone(&self.full_name), owner);
        let mut groups = self.groups.lock();
        let unused: Vec<Place> = groups.extract_if(.., |group| group.is_unused()).collect();
        groups.push(place.clone());
        drop(groups);
        drop(unused);
        place
    }
}

/// Applies the options of a node's own command line: rules, and values of parameters. Files name
/// the node as these rules do.
fn options(
    mut builder: NodeBuilder,
    arguments: &[(String, String)],
    name: &str,
    namespace: &str,
) -> PyResult<NodeBuilder> {
    let (mut name, mut namespace) = (name, namespace);
    for (from, to) in arguments.iter().filter_map(|(_, text)| text.split_once(":=")) {
        match from {
            "__ns" => namespace = to,
            "__node" | "__name" => name = to,
            _ => {}
        }
    }
    let full_name = format!("{}/{name}", namespace.trim_end_matches('/'));
    for (kind, text) in arguments {
        builder = match kind.as_str() {
            "remap" => builder.remap(text),
            "param" => parameter(builder, text, &full_name)?,
            _ => file(builder, text, &full_name)?,
        };
    }
    Ok(builder)
}

/// Applies `NAME:=VALUE`, or `NODE:NAME:=VALUE` if that is the node.
fn parameter(builder: NodeBuilder, text: &str, node: &str) -> PyResult<NodeBuilder> {
    let wrong = |problem: &str| {
        let sentence = format!("the argument `-p {text}` of node {node} is invalid: {problem}");
        with_code(ErrorCode::InvalidParameterText, sentence)
    };
    let (name, value) = text.split_once(":=").ok_or_else(|| wrong("it is NAME:=VALUE"))?;
    let value = ParameterFile::value(value).map_err(|error| wrong(&error.to_string()))?;
    match name.split_once(':') {
        Some((of, _)) if !ParameterFile::matches(&format!("/{}", of.trim_start_matches('/')), node) => {
            Ok(builder)
        }
        Some((_, name)) => Ok(builder.parameter_override(name, value)),
        None => Ok(builder.parameter_override(name, value)),
    }
}

/// Applies the values of a file for the node.
fn file(mut builder: NodeBuilder, path: &str, node: &str) -> PyResult<NodeBuilder> {
    let wrong = |problem: String| {
        let sentence = format!("the parameter file {path} of node {node} can't be used: {problem}");
        with_code(ErrorCode::InvalidParameterText, sentence)
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let values = ParameterFile::parse(&text).map_err(|error| wrong(error.to_string()))?;
    for one in values.of(node) {
        builder = builder.parameter_override(&one.name, one.value);
    }
    Ok(builder)
}
