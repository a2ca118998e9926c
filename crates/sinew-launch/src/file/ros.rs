//! The meaning of the elements of ROS 2's launch files.
//!
//! The names are those of the packages `launch_xml`, `launch_yaml` and `launch_ros`. An element
//! that isn't supported is reported in a sentence.

use super::element::{Element, Value};
use crate::description::{
    Argument, ComponentItem, Condition, Group, Include, Item, ItemKind, ParameterItem, ParameterKind,
    ParameterValue, ProcessItem, RestartItem, Typing, Words,
};
use crate::error::{LoadError, Problem};
use crate::similar::suggestion;
use crate::text::Text;

type Read<T> = Result<T, LoadError>;

/// Returns the items of a file, from its root.
pub(super) fn items(root: &Element) -> Read<Vec<Item>> {
    if root.tag != "launch" {
        let (what, remedy) = (format!("`{}` here", root.tag), "the outermost element is `launch`".to_owned());
        return Err(Problem::NotUnderstood { what, remedy }.at(&root.place));
    }
    children(root)
}

fn children(element: &Element) -> Read<Vec<Item>> {
    element.children.iter().map(item).collect()
}

/// Elements of a file or group.
const TAGS: [&str; 18] = [
    "node",
    "executable",
    "node_container",
    "load_composable_node",
    "arg",
    "let",
    "include",
    "group",
    "push_ros_namespace",
    "push-ros-namespace",
    "set_env",
    "unset_env",
    "set_remap",
    "set_parameter",
    "set_parameters_from_file",
    "set_use_sim_time",
    "env",
    "remap",
];

fn item(element: &Element) -> Read<Item> {
    let kind = match element.tag.as_str() {
        "node" => ItemKind::Process(Box::new(node(element, &[])?)),
        "node_container" | "node-container" => ItemKind::Process(Box::new(container(element)?)),
        "executable" => ItemKind::Process(Box::new(executable(element)?)),
        "arg" => ItemKind::Argument(argument(element)?),
        "let" => {
            element.check(&["name", "value"], &[])?;
            let name = element.needed("name", "what the variable is called")?;
            ItemKind::Let { name, value: element.needed("value", "what it is")? }
        }
        "include" => ItemKind::Include(include(element)?),
        "group" => {
            let scoped = element.text("scoped")?;
            if let Some(other) =
                element.attributes.iter().find(|it| !["scoped", "if", "unless"].contains(&it.name.as_str()))
            {
                let (what, remedy) = (
                    format!("`{}` of a group", other.name),
                    "a group may have `scoped`, `if` and `unless`".to_owned(),
                );
                return Err(Problem::NotUnderstood { what, remedy }.at(&other.place));
            }
            ItemKind::Group(Group { name: None, scoped, after: Vec::new(), items: children(element)? })
        }
        "push_ros_namespace" | "push-ros-namespace" => {
            element.check(&["namespace"], &[])?;
            ItemKind::Namespace(element.needed("namespace", "the namespace")?)
        }
        "set_env" | "env" => {
            element.check(&["name", "value"], &[])?;
            let name = element.needed("name", "the variable")?;
            ItemKind::Environment { name, value: Some(element.needed("value", "what it is set to")?) }
        }
        "unset_env" => {
            element.check(&["name"], &[])?;
            ItemKind::Environment { name: element.needed("name", "the variable")?, value: None }
        }
        "set_remap" | "remap" => {
            let (from, to) = remap(element)?;
            ItemKind::Remap { from, to }
        }
        "set_parameter" => {
            element.check(&["name", "value", "type"], &[])?;
            let name = element.needed("name", "the parameter")?;
            ItemKind::Parameter(ParameterItem {
                place: element.place.clone(),
                kind: value_of(element, name)?,
            })
        }
        "set_use_sim_time" => {
            element.check(&["value"], &[])?;
            let name = Text::literal("use_sim_time", &element.place);
            ItemKind::Parameter(ParameterItem {
                place: element.place.clone(),
                kind: value_of(element, name)?,
            })
        }
        "set_parameters_from_file" => {
            element.check(&["filename"], &[])?;
            let path = element.needed("filename", "the parameter file")?;
            let kind = ParameterKind::File { path, has_substitutions: false };
            ItemKind::Parameter(ParameterItem { place: element.place.clone(), kind })
        }
        "load_composable_node" | "load-composable-node" => {
            element.check(&["target"], &["composable_node"])?;
            let container = element.needed("target", "the name of the container's node")?;
            ItemKind::Components { container, components: components(element)? }
        }
        tag => return Err(unknown(tag).at(&element.place)),
    };
    Ok(Item { place: element.place.clone(), condition: condition(element)?, kind })
}

