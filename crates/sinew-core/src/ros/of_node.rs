//! The services and the topic that nodes have below their names without a program's doing: other
//! programs address the node itself through them, so their names contain the node's.

/// Their last parts, by the package of their types.
const OF_EACH: [(&str, &[&str]); 3] = [
    (
        "rcl_interfaces",
        &[
            "describe_parameters",
            "get_logger_levels",
            "get_parameter_types",
            "get_parameters",
            "list_parameters",
            "set_logger_levels",
            "set_parameters",
            "set_parameters_atomically",
        ],
    ),
    ("type_description_interfaces", &["get_type_description"]),
    (
        "lifecycle_msgs",
        &[
            "change_state",
            "get_available_states",
            "get_available_transitions",
            "get_state",
            "get_transition_graph",
            "transition_event",
        ],
    ),
];

/// Returns the node's full name and the rest of the name, if the name and type are those of a
/// service or topic that every node may have: the services for parameters, levels of loggers,
/// descriptions of types and lifecycles, and the topic of a lifecycle's events.
///
/// Another name for one of them would lead to another node, so such names must not be suggested.
///
/// ```
/// use sinew::names::of_node;
/// let change = "lifecycle_msgs/srv/ChangeState";
/// assert_eq!(of_node("/left/lidar/change_state", change), Some(("/left/lidar", "change_state")));
/// assert_eq!(of_node("/change_state", change), None);
/// assert_eq!(of_node("/arm/get_state", "arm_msgs/srv/GetState"), None);
/// ```
#[must_use]
pub fn of_node<'a>(name: &'a str, type_name: &str) -> Option<(&'a str, &'a str)> {
    let (node, last) = name.rsplit_once('/').filter(|(node, _)| !node.is_empty())?;
    let (package, _) = type_name.split_once('/')?;
    let is_own = OF_EACH.iter().any(|(of, names)| *of == package && names.contains(&last));
    is_own.then_some((node, last))
}

#[cfg(test)]
mod tests {
    use super::of_node;

    #[test]
    fn the_name_and_the_type_tell_what_is_a_nodes_own() {
        let levels = "rcl_interfaces/srv/GetLoggerLevels";
        assert_eq!(of_node("/arm/get_logger_levels", levels), Some(("/arm", "get_logger_levels")));
        let event = "lifecycle_msgs/msg/TransitionEvent";
        assert_eq!(of_node("/a/b/transition_event", event), Some(("/a/b", "transition_event")));
        for (name, type_name) in [
            ("/arm/change_state", levels),
            ("/arm/get_logger_level", levels),
            ("/get_logger_levels", levels),
            ("get_logger_levels", levels),
            ("/arm/get_logger_levels", "rcl_interfaces"),
            ("/arm/get_logger_levels", "arm/rcl_interfaces/GetLoggerLevels"),
            ("", ""),
        ] {
            assert_eq!(of_node(name, type_name), None, "{name} {type_name}");
        }
    }
}
