//! The memory of messages: of this process, or buffers of shared memory.

use harness::{Mode, Result, bytes};
use sinew_bench::payload::flood_depth;
use zenoh::Wait as _;
use zenoh::bytes::ZBytes;
use zenoh::shm::{
    BlockOn, GarbageCollect, PosixShmProviderBackend, ShmProvider, ShmProviderBuilder,
    cleanup_orphaned_shm_segments,
};

use crate::sessions::{Memory, Said as _};

/// Makes messages of one size.
pub enum Payloads {
    /// Each message is allocated.
    Heap {
        /// The part behind the first word, if only that is touched: every message refers to it.
        rest: ZBytes,
        /// Bytes of a message.
        size: usize,
    },
    /// Each message is a buffer of a pool.
    Shared {
        /// The pool.
        pool: ShmProvider<PosixShmProviderBackend>,
        /// Bytes of a message.
        size: usize,
    },
}

impl Payloads {
    /// Makes payloads of a size; in shared memory, with room for as many as may wait in Sinew's
    /// side.
    pub fn of(memory: Memory, size: usize) -> Result<Self> {
        match memory {
            Memory::Heap => Ok(Self::Heap { rest: vec![0; size.saturating_sub(8)].into(), size }),
            Memory::Shared => {
                let room = size.next_multiple_of(64) * flood_depth(size);
                let pool = ShmProviderBuilder::default_backend(room).wait();
                Ok(Self::Shared { pool: pool.said("making a pool of shared memory")?, size })
            }
        }
    }

    /// Returns a message that `write` writes.
    pub fn written(&self, write: impl FnOnce(&mut [u8])) -> Result<ZBytes> {
        match self {
            Self::Heap { size, .. } => {
                let mut message = vec![0; *size];
                write(&mut message);
                Ok(message.into())
            }
            Self::Shared { pool, size } => {
                let buffer = pool.alloc(*size).with_policy::<BlockOn<GarbageCollect>>().wait();
                let mut buffer = buffer.map_err(|error| anyhow::anyhow!("no shared memory: {error:?}"))?;
                write(buffer.as_mut());
                Ok(buffer.into())
            }
        }
    }

    /// Returns message `number`, according to the mode: the first word is written, or all of them.
    pub fn numbered(&self, mode: Mode, number: u64) -> Result<ZBytes> {
        match (self, mode) {
            (_, Mode::Whole) => self.written(|message| bytes::fill(message, number)),
            (Self::Shared { .. }, Mode::Loan) => {
                self.written(|message| bytes::fill(&mut message[..8], number))
            }
            (Self::Heap { rest, .. }, Mode::Loan) => {
                let mut message = ZBytes::writer();
                message.append(number.to_le_bytes().into());
                message.append(rest.clone());
                Ok(message.finish())
            }
        }
    }
}

/// Returns the first word, and reads nothing else.
pub fn first_word(payload: &ZBytes) -> u64 {
    payload.slices().next().and_then(bytes::first_word).unwrap_or(0)
}

/// Removes shared memory of processes that have ended. Zenoh keeps the memory of living processes,
/// and doesn't report whether there was any.
pub fn clear_up() -> Result<()> {
    cleanup_orphaned_shm_segments();
    let files = std::fs::read_dir("/dev/shm")?.filter_map(|file| Some(file.ok()?.path()));
    let left = files.filter(|file| file.extension().is_some_and(|kind| kind == "zenoh")).count();
    anyhow::ensure!(left == 0, "there are {left} segments that another process may have");
    Ok(())
}
