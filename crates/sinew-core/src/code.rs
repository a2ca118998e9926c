//! The numeric codes of failures: one list for all crates, for bindings to languages that compare
//! numbers and not enums.
//!
//! A code is a reason. Errors of several operations that have the same reason have the same code.

use crate::api::erased::{publisher as erased, service as erased_service};
use crate::api::error::Error;
use crate::api::parameter_client::ParameterClientError;
use crate::api::publisher::PublishError;
use crate::executor::error::{AddError, ExecutorError, JoinError, PostError, SpinError};
use crate::executor::threads::ThreadError;
use crate::logging::LoggingError;
use crate::message::generic::GenericTypeError;
use crate::message::registered::TypeError;
use crate::parameters::error::ParameterError;
use crate::ros::arguments::ArgumentError;
use crate::ros::failure::{
    ContextError, CreateError, PublishFailure, SharedMemoryError, SharedMemoryFailure,
};
use crate::ros::name::NameError;
use crate::ros::parameters::ParameterTextError;
use crate::ros::qos::QosError;
use crate::ros::remap::RemapError;
use crate::service::error::{AnswerError, AnswerFailure, CallError, RespondError};
use crate::service::failure::CallFailure;
use crate::time::SleepError;
use ErrorCode as Code;
use sinew_msg::loan::BuildError;
use sinew_msg::{DecodeError, Message, ParseTypeHashError};
use sinew_shm::{CapacityError, DomainError, raw};
use std::fmt;

/// Defines the list. A number that was released is never given to another reason.
macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $number:literal,)*) => {
        /// The numeric code of a failure, from one list that is stable: a number keeps its meaning.
        /// New ones may come, so a program treats those that it doesn't know as failures, too.
        ///
        /// [`HasCode`] returns that of an error. 0 is no code: bindings use it for success.
        ///
        /// ```
        /// use sinew::error::{ErrorCode, HasCode};
        /// use sinew::prelude::*;
        /// let context = Context::new()?;
        /// let code = context.node("no spaces please").unwrap_err().code();
        /// assert_eq!((code, code.number(), code.name()), (ErrorCode::InvalidName, 100, "InvalidName"));
        /// assert_eq!(ErrorCode::from_number(100), Some(code));
        /// # Ok::<(), sinew::Error>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $($(#[doc = $doc])+ $name = $number,)*
        }

        impl ErrorCode {
            /// All codes, by number.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Returns its name, as in the source.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }

            /// Returns its meaning, as a sentence.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($doc),+).trim_ascii(),)*
                }
            }
        }
    };
}

