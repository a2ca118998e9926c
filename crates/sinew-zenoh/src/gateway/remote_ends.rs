//! Tokens of the network become endpoints in the domain: a remote publisher becomes a publisher of
//! a node of its name here, and publishes the remote messages; remote subscriptions, clients and
//! servers are announced.

use super::change::{Change, RouteKey};
use super::route_ends::RouteEnds;
use super::sessions::Elsewhere;
use super::worker::{RemoteEnd, Worker};
use crate::wire::token::{Token, TokenEnd, TokenKind};
use crate::wire::{gid, session_id};
use sinew::gateway::Origin;
use sinew::msg::{GenericType, TypeHash};
use sinew::time::Time;
use sinew::{Node, QoS};
use sinew_shm::transport::OwnEndpoint;
use sinew_shm::{Endpoint, EndpointKind};
use std::borrow::Cow;
use std::time::Duration;

/// Most nodes and endpoints of the network that are known: every one that a peer announces takes
/// memory here.
const MOST_REMOTE: usize = 20_000;

/// Time for which a remote publisher stays after its token is gone: on a link, tokens overtake
/// messages, and a busy machine may hold up the thread that delivers these.
const OVERTAKING: Duration = Duration::from_millis(500);

impl Worker {
    pub(super) fn remote_came(&mut self, token_key: String, mut token: Token) {
        if let Some(known) = self.remote.get_mut(&token_key) {
            known.is_leaving = false;
            return; // announced twice, or it is back
        }
        let rules = &self.shared.rules;
        let on_the_network = token.full_node();
        if let Some(end) = &mut token.end {
            let Some(name) = rules.inward(&end.name).map(Cow::into_owned) else { return };
            end.name = name;
        }
        // A node outside the namespace keeps its name.
        if let Some(namespace) = rules.namespace().to_local(&token.namespace).map(Cow::into_owned) {
            token.namespace = namespace;
        }
        if self.remote.len() >= MOST_REMOTE {
            return self.shared.says_once("many", || {
                format!(
                    "the network has more than {MOST_REMOTE} nodes and endpoints: further ones are ignored"
                )
            });
        }
        let node = (token.session.clone(), token.node_id);
        let Some(end) = token.end.clone() else {
            if self.enter_node(&node, &token).is_some() {
                let remote =
                    RemoteEnd { kind: TokenKind::Node, node, route: None, is_leaving: false, told: None };
                self.remote.insert(token_key, remote);
            }
            return;
        };
        // An endpoint without a hash is of Humble, and matches nothing.
        let hash = end.hash.unwrap_or(TypeHash([0; 32]));
        let route = RouteKey { name: end.name.clone(), type_name: end.type_name.clone(), hash };
        let Some(here) = self.enter_node(&node, &token) else { return };
        let asked = if self.matches_any_qos(&token) { QoS::new().best_effort() } else { end.qos };
        let came = |ends: &mut RouteEnds| {
            ends.remote_subscriptions.insert(token_key.clone(), asked);
        };
        match token.kind {
            TokenKind::Subscription => drop(self.with_route(&route, came)),
            TokenKind::Server => drop(self.with_service(&route, |ends| {
                let node = (token.namespace.clone(), token.node.clone());
                ends.remote_servers.insert(token_key.clone(), node);
            })),
            TokenKind::Client => drop(self.with_service(&route, |ends| {
                ends.remote_clients.insert(token_key.clone());
            })),
            TokenKind::Publisher => {
                if !self.remote_publisher_came((&node.0, &token_key), &here, &route, end.qos) {
                    return self.leave_node(&node);
                }
            }
            TokenKind::Node => {}
        }
        if let Some(hash) = end.hash {
            self.descriptions.want(&self.shared, &end.type_name, hash, on_the_network);
        }
        // The path exists before the endpoint is announced.
        let told = self.tell_of(&token, token.kind, &end, hash);
        let remote = RemoteEnd { kind: token.kind, node, route: Some(route), is_leaving: false, told };
        self.remote.insert(token_key, remote);
    }

    /// Returns `true` if a token's program matches as rmw_zenoh does, which ignores QoS.
    fn matches_any_qos(&self, token: &Token) -> bool {
        !self.shared.strict_qos && !session_id::is_gateway(&token.session)
    }

    /// Returns the local stand-in for a token's node; creates it if there is none.
    fn enter_node(&mut self, node: &(String, u64), token: &Token) -> Option<Node> {
        if let Some((here, count)) = self.remote_nodes.get_mut(node) {
            *count += 1;
            return Some(here.clone());
        }
        let origin = if self.matches_any_qos(token) { Origin::AnyQosNetwork } else { Origin::Network };
        match self.shared.context.node_of(origin, &token.namespace, &token.node) {
            Ok(here) => {
                self.remote_nodes.insert(node.clone(), (here.clone(), 1));
                self.sessions.node_came(&node.0, &token.full_node());
                if let Some(elsewhere) = self.elsewhere.take() {
                    elsewhere.close(&self.about);
                }
                Some(here)
            }
            Err(error) => {
                let name = token.full_node();
                self.shared.says_once("node", || format!("node {name} of the network is left out: {error}"));
                None
            }
        }
    }

