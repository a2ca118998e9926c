//! First calls of clients, which wait until the endpoints of their programs are connected.

use super::change::{Change, LocalKey, RouteKey};
use super::plan::fits;
use super::route_ends::RouteEnds;
use super::worker::{LocalEnd, RemoteEnd, Worker};
use crate::wire::gid;
use crate::wire::token::TokenKind;
use sinew::msg::Gid;
use sinew::time::Time;
use sinew_shm::Counter;
use std::collections::HashMap;
use std::time::Duration;

/// Most checks for whether the subscriptions of a client's program are connected, for which the
/// client's first call waits, and the time between two checks. Checks count, as above.
const INTRODUCTION: u32 = 1000;
const INTRODUCTION_PERIOD: Duration = Duration::from_millis(1);

impl Worker {
    /// Handles the first call of a client: endpoints that its program created before are put on the
    /// network before the server may publish messages for them, such as the feedback of a goal.
    pub(super) fn fresh_client(&mut self, route: RouteKey, client: Gid) {
        // New endpoints are reported before this returns, and so before the change that is sent
        // here.
        self.participant.refresh();
        // Remote publishers don't count a subscription that has gone as one that has come.
        self.shared.context.look_around();
        self.shared.tell(Change::Introduce(route, client, INTRODUCTION));
    }

    /// Lets a client's calls go on once messages of the network reach the subscriptions of its
    /// program.
    pub(super) fn introduce(&mut self, route: RouteKey, client: Gid, looks: u32) {
        let participant = participant_of(client);
        if looks > 0 && !self.routes.values().all(|ends| ends.is_connected(participant)) {
            let shared = self.shared.clone();
            let again = move || shared.tell(Change::Introduce(route, client, looks - 1));
            let at = Time::steady() + INTRODUCTION_PERIOD;
            return self.shared.tell(Change::Later(at, Box::new(again)));
        }
        // If the service is gone, so are its calls: they have failed.
        if let Some(ends) = self.services.get(&route) {
            let (shared, route) = (self.shared.clone(), ends.route.clone());
            self.shared.askers.make(move || route.introduce(&shared, client));
        }
    }

    /// As `fresh_client`, for a remote client. Its program's tokens came before its call, by the
    /// same link.
    pub(super) fn fresh_remote_client(&mut self, route: RouteKey, client: [u8; 16]) {
        let ends = self.services.get(&route);
        let token = ends.and_then(|ends| ends.remote_clients.iter().find(|token| gid::of(token) == client));
        let node = token.and_then(|token| self.remote.get(token)).map(|end| &end.node);
        let is_its = |end: &&RemoteEnd| end.kind == TokenKind::Subscription && Some(&end.node) == node;
        let heard = self.remote.values().filter(is_its).filter_map(|end| end.route.clone()).collect();
        self.introduce_remote(route, client, heard, INTRODUCTION);
    }

    pub(super) fn introduce_remote(
        &mut self,
        route: RouteKey,
        client: [u8; 16],
        heard: Vec<RouteKey>,
        looks: u32,
    ) {
        let mut topics = heard.iter().filter_map(|topic| self.routes.get(topic));
        if looks > 0 && !topics.all(|ends| ends.is_brought_there(&self.local)) {
            let shared = self.shared.clone();
            let again = move || shared.tell(Change::IntroduceRemote(route, client, heard, looks - 1));
            let at = Time::steady() + INTRODUCTION_PERIOD;
            return self.shared.tell(Change::Later(at, Box::new(again)));
        }
        if let Some(ends) = self.services.get(&route) {
            let (shared, route) = (self.shared.clone(), ends.route.clone());
            self.shared.callers.make(move || route.introduce_remote(&shared, client));
        }
    }
}

impl RouteEnds {
    /// Returns `true` if messages of local publishers reach all remote subscriptions that match.
    /// Publishers report only how many subscriptions they match, not which: a publisher that lacks
    /// a subscription of another program, for instance for want of room, counts as lacking this
    /// one.
    fn is_brought_there(&self, local: &HashMap<LocalKey, LocalEnd>) -> bool {
        self.local_publishers.iter().all(|(key, publisher)| {
            let wanted = self.local_subscriptions.values().chain(self.remote_subscriptions.values());
            let wanted = wanted.filter(|asked| fits(&publisher.qos, asked)).count();
            let counts = local.get(key).and_then(|end| end.peer.counts(key.1));
            counts.is_none_or(|counts| counts.get(Counter::Matched) >= wanted as u64)
        })
    }
}

/// Returns the participant in a gid that Sinew forms.
fn participant_of(gid: Gid) -> u64 {
    let [participant, _] = gid.0.as_chunks::<8>().0 else { return 0 };
    u64::from_le_bytes(*participant)
}
