//! Nodes.

use crate::context::Context;
use crate::error::raise;
use crate::group::{Owner, Place};
use crate::parameter::from_python;
use crate::wait;
use parking_lot::Mutex;
use pyo3::prelude::*;
use sinew::logging::LoggerServices;
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
        arguments: Vec<String>,
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
        for rule in &arguments {
            builder = builder.remap(rule);
        }
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
