//! Scenario `latest`: one process writes a value as often as it can, another reads the newest one
//! as often as it can. Every word is written, and every word is read. The reader takes a newer
//! value if there is one, and otherwise reads the value that it holds again.
//!
//! Every word of a value is the time at which its write began. So a reader knows how old the value
//! is.
//!
//! [`LatestSpan`], [`write()`] and [`read`] measure every library.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::QoS;
use sinew_shm::raw::Variable;

use crate::options::{LatestCase, LatestWay};
use crate::payload::{Payload, for_size, whole};
use crate::{
    Case, Error, Figures, Floor, Ground, Measuring, Meter, MultiProcess, Part, Process, Samples, Usage,
    matched, nanoseconds, now_ns, one, sleep_until,
};

/// Number of samples that each side keeps.
const ROOM: usize = 1 << 16;

/// Time until both sides begin: the other process has to be notified first.
const BEFORE: Duration = Duration::from_millis(20);

/// The span in which both sides write and read, on the clock that all processes share. The first
/// tenth warms up.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct LatestSpan {
    start_ns: i64,
    counts_from_ns: i64,
    until_ns: i64,
}

impl LatestSpan {
    /// Makes a span of this length, starting after enough time to send it to another process.
    pub fn soon(time: Duration) -> Self {
        let start_ns = now_ns() + nanoseconds(BEFORE);
        let counts_from_ns = start_ns + nanoseconds(time / 10);
        Self { start_ns, counts_from_ns, until_ns: start_ns + nanoseconds(time) }
    }

    /// Waits until the span begins.
    fn begin(self) -> Passing {
        sleep_until(self.start_ns);
        Passing { span: self, meter: Meter::start(), now_ns: now_ns() }
    }
}

/// A span in progress. The clock is read once between two writes, or two reads.
struct Passing {
    span: LatestSpan,
    meter: Meter,
    now_ns: i64,
}

impl Passing {
    /// Returns the start time of the next operation; `None` once the time is over.
    fn next(&self) -> Option<i64> {
        (self.now_ns < self.span.until_ns).then_some(self.now_ns)
    }

    /// Returns the current time as the end of an operation; `None` during the warm-up.
    fn ended(&mut self) -> Option<i64> {
        let counts = self.now_ns >= self.span.counts_from_ns;
        self.now_ns = now_ns();
        counts.then_some(self.now_ns)
    }
}

/// A writer's results.
#[derive(Debug)]
pub struct Writes {
    /// Duration of each write.
    samples: Samples,
    usage: Usage,
}

/// Writes by calling `write` with the content of every word of the value: the time, which never
/// goes back. Records how long each call took.
///
/// # Errors
///
/// The errors of `write`.
pub fn write<E>(span: LatestSpan, mut write: impl FnMut(u64) -> Result<(), E>) -> Result<Writes, E> {
    let mut samples = Samples::with_room_for(ROOM);
    let mut passing = span.begin();
    while let Some(began) = passing.next() {
        write(began.cast_unsigned())?;
        if let Some(ended) = passing.ended() {
            samples.record(ended - began);
        }
    }
    Ok(Writes { samples, usage: passing.meter.usage() })
}

/// A reader's results.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Reads {
    /// Duration of each read.
    samples: Samples,
    /// Age of each value at the end of its read: the time since its write began.
    ages: Samples,
    /// Number of values read, including repeated ones.
    count: u64,
    /// Values with words that differ.
    torn: u64,
    /// Values older than the one before.
    back: u64,
    last: u64,
    usage: Usage,
}

/// Reads by calling `read`, which passes the words of the newest value to [`Reads::note`], unless
/// there is none yet. A read that began in time counts, even if it ends later.
///
/// # Errors
///
/// The errors of `read`.
pub fn read<E>(span: LatestSpan, mut read: impl FnMut(&mut Reads) -> Result<(), E>) -> Result<Reads, E> {
    let room = || Samples::with_room_for(ROOM);
    let mut reads = Reads { samples: room(), ages: room(), ..Reads::default() };
    let mut passing = span.begin();
    while let Some(began) = passing.next() {
        let before = reads.count;
        read(&mut reads)?;
        if let (Some(ended), true) = (passing.ended(), reads.count > before) {
            reads.samples.record(ended - began);
            reads.ages.record(ended - reads.last.cast_signed());
        }
    }
    Ok(Reads { usage: passing.meter.usage(), ..reads })
}

impl Reads {
    /// Reads every word of a value.
    #[inline]
    pub fn note(&mut self, words: &[u64]) {
        self.count += 1;
        self.torn += u64::from(whole(std::hint::black_box(words)).is_none());
        self.back += u64::from(words[0] < self.last);
        self.last = words[0];
    }

    /// Returns the figures of one round: `publish_p50_ns` is that of a write, the others are those
    /// of a read. A torn value counts as lost, and one that is older than the one before as
    /// reordered.
    pub fn figures(&self, writes: &Writes) -> Figures {
        let figures = Figures::of(&self.samples, 1).faulty(self.torn, self.back);
        Figures {
            age_p50_ns: self.ages.p50(1),
            publish_p50_ns: writes.samples.p50(1),
            ..figures.using(self.usage + writes.usage)
        }
    }
}

/// Only the newest value is kept.
const NEWEST: QoS = QoS::new().keep_last(1);

/// P50 and so on are those of a read, `publish_p50_ns` is that of a write, and `age_p50_ns` is the
/// age of a value at the end of its read.
impl Case for LatestCase {
    fn floors(&self) -> Result<Vec<Floor>, Error> {
        Ok(vec![Floor::line2()])
    }

