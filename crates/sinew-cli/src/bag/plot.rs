//! `sinew bag plot`: values, rates and delays over time.

use std::collections::HashMap;
use std::io::IsTerminal as _;

use serde_json::json;
use sinew_bag::{BagMessage, BagReader, Selection};
use sinew_msg::dynamic::{FieldPath, Scalar, Value};

use super::copies::part;
use super::opening::open;
use crate::chart::{self, Series, Values};
use crate::cli::pictures::{BagPlotOptions, TopicField};
use crate::error::Error;
use crate::harmless::one_line;
use crate::output::{json, print, says};

/// Most values of a timeline of rates.
const RATES: f64 = 240.0;
/// Columns and rows of a chart if the output is no terminal.
const SIZE: (usize, usize) = (100, 30);
/// Length of the text that is printed at once.
const AT_ONCE: usize = 1 << 16;

/// Runs `sinew bag plot`.
pub(super) fn plot(options: &BagPlotOptions) -> Result<(), Error> {
    let bag = open(&options.bag)?;
    let plotted = plotted(options, &bag)?;
    let (start, until) = part(&bag, &options.bag, &options.part)?;
    let (begin, end) = bag.times().unwrap_or_default();
    let times = (seconds(begin, start), seconds(begin, end.min(until.saturating_sub(1)).max(start)));
    let topics = plotted.iter().fold(Selection::all(), |all, one| all.topic(&one.topic));
    let series = plotted.iter().map(|one| Series::new(&one_line(&one.name()), times)).collect();
    let mut plot = Plot {
        options,
        begin,
        plotted,
        series,
        counts: Vec::new(),
        paths: HashMap::new(),
        text: String::new(),
    };
    if options.rate {
        plot.counts = vec![vec![0; chart::whole(bins(times))]; plot.plotted.len()];
    }
    let mut lost = 0;
    for message in bag.messages(&topics.from(start).until(until))? {
        let added = message.map_err(Error::from).and_then(|message| plot.add(&message, times));
        match added {
            Err(Error::Bag(error)) => lost += warned(&error.to_string()),
            Err(Error::Undecodable(error)) => lost += warned(&error.to_string()),
            other => other?,
        }
    }
    plot.finish(times)?;
    if lost == 0 { Ok(()) } else { Err(Error::DamagedBag { count: lost }) }
}

fn warned(problem: &str) -> usize {
    says(&format!("warning: {problem}"));
    1
}

/// Returns what is to be plotted: for rates and delays all topics if none is named.
fn plotted(options: &BagPlotOptions, bag: &BagReader) -> Result<Vec<TopicField>, Error> {
    let is_of_topics = options.rate || options.latency;
    if options.fields.is_empty() && is_of_topics {
        let topics = bag.topics().iter().filter(|topic| topic.message_count > 0);
        let mut names: Vec<String> = topics.map(|topic| topic.name.clone()).collect();
        names.dedup();
        return Ok(names.into_iter().map(|topic| TopicField { topic, field: None }).collect());
    }
    for one in &options.fields {
        let hint = match &one.field {
            None if !is_of_topics => "name a field of its messages, such as /imu.linear_acceleration.x",
            Some(_) if is_of_topics => "--rate and --latency are of whole topics: leave out the field",
            _ => continue,
        };
        return Err(Error::PlotField { name: one.name(), hint });
    }
    Ok(options.fields.clone())
}

/// Returns the time since the beginning, in seconds.
fn seconds(begin: u64, time: u64) -> f64 {
    time.saturating_sub(begin) as f64 / 1e9
}

/// Returns the number of parts of the time for which a rate is shown.
fn bins((from, to): (f64, f64)) -> f64 {
    (to - from).ceil().clamp(1.0, RATES)
}

struct Plot<'a> {
    options: &'a BagPlotOptions,
    /// The bag's first time.
    begin: u64,
    plotted: Vec<TopicField>,
    series: Vec<Series>,
    /// For rates the messages of each part of the time.
    counts: Vec<Vec<u64>>,
    /// The fields by their place and the name of the topic's type, which may change.
    paths: HashMap<(usize, String), FieldPath>,
    /// Lines that are still to be printed.
    text: String,
}

