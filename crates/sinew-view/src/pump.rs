//! The thread that writes to a client.

use crate::catalogue::Channel;
use crate::hub::Hub;
use crate::images::{Compressor, ImageError};
use crate::session::{Change, Frame, Session, Turn};
use crate::settings::Settings;
use crate::socket::{FrameKind, Outlet};
use crate::wire::{self, Level};
use sinew::error::CreateError;
use sinew::msg::{GenericType, SerializedMessage};
use sinew::qos::Durability;
use sinew::time::Time;
use sinew::{QoS, Subscription};
use sinew_interfaces::rosgraph_msgs::msg::Clock;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Time between two pings, by which a dead client is noticed.
pub(crate) const PING_PERIOD: Duration = Duration::from_secs(5);

/// Messages of one subscription that are sent before others get their turn.
const BURST: usize = 16;

/// Subscriptions that a client may have.
const MOST_FEEDS: usize = 1024;

/// Subscriptions that it may have to the same channel; viewers have one.
const MOST_OF_CHANNEL: usize = 4;

/// A subscription of the client.
struct Feed {
    channel: Arc<Channel>,
    subscription: Subscription<SerializedMessage>,
    qos: QoS,
    /// Reception time of the last message that was sent, in nanoseconds.
    last: Option<i64>,
    /// Messages that gave way to newer ones, as far as they were counted.
    dropped: u64,
    /// Compresses its images; `None`: messages are sent as they are.
    compressor: Option<Compressor>,
    /// The client was warned of an image that isn't compressed.
    has_warned: bool,
}

impl Feed {
    /// Returns the bytes to send for a message.
    fn body<'a>(&mut self, message: &'a [u8]) -> Result<Cow<'a, [u8]>, ImageError> {
        match &mut self.compressor {
            None => Ok(message.into()),
            Some(compressor) => Ok(compressor.compress(message)?.into()),
        }
    }

    /// Messages that are sent before others get their turn.
    fn burst(&self) -> usize {
        if self.compressor.is_some() { 1 } else { BURST }
    }
}

pub(crate) struct Pump {
    hub: Arc<Hub>,
    session: Arc<Session>,
    outlet: Outlet,
    feeds: BTreeMap<u32, Feed>,
    clock: Option<Subscription<Clock>>,
    /// The simulated time, in nanoseconds.
    sim_time: Option<u64>,
    /// Seeks of the playback before the message of it that was sent last.
    seeks: u64,
}

impl Pump {
    pub(crate) fn new(hub: Arc<Hub>, session: Arc<Session>, outlet: Outlet) -> Self {
        Self { hub, session, outlet, feeds: BTreeMap::new(), clock: None, sim_time: None, seeks: 0 }
    }

    /// Writes until the connection ends.
    pub(crate) fn run(mut self) {
        if self.hub.settings.use_sim_time {
            self.clock = self.subscribe_to_clock();
        }
        // If the client has gone, the reader notices as well.
        let _ = self.write();
        self.remove_feeds(|_, _| true);
        self.session.disconnect();
    }

    fn subscribe_to_clock(&self) -> Option<Subscription<Clock>> {
        let session = self.session.clone();
        let clock = self.hub.node.subscription::<Clock>("/clock").qos(QoS::clock());
        let clock = clock.listener(move |_| session.clock_ready()).create();
        clock.inspect_err(|error| self.session.status(Level::Error, &error.to_string(), None)).ok()
    }

