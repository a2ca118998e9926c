//! `sinew tf`: coordinate frames and their transforms.
//!
//! It takes part as a node does, through the library.

mod drawing;

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use sinew::graph::{EndpointInfo, EndpointKind};
use sinew::time::ClockKind;
use sinew::{Context, Node};
use sinew_tf::{At, Buffer, FrameStatus, LookupError, Refusal, StampedTransform, TransformListener};

use crate::cli::tools::Where;
use crate::cli::tools::tf::{TfCommand, TfEchoOptions, TreeFormat, TreeOptions};
use crate::error::Error;
use crate::harmless::one_line;
use crate::observed::Observed;
use crate::output::{self, print, print_json, says};

pub(crate) fn run(command: &TfCommand) -> Result<(), Error> {
    match command {
        TfCommand::Tree(options) => tree(options),
        TfCommand::Echo(options) => echo(options),
    }
}

/// A node that tools hide, with a buffer that is being filled.
struct Listening {
    node: Node,
    buffer: Buffer,
    listener: TransformListener,
}

impl Listening {
    fn to(place: &Where) -> Result<Self, Error> {
        let builder =
            Context::builder().domain(place.domain().map_err(Error::DomainNumber)?).interrupts(true);
        let context = match &place.dir {
            Some(directory) => builder.directory(directory).build()?,
            None => builder.build()?,
        };
        let node = context.node(&format!("_sinew_tf_{}", std::process::id()))?;
        let buffer = Buffer::builder().max_frames(2000).build();
        let listener = TransformListener::new(&node, &buffer)?;
        Ok(Self { node, buffer, listener })
    }

    /// Sleeps; returns `false` if it was interrupted.
    fn sleep(&self, duration: Duration) -> bool {
        self.node.sleep_for(ClockKind::Steady, duration).is_ok()
    }
}

/// Returns the names of the frames that are published within `patience`; static ones come at once.
pub(crate) fn frame_names(place: &Where, patience: Duration) -> Option<Vec<String>> {
    let listening = Listening::to(place).ok()?;
    listening.sleep(patience).then_some(())?;
    Some(listening.buffer.frames().into_iter().map(|frame| frame.name).collect())
}

/// Returns the nodes of publishers, by the texts of their gids, which a buffer uses as names of
/// authorities.
fn nodes_by_gid(place: &Where) -> Result<HashMap<String, String>, Error> {
    let seen = Observed::open_silently(place)?.read()?;
    let publishers = seen.endpoints().iter().filter(|end| end.kind == EndpointKind::Publisher);
    let by_gid =
        |end: &EndpointInfo| (end.gid.0.iter().map(|byte| format!("{byte:02x}")).collect(), end.node.clone());
    Ok(publishers.map(by_gid).collect())
}

/// A frame and its last transform.
#[derive(Serialize)]
struct Frame {
    name: String,
    parent: Option<String>,
    is_static: bool,
    rate_hz: Option<f64>,
    /// Nanoseconds since the stamp of the last transform; negative if the stamp is in the future.
    age_ns: Option<i64>,
    /// The stamp, in nanoseconds.
    stamp: Option<i64>,
    /// The node that sent the last transform, or the publisher's gid if it is gone.
    authority: String,
}

/// Transforms that were refused for one kind of reason.
#[derive(Serialize)]
struct Refused {
    count: u64,
    /// The reason of the last refusal.
    reason: String,
    /// The node that sent the last refused transform, or the publisher's gid if it is gone.
    authority: String,
}

impl Refused {
    fn of(refusal: Refusal, nodes: &HashMap<String, String>) -> Self {
        let authority = nodes.get(&*refusal.authority).cloned();
        Self {
            count: refusal.count,
            reason: refusal.error.to_string(),
            authority: authority.unwrap_or_else(|| refusal.authority.to_string()),
        }
    }

    fn text(&self) -> String {
        let times = if self.count == 1 { "once".to_owned() } else { format!("{} times", self.count) };
        one_line(&format!("refused {times}: {}; sent by {}", self.reason, self.authority))
    }
}

/// All frames, and their problems.
#[derive(Serialize)]
struct Frames {
    frames: Vec<Frame>,
    /// Each frame's parent is the next one, and the last one's is the first.
    loops: Vec<Vec<String>>,
    refused: Vec<Refused>,
}

impl Frames {
    fn of(listening: &Listening, nodes: &HashMap<String, String>) -> Self {
        let (buffer, now) = (&listening.buffer, listening.node.now());
        let frame = |status: FrameStatus| {
            let stamp = status.range.map(|[_, last]| last.nanoseconds());
            Frame {
                rate_hz: status.rate(),
                age_ns: stamp.map(|stamp| now.nanoseconds().saturating_sub(stamp)),
                stamp,
                authority: nodes.get(&status.authority).cloned().unwrap_or(status.authority),
                name: status.name,
                parent: status.parent,
                is_static: status.is_static,
            }
        };
        let frames: Vec<Frame> = buffer.frames().into_iter().map(frame).collect();
        let mut loops = Vec::new();
        for Frame { name, parent, .. } in &frames {
            let looked = parent.as_ref().map(|parent| buffer.can_transform(parent, name, At::Latest));
            if let Some(Err(LookupError::Loop { frames })) = looked
                && !loops.contains(&frames)
            {
                loops.push(frames);
            }
        }
        let refused = listening.listener.refusals().into_iter().map(|refusal| Refused::of(refusal, nodes));
        Self { frames, loops, refused: refused.collect() }
    }

