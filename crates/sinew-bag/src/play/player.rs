//! The handle of a player.

use super::error::PlayError;
use super::playback::Playback;
use super::played::PlayedMessage;
use super::services::Servers;
use super::source::{Source, Span};
use super::state::{AtPanic, PlayEnd, Shared};
use super::statistics::{PlayerStatistics, Progress, SkippedTopic};
use sinew::__private::locks::Mutex;
use sinew::time::Time;
use sinew::{Duration, MessageInfo, Node};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

/// Plays bags: publishes their messages with the recorded QoS, paced by the steady clock. From
/// [`Player::builder`].
///
/// A message is due at the beginning plus its time in the bag, divided by the rate: no error adds
/// up, however long the bag. One thread reads ahead and uncompresses; the other copies the next
/// message to where it will be published, sleeps until it is due, and publishes it. A publisher
/// waits for slow readers as its QoS says, and no longer, unless the player is
/// [lossless](crate::PlayerBuilder::lossless).
///
/// At the [start offset](crate::PlayerBuilder::start_offset) and after each [`seek`](Self::seek),
/// latched (transient local) topics first publish the messages that their publishers retained at
/// that time.
///
/// Clones are the same player. It ends with its last handle: dropping that stops it, and waits for
/// its threads. All methods may be called on any thread; each takes a short lock.
///
/// ```
/// use sinew::prelude::*;
/// use sinew_bag::{PlayEnd, Player};
/// use sinew_interfaces::std_msgs::msg::String as Text;
///
/// # use sinew_bag::{BagWriter, Stamps, TopicDefinition};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("drive");
/// # let mut writer = BagWriter::create(&path, Default::default())?;
/// # let chatter = writer.add_topic(&TopicDefinition::of::<Text>("/chatter").unwrap())?;
/// # for number in 0..3 {
/// #     writer.write_message(chatter, Stamps::at(number), &Text { data: format!("hello {number}") })?;
/// # }
/// # writer.close()?;
/// let context = Context::builder().shared_memory(false).build()?;
/// let listener = context.node("listener")?.subscription::<Text>("chatter").create()?;
///
/// let player = Player::builder(&context).bags([&path]).rate(2.0).start()?;
/// assert_eq!(player.wait(), PlayEnd::Finished);
/// assert_eq!(player.statistics().published(), 3);
/// let (text, _info) = listener.take().unwrap();
/// assert_eq!(text.data, "hello 0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "a player stops when its last handle is dropped"]
pub struct Player(Arc<PlayerCore>);

#[derive(Debug)]
struct PlayerCore {
    shared: Arc<Shared>,
    node: Node,
    skipped: Vec<SkippedTopic>,
    _servers: Servers,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Player {
    pub(super) fn start(
        shared: Arc<Shared>,
        (node, skipped, servers): (Node, Vec<SkippedTopic>, Servers),
        playback: Playback,
        source: Source,
    ) -> Result<Self, PlayError> {
        let threads = Mutex::default();
        let core = PlayerCore { shared: shared.clone(), node, skipped, _servers: servers, threads };
        let player = Self(Arc::new(core));
        // An error drops the player, which ends the first thread.
        let spawn = |name: &str, run: Box<dyn FnOnce() + Send>| {
            let thread = thread::Builder::new().name(name.to_owned()).spawn(run);
            thread.map_err(|source| PlayError::Thread { source })
        };
        let at_panic = AtPanic(shared.clone(), Shared::reading_failed);
        let read = move || {
            let _at_panic = at_panic;
            shared.read_ahead(source);
        };
        let reading = spawn("sinew-bag-read", Box::new(read))?;
        player.0.threads.lock().push(reading);
        let at_panic = AtPanic(playback.shared.clone(), Shared::publishing_failed);
        let play = move || {
            let _at_panic = at_panic;
            playback.run();
        };
        let playing = spawn("sinew-bag-play", Box::new(play))?;
        player.0.threads.lock().push(playing);
        Ok(player)
    }

    /// Pauses. A message that is being published is still delivered.
    pub fn pause(&self) {
        self.0.shared.change(|state, now| state.pace.pause(now));
    }

    /// Goes on from where it stands.
    pub fn resume(&self) {
        self.0.shared.change(|state, now| state.pace.resume(now));
    }

    /// Pauses, or goes on.
    pub fn toggle(&self) {
        self.0.shared.toggle();
    }

    /// Returns `true` if it is paused.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.0.shared.state().pace.is_paused()
    }

