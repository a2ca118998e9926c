//! The program's own file descriptors; their callbacks run in an executor like all others.
//!
//! The kernel reports a ready descriptor once, to `poller`'s thread, which announces it like any
//! other work; the executor runs the callback, and then asks the kernel to report again. So unread
//! data is announced again, behind the work of other entities, and a source is not announced while
//! its callback is still to run.

mod poller;

use super::background::Background;
use super::callback::EventCallback;
use super::node::NodeCore;
use crate::event::condition::{AttachedCondition, OnEvent, Status, StatusCondition};
use crate::executor::group::{CallbackGroup, Group};
use crate::ros::failure::CreateError;
use crate::sys::logging::{Level, log_line};
use crate::sys::sync::{Arc, Mutex, next_serial};
use poller::DescriptorPoller;
use rustix::event::epoll::EventFlags;
use rustix::io::{Errno, fcntl_dupfd_cloexec, ioctl_fionread};
use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// An entity that runs a callback in the executor whenever a file descriptor is ready: a socket, a
/// pipe, a serial line, a CAN interface, an eventfd.
///
/// Made by [`Node::descriptor`](crate::Node::descriptor), from a reference to any owner of a
/// descriptor: the source keeps a duplicate of its own, so the original may be used, and closed, as
/// if there were no source. (The duplicate keeps the open file open: the other end of a socket sees
/// no hang-up before the source is dropped as well.) The source exists until its last handle is
/// dropped, which closes the duplicate at once. The source's own callback may drop it.
///
/// The callback runs repeatedly while the descriptor is ready, each time after the due work of
/// other entities. It needn't read or write everything in one run, but should: each run costs two
/// system calls and wakes another thread. Another thread may read the data before the callback
/// runs, so descriptors should be non-blocking. A source for writing runs whenever there is room,
/// so it should exist only while there is something to write.
///
/// Once the callback has received [`closed`](Readiness::closed) and all data was read, it doesn't
/// run any more. (If another process may reopen the other end, as with a named pipe, open it for
/// both reading and writing: then it is never closed.)
///
/// The first source of a process starts a thread, `sinew-descriptors`, which waits for all sources
/// and never ends. It runs no callbacks.
///
/// ```
/// use sinew::prelude::*;
/// use std::io::{Read, Write};
/// use std::os::unix::net::UnixStream;
/// use std::sync::Arc;
///
/// let (mut far, near) = UnixStream::pair().unwrap();
/// near.set_nonblocking(true).unwrap();
/// let near = Arc::new(near);
/// let context = Context::new()?;
/// let node = context.node("reader")?;
/// let stream = near.clone();
/// let done = context.clone();
/// let _source = node.descriptor(&near).callback(move || -> std::io::Result<()> {
///     let mut text = [0; 16];
///     let length = (&*stream).read(&mut text)?;
///     assert_eq!(&text[..length], b"hello");
///     done.shutdown();
///     Ok(())
/// })?;
/// far.write_all(b"hello").unwrap();
/// sinew::spin(&context)?;
/// # Ok::<(), sinew::Error>(())
/// ```
///
/// Clones refer to the same source: it ends when the last one is dropped, or any of them is
/// [closed](Self::close).
#[derive(Clone)]
#[must_use = "a descriptor source ends when its last handle is dropped, with `let _ = ..` at once: name the variable (`let _source = ..`), make it with `.background()`, or `detach()` it"]
pub struct DescriptorSource {
    inner: Arc<SourceInner>,
}

/// The part that is dropped with the last handle.
struct SourceInner {
    /// `None` once the source is closed: then its callback's captures are dropped.
    joined: Mutex<Option<AttachedCondition<Readiness>>>,
    watch: Arc<Watch>,
    node: Arc<NodeCore>,
}

impl DescriptorSource {
    /// Ends the source and its clones, as dropping the last handle does, and waits for the callback
    /// if it is running on another thread. A call from the callback itself doesn't wait, nor does a
    /// second call.
    pub fn close(self) {
        self.inner.leave(true);
    }

    /// Returns `true` if the source was [closed](Self::close).
    pub fn is_closed(&self) -> bool {
        self.inner.joined.lock().is_none()
    }

    /// Keeps the source without a handle until the context ends, as
    /// [`Timer::detach`](crate::Timer::detach) does.
    pub fn detach(self) {
        let session = self.inner.node.context.session.clone();
        session.detach(self);
    }
}

