//! What keeps the memory of a message that lies in shared memory.

use sinew_shm::{Hold, Lent, Loan};

/// What keeps a message's memory.
pub(crate) enum Keep {
    /// Our own, not published yet: its holder may write it.
    Loan(Loan),
    /// Our own, published, or about to be: others read it, too.
    Lent(Lent),
    /// Somebody else's.
    Hold(#[expect(dead_code, reason = "it is there to be dropped")] Hold),
    /// Between two of the others.
    Nothing,
}

impl Keep {
    /// Makes a loan one that others read, too; a reference to it.
    pub(crate) fn share(&mut self) -> Option<Lent> {
        let lent = match std::mem::replace(self, Keep::Nothing) {
            Keep::Loan(loan) => loan.share(),
            Keep::Lent(lent) => lent,
            other => {
                *self = other;
                return None;
            }
        };
        *self = Keep::Lent(lent.clone());
        Some(lent)
    }
}
