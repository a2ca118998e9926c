//! A connection to another process, in both directions. Nothing is left of it when both processes
//! have ended: sockets have abstract names, and pipes none at all.

use std::fs::File;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use anyhow::Context as _;
use harness::{Result, now_ns};

/// Capacity of a pipe for large messages; by default, any user may have this much.
const LARGE_PIPE: usize = 1 << 20;

/// The ends of one process.
pub struct Ends {
    /// Its output.
    pub to: Box<dyn Write + Send>,
    /// Its input.
    pub from: Box<dyn Read + Send>,
}

impl Ends {
    /// Uses one socket for both directions.
    pub fn of(socket: UnixStream) -> Result<Self> {
        Ok(Self { to: Box::new(socket.try_clone()?), from: Box::new(socket) })
    }
}

/// A link that the other process has yet to join.
pub enum Offer {
    /// A listening socket.
    Socket(Listening),
    /// This process's ends of two pipes, and the other's.
    Pipes {
        /// This process's ends.
        own: (PipeWriter, PipeReader),
        /// The other process's ends.
        others: (PipeWriter, PipeReader),
    },
}

impl Offer {
    /// Makes a link for messages of `size` bytes, by the name of its system.
    pub fn of(system: &str, size: usize) -> Result<Self> {
        if system == crate::SOCKET {
            return Ok(Self::Socket(Listening::new()?));
        }
        let (forth, back) = (std::io::pipe()?, std::io::pipe()?);
        for pipe in [&forth.1, &back.1] {
            if size >= 1 << 16 {
                rustix::pipe::fcntl_setpipe_size(pipe, LARGE_PIPE).context("the pipe can't be larger")?;
            }
        }
        Ok(Self::Pipes { own: (forth.1, back.0), others: (back.1, forth.0) })
    }

    /// Returns the text with which the other process joins.
    pub fn note(&self) -> String {
        match self {
            Self::Socket(listening) => listening.name.clone(),
            Self::Pipes { others: (to, from), .. } => {
                let directory = format!("/proc/{}/fd", std::process::id());
                format!("{directory}/{} {directory}/{}", to.as_raw_fd(), from.as_raw_fd())
            }
        }
    }

    /// Returns this process's ends, once the other process has joined.
    pub fn accept(self) -> Result<Ends> {
        match self {
            Self::Socket(listening) => Ends::of(listening.accept()?),
            // Drops the other's ends here, so that this side notices when the other process ends.
            Self::Pipes { own: (to, from), .. } => Ok(Ends { to: Box::new(to), from: Box::new(from) }),
        }
    }
}

/// In the other process: returns its ends.
pub fn join(note: &str) -> Result<Ends> {
    match note.split_once(' ') {
        None => Ends::of(connect(note)?),
        Some((to, from)) => {
            let to = File::options().write(true).open(to).context("there is no pipe to write to")?;
            let from = File::open(from).context("there is no pipe to read from")?;
            Ok(Ends { to: Box::new(to), from: Box::new(from) })
        }
    }
}

/// A socket that listens under a name that no other run has.
pub struct Listening {
    /// The name, without a file.
    pub name: String,
    socket: UnixListener,
}

impl Listening {
    /// Starts listening.
    pub fn new() -> Result<Self> {
        let name = format!("sinew-os-{}-{:x}", std::process::id(), now_ns());
        let address = SocketAddr::from_abstract_name(&name)?;
        Ok(Self { socket: UnixListener::bind_addr(&address).context("the socket can't listen")?, name })
    }

    /// Accepts the next connection.
    pub fn accept(&self) -> Result<UnixStream> {
        Ok(self.socket.accept()?.0)
    }
}

/// Connects to the socket of that name.
pub fn connect(name: &str) -> Result<UnixStream> {
    let address = SocketAddr::from_abstract_name(name)?;
    UnixStream::connect_addr(&address).context("the other process doesn't listen")
}
