//! The options of players and replays.

use super::clock::ClockOutput;
use super::error::PlayError;
use super::options::{MessageOrder, Options, PlayerClock};
use super::pace::Pace;
use super::plan::Plan;
use super::playback::{Playback, Settings};
use super::player::Player;
use super::replay::Replay;
use super::services::{self, Servers};
use super::state::{Shared, now};
use super::statistics::{PlayedTopic, PlayerStatistics};
use crate::topic::BagTopic;
use sinew::time::VirtualClock;
use sinew::{Context, Duration, Executor, QoS};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The default name of a player's node: rosbag2's, so that its services are found.
const NODE: &str = "rosbag2_player";

/// The options of a [`Player`]; from [`Player::builder`].
#[must_use = "nothing is played before `start`"]
pub struct PlayerBuilder {
    options: Options,
    rate: f64,
    is_paused: bool,
    has_control: bool,
    loops: u64,
    stays: bool,
    delay: Duration,
    wait_for_subscribers: Duration,
    wait_for_readers: Duration,
    spin: Duration,
}

impl Player {
    /// Begins a player in a context.
    pub fn builder(context: &Context) -> PlayerBuilder {
        PlayerBuilder {
            options: Options::new(context, NODE),
            rate: 1.0,
            is_paused: false,
            has_control: false,
            loops: 1,
            stays: false,
            delay: Duration::ZERO,
            wait_for_subscribers: Duration::ZERO,
            wait_for_readers: Duration::ZERO,
            spin: Duration::ZERO,
        }
    }
}

impl PlayerBuilder {
    /// Adds bags: directories, or MCAP files. Several are merged in the order of time; a topic that
    /// several have gets one publisher.
    pub fn bags(mut self, paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        self.options.bags.extend(paths.into_iter().map(|path| path.as_ref().to_owned()));
        self
    }

