//! The component of the program `sinew-container` itself: a camera in Rust, beside the components
//! of C and C++ that it loads.

use ::sinew_component::Component;
use sinew::{Node, Timer};
use sinew_interfaces::sensor_msgs::msg::{Image, ImageLengths};
use std::time::Duration;

/// Its name in requests.
pub(crate) const TYPE: &str = "sinew::TestCamera";

/// Returns the kind of node.
pub(crate) fn component() -> Component {
    Component::new(TYPE, "camera", camera)
}

/// Publishes images on `image`, each of one colour, which it writes where the subscriptions read
/// them. Its parameters are `width`, `height`, `rate` (images a second) and `running`: while that is
/// false, it publishes nothing.
fn camera(node: Node) -> sinew::Result<Timer> {
    let side =
        |name, default: u32| node.parameter(name).default(default).range(1..=16_384).read_only().create();
    let (width, height) = (side("width", 640)?.get(), side("height", 480)?.get());
    let rate = node.parameter("rate").default(30.0).range(0.01..=10_000.0).read_only().create()?.get();
    let running = node.parameter("running").default(true).create()?;
    let length = width as usize * height as usize * 3;
    let encoding = "rgb8".to_owned();
    let small = Image { width, height, step: width * 3, encoding, ..Image::default() };
    let images = node.publisher::<Image>("image").create()?;
    let mut colour = 0_u8;
    let shutter = node.timer(Duration::from_secs_f64(1.0 / rate));
    Ok(shutter.callback(move || -> sinew::Result<()> {
        if !running.get() {
            return Ok(());
        }
        let mut image = images.draft(&small, ImageLengths { data: length })?;
        image.parts().data.fill(colour);
        colour = colour.wrapping_add(1);
        Ok(images.publish(image)?)
    })?)
}
