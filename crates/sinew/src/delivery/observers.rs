//! Who is told when an end of the delivery is matched, or can't be.

use super::outbox::Outbox;
use crate::event::{IncompatibleQos, IncompatibleType, Matched, Source};
use crate::qos::Policy;
use crate::sync::{Arc, Mutex};

/// The status handlers of a publisher or a subscription, and what they are about.
pub(crate) struct Observers {
    matched: Option<Arc<Source<Matched>>>,
    incompatible_qos: Option<Arc<Source<IncompatibleQos>>>,
    incompatible_type: Option<Arc<Source<IncompatibleType>>>,
    current: Mutex<Matched>,
}

impl Observers {
    pub(crate) fn new(
        matched: Option<Arc<Source<Matched>>>,
        incompatible_qos: Option<Arc<Source<IncompatibleQos>>>,
        incompatible_type: Option<Arc<Source<IncompatibleType>>>,
    ) -> Self {
        Self { matched, incompatible_qos, incompatible_type, current: Mutex::new(Matched::default()) }
    }

    pub(crate) fn is_matched(&self, outbox: &mut Outbox) {
        let change = |event: &mut Matched| {
            event.total += 1;
            event.total_change += 1;
            event.current += 1;
            event.current_change += 1;
        };
        change(&mut self.current.lock());
        outbox.signal(self.matched.as_ref().and_then(|source| source.update(change)));
    }

    pub(crate) fn is_unmatched(&self, outbox: &mut Outbox) {
        let change = |event: &mut Matched| {
            event.current -= 1;
            event.current_change -= 1;
        };
        change(&mut self.current.lock());
        outbox.signal(self.matched.as_ref().and_then(|source| source.update(change)));
    }

    /// How many are matched now.
    pub(crate) fn matched_now(&self) -> u64 {
        self.current.lock().current
    }

    /// Tells the handler, or the log if there is none: a pair that silently doesn't talk is the worst of answers.
    pub(crate) fn has_incompatible_qos(&self, who: &str, policy: Policy, reason: &str, outbox: &mut Outbox) {
        match &self.incompatible_qos {
            Some(source) => outbox.signal(source.update(|event| {
                event.total += 1;
                event.total_change += 1;
                event.last_policy = Some(policy);
                reason.clone_into(&mut event.last_reason);
            })),
            None => outbox.warnings.push(format!("{who}: {reason}")),
        }
    }

    pub(crate) fn has_incompatible_type(&self, who: &str, reason: &str, outbox: &mut Outbox) {
        match &self.incompatible_type {
            Some(source) => outbox.signal(source.update(|event| {
                event.total += 1;
                event.total_change += 1;
                reason.clone_into(&mut event.last_reason);
            })),
            None => outbox.warnings.push(format!("{who}: {reason}")),
        }
    }
}
