//! Camera and filter: the nodes that make the viewer's frames.

use std::time::Duration;

use sinew::msg::Sample;
use sinew::{Context, Group, Node, Publisher, Subscription, Timer};
use sinew_interfaces::sensor_msgs::msg::{Image, ImageLengths};

use super::filter::Filter;
use super::frame::{BYTES, Camera, begun};
use super::viewer::Underway;
use crate::error::Error;

/// How long each picture is shown, in seconds.
const PER_PICTURE: f64 = 0.75;

/// The topic from the camera to the filter.
pub(super) const FRAMES: &str = "frames";

/// The topic from the filter to the viewer.
pub(super) const EDGES: &str = "edges";

/// Both nodes; dropping this ends them.
pub(super) struct Making {
    pub(super) camera: Node,
    /// The group of the filter's node.
    pub(super) filters: Group<Filter>,
    pub(super) ends: FramePaths,
    _shutter: Timer,
}

/// The places where frames could be copied or lost on their way to the viewer's node.
pub(super) struct FramePaths {
    publishers: [Publisher<Image>; 2],
    filtering: Subscription<Image>,
}

impl Making {
    /// Creates them, wherever the viewer is: frames are changed where they lie, in memory that the
    /// viewer can read. As long as no viewer takes the filter's frames, the camera makes none.
    pub(super) fn create(context: &Context, rate: f64) -> Result<Self, Error> {
        let filter = context.node("filter")?;
        let filters = filter.group(Filter::default());
        let drawn = filter.publisher::<Image>(EDGES).create()?;
        let to = drawn.clone();
        let filtering = filters
            .subscription::<Image>(FRAMES)
            .callback(move |filter: &mut Filter, frame: Sample<Image>| draw(filter, frame, &to))?;

        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate is 1000 at most")]
        let mut pictures = Camera::new((rate * PER_PICTURE).ceil() as u64);
        let camera = context.node("camera")?;
        let frames = camera.publisher::<Image>(FRAMES).create()?;
        let (from_camera, seen) = (frames.clone(), drawn.clone());
        let shutter =
            camera.timer(Duration::from_secs_f64(1.0 / rate)).callback(move || -> Result<(), Error> {
                if seen.subscription_count() == 0 {
                    return Ok(());
                }
                let lengths = ImageLengths { data: BYTES };
                let mut frame = from_camera.draft(begun(pictures.sees()), lengths)?;
                pictures.expose(frame.parts().data);
                let published = from_camera.publish(frame);
                Ok(published.map_err(sinew::Error::from)?)
            })?;
        let ends = FramePaths { publishers: [frames, drawn], filtering };
        Ok(Self { camera, filters, ends, _shutter: shutter })
    }
}

/// Filters and publishes a frame, in place if possible.
fn draw(filter: &mut Filter, frame: Sample<Image>, to: &Publisher<Image>) -> Result<(), String> {
    let mut frame = to.edit(frame).map_err(|error| error.to_string())?;
    let width = frame.view().map_err(|error| error.to_string())?.width;
    filter.apply(width as usize, frame.parts().data);
    to.publish(frame).map_err(|error| error.to_string())
}

impl FramePaths {
    /// Counts the frames by the counters of publishers and subscriptions. (The viewer only views:
    /// it adds nothing.)
    pub(super) fn underway(&self) -> Underway {
        let mut underway = Underway::default();
        for publisher in &self.publishers {
            let counts = publisher.statistics();
            underway.copies += counts.copies;
            underway.encodings += counts.encodings;
            underway.decodings += counts.decodings;
        }
        let filtering = self.filtering.statistics();
        underway.copies += filtering.copies;
        underway.decodings += filtering.decodings;
        Underway { lost: filtering.overwritten, ..underway }
    }
}