    /// Publishes the next `count` messages at once, and pauses. Returns how many there were: fewer
    /// at the end of the bags. Blocks until they are published.
    pub fn step(&self, count: u64) -> u64 {
        let (done, published) = mpsc::channel();
        self.0.shared.step(count, move |count| {
            // The receiver waits below.
            let _ = done.send(count);
        });
        published.recv().unwrap_or(0)
    }

    /// Goes to a time of the bags, in nanoseconds since the epoch, forwards or backwards; a time
    /// outside the part that is played counts as its first or last one. Returns `false` if the
    /// player has ended.
    ///
    /// Latched topics then publish what they retained at that time, also while the player is
    /// paused. A topic that hadn't published anything by then keeps what it has.
    pub fn seek(&self, time: u64) -> bool {
        self.0.shared.seek(time)
    }

    /// Plays once more, from this long after the first message of the bags on and this much of
    /// their time (`Duration::MAX`: up to the end), within what the player was started with.
    /// Everything else is as before; a player that is paused begins paused. Later rounds and seeks
    /// stay within this part.
    ///
    /// Returns `false` unless the player [stays](crate::PlayerBuilder::stay_at_end) and [has
    /// finished](Self::is_finished).
    ///
    /// ```
    /// # use sinew::prelude::*;
    /// # use sinew_bag::{BagWriter, Player, Stamps, TopicDefinition};
    /// # use sinew_interfaces::std_msgs::msg::String as Text;
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("drive");
    /// # let mut writer = BagWriter::create(&path, Default::default())?;
    /// # let chatter = writer.add_topic(&TopicDefinition::of::<Text>("/chatter").unwrap())?;
    /// # writer.write_message(chatter, Stamps::at(0), &Text::default())?;
    /// # writer.close()?;
    /// # let context = Context::builder().shared_memory(false).build()?;
    /// let player = Player::builder(&context).bags([&path]).stay_at_end().start()?;
    /// while !player.is_finished() {
    ///     player.wait_for(Duration::from_millis(1));
    /// }
    /// assert!(player.play_again(Duration::ZERO, Duration::MAX));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn play_again(&self, start_offset: Duration, duration: Duration) -> bool {
        let start = self.0.shared.span.begin.saturating_add(nanoseconds(start_offset));
        self.0.shared.play_again(start, start.saturating_add(nanoseconds(duration)))
    }

    /// Returns `true` if everything is played and the player
    /// [stays](crate::PlayerBuilder::stay_at_end), or has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        let state = self.0.shared.state();
        state.is_finished || state.end.is_some()
    }

    /// Sets the rate, from the present time of the bags on.
    ///
    /// # Errors
    /// [`PlayError::Rate`] if it is no positive number.
    pub fn set_rate(&self, rate: f64) -> Result<(), PlayError> {
        if self.0.shared.set_rate(rate) { Ok(()) } else { Err(PlayError::Rate { rate }) }
    }

    /// Returns the rate; infinite: as fast as possible.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.0.shared.state().pace.rate()
    }

    /// Stops playing, for good. Returns at once; [`wait`](Self::wait) waits for the end.
    pub fn stop(&self) {
        self.0.shared.stop();
    }

    /// Waits until everything is played, or the player is stopped, or its context is shut down, or
    /// one of its threads panics. While it is paused, it doesn't end by itself, nor if it
    /// [stays](crate::PlayerBuilder::stay_at_end).
    pub fn wait(&self) -> PlayEnd {
        loop {
            if let Some(end) = self.wait_for(Duration::MAX) {
                return end;
            }
        }
    }

    /// As [`wait`](Self::wait), for `timeout` at most; `None` if it is still playing.
    pub fn wait_for(&self, timeout: Duration) -> Option<PlayEnd> {
        self.0.shared.wait(timeout)
    }

    /// Returns the place in the bags.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let now = super::state::now();
        let state = self.0.shared.state();
        let Span { start, end, .. } = self.0.shared.span;
        let position = state.within(state.pace.time(now));
        Progress { position, start, end, rounds: state.rounds, seeks: state.generation }
    }

    /// Returns the time in the bags of a message that this player published, by the metadata with
    /// which a subscription got it. `None`: another publisher published it, or the player has
    /// forgotten it, since 1000 messages of its topic came later, or as many as
    /// [`remember`](Self::remember) says.
    ///
    /// ```
    /// # use sinew::prelude::*;
    /// # use sinew_bag::{BagWriter, Player, Stamps, TopicDefinition};
    /// # use sinew_interfaces::std_msgs::msg::String as Text;
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("drive");
    /// # let mut writer = BagWriter::create(&path, Default::default())?;
    /// # let chatter = writer.add_topic(&TopicDefinition::of::<Text>("/chatter").unwrap())?;
    /// # for time in [70, 80] {
    /// #     writer.write_message(chatter, Stamps::at(time), &Text::default())?;
    /// # }
    /// # writer.close()?;
    /// # let context = Context::builder().shared_memory(false).build()?;
    /// let listener = context.node("listener")?.subscription::<Text>("chatter").create()?;
    /// let player = Player::builder(&context).bags([&path]).start_paused().start()?;
    /// player.step(1);
    /// player.seek(80); // the message still waits for its reader
    /// let (_text, info) = listener.take().unwrap();
    /// let played = player.played(&info).unwrap();
    /// assert_eq!((played.time, played.seeks, player.progress().seeks), (70, 0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn played(&self, message: &MessageInfo) -> Option<PlayedMessage> {
        self.0.shared.state().played.find(message.publisher(), message.publication_sequence())
    }

    /// Makes [`played`](Self::played) know at least the last `messages` messages of each topic: for
    /// subscriptions in which more than 1000 messages wait. Each takes 24 bytes.
    pub fn remember(&self, messages: usize) {
        self.0.shared.state().played.remember(messages);
    }

    /// Returns the time of the bags at a moment of the steady clock, such as that at which a message
    /// of another publisher came: nanoseconds since the epoch. A moment before the last pause, seek
    /// or change of the rate counts as the moment of that change.
    #[must_use]
    pub fn time_at(&self, moment: Time) -> u64 {
        let state = self.0.shared.state();
        state.within(state.pace.time(moment.nanoseconds()))
    }

    /// Returns the figures. Copies them: some KB.
    #[must_use]
    pub fn statistics(&self) -> PlayerStatistics {
        self.0.shared.state().statistics.clone()
    }

    /// Returns the damage that was found so far, as sentences. The messages that it cost are not
    /// played.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        self.0.shared.state().problems.clone()
    }

    /// Returns the selected topics that can't be played.
    #[must_use]
    pub fn skipped(&self) -> &[SkippedTopic] {
        &self.0.skipped
    }

    /// Returns the node that publishes.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.0.node
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl Drop for PlayerCore {
    fn drop(&mut self) {
        self.shared.stop();
        let threads = std::mem::take(&mut *self.threads.lock());
        for thread in threads {
            // A listener that the publishing thread runs may hold the last handle.
            if thread.thread().id() != thread::current().id() {
                // A panic has reported itself.
                let _ = thread.join();
            }
        }
    }
}
