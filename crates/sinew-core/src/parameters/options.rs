//! A node's settings for its parameters.

use super::value::NamedValue;

/// The parameter of every node with parameters: whether its clocks follow `/clock`.
pub(crate) const USE_SIM_TIME: &str = "use_sim_time";

/// Whether the node has `~/get_type_description`. Only nodes with a value for it have this
/// parameter; in ROS 2 all nodes have it, and it is true.
pub(crate) const START_TYPE_DESCRIPTION_SERVICE: &str = "start_type_description_service";

/// A node's settings for its parameters; see `NodeBuilder`.
#[derive(Debug, Clone)]
pub(crate) struct ParameterOptions {
    /// Values that take precedence over the command line.
    pub(crate) overrides: Vec<NamedValue>,
    /// Setting an undeclared parameter declares it.
    pub(crate) allow_undeclared: bool,
    /// Overridden parameters are declared when the node is created.
    pub(crate) declare_overrides: bool,
    /// Whether it has the six services: from the start, never, or (`None`) once it has a parameter
    /// or a client of them exists.
    pub(crate) services: Option<bool>,
    /// Whether changes are published on `/parameter_events`.
    pub(crate) events: bool,
}

impl Default for ParameterOptions {
    fn default() -> Self {
        Self {
            overrides: Vec::new(),
            allow_undeclared: false,
            declare_overrides: false,
            services: None,
            events: true,
        }
    }
}
