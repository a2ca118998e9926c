//! `sinew topic plot`: numbers of topics over time, as they come.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use sinew::MessageInfo;
use sinew::QoS;
use sinew::graph::EndpointInfo;
use sinew::msg::TypeHash;
use sinew::time::Time;
use sinew_bench::clock::{nanoseconds, now_ns};
use sinew_msg::dynamic::{DynamicMessage, MessageType};
use sinew_shm::Domain;

use super::following::Following;
use super::listening::{Listener, published_ns, wall_ns};
use crate::chart;
use crate::cli::pictures::TopicPlotOptions;
use crate::error::{Error, TypesError};
use crate::harmless::one_line;
use crate::interfaces::{PackageSources, Types};
use crate::output::says;
use crate::plot::{self, Moment, Plot};
use crate::problems::Problems;

/// Messages that wait for this command while it draws.
const WAITING: usize = 256;
/// Time between two drawings.
const DRAW: Duration = Duration::from_millis(100);
/// The time that a rate covers, in seconds.
const RATE: f64 = 1.0;

/// Runs `sinew topic plot`.
pub(super) fn run(options: &TopicPlotOptions) -> Result<(), Error> {
    plot::check(&options.plot)?;
    if let Some(path) = &options.plot.output {
        chart::check(path)?;
    }
    let mut topics: Vec<String> = options.plot.fields.iter().map(|one| one.topic.clone()).collect();
    topics.sort_unstable();
    topics.dedup();
    let has_screen = options.plot.output.is_none() && !options.plot.json;
    let mut following = Following::start(topics, &options.place, ("plot", has_screen), options.duration)?;
    let mut live = Live::new(options, following.has_screen(), wall_ns())?;
    let mut draw_ns = now_ns();
    while following.turn(&mut live)? {
        live.advance()?;
        live.plot.print()?;
        if following.has_screen() && now_ns() >= draw_ns {
            following.draw(|size| live.plot.lines(size), &live.note)?;
            draw_ns = now_ns() + nanoseconds(DRAW);
        }
    }
    live.finish(following.end())
}

/// A plot that gets messages as they come.
struct Live<'a> {
    options: &'a TopicPlotOptions,
    plot: Plot<'a>,
    /// The beginning by the steady clock: the wall clock may jump.
    begin_ns: i64,
    types: Types,
    /// Whether only the last seconds are shown.
    is_window: bool,
    /// For rates the messages of the current second, from the topic's first message on.
    counts: Vec<Option<Count>>,
    /// Those of the messages that could not be decoded.
    problems: Problems,
    /// What the screen says beside the keys.
    note: String,
}

/// The messages of one topic since a time, in seconds.
#[derive(Clone, Copy)]
struct Count {
    since: f64,
    messages: u64,
}

impl<'a> Live<'a> {
    /// `begin`: the wall time, in nanoseconds since the epoch.
    fn new(options: &'a TopicPlotOptions, is_window: bool, begin: u64) -> Result<Self, Error> {
        let window = options.window.as_secs_f64();
        let (name, length) = match is_window {
            true => (format!("the last {window} s"), window),
            // It grows.
            false => {
                (humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_nanos(begin)).to_string(), 1.0)
            }
        };
        let fields = options.plot.fields.clone();
        let counts = vec![None; fields.len()];
        let plot = Plot::new(&options.plot, fields, &name, (begin, (0.0, length)));
        let number = options.place.domain().map_err(Error::DomainNumber)?;
        let domain = Domain::find(options.place.dir.as_deref(), number).ok().flatten();
        let types = Types::new(PackageSources::open(&options.definitions)?, domain);
        let note = "no values yet".to_owned();
        let begin_ns = now_ns();
        Ok(Self { options, plot, begin_ns, types, is_window, counts, problems: Problems::default(), note })
    }

    /// Returns the seconds since the beginning.
    fn now(&self) -> f64 {
        (now_ns() - self.begin_ns) as f64 / 1e9
    }

    /// Goes on to the current time.
    fn advance(&mut self) -> Result<(), Error> {
        let now = self.now();
        for place in 0..self.counts.len() {
            while let Some(Count { since, messages }) =
                self.counts[place].filter(|count| count.since + RATE <= now)
            {
                self.counts[place] = Some(Count { since: since + RATE, messages: 0 });
                self.add_rate(place, since, RATE, messages)?;
            }
        }
        for series in self.plot.series() {
            if self.is_window { series.scroll(now) } else { series.grow(now) }
        }
        if self.problems.count() == 0 && !self.plot.is_empty() {
            self.note.clear();
        }
        Ok(())
    }

    /// Adds a rate in the middle of its time.
    fn add_rate(&mut self, place: usize, from: f64, length: f64, messages: u64) -> Result<(), Error> {
        let middle = from + length / 2.0;
        let ago = nanoseconds(Duration::from_secs_f64((self.now() - middle).max(0.0)));
        let moment = Moment { seconds: middle, wall: wall_ns().saturating_sub(ago.cast_unsigned()) };
        self.plot.value(place, moment, messages as f64 / length)
    }

    fn warn(&mut self, problem: &str) {
        let is_new = self.problems.add(problem);
        if self.is_window {
            self.note = one_line(problem);
        } else if is_new {
            says(&format!("warning: {problem}"));
        }
    }

    fn finish(mut self, lost: u64) -> Result<(), Error> {
        self.advance()?;
        let now = self.now();
        for place in 0..self.counts.len() {
            // There was no whole second.
            if let Some(Count { since, messages }) = self.counts[place]
                && self.plot.series()[place].count() == 0
            {
                self.add_rate(place, since, (now - since).max(1e-3), messages)?;
            }
        }
        self.plot.print()?;
        if lost > 0 {
            says(&format!(
                "warning: {lost} messages were lost on the way, or came faster than they were read"
            ));
        }
        // A user who ends the screen knows what it showed.
        if self.plot.is_empty() && !self.is_window {
            return Err(Error::NothingCame { what: "values" });
        }
        self.plot.show()?;
        match self.problems.count() {
            0 => Ok(()),
            count => Err(Error::Unread { count }),
        }
    }
}