    fn needs_two_cores(&self) -> bool {
        true
    }

    fn round(&self, ground: &Ground, time: Duration) -> Result<Figures, Error> {
        ground.measure(self, time)
    }
}

impl MultiProcess for LatestCase {
    const SCENARIO: &'static str = "latest";

    fn measure(part: &Part<Self>) -> Result<Figures, Error> {
        for_size!(one(&part.case.size), write_all(part))
    }

    fn play(part: &Part<Self>, measuring: Measuring) -> Result<(), Error> {
        for_size!(one(&part.case.size), read_all(part, measuring))
    }
}

/// The name of the variable.
const VALUE: &str = "value";

/// Measures one round: this process writes.
fn write_all<P: Payload>(part: &Part<LatestCase>) -> Result<Figures, Error> {
    let mut other = part.start(1)?;
    if part.case.way == LatestWay::Variable {
        return write_variable(one(&part.case.size), part, other);
    }
    let context = part.context()?;
    let publisher = context.node("writer")?.publisher::<P>("value").qos(NEWEST).create()?;
    other.hear::<()>()?;
    matched(&publisher, 1)?;
    part.pin()?;
    let span = LatestSpan::soon(part.time);
    other.order(&span)?;
    let writes = write(span, |word| -> sinew::Result<()> {
        let mut value = publisher.loan();
        value.words_mut().fill(word);
        Ok(publisher.publish(value)?)
    })?;
    Ok(other.finish::<Reads>()?.figures(&writes))
}

/// As [`write_all`], by a variable.
fn write_variable(size: usize, part: &Part<LatestCase>, mut other: Process) -> Result<Figures, Error> {
    let mut value = vec![0; size / size_of::<u64>()];
    let master = Variable::master_in(&part.space()?, VALUE, &value[..]).map_err(Error::measured)?;
    other.hear::<()>()?;
    part.pin()?;
    let span = LatestSpan::soon(part.time);
    other.order(&span)?;
    let writes = write(span, |word| {
        value.fill(word);
        master.write(&value).map_err(Error::measured)
    })?;
    Ok(other.finish::<Reads>()?.figures(&writes))
}

/// As [`read_all`], by a variable.
fn read_variable(part: &Part<LatestCase>, measuring: Measuring) -> Result<(), Error> {
    let variable = Variable::<[u64]>::open_in(&part.space()?, VALUE).map_err(Error::measured)?;
    measuring.tell(&())?;
    let span = measuring.order::<LatestSpan>()?.ok_or(Error::NotOurPeer)?;
    part.pin()?;
    let mut newest = Vec::new();
    let reads = read(span, |reads| -> Result<(), Error> {
        variable.read_newer_into(&mut newest).map_err(Error::measured)?;
        if !newest.is_empty() {
            reads.note(&newest);
        }
        Ok(())
    })?;
    measuring.tell(&reads)
}

/// In the other process: reads.
fn read_all<P: Payload>(part: &Part<LatestCase>, measuring: Measuring) -> Result<(), Error> {
    if part.case.way == LatestWay::Variable {
        return read_variable(part, measuring);
    }
    let context = part.context()?;
    let values = context.node("reader")?.subscription::<P>("value").qos(NEWEST).create()?;
    measuring.tell(&())?;
    let span = measuring.order::<LatestSpan>()?.ok_or(Error::NotOurPeer)?;
    part.pin()?;
    let mut newest = None;
    let reads = read(span, |reads| -> Result<(), Error> {
        if let Some((newer, _)) = values.take() {
            newest = Some(newer);
        }
        if let Some(value) = &newest {
            reads.note(value.words());
        }
        Ok(())
    })?;
    measuring.tell(&reads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torn_and_older_values_are_seen() {
        let mut reads = Reads::default();
        for value in [[1, 1], [1, 1], [3, 3], [2, 2], [4, 5]] {
            reads.note(&value);
        }
        let writes = Writes { samples: Samples::default(), usage: Usage::default() };
        let figures = reads.figures(&writes);
        assert_eq!((figures.lost, figures.reordered), (Some(1), Some(1)));
    }

    #[test]
    fn only_what_finds_a_value_is_a_read() {
        let span = LatestSpan { start_ns: 0, counts_from_ns: 0, until_ns: now_ns() + 3_000_000 };
        let mut calls = 0_u64;
        let reads = read(span, |reads| {
            calls += 1;
            if calls > 2 {
                reads.note(&[calls]);
            }
            Ok::<(), Error>(())
        });
        let reads = reads.unwrap();
        let found = calls.saturating_sub(2); // the thread may not have run in that time
        assert_eq!((reads.samples.recorded(), reads.torn, reads.back), (found, 0, 0));
        assert_eq!(reads.ages.recorded(), found);
    }

    #[test]
    fn a_value_is_as_old_as_its_write() {
        let span = || LatestSpan { start_ns: 0, counts_from_ns: 0, until_ns: now_ns() + 3_000_000 };
        // If the thread doesn't run in its time, it gets another try.
        let (age, took) = std::iter::repeat_with(|| {
            let mut written = 0;
            let writes = write(span(), |word| {
                written = word;
                Ok::<(), Error>(())
            });
            let reads = read(span(), |reads| {
                reads.note(&[written, written]);
                Ok::<(), Error>(())
            });
            let took = (now_ns() - written.cast_signed()) as f64;
            let is_written = written != 0;
            let age = reads.unwrap().figures(&writes.unwrap()).age_p50_ns;
            Some((age.filter(|_| is_written)?, took))
        })
        .find_map(|measured| measured)
        .unwrap();
        assert!(age > 0.0 && age <= took, "{age} of {took}");
    }
}
