//! Endpoints of this host become tokens on the network.

use super::change::{Change, LocalKey, RouteKey};
use super::local_publisher::LocalPublisher;
use super::route_ends::RouteEnds;
use super::worker::{LocalEnd, Worker};
use crate::wire::token::{CPU_BACKEND, Token, TokenEnd, TokenKind};
use crate::wire::{gid, key, name};
use sinew::QoS;
use sinew::msg::{Gid, TypeHash};
use sinew::qos::Durability;
use sinew::time::Time;
use sinew_shm::{Endpoint, EndpointKind, Peer};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use zenoh::Wait;

/// Most checks for whether the last messages of a publisher that is gone have been sent, and the
/// time between two checks. Checks count, not the time: the machine may hold the process up, and
/// then nothing has been sent meanwhile.
const LAST_MESSAGES: u32 = 200;
const LAST_MESSAGES_PERIOD: Duration = Duration::from_millis(5);

impl Worker {
    pub(super) fn local_came(&mut self, local: LocalKey, endpoint: &Endpoint, peer: Arc<Peer>) {
        let Some(kind) = kind_of(endpoint.kind) else { return };
        let Some((namespace, node)) = split(&endpoint.node) else { return };
        let node_id = match self.node_ids.get(&(local.0, endpoint.node.clone())) {
            Some(id) => *id,
            None => {
                let id = self.new_id();
                self.node_ids.insert((local.0, endpoint.node.clone()), id);
                id
            }
        };
        let id = if kind == TokenKind::Node { node_id } else { self.new_id() };
        let qos = match (kind, QoS::from_bytes(&endpoint.qos)) {
            // No endpoint matches one with an invalid QoS, so it isn't announced to the network
            // either.
            (TokenKind::Publisher | TokenKind::Subscription, None) => return,
            (_, qos) => qos.unwrap_or_default(),
        };
        let hash = TypeHash(endpoint.hash);
        let route = (kind != TokenKind::Node).then(|| RouteKey {
            name: endpoint.name.clone(),
            type_name: endpoint.type_name.clone(),
            hash,
        });
        let rules = &self.shared.rules;
        let Some(namespace) = rules.namespace().to_remote(&namespace).map(Cow::into_owned) else { return };
        let name = route.as_ref().map(|route| rules.outward(&route.name).map(Cow::into_owned));
        // A rule denies it, or its type is the program's own, without a name on the network.
        let name = match name {
            Some(None) => return,
            Some(Some(name))
                if key::of(self.shared.context.domain(), &name, &endpoint.type_name, hash).is_none() =>
            {
                return;
            }
            name => name.flatten(),
        };
        // A publisher of Lyrical sends such types only to subscriptions that announce their
        // backends.
        let has_buffers = kind == TokenKind::Subscription
            && qos.durability == Durability::Volatile
            && route.as_ref().is_some_and(|route| self.has_buffers(route) == Some(true));
        let token = Token {
            domain: self.shared.context.domain(),
            session: self.session.clone(),
            node_id,
            id,
            kind,
            enclave: "/".to_owned(),
            namespace,
            node,
            end: route.as_ref().zip(name).map(|(route, name)| TokenEnd {
                name,
                type_name: route.type_name.clone(),
                hash: Some(route.hash),
                qos,
                backends: has_buffers.then(|| CPU_BACKEND.to_owned()),
            }),
        };
        let token_key = token.to_key();
        let wire_gid = gid::of(&token_key);
        // The local stand-ins of remote endpoints must know it before those are notified: messages
        // that they then send at once would not reach it. (A thread of the context notices it by
        // itself, but later.)
        if matches!(kind, TokenKind::Subscription | TokenKind::Server) {
            self.shared.context.look_around();
        }
        // The path exists before the token that announces it.
        if let Some(route) = route.clone() {
            let local_gid = gid_of(local.0, endpoint.number);
            if !self.local_end_came(local, kind, route, (qos, local_gid, wire_gid)) {
                return;
            }
        }
        let declared = self.shared.session.liveliness().declare_token(token_key.clone()).wait();
        match declared {
            Ok(token) => drop(self.local.insert(local, LocalEnd { kind, route, looks: 0, peer, token })),
            Err(error) => {
                self.shared.says(&format!("{} can't be announced to the network: {error}", endpoint.name));
                if let Some(route) = route {
                    self.local_end_went(local, kind, &route);
                }
            }
        }
    }

