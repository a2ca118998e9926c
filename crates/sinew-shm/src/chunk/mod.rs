//! Chunks in use: the writer's loans, and the readers' holds.
//!
//! # Who may touch a chunk's bytes
//!
//! - [`Loan`](loan::Loan): its writer's process has exclusive access: no slot names the chunk, no
//!   reader holds it (it came from the free list, see [`hazards`](crate::hazards)), and a loan is
//!   never cloned. Therefore `&mut [u8]` is sound.
//! - [`Lent`](loan::Lent): shared reading in the writer's process. It was made from a loan, which
//!   no longer exists; the chunk isn't free before the last `Lent` is dropped, no slot names it and
//!   no reader holds it.
//! - [`Hold`](hold::Hold): reading in another process, from H6 to H7. The writer doesn't write
//!   meanwhile, unless it is broken. Nothing else about the writer is trusted (design, 6.1): place
//!   and length were checked against the memory that is mapped and reserved.
//!
//! | file | contents |
//! |---|---|
//! | `pool` | a writer's chunks, free and lent |
//! | `loan` | loans, and published messages in the writer's process |
//! | `hold` | messages of other processes that are read in place |

pub(crate) mod hold;
pub(crate) mod loan;
pub(crate) mod pool;

#[cfg(all(test, not(loom)))]
#[expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
mod tests;
