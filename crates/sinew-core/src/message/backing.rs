//! The memory behind messages that lie in shared memory or exist only in encoded form.

use sinew_msg::__private::bytemuck;
use sinew_shm::transport::{Hold, Lent, Loan};
use std::alloc::{self, Layout};

/// Lends memory in which other processes will read a message.
pub(crate) trait LendsMemory: Send + Sync {
    /// Lends memory for `length` encoded bytes. Returns `None` if no process reads there now, if
    /// the message is so short that it is copied anyway, or if there is no room.
    fn lend(&self, length: usize) -> Option<Loan>;
}

/// A message in encoded form.
pub(crate) trait Encoded {
    /// Returns its bytes.
    fn bytes(&self) -> &[u8];
}

/// Keeps the memory of a message of type `M` alive.
pub(crate) enum Backing<M> {
    /// This process's own, not published yet: its holder may write it.
    Loan(Loan),
    /// This process's own, published or about to be: others read it too.
    Lent(Lent),
    /// Another process's.
    Hold(Hold),
    /// Encoded bytes in ordinary memory.
    Own(OwnBytes),
    /// A message of this process of another type with the same encoded form.
    Message(M),
    /// The state between two of the others.
    Nothing,
}

impl<M: Encoded> Backing<M> {
    /// Returns the bytes; for an encoded message, all of them.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Backing::Loan(loan) => loan.bytes(),
            Backing::Lent(lent) => lent.bytes(),
            Backing::Hold(hold) => hold.bytes(),
            Backing::Own(encoded) => encoded.bytes(),
            Backing::Message(message) => message.bytes(),
            Backing::Nothing => &[],
        }
    }

    /// Returns the bytes for writing, unless others can see them.
    #[inline(always)] // in the library for C as well, which is optimised for size
    pub(crate) fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        match self {
            Backing::Loan(loan) => Some(loan.bytes_mut()),
            Backing::Own(encoded) => Some(encoded.bytes_mut()),
            Backing::Lent(_) | Backing::Hold(_) | Backing::Message(_) | Backing::Nothing => None,
        }
    }

    /// Cuts the bytes to `length`, unless others can see them; never makes them longer. The memory
    /// behind them keeps its size.
    pub(crate) fn truncate(&mut self, length: usize) {
        match self {
            Backing::Loan(loan) => loan.truncate(length),
            Backing::Own(own) => own.length = own.length.min(length),
            Backing::Lent(_) | Backing::Hold(_) | Backing::Message(_) | Backing::Nothing => {}
        }
    }

    /// Turns a loan into memory that others read too; returns a reference to it.
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

/// Encoded bytes in ordinary memory, laid out as in shared memory: byte 4, where CDR's alignment
/// begins, is aligned to 16.
#[derive(Default)]
pub(crate) struct OwnBytes {
    memory: Vec<u128>,
    length: usize,
}

/// Ends the program, like any allocation failure where no error can be returned.
#[cold]
pub(crate) fn out_of_memory(length: usize) -> ! {
    alloc::handle_alloc_error(Layout::array::<u8>(length).unwrap_or(Layout::new::<OwnBytes>()))
}

/// Bytes before the encoded form, so that its header ends at the end of a unit.
const LEAD: usize = size_of::<u128>() - 4;

impl OwnBytes {
    /// Resizes it to `length` bytes. Existing bytes stay; new ones are 0. Returns `None`, and
    /// leaves it empty, if there is no memory.
    #[must_use]
    #[inline(always)] // in the library for C as well, which is optimised for size
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

    #[inline(always)] // in the library for C as well, which is optimised for size
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.memory).get_mut(LEAD..LEAD + self.length).unwrap_or_default()
    }
}
