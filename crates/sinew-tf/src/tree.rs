//! The tree of frames and the paths between them, without locks, clocks or messages.
//!
//! A frame has one parent at a time, so the path between two frames goes up from both until they
//! meet. A lookup climbs from both frames to the root, using each frame's parent at that time (it
//! reads no sample unless the parent changed), cuts off the part that both paths share, and
//! multiplies the samples on the rest. tf2 does the same. Missing data above the meeting point does
//! no harm.

use crate::history::{FrameNumber, Guess, History, Limits, Sample};
use crate::insertion::{InsertError, Inserted, LONGEST_NAME, beginning};
use crate::lookup::{At, FrameStatus, LinkRange, LookupError};
use crate::transform::{StampedTransform, Transform};
use foldhash::fast::RandomState;
use sinew::Duration;
use sinew::time::Time;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::Arc;

/// A transform to be inserted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Insertion<'a> {
    pub(crate) parent: &'a str,
    pub(crate) child: &'a str,
    pub(crate) stamp: i64,
    pub(crate) transform: Transform,
    pub(crate) is_static: bool,
    pub(crate) authority: &'a str,
}

/// The pose of a frame in its parent. The kind of the last transform decides the variant.
#[derive(Debug)]
enum Placement {
    Moving(History),
    Static(Sample),
}

#[derive(Debug)]
struct Frame {
    name: Arc<str>,
    placement: Placement,
    /// The sender of its last transform.
    authority: String,
}

/// A link at a time.
enum Link<'a> {
    Static(&'a Transform),
    Moving(&'a History, Guess),
}

impl Link<'_> {
    #[inline]
    fn transform(&self, time: i64) -> Transform {
        match self {
            Self::Static(transform) => **transform,
            Self::Moving(history, guess) => history.transform(history.find(*guess, time)),
        }
    }
}

/// The frames from one up to the root, including the first. Longer paths allocate.
type Path = SmallVec<[FrameNumber; 64]>;

#[derive(Debug)]
pub(crate) struct Tree {
    limits: Limits,
    frames: Vec<Frame>,
    /// Each insertion and each lookup searches here twice, and SipHash would take half the time of
    /// an insertion. The hash is seeded, and the number of frames is limited.
    numbers: HashMap<Arc<str>, FrameNumber, RandomState>,
}

impl Frame {
    /// Returns the parent at this time, or the latest one for `None`.
    fn parent(&self, time: Option<i64>) -> Option<FrameNumber> {
        match &self.placement {
            Placement::Static(sample) => Some(sample.parent),
            Placement::Moving(history) => match time {
                Some(time) => history.parent_at(time),
                None => history.ends().map(|ends| ends.parent),
            },
        }
    }

    /// Returns the latest stamp of a moving frame.
    fn latest(&self) -> Option<i64> {
        match &self.placement {
            Placement::Static(_) => None,
            Placement::Moving(history) => history.ends().map(|ends| ends.last),
        }
    }

    fn changes_parent(&self) -> bool {
        matches!(&self.placement, Placement::Moving(history) if history.changes() > 0)
    }
}

/// Removes the slash that ROS 1 put before frames' names.
fn bare(name: &str) -> &str {
    name.strip_prefix('/').unwrap_or(name)
}

