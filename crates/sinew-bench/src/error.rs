//! The errors of measurements, as one sentence each.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::graph::TopologyError;

/// The reason why a measurement ended without its result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The results can't be written to standard output.
    #[error("writing to standard output failed: {0}")]
    Output(#[source] io::Error),

    /// A file or directory can't be used.
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

    /// Sinew refused something, or an executor stopped.
    #[error(transparent)]
    Sinew(#[from] sinew::Error),

    /// A message can't be created in place.
    #[error(transparent)]
    Draft(#[from] sinew::msg::loan::BuildError),

    /// The topology file describes something that can't be run.
    #[error(transparent)]
    Topology(#[from] TopologyError),

    /// Another measured library refused something.
    #[error(transparent)]
    Measured(Box<dyn std::error::Error + Send + Sync>),

    /// The runner of the comparison doesn't exist.
    #[error(
        "no bench/peers above {} nor above this program: run it in a checkout of Sinew, or start the checkout's \
         bench/peers/run",
        from.display()
    )]
    NoPeers {
        /// The directory where the search began.
        from: PathBuf,
    },

    /// A compiler doesn't exist.
    #[error(
        "no compiler of {language}: {program} isn't found in PATH; install gcc and g++, or clang, or set {variable}"
    )]
    NoCompiler {
        /// The language.
        language: &'static str,
        /// The program that was looked for.
        program: String,
        /// The environment variable that names another one.
        variable: &'static str,
    },

    /// The shared library doesn't exist.
    #[error(
        "no libsinew.so {place}: install it from Sinew's sources (cmake -B build && cmake --build build && cmake \
         --install build), or name it with --library PATH"
    )]
    NoLibrary {
        /// Where it was looked for.
        place: String,
    },

    /// The headers of the shared library don't exist.
    #[error(
        "no sinew/sinew.h for {}: it is looked for in ../include beside the library, and in the checkout around it; \
         install the library with cmake --install",
        library.display()
    )]
    NoHeaders {
        /// The library.
        library: PathBuf,
    },

    /// A program of C or C++ isn't compiled.
    #[error("{name} isn't compiled with the library {}:\n{message}", library.display())]
    NotCompiled {
        /// The source.
        name: String,
        /// The library, to which it may not belong.
        library: PathBuf,
        /// The compiler's words.
        message: String,
    },

    /// There is no interpreter for the programs in Python.
    #[error(
        "there is no Python 3.11 or newer: install one, or name it with the environment variable SINEW_PYTHON"
    )]
    NoPython,

    /// The interpreter doesn't have Sinew's package.
    #[error(
        "{} can't import sinew ({message}): build it with cargo build --release -p sinew-python, or install it with \
         pip install ./python",
        python.display()
    )]
    NoPythonPackage {
        /// The interpreter.
        python: PathBuf,
        /// Its own words.
        message: String,
    },

    /// The text is no case of a scenario.
    #[error("this is no case: {reason}")]
    Case {
        /// What is wrong with it.
        reason: String,
    },

    /// The case needs two processes on two cores.
    #[error("two cores are needed and this process may use one: allow it another (taskset, cgroup)")]
    OneCore,

    /// A user ran the hidden command of a measurement's other processes.
    #[error("`peer` is another process of `sinew bench`, which starts it itself")]
    NotOurPeer,

    /// The measurement's other process ended before it was ordered to.
    #[error("the other process of `{what}` ended early ({status}); its own message, if any, stands above")]
    PeerEnded {
        /// The measured floor or scenario.
        what: &'static str,
        /// The exit status of the process.
        status: String,
    },

    /// The measurement's other process hangs.
    #[error("the other process of `{what}` said nothing for {} s: it hangs, or a message to it was lost", waited.as_secs())]
    PeerSilent {
        /// The measured floor or scenario.
        what: &'static str,
        /// The time waited.
        waited: Duration,
    },

    /// The processes of a measurement don't see each other.
    #[error(
        "{name} was matched with {found} of {wanted} after {} s: the processes don't see each other (`sinew doctor` checks \
         the domain directory)",
        waited.as_secs()
    )]
    Unmatched {
        /// The topic or service.
        name: String,
        /// Number of matched endpoints.
        found: usize,
        /// Number of expected endpoints.
        wanted: usize,
        /// The time waited.
        waited: Duration,
    },
}

macro_rules! from_parts {
    ($($part:ident),*) => {
        $(impl From<sinew::error::$part> for Error {
            fn from(error: sinew::error::$part) -> Self {
                Self::Sinew(error.into())
            }
        })*
    };
}

from_parts!(ContextError, CreateError, AddError, ExecutorError, SpinError);

impl Error {
    /// Turns a failed system call into an error that names it.
    pub(crate) fn system(call: &'static str) -> impl Fn(rustix::io::Errno) -> Self {
        move |errno| Self::System { call, source: errno.into() }
    }

    /// Passes on an error of a measured library, or of a part of Sinew without an error of its own
    /// in [`sinew::Error`].
    pub(crate) fn measured(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Measured(Box::new(error))
    }
}