    fn leave_node(&mut self, node: &(String, u64)) {
        if let Some((_, count)) = self.remote_nodes.get_mut(node) {
            *count -= 1;
            if *count == 0 {
                self.remote_nodes.remove(node);
                self.sessions.node_went(&node.0);
                if self.remote_nodes.is_empty() {
                    // On an error, the session is closing.
                    self.elsewhere = Elsewhere::open(&self.shared, &self.about).ok();
                }
            }
        }
    }

    /// Returns `false` if it could not be created.
    fn remote_publisher_came(
        &mut self,
        (session, token_key): (&str, &str),
        here: &Node,
        route: &RouteKey,
        qos: QoS,
    ) -> bool {
        // Before programs of this host see it: a message that comes then is not the other one's.
        let mistaken = self.routes.get(route).and_then(|ends| ends.mistaken_for(&gid::of(token_key)));
        let published = mistaken.and_then(|(other, last)| {
            self.comes_anew(&other);
            last
        });
        let made = GenericType::new(&route.type_name, route.hash)
            .map_err(|error| error.to_string())
            .and_then(|known| {
                let publisher = here.generic_publisher(&route.name, known).qos(qos).create();
                publisher.map_err(|error| error.to_string())
            });
        let publisher = match made {
            Ok(publisher) => publisher,
            Err(error) => {
                let name = &route.name;
                self.shared.says_once("publisher", || {
                    format!("a publisher on {name} of the network is left out: {error}")
                });
                return false;
            }
        };
        let known = (qos, self.sessions.of(session), published);
        self.with_route(route, |ends| ends.remote_publisher_came(token_key, publisher, known))
    }

    /// Restarts a remote publisher that has published messages of another one: its numbers begin
    /// again, as for a new publisher.
    fn comes_anew(&mut self, token_key: &str) {
        let is_leaving = self.remote.get(token_key).is_none_or(|remote| remote.is_leaving);
        self.remote_went(token_key);
        if !is_leaving && let Ok(token) = Token::parse(token_key) {
            self.remote_came(token_key.to_owned(), token);
        }
    }

    /// Announces it in the domain.
    fn tell_of(&self, token: &Token, kind: TokenKind, end: &TokenEnd, hash: TypeHash) -> Option<OwnEndpoint> {
        let kind = match kind {
            TokenKind::Subscription => EndpointKind::Subscription,
            TokenKind::Server => EndpointKind::Server,
            TokenKind::Client => EndpointKind::Client,
            TokenKind::Node | TokenKind::Publisher => return None,
        };
        let mut qos = end.qos.to_bytes(true);
        let origin = if self.matches_any_qos(token) { Origin::AnyQosListed } else { Origin::Listed };
        origin.write_to(&mut qos);
        let endpoint = Endpoint {
            kind,
            number: 0,
            node: token.full_node(),
            name: end.name.clone(),
            type_name: end.type_name.clone(),
            hash: hash.0,
            qos,
        };
        self.reports.tell(endpoint)
    }

    pub(super) fn remote_goes(&mut self, token_key: String) {
        let Some(RemoteEnd { kind, route, is_leaving, .. }) = self.remote.get_mut(&token_key) else { return };
        let is_heard = |route: &RouteKey| {
            self.routes.get(route).is_some_and(|ends| !ends.local_subscriptions.is_empty())
        };
        if *kind != TokenKind::Publisher || !route.as_ref().is_some_and(is_heard) {
            return self.remote_went(&token_key);
        }
        *is_leaving = true;
        let shared = self.shared.clone();
        let left = move || shared.tell(Change::RemoteLeft(token_key));
        self.shared.tell(Change::Later(Time::steady() + OVERTAKING, Box::new(left)));
    }

    pub(super) fn remote_left(&mut self, token_key: &str) {
        // Unless it is back, for instance after a lost link.
        if self.remote.get(token_key).is_some_and(|remote| remote.is_leaving) {
            self.remote_went(token_key);
        }
    }

    fn remote_went(&mut self, token_key: &str) {
        let Some(RemoteEnd { kind, node, route, told: _told, .. }) = self.remote.remove(token_key) else {
            return;
        };
        if let Some(route) = route {
            match kind {
                TokenKind::Publisher => {
                    let _ = self.with_route(&route, |ends| ends.remote_publisher_went(token_key)); // as below
                }
                TokenKind::Subscription => drop(self.with_route(&route, |ends| {
                    ends.remote_subscriptions.remove(token_key);
                })),
                TokenKind::Server => drop(self.with_service(&route, |ends| {
                    ends.remote_server_went(token_key);
                })),
                TokenKind::Client => drop(self.with_service(&route, |ends| {
                    ends.remote_clients.remove(token_key);
                })),
                TokenKind::Node => {}
            }
        }
        self.leave_node(&node);
    }
}
