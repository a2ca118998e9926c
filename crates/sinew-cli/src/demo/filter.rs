//! The filter of the demonstration: changes each frame in place, according to its settings.

use super::edges::Edges;
use super::settings::{Mode, Settings};

/// The state of the filter's group: the frames' callback and the service's callback share it, and
/// never run at the same time.
#[derive(Default)]
pub(super) struct Filter {
    edges: Edges,
    settings: Settings,
}

impl Filter {
    /// Changes the settings from the next frame on. Returns them, or the reason why they are
    /// invalid.
    pub(super) fn set(&mut self, settings: Settings) -> Result<Settings, String> {
        self.settings = settings.check()?;
        Ok(settings)
    }

    /// Changes a frame's pixels in place.
    pub(super) fn apply(&mut self, width: usize, pixels: &mut [u8]) {
        match self.settings.mode {
            Mode::Edges => self.edges.draw(width, pixels, self.settings.strength),
            Mode::Negative => pixels.iter_mut().for_each(|byte| *byte = !*byte),
            Mode::Off => {}
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
            let mut frame = pixels;
            filter.set(Settings { mode, strength: 100 }).unwrap();
            filter.apply(1, &mut frame);
            frame
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