    /// Sets the name of the node that publishes. Default: `rosbag2_player`.
    pub fn node_name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.options.node_name);
        self
    }

    /// Plays these topics only, by their full names in the bags, beside others that this method has
    /// named. Default: all.
    pub fn topics(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.options.topics.extend(names.into_iter().map(Into::into));
        self
    }

    /// Doesn't play these topics.
    pub fn exclude(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.options.excluded.extend(names.into_iter().map(Into::into));
        self
    }

    /// Plays only topics with names in which this regular expression is found, beside those that
    /// are [named](Self::topics).
    pub fn pattern(mut self, pattern: &str) -> Self {
        self.options.pattern = Some(pattern.to_owned());
        self
    }

    /// Doesn't play topics with names in which this regular expression is found.
    pub fn exclude_pattern(mut self, pattern: &str) -> Self {
        self.options.excluded_pattern = Some(pattern.to_owned());
        self
    }

    /// Plays only topics for which this returns `true`, by type for example. It applies beside all
    /// other choices, and is called before anything is played.
    pub fn filter(mut self, wanted: impl Fn(&BagTopic) -> bool + Send + 'static) -> Self {
        self.options.filter = Some(Box::new(wanted));
        self
    }

    /// Publishes a topic under another name. The context's own rules for renaming apply to the new
    /// name.
    pub fn remap(mut self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.options.renamed.insert(from.into(), to.into());
        self
    }

    /// Sets the QoS of topics' publishers, by their names in the bags; rosbag2's file of them is
    /// read by [`read_qos_overrides`](crate::read_qos_overrides). Default: a QoS that satisfies
    /// every subscription which one of the recorded publishers satisfied; a latched topic that
    /// several publishers had retains as many messages as they did together.
    pub fn qos_overrides(mut self, overrides: impl IntoIterator<Item = (String, QoS)>) -> Self {
        self.options.qos.extend(overrides);
        self
    }

    /// Serves rosbag2's services on the player's node, without an executor: `~/play`, `~/pause`,
    /// `~/resume`, `~/toggle_paused`, `~/is_paused`, `~/get_rate`, `~/set_rate`, `~/play_next`,
    /// `~/burst`, `~/seek` and `~/stop`. `~/play` plays once more if the player
    /// [stays](Self::stay_at_end) and has played everything.
    pub fn control_services(mut self) -> Self {
        self.has_control = true;
        self
    }

    /// Sets the order. Default: as received.
    pub fn order(mut self, order: MessageOrder) -> Self {
        self.options.order = order;
        self
    }

    /// Begins this long after the first message of all bags. Latched topics first publish what they
    /// retained at that time. Default: zero.
    pub fn start_offset(mut self, offset: Duration) -> Self {
        self.options.start_offset = offset;
        self
    }

    /// Plays messages up to this time, in nanoseconds since the epoch. Default: `u64::MAX`, all.
    pub fn until(mut self, time: u64) -> Self {
        self.options.until = time;
        self
    }

    /// Plays this much of the bags' time. Default: `Duration::MAX`, up to the end.
    pub fn duration(mut self, duration: Duration) -> Self {
        self.options.duration = duration;
        self
    }

    /// Sets the rate: 2 plays twice as fast. Default: 1.
    pub fn rate(mut self, rate: f64) -> Self {
        self.rate = rate;
        self
    }

    /// Publishes each message as soon as the one before is published, regardless of their times.
    /// With [`lossless`](Self::lossless) this is as fast as the readers are.
    pub fn as_fast_as_possible(mut self) -> Self {
        self.rate = f64::INFINITY;
        self
    }

    /// Begins with a pause.
    pub fn start_paused(mut self) -> Self {
        self.is_paused = true;
        self
    }

    /// Plays the bags that many times; `u64::MAX`: without end. 0 counts as 1, the default.
    pub fn loops(mut self, rounds: u64) -> Self {
        self.loops = rounds.max(1);
        self
    }

    /// Stays at the end instead of ending: [`Player::play_again`], the service `~/play` or a seek
    /// plays once more, and the publishers still serve what they retain. Such a player ends when it
    /// is stopped. Default: it ends with the last message.
    pub fn stay_at_end(mut self) -> Self {
        self.stays = true;
        self
    }

    /// Publishes the time of the bags on `/clock`, for programs with [simulated
    /// time](sinew::Context::use_sim_time). Default: it doesn't.
    pub fn clock(mut self, clock: PlayerClock) -> Self {
        self.options.clock = clock;
        self
    }

    /// Waits for slow readers instead of losing messages. The publishers are reliable and
    /// `keep_all`; those of latched topics keep their depth. Meanwhile the time of the bag stands
    /// still, and then goes on at its rate: [`PlayerStatistics::delayed`] counts that.
    ///
    /// | reader | waits |
    /// |---|---|
    /// | reliable and `keep_all` | while its history is full, so it gets everything |
    /// | reliable, of another process | until it has read as many messages as the shortest history holds, out of shared memory: it may still drop them from a `keep_last` history before its callback sees them |
    /// | reliable and `keep_last`, of this process | no |
    /// | best effort | no |
    pub fn lossless(mut self) -> Self {
        self.options.is_lossless = true;
        self
    }

    /// Waits this long before the first message. Default: zero.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Waits until each topic has a subscription, for this long at most. Default: zero. The
    /// subscriptions that the graph shows when playing starts are waited for in any case.
    pub fn wait_for_subscribers(mut self, timeout: Duration) -> Self {
        self.wait_for_subscribers = timeout;
        self
    }

    /// Waits at the end until all messages are read, for this long at most: as
    /// [`Publisher::wait_for_all_acked`](sinew::Publisher::wait_for_all_acked). Default: zero.
    pub fn wait_for_all_acked(mut self, timeout: Duration) -> Self {
        self.wait_for_readers = timeout;
        self
    }

    /// Keeps a processor busy for this long before each message is due, which makes its time more
    /// exact by some µs. Default: zero, the thread sleeps.
    pub fn spin_before_due(mut self, duration: Duration) -> Self {
        self.spin = duration;
        self
    }

    /// Makes the publishers, and plays the bags on a thread of its own. Another thread reads ahead.
    /// Blocks while the bags are opened.
    ///
    /// Programs in virtual time use [`replay`](Self::replay) instead: a player follows the
    /// machine's clock.
    ///
    /// # Errors
    /// [`PlayError`]: a bag can't be opened or lacks a topic, nothing is left to play, or a
    /// publisher can't be made.
    pub fn start(self) -> Result<Player, PlayError> {
        if self.rate.is_nan() || self.rate <= 0.0 {
            return Err(PlayError::Rate { rate: self.rate });
        }
        let Plan { node, outputs, source, span, skipped, problems } = Plan::make(&self.options)?;
        let topics = outputs.iter().map(|output| PlayedTopic {
            name: output.publisher.topic().to_owned(),
            type_name: output.known.name().to_owned(),
            ..PlayedTopic::default()
        });
        let statistics = PlayerStatistics { topics: topics.collect(), ..PlayerStatistics::default() };
        let pace = Pace::new(span.start, self.rate, self.is_paused);
        let shared = Arc::new(Shared::new(span, pace, statistics, problems));
        let playback = Playback {
            shared: shared.clone(),
            context: self.options.context.clone(),
            clock: ClockOutput::new(&node, self.options.clock, now())?,
            node: node.clone(),
            outputs,
            settings: Settings {
                loops: self.loops,
                rounds: self.loops,
                stays: self.stays,
                is_lossless: self.options.is_lossless,
                delay: self.delay,
                wait_for_subscribers: self.wait_for_subscribers,
                wait_for_readers: self.wait_for_readers,
                spin: i64::try_from(self.spin.as_nanos()).unwrap_or(i64::MAX),
            },
            next: None,
            has_ticked: false,
        };
        let servers = if self.has_control { services::serve(&node, &shared)? } else { Servers::new() };
        Player::start(shared, (node, skipped, servers), playback, source)
    }

    /// Prepares a deterministic replay: the messages come in virtual time, from one call to the
    /// next, and the same program does the same in every run. See [`Replay`].
    ///
    /// Rate, pauses, rounds, delays and waits don't apply.
    ///
    /// # Errors
    /// As for [`start`](Self::start).
    pub fn replay<'a>(
        self,
        clock: &'a VirtualClock,
        executor: &'a Executor,
    ) -> Result<Replay<'a>, PlayError> {
        let plan = Plan::make(&self.options)?;
        Replay::new(plan, self.options.clock, clock, executor)
    }
}

impl fmt::Debug for PlayerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlayerBuilder")
            .field("bags", &self.options.bags)
            .field("topics", &self.options.topics)
            .finish_non_exhaustive()
    }
}
