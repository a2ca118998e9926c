//! Heartbeats: signs of life that the helper thread stores as long as a caller has requested them.
//!
//! A process that is stopped, or has a helper thread that hangs, stores none; peers notice the end
//! of a process without them. While no heartbeats are requested, the helper thread doesn't wake up
//! for them.

use crate::own::own_state::OwnState;
use crate::platform::sync::{Arc, PlainMutex};
use crate::platform::sys;
use std::collections::BTreeMap;
use std::time::Duration;

/// Number of requests for heartbeats, by the longest time between two of them.
#[derive(Default)]
pub(crate) struct Heartbeats(PlainMutex<BTreeMap<Duration, usize>>);

/// A request for heartbeats, until it is dropped.
pub struct Heartbeat {
    own: Arc<OwnState>,
    period: Duration,
}

impl Heartbeat {
    pub(crate) fn every(period: Duration, own: &Arc<OwnState>) -> Self {
        *own.heartbeats.0.lock().entry(period).or_default() += 1;
        own.beat(); // before any peer can see the request
        own.wake_helper(); // it sleeps less from now on
        Self { own: own.clone(), period }
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        let mut asked = self.own.heartbeats.0.lock();
        if let Some(count) = asked.get_mut(&self.period) {
            *count -= 1;
            if *count == 0 {
                asked.remove(&self.period);
            }
        }
        if asked.is_empty()
            && let Ok(control) = self.own.control()
        {
            control.set_alive(0); // under the lock: after every heartbeat
        }
    }
}

impl OwnState {
    /// Stores a heartbeat if any are requested. Returns the time after which the next one is due.
    pub(crate) fn beat(&self) -> Option<Duration> {
        let asked = self.heartbeats.0.lock();
        let (&period, _) = asked.first_key_value()?;
        self.control().ok()?.set_alive(sys::steady());
        Some(period)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::testing::recording_observer::{RecordingObserver, endpoint};
    use crate::transport::Participant;
    use crate::{Domain, EndpointKind};

    #[test]
    fn the_helper_thread_beats_as_long_as_it_is_asked_for() {
        let base = tempfile::tempdir_in("/dev/shm").unwrap();
        let domain = Domain::open(Some(base.path()), 0).unwrap();
        let seen = Arc::new(RecordingObserver::default());
        let watching = Participant::join(&domain, seen.clone()).unwrap();
        let beating = Participant::join(&domain, Arc::new(RecordingObserver::default())).unwrap();
        let _entity = beating.advertise(&endpoint(EndpointKind::Publisher), None).unwrap();
        watching.refresh();
        let peer = seen.0.lock().0[0].clone();
        assert_eq!(peer.last_beat(), None);
        let slow = beating.beat_every(Duration::from_secs(3600));
        let first = peer.last_beat();
        assert!(first.is_some(), "the first one comes at once");
        let quick = beating.beat_every(Duration::from_millis(1));
        for _ in 0..3 {
            let before = peer.last_beat();
            while peer.last_beat() == before {
                std::thread::yield_now();
            }
        }
        drop(quick);
        assert!(peer.last_beat() > first);
        drop(slow);
        assert_eq!(peer.last_beat(), None);
        beating.leave();
        watching.leave();
    }
}