/// The messages of one topic and type.
struct Known {
    /// The places of its topic.
    places: Vec<usize>,
    /// The type, unless only times are needed.
    message_type: Option<Arc<MessageType>>,
}

impl Listener for Live<'_> {
    type Known = Known;

    /// New messages only: retained ones would have times before the beginning.
    fn qos(&self, _: &EndpointInfo) -> QoS {
        QoS::new().best_effort().keep_last(WAITING)
    }

    fn know(&mut self, publisher: &EndpointInfo, hash: TypeHash) -> Result<Known, Error> {
        let places = self.plot.places(&publisher.name);
        if self.options.plot.is_of_topics() {
            return Ok(Known { places, message_type: None });
        }
        let name = publisher.type_name.parse().map_err(TypesError::from)?;
        let message_type = self.types.message(&name, Some(hash))?;
        for &place in &places {
            self.plot.path(place, &message_type)?; // a field that isn't there is an error now
        }
        Ok(Known { places, message_type: Some(message_type) })
    }

    fn take(&mut self, known: &Known, encoded: &[u8], info: &MessageInfo) -> Result<bool, Error> {
        self.advance()?;
        if self.options.plot.rate {
            let since = self.now();
            for &place in &known.places {
                self.counts[place].get_or_insert(Count { since, messages: 0 }).messages += 1;
            }
            return Ok(true);
        }
        let seconds = (self.now() - info.latency().as_secs_f64()).max(0.0);
        let moment = Moment { seconds, wall: published_ns(info) };
        match &known.message_type {
            None => {
                // Less than nothing if the clock of another host is ahead.
                let [sent, received] = [info.source_time(), info.reception_time()].map(Time::nanoseconds);
                let late = received.saturating_sub(sent) as f64 / 1e6;
                for &place in &known.places {
                    self.plot.value(place, moment, late)?;
                }
            }
            Some(message_type) => match DynamicMessage::decode(message_type, encoded) {
                Ok(message) => self.plot.add(&known.places, moment, &message)?,
                Err(error) => {
                    self.warn(&format!("a message of {} can't be read: {error}", message_type.name()))
                }
            },
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        options: TopicPlotOptions,
    }

    /// Eleven days.
    const JUMP: u64 = 1_000_000_000_000_000;

    #[test]
    fn a_jump_of_the_wall_clock_changes_neither_rates_nor_the_window() {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let place = directory.path().to_str().unwrap();
        let line = ["plot", "--rate", "/a", "--window", "0.001", "--dir", place, "--domain", "0"];
        let options = Line::parse_from(line).options;
        // Forward and back.
        for begin in [wall_ns() - JUMP, wall_ns() + JUMP] {
            let mut live = Live::new(&options, true, begin).unwrap();
            live.counts[0] = Some(Count { since: 0.0, messages: 1 });
            let window = |live: &mut Live<'_>| live.plot.series()[0].times();
            assert_eq!(window(&mut live), (0.0, 0.001));
            let has_moved = (0..10_000_000).any(|_| {
                live.advance().unwrap();
                window(&mut live).1 > 0.001
            });
            assert!(has_moved, "the window stands still");
            let rates = live.plot.series()[0].count();
            assert!(rates < 1000, "{rates} rates of one moment");
        }
    }
}