codes! {
    /// The context is shut down.
    Shutdown = 1,
    /// The entity or queue was closed.
    Closed = 2,
    /// It did not happen in time.
    Timeout = 3,
    /// The wait would never end: who should end it waits for the caller.
    WouldDeadlock = 4,
    /// The operating system refused something.
    System = 5,
    /// A callback, or code that it was given, panicked.
    Panicked = 6,
    /// A callback returned an error.
    CallbackFailed = 7,
    /// It was cancelled.
    Cancelled = 8,
    /// The other side refused.
    Refused = 9,
    /// Two types that should be the same differ.
    OtherType = 10,
    /// Bytes are no valid encoded form of the type.
    Undecodable = 11,
    /// A value can't be encoded.
    Unencodable = 12,
    /// The message is held elsewhere as well, and can't be copied.
    NotSole = 13,
    /// The other side answered what makes no sense.
    Nonsense = 14,

    /// A name of a node, topic, service or namespace is invalid.
    InvalidName = 100,
    /// A rule that renames is invalid.
    InvalidRemapping = 101,
    /// An argument of the command line can't be used.
    InvalidArgument = 102,
    /// An environment variable has a value that can't be used.
    InvalidEnvironment = 103,
    /// The QoS contradicts itself.
    InvalidQos = 104,
    /// A period or rate is out of range.
    InvalidPeriod = 105,
    /// A descriptor is always ready.
    AlwaysReady = 106,
    /// A limit that must be at least 1 is 0.
    ZeroLimit = 107,
    /// The handler of signals could not be installed.
    Interrupts = 108,
    /// The context is initialised already.
    AlreadyInitialized = 109,

    /// A name is no name of a type.
    InvalidTypeName = 200,
    /// The text of a type's hash is invalid.
    InvalidTypeHash = 201,
    /// The process knows the maximum number of types.
    TooManyTypes = 202,
    /// A type is described by a table that contradicts itself.
    InvalidTypeTable = 203,
    /// Another type is registered under the key.
    TypeKeyTaken = 204,
    /// The type can't be copied, but has to be.
    NoClone = 205,
    /// The type has no form of ROS 2 from which another is derived.
    NoRosType = 206,
    /// An encoded message can't be written in place as asked.
    InvalidDraft = 207,
    /// There is no memory.
    NoMemory = 208,
    /// The message has no value, only its encoded form.
    NoValue = 209,
    /// The message has a value, so no encoded form of it can be read in place.
    NotEncoded = 210,
    /// The value was not adopted, so its memory can't be given away.
    NotAdopted = 211,
    /// No type of this name is known.
    UnknownType = 212,

    /// A subscription that must get every message has no room.
    HistoryFull = 300,
    /// The shared memory has no room.
    NoSpace = 301,
    /// A limit of the shared memory is reached.
    SharedMemoryLimit = 302,
    /// The directory for shared memory can't be used.
    SharedMemoryPlace = 303,
    /// The participant has left its domain.
    ParticipantLeft = 304,
    /// The endpoint doesn't keep its statuses.
    NotKept = 305,
    /// For another process the name is something else.
    NameInUse = 306,
    /// The variable has a master already.
    MasterTaken = 307,
    /// The writer does not wait for the reader any more.
    CutOff = 308,

    /// The service has no server.
    NoServer = 400,
    /// The service has a server already.
    ServiceTaken = 401,
    /// The maximum number of requests waits already.
    TooManyRequests = 402,
    /// The server went away before it answered.
    ServerGone = 403,
    /// The gateway to the server's network went away.
    GatewayGone = 404,
    /// The server dropped the request.
    RequestDropped = 405,
    /// Nobody waits for the response any more.
    ResponseUnclaimed = 406,
    /// Calls are nested too deeply.
    CallsTooDeep = 407,
    /// The way to the other process failed.
    TransportFailed = 408,
    /// The server holds no such request, or has answered it already.
    RequestNotInHand = 410,
    /// The client has the maximum number of calls with responses that were not taken.
    TooManyResponses = 411,

    /// An executor can't have these options.
    InvalidExecutorOptions = 500,
    /// Another executor serves it.
    ServedElsewhere = 501,
    /// It has a callback, so a wait set can't watch it.
    HasCallback = 502,
    /// The executor and the context have different clocks.
    OtherClock = 503,
    /// The executor is being spun already.
    Busy = 504,
    /// There is nothing to spin.
    NothingToSpin = 505,
    /// The spin was stopped before it had what it waited for.
    Stopped = 506,
    /// Only an executor in virtual time can move time.
    NotVirtual = 507,
    /// A thread can't be started, or have its priority or cores.
    Thread = 508,
    /// The clock changed during a sleep.
    ClockChanged = 509,
    /// The process has another logger.
    LoggerTaken = 510,

    /// A parameter has no name.
    EmptyParameterName = 600,
    /// The parameter is declared already.
    ParameterDeclared = 601,
    /// The parameter is not declared.
    ParameterNotDeclared = 602,
    /// The parameter has another type.
    OtherParameterType = 603,
    /// The parameter can't have the value.
    InvalidParameterValue = 604,
    /// The parameter has no value.
    ParameterUninitialized = 605,
    /// A callback for parameters can't change any.
    InParameterCallback = 606,
    /// A text for parameters can't be read.
    InvalidParameterText = 607,
    /// No such node serves its parameters.
    NoSuchNode = 608,

    /// The server rejected the goal.
    GoalRejected = 700,
    /// The server doesn't know the goal.
    UnknownGoal = 701,
    /// No goal can be cancelled by that time.
    NoCancelTime = 702,
    /// The goal's state doesn't allow it.
    GoalState = 703,

    /// No transform names the frame.
    UnknownFrame = 800,
    /// The name of a frame is invalid.
    InvalidFrameName = 801,
    /// The frames are not connected.
    NotConnected = 802,
    /// The time is outside what is kept.
    Extrapolation = 803,
    /// The frames form a loop.
    FrameLoop = 804,
    /// A transform has invalid numbers.
    InvalidTransform = 805,
    /// There are too many frames.
    TooManyFrames = 806,

    /// The managed node can't make the transition now.
    TransitionNotAllowed = 900,
    /// The managed node's transition failed.
    TransitionFailed = 901,
    /// The managed node is in an unknown state.
    UnknownState = 902,
    /// A managed node was lost.
    NodeLost = 903,

    /// The container has no such component, or no such node is loaded.
    UnknownComponent = 950,
    /// A component can't be made.
    ComponentFailed = 951,
    /// Two components have the same name.
    ComponentTwice = 952,
    /// A file is no library of components for this program.
    InvalidLibrary = 953,

    /// A file or directory is no bag.
    NotABag = 1000,
    /// The bag has a format or a version that is not read.
    UnsupportedBag = 1001,
    /// The bag is damaged.
    DamagedBag = 1002,
    /// There is something where a bag should be written.
    BagExists = 1003,
    /// The bag has no such topic.
    UnknownTopic = 1004,
    /// The file of a bag can't have more of something.
    BagFull = 1005,

    /// An argument of a function of C is null.
    NullArgument = 1100,
    /// A handle of C is of another kind, or was freed.
    InvalidHandle = 1101,
    /// A structure of C has a size that doesn't fit.
    InvalidStructure = 1102,
    /// A text of C is not UTF-8.
    InvalidUtf8 = 1103,
    /// A number is none of an enumeration of C.
    InvalidEnumerator = 1104,
    /// A place of C for a result is too small, or has another size than the result.
    WrongCapacity = 1105,
}

