//! What a launch file says, whatever it is written in: a list of items, before anything is replaced
//! or decided.

use crate::parameter::Parameter;
use crate::place::Place;
use crate::text::Text;

/// One thing that a file asks for.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) place: Place,
    pub(crate) condition: Condition,
    pub(crate) kind: ItemKind,
}

/// When an item counts: `if` has to be true, `unless` false.
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
    /// Nodes for a container that is written elsewhere, by its node's name.
    Components {
        container: Text,
        components: Vec<ComponentItem>,
    },
}

/// What a user of the file may set.
#[derive(Debug)]
pub(crate) struct Argument {
    pub(crate) name: String,
    pub(crate) default: Option<Text>,
    /// The default is a text for sure: `"007"` stays one as a parameter.
    pub(crate) is_text: bool,
    pub(crate) description: String,
    pub(crate) choices: Vec<String>,
}

/// Another launch file.
#[derive(Debug)]
pub(crate) struct Include {
    /// What its processes' names begin with; nothing in ROS 2's files.
    pub(crate) name: Option<String>,
    pub(crate) file: Text,
    pub(crate) namespace: Option<Text>,
    pub(crate) arguments: Vec<(Text, Text)>,
    /// Whether the file sees what is set here, as in ROS 2.
    pub(crate) inherits: bool,
    /// Processes that all processes of the file wait for.
    pub(crate) after: Vec<(String, Place)>,
}

/// Items that share what is set among them.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: Option<String>,
    /// Whether what is set in it ends with it.
    pub(crate) scoped: Option<Text>,
    pub(crate) after: Vec<(String, Place)>,
    pub(crate) items: Vec<Item>,
}

/// A process.
#[derive(Debug, Default)]
pub(crate) struct ProcessItem {
    /// How it is called here; else by its node or program.
    pub(crate) name: Option<String>,
    pub(crate) package: Option<Text>,
    pub(crate) program: Option<Text>,
    /// A whole command line instead of it.
    pub(crate) command: Option<Words>,
    pub(crate) arguments: Vec<Words>,
    /// Whether `--ros-args` are added for names, remappings and parameters.
    pub(crate) takes_ros_arguments: bool,
    pub(crate) ros_arguments: Vec<Words>,
    /// A command that runs the program, as `gdb --args`.
    pub(crate) prefix: Option<Words>,
    /// Nodes that the process is to take in.
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

/// A node that a process is to take in.
#[derive(Debug)]
pub(crate) struct ComponentItem {
    pub(crate) place: Place,
    pub(crate) condition: Condition,
    pub(crate) name: Text,
    /// Seen from what `is_below_process` says.
    pub(crate) namespace: Option<Text>,
    /// Whether its names are seen from the process's namespace, or from the one around that.
    pub(crate) is_below_process: bool,
    pub(crate) type_name: Text,
    pub(crate) remap: Vec<(Text, Text)>,
    pub(crate) parameters: Vec<ParameterItem>,
    pub(crate) log_level: Option<Text>,
}

/// Words of a command line.
#[derive(Debug)]
pub(crate) enum Words {
    /// Just one, whatever is in it.
    One(Text),
    /// A line that is divided as a shell does.
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
    /// A value that is what it is.
    Typed(Parameter),
    /// A text, which is one for sure if nothing is replaced in it.
    Text(Text),
    /// A text that stands for a value of that type.
    As(Text, Typing),
    /// Such texts, one after another.
    List(Vec<Text>),
}

/// What a text is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Typing {
    /// Whatever it looks like.
    Inferred,
    Bool,
    Integer,
    Double,
    Text,
}

/// What is done when the process ends.
#[derive(Debug, Default)]
pub(crate) struct RestartItem {
    pub(crate) policy: Option<Text>,
    pub(crate) delay: Option<Text>,
    pub(crate) max_delay: Option<Text>,
    pub(crate) max: Option<Text>,
    pub(crate) window: Option<Text>,
}

/// When those that wait for the process may start.
#[derive(Debug, Default)]
pub(crate) struct ReadyItem {
    pub(crate) service: Option<Text>,
    pub(crate) topic: Option<Text>,
    pub(crate) node: Option<Text>,
    pub(crate) delay: Option<Text>,
    pub(crate) exit: Option<Text>,
    pub(crate) timeout: Option<Text>,
}
