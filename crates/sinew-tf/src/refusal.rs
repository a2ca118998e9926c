//! The transforms that a listener refused: counted, and logged at intervals.

use crate::insertion::InsertError;
use sinew::Duration;
use sinew::time::Time;
use std::fmt;
use std::mem::discriminant;
use std::sync::Arc;

/// Minimum interval between two reports of one kind.
const PERIOD: Duration = Duration::from_secs(10);

/// The transforms of one kind that a listener refused: those with the same variant of
/// [`InsertError`].
///
/// Displayed as the last reason, its sender and the count: `the transform of "arm" ..; sent by
/// 0110..; 12 like it so far`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Refusal {
    /// Number of refusals, at least 1.
    pub count: u64,
    /// The reason of the last refusal.
    pub error: InsertError,
    /// The sender of the last one: the publisher's gid, as in [`FrameStatus`](crate::FrameStatus).
    pub authority: Arc<str>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; sent by {}", self.error, self.authority)?;
        if self.count > 1 {
            write!(f, "; {} like it so far", self.count)?;
        }
        Ok(())
    }
}

/// All refusals of one listener, in the order in which the kinds first occurred. There are at most
/// as many as [`InsertError`] has variants.
#[derive(Default)]
pub(crate) struct Refusals(Vec<Kind>);

struct Kind {
    refusal: Refusal,
    /// Time of the last report by the steady clock, since simulated time may stand still.
    told: Time,
}

impl Refusals {
    /// Counts a refusal; returns the report if one is due.
    pub(crate) fn count(&mut self, error: InsertError, authority: &Arc<str>, now: Time) -> Option<Refusal> {
        let known = self.0.iter_mut().find(|kind| discriminant(&kind.refusal.error) == discriminant(&error));
        let Some(kind) = known else {
            let refusal = Refusal { count: 1, error, authority: authority.clone() };
            self.0.push(Kind { refusal: refusal.clone(), told: now });
            return Some(refusal);
        };
        let count = kind.refusal.count.saturating_add(1);
        kind.refusal = Refusal { count, error, authority: authority.clone() };
        let passed = now.nanoseconds().saturating_sub(kind.told.nanoseconds());
        (i128::from(passed) >= PERIOD.as_nanos().cast_signed()).then(|| {
            kind.told = now;
            kind.refusal.clone()
        })
    }

    pub(crate) fn all(&self) -> Vec<Refusal> {
        self.0.iter().map(|kind| kind.refusal.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_child(parent: &str) -> InsertError {
        InsertError::NoChild { parent: parent.to_owned() }
    }

    fn no_parent(child: &str) -> InsertError {
        InsertError::NoParent { child: child.to_owned() }
    }

    #[test]
    fn each_kind_of_each_listener_is_told_by_itself() {
        let (mut one, mut other) = (Refusals::default(), Refusals::default());
        let gid: Arc<str> = "0110".into();
        let told = |refusals: &mut Refusals, error, seconds: i64| {
            let told = refusals.count(error, &gid, Time::from_nanoseconds(seconds * 1_000_000_000));
            told.map(|refusal| refusal.to_string())
        };
        let parentless = "the transform of \"arm\" has no header.frame_id; name the frame in which it lies";
        assert!(told(&mut one, no_child("odom"), 100).is_some());
        assert_eq!(told(&mut one, no_child("odom"), 109), None);
        // Other kinds and other listeners have intervals of their own.
        assert_eq!(told(&mut one, no_parent("arm"), 109), Some(format!("{parentless}; sent by 0110")));
        assert!(told(&mut other, no_child("odom"), 109).is_some());
        let again = told(&mut one, no_child("map"), 110).unwrap();
        assert!(again.contains("\"map\"") && again.ends_with("; sent by 0110; 3 like it so far"), "{again}");
        assert_eq!(told(&mut one, no_child("map"), 119), None);
        assert_eq!(told(&mut one, no_parent("arm"), 118), None);
        let counts: Vec<_> = one.all().into_iter().map(|refusal| refusal.count).collect();
        assert_eq!((counts, other.all().len()), (vec![4, 2], 1));
    }
}
