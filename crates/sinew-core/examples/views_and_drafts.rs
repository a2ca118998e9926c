//! Views and drafts: an image that is written where others read it, and read where it lies.
//!
//! The program is the same whether its parts are in one process or in three: start it with
//! `camera`, `filter` and `viewer` in three terminals, or with nothing for all in one.
//!
//!     cargo run -p sinew-core --example views_and_drafts

use sinew::msg::Sample;
use sinew::prelude::*;
use sinew_interfaces::sensor_msgs::msg::{Image, ImageLengths};

const WIDTH: u32 = 640;
const HEIGHT: u32 = 480;

fn main() -> sinew::Result<()> {
    let context = Context::from_args()?;
    let part = std::env::args().nth(1).filter(|part| !part.starts_with('-'));
    let is_here = |name: &str| part.as_deref().is_none_or(|part| part == name);
    if is_here("camera") {
        camera(&context)?;
    }
    if is_here("filter") {
        filter(&context)?;
    }
    if is_here("viewer") {
        viewer(&context)?;
    }
    sinew::spin(&context)
}

/// Writes each image into memory that its readers can see.
fn camera(context: &Context) -> sinew::Result<()> {
    let node = context.node("camera")?;
    let images = node.publisher::<Image>("image").create()?;
    let header =
        Image { width: WIDTH, height: HEIGHT, step: WIDTH, encoding: "mono8".into(), ..Image::default() };
    let mut brightness = 0_u8;
    let capture = move || -> sinew::Result<()> {
        let mut frame = images.draft(&header, ImageLengths { data: (WIDTH * HEIGHT) as usize })?;
        brightness = brightness.wrapping_add(1);
        frame.parts().data.fill(brightness); // here the camera's driver would write
        images.publish(frame)?;
        Ok(())
    };
    node.timer(Duration::from_millis(100)).callback(capture)?.detach();
    Ok(())
}

/// Changes each image and passes it on: in place, if it is the only one that has it.
fn filter(context: &Context) -> sinew::Result<()> {
    let node = context.node("filter")?;
    let images = node.publisher::<Image>("filtered").create()?;
    let invert = move |image: Sample<Image>| -> sinew::Result<()> {
        let mut edited = images.edit(image)?;
        edited.parts().data.iter_mut().for_each(|pixel| *pixel = !*pixel);
        images.publish(edited)?;
        Ok(())
    };
    node.subscription("image").callback(invert)?.detach();
    Ok(())
}

/// Reads each image where it lies.
fn viewer(context: &Context) -> sinew::Result<()> {
    let node = context.node("viewer")?;
    let show = |image: View<'_, Image>| {
        println!(
            "{} x {}, first pixel {}, at {:p}",
            image.width,
            image.height,
            image.data[0],
            image.data.as_ptr()
        );
    };
    node.subscription("filtered").callback(show)?.detach();
    Ok(())
}
