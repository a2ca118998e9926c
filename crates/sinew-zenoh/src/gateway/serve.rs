//! The gateway's thread: takes one change after the other, in the order in which they were sent.

use super::change::Change;
use super::descriptions::Descriptions;
use super::error::GatewayError;
use super::observer::DomainObserver;
use super::reports::{Reports, Words};
use super::router_search::RouterSearch;
use super::sessions::{Elsewhere, Sessions};
use super::shared::Shared;
use super::start::Start;
use super::worker::Worker;
use crate::config::RouterCheck;
use crate::wire::token::{ADMIN_SPACE, Token};
use sinew::gateway::{GatewayWord, Report};
use sinew::time::Time;
use sinew_shm::transport::Participant;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use zenoh::Wait;
use zenoh::sample::SampleKind;

/// Runs until it receives `Stop`.
pub(super) fn run(start: &Start, shared: &Arc<Shared>, told: &Receiver<Change>) -> Result<(), GatewayError> {
    let participant = Participant::join(&start.place, Arc::new(DomainObserver(start.changes.clone())))?;
    let outcome = lead(start, shared, told, &participant);
    participant.leave();
    outcome
}

fn lead(
    start: &Start,
    shared: &Arc<Shared>,
    told: &Receiver<Change>,
    participant: &Arc<Participant>,
) -> Result<(), GatewayError> {
    let reports = Reports::new(participant, shared);
    let about = Arc::new(about(start, shared, &reports));
    let failed = |error: zenoh::Error| GatewayError::Session { reason: crate::config::reason(&error) };
    let mut worker = Worker {
        shared: shared.clone(),
        participant: participant.clone(),
        session: shared.session.zid().to_string(),
        next_id: 0,
        node_ids: HashMap::new(),
        local: HashMap::new(),
        remote: HashMap::new(),
        remote_nodes: HashMap::new(),
        routes: HashMap::new(),
        services: HashMap::new(),
        descriptions: Descriptions::open(shared).map_err(failed)?,
        sessions: Sessions::open(shared, &reports).map_err(failed)?,
        elsewhere: Some(Elsewhere::open(shared, &about).map_err(failed)?),
        reports,
        about: about.clone(),
    };
    let (heard, own, counted) = (shared.clone(), worker.session.clone(), about);
    // With its history: existing tokens come first.
    let tokens = shared
        .session
        .liveliness()
        .declare_subscriber(format!("{ADMIN_SPACE}/{}/**", shared.context.domain()))
        .history(true)
        .callback(move |sample| {
            let key = sample.key_expr().as_str();
            match (sample.kind(), Token::parse(key)) {
                (_, Ok(token)) if token.session == own => {}
                (SampleKind::Put, Ok(token)) => heard.tell(Change::Remote(key.to_owned(), Box::new(token))),
                (SampleKind::Delete, _) => heard.tell(Change::RemoteGone(key.to_owned())),
                (SampleKind::Put, Err(error)) => {
                    counted.count(GatewayWord::Garbage as usize, 1);
                    heard.says_once("token", || format!("a token of the network is left out: {error}"));
                }
            }
        })
        .wait()
        .map_err(failed)?;
    let mut looking = RouterSearch::new(start.check);
    start.leads.set(true);
    worker.serve(told, &mut looking);
    drop(tokens);
    worker.close();
    Ok(())
}

/// Announces the gateway and its endpoints to tools.
fn about(start: &Start, shared: &Shared, reports: &Reports) -> Words {
    let of = |key| start.config.get_json(key).unwrap_or_default();
    let endpoints = of("connect/endpoints").replace(['[', ']', '"'], "");
    let words = reports.words(Report::Gateway.about(&shared.session.zid().to_string(), &endpoints));
    let has_other_ways = start.check == RouterCheck::Skip || of("scouting/multicast/enabled") == "true";
    words.set(GatewayWord::WantsRouter as usize, u64::from(!has_other_ways && !endpoints.is_empty()));
    words
}

impl Worker {
    fn serve(&mut self, told: &Receiver<Change>, looking: &mut RouterSearch) {
        let mut later: Vec<(Time, Box<dyn FnOnce() + Send>)> = Vec::new();
        loop {
            let now = Time::steady();
            for (_, work) in later.extract_if(.., |(at, _)| *at <= now) {
                work();
            }
            if looking.next.is_some_and(|at| at <= now) {
                looking.look(&self.shared);
            }
            if self.sessions.next().is_some_and(|at| at <= now) {
                self.sessions.look(now);
            }
            let next = later.iter().map(|(at, _)| *at).chain(looking.next).chain(self.sessions.next()).min();
            let change = match next {
                Some(at) => told.recv_timeout(at - now),
                None => told.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match change {
                Ok(Change::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Change::Statistics(to)) => drop(to.send(self.statistics())), // fails if the caller is gone
                Ok(Change::Later(at, work)) => later.push((at, work)),
                Ok(Change::Service(route)) => drop(self.with_service(&route, |_| ())),
                Ok(Change::Knock) => self.about.count(GatewayWord::Knocks as usize, 1),
                Ok(Change::FreshClient(route, client)) => self.fresh_client(route, client),
                Ok(Change::Introduce(route, client, looks)) => self.introduce(route, client, looks),
                Ok(Change::FreshRemoteClient(route, client)) => self.fresh_remote_client(route, client),
                Ok(Change::IntroduceRemote(route, client, heard, looks)) => {
                    self.introduce_remote(route, client, heard, looks);
                }
                Ok(Change::OnceKnown(work)) => {
                    // New endpoints are reported before this returns, and so before the work.
                    self.participant.refresh();
                    self.shared.tell(Change::Later(Time::steady(), work));
                }
                Ok(Change::Local(key, endpoint, peer)) => self.local_came(key, &endpoint, peer),
                Ok(Change::LocalGone(key)) => self.local_went(key),
                Ok(Change::Remote(key, token)) => self.remote_came(key, *token),
                Ok(Change::RemoteGone(key)) => self.remote_goes(key),
                Ok(Change::RemoteLeft(key)) => self.remote_left(&key),
                Ok(Change::Links) => self.sessions.links_changed(),
                Ok(Change::Answered(session, is_reached)) => self.sessions.answered(&session, is_reached),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}
