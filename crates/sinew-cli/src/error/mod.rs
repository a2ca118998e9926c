//! What can stop the command, as one sentence each.

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

/// Why a command ended without its result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Standard output can't be written to.
    #[error("writing to standard output failed: {0}")]
    Output(#[source] io::Error),

    /// A file or directory the user named can't be used.
    #[error("can't {action} {}: {source}", path.display())]
    File {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file as the user named it.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },

    /// A system call failed that works on any supported machine.
    #[error("{call} failed: {source}")]
    System {
        /// The call and what it was for.
        call: &'static str,
        /// The operating system's answer.
        source: io::Error,
    },

    /// A launch file is wrong.
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
        /// What was written.
        text: String,
    },

    /// There is no such managed node.
    #[error("there is no managed node {name}{similar}; `sinew lifecycle nodes` has all")]
    NotManaged {
        /// Its name.
        name: String,
        /// What may have been meant, as the end of a sentence.
        similar: String,
    },

    /// A managed node can't do that now.
    #[error("{name} can't {transition} while it is {state}; it can {offered}")]
    NotOffered {
        /// Its name.
        name: String,
        /// What was asked for.
        transition: &'static str,
        /// The state that it is in.
        state: &'static str,
        /// What it can do.
        offered: String,
    },

    /// A managed node didn't do what it was asked for.
    #[error(transparent)]
    Managed(sinew_lifecycle::LifecycleClientError),

    /// There is no such container.
    #[error("there is no container {name}{similar}; `sinew component list` has all")]
    NoContainer {
        /// The node's name.
        name: String,
        /// What may have been meant, as the end of a sentence.
        similar: String,
    },

    /// A container refuses, or doesn't answer.
    #[error("{name}: {}", one_line(problem))]
    Container {
        /// The node's name.
        name: String,
        /// What it says, or why it says nothing.
        problem: String,
    },

    /// What was run has ended so; it has been told.
    #[error("ended with code {code}")]
    Ended {
        /// The code to end with.
        code: u8,
    },

    /// Sinew refused something, or an executor stopped.
    #[error(transparent)]
    Sinew(#[from] sinew::Error),

    /// A message can't be made where it is published.
    #[error(transparent)]
    Draft(#[from] sinew::msg::loan::BuildError),

    /// This command has no network in it.
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

    /// The domain that is to be looked at can't be.
    #[error(transparent)]
    Domain(#[from] sinew_shm::DomainError),

    /// The domain's directory can't be read.
    #[error(transparent)]
    Directory(#[from] sinew_shm::SystemError),

    /// The domain can't be joined.
    #[error(transparent)]
    Join(#[from] sinew_shm::JoinError),

    /// There is no room for what we need in the domain.
    #[error(transparent)]
    Capacity(#[from] sinew_shm::CapacityError),

    /// The messages of a topic can't be seen from outside.
    #[error(
        "{name} can't be echoed: its messages stay in the process of {node}, since {type_name} has no form outside \
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
        /// What is wrong.
        why: String,
    },

    /// The domain's number can't be read from the environment.
    #[error("{0}")]
    DomainNumber(String),

    /// The directory that the user named isn't there.
    #[error("{} is not there: participants make it; does --dir name the right one?", path.display())]
    NoDirectory {
        /// As the user named it.
        path: PathBuf,
    },

    /// There is no node or topic of this name.
    #[error("no {what} is called {name} in domain {domain}{}", suggestion(similar))]
    NotFound {
        /// What was looked for.
        what: &'static str,
        /// The name as it was looked for.
        name: String,
        /// The domain.
        domain: u32,
        /// Names of others that may have been meant.
        similar: Vec<String>,
    },

    /// A text gives parameters no values.
    #[error("{what} can't be read: {problem}")]
    ParameterText {
        /// A file as the user named it, or `the value`.
        what: String,
        /// What is wrong, and where.
        problem: sinew::parameters::ParameterTextError,
    },

    /// A file says nothing of a node.
    #[error("{} gives no parameter of node {node} a value", path.display())]
    NothingToLoad {
        /// As the user named it.
        path: PathBuf,
        /// The node's full name.
        node: String,
    },

    /// A node has refused values.
    #[error("node {node} has not set {count} of its parameters{why}")]
    NotSet {
        /// The node's full name.
        node: String,
        /// How many.
        count: usize,
        /// The reason, as the end of a sentence.
        why: String,
    },

    /// All others on a topic have another type.
    #[error(
        "{topic} has another type, so nothing would be received, {why}; publish to another topic or as {type_name}, or use --force"
    )]
    OtherType {
        /// The topic.
        topic: String,
        /// Why it doesn't match, and with which node.
        why: String,
        /// The type that one of the others has.
        type_name: String,
    },

    /// Some publishers and subscriptions can't talk.
    #[error(
        "{} can't talk",
        if *count == 1 { "one publisher and subscription".to_owned() } else { format!("{count} pairs") }
    )]
    Apart {
        /// How many pairs.
        count: usize,
    },

    /// The doctor has found something.
    #[error("{} to mend", if *count == 1 { "one thing".to_owned() } else { format!("{count} things") })]
    Unwell {
        /// How many things.
        count: usize,
    },

    /// A type isn't known.
    #[error(transparent)]
    Types(Box<TypesError>),

    /// What the user wrote is no message of its type.
    #[error("this is no {type_name}: {problem}{}", hint(problem))]
    Message {
        /// The type.
        type_name: String,
        /// What is wrong, and where.
        problem: Box<TextError>,
    },

    /// A file with values has none.
    #[error("{} is empty: write the values in YAML or JSON, or {{}} for all default values", from.display())]
    NoValues {
        /// The file, or `standard input`.
        from: PathBuf,
    },

    /// A message has no such field.
    #[error(transparent)]
    Field(#[from] sinew_msg::dynamic::PathError),

    /// The messages of a topic don't say when they were made.
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

    /// Nobody wants what would be published.
    #[error(
        "{matched} of {wanted} subscriptions of {topic} matched within {} s, so nothing was published (`sinew topic info -v {topic}` \
         tells who is there)",
        waited.as_secs_f64()
    )]
    NoSubscriptions {
        /// The topic.
        topic: String,
        /// How many there should be.
        wanted: usize,
        /// How many there are.
        matched: usize,
        /// How long we waited.
        waited: Duration,
    },

    /// A package isn't known.
    #[error(
        "the package {name} is not known (looked at: {looked}); --interfaces DIR adds definitions{similar}"
    )]
    NoPackage {
        /// Its name.
        name: String,
        /// Where it was looked for.
        looked: String,
        /// What may have been meant, as the end of a sentence.
        similar: String,
    },

    /// A call has no response.
    #[error(transparent)]
    Call(#[from] CallError),

    /// Another participant's memory is wrong.
    #[error(transparent)]
    Segment(#[from] sinew_shm::SegmentError),

    /// A measurement ended without its result.
    #[error(transparent)]
    Bench(#[from] sinew_bench::Error),

    /// The demo's viewer was run by hand.
    #[error("`--viewer-of` is for the other process of `sinew demo --processes`, which starts it itself")]
    NotOurViewer,

    /// The demo's viewer is gone.
    #[error(
        "the demo's viewer, a process of its own, ended early ({status}); its own message, if any, stands above"
    )]
    ViewerEnded {
        /// How the process ended.
        status: String,
    },
}

/// What is easily forgotten in YAML.
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
    /// Whether the reader of our output went away (`sinew ... | head`), which is not a failure of
    /// ours.
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