impl Tree {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, frames: Vec::new(), numbers: HashMap::default() }
    }

    // ---- insertion ----

    pub(crate) fn insert(&mut self, insertion: &Insertion<'_>) -> Result<Inserted, InsertError> {
        let Insertion { stamp, is_static, authority, .. } = *insertion;
        let (parent, child) = (bare(insertion.parent), bare(insertion.child));
        let transform = checked(parent, child, insertion.transform)?;
        let (child_number, parent_number) = (self.number(child)?, self.number(parent)?);
        let sample = Sample { transform, parent: parent_number };
        let limits = self.limits;
        let frame = &mut self.frames[child_number as usize];
        if frame.authority != authority {
            authority.clone_into(&mut frame.authority);
        }
        if is_static {
            let inserted = match &frame.placement {
                Placement::Static(former) if *former == sample => Inserted::Repeated,
                Placement::Static(_) => Inserted::Replaced,
                Placement::Moving(_) => Inserted::New,
            };
            frame.placement = Placement::Static(sample);
            return Ok(inserted);
        }
        if matches!(frame.placement, Placement::Static(_)) {
            frame.placement = Placement::Moving(History::default());
        }
        let Placement::Moving(history) = &mut frame.placement else { return Ok(Inserted::New) };
        history.insert(stamp, sample, &limits).map_err(|latest| InsertError::Old {
            child: child.to_owned(),
            stamp: Time::from_nanoseconds(stamp),
            latest: Time::from_nanoseconds(latest),
            history: Duration::from_nanos(limits.history.unsigned_abs()),
        })
    }

    fn number(&mut self, name: &str) -> Result<FrameNumber, InsertError> {
        if let Some(number) = self.numbers.get(name) {
            return Ok(*number);
        }
        let limit = self.limits.frames;
        let number = FrameNumber::try_from(self.frames.len()).ok().filter(|_| self.frames.len() < limit);
        let Some(number) = number else {
            return Err(InsertError::TooManyFrames { frame: name.to_owned(), limit });
        };
        let name: Arc<str> = Arc::from(name);
        let placement = Placement::Moving(History::default());
        self.frames.push(Frame { name: name.clone(), placement, authority: String::new() });
        self.numbers.insert(name, number);
        Ok(number)
    }

    /// Forgets moving transforms; static ones and all names stay.
    pub(crate) fn clear(&mut self) {
        for frame in &mut self.frames {
            if let Placement::Moving(history) = &mut frame.placement {
                history.clear();
            }
        }
    }

    // ---- lookup ----

    /// Returns the transform from the source's coordinates to the target's.
    pub(crate) fn lookup(
        &self,
        target_name: &str,
        source_name: &str,
        at: At,
    ) -> Result<StampedTransform, LookupError> {
        let (target, source) = (self.known(target_name)?, self.known(source_name)?);
        let found = match at {
            At::Latest => self.latest(target, source)?,
            At::Time(time) => self.at(target, source, time.nanoseconds())?.map(|found| (time, found)),
        };
        match found {
            Some((stamp, transform)) => Ok(StampedTransform { stamp, transform: transform.normalized() }),
            None => Err(self.why_not(target, source, at)),
        }
    }

    fn at(
        &self,
        target: FrameNumber,
        source: FrameNumber,
        time: i64,
    ) -> Result<Option<Transform>, LookupError> {
        if target == source {
            return Ok(Some(Transform::IDENTITY));
        }
        let [mut down, mut up] = self.climb((target, source), Some(time))?;
        if !meet(&mut down, &mut up) {
            return Ok(None);
        }
        Ok(self.along(&down, &up, time))
    }

    /// Looks up the latest time that all links between the frames have in common; 0 if all of them
    /// are static.
    fn latest(
        &self,
        target: FrameNumber,
        source: FrameNumber,
    ) -> Result<Option<(Time, Transform)>, LookupError> {
        let stamped = |time, transform| (Time::from_nanoseconds(time), transform);
        if target == source {
            let latest = self.frame(target).latest().unwrap_or(0);
            return Ok(Some(stamped(latest, Transform::IDENTITY)));
        }
        let [mut down, mut up] = self.climb((target, source), None)?;
        if !meet(&mut down, &mut up) {
            return Ok(None);
        }
        let time = self.latest_common(&down, &up);
        let changed = down.iter().chain(&up).any(|frame| self.frame(*frame).changes_parent());
        let transform = match changed {
            false => self.along(&down, &up, time),
            true => self.at(target, source, time)?, // the path may differ at that time
        };
        Ok(transform.map(|transform| stamped(time, transform)))
    }

    fn latest_common(&self, down: &[FrameNumber], up: &[FrameNumber]) -> i64 {
        let links = down.iter().chain(up);
        links.filter_map(|frame| self.frame(*frame).latest()).min().unwrap_or(0)
    }

    /// Multiplies the links of both paths. Returns `None` if a link does not cover the time.
    fn along(&self, down: &[FrameNumber], up: &[FrameNumber], time: i64) -> Option<Transform> {
        let mut links = SmallVec::<[Link<'_>; 64]>::new();
        let mut touched = 0;
        for number in down.iter().chain(up) {
            links.push(match &self.frame(*number).placement {
                Placement::Static(sample) => Link::Static(&sample.transform),
                Placement::Moving(history) => {
                    let guess = history.guess(time)?;
                    touched ^= history.touch(guess);
                    Link::Moving(history, guess)
                }
            });
        }
        std::hint::black_box(touched); // the value does not matter, only the reads
        let (down, up) = links.split_at(down.len());
        let product = |links: &[Link<'_>]| {
            let (first, others) = links.split_first()?;
            Some(others.iter().fold(first.transform(time), |product, link| link.transform(time) * product))
        };
        Some(match (product(down), product(up)) {
            (None, None) => Transform::IDENTITY,
            (None, Some(up)) => up,
            (Some(down), None) => down.inverse(),
            (Some(down), Some(up)) => down.inverse() * up,
        })
    }

    /// Returns all frames from both up to the root.
    fn climb(
        &self,
        (down, up): (FrameNumber, FrameNumber),
        time: Option<i64>,
    ) -> Result<[Path; 2], LookupError> {
        let mut paths = [Path::new(), Path::new()]; // filled in place, as they are large
        for (path, from) in paths.iter_mut().zip([down, up]) {
            let mut frame = from;
            loop {
                path.push(frame);
                match self.frame(frame).parent(time) {
                    None => break,
                    Some(_) if path.len() > self.frames.len() => return Err(self.loop_in(path)),
                    Some(parent) => frame = parent,
                }
            }
        }
        Ok(paths)
    }

    fn frame(&self, number: FrameNumber) -> &Frame {
        &self.frames[number as usize]
    }

    fn name(&self, number: FrameNumber) -> String {
        self.frame(number).name.as_ref().to_owned()
    }

    fn known(&self, name: &str) -> Result<FrameNumber, LookupError> {
        if let Some(number) = self.numbers.get(bare(name)) {
            return Ok(*number);
        }
        Err(LookupError::unknown(name, self.frames.len()))
    }

    /// Returns the names of all frames, in the order in which they were added.
    pub(crate) fn names(&self) -> Vec<Arc<str>> {
        self.frames.iter().map(|frame| frame.name.clone()).collect()
    }

    // ---- reasons of failures ----

    /// Returns the loop in a path that is longer than the number of frames.
    fn loop_in(&self, path: &[FrameNumber]) -> LookupError {
        let last = path.last().copied().unwrap_or_default();
        let round = path.iter().rev().skip(1).take_while(|frame| **frame != last);
        let mut frames: Vec<String> = round.map(|frame| self.name(*frame)).collect();
        frames.push(self.name(last));
        frames.reverse();
        // Rotate the loop so that it reads the same for any start of the climb.
        let first = (0..frames.len()).min_by_key(|at| &frames[*at]).unwrap_or(0);
        frames.rotate_left(first);
        LookupError::Loop { frames }
    }

    fn why_not(&self, target: FrameNumber, source: FrameNumber, at: At) -> LookupError {
        match self.explain(target, source, at) {
            Ok(error) | Err(error) => error,
        }
    }

    fn explain(&self, target: FrameNumber, source: FrameNumber, at: At) -> Result<LookupError, LookupError> {
        let [mut down, mut up] = self.climb((target, source), None)?;
        let tops = |down: &Path, up: &Path| {
            [down, up].map(|path| path.last().map_or_else(String::new, |top| self.name(*top)))
        };
        let [target_root, source_root] = tops(&down, &up);
        let (target_name, source_name) = (self.name(target), self.name(source));
        let apart = |target_root, source_root, time| LookupError::NotConnected {
            target: target_name.clone(),
            source: source_name.clone(),
            target_root,
            source_root,
            time,
        };
        if !meet(&mut down, &mut up) {
            return Ok(apart(target_root, source_root, None));
        }
        let time = match at {
            At::Time(time) => time.nanoseconds(),
            At::Latest => self.latest_common(&down, &up),
        };
        let ways = down.iter().chain(&up);
        let lacking: Vec<LinkRange> = ways.filter_map(|frame| self.lacking(*frame, time)).collect();
        if lacking.is_empty() {
            let [down, up] = self.climb((target, source), Some(time))?;
            let [target_root, source_root] = tops(&down, &up);
            return Ok(apart(target_root, source_root, Some(Time::from_nanoseconds(time))));
        }
        let time = Time::from_nanoseconds(time);
        Ok(LookupError::Extrapolation { target: target_name, source: source_name, time, lacking })
    }

    /// Returns the range of a link, if it does not cover the time.
    fn lacking(&self, number: FrameNumber, time: i64) -> Option<LinkRange> {
        let frame = self.frame(number);
        let Placement::Moving(history) = &frame.placement else { return None };
        let ends = history.ends()?;
        (!(ends.first..=ends.last).contains(&time)).then(|| LinkRange {
            parent: self.name(ends.parent),
            child: self.name(number),
            first: Time::from_nanoseconds(ends.first),
            last: Time::from_nanoseconds(ends.last),
        })
    }

    /// Returns whether a requested transform can no longer arrive: a link between the two frames
    /// has advanced past the time by more than the history, or no frame can have the name.
    pub(crate) fn is_past(&self, error: &LookupError) -> bool {
        if let LookupError::NameTooLong { .. } = error {
            return true;
        }
        let LookupError::Extrapolation { time, lacking, .. } = error else { return false };
        let history = Duration::from_nanos(self.limits.history.unsigned_abs());
        lacking.iter().any(|link| *time + history < link.last && *time < link.first)
    }

    /// Returns the status of all frames, ordered by name.
    pub(crate) fn status(&self) -> Vec<FrameStatus> {
        let mut all: Vec<FrameStatus> = self.frames.iter().map(|frame| self.status_of(frame)).collect();
        all.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        all
    }

    fn status_of(&self, frame: &Frame) -> FrameStatus {
        let (name, authority) = (frame.name.as_ref().to_owned(), frame.authority.clone());
        let parent = frame.parent(None).map(|parent| self.name(parent));
        let status = FrameStatus { name, parent, authority, ..FrameStatus::default() };
        match &frame.placement {
            Placement::Static(_) => FrameStatus { is_static: true, ..status },
            Placement::Moving(history) => FrameStatus {
                range: history.ends().map(|ends| [ends.first, ends.last].map(Time::from_nanoseconds)),
                samples: history.len(),
                crowded_out: history.crowded_out(),
                ..status
            },
        }
    }
}