impl ErrorCode {
    /// Returns its number, at least 1.
    pub fn number(self) -> u16 {
        self as u16
    }

    /// Returns the code with this number, if there is one.
    pub fn from_number(number: u16) -> Option<Self> {
        let place = Self::ALL.binary_search_by_key(&number, |code| code.number()).ok()?;
        Some(Self::ALL[place])
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.number())
    }
}

/// An error with a numeric [code](ErrorCode). Errors that bindings to other languages meet have
/// one: those of this crate, of actions, of managed nodes, of transforms, of bags and of raw shared
/// memory. Those of launch files, component containers, gateways, generators and `dynamic` have none.
pub trait HasCode {
    /// Returns the code of the failure: of the innermost one, if an error contains another.
    fn code(&self) -> ErrorCode;
}

/// A function, as the error is no type of this crate's interface; so are the next two.
fn of_join(error: &sinew_shm::JoinError) -> ErrorCode {
    match error {
        sinew_shm::JoinError::Domain(error) => of_domain(error),
        sinew_shm::JoinError::Capacity(error) => of_capacity(error),
        _ => Code::System,
    }
}

fn of_domain(error: &DomainError) -> ErrorCode {
    match error {
        DomainError::System(_) => Code::System,
        _ => Code::SharedMemoryPlace,
    }
}

fn of_capacity(error: &CapacityError) -> ErrorCode {
    match error {
        CapacityError::FileSystem { .. } => Code::NoSpace,
        CapacityError::System(_) => Code::System,
        CapacityError::Left { .. } => Code::ParticipantLeft,
        _ => Code::SharedMemoryLimit,
    }
}

/// Implements [`HasCode`] by a `match`.
macro_rules! has_code {
    ($($error:ty: { $($arms:tt)* })*) => {$(
        impl HasCode for $error {
            fn code(&self) -> ErrorCode {
                match self { $($arms)* }
            }
        }
    )*};
}

