//! The state of the gateway's thread: endpoints on both sides, and what connects them.
//!
//! For each topic ([`RouteEnds`]) and service ([`ServiceEnds`]), the thread decides what to connect
//! whenever an endpoint of it comes or goes.

use super::change::{LocalKey, RouteKey};
use super::descriptions::Descriptions;
use super::reports::{Reports, Words};
use super::route_ends::RouteEnds;
use super::services::ServiceEnds;
use super::sessions::{Elsewhere, Sessions};
use super::shared::Shared;
use super::statistics::GatewayStatistics;
use crate::wire::token::TokenKind;
use crate::wire::{buffer, gid, key};
use sinew::Node;
use sinew::gateway::{GatewayWord, Report};
use sinew::msg::GenericType;
use sinew_msg::description::TypeDescription;
use sinew_shm::transport::{OwnEndpoint, Participant};
use sinew_shm::{Endpoint, Peer};
use std::collections::HashMap;
use std::sync::Arc;
use zenoh::Wait;
use zenoh::liveliness::LivelinessToken;

pub(super) struct Worker {
    pub(super) shared: Arc<Shared>,
    /// Watches the domain.
    pub(super) participant: Arc<Participant>,
    pub(super) session: String,
    pub(super) next_id: u64,
    /// Numbers of this host's nodes, by participant and full name.
    pub(super) node_ids: HashMap<(u64, String), u64>,
    pub(super) local: HashMap<LocalKey, LocalEnd>,
    /// By their tokens.
    pub(super) remote: HashMap<String, RemoteEnd>,
    /// By session and number: the local stand-in node, and the number of its endpoints.
    pub(super) remote_nodes: HashMap<(String, u64), (Node, usize)>,
    pub(super) routes: HashMap<RouteKey, RouteEnds>,
    pub(super) services: HashMap<RouteKey, ServiceEnds>,
    pub(super) descriptions: Descriptions,
    pub(super) sessions: Sessions,
    /// `Some` while none of this domain's nodes is on the network.
    pub(super) elsewhere: Option<Elsewhere>,
    /// Announces remote endpoints that are only shown, and the gateway's reports.
    pub(super) reports: Reports,
    /// The gateway itself, for tools.
    pub(super) about: Arc<Words>,
}

/// A node or an endpoint of this host.
pub(super) struct LocalEnd {
    pub(super) kind: TokenKind,
    /// For an endpoint.
    pub(super) route: Option<RouteKey>,
    /// For a publisher that is gone: number of checks for its last messages.
    pub(super) looks: u32,
    /// The participant that owns it.
    pub(super) peer: Arc<Peer>,
    pub(super) token: LivelinessToken,
}

/// A node or an endpoint of the network.
pub(super) struct RemoteEnd {
    pub(super) kind: TokenKind,
    pub(super) node: (String, u64),
    pub(super) route: Option<RouteKey>,
    /// Its token is gone.
    pub(super) is_leaving: bool,
    /// Announces it here.
    pub(super) told: Option<OwnEndpoint>,
}

impl Worker {
    /// Changes the endpoints of a topic, and then connects what they need. Returns `false` if the
    /// topic can't exist on the network, or not here.
    pub(super) fn with_route(&mut self, route: &RouteKey, change: impl FnOnce(&mut RouteEnds)) -> bool {
        if !self.routes.contains_key(route) {
            let Some((known, wire_key)) = self.known(route) else { return false };
            let limit = self.shared.rules.rate(&route.name);
            // Also while the type isn't known: its description may come later.
            let may_have_buffers = self.has_buffers(route) != Some(false);
            let words = self.reports.words(report(Report::Topic, route));
            let ends = RouteEnds::new(route.clone(), known, (wire_key, may_have_buffers), (limit, words));
            self.routes.insert(route.clone(), ends);
        }
        let Some(ends) = self.routes.get_mut(route) else { return false };
        change(ends);
        ends.update(&self.shared);
        if ends.is_empty()
            && let Some(mut gone) = self.routes.remove(route)
        {
            gone.close();
        }
        true
    }

    /// As [`with_route`](Self::with_route), for a service.
    pub(super) fn with_service(&mut self, route: &RouteKey, change: impl FnOnce(&mut ServiceEnds)) -> bool {
        if !self.services.contains_key(route) {
            let Some((known, wire_key)) = self.known(route) else { return false };
            let own_gid = gid::of(&format!("{}/{wire_key}", self.session));
            let wire_key = match self.shared.session.declare_keyexpr(wire_key).wait() {
                Ok(declared) => declared,
                Err(error) => {
                    self.shared.says(&format!("service {} is left out: {error}", route.name));
                    return false;
                }
            };
            let words = self.reports.words(report(Report::Service, route));
            let ends = ServiceEnds::new(route.clone(), known, (wire_key, own_gid), words);
            self.services.insert(route.clone(), ends);
        }
        let Some(ends) = self.services.get_mut(route) else { return false };
        change(ends);
        ends.update(&self.shared);
        if ends.is_empty()
            && let Some(mut gone) = self.services.remove(route)
        {
            gone.close();
        }
        true
    }

    /// Returns `true` if messages of the type have buffers; `None` if its description isn't known
    /// here.
    pub(super) fn has_buffers(&self, route: &RouteKey) -> Option<bool> {
        let text = self.participant.domain().description(&route.hash.0).ok().flatten();
        let text = text.and_then(|text| String::from_utf8(text).ok());
        let description = text.and_then(|text| TypeDescription::from_json(&text));
        description.map(|description| buffer::has_buffer_field(&description))
    }

    fn known(&self, route: &RouteKey) -> Option<(GenericType, String)> {
        let RouteKey { name, type_name, hash } = route;
        let on_the_network = self.shared.rules.outward(name)?;
        let wire_key = key::of(self.shared.context.domain(), &on_the_network, type_name, *hash)?;
        match GenericType::new(type_name, *hash) {
            Ok(known) => Some((known, wire_key)),
            Err(error) => {
                self.shared.says_once("type", || format!("{name} is left out: {error}"));
                None
            }
        }
    }

    pub(super) fn statistics(&self) -> GatewayStatistics {
        let names = |key: &RouteKey| (key.name.clone(), key.type_name.clone());
        let mut topics: Vec<_> = self
            .routes
            .iter()
            .map(|(key, ends)| {
                let (name, kind) = names(key);
                (name, kind, ends.statistics())
            })
            .collect();
        topics.sort_by(|one, other| (&one.0, &one.1).cmp(&(&other.0, &other.1)));
        let mut services: Vec<_> = self
            .services
            .iter()
            .map(|(key, ends)| {
                let (name, kind) = names(key);
                (name, kind, ends.calls())
            })
            .collect();
        services.sort();
        GatewayStatistics {
            leads: true,
            session: self.session.clone(),
            local: self.local.len(),
            remote: self.remote.len(),
            topics,
            services,
            garbage: self.about.get(GatewayWord::Garbage as usize),
        }
    }

    pub(super) fn close(&mut self) {
        self.local.clear(); // the network is notified first
        self.routes.drain().for_each(|(_, mut ends)| ends.close());
        self.services.drain().for_each(|(_, mut ends)| ends.close());
        self.remote.clear();
        self.remote_nodes.clear();
    }
}

fn report(report: Report, route: &RouteKey) -> Endpoint {
    Endpoint { hash: route.hash.0, ..report.about(&route.name, &route.type_name) }
}
