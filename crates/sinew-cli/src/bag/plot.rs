//! `sinew bag plot`: values, rates and delays over time.

use std::collections::BTreeMap;

use sinew_bag::{BagMessage, BagReader, Selection};

use super::copies::part;
use super::opening::open;
use crate::chart;
use crate::cli::pictures::{BagPlotOptions, TopicField};
use crate::error::Error;
use crate::output::says;
use crate::plot::{self, Plot};

/// Most values of a timeline of rates.
const RATES: f64 = 240.0;

/// Runs `sinew bag plot`.
pub(super) fn plot(options: &BagPlotOptions) -> Result<(), Error> {
    let bag = open(&options.bag)?;
    let plotted = plotted(options, &bag)?;
    let (start, until) = part(&bag, &options.bag, &options.part)?;
    let (begin, end) = bag.times().unwrap_or_default();
    let times = (seconds(begin, start), seconds(begin, end.min(until.saturating_sub(1)).max(start)));
    let topics = plotted.iter().fold(Selection::all(), |all, one| all.topic(&one.topic));
    let name = options.bag.file_name().unwrap_or_default().to_string_lossy();
    let plot = Plot::new(&options.plot, plotted, &name, (begin, times));
    let mut counts = Vec::new();
    if options.plot.rate {
        counts = vec![vec![0; chart::whole(bins(times))]; plot.plotted().len()];
    }
    let mut adding = Adding { options, plot, times, counts };
    let mut lost = 0;
    // By topic the number of messages that can't be decoded, and the first problem.
    let mut undecodable: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for message in bag.messages(&topics.from(start).until(until))? {
        let message = match message {
            Ok(message) => message,
            Err(damage) => {
                says(&format!("warning: {damage}"));
                lost += 1;
                continue;
            }
        };
        match adding.add(&message) {
            Err(Error::Undecodable(problem)) => {
                let of_topic = undecodable.entry(message.topic.name.clone());
                of_topic.or_insert_with(|| (0, problem.to_string())).0 += 1;
                lost += 1;
            }
            other => other?,
        }
    }
    for (topic, (count, first)) in undecodable {
        let further = if count > 1 { format!(" ({count} messages of {topic})") } else { String::new() };
        says(&format!("warning: {first}{further}"));
    }
    adding.finish()?;
    if lost == 0 { Ok(()) } else { Err(Error::DamagedBag { count: lost }) }
}

/// Returns what is to be plotted: for rates and delays all topics if none is named.
fn plotted(options: &BagPlotOptions, bag: &BagReader) -> Result<Vec<TopicField>, Error> {
    if options.plot.fields.is_empty() && options.plot.is_of_topics() {
        let topics = bag.topics().iter().filter(|topic| topic.message_count > 0);
        let mut names: Vec<String> = topics.map(|topic| topic.name.clone()).collect();
        names.dedup();
        return Ok(names.into_iter().map(|topic| TopicField { topic, field: None }).collect());
    }
    plot::check(&options.plot)?;
    Ok(options.plot.fields.clone())
}

/// Returns the time since the beginning, in seconds.
fn seconds(begin: u64, time: u64) -> f64 {
    time.saturating_sub(begin) as f64 / 1e9
}

/// Returns the number of parts of the time for which a rate is shown.
fn bins((from, to): (f64, f64)) -> f64 {
    (to - from).ceil().clamp(1.0, RATES)
}

/// A plot that gets the messages of a bag.
struct Adding<'a> {
    options: &'a BagPlotOptions,
    plot: Plot<'a>,
    /// The first and the last time, in seconds since the bag's first.
    times: (f64, f64),
    /// For rates the messages of each part of the time.
    counts: Vec<Vec<u64>>,
}

impl Adding<'_> {
    fn add(&mut self, message: &BagMessage) -> Result<(), Error> {
        let received = message.stamps.received;
        let places = self.plot.places(&message.topic.name);
        if self.options.plot.rate {
            let (from, to) = self.times;
            let part = (self.plot.seconds(received) - from) / (to - from).max(f64::MIN_POSITIVE);
            for place in places {
                let counts = &mut self.counts[place];
                let at = chart::whole(part * counts.len() as f64).min(counts.len() - 1);
                counts[at] += 1;
            }
            return Ok(());
        }
        let moment = self.plot.moment(received);
        if self.options.plot.latency {
            let late = (i128::from(received) - i128::from(message.stamps.sent)) as f64 / 1e6;
            return places.into_iter().try_for_each(|place| self.plot.value(place, moment, late));
        }
        self.plot.add(&places, moment, &message.decode_dynamic()?)
    }

    /// Ends the series, and shows them.
    fn finish(mut self) -> Result<(), Error> {
        let (from, to) = self.times;
        for (place, counts) in self.counts.into_iter().enumerate() {
            let width = if to > from { (to - from) / counts.len() as f64 } else { 1.0 };
            for (at, count) in counts.into_iter().enumerate() {
                let middle = self.plot.time(from + (at as f64 + 0.5) * width);
                self.plot.value(place, self.plot.moment(middle), count as f64 / width)?;
            }
        }
        self.plot.print()?;
        if self.plot.is_empty() {
            return Err(Error::NothingToPlot { bag: self.options.bag.clone() });
        }
        self.plot.show()
    }
}