has_code! {
    Error: {
        Self::Context(error) => error.code(),
        Self::Create(error) => error.code(),
        Self::Publish(failure) => failure.code(),
        Self::Draft(error) => error.code(),
        Self::Decode(error) => error.code(),
        Self::Call { failure, .. } => failure.code(),
        Self::Answer(failure) => failure.code(),
        Self::Executor(error) => error.code(),
        Self::Add(error) => error.code(),
        Self::Spin(error) => error.code(),
        Self::Post(error) => error.code(),
        Self::Join(error) => error.code(),
        Self::Sleep(error) => error.code(),
        Self::Parameter(error) => error.code(),
        Self::ParameterClient(error) => error.code(),
        Self::ParameterText(error) => error.code(),
        Self::Logging(error) => error.code(),
        Self::SharedMemory(error) => error.code(),
        Self::Name(error) => error.code(),
        Self::Remap(error) => error.code(),
        Self::GenericType(error) => error.code(),
        Self::Type(error) => error.code(),
        Self::TypeHash(error) => error.code(),
    }
    ContextError: {
        Self::Arguments(error) => error.code(),
        Self::Domain { .. } => Code::InvalidEnvironment,
        Self::Interrupts(_) => Code::Interrupts,
        Self::SimTime(error) => error.code(),
    }
    CreateError: {
        Self::SharedMemory { source, .. } => source.code(),
        Self::Name(error) => error.code(),
        Self::Remap(error) => error.code(),
        Self::Qos { problem, .. } => problem.code(),
        Self::Shutdown { .. } => Code::Shutdown,
        Self::Period { .. } => Code::InvalidPeriod,
        Self::AlwaysReady { .. } => Code::AlwaysReady,
        Self::System { .. } => Code::System,
        Self::ServiceTaken { .. } => Code::ServiceTaken,
        Self::MaxRequests { .. } => Code::ZeroLimit,
        Self::NoEventType { .. } => Code::NoRosType,
        Self::NoClone { .. } => Code::NoClone,
        Self::NodeGone { .. } => Code::Closed,
        Self::Parameter(error) => error.code(),
    }
    PublishFailure: {
        Self::Shutdown => Code::Shutdown,
        Self::Full { .. } => Code::HistoryFull,
        Self::NoSpace { .. } => Code::NoSpace,
        Self::WouldDeadlock => Code::WouldDeadlock,
        Self::OtherType { .. } => Code::OtherType,
        Self::Undecodable => Code::Undecodable,
    }
    SharedMemoryError: {
        Self(SharedMemoryFailure::Join(error)) => of_join(error),
        Self(SharedMemoryFailure::Capacity(error)) => of_capacity(error),
    }
    raw::OpenError: {
        Self::Name { .. } => Code::InvalidName,
        Self::InUse { .. } => Code::NameInUse,
        Self::Master { .. } => Code::MasterTaken,
        Self::Undecided { .. } => Code::Timeout,
        Self::DomainNumber { .. } => Code::InvalidEnvironment,
        Self::Domain(error) => of_domain(error),
        Self::Join(error) => of_join(error),
        Self::Capacity(error) => of_capacity(error),
        _ => Code::System,
    }
    raw::WriteError: {
        Self::Full { .. } => Code::HistoryFull,
        Self::Capacity(error) => of_capacity(error),
        _ => Code::System,
    }
    raw::ReadError: {
        Self::CutOff { .. } => Code::CutOff,
        Self::Size { .. } => Code::OtherType,
        Self::Capacity(error) => of_capacity(error),
        _ => Code::Nonsense, // a writer is broken
    }
    ArgumentError: {
        Self::Remap { error, .. } => error.code(),
        Self::InvalidParameter { .. } | Self::ParameterFile { .. } => Code::InvalidParameterText,
        Self::MissingValue { .. }
        | Self::Unsupported { .. }
        | Self::UnknownOption { .. }
        | Self::RuleWithoutOption { .. }
        | Self::ParameterWithoutValue { .. }
        | Self::LogFileName { .. }
        | Self::UnknownLogLevel { .. } => Code::InvalidArgument,
    }
    NameError: { _ => Code::InvalidName, }
    QosError: { _ => Code::InvalidQos, }
    RemapError: { _ => Code::InvalidRemapping, }
    ParameterTextError: { _ => Code::InvalidParameterText, }
    ParseTypeHashError: { _ => Code::InvalidTypeHash, }
    DecodeError: { _ => Code::Undecodable, }
    BuildError: {
        Self::Encoded(error) => error.code(),
        Self::NoMemory { .. } => Code::NoMemory,
        _ => Code::InvalidDraft,
    }
    GenericTypeError: {
        Self::Name { .. } => Code::InvalidTypeName,
        Self::TooMany { .. } => Code::TooManyTypes,
    }
    TypeError: {
        Self::Name { .. } => Code::InvalidTypeName,
        Self::NoHash { .. }
        | Self::Description { .. }
        | Self::PlainWithDrop { .. }
        | Self::TooLarge { .. } => Code::InvalidTypeTable,
        Self::KeyTaken { .. } => Code::TypeKeyTaken,
        Self::TooMany { .. } => Code::TooManyTypes,
    }
    CallFailure: {
        Self::Shutdown => Code::Shutdown,
        Self::Closed => Code::Closed,
        Self::NoServer { .. } => Code::NoServer,
        Self::Full { .. } => Code::TooManyRequests,
        Self::Untaken { .. } => Code::TooManyResponses,
        Self::Timeout { .. } => Code::Timeout,
        Self::ServerGone => Code::ServerGone,
        Self::GatewayGone => Code::GatewayGone,
        Self::Dropped => Code::RequestDropped,
        Self::Failed { .. } => Code::CallbackFailed,
        Self::Panicked { .. } => Code::Panicked,
        Self::WouldDeadlock { .. } => Code::WouldDeadlock,
        Self::TooDeep { .. } => Code::CallsTooDeep,
        Self::Transport { .. } => Code::TransportFailed,
        Self::Undecodable { .. } => Code::Undecodable,
        Self::Unencodable { .. } => Code::Unencodable,
        Self::NotSole { .. } => Code::NotSole,
        Self::OtherType { .. } => Code::OtherType,
    }
    erased::PublishError: { error => error.failure().code(), }
    erased_service::CallError: { error => error.failure().code(), }
    erased_service::RespondError: {
        error => error.failure().map_or(Code::ResponseUnclaimed, HasCode::code),
    }
    AnswerFailure: {
        Self::NotInHand => Code::RequestNotInHand,
        Self::Unclaimed => Code::ResponseUnclaimed,
        Self::Unfit(failure) => failure.code(),
    }
    ExecutorError: { _ => Code::InvalidExecutorOptions, }
    AddError: {
        Self::Taken { .. } => Code::ServedElsewhere,
        Self::HasCallback { .. } => Code::HasCallback,
        Self::Closed { .. } => Code::Closed,
        Self::Shutdown => Code::Shutdown,
        Self::OtherClock => Code::OtherClock,
    }
    PostError: { Self::Closed { .. } => Code::Closed, }
    JoinError: {
        Self::Panicked { .. } => Code::Panicked,
        Self::Cancelled => Code::Cancelled,
    }
    SpinError: {
        Self::Busy => Code::Busy,
        Self::Nothing => Code::NothingToSpin,
        Self::Panicked { .. } => Code::Panicked,
        Self::Failed { .. } => Code::CallbackFailed,
        Self::Thread { .. } => Code::Thread,
        Self::Stopped => Code::Stopped,
        Self::Setup(error) => error.code(),
        Self::NotVirtual => Code::NotVirtual,
    }
    ThreadError: { _ => Code::Thread, }
    SleepError: {
        Self::Shutdown => Code::Shutdown,
        Self::ClockChanged => Code::ClockChanged,
    }
    LoggingError: {
        Self::Taken => Code::LoggerTaken,
        Self::Environment { .. } => Code::InvalidEnvironment,
        Self::System(_) => Code::System,
    }
    ParameterError: {
        Self::EmptyName { .. } => Code::EmptyParameterName,
        Self::AlreadyDeclared { .. } => Code::ParameterDeclared,
        Self::NotDeclared { .. } => Code::ParameterNotDeclared,
        Self::InvalidType { .. } | Self::NoSuchType { .. } => Code::OtherParameterType,
        Self::InvalidValue { .. } => Code::InvalidParameterValue,
        Self::Refused { .. } => Code::Refused,
        Self::Uninitialized { .. } => Code::ParameterUninitialized,
        Self::InCallback { .. } => Code::InParameterCallback,
    }
    ParameterClientError: {
        Self::NoSuchNode { .. } => Code::NoSuchNode,
        Self::Timeout { .. } => Code::Timeout,
        Self::NotDeclared { .. } => Code::ParameterNotDeclared,
        Self::Refused { .. } => Code::Refused,
        Self::Nonsense { .. } => Code::Nonsense,
        Self::Call { failure, .. } => failure.code(),
        Self::Create(error) => error.code(),
    }
}