impl SourceInner {
    fn leave(&self, wait: bool) {
        let joined = self.joined.lock().take();
        self.watch.end();
        if let Some(joined) = joined {
            joined.deregister(wait);
        }
    }
}

impl Drop for SourceInner {
    fn drop(&mut self) {
        self.leave(false);
    }
}

impl fmt::Debug for DescriptorSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DescriptorSource").field("for", &self.inner.watch.direction).finish_non_exhaustive()
    }
}

/// A file descriptor's readiness when the kernel was asked. (In terms of `poll`: `POLLIN`,
/// `POLLOUT`, `POLLHUP` or `POLLRDHUP`, `POLLERR`.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct Readiness {
    /// There is something to read, even if only the end of file.
    pub readable: bool,
    /// There is room to write. Set only for a source for
    /// [writing](DescriptorSourceBuilder::writable).
    pub writable: bool,
    /// The other end will send nothing more. There may still be data to read.
    pub closed: bool,
    /// An error waits to be read (`SO_ERROR`), or a pipe has no reader any more.
    pub failed: bool,
}

impl Readiness {
    fn of(flags: EventFlags) -> Self {
        Self {
            readable: flags.contains(EventFlags::IN),
            writable: flags.contains(EventFlags::OUT),
            closed: flags.intersects(EventFlags::HUP | EventFlags::RDHUP),
            failed: flags.contains(EventFlags::ERR),
        }
    }
}

impl Status for Readiness {
    fn delivered(&mut self) {
        *self = Self::default();
    }
}

/// The kind of readiness that a source waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Reading,
    Writing,
}

impl Direction {
    /// Returns the events that the kernel is asked to report once. (It reports hang-ups and errors
    /// in any case.)
    fn flags(self) -> EventFlags {
        EventFlags::ONESHOT
            | match self {
                Direction::Reading => EventFlags::IN | EventFlags::RDHUP,
                Direction::Writing => EventFlags::OUT,
            }
    }
}

/// A watched descriptor, shared by its handle and its callback.
struct Watch {
    poller: Arc<DescriptorPoller>,
    /// The kernel's key for the descriptor.
    key: u64,
    direction: Direction,
    /// `None` once the source is dropped. Locked while it is used, so that it isn't closed
    /// meanwhile and its number reused.
    descriptor: Mutex<Option<OwnedFd>>,
}

impl Watch {
    /// Asks the kernel, after the callback, to report the next readiness, unless no more data can
    /// come.
    fn again(&self, last: Readiness) {
        let asked = match &*self.descriptor.lock() {
            Some(descriptor) if !self.is_over(descriptor, last) => {
                self.poller.ask(descriptor, self.key, self.direction.flags())
            }
            _ => Ok(()),
        };
        if let Err(error) = asked {
            log_line!(Level::Error, "a descriptor source stops, as epoll_ctl failed: {error}");
        }
    }

    /// Returns `true` if no more data can come.
    fn is_over(&self, descriptor: &OwnedFd, last: Readiness) -> bool {
        if !last.closed || self.direction == Direction::Writing {
            return last.closed;
        }
        match ioctl_fionread(descriptor) {
            Ok(left) => left == 0,
            Err(error) => error == Errno::IO, // the terminal is gone; for other kinds the call fails, and they may have data
        }
    }

    /// Ends the source: nothing is announced any more, and the descriptor is closed.
    fn end(&self) {
        let descriptor = {
            let mut descriptor = self.descriptor.lock();
            // Before it is closed: the kernel keeps watching an open file that has another number
            // as well.
            descriptor.take().inspect(|descriptor| self.poller.remove(descriptor))
        };
        drop(descriptor); // closing may take time
        drop(self.poller.forget(self.key)); // may drop the program's callback: no lock is held
    }
}

/// Exists while the callback runs; its drop watches the descriptor again, even after a panic.
struct WatchAgain<'a> {
    watch: &'a Watch,
    last: Readiness,
}

impl Drop for WatchAgain<'_> {
    fn drop(&mut self) {
        self.watch.again(self.last);
    }
}

/// Makes a [`DescriptorSource`]; from [`Node::descriptor`](crate::Node::descriptor).
#[must_use = "nothing happens before `callback`"]
pub struct DescriptorSourceBuilder<G = Group> {
    node: Arc<NodeCore>,
    descriptor: Result<OwnedFd, Errno>,
    direction: Direction,
    group: G,
}

