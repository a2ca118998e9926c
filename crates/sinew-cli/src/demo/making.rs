//! Camera and filter, the nodes that make what the viewer shows.

use std::time::Duration;

use sinew::{Context, Group, Node, Publisher, Subscription, Timer, Unique};

use super::filter::Filter;
use super::frame::{Camera, Picture};
use crate::error::Error;

/// How long each picture is shown, in seconds.
const PER_PICTURE: f64 = 0.75;

/// Both nodes, until this is dropped.
pub(super) struct Making<F: Picture> {
    pub(super) camera: Node,
    pub(super) filter: Node,
    /// The group of whatever the filter's node does.
    pub(super) filters: Group<Filter>,
    pub(super) ends: Ends<F>,
    _shutter: Timer,
}

/// Where frames could be copied on their way.
pub(super) struct Ends<F: Picture> {
    publishers: [Publisher<F>; 2],
    filtering: Subscription<F>,
}

impl<F: Picture> Making<F> {
    /// Makes them. As long as nobody views what the filter makes, the camera takes no frames.
    pub(super) fn create(context: &Context, rate: f64) -> Result<Self, Error> {
        let filter = context.node("filter")?;
        let filters = filter.group(Filter::default());
        let drawn = filter.publisher::<F>("edges").create()?;
        let from_filter = drawn.clone();
        let filtering = filter.subscription::<F>("frames").in_group(&filters).callback(
            move |filter: &mut Filter, mut frame: Unique<F>| {
                filter.apply(&mut *frame);
                from_filter.publish(frame)
            },
        )?;

        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate is 1000 at most")]
        let mut pictures = Camera::new((rate * PER_PICTURE).ceil() as u64);
        let camera = context.node("camera")?;
        let frames = camera.publisher::<F>("frames").create()?;
        let (from_camera, seen) = (frames.clone(), drawn.clone());
        let shutter = camera.timer(Duration::from_secs_f64(1.0 / rate)).callback(move || {
            if seen.matched_subscriptions() == 0 {
                return Ok(());
            }
            // From the publisher at the end of the way: if it is read in another process, the frame lies from the beginning
            // where that one can read it.
            let mut frame = seen.loan();
            pictures.capture(&mut *frame);
            from_camera.publish(frame)
        })?;
        let ends = Ends { publishers: [frames, drawn], filtering };
        Ok(Self { camera, filter, filters, ends, _shutter: shutter })
    }
}

impl<F: Picture> Ends<F> {
    /// How many frames were copied, as publishers and subscriptions count themselves. (The viewer only reads: it never makes
    /// one.)
    pub(super) fn copies(&self) -> u64 {
        let published = self.publishers.iter().map(|publisher| publisher.statistics().copies);
        published.sum::<u64>() + self.filtering.statistics().copies
    }
}