fn condition(element: &Element) -> Read<Condition> {
    let condition = Condition { on_true: element.text("if")?, on_false: element.text("unless")? };
    if let (Some(text), Some(_)) = (&condition.on_true, &condition.on_false) {
        let expected = "an element has either `if` or `unless`";
        return Err(Problem::value("if", "there beside `unless`", expected).at(&text.place));
    }
    Ok(condition)
}

fn unknown(tag: &str) -> Problem {
    let remedy = match tag {
        "composable_node" => {
            "components are written as `composable_node` in the `node_container` that has them, or in a `load_composable_node`"
        }
        "timer" => "start a process later by `ready = { delay = .. }` and `after` in a TOML file",
        "event_handler" | "on_exit" | "register_event_handler" => {
            "order and restarts are said by `after`, `ready` and `restart` in a TOML file"
        }
        "append_env" | "prepend_env" => "write `set_env` with `$(env NAME)` in its value",
        "log" | "log_info" => "print it from a program",
        "lifecycle_node" => "start it as a `node`; its states are changed by a program of yours",
        _ => {
            let similar = suggestion(tag, TAGS);
            let remedy = format!("there may be {}{similar}", TAGS[..16].join(", "));
            return Problem::NotUnderstood { what: format!("`{tag}`"), remedy };
        }
    };
    Problem::NotUnderstood { what: format!("`{tag}`"), remedy: remedy.to_owned() }
}

fn argument(element: &Element) -> Read<Argument> {
    element.check(&["name", "default", "description"], &["choice"])?;
    let missing = "what the argument is called";
    element.needed("name", missing)?;
    let mut choices = Vec::new();
    for choice in element.children("choice") {
        choice.check(&["value"], &[])?;
        choice.needed("value", "what may be given")?;
        choices.extend(choice.literal("value")?);
    }
    Ok(Argument {
        name: element.literal("name")?.unwrap_or_default(),
        default: element.text("default")?,
        is_text: false,
        description: element.literal("description")?.unwrap_or_default(),
        choices,
    })
}

fn include(element: &Element) -> Read<Include> {
    element.check(&["file"], &["arg", "let"])?;
    let mut arguments = Vec::new();
    for argument in &element.children {
        argument.check(&["name", "value"], &[])?;
        let name = argument.needed("name", "which argument")?;
        arguments.push((name, argument.needed("value", "what it is set to")?));
    }
    Ok(Include {
        name: None,
        file: element.needed("file", "the launch file to include")?,
        namespace: None,
        arguments,
        inherits: true,
        after: Vec::new(),
    })
}

/// Attributes of nodes and other programs.
const PROCESS: [&str; 14] = [
    "name",
    "args",
    "output",
    "respawn",
    "respawn_delay",
    "respawn_max_retries",
    "launch-prefix",
    "launch_prefix",
    "cwd",
    "emulate_tty",
    "sigterm_timeout",
    "sigkill_timeout",
    "on_exit",
    "additional_env",
];

/// Reads a node; `others` are further allowed children.
fn node(element: &Element, others: &[&str]) -> Read<ProcessItem> {
    let own = ["pkg", "exec", "namespace", "ros_args"];
    let known: Vec<&str> = own.into_iter().chain(PROCESS).collect();
    let within: Vec<&str> = ["param", "remap", "env"].iter().chain(others).copied().collect();
    element.check(&known, &within)?;
    let mut process = process(element)?;
    process.package = Some(element.needed("pkg", "the package that has the program")?);
    process.program = Some(element.needed("exec", "the program")?);
    process.takes_ros_arguments = true;
    process.node = element.text("name")?;
    process.namespace = element.text("namespace")?;
    process.arguments = element.text("args")?.map(Words::Line).into_iter().collect();
    process.ros_arguments = element.text("ros_args")?.map(Words::Line).into_iter().collect();
    for remapping in element.children("remap") {
        process.remap.push(remap(remapping)?);
    }
    for parameter in element.children("param") {
        parameters(parameter, "", &mut process.parameters)?;
    }
    Ok(process)
}

