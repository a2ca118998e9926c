//! Variables: one process writes, many read.

use super::channel::Seat;
use super::claim::claim;
use super::declared::{ChannelKind, Declared, Role};
use super::error::{OpenError, ReadError, WriteError};
use super::latest::LatestReader;
use super::space::{Opened, Space};
use super::topic::plan_for;
use super::value::{Origin, Sample, Value};
use crate::participant::OwnEndpoint;
use crate::platform::sync::Arc;
use std::fmt;
use std::marker::PhantomData;

/// A variable that one process, its [master](Master), writes, and that any number of readers read;
/// this is a reader.
///
/// A reader may be opened before there is a master. It gets the current value at any time, never a
/// torn one. While there is no master, there is no value: the variable lives as long as its master.
/// Readers map the master's memory read-only.
///
/// Reading takes a short lock of this process and copies the value once. Once warm it allocates
/// nothing and makes no system call.
///
/// ```
/// # let base = tempfile::tempdir_in("/dev/shm")?;
/// # let space = sinew_shm::raw::Space::join(&sinew_shm::Domain::open(Some(base.path()), 0)?)?;
/// use sinew_shm::raw::Variable;
/// let master = Variable::master_in(&space, "mode", &1u32)?; // or `Variable::master("mode", &1)`
/// let mut mode = Variable::<u32>::open_in(&space, "mode")?;
/// master.write(&2)?;
/// assert_eq!(*mode.read()?.ok_or("no master")?, 2);
/// assert!(Variable::master_in(&space, "mode", &3u32).is_err());
/// drop(master);
/// assert_eq!(mode.read()?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Variable<V: Value + ?Sized> {
    reading: Arc<LatestReader>,
    channel: Arc<Opened>,
    value: PhantomData<fn(&V)>,
}

impl<V: Value + ?Sized> fmt::Debug for Variable<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Variable({:?}: {})", self.channel.declared.name, self.channel.declared.type_name)
    }
}

impl<V: Value + ?Sized> Variable<V> {
    /// Opens a variable for reading, in the [shared space](Space::shared) of this process.
    ///
    /// # Errors
    /// [`OpenError`]: above all, the name is in use for something else.
    pub fn open(name: &str) -> Result<Self, OpenError> {
        Self::open_in(&Space::shared()?, name)
    }

    /// Opens a variable for reading, in a space. Returns when its master, if there is one, knows
    /// that this handle reads, or after half a second if the master doesn't answer.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_in(space: &Space, name: &str) -> Result<Self, OpenError> {
        let channel = space.channel(Declared::new::<V>(ChannelKind::Variable, name)?, plan_for::<V>())?;
        let reading = LatestReader::join(channel.channel())?;
        Ok(Self { channel, reading, value: PhantomData })
    }

    /// Becomes the variable's master, in the [shared space](Space::shared) of this process.
    ///
    /// # Errors
    /// [`OpenError`]: above all, there is a master already, or the name is in use for something
    /// else.
    pub fn master(name: &str, first: &V) -> Result<Master<V>, OpenError> {
        Self::master_in(&Space::shared()?, name, first)
    }

    /// Becomes the variable's master, in a space. The variable has the value `first` when this
    /// returns.
    ///
    /// # Errors
    /// As [`master`](Self::master).
    pub fn master_in(space: &Space, name: &str, first: &V) -> Result<Master<V>, OpenError> {
        let channel = space.channel(Declared::new::<V>(ChannelKind::Variable, name)?, plan_for::<V>())?;
        let Some(seat) = channel.channel().take_seat() else {
            return Err(OpenError::Master {
                name: name.to_owned(),
                pid: u64::from(std::process::id()),
                program: "this one".to_owned(),
            });
        };
        let claim = claim(space.member(), &channel.declared, Role::Master)?;
        let master = Master { channel, _claim: claim, _seat: seat, value: PhantomData };
        master.channel.write(first.bytes())?;
        Ok(master)
    }

    /// Returns the current value; `None` while there is no master.
    ///
    /// The end of a master is noticed within milliseconds.
    ///
    /// # Errors
    /// [`ReadError`], if the master is broken.
    pub fn read(&mut self) -> Result<Option<Sample<V::Owned>>, ReadError> {
        let mut value = V::empty();
        let origin = self.read_into(&mut value)?;
        Ok(origin.map(|origin| Sample { value, origin }))
    }

    /// Reads into an existing value, e.g. one that is too big for the stack, or a `Vec` to be
    /// reused. The value stays unchanged if there is no master.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_into(&mut self, value: &mut V::Owned) -> Result<Option<Origin>, ReadError> {
        self.read_shared(value)
    }

    /// Reads into an existing value if there is one that this handle hasn't read; else returns
    /// `None`, and the value stays unchanged. For a reader that polls: it copies a value once. Of
    /// several threads one gets a value.
    ///
    /// ```
    /// # let base = tempfile::tempdir_in("/dev/shm")?;
    /// # let space = sinew_shm::raw::Space::join(&sinew_shm::Domain::open(Some(base.path()), 0)?)?;
    /// use sinew_shm::raw::Variable;
    /// let master = Variable::master_in(&space, "pose", &[0.0; 3])?;
    /// let (pose, mut newest) = (Variable::<[f64; 3]>::open_in(&space, "pose")?, [0.0; 3]);
    /// master.write(&[1.0, 2.0, 0.5])?;
    /// assert!(pose.read_newer_into(&mut newest)?.is_some());
    /// assert_eq!(newest, [1.0, 2.0, 0.5]);
    /// assert!(pose.read_newer_into(&mut newest)?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_newer_into(&self, value: &mut V::Owned) -> Result<Option<Origin>, ReadError> {
        self.reading.read::<V>(true, value)
    }

    /// As [`read_into`](Self::read_into), for a handle that several threads read at once.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_shared(&self, value: &mut V::Owned) -> Result<Option<Origin>, ReadError> {
        self.reading.read::<V>(false, value)
    }
}

/// The only writer of a [`Variable`]. When it is dropped, or its process ends, the variable has no
/// value and may get another master.
pub struct Master<V: Value + ?Sized> {
    _claim: OwnEndpoint,
    _seat: Seat,
    channel: Arc<Opened>,
    value: PhantomData<fn(&V)>,
}

impl<V: Value + ?Sized> fmt::Debug for Master<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Master({:?}: {})", self.channel.declared.name, self.channel.declared.type_name)
    }
}

impl<V: Value + ?Sized> Master<V> {
    /// Writes the value. Never blocks; several threads may call it at once. Takes a short lock of
    /// this process.
    ///
    /// # Errors
    /// [`WriteError::Capacity`]
    pub fn write(&self, value: &V) -> Result<(), WriteError> {
        Ok(self.channel.write(value.bytes())?)
    }
}

impl<V: Value + ?Sized> Drop for Master<V> {
    fn drop(&mut self) {
        self.channel.stop(); // before the claim goes, so that no two write at a time
    }
}
