//! Numbers of topics over time: the parts that `sinew bag plot` and `sinew topic plot` share.

use std::io::IsTerminal as _;
use std::sync::Arc;

use serde_json::json;
use sinew_msg::dynamic::{DynamicMessage, FieldPath, MessageType, Scalar, Value};

use crate::chart::{self, Series, Values};
use crate::cli::pictures::{PlotOptions, TopicField};
use crate::error::Error;
use crate::harmless::one_line;
use crate::output::{json, print, print_bytes};

/// Columns and rows of a chart if the output is no terminal.
const SIZE: (usize, usize) = (100, 30);
/// Length of the text that is printed at once.
const AT_ONCE: usize = 1 << 16;

/// Checks that fields are named for values, and topics for rates and delays.
pub(crate) fn check(options: &PlotOptions) -> Result<(), Error> {
    let is_of_topics = options.is_of_topics();
    for one in &options.fields {
        let hint = match &one.field {
            None if !is_of_topics => "name a field of its messages, such as /imu.linear_acceleration.x",
            Some(_) if is_of_topics => "--rate and --latency are of whole topics: leave out the field",
            _ => continue,
        };
        return Err(Error::PlotField { name: one.name(), hint });
    }
    Ok(())
}

/// The time of a value.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    /// Where it is drawn, in seconds since the beginning.
    pub(crate) seconds: f64,
    /// The wall time that is printed, in nanoseconds since the epoch.
    pub(crate) wall: u64,
}

/// A plot that gets its values.
pub(crate) struct Plot<'a> {
    options: &'a PlotOptions,
    /// Its first time, in nanoseconds since the epoch.
    begin: u64,
    plotted: Vec<TopicField>,
    values: Values,
    /// The fields by their place and the topic's type, which may change: two versions of a type
    /// have the same name.
    paths: Vec<(usize, Arc<MessageType>, FieldPath)>,
    /// Lines that are still to be printed.
    text: String,
}

impl<'a> Plot<'a> {
    /// Makes a plot of this name, for times from the first to the last of these, in seconds since
    /// `begin`.
    pub(crate) fn new(
        options: &'a PlotOptions,
        plotted: Vec<TopicField>,
        name: &str,
        (begin, times): (u64, (f64, f64)),
    ) -> Self {
        let (what, unit) = match (options.rate, options.latency) {
            (true, _) => ("messages per second", "Hz"),
            (_, true) => ("time from sending to receiving", "ms"),
            _ => ("values", ""),
        };
        let series = plotted.iter().map(|one| Series::new(&one_line(&one.name()), times)).collect();
        let title = format!("{}: {what}", one_line(name));
        let values = Values { title, unit: unit.to_owned(), series };
        Self { options, begin, plotted, values, paths: Vec::new(), text: String::new() }
    }

    /// Returns the seconds since the beginning.
    pub(crate) fn seconds(&self, time: u64) -> f64 {
        time.saturating_sub(self.begin) as f64 / 1e9
    }

    /// Returns the time of that many seconds since the beginning.
    pub(crate) fn time(&self, seconds: f64) -> u64 {
        let since = u64::try_from(chart::whole(seconds * 1e9)).unwrap_or(u64::MAX);
        self.begin.saturating_add(since)
    }

    /// Returns the moment of a wall time.
    pub(crate) fn moment(&self, time: u64) -> Moment {
        Moment { seconds: self.seconds(time), wall: time }
    }

    /// Returns its topics and fields.
    pub(crate) fn plotted(&self) -> &[TopicField] {
        &self.plotted
    }

    /// Returns the places of a topic.
    pub(crate) fn places(&self, topic: &str) -> Vec<usize> {
        (0..self.plotted.len()).filter(|at| self.plotted[*at].topic == topic).collect()
    }

    /// Returns its series.
    pub(crate) fn series(&mut self) -> &mut [Series] {
        &mut self.values.series
    }

