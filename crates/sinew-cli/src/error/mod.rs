//! The errors of the command, as one sentence each.

mod call;
mod types;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use sinew_msg::dynamic::TextError;

use crate::harmless::one_line;
use crate::similar::suggestion;
pub(crate) use call::CallError;
pub(crate) use types::TypesError;

/// The reason why a command ended without its result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Standard output can't be written to.
    #[error("writing to standard output failed: {0}")]
    Output(#[source] io::Error),

    /// A file or directory the user named can't be used.
    #[error("can't {action} {}: {source}", path.display())]
    File {
        /// The attempted operation, as a verb.
        action: &'static str,
        /// The file as the user named it.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },

    /// A system call failed that works on any supported machine.
    #[error("{call} failed: {source}")]
    System {
        /// The call and its purpose.
        call: &'static str,
        /// The operating system's answer.
        source: io::Error,
    },

    /// A launch file is invalid.
    #[error(transparent)]
    Launch(#[from] sinew_launch::LoadError),

    /// A launch can't be run.
    #[error(transparent)]
    RunLaunch(#[from] sinew_launch::RunError),

    /// A program can't be found.
    #[error(transparent)]
    Program(#[from] Box<sinew_launch::Problem>),

    /// A parameter without a value.
    #[error("`{text}` is no parameter: write it as name:=value")]
    NoAssignment {
        /// The text.
        text: String,
    },

    /// A managed node doesn't exist.
    #[error("there is no managed node {name}{similar}; `sinew lifecycle nodes` has all")]
    NotManaged {
        /// Its name.
        name: String,
        /// A suggestion, as the end of a sentence.
        similar: String,
    },

    /// A managed node can't make that transition now.
    #[error("{name} can't {transition} while it is {state}; it can {offered}")]
    NotOffered {
        /// Its name.
        name: String,
        /// The requested transition.
        transition: &'static str,
        /// Its current state.
        state: &'static str,
        /// The possible transitions.
        offered: String,
    },

    /// A managed node failed to make a transition.
    #[error(transparent)]
    Managed(sinew_lifecycle::LifecycleClientError),

    /// A container doesn't exist.
    #[error("there is no container {name}{similar}; `sinew component list` has all")]
    NoContainer {
        /// The node's name.
        name: String,
        /// A suggestion, as the end of a sentence.
        similar: String,
    },

    /// A container refuses, or doesn't answer.
    #[error("{name}: {}", one_line(problem))]
    Container {
        /// The node's name.
        name: String,
        /// Its message, or the reason why there is none.
        problem: String,
    },

    /// The program has ended with this code, which has been reported.
    #[error("ended with code {code}")]
    Ended {
        /// The code to end with.
        code: u8,
    },

    /// Sinew refused something, or an executor stopped.
    #[error(transparent)]
    Sinew(#[from] sinew::Error),

    /// A message can't be created in place.
    #[error(transparent)]
    Draft(#[from] sinew::msg::loan::BuildError),

    /// This command was built without the network.
    #[cfg(not(feature = "gateway"))]
    #[error(
        "this `sinew` was built without the network, which {command} needs: \
         `cargo install --path crates/sinew-cli --features gateway` builds one with it"
    )]
    NoNetwork {
        /// The command.
        command: &'static str,
    },

    /// A gateway can't run.
    #[cfg(feature = "gateway")]
    #[error(transparent)]
    Gateway(#[from] sinew_zenoh::GatewayError),

    /// A router can't run.
    #[cfg(feature = "gateway")]
    #[error(transparent)]
    Router(#[from] sinew_zenoh::RouterError),

    /// The domain can't be read.
    #[error(transparent)]
    Graph(#[from] sinew::error::SharedMemoryError),

    /// The domain can't be opened.
    #[error(transparent)]
    Domain(#[from] sinew_shm::DomainError),

    /// The domain's directory can't be read.
    #[error(transparent)]
    Directory(#[from] sinew_shm::SystemError),

    /// The domain can't be joined.
    #[error(transparent)]
    Join(#[from] sinew_shm::JoinError),

    /// There is no room in the domain for this command's endpoints.
    #[error(transparent)]
    Capacity(#[from] sinew_shm::CapacityError),

    /// The messages of a topic don't leave their process.
    #[error(
        "{name} can't be read from here: its messages stay in the process of {node}, since {type_name} has no form outside \
         (derive(Message) gives it one)"
    )]
    StaysInside {
        /// The topic.
        name: String,
        /// One of its publishers' nodes.
        node: String,
        /// That publisher's type.
        type_name: String,
    },

    /// The services for the levels of loggers don't answer, or refuse.
    #[error(
        "the levels of {node}'s loggers can't be read or set: {why}; a node lets others do that with `node.logger_services()`, in rclcpp with \
         `enable_logger_service(true)`"
    )]
    NoLoggerService {
        /// The node.
        node: String,
        /// The problem.
        why: String,
    },

    /// The domain's number can't be read from the environment.
    #[error("{0}")]
    DomainNumber(String),

    /// The directory that the user named doesn't exist.
    #[error("{} is not there: participants make it; does --dir name the right one?", path.display())]
    NoDirectory {
        /// The path as the user named it.
        path: PathBuf,
    },

    /// There is no node or topic of this name.
    #[error("no {what} is called {name} in domain {domain}{}", suggestion(similar))]
    NotFound {
        /// The kind of thing.
        what: &'static str,
        /// The name.
        name: String,
        /// The domain.
        domain: u32,
        /// Names that may have been meant.
        similar: Vec<String>,
    },

    /// A text gives no parameter a value.
    #[error("{what} can't be read: {problem}")]
    ParameterText {
        /// A file as the user named it, or `the value`.
        what: String,
        /// The problem, and its place.
        problem: sinew::parameters::ParameterTextError,
    },

    /// A file has no values for a node.
    #[error("{} gives no parameter of node {node} a value", path.display())]
    NothingToLoad {
        /// The path as the user named it.
        path: PathBuf,
        /// The node's full name.
        node: String,
    },

    /// A node has refused values.
    #[error("node {node} has not set {count} of its parameters{why}")]
    NotSet {
        /// The node's full name.
        node: String,
        /// Number of parameters.
        count: usize,
        /// The reason, as the end of a sentence.
        why: String,
    },

    /// All other endpoints of a topic have another type.
    #[error(
        "{topic} has another type, so nothing would be received, {why}; publish to another topic or as {type_name}, or use --force"
    )]
    OtherType {
        /// The topic.
        topic: String,
        /// The mismatch, and the node.
        why: String,
        /// The type of one of the others.
        type_name: String,
    },

    /// Some publishers and subscriptions can't talk.
    #[error(
        "{} can't talk",
        if *count == 1 { "one publisher and subscription".to_owned() } else { format!("{count} pairs") }
    )]
    Apart {
        /// Number of pairs.
        count: usize,
    },

    /// The doctor has found something.
    #[error("{} to mend", if *count == 1 { "one thing".to_owned() } else { format!("{count} things") })]
    Unwell {
        /// Number of findings.
        count: usize,
    },

    /// A bag can't be read or written.
    #[error(transparent)]
    Bag(#[from] sinew_bag::BagError),

    /// The server for viewers can't be started.
    #[error(transparent)]
    View(#[from] sinew_view::ViewError),
    /// A bag is damaged.
    #[error("{} found", if *count == 1 { "one problem".to_owned() } else { format!("{count} problems") })]
    DamagedBag {
        /// Number of problems.
        count: usize,
    },

    /// A recording can't begin.
    #[error(transparent)]
    Record(#[from] sinew_bag::RecordError),

    /// A recording has ended before it was to.
    #[error("the recording has ended: {source}; {count} are missing")]
    RecordingFailed {
        /// The reason.
        source: std::sync::Arc<sinew_bag::BagError>,
        /// The messages that were lost, as text.
        count: String,
    },

    /// Messages of a recording were lost.
    #[error("{count} lost")]
    LostMessages {
        /// Their number, as text.
        count: String,
    },

    /// A bag can't be played.
    #[error(transparent)]
    Play(#[from] sinew_bag::PlayError),

    /// Messages of a bag could not be published.
    #[error("{count} could not be published")]
    NotPublished {
        /// Their number, as text.
        count: String,
    },

    /// A message of a bag can't be decoded.
    #[error(transparent)]
    Undecodable(#[from] sinew_bag::BagDecodeError),

    /// A picture's name doesn't end with a format.
    #[error("{} has no format that is written: name it .svg, .html or .png", path.display())]
    PictureFormat {
        /// The file.
        path: PathBuf,
    },

    /// Something can't be plotted.
    #[error("{name} can't be plotted: {hint}")]
    PlotField {
        /// What the user named.
        name: String,
        /// A way out.
        hint: &'static str,
    },

    /// A plot would be empty.
    #[error("this part of {} has no such values", bag.display())]
    NothingToPlot {
        /// The bag.
        bag: PathBuf,
    },

    /// No message of a live topic has what was asked for.
    #[error("no {what} came")]
    NothingCame {
        /// Those that were waited for.
        what: &'static str,
    },

    /// Messages of a live topic are no such messages.
    #[error(
        "{} could not be read",
        if *count == 1 { "one message".to_owned() } else { format!("{count} messages") }
    )]
    Unread {
        /// Number of messages.
        count: usize,
    },

    /// A message's type has no valid name.
    #[error(transparent)]
    GenericType(#[from] sinew::error::GenericTypeError),

    /// A topic has no pictures.
    #[error(
        "{topic} has the type {type_name}; pictures are made of sensor_msgs/msg/Image, CompressedImage and PointCloud2"
    )]
    NoPictures {
        /// The topic.
        topic: String,
        /// Its type.
        type_name: String,
    },

    /// A filter leaves nothing of a bag.
    #[error("no topic of {} is chosen; `sinew bag info` lists them", bag.display())]
    NothingChosen {
        /// The bag.
        bag: PathBuf,
    },

    /// A part of a bag begins after its end.
    #[error("{} is {length} long, so nothing would be left", bag.display())]
    BeyondBag {
        /// The bag.
        bag: PathBuf,
        /// Its duration.
        length: String,
    },

    /// A type isn't known.
    #[error(transparent)]
    Types(Box<TypesError>),

    /// The user's text is not a message of its type.
    #[error("this is no {type_name}: {problem}{}", hint(problem))]
    Message {
        /// The type.
        type_name: String,
        /// The problem, and its place.
        problem: Box<TextError>,
    },

    /// A file with values is empty.
    #[error("{} is empty: write the values in YAML or JSON, or {{}} for all default values", from.display())]
    NoValues {
        /// The file, or `standard input`.
        from: PathBuf,
    },

    /// A message has no such field.
    #[error(transparent)]
    Field(#[from] sinew_msg::dynamic::PathError),

    /// The messages of a topic have no stamp.
    #[error(
        "the messages of {name} don't say how old they are: {type_name} has no `header.stamp`; `sinew topic latency {name}` tells how \
         long messages take from their publication to their callbacks"
    )]
    NoStamp {
        /// The topic.
        name: String,
        /// Its type.
        type_name: String,
    },

    /// There aren't enough subscriptions for publishing.
    #[error(
        "{matched} of {wanted} subscriptions of {topic} matched within {} s, so nothing was published (`sinew topic info -v {topic}` \
         lists both ends)",
        waited.as_secs_f64()
    )]
    NoSubscriptions {
        /// The topic.
        topic: String,
        /// Number of subscriptions required.
        wanted: usize,
        /// Number of subscriptions that matched.
        matched: usize,
        /// The time waited.
        waited: Duration,
    },

    /// A package isn't known.
    #[error(
        "the package {name} is not known (looked at: {looked}); --interfaces DIR adds definitions{similar}"
    )]
    NoPackage {
        /// Its name.
        name: String,
        /// The places that were searched.
        looked: String,
        /// A suggestion, as the end of a sentence.
        similar: String,
    },

    /// A call got no response.
    #[error(transparent)]
    Call(#[from] CallError),

    /// Another participant's memory is invalid.
    #[error(transparent)]
    Segment(#[from] sinew_shm::SegmentError),

    /// A measurement ended without its result.
    #[error(transparent)]
    Bench(#[from] sinew_bench::Error),

    /// The headers of the demo's messages can't be generated.
    #[error(transparent)]
    Headers(#[from] sinew_build::GenerateError),

    /// A program of the demo is gone.
    #[error("the demo's {nodes} ended early ({status}); its own message, if any, stands above")]
    ProgramEnded {
        /// The program's nodes.
        nodes: String,
        /// Its exit status.
        status: String,
    },

    /// The demo's viewer was run by hand.
    #[error("`--viewer-of` is for the other process of `sinew demo --processes`, which starts it itself")]
    NotOurViewer,

    /// The demo's viewer is gone.
    #[error(
        "the demo's viewer, a process of its own, ended early ({status}); its own message, if any, stands above"
    )]
    ViewerEnded {
        /// The exit status of the process.
        status: String,
    },
}

/// Returns a hint about common mistakes in YAML.
fn hint(problem: &TextError) -> &'static str {
    let has_colon = match problem {
        TextError::UnknownField { path, .. } => path.contains(':'),
        TextError::Value { found, expected, .. } => {
            found.contains(':') && expected.starts_with("the fields of")
        }
        _ => false,
    };
    if has_colon { "; YAML wants a blank behind a colon" } else { "" }
}

impl From<TypesError> for Error {
    fn from(error: TypesError) -> Self {
        Self::Types(Box::new(error))
    }
}

impl From<sinew::error::ContextError> for Error {
    fn from(error: sinew::error::ContextError) -> Self {
        Self::Sinew(error.into())
    }
}

impl From<sinew::error::CreateError> for Error {
    fn from(error: sinew::error::CreateError) -> Self {
        Self::Sinew(error.into())
    }
}

impl From<sinew::error::ExecutorError> for Error {
    fn from(error: sinew::error::ExecutorError) -> Self {
        Self::Sinew(error.into())
    }
}

impl From<sinew::error::AddError> for Error {
    fn from(error: sinew::error::AddError) -> Self {
        Self::Sinew(error.into())
    }
}

impl From<sinew::error::SpinError> for Error {
    fn from(error: sinew::error::SpinError) -> Self {
        Self::Sinew(error.into())
    }
}

impl Error {
    /// Returns `true` if the reader of the output went away (`sinew ... | head`), which is not a
    /// failure of this program.
    pub(crate) fn is_closed_output(&self) -> bool {
        use sinew_bench::Error as Bench;

        matches!(self, Self::Output(error) | Self::Bench(Bench::Output(error))
            if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Turns a failed system call into an error that names it.
    pub(crate) fn system(call: &'static str) -> impl Fn(rustix::io::Errno) -> Self {
        move |errno| Self::System { call, source: errno.into() }
    }
}
