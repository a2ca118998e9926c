//! The filter's settings, and the service that changes them while it runs.

use std::fmt;

use sinew::msg::TypeHash;
use sinew::{Message, Service};
use sinew_msg::ServiceType;

/// The picture that the filter makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    /// The darkened picture with its edges drawn over it.
    #[default]
    Edges,
    /// The opposite of each colour.
    Negative,
    /// The picture as the camera made it.
    Off,
}

/// The filter's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) mode: Mode,
    /// Strength of edges, in percent.
    pub(super) strength: u16,
}

impl Message for Settings {}

/// The settings in the form for another process.
#[derive(Clone, Copy, Message)]
#[message(name = "sinew_demo/msg/FilterSettings")]
pub(super) struct EncodedSettings {
    /// 0 edges, 1 negative, 2 off.
    mode: u8,
    strength: u16,
}

impl From<Settings> for EncodedSettings {
    fn from(Settings { mode, strength }: Settings) -> Self {
        let mode = match mode {
            Mode::Edges => 0,
            Mode::Negative => 1,
            Mode::Off => 2,
        };
        Self { mode, strength }
    }
}

impl TryFrom<EncodedSettings> for Settings {
    type Error = String;

    fn try_from(EncodedSettings { mode, strength }: EncodedSettings) -> Result<Self, String> {
        let mode = match mode {
            0 => Mode::Edges,
            1 => Mode::Negative,
            2 => Mode::Off,
            other => return Err(format!("there is no mode {other}: 0 is edges, 1 negative, 2 off")),
        };
        Ok(Self { mode, strength })
    }
}

/// The filter's service: it accepts settings and returns them, or refuses them.
pub(super) struct SetEdges;

impl Service for SetEdges {
    type Request = Settings;
    type Response = Settings;
}

/// The same service for a panel in another process. It has a name and a description, so that viewers
/// can call it as well.
pub(super) struct SetEdgesBetween;

/// The settings that are wanted.
#[derive(Clone, Copy, Message)]
#[message(name = "sinew_demo/srv/SetEdges_Request")]
pub(super) struct WantedSettings {
    pub(super) settings: EncodedSettings,
}

/// The settings that were accepted.
#[derive(Clone, Copy, Message)]
#[message(name = "sinew_demo/srv/SetEdges_Response")]
pub(super) struct AcceptedSettings {
    pub(super) settings: EncodedSettings,
}

impl Service for SetEdgesBetween {
    type Request = WantedSettings;
    type Response = AcceptedSettings;
    const TYPE: Option<&'static ServiceType> = Some(&ServiceType {
        name: "sinew_demo/srv/SetEdges",
        hash: TypeHash::from_rihs01(
            "RIHS01_7b1eba2216ac5ceab57c00726e6f6f7811633d6871fea082bc9d9723b32c72e8",
        ),
    });
}

impl Default for Settings {
    fn default() -> Self {
        Self { mode: Mode::Edges, strength: 100 }
    }
}

impl Settings {
    /// Greatest strength of edges, in percent.
    pub(super) const STRONGEST: u16 = 400;

    /// Step of the strength for `+` and `-`, in percent.
    const STEP: u16 = 25;

    /// Checks that a filter can work with them; otherwise returns a sentence with the reason.
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

    /// Returns the next settings of the automatic change: every mode, with edges twice as strong
    /// every other time.
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
    use sinew_msg::description::{ConstDescription, TypeDescription};

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
    fn settings_for_another_process_are_the_same_there() {
        let mut settings = Settings::default();
        for _ in 0..6 {
            assert_eq!(Settings::try_from(EncodedSettings::from(settings)), Ok(settings));
            settings = settings.next();
        }
        let unknown = Settings::try_from(EncodedSettings { mode: 3, strength: 1 });
        assert!(unknown.unwrap_err().contains("no mode 3"));
    }

    /// Otherwise no other program gets the description.
    #[test]
    fn the_hash_of_the_service_is_that_of_its_description() {
        let described = |message: Option<&'static ConstDescription>| message.unwrap().describe().unwrap();
        let request = described(WantedSettings::ENCODING.unwrap().description);
        let response = described(AcceptedSettings::ENCODING.unwrap().description);
        let service = SetEdgesBetween::TYPE.unwrap();
        let description = TypeDescription::of_service(service.name, &request, &response);
        assert_eq!(description.hash().to_string(), service.hash.to_string());
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
