//! What keeps the memory of a message that lies in shared memory, or of which there is only an
//! image.

use sinew_msg::__private::bytemuck;
use sinew_shm::{Hold, Lent, Loan};
use std::alloc::{self, Layout};

/// Who lends memory in which other processes will read a message.
pub(crate) trait ImageLender: Send + Sync {
    /// For an image of so many bytes; `None`: no process reads there now, so short an image is
    /// copied anyway, or there is no room.
    fn lend(&self, length: usize) -> Option<Loan>;
}

/// What keeps a message's memory.
pub(crate) enum Backing {
    /// Our own, not published yet: its holder may write it.
    Loan(Loan),
    /// Our own, published, or about to be: others read it, too.
    Lent(Lent),
    /// Another process's.
    Hold(Hold),
    /// An image in ordinary memory.
    Own(OwnImage),
    /// Between two of the others.
    Nothing,
}

impl Backing {
    /// What is there: of a message's image, all of it.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Backing::Loan(loan) => loan.bytes(),
            Backing::Lent(lent) => lent.bytes(),
            Backing::Hold(hold) => hold.bytes(),
            Backing::Own(image) => image.bytes(),
            Backing::Nothing => &[],
        }
    }

    /// The same, to be written, unless others can see it.
    pub(crate) fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        match self {
            Backing::Loan(loan) => Some(loan.bytes_mut()),
            Backing::Own(image) => Some(image.bytes_mut()),
            Backing::Lent(_) | Backing::Hold(_) | Backing::Nothing => None,
        }
    }

    /// Makes a loan one that others read, too; a reference to it.
    pub(crate) fn share(&mut self) -> Option<Lent> {
        let lent = match std::mem::replace(self, Backing::Nothing) {
            Backing::Loan(loan) => loan.share(),
            Backing::Lent(lent) => lent,
            other => {
                *self = other;
                return None;
            }
        };
        *self = Backing::Lent(lent.clone());
        Some(lent)
    }
}

/// An image in ordinary memory. It lies as in shared memory: its byte 4, where CDR's alignment
/// begins, is aligned to 16.
#[derive(Default)]
pub(crate) struct OwnImage {
    memory: Vec<u128>,
    length: usize,
}

/// As for any other allocation that fails where no error can be returned: the program ends.
#[cold]
pub(crate) fn out_of_memory(length: usize) -> ! {
    alloc::handle_alloc_error(Layout::array::<u8>(length).unwrap_or(Layout::new::<OwnImage>()))
}

/// Bytes before an image, so that its header ends where a unit does.
const LEAD: usize = size_of::<u128>() - 4;

impl OwnImage {
    /// So long from now on. What was there stays there; what is new is 0. `None`, and empty: there
    /// is no memory for it.
    #[must_use]
    pub(crate) fn resize(&mut self, length: usize) -> Option<()> {
        self.length = 0;
        let units = LEAD.checked_add(length)?.div_ceil(size_of::<u128>());
        if units > self.memory.len() {
            self.memory.try_reserve_exact(units - self.memory.len()).ok()?;
            self.memory.resize(units, 0);
        }
        self.length = length;
        Some(())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.memory).get(LEAD..LEAD + self.length).unwrap_or_default()
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.memory).get_mut(LEAD..LEAD + self.length).unwrap_or_default()
    }
}