    /// Returns `true` if it has no values.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.series.iter().all(|series| series.count() == 0)
    }

    /// Finds the field of a place in a type of its topic.
    pub(crate) fn path(&mut self, place: usize, message_type: &Arc<MessageType>) -> Result<FieldPath, Error> {
        let known = self.paths.iter().find(|(at, of, _)| *at == place && Arc::ptr_eq(of, message_type));
        if let Some((.., path)) = known {
            return Ok(path.clone());
        }
        let path = message_type.path(self.plotted[place].field.as_deref().unwrap_or_default())?;
        self.paths.push((place, Arc::clone(message_type), path.clone()));
        Ok(path)
    }

    /// Adds the values of a message.
    pub(crate) fn add(
        &mut self,
        places: &[usize],
        moment: Moment,
        message: &DynamicMessage,
    ) -> Result<(), Error> {
        for &place in places {
            let path = self.path(place, message.message_type())?;
            // An element that this message hasn't is no value.
            let Some(part) = message.part(&path) else { continue };
            let Some(value) = number(part.value()) else {
                return Err(Error::PlotField {
                    name: self.plotted[place].name(),
                    hint: "it is no number: name a part of it, such as .x or [0]",
                });
            };
            self.value(place, moment, value)?;
        }
        Ok(())
    }

    /// Adds a value; with `--json` also prints it, or collects it for that.
    pub(crate) fn value(&mut self, place: usize, moment: Moment, value: f64) -> Result<(), Error> {
        self.values.series[place].add(moment.seconds, value);
        if self.options.json {
            let name = self.plotted[place].name();
            self.text += &json(&json!({"name": name, "time_ns": moment.wall, "value": value}))?;
            if self.text.len() > AT_ONCE {
                self.print()?;
            }
        }
        Ok(())
    }

    /// Prints the values that were collected.
    pub(crate) fn print(&mut self) -> Result<(), Error> {
        if self.text.is_empty() { Ok(()) } else { print(&std::mem::take(&mut self.text)) }
    }

    /// Returns its lines for a terminal of this many columns and rows.
    pub(crate) fn lines(&self, size: (usize, usize)) -> Vec<String> {
        let has_colours = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        chart::lines(&self.values, size, has_colours)
    }

    /// Writes the file of `--output`; without one, draws on standard output, unless that has the
    /// values as JSON.
    pub(crate) fn show(&self) -> Result<(), Error> {
        match &self.options.output {
            Some(path) => chart::save(&self.values, path),
            None if self.options.json => Ok(()),
            None => self.draw(),
        }
    }

    fn draw(&self) -> Result<(), Error> {
        let is_terminal = std::io::stdout().is_terminal();
        let size = crossterm::terminal::size().ok().filter(|_| is_terminal);
        let (columns, rows) =
            size.map_or(SIZE, |(columns, rows)| (columns.into(), usize::from(rows).saturating_sub(1)));
        let lines = self.lines((columns, rows.min(SIZE.1)));
        let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        // Names are harmless already; the colours are ours.
        print_bytes(text.as_bytes())
    }
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

#[cfg(test)]
mod tests {
    use sinew_msg::definition::{Definition, Definitions};

    use super::*;

    /// Returns a type of that name with these fields.
    fn point(fields: &str) -> Arc<MessageType> {
        let name = "robot_msgs/msg/Point".parse().unwrap();
        let mut definitions = Definitions::new();
        definitions.add(Definition::parse(&name, "Point.msg", fields).unwrap()).unwrap();
        Arc::new(MessageType::of(&definitions.resolve().unwrap(), &name).unwrap())
    }

    #[test]
    fn two_versions_of_a_type_have_their_own_fields() {
        let field = TopicField { topic: "/at".to_owned(), field: Some("x".to_owned()) };
        let options =
            PlotOptions { fields: vec![field], output: None, rate: false, latency: false, json: false };
        let mut plot = Plot::new(&options, options.fields.clone(), "test", (0, (0.0, 1.0)));
        for (time, fields) in [(0, "float64 x\nfloat64 y"), (1_000_000_000, "float64 y\nfloat64 x")] {
            let message = DynamicMessage::from_yaml(&point(fields), "{x: 1.0, y: 2.0}").unwrap();
            plot.add(&[0], plot.moment(time), &message).unwrap();
        }
        assert_eq!(plot.series()[0].samples(), [(0.0, 1.0), (1.0, 1.0)]);
    }
}
