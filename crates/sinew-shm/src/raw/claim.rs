//! Claims: statements about a name that only one process may make, or that all processes must agree
//! on, decided without a central process.
//!
//! # Protocol
//!
//! - C1 the claim is published, as an entity that isn't *established* (T2, L2).
//! - C2 fence SeqCst; then the claims of all processes are checked. Of two processes that claim at
//!   once, at least one sees the other.
//! - C3 a contradicting claim that is established: fail, and withdraw.
//! - C4 a contradicting claim that isn't: the participant with the higher id withdraws, waits until
//!   the other claim is established or gone, and begins again. The participant with the lower id
//!   waits until the higher one has withdrawn, or is established because it hadn't seen the lower
//!   one's claim.
//! - C5 no contradicting claim: established.
//!
//! Two contradicting claims are never both established: one of the two fences is first. The
//! claimant with the second fence saw the other claim, so it reached C5 only after that claim was
//! withdrawn.
//!
//! A process that dies takes its claims with it. A process that is stopped between C1 and C5 holds
//! up those that contradict it, for [`PATIENCE`] at most; then they fail, with an error that names
//! it.

use super::declared::{Declared, Role};
use super::error::OpenError;
use super::member::Member;
use super::registry::Other;
use crate::participant::OwnEndpoint;
use crate::platform::sync::{Ordering, fence};
use crate::platform::sys;
use crate::tables::endpoint::Counter;
use std::time::Duration;

/// Time to wait for an undecided claim of another process.
const PATIENCE: Duration = Duration::from_secs(2);

/// Time between two checks of a contradicting claim.
const AGAIN: Duration = Duration::from_millis(1);

/// A claim that contradicts another one.
enum Rival {
    Established(Other),
    Undecided(Other),
}

/// Claims that a name has the declared kind, type and size, or that this process is its only
/// master. The claim stands until the result is dropped.
pub(super) fn claim(space: &Member, declared: &Declared, role: Role) -> Result<OwnEndpoint, OpenError> {
    let begin = sys::steady();
    'claim: loop {
        let claim = space.participant.advertise(&declared.endpoint(role, space.number()), None)?; // C1
        loop {
            // C2: SeqCst, pairs with that of another claimant. Forbids that neither sees the
            // other's claim.
            fence(Ordering::SeqCst);
            space.participant.refresh();
            match rival(space, declared, role) {
                None => {
                    claim.counters().set(Counter::Established, 1); // C5
                    return Ok(claim);
                }
                Some(Rival::Established(other)) => return Err(refused(declared, role, &other)), // C3
                Some(Rival::Undecided(other)) => {
                    let waited = sys::steady().saturating_sub(begin);
                    let waited = Duration::from_nanos(waited.try_into().unwrap_or(0));
                    if waited > PATIENCE {
                        return Err(undecided(&other, waited));
                    }
                    if other.peer.id() < space.participant.id() {
                        drop(claim); // C4
                        wait_for(space, &other, PATIENCE.saturating_sub(waited));
                        continue 'claim;
                    }
                    pause(space);
                }
            }
        }
    }
}

/// The claim that contradicts this one, an established one first.
fn rival(space: &Member, declared: &Declared, role: Role) -> Option<Rival> {
    let mut undecided = None;
    for other in space.registry.others(&declared.name, role) {
        if role == Role::Name && other.declared == *declared {
            continue;
        }
        match is_established(&other) {
            Some(true) => return Some(Rival::Established(other)),
            Some(false) => undecided = Some(other),
            None => {}
        }
    }
    undecided.map(Rival::Undecided)
}

/// `None` if the claim is gone.
fn is_established(other: &Other) -> Option<bool> {
    other.peer.counts(other.key).map(|counts| counts.get(Counter::Established) != 0)
}

/// Waits until the other claim is established or gone, or time is over.
fn wait_for(space: &Member, other: &Other, patience: Duration) {
    let begin = sys::steady();
    let patience = i64::try_from(patience.as_nanos()).unwrap_or(i64::MAX);
    while sys::steady().saturating_sub(begin) < patience {
        space.participant.refresh();
        let all = space.registry.others(&other.declared.name, other.role);
        let is_there = all.iter().any(|one| one.peer.id() == other.peer.id() && one.key == other.key);
        if !is_there || is_established(other) != Some(false) {
            return;
        }
        pause(space);
    }
}

fn pause(space: &Member) {
    if let Ok(bell) = space.participant.space_bell() {
        bell.sleep(bell.rung(), Some(AGAIN));
    }
}

fn refused(declared: &Declared, role: Role, other: &Other) -> OpenError {
    let (name, pid, program) = (declared.name.clone(), other.peer.pid(), other.peer.program());
    match role {
        Role::Master => OpenError::Master { name, pid, program },
        _ => OpenError::InUse {
            name,
            ours: declared.to_string(),
            theirs: other.declared.to_string(),
            pid,
            program,
        },
    }
}

fn undecided(other: &Other, waited: Duration) -> OpenError {
    OpenError::Undecided {
        name: other.declared.name.clone(),
        theirs: other.declared.to_string(),
        pid: other.peer.pid(),
        program: other.peer.program(),
        waited,
    }
}
