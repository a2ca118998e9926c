//! Decides which paths of a topic are open: plain data and pure functions, without a network.
//!
//! The gateway's thread states which endpoints there are and which paths are open. This module
//! says which ones to open and to close, and the thread does that ([`RouteEnds`]).
//!
//! [`RouteEnds`]: super::route_ends::RouteEnds

use super::qos_class::{QosClass, depth_of, has_history};
use sinew::QoS;
use sinew::qos::Reliability;
use std::collections::HashMap;

/// Most messages that a carrier keeps, for all its publishers together.
const MOST_KEPT: usize = 1_000_000;

/// Returns `true` if a publisher offers everything that a subscription requests.
pub(super) fn fits(offered: &QoS, asked: &QoS) -> bool {
    offered.incompatibility(asked).is_none()
}

/// Returns `true` if messages of a local publisher go to the network, where these subscriptions
/// are.
pub(super) fn is_carried<'a>(offered: &QoS, mut remote: impl Iterator<Item = &'a QoS>) -> bool {
    // Messages that a publisher retains for late joiners are sent as soon as they are published:
    // later, volatile subscriptions would take them for new ones.
    has_history(offered) || remote.any(|asked| fits(offered, asked))
}

/// Carriers to close, and then carriers to open, with their depths.
#[derive(Debug, PartialEq, Eq, Default)]
pub(super) struct Carriers {
    pub(super) close: Vec<QosClass>,
    pub(super) open: Vec<(QosClass, usize)>,
}

impl Carriers {
    /// `carried`: the local publishers with messages that go to the network. `there`: the open
    /// carriers and their depths.
    pub(super) fn plan(carried: &[QoS], there: impl Iterator<Item = (QosClass, usize)>) -> Self {
        // Each publisher has room of its own: its retained messages are not displaced by another's.
        // (Publishers that offer more than a class requests also reach its carrier.)
        let room = |class: QosClass| {
            let its = carried.iter().filter(|offered| fits(offered, &class.asked(1)));
            its.fold(0_usize, |room, offered| room.saturating_add(depth_of(offered))).min(MOST_KEPT)
        };
        let classes = carried.iter().map(QosClass::of);
        let mut wanted: HashMap<QosClass, usize> = classes.map(|class| (class, room(class))).collect();
        let mut close = Vec::new();
        for (class, depth) in there {
            // Retained messages of publishers that came later get room, and are delivered again if
            // they found none. (Without retained messages any depth fits: messages come one after
            // the other.)
            let has_room = |wanted: &usize| !class.is_transient_local || *wanted <= depth;
            if wanted.get(&class).is_some_and(has_room) {
                wanted.remove(&class);
            } else {
                close.push(class);
            }
        }
        Self { close, open: wanted.into_iter().collect() }
    }
}

/// The next step for the subscription on the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subscribing {
    /// It stays as it is, open or not.
    Stays,
    /// It is closed.
    Closes,
    /// One is opened, and replaces the open one. With the reliability of publishers that retain
    /// messages for late joiners, if there are any.
    Opens(Option<Reliability>),
}

