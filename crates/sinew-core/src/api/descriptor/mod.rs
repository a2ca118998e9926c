//! File descriptors of the program's own, whose callbacks run in an executor among all others.
//!
//! The kernel tells `poller`'s thread that a descriptor is ready, once; that announces it as
//! everything else is announced; the executor runs the callback, and then asks the kernel to tell
//! again. So what isn't dealt with is announced again, behind what others have to do, and while the
//! callback has not run the source isn't announced.

mod poller;

use super::callback::EventCallback;
use super::node::{Node, NodeCore};
use crate::event::condition::{AttachedCondition, OnEvent, Status, StatusCondition};
use crate::executor::group::{CallbackGroup, Group};
use crate::ros::failure::CreateError;
use crate::sys::logging::{Level, tell};
use crate::sys::sync::{Arc, Mutex, next_serial};
use poller::DescriptorPoller;
use rustix::event::epoll::EventFlags;
use rustix::io::{Errno, fcntl_dupfd_cloexec, ioctl_fionread};
use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// Has its callback run by the executor whenever a file descriptor is ready: a socket, a pipe, a
/// serial line, a CAN interface, an eventfd.
///
/// Made by [`Node::descriptor`](crate::Node::descriptor), from a reference to whatever has a
/// descriptor: it keeps a duplicate of its own, so the original may be used, and closed, as if
/// there were no source. (What a duplicate refers to stays open as long: the other end of a socket
/// sees no hang-up before the source is gone, too.) It exists until its last handle is dropped;
/// that closes the duplicate at once, and may happen in its own callback.
///
/// The callback runs again and again for as long as the descriptor is ready, each time after what
/// others have to do; it needn't read or write everything at once, but does well to, as each run
/// costs two system calls and a wake-up of another thread. By the time it runs, another thread may
/// have read what was there: descriptors should be non-blocking. A source for writing runs whenever
/// there is room, so it should be there only while there is something to write.
///
/// After [`closed`](Readiness::closed) was reported and all that came before was read, it doesn't
/// run any more. (If others may open the other end again, as that of a named pipe, open it for both
/// reading and writing: it is never closed then.)
///
/// The first source of a process starts a thread, `sinew-descriptors`, which waits for all of them
/// and stays. It runs no callbacks.
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
/// Clones are the same source: it ends when the last one is dropped, or any of them is
/// [closed](Self::close).
#[derive(Clone)]
#[must_use = "a descriptor source ends when its last handle is dropped, with `let _ = ..` at once: name the variable (`let _source = ..`), or `detach()` it"]
pub struct DescriptorSource {
    inner: Arc<SourceInner>,
}

/// What goes with the last handle.
struct SourceInner {
    /// `None` once it is closed: then what its callback has captured is gone.
    joined: Mutex<Option<AttachedCondition<Readiness>>>,
    watch: Arc<Watch>,
    node: Arc<NodeCore>,
}

impl DescriptorSource {
    /// Ends it, also for its clones, as dropping the last one does, and waits for its callback if
    /// that is running on another thread. Called in its own callback, it doesn't wait; nor does a
    /// second `close`.
    pub fn close(self) {
        self.inner.leave(true);
    }

    /// Whether it was [closed](Self::close).
    pub fn is_closed(&self) -> bool {
        self.inner.joined.lock().is_none()
    }

    /// Keeps it without a handle until the context ends; as
    /// [`Timer::detach`](crate::Timer::detach).
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

/// What a file descriptor was ready for when the kernel was asked. (`poll`'s words: `POLLIN`,
/// `POLLOUT`, `POLLHUP` or `POLLRDHUP`, `POLLERR`.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct Readiness {
    /// There is something to read, if only the end.
    pub readable: bool,
    /// There is room to write. Only a source for [writing](DescriptorSourceBuilder::writable)
    /// learns it.
    pub writable: bool,
    /// The other end will send nothing more. There may still be something to read.
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

/// What a source waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Reading,
    Writing,
}

impl Direction {
    /// What to ask the kernel for: to tell, once. (Hang-ups and errors it tells unasked.)
    fn flags(self) -> EventFlags {
        EventFlags::ONESHOT
            | match self {
                Direction::Reading => EventFlags::IN | EventFlags::RDHUP,
                Direction::Writing => EventFlags::OUT,
            }
    }
}

/// A watched descriptor, for its handle and its callback.
struct Watch {
    poller: Arc<DescriptorPoller>,
    /// What the kernel calls it.
    key: u64,
    direction: Direction,
    /// `None` once the source is gone. Locked while it is used, so that it isn't closed, and its
    /// number given to another.
    descriptor: Mutex<Option<OwnedFd>>,
}

impl Watch {
    /// After its callback: asks to be told when it is ready the next time, if there can be one.
    fn again(&self, last: Readiness) {
        let asked = match &*self.descriptor.lock() {
            Some(descriptor) if !self.is_over(descriptor, last) => {
                self.poller.ask(descriptor, self.key, self.direction.flags())
            }
            _ => Ok(()),
        };
        if let Err(error) = asked {
            tell!(Level::Error, "a descriptor source stops, as epoll_ctl failed: {error}");
        }
    }

    /// Whether nothing can come any more.
    fn is_over(&self, descriptor: &OwnedFd, last: Readiness) -> bool {
        if !last.closed || self.direction == Direction::Writing {
            return last.closed;
        }
        match ioctl_fionread(descriptor) {
            Ok(left) => left == 0,
            Err(error) => error == Errno::IO, // a terminal that is gone; others can't tell, and may have something
        }
    }

    /// The source goes: nothing is announced any more, and the descriptor is closed.
    fn end(&self) {
        let descriptor = {
            let mut descriptor = self.descriptor.lock();
            // Before it is closed: the kernel keeps watching what is open under another number as
            // well.
            descriptor.take().inspect(|descriptor| self.poller.remove(descriptor))
        };
        drop(descriptor); // which may take its time
        drop(self.poller.forget(self.key)); // the user's callback may go with it: no lock is held
    }
}

/// While the callback runs; also if it panics, the descriptor is watched again.
struct WatchAgain<'a> {
    watch: &'a Watch,
    last: Readiness,
}

impl Drop for WatchAgain<'_> {
    fn drop(&mut self) {
        self.watch.again(self.last);
    }
}

impl Node {
    /// A source of callbacks for when a file descriptor is ready: of anything that has one, by
    /// reference.
    pub fn descriptor(&self, descriptor: &impl AsFd) -> DescriptorSourceBuilder {
        DescriptorSourceBuilder::new(self.default_group(), descriptor)
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
    /// Its callback runs when there is something to read, or nothing will come any more. The
    /// default.
    pub fn readable(mut self) -> Self {
        self.direction = Direction::Reading;
        self
    }

    /// Its callback runs when there is room to write, instead. (For both, make two sources.)
    pub fn writable(mut self) -> Self {
        self.direction = Direction::Writing;
        self
    }

    /// Makes the source. The callback takes nothing, [`&Readiness`](Readiness), the group's state
    /// `&mut S`, or the state and `&Readiness`. Even in a reentrant group, it doesn't run on two
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

/// Why a source could not be made, by what the operating system said.
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
