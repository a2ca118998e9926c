//! A line on its way from the caller to the logging thread, and its written format.

use crate::sys::logging::LogLevel;
use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// The place in the program that logs a line. From [`log!`](crate::log) and similar macros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// The module.
    pub module: &'static str,
    /// The file.
    pub file: &'static str,
    /// The line number in the file.
    pub line: u32,
}

/// A log line: one allocation, made by the caller.
pub(super) struct Line {
    pub(super) level: LogLevel,
    /// Wall time, in nanoseconds.
    pub(super) stamp: i64,
    /// The logger's name, followed by the message.
    text: String,
    name: usize,
    pub(super) place: Place,
}

impl Line {
    /// Expected maximum length of a message.
    const USUAL: usize = 128;

    pub(super) fn new(
        level: LogLevel,
        stamp: i64,
        name: &str,
        message: fmt::Arguments<'_>,
        place: Place,
    ) -> Self {
        let expected = message.as_str().map_or(Self::USUAL, str::len);
        let mut text = String::with_capacity(name.len() + expected);
        text.push_str(name);
        let _ = text.write_fmt(message); // a `Display` that fails has written what it could
        Self { level, stamp, text, name: name.len(), place }
    }

    /// Returns the bytes that it occupies.
    pub(super) fn size(&self) -> usize {
        self.text.capacity()
    }

    /// Returns the logger's name as ROS 2 writes it: a module `robot::arm` is the logger
    /// `robot.arm`.
    pub(super) fn logger(&self) -> Cow<'_, str> {
        let name = &self.text[..self.name];
        if name.contains("::") { name.replace("::", ".").into() } else { name.into() }
    }

    pub(super) fn message(&self) -> &str {
        &self.text[self.name..]
    }
}

/// The format of lines: `RCUTILS_CONSOLE_OUTPUT_FORMAT`.
pub(super) struct Format(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Severity,
    ColoredSeverity,
    Name,
    Message,
    Function,
    File,
    Line,
    Seconds,
    Nanoseconds,
    DateAndTime,
}

impl Format {
    /// The default format of ROS 2.
    pub(super) const USUAL: &'static str = "[{severity}] [{time}] [{name}]: {message}";

    /// Parses a format as `rcutils` does: known names in braces and C's escapes for a few
    /// characters are replaced; everything else stands for itself.
    pub(super) fn parse(text: &str) -> Self {
        let (mut pieces, mut plain, mut rest) = (Vec::new(), String::new(), text);
        while let Some(next) = rest.chars().next() {
            let known = rest.strip_prefix('{').and_then(|inner| {
                let (name, behind) = inner.split_once('}')?;
                Some((Piece::named(name)?, behind))
            });
            if let Some((piece, behind)) = known {
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                }
                pieces.push(piece);
                rest = behind;
                continue;
            }
            let escaped = rest
                .strip_prefix('\\')
                .and_then(|behind| Some((escape(behind.chars().next()?)?, &behind[1..])));
            let (character, behind) = escaped.unwrap_or((next, &rest[next.len_utf8()..]));
            plain.push(character);
            rest = behind;
        }
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Self(pieces)
    }

    /// Writes a line, including its end.
    pub(super) fn write(&self, line: &Line, is_colored: bool, out: &mut String) {
        if is_colored {
            out.push_str(color(line.level));
        }
        for piece in &self.0 {
            let _ = piece.write(line, is_colored, out); // a string takes everything
        }
        out.push_str(if is_colored { "\x1b[0m\n" } else { "\n" });
    }
}

fn escape(character: char) -> Option<char> {
    Some(match character {
        'a' => '\x07',
        'b' => '\x08',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        _ => return None,
    })
}

/// Returns the color of a level, as in `rcutils`.
fn color(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Debug => "\x1b[32m",
        LogLevel::Info => "\x1b[0m",
        LogLevel::Warn => "\x1b[33m",
        LogLevel::Error | LogLevel::Fatal => "\x1b[31m",
    }
}

impl Piece {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "severity" => Self::Severity,
            "severity_with_color" => Self::ColoredSeverity,
            "name" => Self::Name,
            "message" => Self::Message,
            "function_name" => Self::Function,
            "file_name" => Self::File,
            "line_number" => Self::Line,
            "time" => Self::Seconds,
            "time_as_nanoseconds" => Self::Nanoseconds,
            "date_time_with_ms" => Self::DateAndTime,
            _ => return None,
        })
    }

    fn write(&self, line: &Line, is_colored: bool, out: &mut String) -> fmt::Result {
        let level = line.level.name();
        match self {
            Self::Text(text) => out.write_str(text),
            Self::ColoredSeverity if !is_colored => write!(out, "{}{level}\x1b[0m", color(line.level)),
            Self::Severity | Self::ColoredSeverity => out.write_str(level),
            Self::Name => out.write_str(&line.logger()),
            Self::Message => out.write_str(line.message()),
            Self::Function => out.write_str(line.place.module),
            Self::File => out.write_str(line.place.file),
            Self::Line => write!(out, "{}", line.place.line),
            Self::Seconds => {
                write!(out, "{}.{:09}", line.stamp.div_euclid(SECOND), line.stamp.rem_euclid(SECOND))
            }
            Self::Nanoseconds => write!(out, "{}", line.stamp),
            Self::DateAndTime => out.write_str(&date_and_time(line.stamp)),
        }
    }
}

