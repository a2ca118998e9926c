//! The search for a router.

use super::shared::Shared;
use crate::config::RouterCheck;
use sinew::time::Time;
use std::time::Duration;
use zenoh::Wait;

/// Time between two looks for a router.
const ROUTER_PERIOD: Duration = Duration::from_secs(1);

/// The search for a router, through which most sessions find each other.
pub(super) struct RouterSearch {
    check: RouterCheck,
    attempts: u32,
    pub(super) next: Option<Time>,
}

impl RouterSearch {
    pub(super) fn new(check: RouterCheck) -> Self {
        let is_skipped = check == RouterCheck::Skip;
        // The session has just begun to connect.
        let next = (!is_skipped).then(|| Time::steady() + ROUTER_PERIOD);
        Self { check, attempts: 0, next }
    }

    pub(super) fn look(&mut self, shared: &Shared) {
        self.attempts += 1;
        let is_there = shared.session.info().routers_zid().wait().next().is_some();
        let goes_on = match self.check {
            _ if is_there => false,
            RouterCheck::Forever => true,
            RouterCheck::Times(times) => self.attempts < times,
            _ => false,
        };
        if !is_there && (self.attempts == 1 || !goes_on) {
            shared.says(
                "no router is found, so sessions of other programs and hosts can't be, either: start `sinew router` (or rmw_zenohd) \
                 on this host, or name an endpoint with --connect. It is looked for on",
            );
        }
        self.next = goes_on.then(|| Time::steady() + ROUTER_PERIOD);
    }
}
