//! Camera and filter, the nodes that make what the viewer shows.

use std::time::Duration;

use sinew::{Context, Group, Node, Publisher, Sample, Subscription, Timer, Unique};
use sinew_interfaces::sensor_msgs::msg::{Image, ImageLengths};

use super::filter::Filter;
use super::frame::{BYTES, Camera, Picture, begun};
use super::viewer::Underway;
use crate::error::Error;

/// How long each picture is shown, in seconds.
const PER_PICTURE: f64 = 0.75;

/// The topic from the camera to the filter.
pub(super) const FRAMES: &str = "frames";

/// The topic from the filter to the viewer.
pub(super) const EDGES: &str = "edges";

/// Where the viewer is.
#[derive(Clone, Copy)]
pub(super) enum Viewer {
    /// In this process: frames are handed on by ownership, and changed in place.
    Here,
    /// In another process: frames are drawn where it views them.
    Elsewhere,
}

/// Both nodes, until this is dropped.
pub(super) struct Making {
    pub(super) camera: Node,
    pub(super) filter: Node,
    /// The group of whatever the filter's node does.
    pub(super) filters: Group<Filter>,
    pub(super) ends: Ends,
    _shutter: Timer,
}

/// Where frames could be copied or lost on their way to the viewer's node.
pub(super) struct Ends {
    publishers: [Publisher<Image>; 2],
    filtering: Subscription<Image>,
}

impl Making {
    /// Makes them. As long as nobody views what the filter makes, the camera takes no frames.
    pub(super) fn create(context: &Context, rate: f64, viewer: Viewer) -> Result<Self, Error> {
        let filter = context.node("filter")?;
        let filters = filter.group(Filter::default());
        let drawn = filter.publisher::<Image>(EDGES).create()?;
        let to = drawn.clone();
        let filtering = filter.subscription::<Image>(FRAMES).in_group(&filters);
        let filtering = match viewer {
            Viewer::Here => filtering.callback(move |filter: &mut Filter, mut frame: Unique<Image>| {
                filter.apply(&mut frame);
                to.publish(frame)
            })?,
            Viewer::Elsewhere => filtering
                .callback(move |filter: &mut Filter, frame: Sample<Image>| draw(filter, frame, &to))?,
        };

        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate is 1000 at most")]
        let mut pictures = Camera::new((rate * PER_PICTURE).ceil() as u64);
        let camera = context.node("camera")?;
        let frames = camera.publisher::<Image>(FRAMES).create()?;
        let (from_camera, seen) = (frames.clone(), drawn.clone());
        let shutter =
            camera.timer(Duration::from_secs_f64(1.0 / rate)).callback(move || -> Result<(), Error> {
                if seen.matched_subscriptions() == 0 {
                    return Ok(());
                }
                // From the publisher at the end of the way: what it lends comes back to it, or lies where others can read it.
                let published = match viewer {
                    Viewer::Here => {
                        let mut frame = seen.loan();
                        pictures.capture(&mut frame);
                        from_camera.publish(frame)
                    }
                    Viewer::Elsewhere => {
                        let mut frame = seen.draft(begun(pictures.sees()), ImageLengths { data: BYTES })?;
                        pictures.expose(frame.parts().data);
                        from_camera.publish(frame)
                    }
                };
                Ok(published.map_err(sinew::Error::from)?)
            })?;
        let ends = Ends { publishers: [frames, drawn], filtering };
        Ok(Self { camera, filter, filters, ends, _shutter: shutter })
    }
}

/// Publishes what the filter makes of a frame: another one, or the very same if it changes nothing.
fn draw(filter: &mut Filter, frame: Sample<Image>, to: &Publisher<Image>) -> Result<(), String> {
    if filter.is_off() {
        return to.publish(frame).map_err(|error| error.to_string());
    }
    let image = frame.view().map_err(|error| error.to_string())?;
    let picture = Picture::of(&image)?;
    let lengths = ImageLengths { data: picture.pixels.len() };
    let begun =
        Image { width: picture.width, height: picture.height, step: image.step, ..begun(picture.name) };
    let mut drawn = to.draft(begun, lengths).map_err(|error| error.to_string())?;
    filter.apply_from(&picture, drawn.parts().data);
    to.publish(drawn).map_err(|error| error.to_string())
}

impl Ends {
    /// How many frames were copied and lost, as publishers and subscriptions count themselves. (The viewer only reads: it never
    /// makes a copy.)
    pub(super) fn underway(&self) -> Underway {
        let published = self.publishers.iter().map(|publisher| publisher.statistics().copies);
        let filtering = self.filtering.statistics();
        Underway { copies: published.sum::<u64>() + filtering.copies, lost: filtering.overwritten }
    }
}
