//! A file as bytes in memory.

use memmap2::Mmap;
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

/// A mapped file. The kernel reads its pages when they are looked at, and may forget them again.
#[derive(Debug)]
pub(crate) struct Mapped(Mmap);

impl Mapped {
    /// Maps a file with its present length; bytes that are appended later are not seen.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        // SAFETY: the mapping is private and only read. MCAP writers append, and change bytes that
        // they have written only in the header of the chunk that they are writing; every byte here
        // is plain data without invalid values, and no length or offset is used without a check of
        // its own copy. A program that cuts a bag short while it is being read ends this process
        // with SIGBUS: the documentation of `BagReader` forbids that.
        let map = unsafe { Mmap::map(&file) }?;
        Ok(Self(map))
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}
