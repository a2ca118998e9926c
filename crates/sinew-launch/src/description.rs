//! The content of a launch file of any format: a list of items, before substitutions are replaced
//! and conditions decided.

use crate::parameter::Parameter;
use crate::place::Place;
use crate::text::Text;

/// One item of a file.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) place: Place,
    pub(crate) condition: Condition,
    pub(crate) kind: ItemKind,
}

/// The condition of an item: `if` has to be true, `unless` false.
#[derive(Debug, Default)]
pub(crate) struct Condition {
    pub(crate) on_true: Option<Text>,
    pub(crate) on_false: Option<Text>,
}

#[derive(Debug)]
pub(crate) enum ItemKind {
    Argument(Argument),
    Let {
        name: Text,
        value: Text,
    },
    Process(Box<ProcessItem>),
    Include(Include),
    Group(Group),
    Namespace(Text),
    Environment {
        name: Text,
        value: Option<Text>,
    },
    Remap {
        from: Text,
        to: Text,
    },
    Parameter(ParameterItem),
    /// Components for a container that is declared elsewhere, by its node's name.
    Components {
        container: Text,
        components: Vec<ComponentItem>,
    },
}

/// An argument of the file.
#[derive(Debug)]
pub(crate) struct Argument {
    pub(crate) name: String,
    pub(crate) default: Option<Text>,
    /// The default is certainly a text: `"007"` stays one as a parameter.
    pub(crate) is_text: bool,
    pub(crate) description: String,
    pub(crate) choices: Vec<String>,
}

/// Another launch file.
#[derive(Debug)]
pub(crate) struct Include {
    /// Prefix of its processes' names; `None` in ROS 2's files.
    pub(crate) name: Option<String>,
    pub(crate) file: Text,
    pub(crate) namespace: Option<Text>,
    pub(crate) arguments: Vec<(Text, Text)>,
    /// Whether the file inherits the settings here, as in ROS 2.
    pub(crate) inherits: bool,
    /// Processes that all processes of the file wait for.
    pub(crate) after: Vec<(String, Place)>,
}

/// Items that share their settings.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: Option<String>,
    /// Whether settings in the group end with it.
    pub(crate) scoped: Option<Text>,
    pub(crate) after: Vec<(String, Place)>,
    pub(crate) items: Vec<Item>,
}

/// A process.
#[derive(Debug, Default)]
pub(crate) struct ProcessItem {
    /// The process's name in the file; by default the name of its node or program.
    pub(crate) name: Option<String>,
    pub(crate) package: Option<Text>,
    pub(crate) program: Option<Text>,
    /// A whole command line instead of the program.
    pub(crate) command: Option<Words>,
    pub(crate) arguments: Vec<Words>,
    /// Whether `--ros-args` are added for names, remappings and parameters.
    pub(crate) takes_ros_arguments: bool,
    pub(crate) ros_arguments: Vec<Words>,
    /// A command that runs the program, such as `gdb --args`.
    pub(crate) prefix: Option<Words>,
    /// Nodes that the process is to load.
    pub(crate) components: Vec<ComponentItem>,
    pub(crate) node: Option<Text>,
    pub(crate) namespace: Option<Text>,
    pub(crate) remap: Vec<(Text, Text)>,
    pub(crate) parameters: Vec<ParameterItem>,
    pub(crate) environment: Vec<(Text, Option<Text>)>,
    pub(crate) directory: Option<Text>,
    pub(crate) output: Option<Text>,
    pub(crate) required: Option<Text>,
    pub(crate) restart: RestartItem,
    pub(crate) after: Vec<(String, Place)>,
    pub(crate) ready: ReadyItem,
    pub(crate) signal: Option<Text>,
    /// Seconds from that signal to SIGTERM.
    pub(crate) grace: Option<Text>,
    /// Seconds from SIGTERM to SIGKILL.
    pub(crate) grace_after_term: Option<Text>,
}

/// A node that a process is to load.
#[derive(Debug)]
pub(crate) struct ComponentItem {
    pub(crate) place: Place,
    pub(crate) condition: Condition,
    pub(crate) name: Text,
    /// Relative to the namespace that `is_below_process` selects.
    pub(crate) namespace: Option<Text>,
    /// Whether its names are relative to the process's namespace, or to the one around that.
    pub(crate) is_below_process: bool,
    pub(crate) type_name: Text,
    /// The package of its library, or the library's path; only `sinew-container` gets it.
    pub(crate) package: Option<Text>,
    pub(crate) remap: Vec<(Text, Text)>,
    pub(crate) parameters: Vec<ParameterItem>,
    pub(crate) log_level: Option<Text>,
}

/// Words of a command line.
#[derive(Debug)]
pub(crate) enum Words {
    /// A single word with any content.
    One(Text),
    /// A line that is split as in a shell.
    Line(Text),
}

#[derive(Debug)]
pub(crate) struct ParameterItem {
    pub(crate) place: Place,
    pub(crate) kind: ParameterKind,
}

#[derive(Debug)]
pub(crate) enum ParameterKind {
    Value { name: Text, value: ParameterValue },
    File { path: Text, has_substitutions: bool },
}

#[derive(Debug)]
pub(crate) enum ParameterValue {
    /// A value of a known type.
    Typed(Parameter),
    /// A text; certainly a string if nothing in it is replaced.
    Text(Text),
    /// A text that is read as a value of that type.
    As(Text, Typing),
    /// A list of such texts.
    List(Vec<Text>),
}

/// The type as which a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Typing {
    /// Inferred from the text.
    Inferred,
    Bool,
    Integer,
    Double,
    Text,
}

/// The restart settings of a process.
#[derive(Debug, Default)]
pub(crate) struct RestartItem {
    pub(crate) policy: Option<Text>,
    pub(crate) delay: Option<Text>,
    pub(crate) max_delay: Option<Text>,
    pub(crate) max: Option<Text>,
    pub(crate) window: Option<Text>,
}

/// The conditions under which processes that wait for this one may start.
#[derive(Debug, Default)]
pub(crate) struct ReadyItem {
    pub(crate) service: Option<Text>,
    pub(crate) topic: Option<Text>,
    pub(crate) node: Option<Text>,
    pub(crate) delay: Option<Text>,
    pub(crate) exit: Option<Text>,
    pub(crate) timeout: Option<Text>,
}
