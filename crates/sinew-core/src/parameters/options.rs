//! How a node deals with parameters.

use super::value::NamedValue;

/// Every node with parameters has it: whether its clocks follow `/clock`.
pub(crate) const USE_SIM_TIME: &str = "use_sim_time";

/// Whether the node has `~/get_type_description`. Here only nodes have it for which it is given a
/// value; in ROS 2 all have it, and it is true.
pub(crate) const START_TYPE_DESCRIPTION_SERVICE: &str = "start_type_description_service";

/// How a node deals with parameters; see `NodeBuilder`.
#[derive(Debug, Clone)]
pub(crate) struct ParameterOptions {
    /// Stronger than those of the command line.
    pub(crate) overrides: Vec<NamedValue>,
    /// Setting one that isn't declared declares it.
    pub(crate) allow_undeclared: bool,
    /// What is overridden is declared when the node is made.
    pub(crate) declare_overrides: bool,
    /// Whether it has the six services: from the start, never, or (`None`) once it has a parameter,
    /// or a client of them is there.
    pub(crate) services: Option<bool>,
    /// Whether changes are published.
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