    fn write(&mut self) -> io::Result<()> {
        let mut last_ping = Time::steady();
        loop {
            let Turn { changes, frames, ready, has_clock, end } = self.session.wait(PING_PERIOD);
            for change in changes {
                self.change(change);
            }
            send_frames(&mut self.outlet, frames)?;
            if let Some(code) = end {
                self.outlet.add(FrameKind::Close, &[], &code.to_be_bytes())?;
                return self.outlet.flush();
            }
            if has_clock {
                self.send_time()?;
            }
            let mut rest = Vec::new();
            for id in ready {
                if self.send_messages(id)? {
                    rest.push(id);
                }
            }
            if Time::steady() - last_ping >= PING_PERIOD {
                last_ping = Time::steady();
                self.outlet.add(FrameKind::Ping, &[], &[])?;
            }
            self.outlet.flush()?;
            if !rest.is_empty() {
                self.session.ready_again(rest.into_iter());
            }
        }
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Subscribe { id, channel, qos } => self.subscribe(id, &channel, qos),
            // A client may unsubscribe from a channel that has just gone.
            Change::Unsubscribe { id } => drop(self.remove_feeds(|one, _| one == id)),
            Change::Gone { channels } => {
                drop(self.remove_feeds(|_, feed| channels.contains(&feed.channel.id)))
            }
            Change::Request { channel, qos } => {
                for (id, feed) in self.remove_feeds(|_, feed| feed.channel.id == channel) {
                    self.subscribe(id, &feed.channel, qos);
                }
            }
        }
    }

    /// Removes subscriptions, and counts the messages that they have lost since the last one that
    /// was sent.
    fn remove_feeds(&mut self, is_removed: impl Fn(u32, &Feed) -> bool) -> Vec<(u32, Feed)> {
        let mut removed: Vec<_> = self.feeds.extract_if(.., |id, feed| is_removed(*id, feed)).collect();
        removed.iter_mut().for_each(|(_, feed)| count_lost(&self.hub, &self.session, feed));
        removed
    }

    fn subscribe(&mut self, id: u32, channel: &Arc<Channel>, qos: QoS) {
        if self.feeds.contains_key(&id) {
            let problem = format!("there is a subscription {id} already");
            return self.session.status(Level::Error, &problem, None);
        }
        match self.has_room(channel).and_then(|()| self.feed(id, channel, qos)) {
            Ok(feed) => drop(self.feeds.insert(id, feed)),
            Err(problem) => {
                let problem = format!("can't subscribe to {}: {problem}", channel.key.name);
                self.session.status(Level::Error, &problem, None);
            }
        }
    }

    /// Whether the client may have one more subscription, to this channel.
    fn has_room(&self, channel: &Channel) -> Result<(), String> {
        if self.feeds.len() >= MOST_FEEDS {
            return Err(format!("a client may have {MOST_FEEDS} subscriptions"));
        }
        if self.feeds.values().filter(|feed| feed.channel.id == channel.id).count() >= MOST_OF_CHANNEL {
            return Err(format!("a client may have {MOST_OF_CHANNEL} subscriptions to it"));
        }
        Ok(())
    }

    fn feed(&self, id: u32, channel: &Arc<Channel>, qos: QoS) -> Result<Feed, String> {
        let topic = channel.key.topic();
        let known = GenericType::new(&topic.type_name, topic.hash());
        let known = known.map_err(|error| error.to_string())?;
        let session = self.session.clone();
        let subscription = self.hub.node.generic_subscription(&topic.name, known).qos(qos);
        let subscription = subscription.listener(move |_| session.ready(id)).create();
        let subscription = subscription.map_err(|error: CreateError| error.to_string())?;
        let Settings { image_width, image_quality, .. } = &self.hub.settings;
        let width = image_width.filter(|_| channel.key.source.is_some());
        let compressor = width.map(|width| Compressor::new(width, *image_quality));
        let channel = channel.clone();
        Ok(Feed { channel, subscription, qos, last: None, dropped: 0, compressor, has_warned: false })
    }

    fn send_time(&mut self) -> io::Result<()> {
        let Some((clock, _)) = self.clock.as_ref().and_then(Subscription::take) else { return Ok(()) };
        let (seconds, nanoseconds) = (i64::from(clock.clock.sec), i64::from(clock.clock.nanosec));
        let time = u64::try_from(seconds * 1_000_000_000 + nanoseconds).unwrap_or(0);
        self.sim_time = Some(time);
        self.outlet.add(FrameKind::Binary, &[], &wire::time(time))
    }

    /// Sends some messages of a subscription. Returns `true` if there may be more.
    fn send_messages(&mut self, id: u32) -> io::Result<bool> {
        let Some(feed) = self.feeds.get_mut(&id) else { return Ok(false) };
        let min_period = self.hub.settings.min_period;
        let is_latched = feed.qos.durability == Durability::TransientLocal;
        for _ in 0..feed.burst() {
            let Some((message, info)) = feed.subscription.take_sample() else {
                return Ok(false);
            };
            let received = info.reception_time().nanoseconds();
            let is_due = feed.last.is_none_or(|last| received - last >= min_period) || is_latched;
            if is_due {
                let log_time = match (&self.hub.settings.playback, self.sim_time) {
                    (Some(playback), _) => {
                        let Some((time, seeks)) = playback.place_of(&info, |frame| self.hub.broadcast(frame))
                        else {
                            continue;
                        };
                        if std::mem::replace(&mut self.seeks, seeks) != seeks {
                            // The seek that led there comes first: a viewer drops what came before.
                            send_frames(&mut self.outlet, self.session.take_frames())?;
                        }
                        time
                    }
                    (None, Some(time)) => time,
                    (None, None) => u64::try_from(received).unwrap_or(0),
                };
                feed.last = Some(received);
                match feed.body(message.bytes()) {
                    Ok(body) => {
                        let head = wire::message_head(id, log_time);
                        self.outlet.add(FrameKind::Binary, &head, &body)?;
                        self.hub.count_sent();
                    }
                    Err(problem) => warn_once(&self.hub, &self.session, feed, &problem),
                }
            }
            count_lost(&self.hub, &self.session, feed);
        }
        Ok(true)
    }
}

fn send_frames(outlet: &mut Outlet, frames: Vec<Frame>) -> io::Result<()> {
    frames.into_iter().try_for_each(|frame| outlet.add(frame.kind, &[], &frame.bytes))
}

/// Counts messages that gave way to newer ones; warns the client of the first ones.
fn count_lost(hub: &Hub, session: &Session, feed: &mut Feed) {
    let statistics = feed.subscription.statistics();
    let dropped = statistics.overwritten + statistics.missed;
    if dropped > feed.dropped {
        hub.count_dropped(dropped - feed.dropped);
        if feed.dropped == 0 {
            let topic = &feed.channel.key.name;
            let warning = format!(
                "messages of {topic} are lost: this viewer or the way to it is slower than they come"
            );
            session.status(Level::Warning, &warning, Some(&format!("lost:{topic}")));
        }
        feed.dropped = dropped;
    }
}

/// Says that images are not compressed, once for each subscription: each image may have the
/// problem.
fn warn_once(hub: &Hub, session: &Session, feed: &mut Feed, problem: &ImageError) {
    if std::mem::replace(&mut feed.has_warned, true) {
        return;
    }
    let (topic, name) = (&feed.channel.key.topic().name, &feed.channel.key.name);
    let warning = format!("images of {topic} are missing from {name}: {problem}");
    sinew::warn!(hub.node, "{warning}");
    session.status(Level::Warning, &warning, Some(&format!("image:{topic}")));
}