    /// Returns `false` if it could not be taken in.
    fn local_end_came(
        &mut self,
        local: LocalKey,
        kind: TokenKind,
        route: RouteKey,
        (qos, local_gid, wire_gid): (QoS, Gid, [u8; 16]),
    ) -> bool {
        match kind {
            TokenKind::Publisher => self.with_route(&route, |ends| {
                ends.local_publishers.insert(local, LocalPublisher::new(qos, local_gid, wire_gid));
            }),
            TokenKind::Subscription => self.with_route(&route, |ends| {
                ends.local_subscriptions.insert(local, qos);
            }),
            TokenKind::Server => self.with_service(&route, |ends| {
                ends.local_servers.insert(local);
            }),
            TokenKind::Client => self.with_service(&route, |ends| {
                ends.local_clients.insert(local, (local_gid, wire_gid));
            }),
            TokenKind::Node => true,
        }
    }

    pub(super) fn local_went(&mut self, local: LocalKey) {
        if self.has_last_messages(local) {
            let shared = self.shared.clone();
            let again = move || shared.tell(Change::LocalGone(local));
            let at = Time::steady() + LAST_MESSAGES_PERIOD;
            return self.shared.tell(Change::Later(at, Box::new(again)));
        }
        let Some(LocalEnd { kind, route, token, .. }) = self.local.remove(&local) else { return };
        drop(token); // the network is notified first
        if !self.local.keys().any(|(participant, _)| *participant == local.0) {
            self.node_ids.retain(|(participant, _), _| *participant != local.0);
        }
        if let Some(route) = route {
            self.local_end_went(local, kind, &route);
        }
    }

    /// Returns `true` for a publisher that is gone if its last messages may still be with a thread
    /// that carries them.
    fn has_last_messages(&mut self, local: LocalKey) -> bool {
        let Some(LocalEnd { kind: TokenKind::Publisher, route: Some(route), looks, .. }) =
            self.local.get_mut(&local)
        else {
            return false;
        };
        *looks += 1;
        *looks <= LAST_MESSAGES && !self.routes.get(route).is_none_or(RouteEnds::is_idle)
    }

    fn local_end_went(&mut self, local: LocalKey, kind: TokenKind, route: &RouteKey) {
        match kind {
            TokenKind::Publisher => drop(self.with_route(route, |ends| {
                if let Some(publisher) = ends.local_publishers.remove(&local) {
                    publisher.close();
                }
            })),
            TokenKind::Subscription => drop(self.with_route(route, |ends| {
                ends.local_subscriptions.remove(&local);
            })),
            TokenKind::Server => drop(self.with_service(route, |ends| {
                ends.local_servers.remove(&local);
            })),
            TokenKind::Client => drop(self.with_service(route, |ends| {
                ends.local_clients.remove(&local);
            })),
            TokenKind::Node => {}
        }
    }

    fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id - 1
    }
}

fn kind_of(kind: EndpointKind) -> Option<TokenKind> {
    match kind {
        EndpointKind::Node => Some(TokenKind::Node),
        EndpointKind::Publisher => Some(TokenKind::Publisher),
        EndpointKind::Subscription => Some(TokenKind::Subscription),
        EndpointKind::Server => Some(TokenKind::Server),
        EndpointKind::Client => Some(TokenKind::Client),
        _ => None,
    }
}

/// Splits a full name into a node's namespace and name.
fn split(full: &str) -> Option<(String, String)> {
    if !name::is_full_name(full) {
        return None;
    }
    let (namespace, node) = full.rsplit_once('/')?;
    Some((if namespace.is_empty() { "/" } else { namespace }.to_owned(), node.to_owned()))
}

/// Returns the gid that Sinew forms: the participant's id, and the endpoint's number in it.
fn gid_of(participant: u64, number: u64) -> Gid {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&participant.to_le_bytes());
    bytes[8..].copy_from_slice(&(number & u64::from(u32::MAX)).to_le_bytes());
    Gid(bytes)
}
