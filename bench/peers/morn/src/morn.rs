//! Morn's functions, which take a name in each call. A failure in them ends the process.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

use harness::Result;

/// The most bytes of a variable.
pub const LARGEST_VARIABLE: usize = 128;

/// `DFLT` of Morn: the variable's master.
const MASTER: c_int = -1;
const SLAVE: c_int = 1;

// As `morn_ptc.h` declares them.
unsafe extern "C" {
    fn m_ProcTopicWrite(name: *const c_char, data: *mut c_void, size: c_int) -> *mut c_void;
    fn m_ProcTopicRead(name: *const c_char, data: *mut c_void, size: *mut c_int) -> *mut c_void;
    fn m_ProcMessageWrite(name: *const c_char, data: *mut c_void, size: c_int) -> *mut c_void;
    fn m_ProcMessageRead(name: *const c_char, data: *mut c_void, size: *mut c_int) -> *mut c_void;
    fn m_ProcVariate(name: *const c_char, size: c_int, kind: c_int) -> *mut c_void;
}

/// A way to pass messages on.
pub trait Channel: Sized {
    /// Whether a read waits for a message.
    const WAITS: bool;

    /// Names it. Nothing happens before the first call with that name.
    fn of(name: &str) -> Result<Self>;

    /// Writes a message: Morn copies it.
    fn write(&mut self, words: &[u64]);

    /// Reads the next message where it lies; `None`: there is no new one. The writer must write no
    /// other one until `read` returns.
    fn read<T>(&mut self, read: impl FnOnce(&[u64]) -> T) -> Option<T>;
}

/// The words of a message. Empty if it isn't whole words.
///
/// # Safety
/// At `place` are `size` bytes, which no thread writes while the words are used.
unsafe fn words<'a>(place: *const c_void, size: c_int) -> &'a [u64] {
    let size = usize::try_from(size).unwrap_or(0);
    if !place.addr().is_multiple_of(align_of::<u64>()) || !size.is_multiple_of(size_of::<u64>()) {
        return &[];
    }
    // SAFETY: aligned, and as the caller says.
    unsafe { std::slice::from_raw_parts(place.cast::<u64>(), size / size_of::<u64>()) }
}

fn bytes(words: &[u64]) -> c_int {
    c_int::try_from(size_of_val(words)).unwrap_or(0)
}

/// A topic: the newest message.
pub struct Topic {
    name: CString,
}

impl Channel for Topic {
    const WAITS: bool = false;

    fn of(name: &str) -> Result<Self> {
        Ok(Self { name: CString::new(name)? })
    }

    fn write(&mut self, words: &[u64]) {
        // SAFETY: Morn only reads the data, of which it gets the size.
        unsafe { m_ProcTopicWrite(self.name.as_ptr(), words.as_ptr().cast_mut().cast(), bytes(words)) };
    }

    fn read<T>(&mut self, read: impl FnOnce(&[u64]) -> T) -> Option<T> {
        let mut size = 0; // no limit
        // SAFETY: without a place for a copy, Morn returns the message's own place.
        let place = unsafe { m_ProcTopicRead(self.name.as_ptr(), null_mut(), &raw mut size) };
        // SAFETY: Morn's mapping stays; the writer waits, as `Channel` says.
        (!place.is_null()).then(|| read(unsafe { words(place, size) }))
    }
}

/// A queue: every message.
pub struct Queue {
    name: CString,
}

impl Channel for Queue {
    const WAITS: bool = true;

    fn of(name: &str) -> Result<Self> {
        Ok(Self { name: CString::new(name)? })
    }

    fn write(&mut self, words: &[u64]) {
        // SAFETY: as for a topic.
        unsafe { m_ProcMessageWrite(self.name.as_ptr(), words.as_ptr().cast_mut().cast(), bytes(words)) };
    }

    fn read<T>(&mut self, read: impl FnOnce(&[u64]) -> T) -> Option<T> {
        let mut size = 0;
        // SAFETY: as for a topic; this waits for a message.
        let place = unsafe { m_ProcMessageRead(self.name.as_ptr(), null_mut(), &raw mut size) };
        // SAFETY: as for a topic.
        (!place.is_null()).then(|| read(unsafe { words(place, size) }))
    }
}

/// A value of which the newest is read.
pub trait Value: Sized {
    /// Opens it for its writer, which has all its words at once.
    fn written(name: &str, size: usize) -> Result<Self>;

    /// Opens it for a reader.
    fn read_only(name: &str, size: usize) -> Result<Self>;

    /// Writes every word.
    fn write(&mut self, word: u64);

    /// Reads every word of the newest value; `None` if there is none yet.
    fn read(&mut self) -> Option<&[u64]>;
}

/// The newest message of a topic, of which each side has a copy.
pub struct Newest {
    topic: Topic,
    copy: Vec<u64>,
    is_there: bool,
}

impl Value for Newest {
    fn written(name: &str, size: usize) -> Result<Self> {
        Ok(Self { topic: Topic::of(name)?, copy: vec![0; size / size_of::<u64>()], is_there: false })
    }

    fn read_only(name: &str, size: usize) -> Result<Self> {
        Self::written(name, size)
    }

    fn write(&mut self, word: u64) {
        self.copy.fill(word);
        self.topic.write(&self.copy);
    }

    fn read(&mut self) -> Option<&[u64]> {
        let mut size = bytes(&self.copy); // the limit
        // SAFETY: Morn copies at most as many bytes as the copy has.
        let place = unsafe {
            m_ProcTopicRead(self.topic.name.as_ptr(), self.copy.as_mut_ptr().cast(), &raw mut size)
        };
        self.is_there |= !place.is_null();
        self.is_there.then_some(&self.copy)
    }
}

/// A variable: memory that both sides map. Words are read and written one by one, since nothing
/// keeps the sides apart.
pub struct Variable {
    words: &'static [AtomicU64],
    copy: Vec<u64>,
}

impl Variable {
    fn open(name: &str, size: usize, kind: c_int) -> Result<Self> {
        let name = CString::new(name)?;
        // SAFETY: Morn copies the name.
        let place = unsafe { m_ProcVariate(name.as_ptr(), c_int::try_from(size)?, kind) };
        anyhow::ensure!(
            !place.is_null() && place.addr() % align_of::<AtomicU64>() == 0,
            "there is no variable"
        );
        let count = size / size_of::<u64>();
        // SAFETY: aligned; the variable has the size, and lies there until the process ends. A slave
        // only loads, which its mapping allows.
        let words = unsafe { std::slice::from_raw_parts(place.cast::<AtomicU64>(), count) };
        Ok(Self { words, copy: vec![0; count] })
    }
}

impl Value for Variable {
    fn written(name: &str, size: usize) -> Result<Self> {
        Self::open(name, size, MASTER)
    }

    fn read_only(name: &str, size: usize) -> Result<Self> {
        Self::open(name, size, SLAVE)
    }

    fn write(&mut self, word: u64) {
        self.words.iter().for_each(|place| place.store(word, Ordering::Relaxed));
    }

    fn read(&mut self) -> Option<&[u64]> {
        self.copy.iter_mut().zip(self.words).for_each(|(copy, word)| *copy = word.load(Ordering::Relaxed));
        (self.copy.first() != Some(&0)).then_some(&self.copy)
    }
}
