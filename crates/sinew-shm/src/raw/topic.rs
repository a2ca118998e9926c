//! Topics: the newest value.

use super::channel::Plan;
use super::declared::{ChannelKind, Declared};
use super::error::{OpenError, ReadError, WriteError};
use super::latest::LatestReader;
use super::space::{Opened, Space};
use super::value::{Origin, Sample, Value};
use crate::platform::sync::Arc;
use std::fmt;
use std::marker::PhantomData;

/// Ring slots for messages of which only the newest counts. A reader that is overtaken while it
/// reads finds the next one.
const DEPTH: usize = 8;

/// The greatest number of encoded bytes that goes into the ring itself.
const INLINE: usize = 1016;

/// Bytes in a slot for values of variable length.
const INLINE_SLICE: usize = 200;

/// Bytes in a slot: enough for values of the type, or none if they are large.
pub(super) fn inline_for<V: Value + ?Sized>() -> usize {
    match V::SIZE {
        _ if V::IS_SLICE => INLINE_SLICE,
        size if size <= INLINE => size,
        _ => 0,
    }
}

/// The plan for sending values of which only the newest counts.
pub(super) fn plan_for<V: Value + ?Sized>() -> Plan {
    Plan { depth: DEPTH, inline: inline_for::<V>(), capacity: None }
}

/// The newest value of a name, with many writers and many readers. Nothing ever blocks.
///
/// A handle both writes and reads. Each handle, including the writer's own, gets each value once,
/// unless a newer one comes before it reads. The newest value is the one written last by the
/// machine's clock, by any process. A handle that is opened late has the last value at once, if a
/// process that wrote it still has the topic open: a value lives as long as the handles of its
/// writer's process, and a handle that got it keeps it until a newer one comes. A value that is
/// read is never torn.
///
/// `write` and `read` take short locks of this process and copy the value once each (into and out
/// of shared memory). Once warm they allocate nothing and make no system call. Values of up to 1016
/// bytes (slices: 200) are stored in the ring itself, larger ones of any size in a chunk of their
/// own.
///
/// ```
/// # let base = tempfile::tempdir_in("/dev/shm")?;
/// # let space = sinew_shm::raw::Space::join(&sinew_shm::Domain::open(Some(base.path()), 0)?)?;
/// use sinew_shm::raw::Topic;
/// let camera = Topic::<[u8]>::open_in(&space, "camera")?; // or `Topic::open("camera")`
/// let mut screen = Topic::<[u8]>::open_in(&space, "camera")?;
/// camera.write(b"a picture")?;
/// camera.write(b"a newer one")?;
/// let picture = screen.read()?.ok_or("nothing new")?;
/// assert_eq!(*picture, b"a newer one");
/// assert_eq!(picture.origin.writer, space.id());
/// assert_eq!(screen.read()?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Topic<V: Value + ?Sized> {
    reading: Arc<LatestReader>,
    channel: Arc<Opened>,
    value: PhantomData<fn(&V)>,
}

impl<V: Value + ?Sized> fmt::Debug for Topic<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Topic({:?}: {})", self.channel.declared.name, self.channel.declared.type_name)
    }
}

impl<V: Value + ?Sized> Topic<V> {
    /// Opens a topic in the [shared space](Space::shared) of this process.
    ///
    /// # Errors
    /// [`OpenError`]: above all, the name is in use for something else.
    pub fn open(name: &str) -> Result<Self, OpenError> {
        Self::open_in(&Space::shared()?, name)
    }

    /// Opens a topic in a space. Returns when all its writers know that this handle reads, or after
    /// half a second if one of them doesn't answer.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_in(space: &Space, name: &str) -> Result<Self, OpenError> {
        let channel = space.channel(Declared::new::<V>(ChannelKind::Topic, name)?, plan_for::<V>())?;
        let reading = LatestReader::join(channel.channel())?;
        Ok(Self { channel, reading, value: PhantomData })
    }

    /// Writes a value. Several threads may call it at once.
    ///
    /// # Errors
    /// [`WriteError::Capacity`]
    pub fn write(&self, value: &V) -> Result<(), WriteError> {
        Ok(self.channel.write(value.bytes())?)
    }

    /// Returns the newest value; `None` if this handle has read it already, or if there is none.
    ///
    /// # Errors
    /// [`ReadError`], if a writer is broken.
    pub fn read(&mut self) -> Result<Option<Sample<V::Owned>>, ReadError> {
        let mut value = V::empty();
        let origin = self.read_into(&mut value)?;
        Ok(origin.map(|origin| Sample { value, origin }))
    }

    /// Reads into an existing value, e.g. one that is too big for the stack, or a `Vec` to be
    /// reused. If there is nothing new, returns `None` and leaves the value unchanged.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_into(&mut self, value: &mut V::Owned) -> Result<Option<Origin>, ReadError> {
        self.read_shared(value)
    }

    /// As [`read_into`](Self::read_into), for a handle that several threads read at once: one of them gets
    /// a value.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_shared(&self, value: &mut V::Owned) -> Result<Option<Origin>, ReadError> {
        self.reading.read::<V>(true, value)
    }
}