impl Plot<'_> {
    fn add(&mut self, message: &BagMessage, times: (f64, f64)) -> Result<(), Error> {
        let time = seconds(self.begin, message.stamps.received);
        let is_of_topic = |one: &TopicField| one.topic == message.topic.name;
        let places: Vec<usize> =
            (0..self.plotted.len()).filter(|at| is_of_topic(&self.plotted[*at])).collect();
        if self.options.rate {
            for place in places {
                let counts = &mut self.counts[place];
                let at = (time - times.0) / (times.1 - times.0).max(f64::MIN_POSITIVE) * counts.len() as f64;
                let last = counts.len() - 1;
                counts[chart::whole(at).min(last)] += 1;
            }
            return Ok(());
        }
        if self.options.latency {
            let (sent, received) = (message.stamps.sent, message.stamps.received);
            let late = (i128::from(received) - i128::from(sent)) as f64 / 1e6;
            return places.into_iter().try_for_each(|place| self.value(place, message.stamps.received, late));
        }
        let decoded = message.decode_dynamic()?;
        for place in places {
            let field = self.plotted[place].field.as_deref().unwrap_or_default();
            let key = (place, message.topic.type_name.clone());
            let path = match self.paths.get(&key) {
                Some(path) => path.clone(),
                None => self.paths.entry(key).or_insert(decoded.message_type().path(field)?).clone(),
            };
            // An element that this message hasn't is no value.
            let Some(part) = decoded.part(&path) else { continue };
            let Some(value) = number(part.value()) else {
                return Err(Error::PlotField {
                    name: self.plotted[place].name(),
                    hint: "it is no number: name a part of it, such as .x or [0]",
                });
            };
            self.value(place, message.stamps.received, value)?;
        }
        Ok(())
    }

    /// Adds a value, or prints it.
    fn value(&mut self, place: usize, received: u64, value: f64) -> Result<(), Error> {
        self.series[place].add(seconds(self.begin, received), value);
        if self.options.json {
            let name = self.plotted[place].name();
            self.text += &json(&json!({"name": name, "time_ns": received, "value": value}))?;
            if self.text.len() > AT_ONCE {
                print(&std::mem::take(&mut self.text))?;
            }
        }
        Ok(())
    }

    /// Ends the series, and shows them.
    fn finish(mut self, (from, to): (f64, f64)) -> Result<(), Error> {
        for (place, counts) in std::mem::take(&mut self.counts).into_iter().enumerate() {
            let width = if to > from { (to - from) / counts.len() as f64 } else { 1.0 };
            for (at, count) in counts.into_iter().enumerate() {
                let middle = from + (at as f64 + 0.5) * width;
                let since = u64::try_from(chart::whole(middle * 1e9)).unwrap_or(u64::MAX);
                self.value(place, self.begin.saturating_add(since), count as f64 / width)?;
            }
        }
        print(&self.text)?;
        if self.series.iter().all(|series| series.count() == 0) {
            return Err(Error::NothingToPlot { bag: self.options.bag.clone() });
        }
        let name = self.options.bag.file_name().unwrap_or_default().to_string_lossy();
        let (what, unit) = match (self.options.rate, self.options.latency) {
            (true, _) => ("messages per second", "Hz"),
            (_, true) => ("time from sending to receiving", "ms"),
            _ => ("values", ""),
        };
        let title = format!("{}: {what}", one_line(&name));
        let values = Values { title, unit: unit.to_owned(), series: self.series };
        match &self.options.output {
            Some(path) => chart::save(&values, path),
            None if self.options.json => Ok(()),
            None => show(&values),
        }
    }
}

/// Shows a chart in the terminal.
fn show(values: &Values) -> Result<(), Error> {
    let is_terminal = std::io::stdout().is_terminal();
    let size = crossterm::terminal::size().ok().filter(|_| is_terminal);
    let (columns, rows) =
        size.map_or(SIZE, |(columns, rows)| (columns.into(), usize::from(rows).saturating_sub(1)));
    let has_colours = is_terminal && std::env::var_os("NO_COLOR").is_none();
    let lines = chart::lines(values, (columns, rows.min(SIZE.1)), has_colours);
    let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    // Names are harmless already; the colours are ours.
    crate::output::print_bytes(text.as_bytes())
}

fn number(value: &Value) -> Option<f64> {
    let Value::Scalar(scalar) = value else { return None };
    Some(match *scalar {
        Scalar::Bool(value) => f64::from(u8::from(value)),
        Scalar::Signed(value) => value as f64,
        Scalar::Unsigned(value) => value as f64,
        Scalar::Float32(value) => value.into(),
        Scalar::Float64(value) => value,
    })
}