impl<T: Message> HasCode for PublishError<T> {
    fn code(&self) -> ErrorCode {
        self.failure().code()
    }
}

impl<T: Message> HasCode for CallError<T> {
    fn code(&self) -> ErrorCode {
        self.failure().code()
    }
}

impl<R> HasCode for AnswerError<R> {
    fn code(&self) -> ErrorCode {
        self.failure().code()
    }
}

impl<T: Message> HasCode for RespondError<T> {
    fn code(&self) -> ErrorCode {
        ErrorCode::ResponseUnclaimed
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn codes_are_in_order_and_none_is_given_twice() {
        assert!(ErrorCode::ALL.is_sorted_by(|one, next| one.number() < next.number()));
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_number(code.number()), Some(*code));
            assert!(code.meaning().ends_with('.'), "{code}");
        }
        assert_eq!(ErrorCode::from_number(0), None, "success");
    }

    /// Errors that the crate's `error` module names have a code; `Result` and a kind of name are no
    /// errors.
    #[test]
    fn every_error_has_a_code() {
        let named =
            include_str!("lib.rs").split("pub mod error {").nth(1).and_then(|rest| rest.split("\n}").next());
        let words = named.unwrap().split(|c: char| !c.is_ascii_alphanumeric());
        let is_error = |word: &&str| word.ends_with("Error") || word.ends_with("Failure");
        let errors: Vec<_> = words.filter(is_error).collect();
        assert!(errors.len() > 20, "{errors:?}");
        let source = include_str!("code.rs");
        for error in errors {
            let (plain, generic) = (format!("    {error}: {{"), format!("HasCode for {error}<"));
            // A callback's error is the program's own.
            let has_code = source.contains(&plain) || source.contains(&generic) || error == "CallbackError";
            assert!(has_code, "{error} has no code");
        }
    }
}