impl Subscribing {
    /// `is_wanted`: there are local subscriptions. `offered`: the remote publishers. `there`: the
    /// open subscription, and whether that is one for retained messages.
    pub(super) fn plan<'a>(
        is_wanted: bool,
        offered: impl Iterator<Item = &'a QoS>,
        there: Option<bool>,
    ) -> Self {
        // Retained messages come with the first subscription and are then retained here, so later
        // subscriptions get them from here.
        let kept = offered
            .filter(|offered| has_history(offered))
            .map(|offered| offered.reliability)
            .reduce(|one, other| if one == Reliability::Reliable { one } else { other });
        match there {
            None if !is_wanted => Self::Stays,
            Some(_) if !is_wanted => Self::Closes,
            // If the history was requested once, there is no change back to a subscription without
            // it.
            Some(has_history) if has_history || kept.is_none() => Self::Stays,
            // Also while there is no publisher: a new publisher finds the path open.
            _ => Self::Opens(kept),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volatile(depth: usize) -> QoS {
        QoS::new().keep_last(depth)
    }

    fn retaining(depth: usize) -> QoS {
        QoS::new().keep_last(depth).transient_local()
    }

    #[test]
    fn who_is_carried() {
        let best_effort = QoS::new().best_effort();
        let table: [(QoS, &[QoS], bool); 6] = [
            (volatile(1), &[], false),
            (retaining(1), &[], true),
            (volatile(1), &[volatile(1)], true),
            (best_effort, &[volatile(1)], false),
            (best_effort, &[volatile(1), best_effort], true),
            (volatile(1), &[retaining(1)], false),
        ];
        for (offered, remote, expected) in table {
            assert_eq!(is_carried(&offered, remote.iter()), expected, "{offered:?} {remote:?}");
        }
    }

    fn carriers(carried: &[QoS], there: &[(QoS, usize)]) -> (Vec<QosClass>, Vec<(QosClass, usize)>) {
        let there = there.iter().map(|(qos, depth)| (QosClass::of(qos), *depth));
        let Carriers { mut close, mut open } = Carriers::plan(carried, there);
        close.sort_by_key(|class| class.is_transient_local);
        open.sort_by_key(|(class, _)| class.is_transient_local);
        (close, open)
    }

    #[test]
    fn a_class_has_one_carrier_with_room_for_all() {
        let (light, deep) = (QosClass::of(&volatile(1)), QosClass::of(&retaining(1)));
        assert_eq!(carriers(&[], &[]), (vec![], vec![]));
        assert_eq!(carriers(&[volatile(2), volatile(3)], &[]), (vec![], vec![(light, 5)]));
        // A publisher that retains messages also reaches the carrier of volatile ones.
        let both = [volatile(2), retaining(3)];
        assert_eq!(carriers(&both, &[]), (vec![], vec![(light, 5), (deep, 3)]));
        assert_eq!(carriers(&both, &[(volatile(1), 5), (retaining(1), 3)]), (vec![], vec![]));
        assert_eq!(carriers(&[], &[(volatile(1), 5)]), (vec![light], vec![]), "nobody needs it");
        let most = [retaining(MOST_KEPT), retaining(MOST_KEPT)];
        assert_eq!(carriers(&most, &[]), (vec![], vec![(deep, MOST_KEPT)]));
    }

    #[test]
    fn a_carrier_without_room_for_retained_messages_is_replaced() {
        let deep = QosClass::of(&retaining(1));
        let more = [retaining(3), retaining(4)];
        assert_eq!(carriers(&more, &[(retaining(1), 3)]), (vec![deep], vec![(deep, 7)]));
        assert_eq!(carriers(&more, &[(retaining(1), 8)]), (vec![], vec![]), "one with more room stays");
        let volatile_ones = [volatile(3), volatile(4)];
        assert_eq!(carriers(&volatile_ones, &[(volatile(1), 3)]), (vec![], vec![]), "they need none");
    }

    #[test]
    fn what_becomes_of_the_subscription() {
        use Subscribing::{Closes, Opens, Stays};
        let reliable = Some(Reliability::Reliable);
        let best_effort = retaining(1).best_effort();
        let table: [(bool, &[QoS], Option<bool>, Subscribing); 11] = [
            (false, &[volatile(1)], None, Stays),
            (false, &[retaining(1)], Some(true), Closes),
            (false, &[], Some(false), Closes),
            (true, &[], None, Opens(None)),
            (true, &[volatile(1)], Some(false), Stays),
            (true, &[volatile(1), retaining(1)], Some(false), Opens(reliable)),
            (true, &[retaining(1)], Some(true), Stays),
            (true, &[volatile(1)], Some(true), Stays),
            (true, &[best_effort], None, Opens(Some(Reliability::BestEffort))),
            (true, &[best_effort, retaining(1)], None, Opens(reliable)),
            (true, &[retaining(1), best_effort], None, Opens(reliable)),
        ];
        for (is_wanted, offered, there, expected) in table {
            let planned = Subscribing::plan(is_wanted, offered.iter(), there);
            assert_eq!(planned, expected, "{is_wanted} {offered:?} {there:?}");
        }
    }
}