impl<G: CallbackGroup> DescriptorSourceBuilder<G> {
    pub(crate) fn new(group: &G, descriptor: &impl AsFd) -> Self {
        Self {
            node: NodeCore::of(group.core()),
            descriptor: fcntl_dupfd_cloexec(descriptor, 0),
            direction: Direction::Reading,
            group: group.clone(),
        }
    }
}

impl<G: CallbackGroup> DescriptorSourceBuilder<G> {
    /// Runs the callback when there is data to read, or no more data can come. The default.
    pub fn readable(mut self) -> Self {
        self.direction = Direction::Reading;
        self
    }

    /// Runs the callback when there is room to write instead. (For both, create two sources.)
    pub fn writable(mut self) -> Self {
        self.direction = Direction::Writing;
        self
    }

    /// Makes the source live as long as its node, without a handle; see [`Background`].
    pub fn background(self) -> Background<Self> {
        Background::new(&self.node.clone(), self)
    }

    /// Creates the source. The callback takes nothing, [`&Readiness`](Readiness), the group's state
    /// `&mut S`, or the state and `&Readiness`. Even in a reentrant group, it never runs on two
    /// threads at the same time.
    ///
    /// # Errors
    /// [`CreateError`]: the context is shut down; the descriptor is of a kind that can't be waited
    /// for ([`CreateError::AlwaysReady`]); or the operating system has no room for another
    /// descriptor, watch or thread ([`CreateError::System`]).
    pub fn callback<Form, F>(self, callback: F) -> Result<DescriptorSource, CreateError>
    where
        F: EventCallback<Readiness, G, Form>,
    {
        let core = self.group.core();
        self.node.check_running("a descriptor source")?;
        let failed = |call| {
            let name = format!("a descriptor source of node {}", &self.node.full_name);
            move |error: io::Error| not_created(name, call, &error)
        };
        let descriptor = self.descriptor.map_err(|error| failed("fcntl (F_DUPFD)")(error.into()))?;
        let poller = DescriptorPoller::of_this_process()
            .map_err(failed("starting the thread that waits for descriptors"))?;
        let watch = Arc::new(Watch {
            poller,
            key: next_serial(),
            direction: self.direction,
            descriptor: Mutex::new(Some(descriptor)),
        });
        let watched = watch.clone();
        let (cell, group) = (callback.cell(&self.group), self.group.clone());
        let run: OnEvent<Readiness> = Box::new(move |token, readiness| {
            let _running = WatchAgain { watch: &watched, last: *readiness };
            F::call(&cell, &group, token, readiness)
        });
        let source = StatusCondition::erased(core.clone(), "descriptor source".to_owned(), run);
        watch.poller.know(watch.key, source.clone());
        let added = match &*watch.descriptor.lock() {
            Some(descriptor) => watch.poller.add(descriptor, watch.key, self.direction.flags()),
            None => Ok(()), // the handle that could have ended it isn't made yet
        };
        if let Err(error) = added {
            watch.end();
            return Err(failed("epoll_ctl")(error));
        }
        let joined = Mutex::new(Some(AttachedCondition::new(source)));
        Ok(DescriptorSource { inner: Arc::new(SourceInner { joined, watch, node: self.node.clone() }) })
    }
}

/// Returns the error for a source that could not be made, from the operating system's error.
fn not_created(name: String, call: &'static str, error: &io::Error) -> CreateError {
    let remedy = match Errno::from_io_error(error) {
        Some(Errno::PERM) => return CreateError::AlwaysReady { name },
        Some(Errno::MFILE) => "close some, or raise the limit on open files (`ulimit -n`)",
        Some(Errno::NFILE) => "raise the system's limit on open files (/proc/sys/fs/file-max)",
        Some(Errno::NOSPC) => "raise the user's limit (/proc/sys/fs/epoll/max_user_watches)",
        Some(Errno::AGAIN) => "raise the limit on threads (`ulimit -u`)",
        Some(Errno::BADF) => "it must be open for reading or writing",
        _ => "there may be no memory left",
    };
    CreateError::System { name, call, reason: error.to_string(), remedy }
}

impl<G: CallbackGroup> Background<DescriptorSourceBuilder<G>> {
    /// Creates the source, as [`DescriptorSourceBuilder::callback`] does.
    ///
    /// # Errors
    /// As [`DescriptorSourceBuilder::callback`]; or the last handle of the node was dropped.
    pub fn callback<Form, F>(self, callback: F) -> Result<(), CreateError>
    where
        F: EventCallback<Readiness, G, Form>,
    {
        self.make(|builder| builder.callback(callback))
    }
}
