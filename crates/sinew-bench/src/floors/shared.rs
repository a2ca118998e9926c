//! The memory that the two processes of a floor share: a board of cache lines, and a buffer.
//!
//! Protocol. There are two sides: the *measuring* process and its *peer*. Each way (forth:
//! measuring to peer, back: peer to measuring) has a payload cache line, a flag cache line and a
//! bell, all written only by the sender of that way. Messages are numbered from 1 on; the peer
//! reports its start with the greatest number. A message is its payload, then its number on the
//! flag line (S1 below) or on the bell (S2). Only one message is in transit at a time: the
//! measuring side sends, the peer answers with the same number. The buffer belongs to the measuring
//! side until it raises the flag forth, then to the peer until that raises the flag back.

use std::os::fd::AsFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::fs::{MemfdFlags, fstat, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::thread::{Timespec, futex};

use crate::Error;

/// Words of a cache line.
const WORDS: usize = 8;

/// One cache line, with its neighbour left empty: processors fetch lines in pairs.
#[repr(C, align(128))]
pub(super) struct Line([AtomicU64; WORDS]);

impl Line {
    /// Fills the line.
    pub(super) fn fill(&self, value: u64) {
        for word in &self.0 {
            word.store(value, Ordering::Relaxed); // S1 publishes it
        }
    }

    /// Returns `true` if the whole line holds `value`.
    pub(super) fn holds(&self, value: u64) -> bool {
        self.0.iter().all(|word| word.load(Ordering::Relaxed) == value) // S1 made it visible
    }

    /// Raises the flag for message `number`, together with a word of its own on the same line.
    pub(super) fn raise(&self, number: u64, word: u64) {
        self.0[1].store(word, Ordering::Relaxed); // the next store publishes it
        self.0[0].store(number, Ordering::Release); // S1: pairs with `raised`; carries payload, word and buffer
    }

    /// Returns the number on the flag.
    pub(super) fn raised(&self) -> u64 {
        self.0[0].load(Ordering::Acquire) // S1: pairs with `raise`
    }

    /// Returns the word that came with the number.
    pub(super) fn word(&self) -> u64 {
        self.0[1].load(Ordering::Relaxed) // S1 made it visible
    }
}

/// A word to sleep on.
#[repr(C, align(128))]
pub(super) struct Bell(AtomicU32);

impl Bell {
    /// Sets the number and wakes the other side.
    pub(super) fn ring(&self, number: u32) -> Result<(), Error> {
        self.0.store(number, Ordering::Release); // S2: pairs with `number`
        futex::wake(&self.0, futex::Flags::empty(), 1).map(drop).map_err(Error::system("futex(FUTEX_WAKE)"))
    }

    /// Returns the last number that was rung.
    pub(super) fn number(&self) -> u32 {
        self.0.load(Ordering::Acquire) // S2: pairs with `ring`
    }

    /// Sleeps for at most a second, unless the number is no longer `seen`. May return early: look
    /// again.
    pub(super) fn sleep(&self, seen: u32) {
        let longest = Timespec { tv_sec: 1, tv_nsec: 0 };
        // Every error means: look again (the number has changed, a signal came, the second is
        // over).
        let _ = futex::wait(&self.0, futex::Flags::empty(), seen, Some(&longest));
    }
}

/// One direction.
#[repr(C)]
pub(super) struct Way {
    pub(super) payload: Line,
    pub(super) flag: Line,
    pub(super) bell: Bell,
}

/// Both directions; all zero at first.
#[repr(C)]
pub(super) struct Board {
    pub(super) forth: Way,
    pub(super) back: Way,
}

/// Offset of the buffer: on a page of its own.
const BUFFER: usize = 4096;
const _: () = assert!(size_of::<Board>() <= BUFFER && size_of::<Way>() == 3 * 128);

/// A mapping of the board and of a buffer of `size` bytes.
pub(super) struct Shared {
    base: NonNull<u8>,
    size: usize,
}

impl Shared {
    /// Creates the memory and maps it; the file is for the peer.
    pub(super) fn create(size: usize) -> Result<(Self, impl AsFd + Into<std::process::Stdio>), Error> {
        let file = memfd_create("sinew-floor", MemfdFlags::CLOEXEC).map_err(Error::system("memfd_create"))?;
        ftruncate(&file, (BUFFER + size) as u64).map_err(Error::system("ftruncate of shared memory"))?;
        Ok((Self::map(&file, size)?, file))
    }

    /// Maps memory made by [`Shared::create`] for the same `size`.
    pub(super) fn map(file: impl AsFd, size: usize) -> Result<Self, Error> {
        let length = BUFFER + size;
        let found = fstat(&file).map_err(Error::system("fstat of shared memory"))?.st_size;
        if usize::try_from(found) != Ok(length) {
            return Err(Error::NotOurPeer);
        }
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::POPULATE);
        // SAFETY: a new mapping at an address of the kernel's choice overlays nothing; the file is
        // `length` long.
        let base = unsafe { mmap(ptr::null_mut(), length, access, flags, file, 0) };
        let base = base.map_err(Error::system("mmap of shared memory"))?;
        let base = NonNull::new(base.cast()).ok_or(Error::NotOurPeer)?;
        Ok(Self { base, size })
    }

    /// Returns the board.
    pub(super) fn board(&self) -> &Board {
        // SAFETY: the mapping starts on a page, holds a `Board` (asserted above) for as long as
        // `self` lives, and a board consists of atomics, for which every bit pattern is valid and
        // which other processes may write.
        unsafe { self.base.cast::<Board>().as_ref() }
    }

    /// Returns the buffer, in words. Only its address: the protocol above decides who may use it
    /// when.
    pub(super) fn buffer(&self) -> NonNull<[u64]> {
        // SAFETY: the mapping is `BUFFER + size` long.
        let start = unsafe { self.base.byte_add(BUFFER) };
        NonNull::slice_from_raw_parts(start.cast(), self.size / size_of::<u64>())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: mapped by `map` with this length; references into it borrow `self`.
        let unmapped = unsafe { munmap(self.base.as_ptr().cast(), BUFFER + self.size) };
        debug_assert!(unmapped.is_ok(), "{unmapped:?}");
    }
}
