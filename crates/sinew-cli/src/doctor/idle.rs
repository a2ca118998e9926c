//! Gateways that do nothing, because they are stopped or their thread hangs.
//!
//! A gateway sees each participant of its domain and its endpoints. So it sees a knock, and counts
//! it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use sinew::gateway::{GatewayWord, Report};
use sinew::records;
use sinew_bench::clock::{nanoseconds, now_ns, sleep_until};
use sinew_shm::transport::{Incoming, Observer, Participant, Sink};
use sinew_shm::{Domain, Endpoint, EndpointKey, Peer};

use crate::cli::tools::Where;
use crate::error::Error;
use crate::observed::{Observed, ObservedDomain};

/// Time within which a gateway should count a knock.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);

/// Time between two looks.
const MOMENT: Duration = Duration::from_millis(5);

/// Returns the participants of gateways that don't count a knock; none if that can't be determined.
pub(super) fn gateways(place: &Where, observed: &mut Observed) -> Vec<u64> {
    knock(place, observed).unwrap_or_default()
}

fn knock(place: &Where, observed: &mut Observed) -> Result<Vec<u64>, Error> {
    let before = knocks(&observed.look()?);
    let domain = Domain::open(place.dir.as_deref(), observed.domain())?;
    let participant = Participant::join(&domain, Arc::new(Nobody))?;
    let knock = participant.advertise(&Endpoint { number: 1, ..records::knock() }, None)?;
    let until = now_ns() + nanoseconds(PATIENCE);
    let idle = loop {
        let now = knocks(&observed.look()?);
        // A gateway that has gone meanwhile doesn't matter.
        let hears_not = |(id, count): (&u64, &u64)| (now.get(id) == Some(count)).then_some(*id);
        let idle: Vec<_> = before.iter().filter_map(hears_not).collect();
        if idle.is_empty() || now_ns() > until {
            break idle;
        }
        sleep_until(now_ns() + nanoseconds(MOMENT));
    };
    drop(knock);
    participant.leave();
    Ok(idle)
}

/// Returns the knocks that gateways have counted, by their participants.
fn knocks(snapshot: &ObservedDomain) -> HashMap<u64, u64> {
    let gateways = snapshot.reports.iter().filter(|end| Report::of(&end.record) == Some(Report::Gateway));
    gateways.map(|end| (end.peer.id(), end.counts().word(GatewayWord::Knocks as usize))).collect()
}

/// An observer that ignores all other participants.
struct Nobody;

impl Observer for Nobody {
    fn appeared(&self, _: &Arc<Peer>, _: EndpointKey, _: &Endpoint) {}

    fn vanished(&self, _: &Arc<Peer>, _: EndpointKey) {}

    fn connected(&self, _: Incoming, _: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
        None
    }

    fn left(&self, _: &Arc<Peer>) {}
}
