//! The tree of frames and the paths between them, without locks, clocks or messages.
//!
//! A frame has one parent at a time, so the path between two frames goes up from both until they
//! meet. A lookup climbs from both frames to the root, using each frame's parent at that time (it
//! reads no sample unless the parent changed), cuts off the part that both paths share, and
//! multiplies the samples on the rest. tf2 does the same. Missing data above the meeting point does
//! no harm, and neither does a loop there: a climb ends at the first frame of a loop.

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

/// The frames from one up to the root, or to the first frame of a loop, including both. Longer
/// paths allocate.
type Path = SmallVec<[FrameNumber; 64]>;

/// The paths from two frames.
#[derive(Default)]
struct Climb {
    down: Path,
    up: Path,
    /// A frame of a loop in which a path ends.
    looped: Option<FrameNumber>,
}

impl Climb {
    /// Reduces both paths to the part below the frame where they meet. Returns `false` if they
    /// don't meet.
    fn meet(&mut self) -> bool {
        let Self { down, up, .. } = self;
        if down.last() != up.last() {
            return false;
        }
        while down.last().is_some() && down.last() == up.last() {
            down.pop();
            up.pop();
        }
        true
    }

    /// All frames below the one where they meet.
    fn links(&self) -> impl Iterator<Item = FrameNumber> {
        self.down.iter().chain(&self.up).copied()
    }
}

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

    /// Returns the parent at this time; outside the history the latest one.
    fn parent_about(&self, time: i64) -> Option<FrameNumber> {
        self.parent(Some(time)).or_else(|| self.parent(None))
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
        let limits = self.limits;
        if let (false, Some(number)) = (is_static, self.numbers.get(child))
            && let Placement::Moving(history) = &self.frame(*number).placement
        {
            history.accepts(stamp, &limits).map_err(|latest| InsertError::Old {
                child: child.to_owned(),
                stamp: Time::from_nanoseconds(stamp),
                latest: Time::from_nanoseconds(latest),
                history: Duration::from_nanos(limits.history.unsigned_abs()),
            })?;
        }
        self.have_room_for([parent, child])?;
        let (child_number, parent_number) = (self.number(child), self.number(parent));
        let sample = Sample { transform, parent: parent_number };
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
        Ok(history.insert(stamp, sample, &limits).unwrap_or(Inserted::New)) // it accepts the stamp
    }

    /// Checks that frames with these names may be added, if they aren't there.
    fn have_room_for(&self, names: [&str; 2]) -> Result<(), InsertError> {
        let limit = self.limits.frames.min(FrameNumber::MAX as usize);
        let is_new = |name: &&str| !self.numbers.contains_key(*name);
        match names.into_iter().filter(is_new).nth(limit.saturating_sub(self.frames.len())) {
            Some(frame) => Err(InsertError::TooManyFrames { frame: frame.to_owned(), limit }),
            None => Ok(()),
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "`have_room_for` checks it")]
    fn number(&mut self, name: &str) -> FrameNumber {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.frames.len() as FrameNumber;
        let name: Arc<str> = Arc::from(name);
        let placement = Placement::Moving(History::default());
        self.frames.push(Frame { name: name.clone(), placement, authority: String::new() });
        self.numbers.insert(name, number);
        number
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
        if self.is_unknown_in_itself(target_name, source_name) {
            let stamp = if let At::Time(time) = at { time } else { Time::default() };
            return Ok(StampedTransform { stamp, transform: Transform::IDENTITY });
        }
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

    /// Whether these are one frame that no transform has named yet: it may still carry messages,
    /// and lies in itself.
    fn is_unknown_in_itself(&self, target: &str, source: &str) -> bool {
        let name = bare(target);
        let may_be_one = !name.is_empty() && name.len() <= LONGEST_NAME;
        may_be_one && name == bare(source) && !self.numbers.contains_key(name)
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
        match self.met((target, source), |frame| frame.parent(Some(time)))? {
            Some(climb) => Ok(self.along(&climb, time)),
            None => Ok(None),
        }
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
        let Some(climb) = self.met((target, source), |frame| frame.parent(None))? else { return Ok(None) };
        let time = self.latest_common(&climb);
        let changed = climb.links().any(|frame| self.frame(frame).changes_parent());
        let along = if changed { None } else { self.along(&climb, time) };
        let transform = match along {
            Some(transform) => Some(transform),
            None => self.at(target, source, time)?, // the path may differ at that time
        };
        Ok(transform.map(|transform| stamped(time, transform)))
    }

    fn latest_common(&self, climb: &Climb) -> i64 {
        climb.links().filter_map(|frame| self.frame(frame).latest()).min().unwrap_or(0)
    }

    /// Multiplies the links of both paths. Returns `None` if a link does not cover the time.
    fn along(&self, climb: &Climb, time: i64) -> Option<Transform> {
        let mut links = SmallVec::<[Link<'_>; 64]>::new();
        let mut touched = 0;
        for number in climb.links() {
            links.push(match &self.frame(number).placement {
                Placement::Static(sample) => Link::Static(&sample.transform),
                Placement::Moving(history) => {
                    let guess = history.guess(time)?;
                    touched ^= history.touch(guess);
                    Link::Moving(history, guess)
                }
            });
        }
        std::hint::black_box(touched); // the value does not matter, only the reads
        let (down, up) = links.split_at(climb.down.len());
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

    /// Returns the paths from two frames up to where they meet; `None` if they don't.
    ///
    /// # Errors
    /// [`LookupError::Loop`]: they don't meet, and a path ends in a loop.
    #[inline]
    fn met(
        &self,
        from: (FrameNumber, FrameNumber),
        parent: impl Fn(&Frame) -> Option<FrameNumber>,
    ) -> Result<Option<Climb>, LookupError> {
        let mut climb = self.climb(from, &parent);
        match (climb.meet(), climb.looped) {
            (true, _) => Ok(Some(climb)),
            (false, Some(frame)) => Err(self.loop_through(frame, parent)),
            (false, None) => Ok(None),
        }
    }

    /// Returns the paths from two frames.
    #[inline]
    fn climb(
        &self,
        (down, up): (FrameNumber, FrameNumber),
        parent: impl Fn(&Frame) -> Option<FrameNumber>,
    ) -> Climb {
        let mut climb = Climb::default(); // filled in place, as it is large
        let Climb { down: down_path, up: up_path, looped } = &mut climb;
        for (path, from) in [(down_path, down), (up_path, up)] {
            let mut frame = from;
            loop {
                path.push(frame);
                match parent(self.frame(frame)) {
                    None => break,
                    Some(_) if path.len() > self.frames.len() => {
                        *looped = Some(frame);
                        cut_loop(path);
                        break;
                    }
                    Some(parent) => frame = parent,
                }
            }
        }
        climb
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

    /// Returns the loop that a frame is in.
    fn loop_through(
        &self,
        start: FrameNumber,
        parent: impl Fn(&Frame) -> Option<FrameNumber>,
    ) -> LookupError {
        let above = |frame: &FrameNumber| parent(self.frame(*frame)).filter(|above| *above != start);
        let mut frames: Vec<String> =
            std::iter::successors(Some(start), above).map(|frame| self.name(frame)).collect();
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
        let both = (target, source);
        let (target_name, source_name) = (self.name(target), self.name(source));
        let apart = |climb: &Climb, time| {
            let [target_root, source_root] = [&climb.down, &climb.up]
                .map(|path| path.last().map_or_else(String::new, |top| self.name(*top)));
            let (target, source) = (target_name.clone(), source_name.clone());
            LookupError::NotConnected { target, source, target_root, source_root, time }
        };
        let Some(now) = self.met(both, |frame| frame.parent(None))? else {
            return Ok(apart(&self.climb(both, |frame| frame.parent(None)), None));
        };
        let time = match at {
            At::Time(time) => time.nanoseconds(),
            At::Latest => self.latest_common(&now),
        };
        let stamp = Time::from_nanoseconds(time);
        let Some(then) = self.met(both, |frame| frame.parent_about(time))? else {
            return Ok(apart(&self.climb(both, |frame| frame.parent_about(time)), Some(stamp)));
        };
        let mut lacking: Vec<LinkRange> =
            then.links().filter_map(|frame| self.range(frame)).filter(|link| !link.covers(stamp)).collect();
        if at == At::Latest {
            // The link that ends there is what the others are ahead of.
            let ends_there = |link: &LinkRange| link.last == stamp && link.covers(stamp);
            let last = now.links().filter_map(|frame| self.range(frame)).find(ends_there);
            lacking.splice(..0, last);
        }
        Ok(LookupError::Extrapolation { target: target_name, source: source_name, time: stamp, lacking })
    }

    /// Returns the range of a frame that moves.
    fn range(&self, number: FrameNumber) -> Option<LinkRange> {
        let Placement::Moving(history) = &self.frame(number).placement else { return None };
        let ends = history.ends()?;
        Some(LinkRange {
            parent: self.name(ends.parent),
            child: self.name(number),
            first: Time::from_nanoseconds(ends.first),
            last: Time::from_nanoseconds(ends.last),
        })
    }

    /// Returns whether a transform that was looked up at this time can no longer arrive: a link
    /// between the two frames has advanced past the time by more than the history, or no frame can
    /// have the name. The latest transform always can: what lags may catch up.
    pub(crate) fn is_past(&self, error: &LookupError, at: At) -> bool {
        if let LookupError::NameTooLong { .. } = error {
            return true;
        }
        let LookupError::Extrapolation { time, lacking, .. } = error else { return false };
        if at == At::Latest {
            return false;
        }
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

/// Cuts a path that is longer than the number of frames after the first frame of the loop in which
/// it ends.
#[cold]
fn cut_loop(path: &mut Path) {
    let last = path.len() - 1;
    let round = path[..last].iter().rev().position(|frame| *frame == path[last]).map_or(1, |steps| steps + 1);
    let first = (0..=last - round).find(|at| path[*at] == path[*at + round]).unwrap_or(last);
    path.truncate(first + 1);
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