/// Reduces both paths to the part below the frame where they meet. Returns `false` if they don't
/// meet.
fn meet(down: &mut Path, up: &mut Path) -> bool {
    if down.last() != up.last() {
        return false;
    }
    while down.last().is_some() && down.last() == up.last() {
        down.pop();
        up.pop();
    }
    true
}

/// Performs tf2's checks.
fn checked(parent: &str, child: &str, transform: Transform) -> Result<Transform, InsertError> {
    // First, so that no other error repeats such a name.
    if let Some(name) = [parent, child].into_iter().find(|name| name.len() > LONGEST_NAME) {
        return Err(InsertError::NameTooLong { begin: beginning(name), length: name.len() });
    }
    if child.is_empty() {
        return Err(InsertError::NoChild { parent: parent.to_owned() });
    }
    if parent == child {
        return Err(InsertError::SelfTransform { frame: child.to_owned() });
    }
    let child = || child.to_owned();
    if parent.is_empty() {
        return Err(InsertError::NoParent { child: child() });
    }
    let Transform { translation, rotation } = transform;
    if !translation.iter().chain(&rotation).all(|number| number.is_finite()) {
        return Err(InsertError::NotFinite { child: child(), translation, rotation });
    }
    let norm = transform.norm_squared();
    if (norm - 1.0).abs() >= crate::insertion::TOLERANCE {
        return Err(InsertError::NotNormalized { child: child(), rotation, length: norm.sqrt() });
    }
    Ok(transform.normalized())
}