/// Reads a process with the nodes that it loads.
fn container(element: &Element) -> Read<ProcessItem> {
    let mut process = node(element, &["composable_node"])?;
    if let Some(package) = process.package.take_if(|it| it.as_literal() == Some("rclcpp_components")) {
        let threads = match process.program.as_ref().and_then(Text::as_literal) {
            Some("component_container") => None,
            // An executor for each node, or one with a thread for each core: no callback waits for
            // that of another node.
            Some("component_container_mt" | "component_container_isolated") => Some("--threads=all"),
            _ => {
                let expected = "its programs are component_container, component_container_mt and component_container_isolated; \
                                sinew-container stands in for them";
                return Err(Problem::value("pkg", "rclcpp_components", expected).at(&package.place));
            }
        };
        process.program = Some(Text::literal("sinew-container", &package.place));
        process.arguments.extend(threads.map(|word| Words::One(Text::literal(word, &package.place))));
    }
    process.components = components(element)?;
    Ok(process)
}

/// Reads the nodes that a container loads.
fn components(element: &Element) -> Read<Vec<ComponentItem>> {
    let mut all = Vec::new();
    for component in element.children("composable_node") {
        component.check(&["pkg", "plugin", "name", "namespace"], &["param", "remap", "extra_arg"])?;
        let mut item = ComponentItem {
            place: component.place.clone(),
            condition: condition(component)?,
            name: component.needed("name", "what its node is called")?,
            namespace: component.text("namespace")?,
            is_below_process: false,
            type_name: component.needed("plugin", "the type of the component")?,
            package: component.text("pkg")?,
            remap: Vec::new(),
            parameters: Vec::new(),
            log_level: None,
        };
        for remapping in component.children("remap") {
            item.remap.push(remap(remapping)?);
        }
        for parameter in component.children("param") {
            parameters(parameter, "", &mut item.parameters)?;
        }
        for extra in component.children("extra_arg") {
            extra.check(&["name", "value"], &[])?;
            // Messages within a process are always moved.
            if extra.literal("name")?.as_deref() != Some("use_intra_process_comms") {
                let what = format!("`extra_arg` {}", extra.literal("name")?.unwrap_or_default());
                let remedy = "only `use_intra_process_comms` is understood".to_owned();
                return Err(Problem::NotUnderstood { what, remedy }.at(&extra.place));
            }
        }
        all.push(item);
    }
    Ok(all)
}

fn executable(element: &Element) -> Read<ProcessItem> {
    let known: Vec<&str> = ["cmd", "shell"].into_iter().chain(PROCESS).collect();
    element.check(&known, &["env"])?;
    let mut process = process(element)?;
    let line = element.needed("cmd", "the command line")?;
    let shell = element.literal("shell")?.unwrap_or_default();
    process.name = element.literal("name")?;
    if matches!(shell.as_str(), "true" | "True" | "1") {
        process.program = Some(Text::literal("sh", &line.place));
        process.arguments.push(Words::One(Text::literal("-c", &line.place)));
        process.arguments.push(Words::One(line));
    } else {
        process.command = Some(Words::Line(line));
        process.arguments.extend(element.text("args")?.map(Words::Line));
    }
    Ok(process)
}

