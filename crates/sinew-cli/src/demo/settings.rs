//! What the filter does to a frame, and how somebody changes that while it runs.

use std::fmt;

use sinew::{Message, Service};

/// Which picture the filter makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    /// The picture darkened, its edges drawn over it.
    #[default]
    Edges,
    /// Every colour's opposite.
    Negative,
    /// The picture as the camera made it.
    Off,
}

/// The filter's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) mode: Mode,
    /// How strong edges are drawn, in percent.
    pub(super) strength: u16,
}

impl Message for Settings {}

/// The filter's service: it accepts settings and yields them, or refuses them.
pub(super) struct SetEdges;

impl Service for SetEdges {
    type Request = Settings;
    type Response = Settings;
}

impl Default for Settings {
    fn default() -> Self {
        Self { mode: Mode::Edges, strength: 100 }
    }
}

impl Settings {
    /// The strongest edges the filter draws, in percent.
    pub(super) const STRONGEST: u16 = 400;

    /// What `+` and `-` change the strength by, in percent.
    const STEP: u16 = 25;

    /// Whether a filter can work with them; otherwise a sentence that says why not.
    pub(super) fn check(self) -> Result<Self, String> {
        let Self { strength, .. } = self;
        let strongest = Self::STRONGEST;
        if strength <= strongest {
            Ok(self)
        } else {
            Err(format!("a strength of {strength} % is too much: at most {strongest} %"))
        }
    }

    pub(super) fn stronger(self) -> Self {
        Self { strength: self.strength.saturating_add(Self::STEP), ..self }
    }

    pub(super) fn weaker(self) -> Self {
        Self { strength: self.strength.saturating_sub(Self::STEP), ..self }
    }

    pub(super) fn next_mode(self) -> Self {
        let mode = match self.mode {
            Mode::Edges => Mode::Negative,
            Mode::Negative => Mode::Off,
            Mode::Off => Mode::Edges,
        };
        Self { mode, ..self }
    }

    /// What comes after these when nobody presses a key: every mode, the edges twice as strong every other time.
    pub(super) fn next(self) -> Self {
        let next = self.next_mode();
        let strength = match (next.mode, self.strength) {
            (Mode::Edges, 100) => 200,
            (Mode::Edges, _) => 100,
            (_, strength) => strength,
        };
        Self { strength, ..next }
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mode {
            Mode::Edges => write!(f, "edges at {} %", self.strength),
            Mode::Negative => f.write_str("negative"),
            Mode::Off => f.write_str("off"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strength_has_an_upper_limit_that_its_error_names() {
        let mut settings = Settings { strength: 350, ..Settings::default() };
        for strength in [375, 400] {
            settings = settings.stronger().check().unwrap();
            assert_eq!(settings.strength, strength);
        }
        assert_eq!(
            settings.stronger().check(),
            Err("a strength of 425 % is too much: at most 400 %".to_owned())
        );
        assert_eq!(Settings { strength: 10, ..settings }.weaker().strength, 0);
    }

    #[test]
    fn without_keys_everything_has_its_turn() {
        let mut settings = Settings::default();
        let mut seen = Vec::new();
        for _ in 0..6 {
            settings = settings.next().check().unwrap();
            seen.push(settings.to_string());
        }
        assert_eq!(seen, ["negative", "off", "edges at 200 %", "negative", "off", "edges at 100 %"]);
    }
}
