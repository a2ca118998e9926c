//! The services of rosbag2's recorder, by which others control this one.

use super::cache::Cache;
use sinew::error::CreateError;
use sinew::service::PulledServer;
use sinew::{Node, Service};
use sinew_interfaces::rosbag2_interfaces::srv::{
    IsPaused, IsPausedResponse, Pause, PauseResponse, Resume, ResumeResponse, Snapshot, SnapshotResponse,
    SplitBagfile, SplitBagfileResponse, Stop, StopResponse, TogglePaused, TogglePausedResponse,
};
use std::sync::Arc;

/// The servers: the collector looks at them.
pub(super) struct Control {
    cache: Arc<Cache>,
    snapshot: PulledServer<Snapshot>,
    split: PulledServer<SplitBagfile>,
    pause: PulledServer<Pause>,
    resume: PulledServer<Resume>,
    toggle: PulledServer<TogglePaused>,
    is_paused: PulledServer<IsPaused>,
    stop: PulledServer<Stop>,
}

impl Control {
    pub(super) fn new(node: &Node, cache: &Arc<Cache>) -> Result<Self, CreateError> {
        Ok(Self {
            cache: cache.clone(),
            snapshot: node.server("~/snapshot").create()?,
            split: node.server("~/split_bagfile").create()?,
            pause: node.server("~/pause").create()?,
            resume: node.server("~/resume").create()?,
            toggle: node.server("~/toggle_paused").create()?,
            is_paused: node.server("~/is_paused").create()?,
            stop: node.server("~/stop").create()?,
        })
    }

    /// Answers the requests since the last call.
    pub(super) fn serve(&self) {
        let cache = &self.cache;
        answer(&self.snapshot, || SnapshotResponse { success: cache.take_snapshot() });
        answer(&self.split, || {
            cache.split();
            SplitBagfileResponse::default()
        });
        answer(&self.pause, || {
            cache.set_paused(true);
            PauseResponse::default()
        });
        answer(&self.resume, || {
            cache.set_paused(false);
            ResumeResponse::default()
        });
        answer(&self.toggle, || {
            cache.set_paused(!cache.is_paused());
            TogglePausedResponse::default()
        });
        answer(&self.is_paused, || IsPausedResponse { paused: cache.is_paused() });
        answer(&self.stop, || {
            cache.stop();
            StopResponse::default()
        });
    }
}

fn answer<S: Service>(server: &PulledServer<S>, answer: impl Fn() -> S::Response) {
    while let Some((_, info)) = server.take_request() {
        // A client that no longer waits has asked all the same.
        let _ = server.respond(&info.key(), answer());
    }
}
