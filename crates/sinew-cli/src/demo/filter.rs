//! The filter of the demonstration: changes each frame where it lies, or where another is to lie, as its settings say.

use sinew_interfaces::sensor_msgs::msg::Image;

use super::edges::Edges;
use super::frame::Picture;
use super::settings::{Mode, Settings};

/// The state of the filter's group: the frames' callback and the service's share it, and never meet.
#[derive(Default)]
pub(super) struct Filter {
    edges: Edges,
    settings: Settings,
}

impl Filter {
    /// Other settings from the next frame on. Yields them, or says why they can't be.
    pub(super) fn set(&mut self, settings: Settings) -> Result<Settings, String> {
        self.settings = settings.check()?;
        Ok(settings)
    }

    /// Changes a frame in place.
    pub(super) fn apply(&mut self, frame: &mut Image) {
        match self.settings.mode {
            Mode::Edges => {
                self.edges.draw(frame.width as usize, &mut frame.data, self.settings.strength);
            }
            Mode::Negative => frame.data.iter_mut().for_each(|byte| *byte = !*byte),
            Mode::Off => {}
        }
    }

    /// Whether frames are to be passed on as they are.
    pub(super) fn is_off(&self) -> bool {
        self.settings.mode == Mode::Off
    }

    /// Writes the pixels of the frame that is made of this one; they are as many.
    pub(super) fn apply_from(&mut self, frame: &Picture<'_>, to: &mut [u8]) {
        match self.settings.mode {
            Mode::Edges => {
                self.edges.draw_from(frame.width as usize, frame.pixels, to, self.settings.strength);
            }
            Mode::Negative => to.iter_mut().zip(frame.pixels).for_each(|(to, byte)| *to = !byte),
            Mode::Off => to.copy_from_slice(frame.pixels),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_follow_the_settings() {
        let pixels = [10, 100, 255];
        let mut filter = Filter::default();
        let mut made = |mode| {
            let mut frame = Image { width: 1, height: 1, data: pixels.to_vec(), ..Image::default() };
            let mut another = [0; 3];
            filter.set(Settings { mode, strength: 100 }).unwrap();
            filter.apply(&mut frame);
            filter.apply_from(&Picture { name: "", width: 1, height: 1, pixels: &pixels }, &mut another);
            assert_eq!(frame.data, another, "{mode:?}");
            assert_eq!(filter.is_off(), mode == Mode::Off);
            another
        };
        assert_eq!(made(Mode::Edges), [5, 50, 127]);
        assert_eq!(made(Mode::Negative), [245, 155, 0]);
        assert_eq!(made(Mode::Off), [10, 100, 255]);
    }

    #[test]
    fn what_is_refused_changes_nothing() {
        let mut filter = Filter::default();
        let too_strong = Settings { strength: 401, ..Settings::default() };
        assert!(filter.set(too_strong).is_err());
        assert_eq!(filter.settings, Settings::default());
    }
}