    /// Returns the roots of trees: frames without a parent, then one frame of each loop.
    fn roots(&self) -> impl Iterator<Item = &Frame> {
        let in_loops = self.loops.iter().filter_map(|frames| {
            let first = frames.first()?;
            self.frames.iter().find(|frame| frame.name == *first)
        });
        self.frames.iter().filter(|frame| frame.parent.is_none()).chain(in_loops)
    }

    /// Returns the children of a frame, except for the frame at which a loop's tree begins.
    fn children<'a>(&'a self, of: &'a Frame) -> impl Iterator<Item = &'a Frame> {
        self.frames.iter().filter(move |frame| {
            frame.parent.as_ref() == Some(&of.name)
                && !self.loops.iter().any(|frames| frames.first() == Some(&frame.name))
        })
    }
}

impl Frame {
    /// Returns its name in a form that is harmless to a terminal.
    fn shown(&self) -> String {
        one_line(&self.name)
    }

    /// Describes its transform.
    fn told(&self) -> String {
        let mut told = Vec::new();
        if self.is_static {
            told.push("static".to_owned());
        }
        told.extend(self.rate_hz.map(|rate| format!("{rate:.1} Hz")));
        told.extend(self.age_ns.zip(self.stamp).map(|(age, stamp)| aged(age, stamp)));
        if !self.authority.is_empty() {
            told.push(format!("by {}", one_line(&self.authority)));
        }
        told.join(", ")
    }
}

/// Formats the age of a stamp; the stamp itself if it is of another clock.
fn aged(age: i64, stamp: i64) -> String {
    let seconds = |nanoseconds: i64| nanoseconds as f64 / 1e9;
    match seconds(age) {
        age if age.abs() > 3600.0 => format!("at {:.3} s", seconds(stamp)),
        age if age < 0.0 => format!("{:.0} ms ahead", -age * 1e3),
        age if age < 10.0 => format!("{:.0} ms ago", age * 1e3),
        age => format!("{age:.0} s ago"),
    }
}

/// Draws the trees.
fn tree(options: &TreeOptions) -> Result<(), Error> {
    let listening = Listening::to(&options.place)?;
    if !listening.sleep(options.interval) {
        return Ok(());
    }
    let frames = Frames::of(&listening, &nodes_by_gid(&options.place)?);
    let format = options.format();
    // Text and JSON contain the problems themselves.
    if matches!(format, TreeFormat::Dot | TreeFormat::Svg) {
        frames.refused.iter().for_each(|refused| says(&refused.text()));
    }
    let text = match format {
        TreeFormat::Json => output::json(&frames)?,
        TreeFormat::Text => drawing::text(&frames),
        TreeFormat::Dot => drawing::dot(&frames),
        TreeFormat::Svg => drawing::svg(&frames),
    };
    match &options.output {
        Some(path) => {
            fs::write(path, text).map_err(|source| Error::File {
                action: "write",
                path: path.clone(),
                source,
            })?;
        }
        None => print(&text)?,
    }
    if frames.loops.is_empty() { Ok(()) } else { Err(Error::Ended { code: 1 }) }
}

/// Period of looking for missing frames, and the delay before they are reported.
const LOOK: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(1);

/// Prints transforms until the end.
fn echo(options: &TfEchoOptions) -> Result<(), Error> {
    let listening = Listening::to(&options.place)?;
    let mut left = options.count.unwrap_or(u64::MAX);
    let mut missing = Duration::ZERO;
    let mut told = 0; // kinds of refusals
    while left > 0 {
        let refusals = listening.listener.refusals();
        if refusals.len() > told {
            let nodes = nodes_by_gid(&options.place)?;
            let new = refusals.into_iter().skip(told).map(|refusal| Refused::of(refusal, &nodes));
            told += new.map(|refused| says(&refused.text())).count();
        }
        let pause = match listening.buffer.lookup(&options.reference, &options.frame, At::Latest) {
            Ok(found) => {
                if options.json {
                    print_json(&as_json(&found))?
                } else {
                    print(&as_text(&found))?
                }
                left -= 1;
                missing = Duration::ZERO;
                Duration::from_secs_f64(options.rate.recip())
            }
            Err(error) => {
                if missing < PATIENCE && missing + LOOK >= PATIENCE {
                    says(&format!("{error}; waiting"));
                }
                missing += LOOK;
                LOOK
            }
        };
        if left > 0 && !listening.sleep(pause) {
            break;
        }
    }
    Ok(())
}

fn as_json(found: &StampedTransform) -> serde_json::Value {
    let StampedTransform { stamp, transform } = found;
    json!({
        "stamp": stamp.nanoseconds(),
        "translation": transform.translation,
        "rotation": transform.rotation,
        "roll_pitch_yaw": transform.roll_pitch_yaw(),
    })
}

fn as_text(found: &StampedTransform) -> String {
    let StampedTransform { stamp, transform } = found;
    let numbers = |numbers: &[f64]| {
        let rounded = |number: f64| if number.abs() < 5e-5 { 0.0 } else { number }; // no -0.0000
        let parts: Vec<String> = numbers.iter().map(|number| format!("{:9.4}", rounded(*number))).collect();
        parts.join(" ")
    };
    let angles = transform.roll_pitch_yaw();
    let stamp = match stamp.nanoseconds() {
        0 => "static".to_owned(),
        stamp => format!("at {:.9} s", stamp as f64 / 1e9),
    };
    format!(
        "{stamp}\n  translation       {} m\n  rotation (xyzw)   {}\n  roll, pitch, yaw  {} rad\n                    {} degrees\n",
        numbers(&transform.translation),
        numbers(&transform.rotation),
        numbers(&angles),
        numbers(&angles.map(f64::to_degrees)),
    )
}
