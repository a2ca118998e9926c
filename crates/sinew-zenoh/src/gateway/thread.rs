//! The gateway's thread: waits until the gateway leads, opens the session, and closes it in the
//! end.

use super::callers::Callers;
use super::change::Change;
use super::congestion::Congestion;
use super::leader::Claim;
use super::serve;
use super::shared::Shared;
use super::start::Start;
use super::statistics::GatewayStatistics;
use log::Level;
use sinew::__private::locks::Mutex;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;
use zenoh::Session;

/// Time between two checks of a waiting gateway whether the leader is gone.
const LEADER_PERIOD: Duration = Duration::from_millis(200);

/// Runs the gateway's thread.
pub(super) fn run(start: &Start, claim: &Claim, first: Option<Session>, told: &Receiver<Change>) {
    let session = match first {
        Some(session) => session,
        None => match wait(start, claim, told) {
            Some(session) => session,
            None => return,
        },
    };
    let (congestion, left) = Congestion::new();
    let shared = Arc::new(Shared {
        context: start.context.clone(),
        session,
        congestion: Arc::new(congestion),
        place: start.place.clone(),
        rules: start.rules.clone(),
        strict_qos: start.strict_qos,
        changes: start.changes.clone(),
        said: Mutex::default(),
        callers: Callers::default(),
        askers: Callers::default(),
    });
    let sending = Arc::downgrade(&shared.congestion);
    let sender = std::thread::Builder::new()
        .name("sinew-gw-send".to_owned())
        .spawn(move || Congestion::send(&sending, &left));
    let sender = match sender {
        Ok(sender) => sender,
        Err(error) => return shared.says(&format!("the gateway can't start a thread: {error}")),
    };
    if let Err(error) = serve::run(start, &shared, told) {
        shared.says(&format!("the gateway has stopped: {error}"));
    }
    start.leads.set(false);
    shared.congestion.end();
    // The network was first notified that all of this host's endpoints are gone. A put that
    // waits for the link ends before the session is closed: meanwhile zenoh (1.10) could not
    // close it, and would make all sessions of the process wait.
    crate::router::close(&shared.session, move || drop(sender.join()));
}

/// Waits until this gateway leads. Returns `None` if it has to end.
fn wait(start: &Start, claim: &Claim, told: &Receiver<Change>) -> Option<Session> {
    let mut has_complained = false;
    loop {
        match told.recv_timeout(LEADER_PERIOD) {
            Ok(Change::Stop) | Err(RecvTimeoutError::Disconnected) => return None,
            Ok(Change::Statistics(to)) => drop(to.send(GatewayStatistics::default())),
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
        }
        let session = claim.leads().and_then(|leads| leads.then(|| start.open()).transpose());
        match session {
            Ok(Some(session)) => {
                sinew_shm::log_line!(
                    Level::Info,
                    "gateway of domain {}: the previous one is gone, and this one leads now, as session {}",
                    start.context.domain(),
                    session.zid()
                );
                return Some(session);
            }
            Ok(None) => {}
            Err(error) if !has_complained => {
                has_complained = true;
                sinew_shm::log_line!(Level::Warn, "the gateway can't take over: {error}");
            }
            Err(_) => {}
        }
    }
}
