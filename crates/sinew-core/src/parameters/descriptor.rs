//! Descriptions of parameters, and checks of values against them.

use super::value::{ParameterType, ParameterValue};
use super::words::{other_type, shown, subject};
use std::fmt;

/// The description of a parameter (`rcl_interfaces/msg/ParameterDescriptor`).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ParameterDescriptor {
    /// The parameter's name.
    pub name: String,
    /// The type of its values; it can change only with dynamic typing.
    pub kind: ParameterType,
    /// The parameter's purpose.
    pub description: String,
    /// A text that describes constraints beyond type and range.
    pub additional_constraints: String,
    /// Whether the parameter can't be set after its declaration.
    pub read_only: bool,
    /// Whether the parameter accepts values of any type.
    pub dynamic_typing: bool,
    /// The range of a `Double`.
    pub double_range: Option<DoubleRange>,
    /// The range of an `Integer`.
    pub integer_range: Option<IntegerRange>,
}

/// A range of doubles. Both bounds belong to it, with any step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DoubleRange {
    /// The smallest value.
    pub from: f64,
    /// The greatest value.
    pub to: f64,
    /// A value is `from` plus a multiple of this; 0 for any value.
    pub step: f64,
}

/// A range of integers. Both bounds belong to it, with any step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntegerRange {
    /// The smallest value.
    pub from: i64,
    /// The greatest value.
    pub to: i64,
    /// A value is `from` plus a multiple of this; 0 for any value.
    pub step: u64,
}

impl DoubleRange {
    /// Returns `true` if a value lies in the range. Numbers are equal within 100 units in the last
    /// place, as for `rclcpp`: a step of 0.1 has no exact representation. An infinite value lies in
    /// a range only if it is a bound (`rclcpp` accepts it in any).
    ///
    /// ```
    /// use sinew::parameters::DoubleRange;
    /// let range = DoubleRange { from: 0.0, to: 1.0, step: 0.3 };
    /// assert!(range.contains(0.9) && range.contains(1.0) && !range.contains(0.5));
    /// assert!(!range.contains(f64::INFINITY) && !range.contains(f64::NAN));
    /// ```
    pub fn contains(&self, value: f64) -> bool {
        let Self { from, to, step } = *self;
        if are_equal(value, from) || are_equal(value, to) {
            return true;
        }
        if !(from..=to).contains(&value) {
            return false;
        }
        step == 0.0 || are_equal(value, from + ((value - from) / step).round() * step)
    }
}

impl fmt::Display for DoubleRange {
    /// `0.0 to 10.0, in steps of 0.5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [from, to, step] = [self.from, self.to, self.step].map(ParameterValue::Double);
        write!(f, "{from} to {to}")?;
        if self.step == 0.0 { Ok(()) } else { write!(f, ", in steps of {step}") }
    }
}

impl fmt::Display for IntegerRange {
    /// `0 to 10, in steps of 2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, step } = self;
        write!(f, "{from} to {to}")?;
        if *step == 0 { Ok(()) } else { write!(f, ", in steps of {step}") }
    }
}

fn are_equal(one: f64, other: f64) -> bool {
    #[expect(clippy::float_cmp, reason = "the same number is equal, whatever its distance to others")]
    let same = one == other;
    // `rclcpp` accepts an infinite distance as a small one, since 100 units of it are infinite as
    // well.
    let (distance, unit) = ((one - other).abs(), f64::EPSILON * 100.0);
    same || distance.is_finite() && distance <= (unit * one + unit * other).abs()
}

impl IntegerRange {
    /// Returns `true` if a value lies in the range.
    ///
    /// ```
    /// use sinew::parameters::IntegerRange;
    /// let range = IntegerRange { from: 0, to: 10, step: 4 };
    /// assert!(range.contains(8) && range.contains(10) && !range.contains(9) && !range.contains(12));
    /// ```
    pub fn contains(&self, value: i64) -> bool {
        let Self { from, to, step } = *self;
        if value == from || value == to {
            return true;
        }
        (from..=to).contains(&value) && (step == 0 || value.abs_diff(from) % step == 0)
    }
}

impl ParameterDescriptor {
    /// Creates the description of a parameter that has a type and no other properties.
    ///
    /// ```
    /// use sinew::parameters::{ParameterDescriptor, ParameterType};
    /// assert!(!ParameterDescriptor::new("gain", ParameterType::Double).read_only);
    /// ```
    pub fn new(name: impl Into<String>, kind: ParameterType) -> Self {
        Self {
            name: name.into(),
            kind,
            description: String::new(),
            additional_constraints: String::new(),
            read_only: false,
            dynamic_typing: false,
            double_range: None,
            integer_range: None,
        }
    }

    /// Checks that a value complies with type and range. An integer is not a double here:
    /// [`ParameterValue::widened`] converts it.
    ///
    /// # Errors
    /// The reason why the value doesn't comply.
    ///
    /// ```
    /// use sinew::parameters::{DoubleRange, ParameterDescriptor, ParameterType};
    /// let mut gain = ParameterDescriptor::new("gain", ParameterType::Double);
    /// gain.double_range = Some(DoubleRange { from: 0.0, to: 10.0, step: 0.0 });
    /// assert_eq!(gain.check(&20.0.into()).unwrap_err(), "parameter 'gain' can't be 20.0: its range is 0.0 to 10.0");
    /// ```
    pub fn check(&self, value: &ParameterValue) -> Result<(), String> {
        self.complaint(&subject(&self.name), value)
    }

    /// As [`check`](Self::check), in a sentence with another beginning.
    pub(super) fn complaint(&self, subject: &str, value: &ParameterValue) -> Result<(), String> {
        if !self.dynamic_typing && value.kind() != self.kind {
            return Err(other_type(subject, self.kind, value));
        }
        let range = match value {
            ParameterValue::Integer(number) => {
                self.integer_range.filter(|range| !range.contains(*number)).map(|range| range.to_string())
            }
            ParameterValue::Double(number) => {
                self.double_range.filter(|range| !range.contains(*number)).map(|range| range.to_string())
            }
            _ => None,
        };
        match range {
            Some(range) => Err(format!("{subject} can't be {}: its range is {range}", shown(value))),
            None => Ok(()),
        }
    }
}