/// One second in nanoseconds.
const SECOND: i64 = 1_000_000_000;

/// Formats a stamp in UTC: `2023-11-14 22:13:20.000`.
fn date_and_time(stamp: i64) -> String {
    let (seconds, milliseconds) = (stamp.div_euclid(SECOND), stamp.rem_euclid(SECOND) / 1_000_000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days since 0000-03-01 in eras of 400 years, with years that begin in March: Howard Hinnant,
    // "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
    let (era, day_of_era) = ((days + 719_468).div_euclid(146_097), (days + 719_468).rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153; // 0 is March
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, year) = (if month < 10 { month + 3 } else { month - 9 }, year_of_era + era * 400);
    let year = if month <= 2 { year + 1 } else { year };
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{:02}.{milliseconds:03}", second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STAMP: i64 = 1_700_000_000_123_456_789;

    fn written(format: &str, level: LogLevel, is_colored: bool) -> String {
        let place = Place { module: "robot::arm", file: "src/arm.rs", line: 42 };
        let line = Line::new(level, STAMP, "robot::arm.left", format_args!("{} of {}", 1, 2), place);
        let mut out = String::new();
        Format::parse(format).write(&line, is_colored, &mut out);
        out
    }

    #[test]
    fn lines_look_as_those_of_rcutils() {
        for (format, expected) in [
            (Format::USUAL, "[WARN] [1700000000.123456789] [robot.arm.left]: 1 of 2\n"),
            ("{file_name}:{line_number} ({function_name})", "src/arm.rs:42 (robot::arm)\n"),
            ("{time_as_nanoseconds} {date_time_with_ms}", "1700000000123456789 2023-11-14 22:13:20.123\n"),
            ("{severity_with_color}", "\x1b[33mWARN\x1b[0m\n"),
            ("{unknown} {message {name}", "{unknown} {message robot.arm.left\n"),
            ("{{severity}}", "{WARN}\n"),
            ("a\\tb\\n\\x\\", "a\tb\n\\x\\\n"),
            ("ä{message}", "ä1 of 2\n"),
            ("", "\n"),
        ] {
            assert_eq!(written(format, LogLevel::Warn, false), expected, "{format}");
        }
        for (level, color) in [
            (LogLevel::Debug, "\x1b[32m"),
            (LogLevel::Info, "\x1b[0m"),
            (LogLevel::Warn, "\x1b[33m"),
            (LogLevel::Error, "\x1b[31m"),
            (LogLevel::Fatal, "\x1b[31m"),
        ] {
            assert_eq!(
                written("{severity_with_color}!", level, true),
                format!("{color}{}!\x1b[0m\n", level.name())
            );
        }
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01 00:00:00.000"),
            (951_782_399, "2000-02-28 23:59:59.000"),
            (951_782_400, "2000-02-29 00:00:00.000"),
            (951_868_800, "2000-03-01 00:00:00.000"),
            (4_107_542_400, "2100-03-01 00:00:00.000"),
            (-1, "1969-12-31 23:59:59.000"),
        ] {
            assert_eq!(date_and_time(seconds * SECOND), expected);
        }
    }

    proptest! {
        #[test]
        fn every_format_is_understood_somehow(format in any::<String>()) {
            let out = written(&format, LogLevel::Info, false);
            prop_assert!(out.ends_with('\n'));
            if !format.contains(['{', '\\']) {
                prop_assert_eq!(out, format + "\n");
            }
        }

        /// Checks the days in the range of a stamp, each against the next.
        #[test]
        fn the_next_day_is_the_next_date(day in 0..106_000_i64) {
            let date = |day: i64| {
                let text = date_and_time(day * 86_400 * SECOND);
                let part = |range: std::ops::Range<usize>| text[range].parse::<i64>().unwrap();
                (part(0..4), part(5..7), part(8..10))
            };
            let (year, month, dom) = date(day);
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let days = [31, if is_leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            let length = days[usize::try_from(month - 1).unwrap()];
            let next = match (dom < length, month < 12) {
                (true, _) => (year, month, dom + 1),
                (false, true) => (year, month + 1, 1),
                (false, false) => (year + 1, 1, 1),
            };
            prop_assert_eq!(date(day + 1), next);
        }
    }
}