fn process(element: &Element) -> Read<ProcessItem> {
    let mut environment = Vec::new();
    for variable in element.children("env") {
        variable.check(&["name", "value"], &[])?;
        let value = variable.needed("value", "what it is set to")?;
        environment.push((variable.needed("name", "the variable")?, Some(value)));
    }
    let required = match element.literal("on_exit")?.as_deref() {
        None => None,
        Some("shutdown") => Some(Text::literal("true", &element.place)),
        Some(other) => {
            let expected = "only `shutdown` is understood";
            return Err(Problem::value("on_exit", format!("`{other}`"), expected).at(&element.place));
        }
    };
    let restart = RestartItem {
        policy: element.text("respawn")?,
        delay: element.text("respawn_delay")?,
        // The delay doesn't grow beyond the one in the file.
        max_delay: element.text("respawn_delay")?,
        max: element.text("respawn_max_retries")?.filter(|text| text.as_literal() != Some("-1")),
        window: element.attribute("respawn_max_retries").map(|it| Text::literal("86400", &it.place)),
    };
    let output = element.text("output")?.unwrap_or_else(|| Text::literal("log", &element.place));
    Ok(ProcessItem {
        environment,
        required,
        restart,
        output: Some(output),
        prefix: element.text_of(["launch-prefix", "launch_prefix"])?.map(Words::Line),
        directory: element.text("cwd")?,
        grace: element.text("sigterm_timeout")?,
        grace_after_term: element.text("sigkill_timeout")?,
        ..ProcessItem::default()
    })
}

fn remap(element: &Element) -> Read<(Text, Text)> {
    element.check(&["from", "to"], &[])?;
    Ok((element.needed("from", "the name in the program")?, element.needed("to", "what it becomes")?))
}

/// Reads a parameter, its nested parameters, or a parameter file.
fn parameters(element: &Element, above: &str, all: &mut Vec<ParameterItem>) -> Read<()> {
    let known = ["name", "value", "type", "value-sep", "value_sep", "sep", "from", "allow_substs"];
    element.check(&known, &["param"])?;
    let place = element.place.clone();
    if let Some(path) = element.text("from")? {
        let substitutes = element.literal("allow_substs")?.unwrap_or_default();
        let has_substitutions = matches!(substitutes.as_str(), "true" | "True" | "1");
        all.push(ParameterItem { place, kind: ParameterKind::File { path, has_substitutions } });
        return Ok(());
    }
    let mut name = element.needed("name", "what the parameter is called (or `from`, for a file)")?;
    if element.children.is_empty() {
        name.parts.insert(0, crate::text::Part::Literal(above.to_owned()));
        all.push(ParameterItem { place, kind: value_of(element, name)? });
        return Ok(());
    }
    let Some(own) = name.as_literal() else {
        let expected = "the name of a parameter with others below it is no text with `$(..)`";
        return Err(Problem::value("name", "such a text", expected).at(&name.place));
    };
    let below = format!("{above}{own}.");
    element.children.iter().try_for_each(|child| parameters(child, &below, all))
}

/// Reads the value of a parameter's element.
fn value_of(element: &Element, name: Text) -> Read<ParameterKind> {
    let typing = match element.literal("type")?.as_deref() {
        None | Some("auto") => Typing::Inferred,
        Some("str" | "string") => Typing::Text,
        Some("int") => Typing::Integer,
        Some("float") => Typing::Double,
        Some("bool") => Typing::Bool,
        Some(other) => {
            let expected = "it has to be auto, str, int, float or bool";
            return Err(Problem::value("type", format!("`{other}`"), expected).at(&element.place));
        }
    };
    let Some(attribute) = element.attribute("value") else {
        let (owner, purpose) = (format!("`{}`", element.tag), "what the parameter is");
        return Err(Problem::Missing { owner, key: "value", purpose }.at(&element.place));
    };
    let value = match &attribute.value {
        Value::List(values) => {
            let texts = values.iter().map(|(text, place)| Text::parse(text, place));
            ParameterValue::List(texts.collect::<Result<_, _>>()?)
        }
        Value::Text { text, is_quoted } => {
            let separator =
                element.literal("value-sep")?.or(element.literal("value_sep")?).or(element.literal("sep")?);
            let place = &attribute.place;
            match separator.filter(|separator| !separator.is_empty()) {
                Some(separator) => {
                    let texts = text.split(separator.as_str()).map(|text| Text::parse(text.trim(), place));
                    ParameterValue::List(texts.collect::<Result<_, _>>()?)
                }
                None => {
                    let text = Text::parse(text, place)?;
                    let is_text = *is_quoted && text.as_literal().is_some();
                    ParameterValue::As(
                        text,
                        if is_text && typing == Typing::Inferred { Typing::Text } else { typing },
                    )
                }
            }
        }
    };
    Ok(ParameterKind::Value { name, value })
}
