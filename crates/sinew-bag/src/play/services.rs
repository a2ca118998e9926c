//! The services of rosbag2's player, by which others control this one.
//!
//! They are answered on the threads that bring the requests: each only takes a lock. Steps are
//! answered by the publishing thread.

use super::clock::ros;
use super::state::Shared;
use sinew::error::CreateError;
use sinew::time::Time;
use sinew::{Node, Responder, Service};
use sinew_interfaces::rosbag2_interfaces::srv::{
    Burst, BurstRequest, BurstResponse, GetRate, GetRateRequest, GetRateResponse, IsPaused, IsPausedRequest,
    IsPausedResponse, Pause, PauseRequest, PauseResponse, Play, PlayNext, PlayNextRequest, PlayNextResponse,
    PlayRequest, PlayResponse, Resume, ResumeRequest, ResumeResponse, Seek, SeekRequest, SeekResponse,
    SetRate, SetRateRequest, SetRateResponse, Stop, StopRequest, StopResponse, TogglePaused,
    TogglePausedRequest, TogglePausedResponse,
};
use std::any::Any;
use std::sync::Arc;

/// The servers, which exist as long as this.
pub(super) type Servers = Vec<Box<dyn Any + Send + Sync>>;

/// Makes the servers.
pub(super) fn serve(node: &Node, shared: &Arc<Shared>) -> Result<Servers, CreateError> {
    let player = || shared.clone();
    let (pause, resume, toggle, stop, seek) = (player(), player(), player(), player(), player());
    let play = player();
    let (is_paused, get_rate, set_rate, next, burst) = (player(), player(), player(), player(), player());
    Ok(vec![
        Box::new(node.server::<Play>("~/play").immediate_callback(move |request: &PlayRequest| {
            let (start, until) = part(request, play.span.begin);
            PlayResponse { success: play.play_again(start, until) }
        })?),
        Box::new(node.server::<Pause>("~/pause").immediate_callback(move |_: &PauseRequest| {
            pause.change(|state, now| state.pace.pause(now));
            PauseResponse::default()
        })?),
        Box::new(node.server::<Resume>("~/resume").immediate_callback(move |_: &ResumeRequest| {
            resume.change(|state, now| state.pace.resume(now));
            ResumeResponse::default()
        })?),
        Box::new(node.server::<TogglePaused>("~/toggle_paused").immediate_callback(
            move |_: &TogglePausedRequest| {
                toggle.toggle();
                TogglePausedResponse::default()
            },
        )?),
        Box::new(node.server::<IsPaused>("~/is_paused").immediate_callback(move |_: &IsPausedRequest| {
            IsPausedResponse { paused: is_paused.state().pace.is_paused() }
        })?),
        Box::new(node.server::<GetRate>("~/get_rate").immediate_callback(move |_: &GetRateRequest| {
            GetRateResponse { rate: get_rate.state().pace.rate() }
        })?),
        Box::new(node.server::<SetRate>("~/set_rate").immediate_callback(
            move |request: &SetRateRequest| SetRateResponse { success: set_rate.set_rate(request.rate) },
        )?),
        Box::new(node.server::<Seek>("~/seek").immediate_callback(move |request: &SeekRequest| {
            let time = Time::from(request.time).max(ros(0)).nanoseconds();
            SeekResponse { success: seek.seek(time.unsigned_abs()) }
        })?),
        Box::new(node.server::<Stop>("~/stop").immediate_callback(
            move |_: StopRequest, responder: Responder<Stop>| {
                // Before the process may end. A client that no longer waits has asked all the same.
                let _ = responder.respond(StopResponse::default());
                stop.stop();
            },
        )?),
        Box::new(node.server::<PlayNext>("~/play_next").immediate_callback(
            move |_: PlayNextRequest, responder: Responder<PlayNext>| {
                step(&next, 1, responder, |count| PlayNextResponse { success: count == 1 });
            },
        )?),
        Box::new(node.server::<Burst>("~/burst").immediate_callback(
            move |request: BurstRequest, responder: Responder<Burst>| {
                // As in rosbag2, 0 is all.
                let count = if request.num_messages == 0 { u64::MAX } else { request.num_messages };
                step(&burst, count, responder, |count| BurstResponse { actually_burst: count });
            },
        )?),
    ])
}

/// Returns the part of a bag, which begins at that time, that a request asks for. As in rosbag2,
/// the later one of two ends counts; unlike there, an end of zero is none, so that an empty request
/// plays everything.
fn part(request: &PlayRequest, begin: u64) -> (u64, u64) {
    let positive = |nanoseconds: i64| u64::try_from(nanoseconds).ok().filter(|time| *time > 0);
    let offset = positive(Time::from(request.start_offset).nanoseconds()).unwrap_or(0);
    let start = begin.saturating_add(offset);
    let length = &request.playback_duration;
    let length = i64::from(length.sec) * 1_000_000_000 + i64::from(length.nanosec);
    let after = positive(length).map(|length| start.saturating_add(length));
    let until = positive(Time::from(request.playback_until_timestamp).nanoseconds());
    (start, after.max(until).unwrap_or(u64::MAX))
}

/// Publishes the next messages if the player is paused, as rosbag2 does, and answers then.
fn step<S: Service>(
    shared: &Shared,
    count: u64,
    responder: Responder<S>,
    response: impl FnOnce(u64) -> S::Response + Send + 'static,
) where
    S::Response: Send,
{
    let count = if shared.state().pace.is_paused() { count } else { 0 };
    shared.step(count, move |published| {
        // A client that no longer waits has asked all the same.
        let _ = responder.respond(response(published));
    });
}
