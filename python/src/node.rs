//! Nodes.

use crate::context::Context;
use crate::error::raise;
use crate::parameter::from_python;
use crate::wait;
use pyo3::prelude::*;
use sinew::logging::LoggerServices;
use std::collections::HashMap;

/// A node. Its Python class is `sinew.Node`.
#[pyclass(frozen, module = "sinew._sinew")]
pub(crate) struct Node {
    pub(crate) node: sinew::Node,
    pub(crate) context: sinew::Context,
    /// Kept: dropping them ends the services.
    _logger_services: Option<LoggerServices>,
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
        Ok(Self { node, context: context.context.clone(), _logger_services: services })
    }

    #[getter]
    fn name(&self) -> &str {
        self.node.name()
    }

    #[getter]
    fn namespace(&self) -> &str {
        self.node.namespace()
    }

    #[getter]
    fn full_name(&self) -> &str {
        self.node.full_name()
    }

    /// Returns the node's ROS time in nanoseconds.
    fn now(&self) -> i64 {
        self.node.now().nanoseconds()
    }
}
